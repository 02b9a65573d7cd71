"""Where backups are kept."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from graph_memory.domain.backups import BackupFile, BackupRow, StoredRow


class Retention(NamedTuple):
    """How many backups were removed, and how many of those that count are left."""

    pruned: int
    retained: int


class Backups(Protocol):
    """A folder of backups. Equal rows give equal bodies; the instant of export stands in the header alone."""

    def write(self, rows: Iterable[BackupRow], *, at: datetime, label: str | None = None) -> BackupFile:
        """Write a backup, durably, under a name of its own, and read all of it back; a failure leaves no file.

        Raises:
            Unavailable: the folder can't be written, or what was written does not read back.
        """

    def check(self, file: str) -> BackupFile:
        """Read a backup to its end and check its format, counts and hash, and that every row is one.

        Raises:
            NotFound: there is no such file.
            InvalidRequest: it is not a backup, is cut off or was changed, or is of a newer format.
        """

    def rows(self, file: str) -> Iterator[BackupRow]:
        """Yield the rows of a backup that was checked, in order."""

    def apply_retention(self, keep: int, *, newest: str) -> Retention:
        """Remove the oldest backups without a label until `keep` are left, never `newest`; labelled ones don't count.

        `newest` is the path of the backup just written, whatever the clock calls it.
        """

    def every_file(self) -> Sequence[str]:
        """List all backups of ours, by name, renamed ones too; other people's files in the folder are left alone."""

    def stored(self, file: str) -> Iterator[StoredRow]:
        """Yield the rows of a backup, in order and undecoded; the last one is followed by a look at the whole.

        Raises:
            NotFound: there is no such file.
            InvalidRequest: it is not a backup, is cut off or was changed, or is of a newer format.
        """

    def rewrite(self, file: str, rows: Iterable[StoredRow | BackupRow]) -> BackupFile:
        """Replace a backup by these rows, as if it had held no others when it was made; in one step.

        Raises:
            Unavailable: it can't be written, or what was written does not read back; the old one is as it was.
        """

    def remove(self, file: str) -> None:
        """Remove a backup."""
