"""The policy values that learning needs, of both families."""

from dataclasses import dataclass, field

from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.policy import GraphPolicy


@dataclass(frozen=True, slots=True)
class Policies:
    """What statements and memories weigh and how long they last."""

    graph: GraphPolicy = field(default_factory=GraphPolicy)
    memory: MemoryPolicy = field(default_factory=MemoryPolicy)
