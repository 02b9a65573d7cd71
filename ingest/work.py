"""Pieces of work, and what came of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from graph_memory.domain.ledger import IngestItem
from ingest.inbox import Found
from ingest.sessions import TranscriptOutcome

FRESH = timedelta(hours=1)
"""What was written this lately counts as happening now."""


class WorkKind(StrEnum):
    """What is to be done."""

    DOCUMENT = "document"
    SIDECAR = "sidecar"
    REFUSAL = "refusal"
    TRANSCRIPT = "transcript"


@dataclass(frozen=True, slots=True)
class Work:
    """A piece of work, which may be done any number of times: a document, a late sidecar, or a transcript that grew.

    `name` is what it is known by; the same piece found again has the same. `size` is in bytes, of a transcript what is
    new. `is_backlog`: it lay there before. `look` is size and modification time of a transcript when it was found.
    """

    kind: WorkKind
    name: str
    file: Path
    size: int
    is_backlog: bool = False
    found: Found | None = None
    look: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """What there is to do, in the order to do it: what happens now before what lay there.

    `look_again_in` is in how many seconds something that can't be taken yet may be, such as a file being copied.
    `unreadable` names folders that can't be looked into, with the reason.
    """

    works: Sequence[Work] = ()
    look_again_in: float | None = None
    unreadable: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class WorkDone:
    """What came of a piece of work: documents and turns learned, and how many failed.

    `is_finished`: nothing of it is left. `item` is a document's place in the ledger, `transcript` what reading one came
    to. `is_forgotten`: it is of a session that was forgotten for good. `reason` says why it failed.
    """

    items: int = 0
    failed: int = 0
    is_finished: bool = True
    item: IngestItem | None = None
    transcript: TranscriptOutcome | None = None
    is_known: bool = False
    is_forgotten: bool = False
    warnings: tuple[str, ...] = ()
    reason: str | None = None
