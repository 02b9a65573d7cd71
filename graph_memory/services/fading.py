"""Decay of a whole graph as a fold over slices of its rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from heapq import nsmallest
from typing import NamedTuple, TypeAlias

from graph_memory.domain.decay import DecayPolicy, decayed_since
from graph_memory.domain.instants import to_micros
from graph_memory.domain.names import type_key
from graph_memory.ports.graph_rows import Faded, FadingEntity, FadingRelation
from graph_memory.ports.store import WriteTransaction

MAX_DETAILS = 100

Counting: TypeAlias = Callable[[], None]
Step: TypeAlias = Callable[[WriteTransaction, str | None, int], tuple[Counting, str | None]]
"""Does a slice (from where on, of how many rows); returns how to count it, and where the next begins."""


class FadedEntity(NamedTuple):
    """An entity whose confidence fell."""

    id: str
    type: str
    name: str
    old_confidence: float
    new_confidence: float


@dataclass(frozen=True, slots=True)
class DecayReport:
    """What decay did, or would do; `details` are the entities that lost most, at most 100."""

    nodes_decayed: int = 0
    edges_decayed: int = 0
    nodes_flagged_for_pruning: int = 0
    edges_below_threshold: int = 0
    details: tuple[FadedEntity, ...] = ()


class Fading:
    """Brings the rows of a graph to `now`.

    A slice is counted by what its step returns, once its transaction is kept: its work may run twice.
    """

    def __init__(self, policy: DecayPolicy, now: datetime, *, dry_run: bool) -> None:
        self._is_for_show = dry_run
        self._policy, self._now, self._now_micros = policy, now, to_micros(now)
        rates = policy.by_type_key()
        self._rate_of = cache(lambda name: rates.get(type_key(name), policy.other_rate))
        self._nodes = self._edges = self._weak_nodes = self._weak_edges = 0
        self._details: list[FadedEntity] = []

    def entities(self, tx: WriteTransaction, after: str | None, limit: int) -> tuple[Counting, str | None]:
        """Let the confidences of a slice of entities fall; those that are exempt stay as they are."""
        rows, following = tx.entities.scan_fading(after, limit)
        rate_of, now, until = self._rate_of, self._now_micros, self._now
        fallen = [
            it.confidence if it.is_exempt else decayed_since(it.confidence, rate_of(it.type), it.since, now)
            for it in rows
        ]
        if not self._is_for_show:
            pairs = zip(rows, fallen, strict=True)
            tx.entities.fade(Faded(it.id, it.confidence, new, until) for it, new in pairs if not it.is_exempt)
        return (lambda: self._count_entities(rows, fallen)), following

    def relations(self, tx: WriteTransaction, after: str | None, limit: int) -> tuple[Counting, str | None]:
        """Let the weights of a slice of current relations fall."""
        rows, following = tx.relations.scan_fading(after, limit)
        rate, now, until = self._policy.relation_rate, self._now_micros, self._now
        fallen = [decayed_since(weight, rate, since, now) for _, weight, since in rows]
        if not self._is_for_show:
            tx.relations.fade(Faded(id_, old, new, until) for (id_, old, _), new in zip(rows, fallen, strict=True))
        return (lambda: self._count_relations(rows, fallen)), following

    def report(self) -> DecayReport:
        """Return what was counted."""
        return DecayReport(self._nodes, self._edges, self._weak_nodes, self._weak_edges, tuple(self._details))

    def _count_entities(self, rows: Sequence[FadingEntity], fallen: Sequence[float]) -> None:
        limit = self._policy.prune_node_threshold
        pairs = list(zip(rows, fallen, strict=True))
        lost = [FadedEntity(it.id, it.type, it.name, it.confidence, new) for it, new in pairs if new < it.confidence]
        self._nodes += len(lost)
        self._weak_nodes += sum([new < limit for new in fallen])
        self._details = nsmallest(MAX_DETAILS, [*self._details, *lost], key=_most_lost)

    def _count_relations(self, rows: Sequence[FadingRelation], fallen: Sequence[float]) -> None:
        limit = self._policy.prune_edge_threshold
        self._edges += sum([new < it[1] for it, new in zip(rows, fallen, strict=True)])
        self._weak_edges += sum([new < limit for new in fallen])


def _most_lost(entity: FadedEntity) -> tuple[float, str]:
    return entity.new_confidence - entity.old_confidence, entity.id
