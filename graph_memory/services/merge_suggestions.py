"""Pairs of entities that may be one thing: looked for in the whole graph at night, and around some when asked."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nlargest
from operator import itemgetter

from graph_memory.domain.audit import audit_event
from graph_memory.domain.entities import Entity, EntityFilter, EntityOrder, JsonValue
from graph_memory.domain.errors import NotFound
from graph_memory.domain.merge_candidates import (
    MAX_BLOCK,
    MAX_NEIGHBOURS,
    MergePair,
    NamedEntity,
    best_first,
    find_pairs,
)
from graph_memory.domain.merge_scores import (
    CANDIDATES,
    MAX_SEEDS,
    MAX_SUGGESTIONS,
    MIN_SCORE,
    Signals,
    SignalWeights,
    hub_weight,
    name_tokens,
    token_jaccard,
    weighted_jaccard,
)
from graph_memory.domain.names import type_key
from graph_memory.domain.principal import Principal
from graph_memory.domain.relations import RelationFilter
from graph_memory.ports.store import ReadTransaction, Store
from graph_memory.services.everything import every_entity, every_link

JOB = "merge_suggestions"
"""The job under whose last success the pairs that it found are kept."""
KEPT_PAIRS = MAX_SUGGESTIONS
MOST_ENTITIES = 100_000
"""A larger graph is compared among those seen last: so many take seconds, and about 150 MB."""
MOST_LINKS = 20_000
MAX_SHARED = 20
"""Shared neighbours that are named of a pair, the most telling ones."""
CURRENT = RelationFilter()


@dataclass(frozen=True, slots=True)
class MergeQuestion:
    """Whose likes are looked for: one entity's, those of a type, or of what was seen last."""

    entity_id: str | None = None
    entity_type: str | None = None
    min_score: float = MIN_SCORE
    limit: int = 20
    weights: SignalWeights = field(default_factory=SignalWeights)
    is_audited: bool = True


@dataclass(frozen=True, slots=True)
class SharedNeighbour:
    """A neighbour of both: by which relation of the first, how many it has itself, and how much it tells."""

    id: str
    relation: str
    degree: int
    weight: float


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two entities that may be one, the smaller id first; counts are of current relations."""

    first: Entity
    second: Entity
    first_edges: int
    second_edges: int
    score: float
    signals: Signals
    shared: tuple[SharedNeighbour, ...]


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What was found, best first, among how many pairs."""

    suggestions: tuple[Suggestion, ...]
    evaluated: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What the night found: the likest pairs of a whole graph, and how many were scored."""

    pairs: tuple[MergePair, ...]
    evaluated: int


class MergeSuggestions:
    """Finds entities that may be one; the graph itself stays as it is."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock

    def survey(self, principal: Principal) -> Survey:
        """Compare the whole graph with itself, by names and neighbours; the job keeps what comes of it.

        The graph is read on one view and then compared outside any transaction.
        """
        entities, links = self._store.read(principal, _whole_graph)
        pairs, evaluated = find_pairs(entities, links, SignalWeights(), MIN_SCORE, KEPT_PAIRS)
        return Survey(tuple(pairs), evaluated)

    def suggest(self, principal: Principal, question: MergeQuestion) -> Suggestions:
        """Find pairs now: those the last survey kept, and those around at most 200 entities, ten each.

        With `is_audited` each pair that is returned is an event.

        Raises:
            NotFound: there is no such entity.
        """
        found = self._store.read(principal, lambda tx: _suggest(tx, question))
        if question.is_audited and found.suggestions:
            now = self._clock()
            events = [audit_event("merge_flagged", now, _flagged(it)) for it in found.suggestions]
            self._store.write(principal, lambda tx: tx.upkeep.add_audit(events))
        return found


def _whole_graph(tx: ReadTransaction) -> tuple[list[NamedEntity], list[tuple[str, str]]]:
    if tx.entities.count(EntityFilter()) > MOST_ENTITIES:
        latest = tx.entities.page(EntityFilter(), EntityOrder.LAST_SEEN, MOST_ENTITIES)
        entities = [NamedEntity(it.id, type_key(it.type), it.name) for it in sorted(latest, key=lambda it: it.id)]
    else:
        entities = [NamedEntity(it.id, type_key(it.type), it.name) for it in every_entity(tx, EntityFilter())]
    return entities, [(it.source_id, it.target_id) for it in every_link(tx)]


def _flagged(suggestion: Suggestion) -> dict[str, JsonValue]:
    score = round(suggestion.score, 4)
    return {"entity_a": suggestion.first.id, "entity_b": suggestion.second.id, "score": score}


def _suggest(tx: ReadTransaction, question: MergeQuestion) -> Suggestions:
    seeds = _seeds(tx, question)
    pairs = {*_kept(tx, question), *_around(tx, seeds)}
    entities = tx.entities.find({end for pair in pairs for end in pair})
    ids = {(a, b) for a, b in pairs if a in entities and b in entities and _may_be_one(entities[a], entities[b])}
    if question.entity_type is not None:
        wanted = type_key(question.entity_type)
        ids = {(a, b) for a, b in ids if type_key(entities[a].type) == wanted}
    surroundings = _Surroundings(tx, {end for pair in ids for end in pair})
    scored: list[tuple[MergePair, Signals]] = []
    for first, second in sorted(ids):
        signals = surroundings.signals(entities[first], entities[second])
        score = signals.score(question.weights)
        if score >= question.min_score:
            scored.append((MergePair(first, second, score), signals))
    best = sorted(scored, key=lambda it: best_first(it[0]))[: question.limit]
    return Suggestions(tuple(surroundings.suggestion(entities, *it) for it in best), len(ids))


