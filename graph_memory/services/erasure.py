"""What a reach covers in the store, and its erasure there: planned from what is read, applied in one transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graph_memory.domain.entities import Entity, EntityKey, Evidence, Provenance, SourceType
from graph_memory.domain.forgetting import Affected, ErasedSource, GraphLoss, Reach, plan_loss
from graph_memory.domain.ledger import ORIGIN, IngestItem, IngestState, Tombstone
from graph_memory.domain.memories import (
    GLOBAL_PROJECT,
    Memory,
    MemoryFilter,
    MemoryOrder,
)
from graph_memory.domain.names import name_key, type_key
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.relations import Relation, RelationFilter
from graph_memory.domain.tombstones import (
    Forgotten,
    Grave,
    dates_grave,
    entity_grave,
    grave_key,
    memory_graves,
    project_of,
    session_of,
    stub_of,
)
from graph_memory.ports.graph_rows import EvidenceSources
from graph_memory.ports.store import ReadTransaction

PAGE = 1_000
EVERY_VERSION = RelationFilter(current_only=False)
PROJECT_KEY = type_key("Project")
_ALL = 1_000_000_000
_REACH = "reach: "
_OF_SESSIONS = frozenset({"source_session", "source_file", "project"})
"""Reaches that take sessions whole."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """All that a reach covers, and what its going does to the rest.

    `memories` and `items` go; `waiting` are content keys of documents that the store knows nothing of. `learned` are
    those of turns and their parts. `tombstones` are to be left.
    `entities` and `relations` are the rows before. `named_in` counts memories that stay and name an entity that goes.
    """

    reach: Reach
    memories: Mapping[int, Memory] = field(default_factory=dict)
    items: Sequence[IngestItem] = ()
    waiting: frozenset[str] = frozenset()
    learned: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    tombstones: tuple[Tombstone, ...] = ()
    loss: GraphLoss = field(default_factory=GraphLoss)
    entities: Mapping[str, Entity] = field(default_factory=dict)
    named_in: int = 0

    @property
    def is_empty(self) -> bool:
        """Tell whether the store has nothing of it."""
        loss = self.loss
        touched = loss.touched_entities or loss.gone_relations or loss.relations
        return not (self.memories or self.items or self.waiting or touched)

    @property
    def names(self) -> frozenset[str]:
        """The names of the entities that go, and their ids, which are made of them."""
        gone = self.loss.gone_entities
        return gone.union(it.name for id_, it in self.entities.items() if id_ in gone)

    @property
    def source(self) -> ErasedSource:
        """What of it lies beside the store."""
        reach = self.reach
        return ErasedSource(
            paths=frozenset(it.path for it in self.items),
            file=reach.source_file,
            documents={it.content_key: it.size for it in self.items},
            turns=self.learned.union(it.content_key for it in self.memories.values() if it.content_key is not None),
            sessions=self.sessions if reach.kind in _OF_SESSIONS else frozenset(),
            project=reach.project,
            names=self.names,
        )


def plan_erasure(
    tx: ReadTransaction, reach: Reach, now: datetime, policy: GraphPolicy, waiting: Iterable[str] = ()
) -> Erasure:
    """Find what a reach covers; `waiting` are content keys of documents of it that nobody has learned."""
    return _Plan(tx, reach, now, policy, frozenset(waiting)).made()


class _Plan:
    """A plan in the making."""

    def __init__(
        self, tx: ReadTransaction, reach: Reach, now: datetime, policy: GraphPolicy, waiting: frozenset[str]
    ) -> None:
        self._tx, self._reach, self._now, self._policy, self._waiting = tx, reach, now, policy, waiting
        self._sessions = self._named_sessions()
        self._memories = {it.id: it for it in self._covered_memories()}
        self._items = self._covered_items()
        more = {id_ for item in self._items for id_ in item.memory_ids} - self._memories.keys()
        self._memories.update(tx.memories.find(more))

    def made(self) -> Erasure:
        """Return the plan."""
        ids = self._memories.keys()
        learned = frozenset(self._tx.ledger.find_learned_of(ids)) if ids else frozenset[str]()
        emptied = self._emptied_sessions()
        files = self._emptied_files()
        hollow = self._hollow_projects()
        doomed = self._tx.entities.find({self._reach.entity_id}) if self._reach.entity_id is not None else {}
        stones = dict.fromkeys(self._stones(learned, emptied, files, doomed))
        tombstones = [self._tombstone(it) for it in stones]
        affected = self._affected(emptied, files, doomed, hollow)
        forgotten = Forgotten.told_by(tombstones)

        def is_lost(piece: Evidence) -> bool:
            return forgotten.has_evidence(piece, ids)

        loss = plan_loss(affected, is_lost, self._policy)
        gone_projects = (it for id_, it in hollow.items() if id_ in loss.gone_entities)
        tombstones += [self._tombstone(entity_grave(it.key, Grave.ENTITY_UNTIL)) for it in gone_projects]
        return Erasure(
            self._reach,
            self._memories,
            self._items,
            self._waiting,
            learned,
            frozenset(self._sessions | emptied),
            tuple(tombstones),
            loss,
            affected.entities,
            self._named_in(doomed),
        )

    # What came from the source

    def _named_sessions(self) -> set[str]:
        """Return the sessions that the reach names: one, or that of a transcript."""
        if self._reach.source_session is not None:
            return {self._reach.source_session}
        path = self._reach.source_file
        if path is None:
            return set()
        cursor = self._tx.ledger.transcript_cursors({path}).get(path)
        return {cursor.session_id} if cursor is not None and cursor.session_id is not None else set()

    def _covered_memories(self) -> Iterator[Memory]:
        reach = self._reach
        if reach.memory_id is not None:
            yield from self._tx.memories.find({reach.memory_id}).values()
        filters = [MemoryFilter(session_id=it, statuses=None) for it in sorted(self._sessions)]
        if reach.source_file is not None:
            filters.append(MemoryFilter(source_file=reach.source_file, statuses=None))
        if reach.project is not None:
            filters.append(MemoryFilter(project_id=reach.project, is_project_exact=True, statuses=None))
        if reach.dates is not None:
            since, until = reach.dates.since, reach.dates.until
            filters.append(MemoryFilter(created_since=since, created_before=until, statuses=None))
        for where in filters:
            offset = 0
            while page := self._tx.memories.page(where, MemoryOrder.ID, PAGE, offset):
                yield from page
                offset += len(page)

    def _covered_items(self) -> Sequence[IngestItem]:
        """Find the documents that the memories were made of, and those that are of the source themselves."""
        keys = self._waiting.union(it.content_key for it in self._memories.values() if it.content_key is not None)
        found = [it for it in self._every_item() if self._is_covered(it)]
        keys |= {it.content_key for it in found}
        same = self._tx.ledger.find_items_by_content(keys) if keys else {}
        items = {it.id: it for it in (*found, *(item for items in same.values() for item in items))}
        return [items[it] for it in sorted(items)]

    def _every_item(self) -> Iterator[IngestItem]:
        if self._reach.entity_id is not None:
            return
        for state in IngestState:
            offset = 0
            while page := self._tx.ledger.page_items(state, PAGE, offset):
                yield from page
                offset += len(page)

    def _is_covered(self, item: IngestItem) -> bool:
        reach = self._reach
        return (
            not self._memories.keys().isdisjoint(item.memory_ids)
            or (reach.source_file is not None and reach.source_file in (item.path, item.meta.get(ORIGIN)))
            or session_of(item.meta) in self._sessions
            or (reach.project is not None and project_of(item.meta) == reach.project)
        ) and item != stub_of(item)

    def _emptied_sessions(self) -> set[str]:
        """Return the sessions of which nothing is left; of one note alone, nobody says that its session goes."""
        if self._reach.memory_id is not None:
            return set()
        candidates = {it.session_id for it in self._memories.values() if it.session_id is not None}
        return {it for it in candidates if self._is_emptied(MemoryFilter(session_id=it, statuses=None))}

    def _emptied_files(self) -> set[str]:
        candidates = {it.source_file for it in self._memories.values() if it.source_file is not None}
        emptied = {it for it in candidates if self._is_emptied(MemoryFilter(source_file=it, statuses=None))}
        paths = {it.path for it in self._items}
        named = set() if self._reach.source_file is None else {self._reach.source_file}
        return emptied | paths | named

    def _is_emptied(self, where: MemoryFilter) -> bool:
        return self._tx.memories.count(where) == sum(where.matches(it) for it in self._memories.values())

    def _hollow_projects(self) -> Mapping[str, Entity]:
        """Find the projects of which nothing is left, and that nobody spoke of but whoever read their sessions."""
        candidates = {it.project_id for it in self._memories.values()} - {GLOBAL_PROJECT}
        emptied = {
            it
            for it in candidates
            if self._is_emptied(MemoryFilter(project_id=it, is_project_exact=True, statuses=None))
        }
        found = self._tx.entities.find_by_key({EntityKey(PROJECT_KEY, name_key(it)) for it in emptied})
        projects = {it.id: it for it in found.values() if "path" in it.properties}
        evidence = self._tx.entities.evidence(projects.keys())
        unsourced = Provenance(SourceType.CONVERSATION)
        return {
            id_: it
            for id_, it in projects.items()
            if all(piece.provenance == unsourced for piece in evidence.get(id_, ()))
        }

    # What it leaves

    def _stones(
        self, learned: Iterable[str], emptied: set[str], files: set[str], doomed: Mapping[str, Entity]
    ) -> Iterator[str]:
        """Yield the keys of the tombstones."""
        reach = self._reach
        versions = self._tx.memories.versions(self._memories.keys()) if self._memories else ()
        for memory in self._memories.values():
            if memory.content_key is not None:
                yield memory.content_key
            yield from memory_graves(memory, (it for it in versions if it.memory_id == memory.id))
        yield from learned
        yield from self._waiting
        yield from (it.content_key for it in self._items)
        yield from (grave_key(Grave.SESSION, it) for it in sorted(self._sessions))
        yield from (grave_key(Grave.SESSION_UNTIL, it) for it in sorted(emptied - self._sessions))
        yield from (grave_key(Grave.FILE_UNTIL, it) for it in sorted(files))
        if reach.project is not None:
            yield grave_key(Grave.PROJECT_UNTIL, reach.project)
        if reach.dates is not None:
            yield dates_grave(reach.dates)
        aliases = self._tx.entities.aliases(doomed.keys()) if doomed else {}
        for id_, entity in doomed.items():
            yield entity_grave(entity.key)
            yield from (entity_grave(EntityKey(entity.key.type_key, it.name_key)) for it in aliases.get(id_, ()))

    def _tombstone(self, key: str) -> Tombstone:
        return Tombstone(key, _REACH + self._reach.kind, self._now)

    def _affected(
        self, emptied: set[str], files: set[str], doomed: Mapping[str, Entity], hollow: Mapping[str, Entity]
    ) -> Affected:
        """Read the rows that lose evidence, with what holds or replaced them."""
        tx, dates = self._tx, self._reach.dates
        sources = EvidenceSources(
            sorted(self._sessions | emptied),
            sorted(files),
            sorted(self._memories),
            None if dates is None else dates.since,
            None if dates is None else dates.until,
        )
        entities = {**tx.entities.find(tx.entities.find_supported(sources)), **doomed, **hollow}
        relations = dict(tx.relations.find(tx.relations.find_supported(sources)))
        relations.update((it.id, it) for it in self._at(doomed.keys()))
        holding = [it for it in self._at(entities.keys()) if it.id not in relations]
        starts = {it.key[:2] for it in relations.values()}
        rivals: Sequence[Relation] = ()
        if starts:
            rivals = tx.relations.find_from({it for it, _ in starts}, {it for _, it in starts}, EVERY_VERSION)
        return Affected(
            entities,
            tx.entities.evidence(entities.keys()) if entities else {},
            relations,
            tx.relations.evidence(relations.keys()) if relations else {},
            rivals=[it for it in rivals if it.key[:2] in starts],
            doomed=frozenset(doomed),
            hollow=frozenset(hollow),
            held=frozenset(end for it in holding for end in (it.source_id, it.target_id)) | self._mentioned(entities),
        )

    def _at(self, ids: Iterable[str]) -> Sequence[Relation]:
        wanted = set(ids)
        return self._tx.relations.neighbours(wanted, EVERY_VERSION, limit=_ALL) if wanted else ()

    def _mentioned(self, entities: Mapping[str, Entity]) -> frozenset[str]:
        """Return those that a memory which stays mentions: one more than go is looked at of each."""
        if not entities:
            return frozenset()
        found = self._tx.memories.mentions_of_entities(entities.keys(), len(self._memories) + 1)
        return frozenset(it.entity_id for it in found if it.memory_id not in self._memories)

    def _named_in(self, doomed: Mapping[str, Entity]) -> int:
        if not doomed:
            return 0
        return len({it.memory_id for it in self._tx.memories.mentions_of_entities(doomed.keys(), _ALL)})
