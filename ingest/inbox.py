"""The inbox: folders through which a document goes, pending → processing → completed or failed.

A worker claims a document by renaming it into a folder of its own below `processing/`, which it keeps locked while it
lives: so two workers never have the same one, nothing is ever overwritten, and what a dead worker left is seen at once.
What a document is called in the ledger is its path below `pending/`; see `identity.document_path`.
"""

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import count
from pathlib import Path
from secrets import token_hex

from graph_memory.domain.errors import ConfigError
from graph_memory.home import Home
from ingest.arrivals import Look
from ingest.identity import document_path
from ingest.sidecars import SUFFIX, document_name, is_sidecar

REASON_SUFFIX = ".reason.txt"
_WORKER = "worker-"
_LOCK = ".lock"
_UNFINISHED = ("~", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".download", ".swp", ".swx", ".lock")
_LONGEST_NAME = 255
_FOLDER = 0o700
_FILE = 0o600


class FoundKind(StrEnum):
    """What lies in the inbox."""

    DOCUMENT = "document"
    SIDECAR = "sidecar"
    LINK = "link"
    SPECIAL = "special"  # a device, a pipe, a socket


@dataclass(frozen=True, slots=True)
class Found:
    """A file that waits; `root` is the folder that `relative` starts from, `is_orphan` that a dead worker left it."""

    root: Path
    relative: Path
    kind: FoundKind
    look: Look
    modified_ns: int
    is_orphan: bool = False

    @property
    def file(self) -> Path:
        """Where it lies."""
        return self.root / self.relative

    @property
    def path(self) -> str:
        """What the ledger calls it."""
        return document_path(self.relative)

    @property
    def document_path(self) -> str:
        """What the ledger calls the document that a sidecar is of."""
        return document_path(document_of(self.relative))


@dataclass(frozen=True, slots=True)
class Claim:
    """A document that this worker has taken, and its sidecar where it had one by then."""

    path: str
    relative: Path
    file: Path
    sidecar: Path | None
    folder: Path
    modified_ns: int


