"""Forgetting as a number: how confidence and weight fall with time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType

from graph_memory.domain.instants import DAY, to_micros
from graph_memory.domain.names import type_key

ENTITY_RATES = MappingProxyType(
    {
        "Person": 0.998,
        "Project": 0.995,
        "Preference": 0.999,
        "Concept": 0.999,
        "Decision": 0.997,
        "Fact": 0.996,
        "Event": 0.993,
        "Object": 0.996,
    }
)
"""Factors per day, by entity type."""
FLOOR = 0.01
"""Where a fall stops; a value below it is left alone."""
_DAY = DAY // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class DecayPolicy:
    """How fast what is not supported fades: factors per day, and the thresholds under which pruning may look."""

    rates: Mapping[str, float] = field(default_factory=lambda: ENTITY_RATES)
    other_rate: float = 0.996
    relation_rate: float = 0.997
    prune_node_threshold: float = 0.1
    prune_edge_threshold: float = 0.05

    def by_type_key(self) -> dict[str, float]:
        """Return the rates by the key of the type."""
        return {type_key(name): rate for name, rate in self.rates.items()}

    def rate_of(self, entity_type: str) -> float:
        """Return the factor per day of an entity type."""
        return self.by_type_key().get(type_key(entity_type), self.other_rate)


def decayed(value: float, rate: float, since: datetime, now: datetime) -> float:
    """Return `value` after the days from `since` to `now`: value × rate^days, in fractional days.

    A clock that went back changes nothing. The floor stops a fall; it never raises a value.
    """
    return decayed_since(value, rate, to_micros(since), to_micros(now))


def decayed_since(value: float, rate: float, since: int, now: int) -> float:
    """Return what `decayed` does for instants in microseconds: as stores keep them, and as whole graphs are read."""
    if now <= since:
        return value
    fallen: float = value * rate ** ((now - since) / _DAY)
    return fallen if fallen >= FLOOR else max(min(value, FLOOR), fallen)
