"""Mentions: what a text names, joined to the memory that holds it and to the document or session it stands in.

A memory boosts an entity once, however often it is read; an entity's own source is not boosted by its texts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graph_memory.domain.audit import audit_event
from graph_memory.domain.decay import decayed
from graph_memory.domain.entities import Entity, EntityKey, Evidence, EvidenceKind, Provenance, SourceType
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.ledger import AuditEvent
from graph_memory.domain.memories import Mention
from graph_memory.domain.names import name_key, type_key
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.relations import Relation, RelationKey, relation_id
from graph_memory.domain.statements import DEFAULT_ENTITY_TYPE, Batch, EntityStatement, cleaned_entity
from graph_memory.domain.tombstones import entity_grave
from graph_memory.domain.weights import changed
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from graph_memory.services.statements import apply_batch
from ingest.extraction import extract
from ingest.known_names import longest_matches
from ingest.name_index import NameIndex

MENTIONS = "MENTIONS"
MENTIONS_KEY = type_key(MENTIONS)
READ_CHARS = 400_000
"""Characters of a text that are read for names: a second's work."""


@dataclass(frozen=True, slots=True)
class TextNames:
    """What a text may name: `stated` are things it shows by itself, `keys` names of entities that may stand in it."""

    text: str
    stated: tuple[EntityStatement, ...]
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class Naming:
    """What one memory names.

    `source_id` is the entity of its document or session. `linked_ids` are entities that its wikilinks lead to,
    `counted_ids` those that it was counted to name before. `weight` is that of new relations, 0–1, or `None` for the
    usual one.
    """

    memory_id: int
    source_id: str
    names: TextNames
    provenance: Provenance
    linked_ids: Collection[str] = ()
    counted_ids: Collection[str] = ()
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Mentioned:
    """What a naming came to: the entities by the keys of their names, `stated` by type and name, `known` by name alone.

    `created` are the names of new ones.
    """

    stated: Mapping[EntityKey, str]
    known: Mapping[str, frozenset[str]]
    linked_ids: frozenset[str]
    created: tuple[str, ...] = ()
    relations_created: int = 0

    @property
    def entity_ids(self) -> frozenset[str]:
        """The ids of all that is named."""
        return self.linked_ids.union(self.stated.values(), *self.known.values())


def read_names(
    text: str,
    index: NameIndex,
    *,
    tags: Iterable[str] = (),
    hints: Iterable[str] = (),
    authors: Iterable[str] = (),
    root: str | None = None,
) -> TextNames:
    """Read a text for what it names; of a very long one the beginning. Paths are shortened by `root`."""
    read = text[:READ_CHARS]
    stated = read_stated(read, tags=tags, hints=hints, authors=authors, root=root)
    return TextNames(read, stated, index.candidates(read))


def read_stated(
    text: str,
    *,
    tags: Iterable[str] = (),
    hints: Iterable[str] = (),
    authors: Iterable[str] = (),
    root: str | None = None,
) -> tuple[EntityStatement, ...]:
    """Read a text for what it shows by itself."""
    usable = (_usable(it) for it in extract(text[:READ_CHARS], tags=tags, hints=hints, authors=authors, root=root))
    return tuple(it for it in usable if it is not None)


def _usable(statement: EntityStatement) -> EntityStatement | None:
    """Return a statement that can be stored."""
    try:
        return cleaned_entity(statement)
    except InvalidRequest:
        return None


def mention(tx: WriteTransaction, naming: Naming, now: datetime, policy: GraphPolicy) -> Mentioned:
    """Store what a memory names; what it was counted to name stays as it is."""
    names = naming.names
    known = find_known(tx, names, naming.source_id)
    found = find_stated(tx, names.stated)
    old = {*naming.linked_ids, *(it for it in found if it is not None)}.union(*known.values())
    fresh = tx.entities.find(old - {naming.source_id} - set(naming.counted_ids))
    new = _unforgotten(tx, [statement for statement, id_ in zip(names.stated, found, strict=True) if id_ is None])
    statements = [*new, *(EntityStatement(it.name, it.type) for _, it in sorted(fresh.items()))]
    linked = frozenset(naming.linked_ids) - {naming.source_id}
    stated = {
        it.key: id_ for it, id_ in zip(names.stated, found, strict=True) if it.key is not None and id_ is not None
    }
    if not statements:
        return Mentioned(stated, known, linked)
    provenance = replace(naming.provenance, source_type=SourceType.MENTION, memory_id=naming.memory_id)
    outcome = apply_batch(tx, Batch(tuple(statements), provenance=provenance), now, policy)
    ids = [it.entity.id for it in outcome.stated_entities]
    stated.update((it.key, id_) for it, id_ in zip(new, ids, strict=False) if it.key is not None)
    ids = list(dict.fromkeys(ids))
    tx.memories.add_mentions([Mention(naming.memory_id, id_, now) for id_ in ids])
    relations = relate_mentions(tx, naming.source_id, ids, naming.weight, provenance, now, policy)
    created = tuple(outcome.entities[it].name for it in outcome.created_entities)
    return Mentioned(stated, known, linked, created, relations)


