"""The store in one SQLite file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import apsw

from graph_memory.adapters.sqlite.connection import DEADLINE, Connections, make_file
from graph_memory.adapters.sqlite.errors import translated
from graph_memory.adapters.sqlite.migrations import MIGRATIONS, Migration, migrate
from graph_memory.adapters.sqlite.tenants import indexes_out_of_step, merge_text_indexes, tenants_with_rows
from graph_memory.adapters.sqlite.transactions import Transactions
from graph_memory.adapters.sqlite.upgrade_copies import all_copies
from graph_memory.domain.errors import Unavailable
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import ReadTransaction, StoreIdentity, WriteTransaction

T = TypeVar("T")


class SqliteStore:
    """Both families in the file at `path`, which is made if missing; see `Store`.

    Any number of processes may have it open. `deadline` is how many seconds a transaction waits for others. A file of
    an earlier version is upgraded, and `migrated` says so. Once a newer program has upgraded the file, or it was
    replaced or removed, every transaction raises `StoreChanged`.

    Raises:
        StoreMismatch: the file is newer than this program, damaged, or of another product.
        StoreBusy: others held the file past the deadline.
        Unavailable: the file can't be opened.
    """

    def __init__(self, path: Path, *, deadline: float = DEADLINE, migrations: Sequence[Migration] = MIGRATIONS) -> None:
        make_file(path)
        self._connections = Connections(path, deadline)
        try:
            with self._connections.lent() as connection:
                self.migrated = migrate(connection, path, migrations, deadline=deadline)
                database_id = str(connection.execute("select id from database").get)
        except apsw.Error as error:
            self.close()
            raise translated(error) from error
        except BaseException:
            self.close()
            raise
        version = self.migrated.version
        self._path = path
        self._identity = StoreIdentity("sqlite", database_id, version, apsw.sqlite_lib_version())
        self._transactions = Transactions(self._connections, version, deadline)

    def read(self, principal: Principal, work: Callable[[ReadTransaction], T]) -> T:
        """Run `work` on a consistent view; it may run again when the file was busy.

        Raises:
            Unavailable: the store is closed, or stayed busy past its deadline.
            RuntimeError: the calling thread is within a transaction already.
        """
        return self._transactions.read(principal, work)

    def write(self, principal: Principal, work: Callable[[WriteTransaction], T]) -> T:
        """Run `work` in one transaction; durable when this returns. It may run again when the file was busy.

        Raises:
            Conflict: a uniqueness rule of the rows does not hold.
            Unavailable: the store is closed, or stayed busy past its deadline; nothing was written.
            RuntimeError: the calling thread is within a transaction already.
        """
        return self._transactions.write(principal, work)

    def identity(self) -> StoreIdentity:
        """Return which store this is; `engine_version` is that of the SQLite in use."""
        return self._identity

    def tenants(self) -> tuple[str, ...]:
        """List the tenants that have any row, in order."""
        with self._connections.lent() as connection:
            try:
                return tenants_with_rows(connection)
            except apsw.Error as error:
                raise translated(error) from error

    def close(self) -> None:
        """Give back every connection; safe to call again."""
        self._connections.close()

    def integrity_problems(self) -> tuple[str, ...]:
        """Read the whole file and list what is wrong with it, text indexes and references included."""
        with self._connections.lent() as connection:
            try:
                found = [text for (text,) in connection.execute("pragma integrity_check(20)") if text != "ok"]
                orphans = connection.execute("pragma foreign_key_check").fetchall()
                indexes = indexes_out_of_step(connection)
            except apsw.Error as error:
                raise translated(error) from error
        return (
            *found,
            *(f"row {row} of {table} refers to nothing" for table, row, *_ in orphans),
            *(f"the text index {name} is not what the memories say" for name in indexes),
        )

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it to nothing, as far as readers allow."""
        with self._connections.lent() as connection:
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.Error as error:
                raise translated(error) from error

    def erase_traces(self) -> None:
        """Leave nothing of deleted rows: not in text indexes, free pages, the write-ahead log or copies of before.

        Rewrites the file, so it takes seconds for each hundred megabytes, in which others can't write.
        """
        with self._connections.lent() as connection:
            try:
                merge_text_indexes(connection)
                # Not in memory, where it would take as much as the file; what SQLite puts on the disk has no name.
                connection.execute("pragma temp_store = file")
                try:
                    connection.execute("vacuum")
                finally:
                    connection.execute("pragma temp_store = memory")
                for copy in all_copies(self._path):
                    copy.unlink(missing_ok=True)
            except apsw.Error as error:
                raise translated(error) from error
            except OSError as error:
                raise Unavailable(f"{self._path.name}: an old copy of it can't be removed: {error.strerror}") from error
        self.checkpoint()
