"""The store: rows per tenant, replaced as a whole when a write succeeds."""

import threading
import uuid
from collections.abc import Callable
from typing import TypeVar

from graph_memory.adapters.reference.entities import ReferenceEntityReader, ReferenceEntityWriter
from graph_memory.adapters.reference.ledger import ReferenceLedgerReader, ReferenceLedgerWriter
from graph_memory.adapters.reference.memories import ReferenceMemoryReader, ReferenceMemoryWriter
from graph_memory.adapters.reference.relations import ReferenceRelationReader, ReferenceRelationWriter
from graph_memory.adapters.reference.rows import Rows
from graph_memory.adapters.reference.synapses import ReferenceSynapseReader, ReferenceSynapseWriter
from graph_memory.adapters.reference.upkeep import ReferenceUpkeepReader, ReferenceUpkeepWriter
from graph_memory.domain.errors import Unavailable
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import ReadTransaction, StoreIdentity, WriteTransaction

T = TypeVar("T")

SCHEMA_VERSION = 1


class ReferenceReadTransaction:
    """One consistent view of a tenant's rows."""

    def __init__(self, rows: Rows) -> None:
        self.entities = ReferenceEntityReader(rows)
        self.relations = ReferenceRelationReader(rows)
        self.memories = ReferenceMemoryReader(rows)
        self.synapses = ReferenceSynapseReader(rows)
        self.ledger = ReferenceLedgerReader(rows)
        self.upkeep = ReferenceUpkeepReader(rows)


class ReferenceWriteTransaction:
    """One atomic change of a tenant's rows."""

    def __init__(self, rows: Rows) -> None:
        self.entities = ReferenceEntityWriter(rows)
        self.relations = ReferenceRelationWriter(rows)
        self.memories = ReferenceMemoryWriter(rows)
        self.synapses = ReferenceSynapseWriter(rows)
        self.ledger = ReferenceLedgerWriter(rows)
        self.upkeep = ReferenceUpkeepWriter(rows)


class ReferenceStore:
    """A store in memory; nothing outlives it.

    A write works on a copy of its tenant's rows that takes their place when it succeeds: a failed one leaves nothing,
    and a read goes on seeing what it began with. Writes run one at a time; reads wait for nobody.

    `runs` is how often each `work` runs before its last run is kept: with 2, a test shows that a caller's work has no
    effect outside.
    """

    def __init__(self, *, runs: int = 1) -> None:
        self._runs = runs
        self._tenants: dict[str, Rows] = {}
        self._writing = threading.RLock()
        self._is_writing = False
        self._is_closed = False
        self._database_id = uuid.uuid4().hex

    def read(self, principal: Principal, work: Callable[[ReadTransaction], T]) -> T:
        """Run `work` on the rows as they are now.

        Raises:
            Unavailable: the store is closed.
        """
        self._check_open()
        rows = self._tenants.get(principal.tenant, Rows())
        for _ in range(1, self._runs):
            work(ReferenceReadTransaction(rows))
        return work(ReferenceReadTransaction(rows))

    def write(self, principal: Principal, work: Callable[[WriteTransaction], T]) -> T:
        """Run `work` on a copy of the rows and keep the copy.

        Raises:
            Unavailable: the store is closed.
            RuntimeError: the calling thread is within a write already, which no other store can grant.
        """
        self._check_open()
        with self._writing:
            if self._is_writing:
                raise RuntimeError("a write began within a write")
            self._is_writing = True
            try:
                before = self._tenants.get(principal.tenant, Rows())
                for _ in range(1, self._runs):
                    work(ReferenceWriteTransaction(before.copied()))
                rows = before.copied()
                result = work(ReferenceWriteTransaction(rows))
                self._tenants[principal.tenant] = rows
                return result
            finally:
                self._is_writing = False

    def identity(self) -> StoreIdentity:
        """Return which store this is; each object is a database of its own."""
        return StoreIdentity("reference", self._database_id, SCHEMA_VERSION, "dict")

    def tenants(self) -> tuple[str, ...]:
        """List the tenants that have any row, in order."""
        return tuple(sorted(tenant for tenant, rows in self._tenants.items() if not rows.is_empty))

    def erase_traces(self) -> None:
        """Do nothing: what was deleted is nowhere."""
        self._check_open()

    def close(self) -> None:
        """Refuse further transactions; safe to call again."""
        self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise Unavailable("the store is closed")
