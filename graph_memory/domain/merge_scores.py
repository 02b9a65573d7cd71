"""How alike two entities are, so that a person may see whether they are one."""

import math
import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.names import name_key

MIN_SCORE = 0.8
MIN_EMBEDDING_SIMILARITY = 0.85
MAX_SUGGESTIONS = 100
MAX_SEEDS = 200
"""Entities whose likes are looked for in one question that names none."""
CANDIDATES = 10
"""How many likes of one entity are scored."""
_TOKEN = re.compile(r"[^\W_][^\W_+#]*[+#]*|[+#]+")
"""A word with the marks that are part of it: `C`, `C++` and `C#` are three."""

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """How much each signal counts; shares of their sum.

    Raises:
        InvalidRequest: one is negative or no number, or all that can be seen without vectors are 0.
    """

    embedding: float = 0.4
    neighbor_jaccard: float = 0.4
    name: float = 0.2

    def __post_init__(self) -> None:
        """Refuse weights that say nothing."""
        for signal in ("embedding", "neighbor_jaccard", "name"):
            value = getattr(self, signal)
            if not (math.isfinite(value) and value >= 0):
                raise InvalidRequest(f"weights.{signal}: {value} is no weight; give 0 or more", argument="weights")
        if not self.neighbor_jaccard + self.name > 0:
            text = "weights: neighbor_jaccard and name are both 0, and without vectors nothing else can be compared"
            raise InvalidRequest(text, argument="weights")


@dataclass(frozen=True, slots=True)
class Signals:
    """What speaks for two entities being one, each 0–1; `embedding` is `None` where one of them has no vector."""

    name: float
    neighbours: float
    embedding: float | None = None

    def score(self, weights: SignalWeights) -> float:
        """Return the weighted mean; a missing embedding is left out, and the others make up the whole."""
        total = weights.neighbor_jaccard * self.neighbours + weights.name * self.name
        whole = weights.neighbor_jaccard + weights.name
        if self.embedding is not None:
            total += weights.embedding * self.embedding
            whole += weights.embedding
        return total / whole


def name_tokens(name: str) -> frozenset[str]:
    """Return the words of a name, whatever their case and order."""
    key = name_key(name)
    return frozenset(_TOKEN.findall(key)) or frozenset({key})


def token_jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Return the share of words that two names have in common."""
    return len(one & other) / len(one | other) if one or other else 0.0


def hub_weight(degree: int) -> float:
    """Return how much a shared neighbour with so many relations tells: all at 1, a fifth at 50."""
    return 1.0 / (1.0 + math.log(max(1, degree)))


def weighted_jaccard(one: AbstractSet[K], other: AbstractSet[K], weight: Callable[[K], float]) -> float:
    """Return the share of their neighbours, by `weight`, that two entities have in common; 0 where there are none."""
    whole = math.fsum(map(weight, one | other))
    return math.fsum(map(weight, one & other)) / whole if whole else 0.0
