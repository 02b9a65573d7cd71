"""Memories, with their tags, mentions, open links and earlier versions."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from graph_memory.adapters.reference.rows import Rows, stored
from graph_memory.adapters.reference.text import Field, score, words
from graph_memory.domain.errors import Conflict, NotFound
from graph_memory.domain.expiry import has_expired
from graph_memory.domain.ledger import VectorOwner
from graph_memory.domain.memories import Memory, MemoryFilter, MemoryOrder, MemoryVersion, Mention, OpenLink
from graph_memory.domain.queries import TextHit, TextQuery

_TITLE_WEIGHT = 4.0
_TAG_WEIGHT = 2.0
_CONTENT_WEIGHT = 1.0
_MIN_COMMON = 50
_COUNTED = frozenset({"status", "layer", "lifecycle", "category", "project_id"})


class ReferenceMemoryReader:
    """Find memories; see `MemoryReader`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self, ids: Collection[int]) -> Mapping[int, Memory]:
        """Find memories by id."""
        return {id_: self._rows.memories[id_] for id_ in ids if id_ in self._rows.memories}

    def find_by_content_key(self, keys: Collection[str]) -> Mapping[str, Memory]:
        """Find memories by content key."""
        ids = {key: self._rows.memory_ids.get(_content(key)) for key in keys}
        return {key: self._rows.memories[id_] for key, id_ in ids.items() if id_ is not None}

    def find_by_title(self, title_keys: Collection[str], project_id: str | None = None) -> Sequence[Memory]:
        """List memories with one of these titles, by id."""
        wanted = set(title_keys)
        return [memory for memory in self._of_project(project_id) if memory.title_key in wanted]

    def find_by_slug(self, slugs: Collection[str], project_id: str | None = None) -> Sequence[Memory]:
        """List memories with one of these slugs, by id."""
        wanted = set(slugs)
        return [memory for memory in self._of_project(project_id) if memory.slug in wanted]

    def search(self, query: TextQuery, where: MemoryFilter, limit: int) -> Sequence[TextHit[int]]:
        """Find memories by text: what matches strictly, then what only matches loosely."""
        documents = {memory.id: _document(memory) for memory in self._matching(where)}
        found: dict[int, TextHit[int]] = {}
        for clause in (query.strict, query.loose):
            hits = [TextHit(id_, score(clause, document)) for id_, document in documents.items() if id_ not in found]
            best = sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.ref))
            found.update({hit.ref: hit for hit in best})
        return list(found.values())[:limit]

    def rare_terms(self, text: str, limit: int) -> Sequence[str]:
        """Return the words of `text` that the fewest memories have, common ones and unknown ones left out."""
        counts = _memories_by_word(self._rows.memories.values())
        known = [word for word in set(words(text)) - self._rows.common_terms if word in counts]
        return sorted(known, key=lambda word: (counts[word], word))[:limit]

    def page(self, where: MemoryFilter, order: MemoryOrder, limit: int, offset: int = 0) -> Sequence[Memory]:
        """List memories in an order; ties by id, in the same direction."""
        is_falling = order is not MemoryOrder.ID
        memories = sorted(self._matching(where), key=lambda memory: _place(memory, order), reverse=is_falling)
        return memories[offset : offset + limit]

    def page_expired(self, now: datetime, unchanged_since: datetime, after: int, limit: int) -> Sequence[int]:
        """List active memories that have had their time, by id."""
        memories = sorted(self._rows.memories.items())
        ids = [id_ for id_, memory in memories if id_ > after and has_expired(memory, now, unchanged_since)]
        return ids[:limit]

    def count(self, where: MemoryFilter) -> int:
        """Count memories."""
        return len(self._matching(where))

    def count_by(self, field: str, where: MemoryFilter) -> Mapping[str, int]:
        """Count memories by one of their fields.

        Raises:
            ValueError: memories are not counted by that.
        """
        if field not in _COUNTED:
            raise ValueError(f"memories are not counted by {field}")
        return Counter(str(getattr(memory, field)) for memory in self._matching(where))

    def mentions_of_memories(self, memory_ids: Collection[int]) -> Sequence[Mention]:
        """List mentions by memory id, then entity id."""
        wanted = set(memory_ids)
        return [mention for key, mention in sorted(self._rows.mentions.items()) if key[0] in wanted]

    def mentions_of_entities(self, entity_ids: Collection[str], limit: int) -> Sequence[Mention]:
        """List mentions, newest memory first, at most `limit` for each entity."""
        wanted, counts, found = set(entity_ids), Counter[str](), list[Mention]()
        for mention in sorted(
            self._rows.mentions.values(), key=lambda mention: (-mention.memory_id, mention.entity_id)
        ):
            if mention.entity_id in wanted and counts[mention.entity_id] < limit:
                counts[mention.entity_id] += 1
                found.append(mention)
        return found

    def open_links(self, memory_ids: Collection[int]) -> Sequence[OpenLink]:
        """List open links by memory id, then target key."""
        wanted = set(memory_ids)
        return [link for key, link in sorted(self._rows.open_links.items()) if key[0] in wanted]

    def find_open_links(self, target_keys: Collection[str]) -> Sequence[OpenLink]:
        """List open links by target key, then memory id."""
        wanted = set(target_keys)
        found = [link for (_, target_key), link in self._rows.open_links.items() if target_key in wanted]
        return sorted(found, key=lambda link: (link.target_key, link.memory_id))

    def versions(self, memory_ids: Collection[int]) -> Sequence[MemoryVersion]:
        """List earlier texts by memory id, then oldest first."""
        wanted = set(memory_ids)
        found = [version for version in self._rows.versions if version.memory_id in wanted]
        return sorted(found, key=lambda version: (version.memory_id, version.replaced_at))

    def _of_project(self, project_id: str | None) -> list[Memory]:
        return [
            memory
            for _, memory in sorted(self._rows.memories.items())
            if project_id is None or memory.project_id == project_id
        ]

    def _matching(self, where: MemoryFilter) -> list[Memory]:
        return [memory for memory in self._rows.memories.values() if where.matches(memory)]


