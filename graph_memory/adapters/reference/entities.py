"""Entities, their aliases, and the evidence for them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph_memory.adapters.reference.evidence import (
    evidence_by_time,
    replaced,
    supported,
    with_evidence,
    without_evidence,
)
from graph_memory.adapters.reference.rows import Rows, detached, stored
from graph_memory.adapters.reference.text import Field, score, texts_within, trigrams, words
from graph_memory.domain.entities import Alias, Entity, EntityFilter, EntityKey, EntityOrder, Evidence
from graph_memory.domain.errors import Conflict
from graph_memory.domain.instants import to_micros
from graph_memory.domain.ledger import VectorOwner
from graph_memory.domain.names import name_key, type_key
from graph_memory.domain.queries import TextHit, TextQuery
from graph_memory.ports.graph_rows import EvidenceFilter, EvidenceSources, Faded, FadingEntity

_NAME_WEIGHT = 4.0
_PROPERTY_WEIGHT = 1.0


class ReferenceEntityReader:
    """Find entities; see `EntityReader`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self, ids: Collection[str]) -> Mapping[str, Entity]:
        """Find entities by id."""
        return {id_: detached(self._rows.entities[id_]) for id_ in ids if id_ in self._rows.entities}

    def find_by_key(self, keys: Collection[EntityKey]) -> Mapping[EntityKey, Entity]:
        """Find entities by type and name."""
        ids = {key: self._rows.entity_ids[key] for key in keys if key in self._rows.entity_ids}
        return {key: detached(self._rows.entities[id_]) for key, id_ in ids.items()}

    def find_by_name(self, name_keys: Collection[str]) -> Mapping[str, Sequence[Entity]]:
        """Find entities by the key of their name or of an alias."""
        wanted, ids = set(name_keys), defaultdict[str, set[str]](set)
        for id_, keys in self._name_keys().items():
            for key in keys & wanted:
                ids[key].add(id_)
        return {key: [detached(self._rows.entities[id_]) for id_ in sorted(found)] for key, found in ids.items()}

    def search(self, query: TextQuery, where: EntityFilter, limit: int) -> Sequence[TextHit[str]]:
        """Find entities by text: all that match strictly, else all that match loosely."""
        names = self._names()
        documents = {entity.id: _document(entity, names[entity.id]) for entity in self._matching(where)}
        for clause in (query.strict, query.loose):
            scores = {id_: score(clause, document) for id_, document in documents.items()}
            hits = [TextHit(id_, points) for id_, points in scores.items() if points > 0]
            if hits:
                return sorted(hits, key=lambda hit: (-hit.score, hit.ref))[:limit]
        return []

    def find_similar_names(self, name: str, where: EntityFilter, limit: int) -> Sequence[Entity]:
        """Find entities by shared runs of three letters, at least half of those of the shorter name."""
        wanted, keys = trigrams(name_key(name)), self._name_keys()
        shares = {
            entity.id: max(_shared(wanted, trigrams(key)) for key in keys[entity.id])
            for entity in self._matching(where)
        }
        close = sorted((-share, id_) for id_, share in shares.items() if share >= 1 / 2)
        return [detached(self._rows.entities[id_]) for _, id_ in close[:limit]]

    def page(self, where: EntityFilter, order: EntityOrder, limit: int, offset: int = 0) -> Sequence[Entity]:
        """List entities in an order."""
        entities = sorted(self._matching(where), key=lambda entity: (_place(entity, order), entity.id))
        return [detached(entity) for entity in entities[offset : offset + limit]]

    def page_by_id(self, where: EntityFilter, after: str | None, limit: int) -> Sequence[Entity]:
        """List entities by id, from the first past `after`."""
        found = [entity for entity in self._matching(where) if after is None or entity.id > after]
        return [detached(entity) for entity in sorted(found, key=lambda entity: entity.id)[:limit]]

    def count(self, where: EntityFilter) -> int:
        """Count entities."""
        return len(self._matching(where))

    def count_by_type(self) -> Mapping[str, int]:
        """Count entities by type, under the spelling that `type_spelling` finds."""
        counts = Counter(type_key(entity.type) for entity in self._rows.entities.values())
        spelling = self.type_spelling(counts)
        return {spelling[key]: count for key, count in counts.items()}

    def degrees(self, ids: Collection[str]) -> Mapping[str, int]:
        """Count current relations; a loop counts once."""
        counts = self._relation_counts()
        return {id_: counts[id_] for id_ in ids if id_ in self._rows.entities}

    def aliases(self, ids: Collection[str]) -> Mapping[str, Sequence[Alias]]:
        """List aliases; entities without any are left out."""
        wanted, found = set(ids), defaultdict[str, list[Alias]](list)
        for (id_, _), alias in sorted(self._rows.aliases.items()):
            if id_ in wanted:
                found[id_].append(alias)
        return dict(found)

    def type_spelling(self, type_keys: Collection[str]) -> Mapping[str, str]:
        """Find the spelling of the entity first stored with each type."""
        wanted, spelling = set(type_keys), dict[str, str]()
        for entity in self._rows.entities.values():
            if (key := type_key(entity.type)) in wanted:
                spelling.setdefault(key, entity.type)
        return spelling

    def evidence(self, ids: Collection[str]) -> Mapping[str, Sequence[Evidence]]:
        """List evidence; entities without any are left out."""
        return evidence_by_time(self._rows.entity_evidence, ids)

    def find_supported(self, sources: EvidenceSources) -> Sequence[str]:
        """Find entities that have evidence from any of these sources."""
        return supported(self._rows.entity_evidence, sources)

    def _matching(self, where: EntityFilter) -> list[Entity]:
        counts = self._relation_counts()
        return [
            entity
            for entity in self._rows.entities.values()
            if where.matches(entity, relation_count=counts[entity.id], sessions=self._sessions(entity.id))
        ]

    def _relation_counts(self) -> Counter[str]:
        current = (relation for relation in self._rows.relations.values() if relation.is_current)
        return Counter(end for relation in current for end in {relation.source_id, relation.target_id})

    def _sessions(self, entity_id: str) -> frozenset[str]:
        evidence = self._rows.entity_evidence.get(entity_id, ())
        return frozenset(item.provenance.session for item in evidence if item.provenance.session is not None)

    def _names(self) -> dict[str, list[str]]:
        """Collect the names of each entity, its own first."""
        names = {entity.id: [entity.name] for entity in self._rows.entities.values()}
        for alias in self._rows.aliases.values():
            names[alias.entity_id].append(alias.name)
        return names

    def _name_keys(self) -> dict[str, set[str]]:
        return {id_: {name_key(name) for name in names} for id_, names in self._names().items()}


