"""From the names in a batch to entities: known ones found, new ones made."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graph_memory.domain.entities import Entity, EntityKey, Evidence, EvidenceKind, JsonValue, SourceType
from graph_memory.domain.errors import Ambiguous, InvalidRequest
from graph_memory.domain.names import (
    entity_slug,
    entity_type_spelling,
    name_key,
    short_hash,
    suffixed_entity_slug,
    type_key,
)
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.statements import (
    DEFAULT_ENTITY_TYPE,
    Batch,
    EntityStatement,
    cleaned_entity,
    merged_properties,
)
from graph_memory.ports.store import WriteTransaction
from graph_memory.services.mentioning import supported


@dataclass(frozen=True, slots=True)
class Resolved:
    """The entities of a batch: `changed` by id, `stated` what each of its entities became, in its order."""

    stated: tuple[str, ...]
    changed: dict[str, Entity]
    created: tuple[str, ...]
    merged: tuple[str, ...]
    evidence: tuple[Evidence, ...]


class EntityResolver:
    """Finds or makes the entities that one batch states, so that its relations can name them."""

    def __init__(self, tx: WriteTransaction, batch: Batch, now: datetime, policy: GraphPolicy) -> None:
        self._tx, self._batch, self._now, self._policy = tx, batch, now, policy
        self._source = batch.provenance.source_type
        self._statements = [cleaned_entity(it, argument=f"{it.where}name") for it in batch.entities]
        self._references: dict[str, str] = {}
        self._entities: dict[str, Entity] = {}
        self._by_key: dict[EntityKey, str] = {}
        self._created: dict[str, None] = {}
        self._created_by_name: dict[str, list[str]] = {}
        self._merged: dict[str, None] = {}
        self._evidence: list[Evidence] = []
        self._said: dict[str, dict[str, JsonValue]] = {}

    def resolve(self) -> Resolved:
        """Resolve every statement and every relation end.

        Raises:
            Ambiguous: a name without a type has several entities.
            InvalidRequest: a relation's end is neither a local id nor a known name; a local id stands twice.
        """
        self._load()
        stated = tuple(self._settle(it) for it in self._statements)
        for relation in self._batch.relations:
            self._refer(relation.source, f"{relation.where}from")
            self._refer(relation.target, f"{relation.where}to")
        evidence = tuple(replace(it, properties=self._said.get(it.subject_id, {})) for it in self._evidence)
        return Resolved(stated, self._entities, tuple(self._created), tuple(self._merged), evidence)

    def _load(self) -> None:
        ends = {it for relation in self._batch.relations for it in (relation.source, relation.target)}
        local = {it.local_id for it in self._statements if it.local_id is not None}
        loose = {name_key(it) for it in ends - local} | {name_key(it.name) for it in self._statements}
        self._named = {key: list(found) for key, found in self._tx.entities.find_by_name(loose).items()}
        keys = {it.key for it in self._statements if it.key is not None}
        known = {entity.id for found in self._named.values() for entity in found}
        for key, entity in self._tx.entities.find_for_update(keys, known).items():
            self._by_key[key] = entity.id
            self._entities[entity.id] = entity
        self._spelling = dict(self._tx.entities.type_spelling({key.type_key for key in keys}))
        new = [it for it in self._statements if it.key not in self._by_key]
        wanted = {id_ for it in new for id_ in _ids_for(it.type or DEFAULT_ENTITY_TYPE, it.name)}
        self._taken = self._tx.entities.find(wanted).keys() if wanted else set()

    def _settle(self, statement: EntityStatement) -> str:
        entity_id = self._find(statement)
        if entity_id is None:
            entity_id = self._create(statement)
        else:
            self._support(entity_id, statement)
        if statement.properties:
            self._said.setdefault(entity_id, {}).update(statement.properties)
        local = statement.local_id
        if local is not None and self._references.setdefault(f"local:{local}", entity_id) != entity_id:
            msg = f"{statement.where}localId: {local!r} stands for two entities of the batch"
            raise InvalidRequest(msg, argument=f"{statement.where}localId")
        self._references.setdefault(f"name:{name_key(statement.name)}", entity_id)
        return entity_id

    def _find(self, statement: EntityStatement) -> str | None:
        wanted = statement.key
        if wanted is not None and wanted in self._by_key:
            return self._by_key[wanted]
        candidates = self._candidates(name_key(statement.name))
        if wanted is not None:
            aliased = [it for it in candidates if type_key(self._entities[it].type) == wanted.type_key]
            return aliased[0] if len(aliased) == 1 else None
        return self._only(statement.name, candidates, f"{statement.where}name")

    def _candidates(self, key: str) -> list[str]:
        found = {it.id for it in self._named.get(key, ())}
        found.update(self._created_by_name.get(key, ()))
        return sorted(found)

    def _only(self, name: str, candidates: Sequence[str], argument: str) -> str | None:
        if len(candidates) > 1:
            known = [self._entities[it] for it in candidates]
            listed = tuple(f"{it.name} (id {it.id}, type {it.type})" for it in known)
            msg = f"{argument}: {name!r} is ambiguous: {', '.join(listed)}; give its type. Nothing was stored"
            raise Ambiguous(msg, argument=argument, candidates=listed)
        return candidates[0] if candidates else None

    def _create(self, statement: EntityStatement) -> str:
        stated = statement.type or DEFAULT_ENTITY_TYPE
        spelled = entity_type_spelling(stated)
        if spelled == stated:
            spelled = self._spelling.get(type_key(stated), stated)
        self._spelling.setdefault(type_key(spelled), spelled)
        key = EntityKey(type_key(spelled), name_key(statement.name))
        entity_id = self._free_id(spelled, statement.name)
        initial = self._policy.weights.initial(self._source)
        self._entities[entity_id] = Entity(
            id=entity_id,
            type=spelled,
            name=statement.name,
            confidence=initial,
            created_at=self._now,
            last_seen=self._now,
            decayed_at=self._now,
            mention_count=1,
            properties=merged_properties({}, statement.properties),
            source_file=statement.source_file or self._batch.provenance.file,
        )
        self._by_key[key] = entity_id
        self._created[entity_id] = None
        self._created_by_name.setdefault(key.name_key, []).append(entity_id)
        self._evidence.append(self._piece(entity_id, EvidenceKind.EXPLICIT, initial))
        return entity_id

    def _free_id(self, type_name: str, name: str) -> str:
        options = _ids_for(type_name, name)
        return next(it for it in options if it not in self._taken and it not in self._entities)

    def _support(self, entity_id: str, statement: EntityStatement) -> None:
        entity = self._entities[entity_id]
        if entity_id not in self._created and entity_id not in self._merged:
            entity = self._seen(entity)
            self._merged[entity_id] = None
        if statement.properties:
            entity = replace(entity, properties=merged_properties(entity.properties, statement.properties))
        if entity.source_file is None and statement.source_file is not None:
            entity = replace(entity, source_file=statement.source_file)
        self._entities[entity_id] = entity

    def _seen(self, entity: Entity) -> Entity:
        weights = self._policy.weights
        if self._source is SourceType.MENTION:
            kind, amount = EvidenceKind.MENTION, weights.boost_on_mention
        else:
            kind, amount = EvidenceKind.EXPLICIT, weights.initial(self._source)
        self._evidence.append(self._piece(entity.id, kind, amount))
        return supported(entity, kind, amount, self._now, self._policy)

    def _piece(self, entity_id: str, kind: EvidenceKind, amount: float) -> Evidence:
        return Evidence(entity_id, kind, amount, self._now, self._batch.provenance)

    def _refer(self, end: str, argument: str) -> None:
        if f"local:{end}" in self._references:
            return
        key = f"name:{name_key(end)}"
        if key not in self._references:
            found = self._only(end, self._candidates(name_key(end)), argument)
            if found is None:
                msg = (
                    f"{argument}: {end!r} is neither a localId of this batch nor the name of a known entity; "
                    "add it to entities. Nothing of the batch was stored"
                )
                raise InvalidRequest(msg, argument=argument)
            self._references[key] = found
            self._support(found, EntityStatement(end))

    def end(self, reference: str) -> str:
        """Return the id that a relation's end stands for; local ids come before names."""
        local = self._references.get(f"local:{reference}")
        return local if local is not None else self._references[f"name:{name_key(reference)}"]

    def name_of(self, entity_id: str) -> str:
        """Return the display name of an entity of the batch."""
        return self._entities[entity_id].name


def _ids_for(type_name: str, name: str) -> Sequence[str]:
    """List the ids that an entity may have, best first; the last is its own by the length of its hash."""
    longer = short_hash(type_key(type_name) + "\0" + name_key(name), 24)
    return entity_slug(name), suffixed_entity_slug(type_name, name), f"{entity_slug(name)}-{longer}"


def apply_entities(tx: WriteTransaction, resolved: Resolved) -> None:
    """Store the entities of a batch that are new or were supported, with their evidence."""
    touched = {*resolved.created, *resolved.merged}
    tx.entities.put([entity for entity_id, entity in resolved.changed.items() if entity_id in touched])
    tx.entities.add_evidence(resolved.evidence)
