"""Documents as memories and graph: added, changed, known, all in the caller's transaction.

The same content adds nothing, whatever it is called. A path that has other content changes the memory that it made.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from graph_memory.domain.entities import JsonValue, Provenance, SourceType
from graph_memory.domain.errors import IngestError
from graph_memory.domain.ledger import IngestItem, IngestState
from graph_memory.domain.linking import structure_synapses
from graph_memory.domain.memories import ConnectionType, Memory, Mention, Status, SynapseKey
from graph_memory.domain.names import name_key, type_key
from graph_memory.domain.relations import RelationKey
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from graph_memory.services.links import claim_names
from graph_memory.services.rewrite import put_memory_text
from graph_memory.services.write import add_memories, add_parts, redaction_events
from ingest.known_names import longest_matches
from ingest.mentions import MENTIONS_KEY, READ_CHARS, Mentioned, Naming, mention, read_names, read_stated
from ingest.name_index import NameIndex
from ingest.policies import Policies
from ingest.prepared import Prepared
from ingest.sources import document_entity_name, put_document
from ingest.titles import free_title

FORGOTTEN = "this content was forgotten for good (graph_forget) and is not learned again"


@dataclass(frozen=True, slots=True)
class Stored:
    """What storing a document came to: its memories, the whole one first, and how much it names."""

    memory_ids: tuple[int, ...]
    entity_count: int = 0
    relation_count: int = 0
    is_known: bool = False


def find_made(tx: ReadTransaction, path: str) -> IngestItem | None:
    """Find the document that has its memory from this path: the latest one that was learned."""
    for item in tx.ledger.find_items_by_path({path}).get(path, ()):
        if item.state is IngestState.COMPLETED and item.memory_ids:
            memory = tx.memories.find({item.memory_ids[0]}).get(item.memory_ids[0])
            if memory is not None and memory.source_file == path:
                return item
    return None


def store_document(
    tx: WriteTransaction,
    document: Prepared,
    now: datetime,
    policies: Policies,
    index: NameIndex,
    *,
    staged: Sequence[int] = (),
) -> Stored:
    """Store a document; `staged` are its chunks where they were stored before, in slices.

    Raises:
        IngestError: it was forgotten for good.
    """
    if document.key in tx.ledger.tombstones({document.key}):
        raise IngestError(FORGOTTEN)
    known = tx.memories.find_by_content_key({document.key}).get(document.key)
    made = find_made(tx, document.path)
    last = _latest(tx, document.path)
    if last is not None and made is not None and last.id != made.id and last.content_key != document.key:
        _retire(tx, last, now)  # the memory of another path, whose content this one had
    if known is not None:
        stored = _known(tx, document.key, known)
        if made is not None and made.memory_ids[0] != known.id:
            _retire(tx, made, now)
        if known.status is Status.SUPERSEDED and _was_retired(tx, known):
            _set_status(tx, stored.memory_ids, Status.ACTIVE, now)
        return stored
    if made is None:
        return _Writing(tx, document, now, policies, index).add(staged)
    return _change(_Writing(tx, document, now, policies, index), tx, made, staged)


def _known(tx: ReadTransaction, key: str, memory: Memory) -> Stored:
    items = tx.ledger.find_items_by_content({key}).get(key, ())
    first = next((it for it in items if it.memory_ids[:1] == (memory.id,)), None)
    if first is None:
        return Stored((memory.id,), is_known=True)
    return Stored(first.memory_ids, first.entity_count, first.relation_count, is_known=True)


def _was_retired(tx: ReadTransaction, memory: Memory) -> bool:
    """Tell whether the path that made a memory has other content now: then we took it out of use, and nobody else."""
    latest = _latest(tx, memory.source_file or "")
    return latest is not None and latest.content_key != memory.content_key


def _latest(tx: ReadTransaction, path: str) -> IngestItem | None:
    """Find the document that was learned last from a path."""
    items = tx.ledger.find_items_by_path({path}).get(path, ())
    return next((it for it in items if it.state is IngestState.COMPLETED and it.memory_ids), None)


def _retire(tx: WriteTransaction, made: IngestItem, now: datetime) -> None:
    """Take the old text of a path out of use, now that another memory has its content; unless others have that text."""
    if not _sharers(tx, made):
        _set_status(tx, made.memory_ids, Status.SUPERSEDED, now)


def _set_status(tx: WriteTransaction, ids: Collection[int], status: Status, now: datetime) -> None:
    found = tx.memories.find(ids)
    tx.memories.put([replace(it, status=status, updated_at=now) for it in found.values()])


def _sharers(tx: ReadTransaction, made: IngestItem) -> Sequence[IngestItem]:
    """List the other paths whose latest content is what this one's was."""
    same = [
        it
        for it in tx.ledger.find_items_by_content({made.content_key}).get(made.content_key, ())
        if it.path != made.path and it.state is IngestState.COMPLETED
    ]
    latest = tx.ledger.find_items_by_path({it.path for it in same})
    return [it for it in same if latest[it.path][0].id == it.id]