class Inbox:
    """The inbox of a home, seen by one worker; call `close` when it ends. For one thread."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._numbers = count(1)
        self._worker: Path | None = None
        self._lock: int | None = None
        self._claimed: set[Path] = set()

    # What waits

    def pending(self) -> Iterator[Found]:
        """List what waits in `pending/`, in the order of paths; hidden, temporary and vanished files are left out."""
        yield from _walk(self._home.pending)

    def orphans(self) -> Iterator[Found]:
        """List what lies in `processing/` and nobody is at: what dead workers left, and what this one put aside."""
        for entry in _entries(self._home.processing):
            if entry.name.startswith("." + _WORKER):
                folder = self._home.processing / entry.name.removeprefix(".").removesuffix(_LOCK)
                if not folder.exists():
                    self._is_dead(folder)
            if not entry.name.startswith(_WORKER) or not entry.is_dir(follow_symlinks=False):
                continue
            folder = Path(entry.path)
            if folder == self._worker or self._is_dead(folder):
                for number in _entries(folder):
                    if Path(number.path) not in self._claimed:
                        yield from _walk(Path(number.path), is_orphan=True)
        for found in _walk(self._home.processing, is_orphan=True):
            if not found.relative.parts[0].startswith(_WORKER):
                yield found

    def processing(self) -> set[str]:
        """Return the paths of all documents in `processing/`, whoever is at them."""
        found = _walk(self._home.processing)
        return {document_path(below_worker(it.relative)) for it in found if it.kind is not FoundKind.SIDECAR}

    # Moves

    def claim(self, found: Found) -> Claim | None:
        """Take a document, and the sidecar beside it; `None` when it is gone or another worker was faster.

        Raises:
            OSError: it can't be moved.
        """
        folder = self._own_folder() / str(next(self._numbers))
        target = folder / found.relative
        _make_folders(target.parent)
        try:
            _take(found.file, target)
        except (FileNotFoundError, NotADirectoryError):
            shutil.rmtree(folder, ignore_errors=True)
            return None
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if stat.S_ISDIR(target.lstat().st_mode):  # somebody put a folder in the file's place
            with suppress(OSError):
                target.rename(found.file)
            return None
        self._claimed.add(folder)
        if found.kind is FoundKind.DOCUMENT:
            with suppress(OSError):
                target.chmod(_FILE)
        sidecar = self._claim_sidecar(found, target)
        self._tidy(found)
        return Claim(found.path, found.relative, target, sidecar, folder, found.modified_ns)

    def complete(self, claim: Claim, key: str) -> Path:
        """Move a document to `completed/`; return where it lies now. `key` tells it from others of its name."""
        return self._settle(claim, self._home.completed, key)

    def fail(self, claim: Claim, key: str, reason: str) -> Path:
        """Move a document to `failed/` with its reason beside it; return where it lies now."""
        placed = self._settle(claim, self._home.failed, key)
        note = _beside(placed, REASON_SUFFIX)
        with suppress(OSError):
            note.unlink(missing_ok=True)
            descriptor = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE)
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(reason + "\n")
        return placed

    def give_back(self, claim: Claim) -> None:
        """Put a document back into `pending/`, or aside where another one of its name is there by now."""
        target = self._home.pending / claim.relative
        _make_folders(target.parent)
        if not os.path.lexists(target):
            # The sidecar first: a document is never seen without the one it had.
            if claim.sidecar is not None:
                _move_new(claim.sidecar, _beside(target, SUFFIX))
            _move_new(claim.file, target)
        if not any(_walk(claim.folder)):
            shutil.rmtree(claim.folder, ignore_errors=True)
        self._claimed.discard(claim.folder)

    def drop(self, claim: Claim) -> None:
        """Forget a document that somebody took out of `processing/`."""
        shutil.rmtree(claim.folder, ignore_errors=True)
        self._claimed.discard(claim.folder)

    def restore(self, failed: Path, relative: Path) -> bool:
        """Move a failed document back to `pending/`, its sidecar first; `False` where another one waits there."""
        target = self._home.pending / relative
        _make_folders(target.parent)
        if os.path.lexists(target):
            return False
        _move_new(_beside(failed, SUFFIX), _beside(target, SUFFIX))
        _beside(failed, REASON_SUFFIX).unlink(missing_ok=True)
        return _move_new(failed, target)

    def place(self, folder: Path, relative: Path, key: str) -> Iterator[Path]:
        """List where a document of that content may lie in `completed/` or `failed/`."""
        target = folder / relative
        yield target
        yield target.with_name(_fitting(target, f"-{key[:8]}{target.suffix}"))

    def close(self) -> None:
        """Give up this worker's folder; what is still claimed is taken up by the next one."""
        if self._worker is not None:
            for number in _entries(self._worker):
                with suppress(OSError):
                    Path(number.path).rmdir()
            with suppress(OSError):
                self._worker.rmdir()
                self._lock_file(self._worker).unlink()
            self._worker = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _own_folder(self) -> Path:
        if self._worker is None:
            # Locked before the folder is there, so that it is never seen without its lock.
            worker = self._locked_name()
            while worker is None:
                worker = self._locked_name()
            worker.mkdir(mode=_FOLDER)
            self._worker = worker
        return self._worker

    def _locked_name(self) -> Path | None:
        """Lock a name for a folder of its own; `None` where its lock was removed as a dead worker's meanwhile."""
        worker = self._home.processing / f"{_WORKER}{token_hex(8)}"
        lock = self._lock_file(worker)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:
            os.close(descriptor)
            raise ConfigError(f"{worker.parent} can't be locked: {error.strerror}") from error
        if not lock.exists():
            os.close(descriptor)
            return None
        self._lock = descriptor
        return worker

    @staticmethod
    def _lock_file(worker: Path) -> Path:
        return worker.with_name(f".{worker.name}{_LOCK}")

    def _is_dead(self, worker: Path) -> bool:
        """Tell whether the worker of a folder has ended; what a dead one left is removed when it holds no document."""
        lock = self._lock_file(worker)
        if not lock.exists():
            return True
        if not is_lock_free(lock):
            return False
        if not any(_walk(worker)):
            shutil.rmtree(worker, ignore_errors=True)
            lock.unlink(missing_ok=True)
        return True

    def _claim_sidecar(self, found: Found, target: Path) -> Path | None:
        for beside in dict.fromkeys((found.file, self._home.pending / found.relative)):
            source, own = _beside(beside, SUFFIX), _beside(target, SUFFIX)
            if source.is_symlink() or not source.is_file():
                continue
            with suppress(FileNotFoundError):
                _take(source, own)
                return own
        return None

    def _settle(self, claim: Claim, folder: Path, key: str) -> Path:
        targets = list(self.place(folder, claim.relative, key))
        _make_folders(targets[0].parent)
        placed = next((it for it in targets if _move_new(claim.file, it) or _drop_same(claim.file, it)), None)
        if placed is None:
            placed = targets[-1]  # of the same key but other bytes: somebody wrote into our folder
            with suppress(FileNotFoundError):  # or somebody took it out of `processing/`
                claim.file.replace(placed)
        if claim.sidecar is not None:
            with suppress(FileNotFoundError):
                claim.sidecar.replace(_beside(placed, SUFFIX))
        shutil.rmtree(claim.folder, ignore_errors=True)
        self._claimed.discard(claim.folder)
        return placed

    def _tidy(self, found: Found) -> None:
        """Remove the folders that an orphan left empty."""
        if found.is_orphan:
            for folder in found.file.parents:
                if folder == self._home.processing:
                    break
                with suppress(OSError):
                    folder.rmdir()


