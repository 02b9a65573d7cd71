"""Work on a tenant's rows, inside one transaction."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import apsw

from graph_memory.adapters.sqlite.connection import Connections, exclusive, roll_back
from graph_memory.adapters.sqlite.entities import SqliteEntityReader, SqliteEntityWriter
from graph_memory.adapters.sqlite.errors import translated
from graph_memory.adapters.sqlite.ledger import SqliteLedgerReader, SqliteLedgerWriter
from graph_memory.adapters.sqlite.memories import SqliteMemoryReader, SqliteMemoryWriter
from graph_memory.adapters.sqlite.migrations import require_version
from graph_memory.adapters.sqlite.relations import SqliteRelationReader, SqliteRelationWriter
from graph_memory.adapters.sqlite.session import Session
from graph_memory.adapters.sqlite.synapses import SqliteSynapseReader, SqliteSynapseWriter
from graph_memory.adapters.sqlite.tenants import NOBODY, add_tenant, find_tenant, index_suffix
from graph_memory.adapters.sqlite.terms import CommonTerms
from graph_memory.adapters.sqlite.upkeep import SqliteUpkeepReader, SqliteUpkeepWriter
from graph_memory.domain.errors import StoreBusy
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import ReadTransaction, WriteTransaction

T = TypeVar("T")


class SqliteReadTransaction:
    """One consistent view of a tenant's rows; see `ReadTransaction`."""

    def __init__(self, session: Session, common: CommonTerms) -> None:
        self.entities = SqliteEntityReader(session)
        self.relations = SqliteRelationReader(session)
        self.memories = SqliteMemoryReader(session, common)
        self.synapses = SqliteSynapseReader(session)
        self.ledger = SqliteLedgerReader(session)
        self.upkeep = SqliteUpkeepReader(session)


class SqliteWriteTransaction:
    """One atomic change of a tenant's rows; see `WriteTransaction`."""

    def __init__(self, session: Session, common: CommonTerms) -> None:
        self.entities = SqliteEntityWriter(session)
        self.relations = SqliteRelationWriter(session)
        self.memories = SqliteMemoryWriter(session, common)
        self.synapses = SqliteSynapseWriter(session)
        self.ledger = SqliteLedgerWriter(session)
        self.upkeep = SqliteUpkeepWriter(session)


class Transactions:
    """Reads in deferred transactions, writes in immediate ones; either runs again when the file was busy.

    A thread is in one transaction at a time: a write begun within another could only wait for itself. Each sees first
    whether the file still has the tables of `version`: a newer program may have upgraded it meanwhile.
    """

    def __init__(self, connections: Connections, version: int, deadline: float) -> None:
        self._connections = connections
        self._version = version
        self._deadline = deadline
        self._common = CommonTerms()
        self._tenants: dict[str, int] = {}
        self._thread = threading.local()

    def read(self, principal: Principal, work: Callable[[ReadTransaction], T]) -> T:
        """Run `work` on a consistent view."""

        def attempt(connection: apsw.Connection) -> T:
            with _snapshot(connection):
                require_version(connection, self._version)
                return work(SqliteReadTransaction(self._session(connection, principal), self._common))

        return self._run(attempt)

    def write(self, principal: Principal, work: Callable[[WriteTransaction], T]) -> T:
        """Run `work`, commit, and return its result."""

        def attempt(connection: apsw.Connection) -> T:
            with exclusive(connection):
                require_version(connection, self._version)
                session = self._session(connection, principal)
                if session.tenant == NOBODY:
                    key = add_tenant(connection, principal.tenant)
                    session = Session(connection, key, index_suffix(key))
                result = work(SqliteWriteTransaction(session, self._common))
            self._tenants[principal.tenant] = session.tenant
            return result

        return self._run(attempt)

    def _run(self, attempt: Callable[[apsw.Connection], T]) -> T:
        until = time.monotonic() + self._deadline
        with self._alone_in_thread(), self._connections.lent() as connection:
            while True:
                try:
                    return attempt(connection)
                except StoreBusy:
                    if time.monotonic() >= until:
                        raise

    def _session(self, connection: apsw.Connection, principal: Principal) -> Session:
        key = self._tenants.get(principal.tenant) or find_tenant(connection, principal.tenant)
        return Session(connection, key, index_suffix(key))

    @contextmanager
    def _alone_in_thread(self) -> Iterator[None]:
        if getattr(self._thread, "is_busy", False):
            raise RuntimeError("a transaction began within a transaction of the same thread")
        self._thread.is_busy = True
        try:
            yield
        finally:
            self._thread.is_busy = False


@contextmanager
def _snapshot(connection: apsw.Connection) -> Iterator[None]:
    try:
        connection.execute("begin")
        yield
    except apsw.Error as error:
        raise translated(error) from error
    finally:
        roll_back(connection)
