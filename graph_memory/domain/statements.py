"""What a caller states: entities and relations, by name, with where it was learned."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from graph_memory.domain.entities import RESERVED_PROPERTIES, EntityKey, JsonValue, Provenance
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.json_values import cleaned_json
from graph_memory.domain.names import clean_name, clean_type, name_key, type_key
from graph_memory.domain.redaction import redact

DEFAULT_ENTITY_TYPE = "Concept"
"""The type of a new entity for which the caller gives none."""
NO_PROPERTIES: Mapping[str, JsonValue] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EntityStatement:
    """An entity as a caller names it; `type` is `None` where it is not known; `local_id` holds within one batch.

    `where` is what the caller's arguments for it begin with (`from_`, `batch.entities.3.`): a refusal names them.
    """

    name: str
    type: str | None = None
    properties: Mapping[str, JsonValue] = field(default_factory=lambda: NO_PROPERTIES)
    local_id: str | None = None
    source_file: str | None = None
    where: str = ""

    @property
    def key(self) -> EntityKey | None:
        """What identifies the entity, where its type is known."""
        return None if self.type is None else EntityKey(type_key(self.type), name_key(self.name))


@dataclass(frozen=True, slots=True)
class RelationStatement:
    """A relation as a caller states it; `source` and `target` are local ids of the batch, else names.

    `weight` is 0–1 or `None` for the default of the source. `supersedes` names targets that no longer hold. `where` is
    what the caller's arguments for it begin with.
    """

    source: str
    type: str
    target: str
    weight: float | None = None
    properties: Mapping[str, JsonValue] = field(default_factory=lambda: NO_PROPERTIES)
    evidence: str | None = None
    valid_at: datetime | None = None
    supersedes: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Statements that hold together or not at all; `project` is the id of the project they were learned in."""

    entities: tuple[EntityStatement, ...] = ()
    relations: tuple[RelationStatement, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    project: str | None = None


def cleaned_entity(statement: EntityStatement, *, argument: str = "name") -> EntityStatement:
    """Return the statement with its name and type in display form, redacted.

    `argument` is the one that gave the name; those of type and properties are called alike.

    Raises:
        InvalidRequest: a name is empty or too long, or a property can't be kept; the text names the argument.
    """
    where = argument.removesuffix("name")
    return EntityStatement(
        name=clean_name(redact(statement.name).text, argument=f"{where}name"),
        type=None if statement.type is None else clean_type(statement.type, argument=f"{where}type"),
        properties=cleaned_properties(statement.properties, argument=f"{where}properties"),
        local_id=statement.local_id,
        source_file=statement.source_file,
        where=statement.where,
    )


def cleaned_properties(properties: Mapping[str, JsonValue], *, argument: str) -> Mapping[str, JsonValue]:
    """Return properties with every text redacted.

    Raises:
        InvalidRequest: a name is empty or reserved, or a value is none of JSON's.
    """
    for name in properties:
        if not name.strip() or name.casefold() in RESERVED_PROPERTIES:
            msg = f"{argument}: {name!r:.80} is the graph's own; choose another name for it"
            raise InvalidRequest(msg, argument=argument)
    return cleaned_json(properties, argument=argument)


def merged_properties(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Merge properties shallowly: new values replace old ones, `None` takes one away."""
    both = {**old, **new}
    return {name: value for name, value in both.items() if value is not None}
