"""Maintenance of the graph: decay, checks of quality, communities."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from graph_memory.domain.audit import audit_event
from graph_memory.domain.communities import CommunityMethod, bfs_communities, dominant, louvain_communities
from graph_memory.domain.decay import DecayPolicy
from graph_memory.domain.entities import Entity, EntityFilter
from graph_memory.domain.names import type_key
from graph_memory.domain.principal import Principal
from graph_memory.domain.quality import (
    ALIAS_RELATION_KEY,
    ALIAS_TYPE_KEY,
    Issue,
    alias_issues,
    is_weak_orphan,
    name_issues,
    near_duplicate_issues,
    orphan_issue,
    several_types_issues,
)
from graph_memory.domain.relations import RelationFilter
from graph_memory.ports.graph_rows import Link
from graph_memory.ports.store import ReadTransaction, Store
from graph_memory.services.everything import every_entity, every_link
from graph_memory.services.fading import DecayReport, Fading, Step
from graph_memory.services.naming import likeness
from graph_memory.services.pacing import Pace


@dataclass(frozen=True, slots=True)
class IssuePage:
    """Issues in order of priority; `total` counts all that were found."""

    issues: tuple[Issue, ...]
    total: int


@dataclass(frozen=True, slots=True)
class CommunityView:
    """A community with its members, best linked first or in order of closeness."""

    id: int
    seed: Entity
    dominant_type: str
    members: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class Communities:
    """Communities, largest first; `coverage` is the share, 0–1, of all entities that are in one of them."""

    communities: tuple[CommunityView, ...]
    total_members: int
    coverage: float


class Upkeep:
    """Keeps the graph in order; the same for a tool, a job and the command line."""

    def __init__(
        self, store: Store, clock: Callable[[], datetime], decay: DecayPolicy, pause: Callable[[float], None]
    ) -> None:
        self._store, self._clock, self._policy, self._pause = store, clock, decay, pause

    def decay(self, principal: Principal, *, dry_run: bool = False) -> DecayReport:
        """Bring every confidence and weight up to now, in slices that clients can come between.

        Idempotent in time: thirty runs, a night apart, equal one after thirty nights; a run at once changes nothing. A
        crash leaves each row before or after, and the next run does the rest.
        """
        now = self._clock()
        fading = Fading(self._policy, now, dry_run=dry_run)
        pace = Pace(self._pause)
        for step in (fading.entities, fading.relations):
            after: str | None = None
            while True:
                after = self._slice(principal, step, after, pace)
                if after is None:
                    break
                if not dry_run:
                    pace.rest()
        report = fading.report()
        if not dry_run:
            data = {"entities": report.nodes_decayed, "relations": report.edges_decayed}
            self._store.write(principal, lambda tx: tx.upkeep.add_audit([audit_event("decay_applied", now, {**data})]))
        return report

    def _slice(self, principal: Principal, step: Step, after: str | None, pace: Pace) -> str | None:
        # The counts are added once the transaction is kept: its work may run twice.
        count, following = pace.write(self._store, principal, lambda tx: step(tx, after, pace.rows))
        count()
        return following

    def validate(
        self, principal: Principal, *, session: str | None = None, max_issues: int = 50, offset: int = 0
    ) -> IssuePage:
        """Find what is wrong with names, duplicates, orphans and aliases, most serious first.

        With a `session`, among the entities that were first stated in it.
        """

        def work(tx: ReadTransaction) -> IssuePage:
            issues = sorted(_issues(tx, EntityFilter(session=session)), key=lambda it: it.priority)
            return IssuePage(tuple(issues[offset : offset + max_issues]), len(issues))

        return self._store.read(principal, work)

    def communities(
        self,
        principal: Principal,
        *,
        weight_threshold: float = 0.4,
        max_communities: int = 10,
        max_hops: int = 3,
        min_size: int = 2,
        method: CommunityMethod = CommunityMethod.BFS,
    ) -> Communities:
        """Cluster entities over their current relations of `weight_threshold` and more; deterministic."""

        def work(tx: ReadTransaction) -> Communities:
            links = _links(tx, weight_threshold)
            if method is CommunityMethod.BFS:
                found = bfs_communities(links, max_hops=max_hops, min_size=min_size)
            else:
                found = louvain_communities(links, min_size=min_size)
            shown = found[:max_communities]
            entities = tx.entities.find({member for it in shown for member in it.members})
            views = tuple(
                CommunityView(
                    number,
                    entities[it.seed],
                    dominant(entities[member].type for member in it.members),
                    tuple(entities[member] for member in it.members),
                )
                for number, it in enumerate(shown, start=1)
            )
            total = sum(len(it.members) for it in shown)
            everything = tx.entities.count(EntityFilter())
            return Communities(views, total, total / everything if everything else 0.0)

        return self._store.read(principal, work)


def _links(tx: ReadTransaction, min_weight: float) -> list[Link]:
    """Read the links of enough weight; in an order that no store decides, which the rounding of sums would show."""
    return sorted(it for it in every_link(tx) if it.weight >= min_weight)


def _issues(tx: ReadTransaction, where: EntityFilter) -> list[Issue]:
    """Find the issues of the entities that `where` means, seen among all entities."""
    everything = list(every_entity(tx, EntityFilter()))
    scope = everything if where == EntityFilter() else list(every_entity(tx, where))
    if where.session is not None:
        evidence = tx.entities.evidence({it.id for it in scope})
        scope = [it for it in scope if evidence[it.id][0].provenance.session == where.session]
    ids = {it.id for it in scope}
    degrees = tx.entities.degrees(ids)
    aliases = {it.id for it in scope if type_key(it.type) == ALIAS_TYPE_KEY}
    leading = {it.source_id for it in tx.relations.find_from(aliases, {ALIAS_RELATION_KEY}, RelationFilter())}
    issues = [issue for it in scope for issue in name_issues(it)]
    issues.extend(orphan_issue(it) for it in scope if is_weak_orphan(it, degrees[it.id]))
    issues.extend(alias_issues(scope, leading))
    pairs = several_types_issues(everything) + near_duplicate_issues(everything, likeness)
    issues.extend(it for it in pairs if ids & {it.entity_id, *it.related_ids})
    return issues
