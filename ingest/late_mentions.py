"""Entities that appear later: older memories that name them are joined to them, so that the order of learning is none.

A step looks at the entities that are new since the last one, finds the memories that hold their names, and reads those
again for names: what they name is then as if the entity had been there first. Also where a new, longer name covers a
known one, which then was never meant.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graph_memory.domain.entities import (
    Entity,
    EntityFilter,
    EntityKey,
    EntityOrder,
    JsonValue,
    Provenance,
    SourceType,
)
from graph_memory.domain.instants import EPOCH, parse_instant, to_wire
from graph_memory.domain.ledger import JobRun, RunStatus
from graph_memory.domain.memories import Memory, MemoryFilter, Source
from graph_memory.domain.names import name_key, type_key
from graph_memory.domain.principal import Principal
from graph_memory.domain.queries import Clause, Operator, Term, TextQuery
from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction
from graph_memory.services.links import answer_with_entities, count_targets
from ingest.document_memories import find_made, name_chunks
from ingest.known_names import longest_matches
from ingest.mentions import READ_CHARS, Naming, find_stated, mention, read_names, read_stated
from ingest.name_index import NameIndex, is_findable
from ingest.policies import Policies
from ingest.prepared import named_text
from ingest.sidecars import Sidecar
from ingest.sources import DOCUMENT_TYPE, PROJECT_TYPE, SESSION_TYPE, document_entity_name, session_entity_name
from ingest.withdrawal import withdraw_mentions

JOB = "late_mentions"
MEMORIES_AT_MOST = 500
"""Memories that are looked at for one entity: a name that more have tells little."""
_AT_ONCE = 20
"""Turns that are read in one transaction; documents, which may be long, are read one by one."""
_PARTS_AT_ONCE = 100
_OVERLAP = timedelta(seconds=60)
"""Writes that began earlier may be seen later; what is looked at twice stays as it is."""


@dataclass(frozen=True, slots=True)
class LateMentions:
    """What a step came to; `is_done`: no entity is left that nobody looked at."""

    entities: int = 0
    memories: int = 0
    is_done: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that may name new entities, by one of its memories: a turn's, or any of a document's."""

    memory_id: int
    entity_ids: frozenset[str]
    is_document: bool


@dataclass(frozen=True, slots=True)
class _Position:
    """How far the steps have come: entities made since `since`, of those known at `until` the first `offset`."""

    since: datetime
    until: datetime
    offset: int


def link_late_mentions(
    store: Store,
    principal: Principal,
    clock: Callable[[], datetime],
    policies: Policies,
    index: NameIndex,
    *,
    limit: int = 20,
    should_stop: Callable[[], bool] = lambda: False,
    finished: set[Hit] | None = None,
) -> LateMentions:
    """Do one bounded step: at most `limit` entities, a few texts in each transaction; safe to repeat.

    Once `should_stop` says so, the step ends behind a text. `finished` are the texts that it need not look at
    again, for whoever repeats it; it is emptied when the step is done.

    Raises:
        Unavailable: the store can't be used now; the step begins again the next time.
    """
    now = clock()
    position = store.read(principal, lambda tx: _position(tx, now))
    where = EntityFilter(created_since=position.since)
    entities = store.read(principal, lambda tx: tx.entities.page(where, EntityOrder.ID, limit, position.offset))
    finished = set() if finished is None else finished
    if not entities:
        finished.clear()
        if position.offset:
            _note(store, principal, replace(position, since=position.until - _OVERLAP, offset=0), now)
        return LateMentions()
    store.write(principal, lambda tx: answer_with_entities(tx, entities, now, policies.graph))
    texts = store.read(principal, lambda tx: _texts_that_name(tx, entities))
    for number, some in enumerate(_portions([it for it in texts if it not in finished])):
        if number and should_stop():
            return LateMentions(0, len(finished), is_done=False)
        touched = store.read(principal, lambda tx, some=some: _touched(tx, some, now, policies, index))  # type: ignore[misc]
        if touched:
            store.write(principal, lambda tx, some=touched: _read_again(tx, some, now, policies, index))  # type: ignore[misc]
        finished.update(some)
    finished.clear()
    is_done = len(entities) < limit
    after = replace(position, offset=position.offset + len(entities))
    if is_done:
        after = replace(position, since=position.until - _OVERLAP, offset=0)
    _note(store, principal, after, now)
    return LateMentions(len(entities), len(texts), is_done)


def _position(tx: ReadTransaction, now: datetime) -> _Position:
    run = tx.upkeep.last_success(JOB)
    if run is None:
        return _Position(EPOCH, now, 0)
    since, until, offset = (run.result.get(it) for it in ("since", "until", "offset"))
    assert isinstance(since, str)
    assert isinstance(until, str)
    assert isinstance(offset, int)
    end = parse_instant(until, argument="until").at if offset else now
    return _Position(parse_instant(since, argument="since").at, end, offset)