def is_lock_free(lock: Path) -> bool:
    """Tell whether the process that held a lock is gone; so it is where the lock is."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _walk(root: Path, *, is_orphan: bool = False) -> Iterator[Found]:
    """List the files below a folder, without following links."""
    folders = [root]
    while folders:
        folder = folders.pop()
        inner = []
        for entry in _entries(folder):
            if entry.name.startswith(".") or entry.name.lower().endswith(_UNFINISHED):
                continue
            if entry.is_dir(follow_symlinks=False):
                inner.append(Path(entry.path))
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            kind = _kind(entry.name, status.st_mode)
            relative = Path(entry.path).relative_to(root)
            yield Found(root, relative, kind, Look.at(status), status.st_mtime_ns, is_orphan)
        folders.extend(reversed(inner))


def _kind(name: str, mode: int) -> FoundKind:
    if stat.S_ISLNK(mode):
        return FoundKind.LINK
    if not stat.S_ISREG(mode):
        return FoundKind.SPECIAL
    return FoundKind.SIDECAR if is_sidecar(name) else FoundKind.DOCUMENT


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def document_of(sidecar: Path) -> Path:
    """Return the path of the document that a sidecar is of."""
    return sidecar.with_name(document_name(sidecar.name))


def reason_of(document: Path) -> Path:
    """Return the path of what says why a document failed."""
    return _beside(document, REASON_SUFFIX)


def below_worker(relative: Path) -> Path:
    """Return a path in `processing/` without the folders of its worker."""
    return Path(*relative.parts[2:]) if relative.parts[0].startswith(_WORKER) else relative


def sidecar_of(document: Path) -> Path:
    """Return the path of a document's sidecar."""
    return _beside(document, SUFFIX)


def _make_folders(folder: Path) -> None:
    """Make a folder with those above it, all private; `mkdir` would leave that to the umask."""
    for missing in reversed([folder, *folder.parents]):
        if not missing.is_dir():
            missing.mkdir(mode=_FOLDER, exist_ok=True)


def _take(source: Path, target: Path) -> None:
    """Move a file; from another drive by copying, where whoever removes the original has it."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copy2(source, target, follow_symlinks=False)
        source.unlink()


def _move_new(source: Path, target: Path) -> bool:
    """Move a file to where none is; `False`, and nothing moved, where there is one or the source is gone."""
    try:
        os.link(source, target, follow_symlinks=False)
    except (FileExistsError, FileNotFoundError):
        return False
    except OSError:  # a file system without hard links, or a thing that can't have one
        if os.path.lexists(target):
            return False
        with suppress(FileNotFoundError):
            source.rename(target)
            return True
        return False
    source.unlink(missing_ok=True)
    return True


def _drop_same(source: Path, target: Path) -> bool:
    """Drop a file whose bytes are there already; tell whether they were."""
    try:
        is_same = stat.S_ISREG(source.lstat().st_mode) and stat.S_ISREG(target.lstat().st_mode)
        if is_same and source.stat().st_size == target.stat().st_size and source.read_bytes() == target.read_bytes():
            source.unlink()
            return True
    except OSError:
        return False
    return False


def _beside(file: Path, suffix: str) -> Path:
    return file.with_name(_fitting(file, suffix, is_appended=True))


def _fitting(file: Path, suffix: str, *, is_appended: bool = False) -> str:
    """Return a name with that suffix; one that would be too long is cut and gets a hash."""
    stem = file.name if is_appended else file.stem
    if len(os.fsencode(stem + suffix)) <= _LONGEST_NAME:
        return stem + suffix
    digest = "-" + sha256(os.fsencode(file.name)).hexdigest()[:8]
    room = _LONGEST_NAME - len(os.fsencode(suffix)) - len(digest)
    return os.fsencode(stem)[:room].decode(errors="ignore") + digest + suffix
