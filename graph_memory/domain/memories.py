"""Memories: the layered notes, and the synapses between them."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from graph_memory.domain.names import name_key

GLOBAL_PROJECT = "_global"
"""The project of what belongs to no project; every project filter includes it."""

MAX_BOOST = 10.0
MAX_SYNAPSE_WEIGHT = 5.0


class Layer(StrEnum):
    """What a memory is for; decides how its links fade."""

    WORKING = "working"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"
    SEMANTIC = "semantic"
    PARTNER = "partner"


class Lifecycle(StrEnum):
    """How long a memory is meant to be kept."""

    PERMANENT = "permanent"
    MILESTONE = "milestone"
    EPHEMERAL = "ephemeral"


class Status(StrEnum):
    """Whether a memory is in use."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    INVALID = "invalid"


class Source(StrEnum):
    """Who wrote a memory."""

    SESSION = "session"
    IMPORT = "import"
    MANUAL = "manual"
    DERIVED = "derived"


class ConnectionType(StrEnum):
    """Why two memories are linked."""

    WIKILINK = "wikilink"
    BM25_AUTO = "bm25_auto"
    PARENT_CHILD = "parent_child"
    SEQUENCE = "sequence"


@dataclass(frozen=True, slots=True)
class Memory:
    """A note.

    `id` is 0 until a store assigns one: positive, rising, never used again. `title` and `slug` are unique in a project
    (by their keys). `confidence` and `importance_score` are 0–1 and at least 0, `boost` within ±10. `content_key` is
    the content-derived key under which ingest knows it, or `None`. `is_abandoned` marks a turn that was rewound.
    """

    title: str
    slug: str
    content: str
    category: str
    created_at: datetime
    updated_at: datetime
    id: int = 0
    project_id: str = GLOBAL_PROJECT
    layer: Layer = Layer.EPISODIC
    lifecycle: Lifecycle = Lifecycle.MILESTONE
    status: Status = Status.ACTIVE
    source: Source = Source.SESSION
    summary: str | None = None
    tags: tuple[str, ...] = ()
    session_id: str | None = None
    confidence: float = 1.0
    importance_score: float = 1.0
    boost: float = 0.0
    accessed_at: datetime | None = None
    access_count: int = 0
    expires_at: datetime | None = None
    content_key: str | None = None
    source_file: str | None = None
    is_abandoned: bool = False

    @property
    def title_key(self) -> str:
        """What two spellings of the title share."""
        return name_key(self.title)


class SynapseKey(NamedTuple):
    """What makes two links one: their ends and why they are linked."""

    source_id: int
    target_id: int
    connection_type: ConnectionType


@dataclass(frozen=True, slots=True)
class Synapse:
    """A weighted, directed link between two memories; `weight` is 0–5 as of `decayed_at` (else `updated_at`)."""

    source_id: int
    target_id: int
    connection_type: ConnectionType
    weight: float
    created_at: datetime
    updated_at: datetime
    decayed_at: datetime | None = None
    accessed_at: datetime | None = None
    access_count: int = 0
    cycle_access_count: int = 0
    """Accesses since decay last looked at it."""

    @property
    def key(self) -> SynapseKey:
        """What identifies it in a tenant."""
        return SynapseKey(self.source_id, self.target_id, self.connection_type)


@dataclass(frozen=True, slots=True)
class Mention:
    """A memory speaks of an entity; in a table of its own, since the ends are of two families."""

    memory_id: int
    entity_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OpenLink:
    """A wikilink that nothing answers yet, or more than one thing does; kept so that it resolves later.

    `target_key` is the key of what is written between the brackets; `is_ambiguous` tells a guess was refused.
    """

    memory_id: int
    target: str
    is_ambiguous: bool = False

    @property
    def target_key(self) -> str:
        """What two spellings of the target share."""
        return name_key(self.target)


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """A text that a memory had before; `replaced_at` is when it got another."""

    memory_id: int
    title: str
    content: str
    replaced_at: datetime


@dataclass(frozen=True, slots=True)
class DecayRate:
    """A row of the decay matrix: the factor per cycle for links of one type between two layers (`*`: any target)."""

    source_layer: str
    target_layer: str
    connection_type: ConnectionType
    rate: float


class MemoryOrder(StrEnum):
    """Orders of a listing; ties are broken by id, in the same direction."""

    NEWEST = "newest"
    """By `created_at`, newest first."""
    CHANGED = "changed"
    """By `updated_at`, newest first."""
    ID = "id"


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories are meant; empty parts don't restrict.

    `project_id` includes `_global`, unless `is_project_exact`. `session_id` and `source_file` are exact.
    """

    project_id: str | None = None
    is_project_exact: bool = False
    category: str | None = None
    layers: frozenset[Layer] | None = None
    lifecycles: frozenset[Lifecycle] | None = None
    statuses: frozenset[Status] | None = field(default_factory=lambda: frozenset({Status.ACTIVE}))
    session_id: str | None = None
    source_file: str | None = None
    updated_since: datetime | None = None
    created_since: datetime | None = None
    created_before: datetime | None = None

    @property
    def projects(self) -> frozenset[str] | None:
        """The project ids that are meant; `None` for all."""
        if self.project_id is None:
            return None
        return frozenset({self.project_id} if self.is_project_exact else {self.project_id, GLOBAL_PROJECT})

    def matches(self, memory: Memory) -> bool:
        """Tell whether a memory is meant."""
        projects = self.projects
        return (
            (projects is None or memory.project_id in projects)
            and (self.category is None or memory.category == self.category)
            and (self.layers is None or memory.layer in self.layers)
            and (self.lifecycles is None or memory.lifecycle in self.lifecycles)
            and (self.statuses is None or memory.status in self.statuses)
            and (self.session_id is None or memory.session_id == self.session_id)
            and (self.source_file is None or memory.source_file == self.source_file)
            and (self.updated_since is None or memory.updated_at >= self.updated_since)
            and (self.created_since is None or memory.created_at >= self.created_since)
            and (self.created_before is None or memory.created_at < self.created_before)
        )


class Direction(StrEnum):
    """Which links of a memory are meant, seen from it."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class SynapseFilter:
    """Which synapses are meant; empty parts don't restrict."""

    connection_types: frozenset[ConnectionType] | None = None
    min_weight: float = 0.0
    direction: Direction = Direction.BOTH

    def matches(self, synapse: Synapse) -> bool:
        """Tell whether a synapse is meant, leaving its direction aside."""
        return (
            self.connection_types is None or synapse.connection_type in self.connection_types
        ) and synapse.weight >= self.min_weight


def heaviest_first(synapse: Synapse) -> tuple[float, SynapseKey]:
    """Order synapses by falling weight, ties by key: the order of every bounded answer."""
    return (-synapse.weight, synapse.key)
