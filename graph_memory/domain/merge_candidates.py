"""Pairs of a whole graph that may be one thing, found without comparing all with all.

Blocking: two entities of one type are a pair to look at where they share a word that few names have, a run of three
letters that few have, or a neighbour with few relations (Papadakis et al., Blocking and Filtering Techniques for
Entity Resolution, 2020). What many share tells nothing, and would cost the square of their number.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest, nsmallest
from operator import itemgetter
from typing import NamedTuple

from graph_memory.domain.merge_scores import (
    CANDIDATES,
    Signals,
    SignalWeights,
    hub_weight,
    name_tokens,
    token_jaccard,
    weighted_jaccard,
)
from graph_memory.domain.names import name_key

MAX_BLOCK = 50
"""What more entities than these have in common is no reason to look at a pair."""
RAREST_RUNS = 4
"""Runs of three letters by which a name is looked up: its rarest."""
MAX_NEIGHBOURS = 200
"""Neighbours of one entity whose own are looked at: those with the fewest relations."""
_RUN_POINTS = 0.25


class NamedEntity(NamedTuple):
    """What a comparison needs of an entity."""

    id: str
    type_key: str
    name: str


class MergePair(NamedTuple):
    """Two entities that may be one, the smaller id first."""

    first_id: str
    second_id: str
    score: float


def best_first(pair: MergePair) -> tuple[float, str, str]:
    """Order pairs by falling score, ties by ids."""
    return (-pair.score, pair.first_id, pair.second_id)


def find_pairs(
    entities: Sequence[NamedEntity],
    links: Iterable[tuple[str, str]],
    weights: SignalWeights,
    min_score: float,
    limit: int,
) -> tuple[list[MergePair], int]:
    """Return the `limit` likest pairs that reach `min_score`, best first, and how many pairs were scored.

    `links` are the ends of all current relations. Time grows with the number of entities and links, not with its
    square; each entity is scored against at most ten others.
    """
    graph = _Graph(entities, links)
    best: list[MergePair] = []
    scored = 0
    for first, second in graph.pairs():
        scored += 1
        pair = graph.scored(first, second, weights, min_score)
        if pair is not None:
            best.append(pair)
            if len(best) >= 4 * limit:
                best = nsmallest(limit, best, key=best_first)
    return nsmallest(limit, best, key=best_first), scored


class _Graph:
    """A graph by numbers: entities count from 0, in their order."""

    def __init__(self, entities: Sequence[NamedEntity], links: Iterable[tuple[str, str]]) -> None:
        self._entities = entities
        numbers = {it.id: number for number, it in enumerate(entities)}
        self._neighbours: list[set[int] | None] = [None] * len(entities)
        degrees = [0] * len(entities)
        for source_id, target_id in links:
            source, target = numbers.get(source_id), numbers.get(target_id)
            if source is None or target is None:
                continue
            degrees[source] += 1
            if source != target:
                degrees[target] += 1
                self._add(source, target)
                self._add(target, source)
        self._degrees = degrees
        self._weights = [hub_weight(it) for it in degrees]
        self._types = [it.type_key for it in entities]
        words: dict[str, str] = {}
        self._tokens = [tuple(words.setdefault(it, it) for it in sorted(name_tokens(e.name))) for e in entities]
        self._keys = [f" {name_key(it.name)} " for it in entities]
        self._by_token = self._blocks(self._tokens.__getitem__)
        self._by_run = self._blocks(self._runs)

    def _add(self, one: int, other: int) -> None:
        known = self._neighbours[one]
        if known is None:
            self._neighbours[one] = {other}
        else:
            known.add(other)

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Yield each pair to score once: of every entity the few others that share most with it."""
        count = len(self._entities)
        chosen = array("L", [count]) * (CANDIDATES * count)
        for number in range(count):
            others = self._candidates(number)
            chosen[number * CANDIDATES : number * CANDIDATES + len(others)] = array("L", others)
            for other in others:
                if other > number:
                    yield number, other
                elif number not in chosen[other * CANDIDATES : (other + 1) * CANDIDATES]:
                    yield other, number

    def _candidates(self, number: int) -> list[int]:
        kind = self._types[number]
        points: dict[int, float] = {}
        for token in self._tokens[number]:
            for other in self._by_token.get((kind, token), ()):
                points[other] = points.get(other, 0.0) + 1.0
        blocks = [block for run in self._runs(number) if (block := self._by_run.get((kind, run)))]
        for block in nsmallest(RAREST_RUNS, blocks, key=len):
            for other in block:
                points[other] = points.get(other, 0.0) + _RUN_POINTS
        for neighbour in self._telling(number):
            weight = self._weights[neighbour]
            for other in self._neighbours[neighbour] or ():
                if self._types[other] == kind:
                    points[other] = points.get(other, 0.0) + weight
        points.pop(number, None)
        # Of others with as many points the first ones met are taken: in the same graph always the same.
        return [it for it, _ in nlargest(CANDIDATES, points.items(), key=itemgetter(1))]

    def _runs(self, number: int) -> Sequence[str]:
        """Return the runs of three letters in a name, its ends included."""
        key = self._keys[number]
        return sorted({key[start : start + 3] for start in range(len(key) - 2)})

    def _blocks(self, parts_of: Callable[[int], Sequence[str]]) -> dict[tuple[str, str], list[int]]:
        """Collect which entities share what, by type; what one alone or too many have is left out.

        The parts are made twice, since those of a large graph are more than should be held at once.
        """
        numbers = range(len(self._types))
        counts = Counter((self._types[number], part) for number in numbers for part in parts_of(number))
        blocks: dict[tuple[str, str], list[int]] = {key: [] for key, count in counts.items() if 1 < count <= MAX_BLOCK}
        for number in numbers:
            kind = self._types[number]
            for part in parts_of(number):
                block = blocks.get((kind, part))
                if block is not None:
                    block.append(number)
        return blocks

    def _telling(self, number: int) -> list[int]:
        few = [it for it in self._neighbours[number] or () if self._degrees[it] <= MAX_BLOCK]
        if len(few) <= MAX_NEIGHBOURS:
            return few
        return nsmallest(MAX_NEIGHBOURS, few, key=lambda it: (self._degrees[it], it))

    def scored(self, first: int, second: int, weights: SignalWeights, min_score: float) -> MergePair | None:
        """Score a pair; `None` where it does not reach `min_score`."""
        name = token_jaccard(set(self._tokens[first]), set(self._tokens[second]))
        if Signals(name, 1.0).score(weights) < min_score:
            return None
        one = (self._neighbours[first] or set()) - {second}
        other = (self._neighbours[second] or set()) - {first}
        score = Signals(name, weighted_jaccard(one, other, self._weights.__getitem__)).score(weights)
        if score < min_score:
            return None
        ids = sorted((self._entities[first].id, self._entities[second].id))
        return MergePair(ids[0], ids[1], score)
