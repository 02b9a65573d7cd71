"""The policy values of the graph family, together: what configuration may change."""

from dataclasses import dataclass, field

from graph_memory.domain.affinity import AffinityPolicy
from graph_memory.domain.decay import DecayPolicy
from graph_memory.domain.supersession import single_valued_keys
from graph_memory.domain.weights import WeightPolicy


@dataclass(frozen=True, slots=True)
class GraphPolicy:
    """How statements weigh, fade and replace one another, and what lies near a project."""

    weights: WeightPolicy = field(default_factory=WeightPolicy)
    decay: DecayPolicy = field(default_factory=DecayPolicy)
    affinity: AffinityPolicy = field(default_factory=AffinityPolicy)
    single_valued: frozenset[str] = field(default_factory=single_valued_keys)
