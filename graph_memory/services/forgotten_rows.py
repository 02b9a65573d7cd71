"""A backup without what was forgotten since: the rows that are left, as if their sources alone had been there."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from graph_memory.domain.backups import BackupRow, EntityEvidence, RelationEvidence, StoredRow
from graph_memory.domain.entities import Entity, Evidence
from graph_memory.domain.forgetting import Affected, GraphLoss, plan_loss
from graph_memory.domain.ledger import IngestItem, Tombstone
from graph_memory.domain.memories import Memory
from graph_memory.domain.names import type_key
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.relations import Relation
from graph_memory.domain.tombstones import Forgotten, Grave, stub_of
from graph_memory.ports.store import ReadTransaction

PAGE = 5_000
_FEW = 50
T = TypeVar("T", Memory, Entity, Relation, IngestItem, Tombstone)


def every_tombstone(tx: ReadTransaction) -> Iterator[Tombstone]:
    """Yield all that a tenant forgot, by key."""
    after: str | None = None
    while page := tx.ledger.page_tombstones(after, PAGE):
        yield from page
        after = page[-1].content_key


def find_forgotten(tx: ReadTransaction, keys: Collection[str]) -> Forgotten:
    """Find what of these keys was forgotten, and all forgotten stretches of time."""
    stones = list(tx.ledger.tombstones(keys).values()) if keys else []
    after = f"{Grave.DATES}:"
    while page := tx.ledger.page_tombstones(after, _FEW):
        spans = [it for it in page if it.content_key.startswith(f"{Grave.DATES}:")]
        stones += spans
        after = page[-1].content_key
        if len(spans) < _FEW:
            break
    return Forgotten.told_by(stones)


class SurvivingRows:
    """The rows of a backup that were not forgotten; `read` gives all of them, in order, each time it is called.

    Rows are decoded only where they may be touched: a year of backups is looked through while somebody waits. What is
    held in memory is what the forgotten rows touch.
    """

    def __init__(
        self, read: Callable[[], Iterable[StoredRow]], tombstones: Iterable[Tombstone], policy: GraphPolicy
    ) -> None:
        self._read = read
        self._tombstones = list(tombstones)
        self._forgotten = Forgotten.told_by(self._tombstones)
        self._lost = _Lost()
        self._loss = GraphLoss()
        if self._forgotten:
            self._look()
        if not self._lost.is_nothing:
            self._loss = plan_loss(self._affected(), self._is_lost, policy)

    @property
    def forgotten(self) -> int:
        """How many memories are left out."""
        return len(self._lost.memories)

    @property
    def is_whole(self) -> bool:
        """Tell whether nothing is left out or changed, and all tombstones are there."""
        return self._lost.is_nothing and {it.content_key for it in self._tombstones} <= self._lost.tombstones.keys()

    def rows(self) -> Iterator[BackupRow]:
        """Yield what is left, decoded."""
        left = _Left(self._lost, self._loss, self._is_lost)
        for row in self._read():
            kept = left.of(row)
            if kept is row:
                yield row.row
            elif kept is not None:
                yield cast("BackupRow", kept)

    def stored(self, *, with_tombstones: bool = False) -> Iterator[StoredRow | BackupRow]:
        """Yield what is left, as it stands in the file where nothing changes it.

        `with_tombstones` adds those that the file does not have.
        """
        left = _Left(self._lost, self._loss, self._is_lost)
        for row in self._read():
            if row.kind == "tombstone" and with_tombstones:
                continue
            kept = left.of(row)
            if kept is not None:
                yield kept
        if with_tombstones:
            stones = self._lost.tombstones | {it.content_key: it for it in self._tombstones}
            yield from (stones[key] for key in sorted(stones))

    def _is_lost(self, piece: Evidence) -> bool:
        return self._forgotten.has_evidence(piece, self._lost.memories)

    def _look(self) -> None:
        """Find what is forgotten, and what has evidence from it."""
        lookers: dict[str, Callable[[StoredRow], None]] = {
            "memory": self._look_at_memory,
            "entity_evidence": self._look_at_evidence,
            "relation_evidence": self._look_at_evidence,
            "ingest_item": self._look_at_item,
            "learned": self._look_at_learned,
            "tombstone": self._look_at_tombstone,
        }
        if self._forgotten.has_entities:
            lookers["entity"] = self._look_at_entity
        for row in self._read():
            looker = lookers.get(row.kind)
            if looker is not None:
                looker(row)

    def _look_at_memory(self, row: StoredRow) -> None:
        memory = _as(Memory, row)
        if self._forgotten.has_memory(memory):
            self._lost.memories.add(memory.id)

    def _look_at_entity(self, row: StoredRow) -> None:
        entity = _as(Entity, row)
        if self._forgotten.has_entity(entity):
            self._lost.doomed.add(entity.id)
        elif self._forgotten.has_entity(entity, Grave.ENTITY_UNTIL):
            self._lost.hollow.add(entity.id)

    def _look_at_evidence(self, row: StoredRow) -> None:
        source = row.fields["evidence"]["provenance"]
        is_made_by_gone = source["memory_id"] in self._lost.memories
        is_suspect = is_made_by_gone or self._forgotten.may_have(source["session"], source["file"])
        if is_suspect and self._is_lost(_evidence(row)):
            losing = self._lost.entities if row.kind == "entity_evidence" else self._lost.relations
            losing.add(_subject(row))

    def _look_at_item(self, row: StoredRow) -> None:
        item = _as(IngestItem, row)
        if self._forgotten.has_item(item, self._lost.memories) and item != stub_of(item):
            self._lost.items[row.number] = stub_of(item)

    def _look_at_learned(self, row: StoredRow) -> None:
        if self._forgotten.has_key(row.fields["key"]) or row.fields["memory_id"] in self._lost.memories:
            self._lost.learned.add(row.number)

    def _look_at_tombstone(self, row: StoredRow) -> None:
        stone = _as(Tombstone, row)
        self._lost.tombstones[stone.content_key] = stone

    def _affected(self) -> Affected:
        """Read the rows that lose something, with what holds or replaced them."""
        lost, loss = self._lost, _Touched(self._lost)
        for row in self._read():
            loss.take(row)
        starts = {it.key[:2] for it in loss.relations.values()}
        return Affected(
            loss.entities,
            _in_time(loss.entity_evidence),
            loss.relations,
            _in_time(loss.relation_evidence),
            rivals=self._rivals(starts),
            doomed=frozenset(lost.doomed),
            hollow=frozenset(lost.hollow),
            held=frozenset(loss.held),
        )

    def _rivals(self, starts: set[tuple[str, str]]) -> list[Relation]:
        if not starts:
            return []
        relations = (row for row in self._read() if row.kind == "relation")
        found = (it for it in relations if (it.fields["source_id"], type_key(it.fields["type"])) in starts)
        return [_as(Relation, it) for it in found]


class _Touched:
    """The rows that lose evidence, as they are gathered."""

    def __init__(self, lost: "_Lost") -> None:
        self._lost = lost
        self._touched = lost.entities | lost.doomed | lost.hollow
        self.entities: dict[str, Entity] = {}
        self.relations: dict[str, Relation] = {}
        self.entity_evidence: defaultdict[str, list[Evidence]] = defaultdict(list)
        self.relation_evidence: defaultdict[str, list[Evidence]] = defaultdict(list)
        self.held = set[str]()
        self._takers: Mapping[str, Callable[[StoredRow], None]] = {
            "entity": self._take_entity,
            "entity_evidence": self._take_entity_evidence,
            "relation": self._take_relation,
            "relation_evidence": self._take_relation_evidence,
            "mention": self._take_mention,
        }

    def take(self, row: StoredRow) -> None:
        """Take a row in, if it is one of them or holds one of them."""
        taker = self._takers.get(row.kind)
        if taker is not None:
            taker(row)

    def _take_entity(self, row: StoredRow) -> None:
        if row.fields["id"] in self._touched:
            self.entities[row.fields["id"]] = _as(Entity, row)

    def _take_entity_evidence(self, row: StoredRow) -> None:
        if _subject(row) in self._touched:
            self.entity_evidence[_subject(row)].append(_evidence(row))

    def _take_relation(self, row: StoredRow) -> None:
        ends = {row.fields["source_id"], row.fields["target_id"]}
        if row.fields["id"] in self._lost.relations or ends & self._lost.doomed:
            self.relations[row.fields["id"]] = _as(Relation, row)
        else:
            self.held |= ends & self._touched

    def _take_relation_evidence(self, row: StoredRow) -> None:
        if _subject(row) in self.relations:
            self.relation_evidence[_subject(row)].append(_evidence(row))

    def _take_mention(self, row: StoredRow) -> None:
        if row.fields["entity_id"] in self._touched and row.fields["memory_id"] not in self._lost.memories:
            self.held.add(row.fields["entity_id"])


class _Left:
    """What is left of each row."""

    def __init__(self, lost: "_Lost", loss: GraphLoss, is_lost: Callable[[Evidence], bool]) -> None:
        self._lost, self._loss, self._is_lost = lost, loss, is_lost
        gone = lost.memories
        self._goers: Mapping[str, Callable[[StoredRow], bool]] = {
            "memory": lambda row: row.fields["id"] in gone,
            "memory_version": lambda row: row.fields["memory_id"] in gone,
            "open_link": lambda row: row.fields["memory_id"] in gone,
            "synapse": lambda row: row.fields["source_id"] in gone or row.fields["target_id"] in gone,
            "mention": lambda row: row.fields["memory_id"] in gone or row.fields["entity_id"] in loss.gone_entities,
            "alias": lambda row: row.fields["entity_id"] in loss.gone_entities,
            "entity_evidence": lambda row: self._is_support_gone(row, loss.gone_entities, lost.entities),
            "relation_evidence": lambda row: self._is_support_gone(row, loss.gone_relations, lost.relations),
            "merge": lambda row: bool({row.fields["source_id"], row.fields["target_id"]} & loss.touched_entities),
            "learned": lambda row: row.number in lost.learned,
        }
        self._is_nothing = lost.is_nothing

    def of(self, row: StoredRow) -> StoredRow | BackupRow | None:
        """Return the row as it is, what it became, or nothing."""
        if self._is_nothing:
            return row
        match row.kind:
            case "entity":
                id_ = row.fields["id"]
                return None if id_ in self._loss.gone_entities else self._loss.entities.get(id_, row)
            case "relation":
                id_ = row.fields["id"]
                return None if id_ in self._loss.gone_relations else self._loss.relations.get(id_, row)
            case "ingest_item":
                return self._lost.items.get(row.number, row)
        goes = self._goers.get(row.kind)
        return None if goes is not None and goes(row) else row

    def _is_support_gone(self, row: StoredRow, gone: Collection[str], losing: Collection[str]) -> bool:
        subject = _subject(row)
        return subject in gone or (subject in losing and self._is_lost(_evidence(row)))


@dataclass(slots=True)
class _Lost:
    """What a first reading found: ids of rows that are forgotten and of those that lose evidence, and by line others.

    `items` are what is left of documents.
    """

    memories: set[int] = field(default_factory=set)
    doomed: set[str] = field(default_factory=set)
    hollow: set[str] = field(default_factory=set)
    entities: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)
    items: dict[int, IngestItem | None] = field(default_factory=dict)
    learned: set[int] = field(default_factory=set)
    tombstones: dict[str, Tombstone] = field(default_factory=dict)

    @property
    def is_nothing(self) -> bool:
        graph = self.doomed or self.hollow or self.entities or self.relations
        return not (self.memories or graph or self.items or self.learned)


def _as(kind: type[T], row: StoredRow) -> T:
    decoded = row.row
    assert isinstance(decoded, kind)
    return decoded


def _evidence(row: StoredRow) -> Evidence:
    decoded = row.row
    assert isinstance(decoded, EntityEvidence | RelationEvidence)
    return decoded.evidence


def _subject(row: StoredRow) -> str:
    return str(row.fields["evidence"]["subject_id"])


def _in_time(evidence: Mapping[str, list[Evidence]]) -> dict[str, list[Evidence]]:
    return {id_: sorted(pieces, key=lambda it: it.at) for id_, pieces in evidence.items()}