def _note(store: Store, principal: Principal, position: _Position, now: datetime) -> None:
    result: dict[str, JsonValue] = {
        "since": to_wire(position.since),
        "until": to_wire(position.until),
        "offset": position.offset,
    }
    run = JobRun(JOB, now, RunStatus.SUCCEEDED, now, result)

    def work(tx: WriteTransaction) -> None:
        tx.upkeep.put_run(run)
        tx.upkeep.delete_runs(JOB, 1)

    store.write(principal, work)


def _texts_that_name(tx: ReadTransaction, entities: Sequence[Entity]) -> Sequence[Hit]:
    """Find the texts that may name these entities, each once, however many of its parts do."""
    found = _memories_that_name(tx, entities)
    by_file: dict[str, list[Memory]] = {}
    for memory in tx.memories.find(found.keys()).values():
        if memory.source is Source.IMPORT and memory.content_key is not None:
            by_file.setdefault(memory.source_file or "", []).append(memory)
    hits = []
    for path, memories in by_file.items():
        made = find_made(tx, path)
        parts = set() if made is None else set(made.memory_ids).intersection(it.id for it in memories)
        if parts:
            named = frozenset[str]().union(*(found[it] for it in parts))
            hits.append(Hit(min(parts), named, is_document=True))
        hits += [Hit(it.id, frozenset(found[it.id]), is_document=False) for it in memories if it.id not in parts]
    return sorted(hits, key=lambda hit: hit.memory_id)


def _memories_that_name(tx: ReadTransaction, entities: Sequence[Entity]) -> Mapping[int, set[str]]:
    """Find the memories that may name these entities: ids of entities by memory."""
    aliases = tx.entities.aliases([it.id for it in entities])
    found: dict[int, set[str]] = {}
    for entity in entities:
        for name in (entity.name, *(it.name for it in aliases.get(entity.id, ()))):
            query = TextQuery(name, Clause(Operator.AND, (Term(name),)), None)
            for hit in tx.memories.search(query, MemoryFilter(), MEMORIES_AT_MOST):
                found.setdefault(hit.ref, set()).add(entity.id)
    return found


def _portions(hits: Sequence[Hit]) -> Iterator[Sequence[Hit]]:
    """Cut texts into what one transaction reads."""
    for hit in hits:
        if hit.is_document:
            yield [hit]
    turns = [it for it in hits if not it.is_document]
    for start in range(0, len(turns), _AT_ONCE):
        yield turns[start : start + _AT_ONCE]


def _touched(
    tx: ReadTransaction, hits: Sequence[Hit], now: datetime, policies: Policies, index: NameIndex
) -> Sequence[Hit]:
    """Choose the texts that have to be read again: others wait for no write."""
    readings = _readings(tx, hits, now, policies, index)
    return [hit for hit, reading in readings if reading.is_touched(hit.entity_ids)]


def _read_again(tx: WriteTransaction, hits: Sequence[Hit], now: datetime, policies: Policies, index: NameIndex) -> None:
    """Read texts again for names, documents whole."""
    for hit, reading in _readings(tx, hits, now, policies, index):
        if reading.is_touched(hit.entity_ids):
            reading.apply(tx, hit.entity_ids)


def _readings(
    tx: ReadTransaction, hits: Sequence[Hit], now: datetime, policies: Policies, index: NameIndex
) -> Iterator[tuple[Hit, "_Reading"]]:
    memories = tx.memories.find({it.memory_id for it in hits})
    for hit in hits:
        text = _text_of(tx, memories[hit.memory_id]) if hit.memory_id in memories else None
        if text is not None:
            yield hit, _Reading(tx, text, now, policies, index)


@dataclass(frozen=True, slots=True)
class _Text:
    """A text as it was learned: a turn, or a whole document with its chunks; and the entity it speaks from."""

    memory_id: int
    source_id: str
    text: str
    provenance: Provenance
    chunks: Sequence[Memory] = ()
    weight: float | None = None
    root: str | None = None


