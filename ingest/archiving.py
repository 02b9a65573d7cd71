"""What goes into the archive: of every transcript that was read, as far as it was read, what may be kept.

A transcript is kept up to the first thing in it that is not learned, because it was excluded or forgotten: what comes
later may repeat it, in a summary or a title. So what is kept is what stood there, whole and in order.
"""

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

from graph_memory.config.settings import Settings
from graph_memory.domain.errors import IngestError, Unavailable
from graph_memory.domain.ledger import TranscriptCursor
from graph_memory.domain.principal import Principal
from graph_memory.home import Home
from graph_memory.log import get_logger
from graph_memory.ports.store import ReadTransaction, Store
from ingest.archive import Archive
from ingest.archived_file import About, remove_partial, write_beside
from ingest.exclusions import Exclusions
from ingest.projects import project_folder
from ingest.sessions import fingerprint_of
from ingest.sources import find_project_id
from ingest.transcripts.keys import turn_key
from ingest.transcripts.lines import iter_lines
from ingest.transcripts.messages import Message, Reading
from ingest.transcripts.reading import open_transcript, read_entries
from ingest.transcripts.redacted_lines import redacted_line
from ingest.transcripts.reports import ReadReport

MEGABYTE = 1_000_000
RUN_BYTES = 256 * MEGABYTE
"""Bytes of transcripts that one run takes at most: a year of them is taken in a day, and a stop never waits long."""
LEAST_RATIO = 2
"""How much smaller transcripts become at least; measured 2.6, and 9 where they are mostly text."""
_AT_ONCE = 50
_KEYS_AT_ONCE = 5_000
_PIECE = 1 << 20
_LOG = get_logger("ingest.archiving")


@dataclass(slots=True)
class ArchiveRun:
    """What a run did: files written, bytes read for them, secrets taken out; then files erased, evicted and waiting.

    `withheld` are transcripts that are kept in part or not at all since something in them is not learned; `too_old`
    those for which the archive has no room. `sessions`, `files` and `bytes` are what there is afterwards.
    """

    archived: int = 0
    bytes_read: int = 0
    redacted: int = 0
    withheld: int = 0
    waiting: int = 0
    failed: int = 0
    erased: int = 0
    evicted: int = 0
    too_old: int = 0
    sessions: int = 0
    files: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Grown:
    """A transcript of which less is archived than was read; `old` is what is."""

    cursor: TranscriptCursor
    file: Path
    path: Path
    old: About | None
    modified_ns: int

    @property
    def session(self) -> str:
        return self.cursor.session_id or self.file.stem


@dataclass(slots=True)
class _Heard:
    """What persons say in a stretch of a transcript: keys of turns, sessions, and where something is that must not be.

    `end` is how far it may be kept.
    """

    end: int
    turns: list[str] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    is_barred: bool = False


