"""The rows of one tenant, and the two ways to copy them."""

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from graph_memory.domain.entities import Alias, Entity, EntityKey, Evidence
from graph_memory.domain.instants import from_micros, to_micros
from graph_memory.domain.ledger import (
    AuditEvent,
    IngestItem,
    JobRun,
    MergeRecord,
    Tombstone,
    TranscriptCursor,
    Vector,
    VectorOwner,
)
from graph_memory.domain.memories import (
    DecayRate,
    Memory,
    MemoryVersion,
    Mention,
    OpenLink,
    Synapse,
    SynapseKey,
)
from graph_memory.domain.relations import Relation, RelationKey

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RowT = TypeVar("RowT", bound="DataclassInstance")


@dataclass(slots=True)
class Rows:
    """All rows of a tenant, by what identifies them.

    Values are immutable or never changed in place, so that `copied` need only copy the containers. A dict keeps the
    place of a key whose value is replaced: its order is the order in which rows were first stored.
    """

    entities: dict[str, Entity] = field(default_factory=dict)
    entity_ids: dict[EntityKey, str] = field(default_factory=dict)
    """Who has a key."""
    aliases: dict[tuple[str, str], Alias] = field(default_factory=dict)
    """By entity id and name key."""
    entity_evidence: dict[str, tuple[Evidence, ...]] = field(default_factory=dict)
    """By entity id, as added."""
    relations: dict[str, Relation] = field(default_factory=dict)
    current_ids: dict[RelationKey, str] = field(default_factory=dict)
    """Which version of a key is current."""
    relation_evidence: dict[str, tuple[Evidence, ...]] = field(default_factory=dict)
    """By relation id, as added."""
    memories: dict[int, Memory] = field(default_factory=dict)
    memory_ids: dict[tuple[str, ...], int] = field(default_factory=dict)
    """Who has a title, a slug, a content key; see `memories.unique_keys`."""
    last_memory_id: int = 0
    """The largest id that was ever given."""
    mentions: dict[tuple[int, str], Mention] = field(default_factory=dict)
    """By memory id and entity id."""
    open_links: dict[tuple[int, str], OpenLink] = field(default_factory=dict)
    """By memory id and target key."""
    versions: list[MemoryVersion] = field(default_factory=list)
    common_terms: frozenset[str] = frozenset()
    synapses: dict[SynapseKey, Synapse] = field(default_factory=dict)
    decay_rates: dict[tuple[str, str, str], DecayRate] = field(default_factory=dict)
    """By source layer, target layer and connection type."""
    items: dict[str, IngestItem] = field(default_factory=dict)
    transcript_cursors: dict[str, TranscriptCursor] = field(default_factory=dict)
    learned: dict[str, int] = field(default_factory=dict)
    """The memory id by content key."""
    tombstones: dict[str, Tombstone] = field(default_factory=dict)
    runs: dict[tuple[str, datetime], JobRun] = field(default_factory=dict)
    merges: dict[str, MergeRecord] = field(default_factory=dict)
    vectors: dict[tuple[VectorOwner, str, str], Vector] = field(default_factory=dict)
    """By owner, owner's id and model id."""
    audit: dict[str, AuditEvent] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Tell whether there is no row; the largest memory id and the common words are none."""
        aside = {"last_memory_id", "common_terms"}
        return not any(getattr(self, table.name) for table in fields(self) if table.name not in aside)

    def copied(self) -> "Rows":
        """Copy every container: what is done to the copy is not seen here."""
        return replace(self, **{table.name: copy.copy(getattr(self, table.name)) for table in fields(self)})

    def delete_vectors(self, owner: VectorOwner, owner_ids: Collection[str]) -> int:
        """Remove the vectors of these owners; return how many there were."""
        ids = set(owner_ids)
        doomed = [key for key in self.vectors if key[0] is owner and key[1] in ids]
        for key in doomed:
            del self.vectors[key]
        return len(doomed)


def stored(row: RowT) -> RowT:
    """Copy a row as a store keeps it: with JSON of its own, and its instants in UTC.

    Raises:
        TypeError: an instant has no time zone.
    """
    values = {part.name: getattr(row, part.name) for part in fields(row)}
    instants: dict[str, Any] = {
        name: from_micros(to_micros(value)) for name, value in values.items() if isinstance(value, datetime)
    }
    return detached(replace(row, **instants))


def detached(row: RowT) -> RowT:
    """Copy a row with its JSON: nobody outside can change what is stored, as with a store on a disk."""
    values = {part.name: getattr(row, part.name) for part in fields(row)}
    json = {name: _copied(value) for name, value in values.items() if isinstance(value, Mapping) and value}
    return replace(row, **json) if json else row


def _copied(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Copy JSON, with lists for tuples, as it would come back from a disk."""
    if isinstance(value, Mapping):
        return {name: _copied(part) for name, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list | tuple) else value
