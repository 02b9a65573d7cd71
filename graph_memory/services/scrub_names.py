"""Names that held a secret: a memory's title, an entity's name, and the ids that were made of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, count

from graph_memory.domain.entities import Entity, EntityKey, Evidence
from graph_memory.domain.memories import Memory, Mention
from graph_memory.domain.names import (
    entity_slug,
    memory_slug,
    name_key,
    short_hash,
    suffixed_entity_slug,
    suffixed_memory_slug,
    type_key,
)
from graph_memory.domain.relations import Relation, RelationFilter, RelationKey, relation_id
from graph_memory.ports.store import ReadTransaction, WriteTransaction

_ALL = 1_000_000
"""More relations, or mentions, than hang on one entity."""


def put_scrubbed_memory(tx: WriteTransaction, before: Memory, after: Memory) -> Memory:
    """Write a memory without its secrets; links stay as they are. A title that is taken then gets a suffix."""
    if after.title != before.title:
        title = _free_title(tx, after)
        after = replace(after, title=title, slug=_free_slug(tx, replace(after, title=title)))
    if after != before:
        tx.memories.put([after])
    return after


def rename_entity(tx: WriteTransaction, before: Entity, after: Entity) -> Entity:
    """Put an entity under another name, and so another id, with all that hangs on it; the old one is gone."""
    name = _free_name(tx, after)
    after = replace(after, name=name)
    after = replace(after, id=_free_id(tx, after))
    tx.entities.put([after])
    aliases = tx.entities.aliases({before.id}).get(before.id, ())
    tx.entities.put_aliases([replace(it, entity_id=after.id) for it in aliases])
    evidence = tx.entities.evidence({before.id}).get(before.id, ())
    tx.entities.put_evidence({after.id: [replace(it, subject_id=after.id) for it in evidence]})
    _move_relations(tx, before.id, after.id)
    mentions = tx.memories.mentions_of_entities({before.id}, _ALL)
    tx.memories.add_mentions([Mention(it.memory_id, after.id, it.created_at) for it in mentions])
    tx.entities.delete({before.id})
    return after


def _move_relations(tx: WriteTransaction, old: str, new: str) -> None:
    """Have every version of every relation of an entity end at another one; their ids are made of their ends."""
    found = tx.relations.neighbours({old}, RelationFilter(current_only=False), limit=_ALL)
    evidence = tx.relations.evidence({it.id for it in found})
    versions = tx.relations.versions({it.key for it in found})
    numbers = {it.id: number for key in versions for number, it in enumerate(versions[key])}
    moved, support = list[Relation](), dict[str, Sequence[Evidence]]()
    for relation in found:
        ends = [new if it == old else it for it in (relation.source_id, relation.target_id)]
        key = RelationKey(ends[0], type_key(relation.type), ends[1])
        id_ = relation_id(key, numbers[relation.id])
        moved.append(replace(relation, id=id_, source_id=ends[0], target_id=ends[1]))
        support[id_] = [replace(it, subject_id=id_) for it in evidence.get(relation.id, ())]
    tx.relations.delete_of_entities({old})
    tx.relations.put(moved)
    tx.relations.put_evidence(support)


def _free_title(tx: ReadTransaction, memory: Memory) -> str:
    for title in _candidates(memory.title, str(memory.id)):
        holders = tx.memories.find_by_title({name_key(title)}, memory.project_id)
        if all(it.id == memory.id for it in holders):
            return title
    raise AssertionError("there are titles without end")


def _free_slug(tx: ReadTransaction, memory: Memory) -> str:
    ours = (memory_slug(memory.title), suffixed_memory_slug(memory.title))
    for slug in chain(ours, (f"{ours[1]}-{number}" for number in count(2))):
        holders = tx.memories.find_by_slug({slug}, memory.project_id)
        if all(it.id == memory.id for it in holders):
            return slug
    raise AssertionError("there are slugs without end")


def _free_name(tx: ReadTransaction, entity: Entity) -> str:
    for name in _candidates(entity.name, entity.id):
        if not tx.entities.find_by_key({EntityKey(type_key(entity.type), name_key(name))}):
            return name
    raise AssertionError("there are names without end")


def _free_id(tx: ReadTransaction, entity: Entity) -> str:
    ours = (entity_slug(entity.name), suffixed_entity_slug(entity.type, entity.name))
    for id_ in chain(ours, (f"{ours[1]}-{number}" for number in count(2))):
        if not tx.entities.find({id_}):
            return id_
    raise AssertionError("there are ids without end")


def _candidates(name: str, told_by: str) -> Iterator[str]:
    """Yield a name, then that with a short hash of what tells its bearer from others."""
    yield name
    for number in count(1):
        yield f"{name} ({short_hash(f'{told_by}{number}')})"