class TranscriptArchiver:
    """Brings the archive of a home up to what was read; `pause` rests, so that it takes its share of a core alone."""

    def __init__(
        self,
        store: Store,
        principal: Principal,
        home: Home,
        settings: Settings,
        *,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._store, self._principal, self._settings = store, principal, settings
        self._archive, self._folder = Archive(home.archive), home.archive
        self._exclusions = Exclusions(settings.exclude, home)
        self._pace = _Pace(settings.limits.cpu_share, pause)
        self._most_bytes = settings.limits.archive_mb * MEGABYTE
        self._done = ArchiveRun()
        self._size = 0
        self._oldest_ns: int | None = None

    def run(self) -> ArchiveRun:
        """Take up what was read since the last run, those first that Claude Code deletes first, and keep to the size.

        What can't be taken now is taken the next time. A process that dies leaves what was archived before.

        Raises:
            Unavailable: the store can't be used, or the archive not be written; what is archived stays.
        """
        remove_partial(self._folder)
        self._done.erased = self._erase_forgotten(self._archive.abouts().values())
        abouts, files = self._archive.abouts(), self._archive.files()
        self._size = self._archive.size()
        self._oldest_ns = files[-1].stat().st_mtime_ns if files else None
        for grown in self._grown(abouts):
            if self._done.bytes_read >= RUN_BYTES:
                self._done.waiting += 1
            elif not self._has_room(grown):
                self._done.too_old += 1
            else:
                self._try(grown)
        self._done.evicted = self._archive.trim(self._most_bytes)
        self._done.sessions, self._done.files = len(self._archive.sessions()), len(self._archive.files())
        self._done.bytes = self._archive.size()
        return self._done

    def _erase_forgotten(self, abouts: Collection[About]) -> int:
        """Remove what was forgotten since it was archived, by whoever; a session that repeats it goes as well."""
        keys = sorted({key for about in abouts for key in about.turns})
        forgotten: set[str] = set()
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            forgotten |= self._forgotten(keys[start : start + _KEYS_AT_ONCE])
        return self._archive.erase_turns(forgotten) if forgotten else 0

    def _forgotten(self, keys: Collection[str]) -> set[str]:
        return set(self._store.read(self._principal, lambda tx: tx.ledger.tombstones(keys)))

    def _grown(self, abouts: Mapping[Path, About]) -> Sequence[_Grown]:
        """List what there is to take, the longest unchanged first."""
        cursors = self._store.read(self._principal, lambda tx: tx.ledger.transcript_cursors())
        found = []
        for name, cursor in cursors.items():
            file = Path(name)
            try:
                status = file.stat()
            except (OSError, ValueError):
                continue  # Claude Code has deleted it
            path = self._archive.path_of(cursor.session_id or file.stem, name)
            old = abouts.get(path)
            is_known = old is not None and (old.offset, old.fingerprint) == (cursor.offset, cursor.fingerprint)
            if not is_known and 0 < cursor.offset <= status.st_size:
                found.append(_Grown(cursor, file, path, old, status.st_mtime_ns))
        return sorted(found, key=lambda it: (it.modified_ns, it.file))

    def _has_room(self, grown: _Grown) -> bool:
        """Tell whether a transcript may be taken: one that is older than all there are never puts another out."""
        if grown.old is not None or self._oldest_ns is None or grown.modified_ns > self._oldest_ns:
            return True
        return self._size + grown.cursor.offset // LEAST_RATIO <= self._most_bytes

    def _try(self, grown: _Grown) -> None:
        try:
            with open_transcript(grown.file) as stream:
                self._take(grown, stream)
        except IngestError:  # what is there is damaged, and the transcript still has it all
            grown.path.unlink(missing_ok=True)
            self._done.waiting += 1
            _LOG.warning("archived_file_damaged", session=grown.session)
        except FileNotFoundError:
            return
        except OSError as error:  # of the transcript: see `_write`
            self._done.failed += 1
            _LOG.warning("not_archived", session=grown.session, reason=error.strerror)

    def _take(self, grown: _Grown, stream: BinaryIO) -> None:
        """Add what was read of a transcript since it was archived."""
        cursor, old = grown.cursor, grown.old
        if not _begins_as(stream, cursor.fingerprint):
            return  # another file by now; the next reading of it moves the cursor
        if old is not None and not _begins_as(stream, old.fingerprint):
            self._archive.set_aside(grown.path, old)
            old = None
        start = 0 if old is None else old.offset
        if start >= cursor.offset:
            return
        heard = self._hear(stream, grown.session, start, cursor.offset)
        self._done.withheld += heard.is_barred
        if heard.end <= start or (heard.is_barred and old is None and not heard.turns):
            return
        self._write(grown, stream, old, heard)

    def _write(self, grown: _Grown, stream: BinaryIO, old: About | None, heard: _Heard) -> None:
        start = 0 if old is None else old.offset
        before = old or About(grown.session)
        others = {*before.sessions, *heard.sessions} - {grown.session}
        lines = _Lines(stream, start, heard.end, self._pace)
        about = partial(
            About,
            session=grown.session,
            offset=heard.end,
            fingerprint=fingerprint_of(stream, heard.end),
            turns=tuple(dict.fromkeys((*before.turns, *heard.turns))),
            sessions=tuple(sorted(others)),
        )
        try:
            beside = write_beside(
                grown.path,
                old,
                lambda: about(redacted=before.redacted + lines.redacted),
                lines.read(),
                modified_ns=grown.modified_ns,
            )
        except OSError as error:
            if lines.problem is not None:
                raise lines.problem from error
            if isinstance(error, FileNotFoundError) and self._folder.is_dir():
                return  # somebody erases, and what was being written with it
            raise Unavailable(f"the archive can't be written: {error.strerror or type(error).__name__}") from error
        is_free = partial(self._is_free, heard.turns)
        if self._archive.publish(beside, grown.path, old, is_free):
            self._done.archived += 1
            self._size += grown.path.stat().st_size
            self._done.bytes_read += heard.end - start
            self._done.redacted += lines.redacted

    def _is_free(self, turns: Collection[str]) -> bool:
        return not self._forgotten(turns)

    def _hear(self, stream: BinaryIO, session: str, start: int, end: int) -> _Heard:
        """Listen to what persons say from `start`, to `end` or to what must not be kept."""
        heard = _Heard(end)
        prompts: list[Message] = []
        reading = Reading(max_bytes=end - start)
        for entry in read_entries(stream, ReadReport(), offset=start, reading=reading):
            if isinstance(entry, Message) and entry.role == "human" and not entry.is_sidechain:
                prompts.append(entry)
                if len(prompts) == _AT_ONCE:
                    self._judge(prompts, session, heard)
                    prompts.clear()
            if heard.is_barred:
                return heard
        self._judge(prompts, session, heard)
        return heard

    def _judge(self, prompts: Sequence[Message], session: str, heard: _Heard) -> None:
        """Take in what was said, up to the first that is excluded or forgotten."""
        keys = [turn_key(it.text, it.timestamp) for it in prompts]
        forgotten = self._forgotten(keys) if keys else set()
        excluded = self._excluded_projects({it.cwd for it in prompts if it.cwd is not None})
        for prompt, key in zip(prompts, keys, strict=True):
            said_in = prompt.session_id or session
            if key in forgotten or prompt.cwd in excluded or self._is_excluded(prompt, {session, said_in}):
                heard.end, heard.is_barred = prompt.offset, True
                return
            heard.turns.append(key)
            heard.sessions.add(said_in)

    def _is_excluded(self, prompt: Message, sessions: Collection[str]) -> bool:
        exclusions = self._exclusions
        return (
            any(exclusions.of_session(it) is not None for it in sessions)
            or exclusions.of_instant(prompt.timestamp) is not None
            or exclusions.of_folder(prompt.cwd) is not None
        )

    def _excluded_projects(self, folders: Collection[str]) -> set[str]:
        """Return those working directories whose projects are excluded."""
        if not self._settings.exclude.projects:
            return set()
        places = {cwd: project_folder(cwd) for cwd in folders if cwd.strip()}

        def work(tx: ReadTransaction) -> set[str]:
            of_project = self._exclusions.of_project
            return {cwd for cwd, place in places.items() if of_project(find_project_id(tx, place)) is not None}

        return self._store.read(self._principal, work)


class _Lines:
    """The lines of a stretch of a transcript without their secrets, which it counts.

    `problem` is why the transcript could not be read to the end of the stretch, if so.
    """

    def __init__(self, stream: BinaryIO, start: int, end: int, pace: "_Pace") -> None:
        self._stream, self._start, self._end, self._pace = stream, start, end, pace
        self.redacted = 0
        self.problem: OSError | None = None

    def read(self) -> Iterator[bytes]:
        """Yield the lines, once.

        Raises:
            OSError: they can't be read.
        """
        try:
            yield from self._read()
        except OSError as error:
            self.problem = error
            raise

    def _read(self) -> Iterator[bytes]:
        rest_at = self._start + _PIECE
        self._pace.begin()
        for _, line_end, raw, _ in iter_lines(self._stream, self._start):
            if line_end > self._end:
                return
            line, count = redacted_line(raw)
            self.redacted += count
            yield line
            if line_end >= rest_at:
                rest_at = line_end + _PIECE
                self._pace.rest()


class _Pace:
    """Rests after each piece of work so long that no more than a share of a core is taken."""

    def __init__(self, share: float, pause: Callable[[float], object]) -> None:
        self._share, self._pause, self._began = share, pause, 0.0

    def begin(self) -> None:
        """Begin a piece."""
        self._began = time.perf_counter()

    def rest(self) -> None:
        """Rest after a piece, and begin the next one."""
        if self._share < 1:
            self._pause((time.perf_counter() - self._began) * (1 / self._share - 1))
        self.begin()


def _begins_as(stream: BinaryIO, fingerprint: str) -> bool:
    length, _, _ = fingerprint.partition(":")
    size = os.fstat(stream.fileno()).st_size
    return length.isdecimal() and int(length) <= size and fingerprint_of(stream, int(length)) == fingerprint