def _may_be_one(one: Entity, other: Entity) -> bool:
    return type_key(one.type) == type_key(other.type)


def _seeds(tx: ReadTransaction, question: MergeQuestion) -> Sequence[Entity]:
    if question.entity_id is not None:
        found = tx.entities.find([question.entity_id])
        if not found:
            text = (
                f"entity_id: there is no entity {question.entity_id!r:.200}; graph_entities or graph_query find its id"
            )
            raise NotFound(text)
        return list(found.values())
    types = None if question.entity_type is None else frozenset({type_key(question.entity_type)})
    return tx.entities.page(EntityFilter(type_keys=types), EntityOrder.LAST_SEEN, MAX_SEEDS)


def _kept(tx: ReadTransaction, question: MergeQuestion) -> Iterable[tuple[str, str]]:
    """Yield the pairs that the last survey found, as far as they are asked for."""
    run = tx.upkeep.last_success(JOB)
    pairs = run.result.get("pairs") if run is not None else None
    for pair in pairs if isinstance(pairs, Sequence) else ():
        if isinstance(pair, Sequence) and len(pair) >= 2:  # noqa: PLR2004 - two ids, and what they scored
            first, second = str(pair[0]), str(pair[1])
            if question.entity_id is None or question.entity_id in {first, second}:
                yield first, second


def _around(tx: ReadTransaction, seeds: Sequence[Entity]) -> Iterable[tuple[str, str]]:
    """Yield each seed with the ten others of its type that share most with it, the smaller id first."""
    points: dict[str, dict[str, float]] = {it.id: {} for it in seeds}
    for seed in seeds:
        where = EntityFilter(type_keys=frozenset({type_key(seed.type)}))
        for alike in tx.entities.find_similar_names(seed.name, where, CANDIDATES + 1):
            points[seed.id][alike.id] = 1.0 + token_jaccard(name_tokens(seed.name), name_tokens(alike.name))
    near = _neighbours(tx, points)
    degrees = tx.entities.degrees({it for ids in near.values() for it in ids})
    telling = {id_: _telling(ids, degrees) for id_, ids in near.items()}
    beyond = _neighbours(tx, {it for ids in telling.values() for it in ids})
    types = {
        id_: type_key(it.type) for id_, it in tx.entities.find({o for ids in beyond.values() for o in ids}).items()
    }
    for seed in seeds:
        mine = points[seed.id]
        for neighbour in telling.get(seed.id, ()):
            for other in beyond.get(neighbour, ()):
                if types.get(other) == type_key(seed.type):
                    mine[other] = mine.get(other, 0.0) + hub_weight(degrees[neighbour])
        mine.pop(seed.id, None)
        for other, _ in nlargest(CANDIDATES, sorted(mine.items()), key=itemgetter(1)):
            yield _in_order(seed.id, other)


def _in_order(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _telling(ids: Collection[str], degrees: Mapping[str, int]) -> list[str]:
    few = [it for it in ids if degrees[it] <= MAX_BLOCK]
    return sorted(few, key=lambda it: (degrees[it], it))[:MAX_NEIGHBOURS]


def _neighbours(tx: ReadTransaction, ids: Collection[str]) -> Mapping[str, set[str]]:
    """Find what is linked to each of these; of very many links the strongest."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for relation in tx.relations.neighbours(ids, CURRENT, limit=MOST_LINKS) if ids else ():
        for one, other in ((relation.source_id, relation.target_id), (relation.target_id, relation.source_id)):
            if one in ids and one != other:
                found[one].add(other)
    return found


class _Surroundings:
    """What lies around the ends of some pairs."""

    def __init__(self, tx: ReadTransaction, ids: Collection[str]) -> None:
        self._types: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for relation in tx.relations.neighbours(ids, CURRENT, limit=MOST_LINKS) if ids else ():
            for one, other in ((relation.source_id, relation.target_id), (relation.target_id, relation.source_id)):
                if one in ids and one != other:
                    self._types[one].setdefault(other, relation.type)  # strongest first
        self._degrees = tx.entities.degrees({*ids, *(it for types in self._types.values() for it in types)})

    def signals(self, first: Entity, second: Entity) -> Signals:
        """Compare two entities; that they are linked to each other tells nothing."""
        one, other = set(self._types[first.id]) - {second.id}, set(self._types[second.id]) - {first.id}
        name = token_jaccard(name_tokens(first.name), name_tokens(second.name))
        return Signals(name, weighted_jaccard(one, other, self._weight))

    def suggestion(self, entities: Mapping[str, Entity], pair: MergePair, signals: Signals) -> Suggestion:
        """Tell of a pair."""
        first, second = entities[pair.first_id], entities[pair.second_id]
        both = set(self._types[first.id]) & set(self._types[second.id])
        told = sorted(both, key=lambda it: (-self._weight(it), it))[:MAX_SHARED]
        shared = [SharedNeighbour(it, self._types[first.id][it], self._degrees[it], self._weight(it)) for it in told]
        edges = self._degrees[first.id], self._degrees[second.id]
        return Suggestion(first, second, *edges, pair.score, signals, tuple(shared))

    def _weight(self, neighbour: str) -> float:
        return hub_weight(self._degrees[neighbour])
