"""Backups as JSON lines: a header, one row a line, a trailer with counts and a hash over the body."""

import fcntl
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from graph_memory.adapters.files.backup_lines import WholeBackup, read_header, write_rows
from graph_memory.domain.backups import BackupFile, BackupRow, StoredRow
from graph_memory.domain.errors import InvalidRequest, NotFound, Unavailable
from graph_memory.domain.instants import to_wire
from graph_memory.domain.names import short_hash, slugify
from graph_memory.ports.backups import Retention

_NIGHTLY = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?\.jsonl")
_STAMPED = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.-]")
_PARTIAL = (".export-", ".tmp")
"""What the name of a backup that is being written begins and ends with."""
_LONGEST_LABEL = 120
"""Bytes of a label in a file's name, which has at most 255."""


class BackupFolder:
    """A folder of backups, named by the second they were made in and their label."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, rows: Iterable[BackupRow], *, at: datetime, label: str | None = None) -> BackupFile:
        """Write a backup through a temporary file beside it, and read all of it back from the disk.

        What exports that were killed have left is removed first.

        Raises:
            Unavailable: the folder can't be written, or what was written does not read back.
        """
        return self._written(rows, at, lambda partial: self._publish(partial, at, label))

    def rewrite(self, file: str, rows: Iterable[StoredRow | BackupRow]) -> BackupFile:
        """Replace a backup by these rows under its name and instant; the old one stays where that fails.

        Raises:
            NotFound: there is no such file.
            InvalidRequest: it is not a backup.
            Unavailable: the folder can't be written, or what was written does not read back.
        """
        path = self._find(file)
        with path.open("rb") as lines:
            exported_at = read_header(next(lines, b""), path.name)

        def put(partial: Path) -> Path:
            partial.replace(path)
            _sync_folder(self._folder)
            return path

        return self._written(rows, exported_at, put, is_new=False)

    def remove(self, file: str) -> None:
        """Remove a backup; it may be gone already.

        Raises:
            Unavailable: it can't be removed.
        """
        try:
            (self._folder / file).unlink(missing_ok=True)
            _sync_folder(self._folder)
        except OSError as error:
            raise Unavailable(f"the backup {file} can't be removed: {error.strerror}") from error

    def every_file(self) -> Sequence[str]:
        """List all backups of ours, by name: those that are called so, and those that say so in their first line."""
        return sorted(it.name for it in self._folder.glob("*.jsonl") if _STAMPED.match(it.name) or _is_ours(it))

    def _written(
        self,
        rows: Iterable[StoredRow | BackupRow],
        at: datetime,
        publish: Callable[[Path], Path],
        *,
        is_new: bool = True,
    ) -> BackupFile:
        """Write a backup and read it back; of one that `is_new` every row is decoded, too."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._remove_abandoned()
            descriptor, name = tempfile.mkstemp(prefix=_PARTIAL[0], suffix=_PARTIAL[1], dir=self._folder)
            partial = Path(name)
            try:
                with os.fdopen(descriptor, "wb") as file:  # open, and so locked, until it has its name
                    fcntl.flock(descriptor, fcntl.LOCK_SH)
                    told = write_rows(file.write, rows, at)
                    file.flush()
                    os.fsync(descriptor)
                    _forget_cached(descriptor)
                    checked = self._checked(Path(name), is_decoding=is_new)
                    if (checked.counts, checked.sha256) != told:
                        raise InvalidRequest("it is not what was written")
                    final = publish(partial)
            finally:
                partial.unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(f"the backup can't be written: {error.strerror or type(error).__name__}") from error
        except InvalidRequest as error:
            raise Unavailable(f"the backup does not read back: {error}") from error
        return BackupFile(str(final), checked.size, checked.exported_at, checked.counts, checked.sha256)

    def _publish(self, partial: Path, at: datetime, label: str | None) -> Path:
        stamp = at.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%S")
        suffix = _suffix(label)
        for name in (f"{stamp}{suffix}.jsonl", f"{stamp}.{at.microsecond:06d}{suffix}.jsonl"):
            with suppress(FileExistsError):
                os.link(partial, self._folder / name)  # unlike a rename, never over another backup
                _sync_folder(self._folder)
                return self._folder / name
        raise Unavailable(f"two backups at {to_wire(at)}; try again")

    def _remove_abandoned(self) -> None:
        """Remove what exports have left whose process is gone, and its lock with it."""
        for partial in self._folder.glob("*".join(_PARTIAL)):
            with suppress(OSError):
                descriptor = os.open(partial, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    partial.unlink()
                finally:
                    os.close(descriptor)

    def check(self, file: str) -> BackupFile:
        """Read a backup to its end and check its format, its counts and hash, and that every row is one.

        Raises:
            NotFound: there is no such file.
            InvalidRequest: it is not a backup, is cut off or was changed, or is of a newer format.
        """
        return self._checked(self._find(file), is_decoding=True)

    def _checked(self, path: Path, *, is_decoding: bool) -> BackupFile:
        whole = WholeBackup(path)
        for line in whole.lines():
            if is_decoding:
                _ = line.row
        return BackupFile(str(path), path.stat().st_size, whole.exported_at, dict(whole.counts), whole.sha256)

    def stored(self, file: str) -> Iterator[StoredRow]:
        """Yield the rows of a backup, undecoded, and look in the end whether it was whole.

        Raises:
            NotFound: there is no such file.
            InvalidRequest: it is not a backup, is cut off or was changed, or is of a newer format.
        """
        return WholeBackup(self._find(file)).lines()

    def rows(self, file: str) -> Iterator[BackupRow]:
        """Yield the rows of a backup that was checked, in order."""
        for line in WholeBackup(self._find(file)).lines():
            yield line.row

    def apply_retention(self, keep: int, *, newest: str) -> Retention:
        """Remove the oldest backups without a label until `keep` are left, never `newest`; labelled ones stay."""
        nightly = [it for it in self._folder.glob("*.jsonl") if _NIGHTLY.fullmatch(it.name)]
        # By stem: of two in one second the later one has a longer name. A clock that was set back names the newest as
        # if it were old.
        nightly.sort(key=lambda it: (it == Path(newest), it.stem), reverse=True)
        for old in nightly[keep:]:
            old.unlink(missing_ok=True)
        return Retention(len(nightly[keep:]), len(nightly[:keep]))

    def _find(self, file: str) -> Path:
        path = Path(file).expanduser()
        path = path if path.is_absolute() else self._folder / path
        if not path.is_file():
            raise NotFound(f"file: there is no backup {file!r}; `graph_export` writes one")
        return path


def _forget_cached(descriptor: int) -> None:
    """Have the next reading come from the disk and not from memory, where the system can be asked for that."""
    if sys.platform == "linux":
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _suffix(label: str | None) -> str:
    """Return what a label adds to a file's name: letters, digits and hyphens, in no more bytes than a name may have."""
    if label is None or not label.strip():
        return ""
    slug = slugify(label) or f"label-{short_hash(label)}"
    return f"-{slug.encode()[:_LONGEST_LABEL].decode(errors='ignore')}"


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as lines:
            read_header(next(lines, b""), path.name)
    except (OSError, InvalidRequest):
        return False
    return True


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
