"""The archive: compressed copies of the transcripts that were read, kept when Claude Code has deleted its own.

A file is named by its session's id and a hash of where the transcript lay, never by text. Any number of processes may
use an archive; whoever adds to it or takes from it holds its lock for that moment.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from filelock import FileLock, Timeout

from graph_memory.domain.errors import IngestError, NotFound, Unavailable
from graph_memory.domain.names import short_hash
from graph_memory.whole_files import sync_folder
from ingest.archived_file import DAMAGE, PARTIAL, About, find_about, open_archived

LOCK_SECONDS = 30.0
_IN_MEMORY = 32 << 20
"""Bytes of an opened transcript that are held in memory; more go into a file without a name."""
_SUFFIX = ".jsonl.zst"
_SAFE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LOCK = ".lock"
_MODE = 0o600


class Archive:
    """The archived transcripts in a folder, which is made where it is missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sessions(self) -> Sequence[str]:
        """List the sessions that are archived, in order."""
        return sorted({it.session for it in self.abouts().values()})

    def abouts(self) -> Mapping[Path, About]:
        """Tell what each archived file is of; damaged ones are left out."""
        found = ((path, find_about(path)) for path in self.files())
        return {path: about for path, about in found if about is not None}

    def files(self) -> Sequence[Path]:
        """List the archived files, those whose session was written to last first."""
        files: list[tuple[int, Path]] = []
        for path in self._folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):
                files.append((path.stat().st_mtime_ns, path))
        return [path for _, path in sorted(files, key=lambda it: (-it[0], it[1]))]

    def find(self, session: str) -> Path | None:
        """Find the archived file of a session; of several the one that was written to last."""
        stem = f"{_stem(session)}."
        files = (it for it in self.files() if it.name.startswith(stem))
        return next((it for it in files if (about := find_about(it)) is not None and about.session == session), None)

    def read(self, session: str) -> Iterator[bytes]:
        """Yield the lines of a session's transcript, each with its line feed, without the secrets that it held.

        Raises:
            NotFound: the session is not archived.
            IngestError: its file is damaged, or can't be read.
        """
        path = self.find(session)
        if path is None:
            raise NotFound(f"session {session!r} is not in the archive")
        try:
            with open_archived(path) as lines:
                yield from lines
        except DAMAGE as error:
            raise IngestError(f"{path.name} is damaged: {error}") from error
        except OSError as error:
            raise IngestError(f"{path.name} can't be read: {error.strerror}") from error

    @contextmanager
    def opened(self, session: str) -> Iterator[BinaryIO]:
        """Give a session's transcript as a file to move about in; errors are those of `read`."""
        with SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(self._folder)) as whole:
            for line in self.read(session):
                whole.write(line)
            whole.seek(0)
            yield cast("BinaryIO", whole)

    def erase(self, sessions: Collection[str]) -> int:
        """Remove every file that holds words of these sessions, and what is being written now; count the files.

        What was forgotten for good must be noted as such before, or the next run of the archive takes it up again.

        Raises:
            Unavailable: another process holds the archive, or a file can't be removed.
        """
        wanted = frozenset(sessions)
        return self._erase(lambda about: about.session in wanted or not wanted.isdisjoint(about.sessions))

    def erase_turns(self, keys: Collection[str]) -> int:
        """Remove every file that holds one of these turns, by their content keys; as `erase`."""
        wanted = frozenset(keys)
        return self._erase(lambda about: not wanted.isdisjoint(about.turns))

    def _erase(self, is_meant: Callable[[About], bool]) -> int:
        with self.locked():
            found = [(path, find_about(path)) for path in self.files()]
            # A damaged file does not say what it holds: it goes too, rather than that something forgotten stays.
            gone = [path for path, about in found if about is None or is_meant(about)]
            return self._remove([*gone, *self._folder.glob(f".*{PARTIAL}")])

    def trim(self, most_bytes: int) -> int:
        """Remove the files whose sessions were written to least recently until the rest fits; count them.

        Raises:
            Unavailable: another process holds the archive, or a file can't be removed.
        """
        with self.locked():
            files = self.files()
            left = sum(_size(it) for it in files)
            gone: list[Path] = []
            while files and left > most_bytes:
                *files, oldest = files
                left -= _size(oldest)
                gone.append(oldest)
            return self._remove(gone)

    def size(self) -> int:
        """Return how many bytes the archived files take."""
        return sum(_size(it) for it in self.files())

    def path_of(self, session: str, transcript: str) -> Path:
        """Return where the transcript of a session belongs; `transcript` is its path as the store keeps it."""
        return self._folder / f"{_stem(session)}.{short_hash(transcript, 12)}{_SUFFIX}"

    def publish(self, beside: Path, path: Path, old: About | None, is_allowed: Callable[[], bool]) -> bool:
        """Put what was written beside a file in its place, unless it is no longer what `old` says, or not allowed.

        Raises:
            Unavailable: another process holds the archive.
            OSError: it can't be put there.
        """
        try:
            with self.locked():
                if find_about(path) != old or not is_allowed():
                    return False
                try:
                    beside.replace(path)
                except FileNotFoundError:  # erased meanwhile
                    return False
                sync_folder(self._folder)
                return True
        finally:
            beside.unlink(missing_ok=True)

    def set_aside(self, path: Path, about: About) -> None:
        """Keep what is archived of a transcript that was since replaced by another one under its name."""
        with self.locked(), suppress(FileNotFoundError):
            digest = short_hash(f"{about.fingerprint}\0{about.offset}", 8)
            path.replace(path.with_name(f"{path.name.removesuffix(_SUFFIX)}-{digest}{_SUFFIX}"))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only one who adds or removes files.

        Raises:
            Unavailable: another process does, for longer than half a minute, or the folder can't be written.
        """
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            lock = FileLock(self._folder / _LOCK, timeout=LOCK_SECONDS, mode=_MODE)
            lock.acquire()
        except Timeout:
            raise Unavailable("another process is at the archive; try again") from None
        except OSError as error:
            raise Unavailable(f"the archive can't be written: {error.strerror}") from error
        try:
            yield
        finally:
            lock.release()

    def _remove(self, paths: Collection[Path]) -> int:
        try:
            for path in paths:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(f"{Path(error.filename).name} can't be removed: {error.strerror}") from error
        if paths:
            sync_folder(self._folder)
        return sum(not it.name.endswith(PARTIAL) for it in paths)


def _stem(session: str) -> str:
    """Return what the files of a session begin with: its id, or a hash where that could not be a file's name."""
    return session if _SAFE.fullmatch(session) else f"x-{short_hash(session, 32)}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
