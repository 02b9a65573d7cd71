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
RELATIONS_PER_HOP = 1_000
FEWEST_PER_HOP = 200
"""How many relations one hop may bring, strongest first: at most, at least; between, twice the nodes asked for."""
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
        """List or search the catalogue; a search without `sort_by` is ordered by relevance, else by confidence."""
        types = None if entity_type is None else frozenset({type_key(entity_type)})
        where = EntityFilter(type_keys=types, min_confidence=min_confidence)

        def work(tx: ReadTransaction) -> EntityPage:
            if search is None:
                found = tx.entities.page(where, sort_by or EntityOrder.CONFIDENCE, limit, offset)
                total = tx.entities.count(where)
            else:
                matching = _search(tx, search, where)
                ordered = matching if sort_by is None else sorted(matching, key=_order_key(sort_by))
                found, total = ordered[offset : offset + limit], len(ordered)
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


def _search(tx: ReadTransaction, text: str, where: EntityFilter) -> list[Entity]:
    """Find entities by exact name, then by text, by the beginning of a word, or by names that look alike."""
    found: dict[str, Entity] = {}
    exact = tx.entities.find_by_name({name_key(text)}).get(name_key(text), ())
    found.update({it.id: it for it in exact if where.matches(it)})
    hits = tx.entities.search(parse_query(text), where, MAX_ENTITIES)
    by_id = tx.entities.find([it.ref for it in hits])
    found.update({it.ref: by_id[it.ref] for it in hits if it.ref not in found})
    if not found:
        begun = tx.entities.search(parse_query(f"{text}*"), where, MAX_ENTITIES)
        by_id = tx.entities.find([it.ref for it in begun])
        found.update({it.ref: by_id[it.ref] for it in begun})
    if not found:
        found.update({it.id: it for it in similar_entities(tx, text, where)})
    return list(found.values())[:MAX_ENTITIES]


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
        strength = self._spread(distances)
        wanted = {type_key(it) for it in self._question.entity_types}
        # One more than asked for tells that there is more; only a filter by type must look at all.
        ids = strength if wanted else strength[: self._question.limit + 1]
        entities = self._tx.entities.find(ids)
        shown = [entities[it] for it in ids if not wanted or type_key(entities[it].type) in wanted]
        nodes = shown[: self._question.limit]
        relations = self._relations([it.id for it in nodes], distances)
        return Subgraph(
            nodes=tuple(nodes),
            relations=relations,
            starts=self._starts,
            inexact=tuple(self._inexact),
            unknown=tuple(self._unknown),
            project_id=project,
            is_cut=len(shown) > len(nodes),
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

    def _spread(self, distances: Mapping[str, int]) -> list[str]:
        """Walk hop by hop; return ids: starts first, then each hop's in order of the weight that led there."""
        seen = dict.fromkeys(it for ids in self._starts.values() for it in ids)
        frontier = list(seen)
        limit = self._hop_limit()
        for _ in range(self._question.max_hops):
            if not frontier:
                break
            found = self._tx.relations.neighbours(frontier, self._where, exclude=seen.keys(), limit=limit)
            weighed = sorted(found, key=lambda it: (-effective_weight(it, distances, self._affinity), it.id))
            fresh = dict.fromkeys(end for it in weighed for end in (it.source_id, it.target_id) if end not in seen)
            frontier = list(fresh)
            seen.update(fresh)
        return list(seen)

    def _hop_limit(self) -> int:
        if self._question.entity_types:
            return RELATIONS_PER_HOP
        return min(RELATIONS_PER_HOP, max(FEWEST_PER_HOP, 2 * self._question.limit))

    def _relations(self, ids: Sequence[str], distances: Mapping[str, int]) -> tuple[WeighedRelation, ...]:
        found = self._tx.relations.between(ids, self._where, limit=RELATIONS_PER_HOP)
        weighed = [WeighedRelation(it, effective_weight(it, distances, self._affinity)) for it in found]
        return tuple(sorted(weighed, key=lambda it: (-it.effective_weight, it.relation.id)))
