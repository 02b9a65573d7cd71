"""Answers from the graph: the neighbourhood of what is asked for, and the catalogue of entities."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graph_memory.domain.affinity import AffinityPolicy, effective_weight
from graph_memory.domain.entities import Entity, EntityFilter, EntityOrder
from graph_memory.domain.names import name_key, type_key
from graph_memory.domain.principal import Principal
from graph_memory.domain.relations import Relation, RelationFilter
from graph_memory.domain.text_queries import parse_query
from graph_memory.ports.store import ReadTransaction, Store
from graph_memory.services.naming import path_name, similar_entities

MAX_HOPS = 4
MAX_NODES = 500
MAX_ENTITIES = 500
MAX_FOUND = 5_000
"""How many entities a search of the catalogue finds and counts."""
RELATIONS_PER_HOP = 1_000
FEWEST_PER_HOP = 200
"""How many relations one hop may bring, strongest first: at most, at least; between, twice the nodes asked for."""
FAR_SHARE = 4
"""One place in so many is kept for what lies beyond a hop, so that a hub does not fill the answer alone."""
STARTS_PER_NAME = 5
"""How many entities one name may stand for when it is not the exact name of any."""


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """What is asked: start from `entities`, walk at most `max_hops` over relations of `min_weight` and more.

    `entity_types` filters what is returned, not the starts. `limit` counts nodes. `project_context` is a folder or a
    name. Without `current_only`, superseded relations are walked as well.
    """

    entities: tuple[str, ...]
    entity_types: tuple[str, ...] = ()
    max_hops: int = 2
    min_weight: float = 0.3
    limit: int = 20
    project_context: str | None = None
    current_only: bool = True


@dataclass(frozen=True, slots=True)
class WeighedRelation:
    """A relation with its weight as seen from the project at hand."""

    relation: Relation
    effective_weight: float


@dataclass(frozen=True, slots=True)
class Subgraph:
    """An answer: nodes in order of relevance, the relations between them by effective weight.

    `starts` are the entities that the names were taken for, `unknown` the names nothing answers to, `is_cut` whether
    `limit` left nodes out.
    """

    nodes: tuple[Entity, ...] = ()
    relations: tuple[WeighedRelation, ...] = ()
    starts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inexact: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    project_id: str | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class EntityPage:
    """A page of the catalogue; `relation_counts` are of current relations; `total` counts all that match."""

    entities: tuple[Entity, ...]
    relation_counts: Mapping[str, int]
    total: int


class Recall:
    """Reads from the graph; nothing it does changes a row."""

    def __init__(self, store: Store, clock: Callable[[], datetime], affinity: AffinityPolicy) -> None:
        self._store, self._clock, self._affinity = store, clock, affinity

    def query(self, principal: Principal, question: GraphQuestion) -> Subgraph:
        """Return what lies around the entities that are asked for, strongest first."""
        return self._store.read(principal, lambda tx: _Walk(tx, question, self._affinity).answer())

    def entities(
        self,
        principal: Principal,
        *,
        search: str | None = None,
        entity_type: str | None = None,
        min_confidence: float = 0.0,
        sort_by: EntityOrder | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> EntityPage:
        """List or search the catalogue; a search without `sort_by` is ordered by relevance, else by confidence.

        A search finds, and `total` counts, at most five thousand.
        """
        types = None if entity_type is None else frozenset({type_key(entity_type)})
        where = EntityFilter(type_keys=types, min_confidence=min_confidence)

        def work(tx: ReadTransaction) -> EntityPage:
            if search is None:
                found = tx.entities.page(where, sort_by or EntityOrder.CONFIDENCE, limit, offset)
                total = tx.entities.count(where)
            else:
                ids = _search(tx, search, where)
                if sort_by is not None:
                    ids = [it.id for it in sorted(tx.entities.find(ids).values(), key=_order_key(sort_by))]
                by_id = tx.entities.find(ids[offset : offset + limit])
                found, total = [by_id[it] for it in ids[offset : offset + limit]], len(ids)
            counts = tx.entities.degrees([it.id for it in found])
            return EntityPage(tuple(found), counts, total)

        return self._store.read(principal, work)


def _order_key(order: EntityOrder) -> Callable[[Entity], tuple[float | str, str]]:
    match order:
        case EntityOrder.CONFIDENCE:
            return lambda it: (-it.confidence, it.id)
        case EntityOrder.LAST_SEEN:
            return lambda it: (-it.last_seen.timestamp(), it.id)
        case EntityOrder.NAME:
            return lambda it: (name_key(it.name), it.id)
        case EntityOrder.ID:
            return lambda it: (it.id, it.id)


def _search(tx: ReadTransaction, text: str, where: EntityFilter) -> list[str]:
    """Find the ids of entities by exact name, then by text, by the beginning of a word, or by names that look alike."""
    exact = [it.id for it in tx.entities.find_by_name({name_key(text)}).get(name_key(text), ()) if where.matches(it)]
    hits = tx.entities.search(parse_query(text), where, MAX_FOUND)
    found = dict.fromkeys([*exact, *(it.ref for it in hits)])
    if not found:
        found = dict.fromkeys(it.ref for it in tx.entities.search(parse_query(f"{text}*"), where, MAX_FOUND))
    if not found:
        found = dict.fromkeys(it.id for it in similar_entities(tx, text, where))
    return list(found)


class _Walk:
    """One walk from the named entities outwards."""

    def __init__(self, tx: ReadTransaction, question: GraphQuestion, affinity: AffinityPolicy) -> None:
        self._tx, self._question, self._affinity = tx, question, affinity
        self._where = RelationFilter(min_weight=question.min_weight, current_only=question.current_only)
        self._starts: dict[str, tuple[str, ...]] = {}
        self._inexact: list[str] = []
        self._unknown: list[str] = []

    def answer(self) -> Subgraph:
        for name in self._question.entities:
            self._start(name)
        project = self._project()
        distances = self._distances(project)
        starts = list(dict.fromkeys(it for ids in self._starts.values() for it in ids))
        hops = self._spread(starts, distances)
        entities = self._tx.entities.find({it for hop in (starts, *hops) for it in hop})
        wanted = {type_key(it) for it in self._question.entity_types}
        starts, *hops = (
            [it for it in hop if it in entities and (not wanted or type_key(entities[it].type) in wanted)]
            for hop in (starts, *hops)
        )
        ids = self._chosen(starts, hops)
        relations = self._relations(ids, distances)
        return Subgraph(
            nodes=tuple(entities[it] for it in ids),
            relations=relations,
            starts=self._starts,
            inexact=tuple(self._inexact),
            unknown=tuple(self._unknown),
            project_id=project,
            is_cut=len(ids) < len({it for hop in (starts, *hops) for it in hop}),
        )

    def _start(self, name: str) -> None:
        key = name_key(name)
        if not key:
            self._unknown.append(name)
            return
        found: Sequence[Entity] = self._tx.entities.find_by_name({key}).get(key, ())
        if not found:
            found = list(self._tx.entities.find({name}).values())
        if not found:
            found = self._guess(name)
            if found:
                self._inexact.append(name)
        if found:
            self._starts[name] = tuple(it.id for it in found)
        else:
            self._unknown.append(name)

    def _guess(self, name: str) -> list[Entity]:
        """Take a name for entities whose text holds all its words, else for those that look alike."""
        query = parse_query(name)
        strict = type(query)(query.text, query.strict, None)
        hits = self._tx.entities.search(strict, EntityFilter(), STARTS_PER_NAME)
        by_id = self._tx.entities.find([it.ref for it in hits])
        return [by_id[it.ref] for it in hits] or similar_entities(self._tx, name, EntityFilter())[:STARTS_PER_NAME]

    def _project(self) -> str | None:
        context = self._question.project_context
        if context is None or not context.strip():
            return None
        for name in (context, path_name(context)):
            found = self._tx.entities.find_by_name({name_key(name)}).get(name_key(name), ())
            projects = [it.id for it in found if type_key(it.type) == "project"]
            if projects:
                return projects[0]
        return None

    def _distances(self, project: str | None) -> dict[str, int]:
        if project is None:
            return {}
        distances = {project: 1}
        frontier = {project}
        where = RelationFilter(current_only=self._question.current_only)
        for hop in (1, 2):
            near = self._tx.relations.neighbours(frontier, where, exclude=distances.keys(), limit=RELATIONS_PER_HOP)
            frontier = {end for it in near for end in (it.source_id, it.target_id)} - distances.keys()
            distances.update(dict.fromkeys(sorted(frontier), hop))
        return distances

    def _spread(self, starts: Sequence[str], distances: Mapping[str, int]) -> list[list[str]]:
        """Walk hop by hop; return the ids of each hop by the weight that led there, ties by id.

        A walk goes on from what the answer will hold, so that nothing in it hangs in the air; where types restrict the
        answer, from all that was found.
        """
        seen, frontier = set(starts), list(starts)
        room, limit = self._question.limit - len(starts), self._hop_limit()
        hops: list[list[str]] = []
        while frontier and len(hops) < self._question.max_hops:
            found = self._tx.relations.neighbours(frontier, self._where, exclude=seen, limit=limit)
            ranks: dict[str, float] = {}
            for relation in found:
                weight = effective_weight(relation, distances, self._affinity)
                for end in {relation.source_id, relation.target_id} - seen:
                    ranks[end] = max(weight, ranks.get(end, 0.0))
            hops.append(sorted(ranks, key=lambda it: (-ranks[it], it)))
            frontier = hops[-1] if self._question.entity_types else hops[-1][: max(0, room - room // FAR_SHARE)]
            room -= len(frontier)
            seen.update(frontier)
        return hops

    def _chosen(self, starts: Sequence[str], hops: Sequence[Sequence[str]]) -> list[str]:
        """Choose whom the limit leaves in: starts, then of each hop the strongest, with some places for the next."""
        limit = self._question.limit
        chosen = dict.fromkeys(starts[:limit])
        for number, hop in enumerate(hops):
            fresh = [it for it in hop if it not in chosen]
            beyond = {it for far in hops[number + 1 :] for it in far} - chosen.keys() - set(fresh)
            room = limit - len(chosen)
            chosen.update(dict.fromkeys(fresh[: room - min(len(beyond), room // FAR_SHARE)]))
        left = dict.fromkeys(it for hop in hops for it in hop if it not in chosen)
        return [*chosen, *left][:limit]

    def _hop_limit(self) -> int:
        if self._question.entity_types:
            return RELATIONS_PER_HOP
        return min(RELATIONS_PER_HOP, max(FEWEST_PER_HOP, 2 * self._question.limit))

    def _relations(self, ids: Sequence[str], distances: Mapping[str, int]) -> tuple[WeighedRelation, ...]:
        found = self._tx.relations.between(ids, self._where, limit=RELATIONS_PER_HOP)
        weighed = [WeighedRelation(it, effective_weight(it, distances, self._affinity)) for it in found]
        return tuple(sorted(weighed, key=lambda it: (-it.effective_weight, it.relation.id)))