def _change(writing: "_Writing", tx: WriteTransaction, made: IngestItem, staged: Sequence[int]) -> Stored:
    """Give the memory that a path made its new text; what other paths share of the old one becomes theirs."""
    found = tx.memories.find(made.memory_ids)
    before = [found[it] for it in made.memory_ids if it in found]
    sharers = _sharers(tx, made)
    stored = writing.change(before, staged)
    if sharers:
        theirs = writing.copied(made.content_key, sharers[0].path, before)
        tx.ledger.put_items([replace(it, memory_ids=theirs.memory_ids) for it in sharers])
    return stored


def _of_memories(document: Prepared, key: str, path: str, memories: Sequence[Memory], index: NameIndex) -> Prepared:
    """Return the document that memories were made of, under another path."""
    whole = memories[0]
    return replace(
        document,
        key=key,
        path=path,
        titles=tuple(it.title for it in memories),
        texts=tuple(it.content for it in memories),
        other_titles=(f"{whole.title} ({path})",),
        names=read_names("\n".join(it.content for it in memories), index, tags=whole.tags),
        project_id=whole.project_id,
        tags=whole.tags,
        written_at=whole.created_at,
        session_id=whole.session_id,
        redactions={},
    )


class _Writing:
    """Writes one document."""

    def __init__(
        self, tx: WriteTransaction, document: Prepared, now: datetime, policies: Policies, index: NameIndex
    ) -> None:
        self._tx, self._document, self._now, self._policies, self._index = tx, document, now, policies, index
        self._provenance = Provenance(SourceType.DOCUMENT, session=document.session_id, file=document.path)
        self._linked: dict[int, tuple[str, ...]] = {}

    def add(self, staged: Sequence[int]) -> Stored:
        """Store a new document."""
        drafts = self._document.drafts() if not staged else [self._document.draft(0)]
        added = add_memories(self._tx, drafts, self._now, self._policies.memory, links_within=False)
        self._linked = {it.id: it.mentions for it in added}
        self._claim_names(added[0].id)
        ids = [it.id for it in added] + list(staged)
        return self._finish(ids, counted=(), is_staged=bool(staged))

    def copied(self, key: str, path: str, memories: Sequence[Memory]) -> Stored:
        """Store what memories were before as another path's document."""
        theirs = _of_memories(self._document, key, path, memories, self._index)
        return _Writing(self._tx, theirs, self._now, self._policies, self._index).add(())

    def change(self, old: Sequence[Memory], staged: Sequence[int]) -> Stored:
        """Give a stored document its new text: the memory stays, chunks that have a successor become it."""
        whole, chunks = old[0], old[1:]
        counted = [it.entity_id for it in self._tx.memories.mentions_of_memories({whole.id})]
        self._unjoin([it.id for it in old])
        self._tx.memories.delete_mentions({it.id for it in chunks})
        self._rewrite(whole, 0)
        self._claim_names(whole.id)
        ids = [whole.id, *(staged or self._rewrite_chunks(chunks))]
        surplus = [it for it in chunks if it.id not in ids]
        gone = [replace(it, status=Status.SUPERSEDED, content_key=None, updated_at=self._now) for it in surplus]
        self._tx.memories.put(gone)
        return self._finish(ids, counted, is_staged=bool(staged))

    def _rewrite_chunks(self, old: Sequence[Memory]) -> list[int]:
        """Return the ids of the new chunks: an old one of the same title goes on, else the next that is free."""
        document, by_title = self._document, {it.title: it for it in old}
        successors = {number: by_title.pop(title) for number, title in enumerate(document.titles) if title in by_title}
        free = list(by_title.values())
        for number in range(1, len(document.texts)):
            if number not in successors and free:
                successors[number] = free.pop(0)
        # Their keys first go out of the way of one another.
        self._tx.memories.put([replace(it, content_key=None) for it in successors.values()])
        ids = {number: self._rewrite(memory, number) for number, memory in sorted(successors.items())}
        new = [number for number in range(1, len(document.texts)) if number not in ids]
        drafts = [document.draft(number) for number in new]
        added = add_memories(self._tx, drafts, self._now, self._policies.memory, links_within=False)
        self._linked.update((it.id, it.mentions) for it in added)
        ids.update((number, it.id) for number, it in zip(new, added, strict=True))
        return [ids[number] for number in sorted(ids)]

    def _rewrite(self, memory: Memory, number: int) -> int:
        document = self._document
        draft = document.draft(number)
        titles = (draft.title, *draft.other_titles)
        title = free_title(self._tx, titles, document.content_key(number), document.project_id, memory.id)
        changed = replace(
            memory,
            project_id=document.project_id,
            tags=document.tags,
            created_at=document.written_at or memory.created_at,
            session_id=document.session_id,
            content_key=draft.content_key,
            status=Status.ACTIVE if memory.status is Status.SUPERSEDED else memory.status,
        )
        written = put_memory_text(
            self._tx,
            changed,
            title,
            draft.content,
            self._now,
            self._policies.memory,
            is_auto_linked=draft.is_auto_linked,
        )
        self._linked[memory.id] = written.mentions
        return memory.id

    def _claim_names(self, id_: int) -> None:
        """Let links by the name of the file, or by a title that is taken, know of the document."""
        memory = self._tx.memories.find({id_})[id_]
        claim_names(self._tx, memory, self._document.titles[0], self._now, self._policies.memory)

    def _unjoin(self, ids: Sequence[int]) -> None:
        whole, chunks = ids[0], ids[1:]
        keys = [SynapseKey(whole, it, ConnectionType.PARENT_CHILD) for it in chunks]
        keys += [SynapseKey(a, b, ConnectionType.SEQUENCE) for a, b in pairwise(chunks)]
        if keys:
            self._tx.synapses.delete(keys)

    def _finish(self, ids: Sequence[int], counted: Collection[str], *, is_staged: bool) -> Stored:
        """Join the parts, those that were stored ahead to the whole alone, and store what the document names."""
        document = self._document
        if is_staged:
            pairs = [(ids[0], it) for it in ids[1:]]
            self._tx.synapses.put(structure_synapses(pairs, ConnectionType.PARENT_CHILD, self._now))
        elif len(ids) > 1:
            add_parts(self._tx, ids[0], ids[1:], self._now)
        self._tx.upkeep.add_audit(redaction_events(ids[0], document.redactions, self._now))
        source = put_document(
            self._tx, document.path, self._properties(ids[0]), self._provenance, self._now, self._policies.graph
        )
        linked = {entity for entities in self._linked.values() for entity in entities}
        naming = Naming(ids[0], source, document.names, self._provenance, linked, counted, document.weight)
        named = mention(self._tx, naming, self._now, self._policies.graph)
        self._index.note([document_entity_name(document.path), *named.created])
        self._let_go(source, ids[0], set(counted) - named.entity_ids)
        if len(ids) > 1:
            chunks = self._tx.memories.find(ids[1:])
            name_chunks(self._tx, [chunks[it] for it in ids[1:]], named, self._now)
        return Stored(tuple(ids), len(named.entity_ids) + 1, len(named.entity_ids))

    def _properties(self, memory_id: int) -> Mapping[str, JsonValue]:
        document = self._document
        values: dict[str, JsonValue] = {"title": document.titles[0], "memory_id": memory_id, "source": document.source}
        if document.written_at is not None:
            values["date"] = document.written_at.isoformat()
        return {name: value for name, value in values.items() if value is not None}

    def _let_go(self, source: str, memory_id: int, dropped: Collection[str]) -> None:
        """End what the text no longer names: it did until now."""
        if not dropped:
            return
        mentions = self._tx.memories.mentions_of_memories({memory_id})
        self._tx.memories.delete_mentions({memory_id})
        self._tx.memories.add_mentions([it for it in mentions if it.entity_id not in dropped])
        keys = {RelationKey(source, MENTIONS_KEY, it) for it in dropped}
        current = self._tx.relations.find_current(keys)
        self._tx.relations.put([replace(it, invalid_at=self._now) for it in current.values()])


def name_chunks(tx: WriteTransaction, chunks: Sequence[Memory], named: Mentioned, now: datetime) -> None:
    """Note which chunk of a document names what, as far as the document was read for names."""
    mentions = []
    seen = 0
    for chunk in chunks:
        seen += len(chunk.content)
        if seen > READ_CHARS:
            break
        mentions += [Mention(chunk.id, entity, now) for entity in sorted(_named_in(chunk.content, named))]
    if mentions:
        tx.memories.add_mentions(mentions)


def _named_in(text: str, named: Mentioned) -> set[str]:
    known = longest_matches(text, named.known.keys())
    found = {id_ for key in known for id_ in named.known[key]}
    stated = {(type_key(it.type or ""), name_key(it.name)) for it in read_stated(text)}
    return found | {id_ for key, id_ in named.stated.items() if tuple(key) in stated}
