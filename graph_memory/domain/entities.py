"""Entities: the things in the graph, and where what we know of them came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from typing_extensions import TypeAliasType

from graph_memory.domain.names import name_key, type_key

JsonValue = TypeAliasType("JsonValue", "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None")
"""What JSON can say; properties and metadata are made of it."""

RESERVED_PROPERTIES = frozenset(
    {
        "id",
        "tenant",
        "tenant_id",
        "name",
        "type",
        "confidence",
        "weight",
        "created_at",
        "last_seen",
        "last_confirmed",
        "decayed_at",
        "ingested_at",
        "valid_at",
        "invalid_at",
        "mention_count",
        "embedding",
    }
)
"""Names that a caller's properties may not use: they are the entity's or relation's own."""


class EntityKey(NamedTuple):
    """What makes two mentions one entity of a tenant: the key of the type and the key of the name."""

    type_key: str
    name_key: str


class EvidenceKind(StrEnum):
    """How a contribution changes what it supports."""

    EXPLICIT = "explicit"
    """Stated by a person, a document or extraction: the larger of old and new holds."""
    MENTION = "mention"
    """Named in passing: a small addition."""
    BOOST = "boost"
    """Confirmed: an addition of the given amount."""
    WEAKEN = "weaken"
    """Corrected: a subtraction of the given amount."""


class SourceType(StrEnum):
    """Where a contribution came from; decides the weight where none is given."""

    CONVERSATION = "conversation"
    DOCUMENT = "document"
    MANUAL = "manual"
    MENTION = "mention"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where something was learned; every part may be unknown."""

    source_type: SourceType = SourceType.MANUAL
    session: str | None = None
    transcript: str | None = None
    file: str | None = None
    memory_id: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One contribution to an entity's confidence or a relation's weight; added or forgotten, never changed.

    `amount` is the weight stated, added or subtracted, in 0–1. `at` is when it was recorded: contributions to one
    subject are folded in order of `at`, then of insertion. `text` is what supports it, redacted. `properties` are those
    that it stated of its subject, so that what others stated can be told from it; `None` takes one away.
    """

    subject_id: str
    kind: EvidenceKind
    amount: float
    at: datetime
    provenance: Provenance = field(default_factory=Provenance)
    text: str | None = None
    properties: Mapping[str, JsonValue] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing in the graph.

    `id` is the public slug, unique in its tenant. `type` and `name` are display spellings, their keys identify.
    `confidence` is 0.01–1, as of `decayed_at` (never decayed: as of `created_at`). `properties` holds JSON values.
    """

    id: str
    type: str
    name: str
    confidence: float
    created_at: datetime
    last_seen: datetime
    decayed_at: datetime | None = None
    mention_count: int = 0
    properties: Mapping[str, JsonValue] = field(default_factory=dict)
    source_file: str | None = None

    @property
    def key(self) -> EntityKey:
        """What identifies it in its tenant."""
        return EntityKey(type_key(self.type), name_key(self.name))

    @property
    def is_exempt_from_decay(self) -> bool:
        """Tell whether forgetting passes it by: pinned, or a preference that is a rule."""
        return self.properties.get("pinned") is True or (
            type_key(self.type) == "preference" and self.properties.get("subtype") == "rule"
        )


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of an entity; found like the name itself."""

    entity_id: str
    name: str

    @property
    def name_key(self) -> str:
        """What two spellings of the alias share."""
        return name_key(self.name)


class EntityOrder(StrEnum):
    """Orders of a listing; ties are broken by id, ascending."""

    CONFIDENCE = "confidence"
    LAST_SEEN = "last_seen"
    NAME = "name"
    ID = "id"


@dataclass(frozen=True, slots=True)
class EntityFilter:
    """Which entities a listing or search is about; empty parts don't restrict.

    `sessions` keeps entities that have evidence from one of these sessions.
    """

    ids: frozenset[str] | None = None
    type_keys: frozenset[str] | None = None
    min_confidence: float = 0.0
    seen_before: datetime | None = None
    created_since: datetime | None = None
    is_orphan: bool | None = None
    session: str | None = None

    def matches(self, entity: Entity, *, relation_count: int = 0, sessions: frozenset[str] = frozenset()) -> bool:
        """Tell whether an entity with that many current relations and those source sessions is meant."""
        return (
            (self.ids is None or entity.id in self.ids)
            and (self.type_keys is None or type_key(entity.type) in self.type_keys)
            and entity.confidence >= self.min_confidence
            and (self.seen_before is None or entity.last_seen < self.seen_before)
            and (self.created_since is None or entity.created_at >= self.created_since)
            and (self.is_orphan is None or self.is_orphan == (relation_count == 0))
            and (self.session is None or self.session in sessions)
        )
