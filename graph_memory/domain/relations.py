"""Relations: typed, weighted, bi-temporal links between entities."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from graph_memory.domain.entities import JsonValue, Provenance
from graph_memory.domain.names import short_hash, type_key

_ID_LENGTH = 20


class RelationKey(NamedTuple):
    """What makes two statements one relation: its ends and the key of its type. At most one of a key is current."""

    source_id: str
    type_key: str
    target_id: str


@dataclass(frozen=True, slots=True)
class Relation:
    """One version of a relation.

    `weight` is 0–1 as of `decayed_at` (never decayed: as of `last_confirmed`). `valid_at` says since when it was true
    where that is known, `invalid_at` when it stopped (`None`: current), `ingested_at` when it was learned,
    `last_confirmed` when it was last supported. `provenance` is that of the latest statement; all of them are evidence.
    """

    id: str
    source_id: str
    type: str
    target_id: str
    weight: float
    ingested_at: datetime
    last_confirmed: datetime
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    decayed_at: datetime | None = None
    properties: Mapping[str, JsonValue] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def key(self) -> RelationKey:
        """What identifies its current version in a tenant."""
        return RelationKey(self.source_id, type_key(self.type), self.target_id)

    @property
    def is_current(self) -> bool:
        """Tell whether it still holds."""
        return self.invalid_at is None

    def other_end(self, entity_id: str) -> str:
        """Return the end that `entity_id` is not; of a loop, itself."""
        return self.target_id if self.source_id == entity_id else self.source_id


def relation_id(key: RelationKey, version: int) -> str:
    """Return the id of the `version`-th version (from 0) of a relation: from its key alone, so replays agree."""
    return "r-" + short_hash("\0".join((*key, str(version))), _ID_LENGTH)


@dataclass(frozen=True, slots=True)
class RelationFilter:
    """Which relations are meant; empty parts don't restrict."""

    type_keys: frozenset[str] | None = None
    min_weight: float = 0.0
    current_only: bool = True
    max_weight: float | None = None

    def matches(self, relation: Relation) -> bool:
        """Tell whether a relation is meant."""
        return (
            (self.type_keys is None or type_key(relation.type) in self.type_keys)
            and relation.weight >= self.min_weight
            and (self.max_weight is None or relation.weight <= self.max_weight)
            and (not self.current_only or relation.is_current)
        )


def strongest_first(relation: Relation) -> tuple[float, str]:
    """Order relations by falling weight, ties by id: the order of every bounded answer."""
    return (-relation.weight, relation.id)
