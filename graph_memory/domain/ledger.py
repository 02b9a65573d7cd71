"""The ledger: what ingest took in, how far it read, and what must never come back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from graph_memory.domain.entities import JsonValue

MADE_FOR = "made_for"
"""The part of a run's result that says for which local day it was made; the instant alone doesn't, once one travels."""
CLOUD_SOURCE = "claude-code-cloud"
"""`meta.source` of what the collector of cloud sessions queues; its documents move the session cursors."""


ORIGIN = "queued_from"
"""Key of a document's metadata: the file that it is a copy of, so that another one of its name is another document."""


class IngestState(StrEnum):
    """Where a document is on its way."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IngestItem:
    """A document on its way through the inbox.

    `id` depends on `content_key` and `path` alone. `content_key` is a hash over the raw bytes; `path` is relative to
    `pending/`, with forward slashes, in NFC. `meta` is the sidecar, unknown keys included. `reason` says why it failed.
    """

    id: str
    content_key: str
    path: str
    state: IngestState
    size: int
    queued_at: datetime
    updated_at: datetime
    meta: Mapping[str, JsonValue] = field(default_factory=dict)
    reason: str | None = None
    memory_ids: tuple[int, ...] = ()
    entity_count: int = 0
    relation_count: int = 0

    @property
    def session_cursor(self) -> "SessionCursor | None":
        """How far this document takes a cloud session; `None` for any other, and for one that failed."""
        session, through = self.meta.get("session_id"), self.meta.get("through")
        if self.meta.get("source") != CLOUD_SOURCE or self.state is IngestState.FAILED:
            return None
        if not isinstance(session, str) or not isinstance(through, str):
            return None
        last = self.meta.get("last_event_id")
        return SessionCursor(session, through, last if isinstance(last, str) else None, self.path)


@dataclass(frozen=True, slots=True)
class SessionCursor:
    """How far a cloud session is queued or stored; `through` is an ISO-8601 instant as the collector wrote it."""

    session_id: str
    through: str
    last_event_id: str | None
    file: str


@dataclass(frozen=True, slots=True)
class TranscriptCursor:
    """How far a transcript was read.

    `path` is resolved. `offset` is in bytes, at the start of a line; all before it is stored. `fingerprint` identifies
    the file's first bytes, so that a file replaced under the same path is read anew. `state` is what the turn builder
    needs to go on.
    """

    path: str
    fingerprint: str
    offset: int
    size: int
    updated_at: datetime
    session_id: str | None = None
    state: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A content key that was forgotten for good: a rescan never learns it again."""

    content_key: str
    reason: str
    forgotten_at: datetime


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """Something that the audit must have; `id` makes a repeat visible, `data` holds ids and numbers, no text."""

    id: str
    event: str
    at: datetime
    data: Mapping[str, JsonValue] = field(default_factory=dict)


class RunStatus(StrEnum):
    """How a run of a job ended."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a job; `result` are its figures, `error` its reason when it failed."""

    job: str
    started_at: datetime
    status: RunStatus
    ended_at: datetime | None = None
    result: Mapping[str, JsonValue] = field(default_factory=dict)
    error: str | None = None

    @property
    def figures(self) -> Mapping[str, JsonValue]:
        """What is told of it: its result without what others read there, lists and the day it was made for."""
        told = (it for it in self.result.items() if it[0] != MADE_FOR and not isinstance(it[1], list | tuple))
        return dict(told)

    @property
    def made_for(self) -> date | None:
        """The local day that it was made for, where the clock had it made."""
        day = self.result.get(MADE_FOR)
        return date.fromisoformat(day) if isinstance(day, str) else None


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """The inverse of a merge: all that is needed to restore both entities exactly."""

    id: str
    source_id: str
    target_id: str
    merged_at: datetime
    inverse: Mapping[str, JsonValue] = field(default_factory=dict)


class VectorOwner(StrEnum):
    """What a vector is of."""

    ENTITY = "entity"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Vector:
    """An embedding: `values` is little-endian float32, `dimensions` × 4 bytes; compared only within one `model_id`."""

    owner: VectorOwner
    owner_id: str
    model_id: str
    values: bytes

    @property
    def dimensions(self) -> int:
        """The number of components."""
        return len(self.values) // 4
