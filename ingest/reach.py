"""What there is to read, by how far back one reads: for a person who is to decide that."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import orjson

from graph_memory.domain.instants import EPOCH
from ingest.exclusions import Exclusions
from ingest.projects import project_folder
from ingest.transcripts.files import FileKind, TranscriptFile, list_transcripts
from ingest.transcripts.lines import iter_lines

WINDOWS = (7.0, 30.0, 90.0, None)
"""Days back; `None` is all there is."""
_LINES = 50
"""Lines in which a transcript says of which folder and session it is, if it does."""


class Reach(NamedTuple):
    """How many transcripts are read when one reads back `days` (`None`: all), and how large they are."""

    days: float | None
    transcripts: int
    size: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to read, shortest reach first; `excluded` counts transcripts that are not, by reason."""

    reaches: Sequence[Reach]
    excluded: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to read, however far back."""
        return not any(it.transcripts for it in self.reaches)


def survey(folders: Iterable[Path], exclusions: Exclusions, now: datetime) -> Survey:
    """Look at all transcripts, by when they were last written; reads the first lines of each."""
    sessions = [it for it in list_transcripts(folders).files if it.kind is FileKind.SESSION and it.size > 0]
    excluded, kept = Counter[str](), list[TranscriptFile]()
    for session in sessions:
        reason = _exclusion(session, exclusions)
        if reason is None:
            kept.append(session)
        else:
            excluded[reason] += 1
    return Survey([_reach(kept, days, now) for days in WINDOWS], excluded)


def _reach(sessions: Sequence[TranscriptFile], days: float | None, now: datetime) -> Reach:
    since = 0.0 if days is None else (now - EPOCH - timedelta(days=days)).total_seconds() * 1e9
    sizes = [it.size for it in sessions if it.modified_ns >= since]
    return Reach(days, len(sizes), sum(sizes))


def _exclusion(session: TranscriptFile, exclusions: Exclusions) -> str | None:
    """Tell why a transcript is not read, as far as its beginning tells; what is said later may still be excluded."""
    cwd, session_id = _begins_with(session.path)
    return (
        exclusions.of_session(session_id or session.path.stem)
        or exclusions.of_folder(cwd)
        or (exclusions.of_project(project_folder(cwd).name) if cwd else None)
    )


def _begins_with(path: Path) -> tuple[str | None, str | None]:
    try:
        with path.open("rb") as stream:
            for _, _, raw, _ in islice(iter_lines(stream), _LINES):
                if b'"cwd"' not in raw:
                    continue
                record = _record(raw)
                cwd, session_id = record.get("cwd"), record.get("sessionId")
                if isinstance(cwd, str):
                    return cwd, session_id if isinstance(session_id, str) else None
    except OSError:
        pass
    return None, None


def _record(raw: bytes) -> Mapping[str, object]:
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}