class ReferenceMemoryWriter(ReferenceMemoryReader):
    """Change memories; see `MemoryWriter`."""

    def add(self, memories: Sequence[Memory]) -> Sequence[int]:
        """Add memories and return their ids; none of them on a conflict.

        Raises:
            Conflict: a title, slug, content key or id is taken.
        """
        new: dict[int, Memory] = {}
        last = self._rows.last_memory_id
        for memory in memories:
            if memory.id in self._rows.memories or memory.id in new:
                raise Conflict(f"memory {memory.id} exists", existing_id=memory.id)
            id_ = memory.id or last + 1
            new[id_] = replace(memory, id=id_)
            last = max(last, id_)
        self._keep(new.values())
        self._rows.last_memory_id = last
        return list(new)

    def put(self, memories: Collection[Memory]) -> None:
        """Replace memories, in this order; none of them on a conflict.

        Raises:
            Conflict: a title, slug or content key is taken.
            NotFound: no memory has that id.
        """
        for memory in memories:
            self._existing(memory.id)
        self._keep(memories)

    def delete(self, ids: Collection[int]) -> int:
        """Remove memories with all that hangs on them."""
        rows, doomed = self._rows, set(ids) & self._rows.memories.keys()
        for id_ in doomed:
            for key in unique_keys(rows.memories.pop(id_)):
                del rows.memory_ids[key]
        rows.synapses = {
            key: synapse for key, synapse in rows.synapses.items() if not {key.source_id, key.target_id} & doomed
        }
        rows.mentions = {key: mention for key, mention in rows.mentions.items() if mention.memory_id not in doomed}
        rows.open_links = {key: link for key, link in rows.open_links.items() if link.memory_id not in doomed}
        rows.versions = [version for version in rows.versions if version.memory_id not in doomed]
        rows.delete_vectors(VectorOwner.MEMORY, [str(id_) for id_ in doomed])
        return len(doomed)

    def touch(self, ids: Collection[int], at: datetime) -> None:
        """Count one access of each."""
        for id_, memory in self.find(set(ids)).items():
            touched = replace(memory, accessed_at=at, access_count=memory.access_count + 1)
            self._rows.memories[id_] = stored(touched)

    def set_tags(self, memory_id: int, tags: Collection[str]) -> None:
        """Replace the tags of a memory.

        Raises:
            NotFound: no memory has that id.
        """
        self.put([replace(self._existing(memory_id), tags=tuple(tags))])

    def add_mentions(self, mentions: Collection[Mention]) -> int:
        """Add mentions; return how many are new.

        Raises:
            Conflict: there is no such memory or entity.
        """
        before = len(self._rows.mentions)
        for mention in mentions:
            if mention.memory_id not in self._rows.memories or mention.entity_id not in self._rows.entities:
                raise Conflict(f"a mention needs its memory {mention.memory_id} and its entity {mention.entity_id}")
            self._rows.mentions.setdefault((mention.memory_id, mention.entity_id), stored(mention))
        return len(self._rows.mentions) - before

    def delete_mentions(self, memory_ids: Collection[int]) -> int:
        """Remove the mentions made by these memories."""
        doomed = self.mentions_of_memories(memory_ids)
        for mention in doomed:
            del self._rows.mentions[mention.memory_id, mention.entity_id]
        return len(doomed)

    def put_open_links(self, links: Collection[OpenLink]) -> None:
        """Add or replace open links.

        Raises:
            Conflict: there is no such memory.
        """
        for link in links:
            if link.memory_id not in self._rows.memories:
                raise Conflict(f"an open link needs its memory {link.memory_id}")
            self._rows.open_links[link.memory_id, link.target_key] = link

    def delete_open_links(self, links: Collection[OpenLink]) -> int:
        """Remove open links by memory and target key."""
        doomed = {(link.memory_id, link.target_key) for link in links} & self._rows.open_links.keys()
        for key in doomed:
            del self._rows.open_links[key]
        return len(doomed)

    def add_versions(self, versions: Collection[MemoryVersion]) -> None:
        """Keep earlier texts.

        Raises:
            Conflict: there is no such memory.
        """
        for version in versions:
            if version.memory_id not in self._rows.memories:
                raise Conflict(f"a version needs its memory {version.memory_id}")
            self._rows.versions.append(stored(version))

    def put_versions(self, versions: Mapping[int, Sequence[MemoryVersion]]) -> None:
        """Replace the earlier texts of these memories.

        Raises:
            Conflict: there is no such memory.
        """
        self._rows.versions = [it for it in self._rows.versions if it.memory_id not in versions]
        self.add_versions([it for kept in versions.values() for it in kept])

    def renew_common_terms(self) -> int:
        """Take as common the words that are in more than a tenth of the memories, and in more than fifty."""
        floor = max(_MIN_COMMON, len(self._rows.memories) / 10)
        counts = _memories_by_word(self._rows.memories.values())
        self._rows.common_terms = frozenset(word for word, count in counts.items() if count > floor)
        return len(self._rows.common_terms)

    def _existing(self, memory_id: int) -> Memory:
        if memory_id not in self._rows.memories:
            raise NotFound(f"there is no memory {memory_id}")
        return self._rows.memories[memory_id]

    def _keep(self, memories: Iterable[Memory]) -> None:
        kept, ids = dict(self._rows.memories), dict(self._rows.memory_ids)
        for memory in memories:
            keys = unique_keys(memory)
            for key in keys:
                if (holder := ids.get(key, memory.id)) != memory.id:
                    raise Conflict(f"memory {holder} has the same {key[0]}", existing_id=holder)
            for key in unique_keys(kept[memory.id]) if memory.id in kept else ():
                del ids[key]
            ids.update(dict.fromkeys(keys, memory.id))
            kept[memory.id] = stored(memory)
        self._rows.memories, self._rows.memory_ids = kept, ids


def unique_keys(memory: Memory) -> list[tuple[str, ...]]:
    """List what no two memories of a tenant share: title and slug in their project, the content key at all."""
    title = ("title", memory.project_id, memory.title_key)
    slug = ("slug", memory.project_id, memory.slug)
    return [title, slug] if memory.content_key is None else [title, slug, _content(memory.content_key)]


def _content(key: str) -> tuple[str, ...]:
    return ("content key", key)


def _document(memory: Memory) -> list[Field]:
    return [
        Field(words(memory.title), _TITLE_WEIGHT),
        Field(words(memory.content), _CONTENT_WEIGHT),
        *(Field(words(tag), _TAG_WEIGHT) for tag in memory.tags),
    ]


def _memories_by_word(memories: Collection[Memory]) -> Counter[str]:
    return Counter(word for memory in memories for word in {word for part in _document(memory) for word in part.words})


def _place(memory: Memory, order: MemoryOrder) -> Any:  # noqa: ANN401 - a sort key; all of one call are of one type
    match order:
        case MemoryOrder.NEWEST:
            return (memory.created_at, memory.id)
        case MemoryOrder.CHANGED:
            return (memory.updated_at, memory.id)
        case MemoryOrder.ID:
            return memory.id
