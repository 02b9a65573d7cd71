"""What there is among the memories, at a glance."""

from collections.abc import Mapping
from dataclasses import dataclass

from graph_memory.domain.memories import Memory, MemoryFilter, MemoryOrder
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import ReadTransaction, Store

RECENT = 5
MAX_NAMES = 100
"""Categories and projects that are listed, those with most memories first."""


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts of all memories, whatever their status, largest first; `recent` are the newest active ones."""

    total: int
    by_status: Mapping[str, int]
    by_layer: Mapping[str, int]
    by_category: Mapping[str, int]
    by_project: Mapping[str, int]
    recent: tuple[Memory, ...]
    total_synapses: int


class Orient:
    """Tells what there is."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def overview(self, principal: Principal) -> Overview:
        """Count memories and synapses, and name the five newest memories."""
        return self._store.read(principal, _overview)


def _overview(tx: ReadTransaction) -> Overview:
    everything = MemoryFilter(statuses=None)
    by_status = _largest_first(tx.memories.count_by("status", everything))
    return Overview(
        total=sum(by_status.values()),
        by_status=by_status,
        by_layer=_largest_first(tx.memories.count_by("layer", everything)),
        by_category=_largest_first(tx.memories.count_by("category", everything)),
        by_project=_largest_first(tx.memories.count_by("project_id", everything)),
        recent=tuple(tx.memories.page(MemoryFilter(), MemoryOrder.NEWEST, RECENT)),
        total_synapses=sum(tx.synapses.count_by_type().values()),
    )


def _largest_first(counts: Mapping[str, int]) -> Mapping[str, int]:
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ranked[:MAX_NAMES])
