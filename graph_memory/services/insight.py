"""How the graph is doing: counts, health, jobs, queue."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from graph_memory.domain.entities import EntityFilter
from graph_memory.domain.ledger import IngestState, JobRun
from graph_memory.domain.memories import MemoryFilter
from graph_memory.domain.principal import Principal
from graph_memory.domain.quality import STALE_DAYS
from graph_memory.domain.relations import RelationFilter
from graph_memory.ports.store import ReadTransaction, Store, StoreIdentity

CURRENT = RelationFilter()
UNRESOLVED = RelationFilter(type_keys=frozenset({"contradicts"}))
NIGHTLY = "decay"
"""The job whose last success is the last maintenance night."""


@dataclass(frozen=True, slots=True)
class GraphStats:
    """The graph in numbers; relations are counted while current, `last_runs` are by job."""

    entities: int
    entities_by_type: Mapping[str, int]
    relations: int
    relations_by_type: Mapping[str, int]
    mean_weight: float
    orphans: int
    unresolved_contradictions: int
    stale: int
    memories: int
    queue: Mapping[IngestState, int]
    last_runs: Mapping[str, JobRun]
    last_night: JobRun | None
    vectors: Mapping[str, int]
    store: StoreIdentity


class Insight:
    """Reads how the graph is doing."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock

    def stats(self, principal: Principal) -> GraphStats:
        """Count what there is, on one consistent view."""
        stale_before = self._clock() - timedelta(days=STALE_DAYS)
        identity = self._store.identity()

        def work(tx: ReadTransaction) -> GraphStats:
            return GraphStats(
                entities=tx.entities.count(EntityFilter()),
                entities_by_type=tx.entities.count_by_type(),
                relations=tx.relations.count(CURRENT),
                relations_by_type=tx.relations.count_by_type(CURRENT),
                mean_weight=tx.relations.mean_weight(CURRENT),
                orphans=tx.entities.count(EntityFilter(is_orphan=True)),
                unresolved_contradictions=tx.relations.count(UNRESOLVED),
                stale=tx.entities.count(EntityFilter(seen_before=stale_before)),
                memories=tx.memories.count(MemoryFilter(statuses=None)),
                queue=tx.ledger.count_items(),
                last_runs=tx.upkeep.last_runs(),
                last_night=tx.upkeep.last_success(NIGHTLY),
                vectors=tx.upkeep.count_vectors(),
                store=identity,
            )

        return self._store.read(principal, work)
