"""The order of search results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph_memory.domain.memories import MAX_BOOST

MAX_IMPORTANCE = 10.0
"""Importance is 0 up to this; 1 is usual."""
BOOST_SHARE = 0.5
"""How much of a memory's boost adds to its rank."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the order needs to know of a hit: `score` is the engine's relevance (−bm25: positive, larger is better)."""

    memory_id: int
    score: float
    importance: float
    boost: float
    is_literal: bool = True
    """The text holds what was asked for as it was written, where that says more than the index keeps (`C++`)."""
    is_title: bool = False
    """The query is its title."""

    @property
    def rank(self) -> float:
        """Its place among others, larger is better: relevance × importance, moved by half the boost."""
        importance = min(max(self.importance, 0.0), MAX_IMPORTANCE)
        boost = min(max(self.boost, -MAX_BOOST), MAX_BOOST)
        return self.score * importance + BOOST_SHARE * boost


def best_first(candidates: Iterable[Candidate]) -> Sequence[Candidate]:
    """Order hits: what has the query as its title, what holds it as written, then by falling rank; ties by id."""
    return sorted(candidates, key=lambda hit: (not hit.is_title, not hit.is_literal, -hit.rank, hit.memory_id))
