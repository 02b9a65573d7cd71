"""Which transcripts there are under the projects folders, and what each is.

Folder names are never decoded: the name of a project's folder is lossy. What a session is about stands in its lines.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

import orjson

from ingest.transcripts.lines import iter_lines

_SUFFIX = ".jsonl"
_AGENT = re.compile(r"agent-(?P<id>.+)\.jsonl")
_COMPACTION_PREFIX = "acompact-"
_SUBAGENTS = "subagents"
_WORKFLOWS = "workflows"
_LINES_TO_A_SESSION_ID = 5


class FileKind(StrEnum):
    """What a transcript file holds."""

    SESSION = "session"
    AGENT = "agent"  # a subagent's work: no person speaks in it
    COMPACTION = "compaction"  # a summary of the session, written by an agent
    JOURNAL = "journal"  # a workflow's: no messages at all


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """A transcript found. `session_id` is None where only the lines inside say whose it is; sizes are bytes."""

    path: Path
    kind: FileKind
    session_id: str | None
    size: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found, by path, and the folders that could not be read, with the reason."""

    files: tuple[TranscriptFile, ...]
    unreadable: tuple[str, ...]


def list_transcripts(folders: Iterable[Path]) -> Listing:
    """List every transcript under the projects folders; what vanishes meanwhile is left out.

    A session's own file may be gone while those of its subagents are still there.
    """
    walk = _Walk()
    files: dict[Path, TranscriptFile] = {}
    for folder in folders:
        for project in walk.entries(folder, is_required=True):
            if walk.is_folder(project):
                files.update((file.path, file) for file in walk.project_files(Path(project.path)))
    return Listing(tuple(files[path] for path in sorted(files)), tuple(walk.unreadable))


def find_transcript(path: Path, folders: Iterable[Path]) -> TranscriptFile | None:
    """Look at one file as `list_transcripts` would: `None` where it would not list it as a session's own."""
    if path.suffix != _SUFFIX or path.parent.parent not in folders:
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    kind, session_id = kind_of(path)
    if kind is not FileKind.SESSION or not stat.S_ISREG(status.st_mode):
        return None
    return TranscriptFile(path, kind, session_id, status.st_size, status.st_mtime_ns)


def find_session_files(folders: Iterable[Path], session_id: str) -> tuple[TranscriptFile, ...]:
    """Find the files of a session: its own first, the latest first where it was copied; then those of its subagents.

    Old versions put subagents beside the sessions, so those files are opened to see whose they are.
    """
    found = [file for file in list_transcripts(folders).files if _belongs(file, session_id)]
    return tuple(sorted(found, key=lambda file: (file.kind is not FileKind.SESSION, -file.modified_ns)))


def kind_of(path: Path) -> tuple[FileKind, str | None]:
    """Return a transcript's kind and session id, as far as its path tells."""
    folder = path.parent
    match = _AGENT.fullmatch(path.name)
    if match is not None:
        is_nested = folder.name == _SUBAGENTS
        session_id = folder.parent.name if is_nested else None
        kind = FileKind.COMPACTION if match["id"].startswith(_COMPACTION_PREFIX) else FileKind.AGENT
        return kind, session_id
    if folder.parent.name == _WORKFLOWS:
        return FileKind.JOURNAL, folder.parent.parent.parent.name
    return FileKind.SESSION, path.stem


def _belongs(file: TranscriptFile, session_id: str) -> bool:
    if file.session_id is not None:
        return file.session_id == session_id
    return _inner_session_id(file.path) == session_id


def _inner_session_id(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            for _, _, raw, _ in islice(iter_lines(stream), _LINES_TO_A_SESSION_ID):
                record = orjson.loads(raw)
                if isinstance(record, dict) and isinstance(record.get("sessionId"), str):
                    return str(record["sessionId"])
    except (OSError, orjson.JSONDecodeError):
        return None
    return None


class _Walk:
    """Looks into the folders where transcripts lie, and no deeper; keeps what it could not read."""

    def __init__(self) -> None:
        self.unreadable: list[str] = []

    def project_files(self, project: Path) -> Iterator[TranscriptFile]:
        for entry in self.entries(project):
            if entry.name.endswith(_SUFFIX):
                yield from self._transcript(entry)
            elif self.is_folder(entry):
                yield from self._session_folder(Path(entry.path))

    def _session_folder(self, session: Path) -> Iterator[TranscriptFile]:
        for entry in self.entries(session / _SUBAGENTS):
            if entry.name.endswith(_SUFFIX):
                yield from self._transcript(entry)
        for workflow in self.entries(session / _SUBAGENTS / _WORKFLOWS):
            if self.is_folder(workflow):
                for entry in self.entries(Path(workflow.path)):
                    if entry.name.endswith(_SUFFIX):
                        yield from self._transcript(entry)

    def entries(self, folder: Path, *, is_required: bool = False) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(folder) as found:
                return list(found)
        except (FileNotFoundError, NotADirectoryError) as error:
            if is_required:
                self.unreadable.append(f"{folder}: {error.strerror}")
        except OSError as error:
            self.unreadable.append(f"{folder}: {error.strerror}")
        return []

    def is_folder(self, entry: "os.DirEntry[str]") -> bool:
        try:
            return entry.is_dir()
        except OSError:
            return False

    def _transcript(self, entry: "os.DirEntry[str]") -> Iterator[TranscriptFile]:
        try:
            if not entry.is_file():
                return
            status = entry.stat()
        except OSError:  # gone since, or a link that leads nowhere
            return
        path = Path(entry.path)
        kind, session_id = kind_of(path)
        yield TranscriptFile(path, kind, session_id, status.st_size, status.st_mtime_ns)
