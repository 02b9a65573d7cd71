"""Closeness to the project at hand: what lies near it counts for more."""

from collections.abc import Mapping
from dataclasses import dataclass

from graph_memory.domain.relations import Relation


@dataclass(frozen=True, slots=True)
class AffinityPolicy:
    """Multipliers of a relation's weight, by the distance of its nearer end from the project."""

    hop_1_multiplier: float = 1.3
    hop_2_multiplier: float = 1.15

    def multiplier(self, distance: int | None) -> float:
        """Return the multiplier at a distance in hops; the project itself counts as one hop."""
        if distance is None:
            return 1.0
        if distance <= 1:
            return self.hop_1_multiplier
        return self.hop_2_multiplier if distance == 2 else 1.0  # noqa: PLR2004 - the second hop


def effective_weight(relation: Relation, distances: Mapping[str, int], policy: AffinityPolicy) -> float:
    """Return a relation's weight times the affinity of its nearer end; not clamped to 1."""
    near = [distances[end] for end in (relation.source_id, relation.target_id) if end in distances]
    return relation.weight * policy.multiplier(min(near) if near else None)