class ReferenceEntityWriter(ReferenceEntityReader):
    """Change entities; see `EntityWriter`."""

    def find_for_update(self, keys: Collection[EntityKey], ids: Collection[str] = ()) -> Mapping[EntityKey, Entity]:
        """Find entities by key or id; writers wait for each other anyway."""
        by_id = (detached(self._rows.entities[id_]) for id_ in ids if id_ in self._rows.entities)
        return {**self.find_by_key(keys), **{entity.key: entity for entity in by_id}}

    def put(self, entities: Collection[Entity]) -> None:
        """Add or replace entities, in this order; none of them on a conflict.

        Raises:
            Conflict: another entity has the same key.
        """
        kept, ids = dict(self._rows.entities), dict(self._rows.entity_ids)
        for entity in entities:
            if (holder := ids.get(entity.key, entity.id)) != entity.id:
                raise Conflict(f"{entity.type} {entity.name} exists as {holder}", existing_id=holder)
            if before := kept.get(entity.id):
                del ids[before.key]
            ids[entity.key] = entity.id
            kept[entity.id] = stored(entity)
        self._rows.entities, self._rows.entity_ids = kept, ids

    def put_aliases(self, aliases: Collection[Alias]) -> None:
        """Add aliases; one that is there stays as it is.

        Raises:
            Conflict: there is no such entity.
        """
        for alias in aliases:
            if alias.entity_id not in self._rows.entities:
                raise Conflict(f"an alias needs its entity {alias.entity_id}")
            self._rows.aliases.setdefault((alias.entity_id, alias.name_key), alias)

    def delete_aliases(self, aliases: Collection[Alias]) -> int:
        """Remove aliases by entity and name key."""
        doomed = {(alias.entity_id, alias.name_key) for alias in aliases} & self._rows.aliases.keys()
        for key in doomed:
            del self._rows.aliases[key]
        return len(doomed)

    def delete(self, ids: Collection[str]) -> int:
        """Remove entities with all that hangs on them.

        Raises:
            Conflict: a relation still ends at one of them.
        """
        rows, doomed = self._rows, set(ids) & self._rows.entities.keys()
        for relation in rows.relations.values():
            if held := doomed & {relation.source_id, relation.target_id}:
                raise Conflict(f"relation {relation.id} still ends at {min(held)}", existing_id=relation.id)
        for id_ in doomed:
            del rows.entity_ids[rows.entities.pop(id_).key]
            rows.entity_evidence.pop(id_, None)
        rows.aliases = {key: alias for key, alias in rows.aliases.items() if alias.entity_id not in doomed}
        rows.mentions = {key: mention for key, mention in rows.mentions.items() if mention.entity_id not in doomed}
        rows.delete_vectors(VectorOwner.ENTITY, doomed)
        return len(doomed)

    def add_evidence(self, evidence: Collection[Evidence]) -> None:
        """Add contributions.

        Raises:
            Conflict: there is no such entity.
        """
        self._rows.entity_evidence = with_evidence(self._rows.entity_evidence, evidence, self._rows.entities)

    def delete_evidence(self, where: EvidenceFilter) -> Sequence[str]:
        """Remove contributions; return the ids of the entities that lost some."""
        self._rows.entity_evidence, losers = without_evidence(self._rows.entity_evidence, where)
        return losers

    def put_evidence(self, evidence: Mapping[str, Sequence[Evidence]]) -> None:
        """Replace the evidence for these entities."""
        self._rows.entity_evidence = replaced(self._rows.entity_evidence, evidence, self._rows.entities)

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingEntity], str | None]:
        """Read a slice of all entities, by id."""
        ids = sorted(id_ for id_ in self._rows.entities if after is None or id_ > after)
        part = [_fading(self._rows.entities[id_]) for id_ in ids[:limit]]
        return part, part[-1].id if len(ids) > limit else None

    def fade(self, faded: Iterable[Faded]) -> int:
        """Write decayed confidences where they still apply."""
        count = 0
        for value in faded:
            entity = self._rows.entities.get(value.id)
            if entity is None or entity.confidence != value.old:
                continue
            if entity.decayed_at is None or entity.decayed_at <= value.until:
                faded_entity = replace(entity, confidence=value.new, decayed_at=value.until)
                self._rows.entities[entity.id] = stored(faded_entity)
                count += 1
        return count


def _document(entity: Entity, names: Sequence[str]) -> list[Field]:
    return [
        *(Field(words(name), _NAME_WEIGHT) for name in names),
        *(Field(words(text), _PROPERTY_WEIGHT) for text in texts_within(dict(entity.properties))),
    ]


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))


def _place(entity: Entity, order: EntityOrder) -> Any:  # noqa: ANN401 - a sort key; all of one call are of one type
    match order:
        case EntityOrder.CONFIDENCE:
            return -entity.confidence
        case EntityOrder.LAST_SEEN:
            return -to_micros(entity.last_seen)
        case EntityOrder.NAME:
            return name_key(entity.name)
        case EntityOrder.ID:
            return entity.id


def _fading(entity: Entity) -> FadingEntity:
    return FadingEntity(
        id=entity.id,
        type=entity.type,
        name=entity.name,
        confidence=entity.confidence,
        since=to_micros(entity.decayed_at or entity.created_at),
        is_exempt=entity.is_exempt_from_decay,
    )