def _unforgotten(tx: ReadTransaction, statements: Sequence[EntityStatement]) -> Sequence[EntityStatement]:
    """Leave out entities that were forgotten themselves: what a text shows does not bring them back."""
    graves = {
        entity_grave(EntityKey(type_key(it.type or DEFAULT_ENTITY_TYPE), name_key(it.name))): it for it in statements
    }
    forgotten = tx.ledger.tombstones(graves.keys()) if graves else {}
    return [it for grave, it in graves.items() if grave not in forgotten] if forgotten else statements


def find_known(tx: ReadTransaction, names: TextNames, source_id: str) -> Mapping[str, frozenset[str]]:
    """Find the known names that stand in a text, and the entities that have them.

    Of overlapping names the longest counts, also of those that the text shows by itself, known or not: what is part of
    a path is not named by it.
    """
    found = tx.entities.find_by_name(names.keys) if names.keys else {}
    shown = {name_key(it.name) for it in names.stated}
    matches = longest_matches(names.text, found.keys() | shown) if found else ()
    ids = {key: frozenset(it.id for it in found[key]) - {source_id} for key in matches if key in found}
    return {key: some for key, some in ids.items() if some}


def find_stated(tx: ReadTransaction, statements: Sequence[EntityStatement]) -> Sequence[str | None]:
    """Find the entities that statements are about, by name or alias, in their order; `None` for what is new."""
    if not statements:
        return ()
    named = tx.entities.find_by_name({name_key(it.name) for it in statements})
    return [_only(it, named.get(name_key(it.name), ())) for it in statements]


def _only(statement: EntityStatement, candidates: Iterable[Entity]) -> str | None:
    of_type = [it for it in candidates if statement.type is None or type_key(it.type) == type_key(statement.type)]
    exact = [it for it in of_type if name_key(it.name) == name_key(statement.name)]
    found = exact or of_type
    return found[0].id if len(found) == 1 else None


def relate_mentions(
    tx: WriteTransaction,
    source_id: str,
    target_ids: Iterable[str],
    weight: float | None,
    provenance: Provenance,
    now: datetime,
    policy: GraphPolicy,
) -> int:
    """Join a source to what it mentions: a new relation weighs `weight` (or what is inferred), one that is there gains.

    Unlike a statement this leaves the entities at its ends alone. Returns how many relations are new.
    """
    keys = [RelationKey(source_id, MENTIONS_KEY, id_) for id_ in dict.fromkeys(target_ids) if id_ != source_id]
    versions = tx.relations.versions(keys)
    relations, evidence, events = [], [], []
    for key in keys:
        relation, piece = _mentioned(key, versions.get(key, ()), weight, provenance, now, policy)
        relations.append(relation)
        evidence.append(piece)
        events.append(_event(relation, piece, now))
    tx.relations.put(relations)
    tx.relations.add_evidence(evidence)
    tx.upkeep.add_audit(events)
    return sum(piece.kind is EvidenceKind.EXPLICIT for piece in evidence)


def _mentioned(
    key: RelationKey,
    versions: Sequence[Relation],
    weight: float | None,
    provenance: Provenance,
    now: datetime,
    policy: GraphPolicy,
) -> tuple[Relation, Evidence]:
    current = next((it for it in versions if it.is_current), None)
    if current is None:
        amount = policy.weights.inferred if weight is None else weight
        id_ = _free_id(key, versions)
        relation = Relation(id_, key.source_id, MENTIONS, key.target_id, amount, now, now, decayed_at=now)
        return replace(relation, provenance=provenance), Evidence(id_, EvidenceKind.EXPLICIT, amount, now, provenance)
    amount = policy.weights.boost_on_mention
    due = decayed(current.weight, policy.decay.relation_rate, current.decayed_at or current.last_confirmed, now)
    stronger = changed(due, EvidenceKind.MENTION, amount)
    relation = replace(current, weight=stronger, decayed_at=now, last_confirmed=now, provenance=provenance)
    return relation, Evidence(current.id, EvidenceKind.MENTION, amount, now, provenance)


def _free_id(key: RelationKey, versions: Sequence[Relation]) -> str:
    taken = {it.id for it in versions}
    number = len(versions)
    while relation_id(key, number) in taken:
        number += 1
    return relation_id(key, number)


def _event(relation: Relation, piece: Evidence, now: datetime) -> AuditEvent:
    name = "edge_created" if piece.kind is EvidenceKind.EXPLICIT else "edge_modified"
    return audit_event(name, now, {"relation_id": relation.id, "weight": relation.weight})