def _text_of(tx: ReadTransaction, memory: Memory) -> _Text | None:
    path = memory.source_file or ""
    made = find_made(tx, path)
    if made is not None and memory.id in made.memory_ids:
        source = _entity(tx, DOCUMENT_TYPE, document_entity_name(path))
        parts = _parts_read(tx, made.memory_ids)
        sidecar = Sidecar(made.meta)
        provenance = Provenance(SourceType.DOCUMENT, session=parts[0].session_id, file=path)
        if source is None:
            return None
        body = "".join(it.content for it in parts[1:]) or parts[0].content
        text = named_text(str(source.properties.get("title", "")), body)
        return _Text(parts[0].id, source.id, text, provenance, parts[1:], sidecar.weight)
    if memory.session_id is None:
        return None
    source = _entity(tx, SESSION_TYPE, session_entity_name(memory.session_id))
    provenance = Provenance(SourceType.CONVERSATION, memory.session_id, transcript=path)
    if source is None:
        return None
    project = _entity(tx, PROJECT_TYPE, memory.project_id)
    root = None if project is None else project.properties.get("path")
    return _Text(memory.id, source.id, memory.content, provenance, root=root if isinstance(root, str) else None)


def _parts_read(tx: ReadTransaction, ids: Sequence[int]) -> Sequence[Memory]:
    """Return the memories of a document as far as its text is read for names; the first stands for the whole."""
    parts: list[Memory] = []
    read = 0
    for start in range(0, len(ids), _PARTS_AT_ONCE):
        some = ids[start : start + _PARTS_AT_ONCE]
        found = tx.memories.find(some)
        parts += [found[it] for it in some if it in found]
        read = sum(len(it.content) for it in parts[1:])
        if read > READ_CHARS:
            break
    return parts


def _entity(tx: ReadTransaction, type_name: str, name: str) -> Entity | None:
    key = EntityKey(type_key(type_name), name_key(name))
    return tx.entities.find_by_key({key}).get(key)


class _Reading:
    """One text, read again for names."""

    def __init__(self, tx: ReadTransaction, text: _Text, now: datetime, policies: Policies, index: NameIndex) -> None:
        self._tx, self._text, self._now, self._policies, self._index = tx, text, now, policies, index

    def apply(self, tx: WriteTransaction, entity_ids: Collection[str]) -> None:
        """Store what it names now that these entities are there; other names stay counted as they were."""
        text = self._text
        names = read_names(text.text, self._index, root=text.root)
        # What it shows by itself was stored when it was learned; here it only covers shorter names.
        found = find_stated(self._tx, names.stated)
        known = [it for it, id_ in zip(names.stated, found, strict=True) if id_ is not None]
        names = replace(names, stated=tuple(known))
        before = self._before()
        counted = self._counted(before, set(entity_ids))
        naming = Naming(text.memory_id, text.source_id, names, text.provenance, counted_ids=counted, weight=text.weight)
        named = mention(tx, naming, self._now, self._policies.graph)
        covered = self._covered(before - named.entity_ids, set(entity_ids))
        withdraw_mentions(tx, text.memory_id, text.source_id, covered, self._policies.graph)
        if text.chunks:
            name_chunks(tx, text.chunks, named, self._now)

    def is_touched(self, entity_ids: Collection[str]) -> bool:
        """Tell whether a new entity's name stands in the text and was not counted: most hits are words apart."""
        new = set(entity_ids)
        aliases = self._tx.entities.aliases(new)
        names = {
            id_: {name_key(it.name), *(alias.name_key for alias in aliases.get(id_, ()))}
            for id_, it in self._tx.entities.find(new).items()
        }
        # Others are not found when a text is read the first time, and the order must not matter.
        findable = {name for some in names.values() for name in some if is_findable(name)}
        matches = set(longest_matches(self._text.text[:READ_CHARS], findable))
        named = {id_ for id_, some in names.items() if some & matches} - {self._text.source_id}
        return bool(named - self._counted(named & self._before(), named))

    def _before(self) -> set[str]:
        return {it.entity_id for it in self._tx.memories.mentions_of_memories({self._text.memory_id})}

    def _counted(self, before: set[str], new: set[str]) -> set[str]:
        """Return what the text was counted to name: of new entities what their evidence says, not what links say."""
        evidence = self._tx.entities.evidence(before & new)
        uncounted = {
            id_
            for id_ in before & new
            if all(it.provenance.memory_id != self._text.memory_id for it in evidence.get(id_, ()))
        }
        return before - uncounted

    def _covered(self, unnamed: set[str], new: set[str]) -> set[str]:
        """Return what the text seemed to name only because a part of a new, longer name is called so."""
        if not unnamed:
            return set()
        longer = [name_key(it.name) for it in self._tx.entities.find(new).values()]
        stated = {
            it for it in find_stated(self._tx, read_stated(self._text.text, root=self._text.root)) if it is not None
        }
        linked = {name_key(it) for it in count_targets(self._text.text)}
        covered = set()
        for id_, entity in self._tx.entities.find(unnamed - stated).items():
            key = name_key(entity.name)
            if key not in linked and any(key in it and key != it for it in longer):
                covered.add(id_)
        return covered
