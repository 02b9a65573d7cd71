"""The store: two families of rows behind transactions that belong to one principal.

A store keeps and finds rows; it never computes a weight, a confidence, a rank or a date. Every primitive takes a set
and costs one round trip. No primitive can be reached without a principal: a transaction is made for one, sees only its
tenant's rows, and writes only there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from graph_memory.domain.principal import Principal
from graph_memory.ports.graph_rows import EntityReader, EntityWriter, RelationReader, RelationWriter
from graph_memory.ports.ledger_rows import LedgerReader, LedgerWriter, UpkeepReader, UpkeepWriter
from graph_memory.ports.memory_rows import MemoryReader, MemoryWriter, SynapseReader, SynapseWriter

T = TypeVar("T")


class ReadTransaction(Protocol):
    """One consistent view of a tenant's rows."""

    @property
    def entities(self) -> EntityReader:
        """Entities, aliases, and evidence for them."""

    @property
    def relations(self) -> RelationReader:
        """Relations, their versions, and evidence for them."""

    @property
    def memories(self) -> MemoryReader:
        """Memories, tags, mentions, open links and earlier versions."""

    @property
    def synapses(self) -> SynapseReader:
        """Synapses and the decay matrix."""

    @property
    def ledger(self) -> LedgerReader:
        """Documents, cursors, content keys and tombstones."""

    @property
    def upkeep(self) -> UpkeepReader:
        """Job runs, merge inverses, vectors and the audit's outbox."""


class WriteTransaction(Protocol):
    """One atomic change of a tenant's rows: all of it is durable when the write returns, or none ever was.

    Reads within it see its own writes. A primitive that raises `Conflict` leaves nothing of itself, so that work may
    catch it and go on.
    """

    @property
    def entities(self) -> EntityWriter:
        """Entities, aliases, and evidence for them."""

    @property
    def relations(self) -> RelationWriter:
        """Relations, their versions, and evidence for them."""

    @property
    def memories(self) -> MemoryWriter:
        """Memories, tags, mentions, open links and earlier versions."""

    @property
    def synapses(self) -> SynapseWriter:
        """Synapses and the decay matrix."""

    @property
    def ledger(self) -> LedgerWriter:
        """Documents, cursors, content keys and tombstones."""

    @property
    def upkeep(self) -> UpkeepWriter:
        """Job runs, merge inverses, vectors and the audit's outbox."""


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """Which store this is: `kind` (`sqlite`, `neo4j`, `reference`), the id it was made with, and its versions."""

    kind: str
    database_id: str
    schema_version: int
    engine_version: str


class Store(Protocol):
    """A place for both families."""

    def read(self, principal: Principal, work: Callable[[ReadTransaction], T]) -> T:
        """Run `work` on a consistent view and return its result.

        `work` may run more than once (a dropped connection, a busy file), so it has no effect outside.

        Raises:
            Unavailable: the store can't be reached, or stayed busy past its deadline.
        """

    def write(self, principal: Principal, work: Callable[[WriteTransaction], T]) -> T:
        """Run `work` in one transaction, commit, and return its result once it is durable.

        `work` may run more than once before one run is kept, so it has no effect outside. An exception from `work`
        rolls everything back and is raised as it is.

        Raises:
            Conflict: a uniqueness rule of the rows does not hold.
            Unavailable: the store can't be reached, or stayed busy past its deadline; nothing was written.
        """

    def identity(self) -> StoreIdentity:
        """Return which store this is; `engine_version` is the engine's own."""

    def tenants(self) -> tuple[str, ...]:
        """List the tenants that have any row, in order; for maintenance alone."""

    def erase_traces(self) -> None:
        """Leave nothing of what was deleted in any file of the store: text indexes, free pages, write-ahead log.

        May take seconds, in which others can't write. Engines whose files are not this machine's do what they can.

        Raises:
            Unavailable: it can't be done now, since others use the store; what was deleted stays deleted.
        """

    def close(self) -> None:
        """Give back what is held; safe to call again. No transaction may follow."""
