"""A backup without what was forgotten since: the rows that are left, as if their sources alone had been there."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graph_memory.domain.backups import BackupRow, EntityEvidence, Learned, RelationEvidence
from graph_memory.domain.entities import Alias, Entity, Evidence
from graph_memory.domain.forgetting import Affected, GraphLoss, plan_loss
from graph_memory.domain.ledger import IngestItem, MergeRecord, Tombstone
from graph_memory.domain.memories import Memory, MemoryVersion, Mention, OpenLink, Synapse
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.relations import Relation
from graph_memory.domain.tombstones import Forgotten, Grave, stub_of
from graph_memory.ports.store import ReadTransaction

PAGE = 5_000
_FEW = 50


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

    Only what the forgotten rows touch is held in memory.
    """

    def __init__(
        self, read: Callable[[], Iterable[BackupRow]], tombstones: Iterable[Tombstone], policy: GraphPolicy
    ) -> None:
        self._read = read
        self._tombstones = list(tombstones)
        self._forgotten = Forgotten.told_by(self._tombstones)
        self._lost = _Lost()
        self._loss = GraphLoss()
        self._leavers: Mapping[type[BackupRow], Callable[[Any], BackupRow | None]] = {
            Memory: lambda row: None if row.id in self._lost.memories else row,
            MemoryVersion: self._of_memory,
            OpenLink: self._of_memory,
            Synapse: lambda row: None if {row.source_id, row.target_id} & self._lost.memories else row,
            Mention: self._mention,
            Entity: self._entity,
            Alias: lambda row: None if row.entity_id in self._loss.gone_entities else row,
            EntityEvidence: self._support,
            Relation: self._relation,
            RelationEvidence: self._support,
            MergeRecord: lambda row: None if {row.source_id, row.target_id} & self._loss.touched_entities else row,
            IngestItem: self._item,
            Learned: lambda row: None if self._is_learned_lost(row) else row,
        }
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
        return self._lost.is_nothing and {it.content_key for it in self._tombstones} <= self._lost.tombstones

    def rows(self, *, with_tombstones: bool = False) -> Iterator[BackupRow]:
        """Yield what is left; `with_tombstones` adds those that the backup does not have."""
        if not self._forgotten:
            yield from self._read()
            return
        stones: dict[str, Tombstone] = {}
        for row in self._read():
            if isinstance(row, Tombstone):
                stones[row.content_key] = row
            elif (left := self._left(row)) is not None:
                yield left
        if with_tombstones:
            stones.update((it.content_key, it) for it in self._tombstones)
        yield from (stones[key] for key in sorted(stones))

    def _is_lost(self, piece: Evidence) -> bool:
        return self._forgotten.has_evidence(piece, self._lost.memories)

    def _look(self) -> None:
        """Find what is forgotten, and what has evidence from it."""
        lost = self._lost
        for row in self._read():
            match row:
                case Memory() if self._forgotten.has_memory(row):
                    lost.memories.add(row.id)
                case Entity() if self._forgotten.has_entity(row):
                    lost.doomed.add(row.id)
                case Entity() if self._forgotten.has_entity(row, Grave.ENTITY_UNTIL):
                    lost.hollow.add(row.id)
                case EntityEvidence() if self._is_lost(row.evidence):
                    lost.entities.add(row.evidence.subject_id)
                case RelationEvidence() if self._is_lost(row.evidence):
                    lost.relations.add(row.evidence.subject_id)
                case IngestItem() if self._forgotten.has_item(row, lost.memories) and row != stub_of(row):
                    lost.items.add(row.id)
                case Learned() if self._is_learned_lost(row):
                    lost.learned += 1
                case Tombstone():
                    lost.tombstones.add(row.content_key)
                case _:
                    pass

    def _affected(self) -> Affected:
        """Read the rows that lose something, with what holds or replaced them."""
        lost = self._lost
        touched = lost.entities | lost.doomed | lost.hollow
        entities: dict[str, Entity] = {}
        relations: dict[str, Relation] = {}
        entity_evidence: defaultdict[str, list[Evidence]] = defaultdict(list)
        relation_evidence: defaultdict[str, list[Evidence]] = defaultdict(list)
        held = set[str]()
        for row in self._read():
            match row:
                case Entity() if row.id in touched:
                    entities[row.id] = row
                case EntityEvidence() if row.evidence.subject_id in touched:
                    entity_evidence[row.evidence.subject_id].append(row.evidence)
                case Relation() if row.id in lost.relations or lost.doomed & {row.source_id, row.target_id}:
                    relations[row.id] = row
                case Relation():
                    held.update({row.source_id, row.target_id} & touched)
                case RelationEvidence() if row.evidence.subject_id in relations:
                    relation_evidence[row.evidence.subject_id].append(row.evidence)
                case Mention() if row.memory_id not in lost.memories and row.entity_id in touched:
                    held.add(row.entity_id)
                case _:
                    pass
        return Affected(
            entities,
            _in_time(entity_evidence),
            relations,
            _in_time(relation_evidence),
            rivals=self._rivals({it.key[:2] for it in relations.values()}),
            doomed=frozenset(lost.doomed),
            hollow=frozenset(lost.hollow),
            held=frozenset(held),
        )

    def _rivals(self, starts: set[tuple[str, str]]) -> list[Relation]:
        if not starts:
            return []
        return [row for row in self._read() if isinstance(row, Relation) and row.key[:2] in starts]

    def _is_learned_lost(self, row: Learned) -> bool:
        return self._forgotten.has_key(row.key) or row.memory_id in self._lost.memories

    def _left(self, row: BackupRow) -> BackupRow | None:
        """Return what is left of a row."""
        leaver = self._leavers.get(type(row))
        return row if leaver is None else leaver(row)

    def _of_memory(self, row: MemoryVersion | OpenLink) -> BackupRow | None:
        return None if row.memory_id in self._lost.memories else row

    def _entity(self, row: Entity) -> BackupRow | None:
        return None if row.id in self._loss.gone_entities else self._loss.entities.get(row.id, row)

    def _relation(self, row: Relation) -> BackupRow | None:
        return None if row.id in self._loss.gone_relations else self._loss.relations.get(row.id, row)

    def _mention(self, row: Mention) -> BackupRow | None:
        is_gone = row.memory_id in self._lost.memories or row.entity_id in self._loss.gone_entities
        return None if is_gone else row

    def _support(self, row: EntityEvidence | RelationEvidence) -> BackupRow | None:
        gone = self._loss.gone_entities if isinstance(row, EntityEvidence) else self._loss.gone_relations
        return None if row.evidence.subject_id in gone or self._is_lost(row.evidence) else row

    def _item(self, row: IngestItem) -> BackupRow | None:
        return stub_of(row) if self._forgotten.has_item(row, self._lost.memories) else row


@dataclass(slots=True)
class _Lost:
    """What a first reading found: ids of rows that are forgotten, and of those that lose evidence."""

    memories: set[int] = field(default_factory=set)
    doomed: set[str] = field(default_factory=set)
    hollow: set[str] = field(default_factory=set)
    entities: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)
    learned: int = 0
    tombstones: set[str] = field(default_factory=set)

    @property
    def is_nothing(self) -> bool:
        return not (
            self.memories or self.doomed or self.hollow or self.entities or self.relations or self.items or self.learned
        )


def _in_time(evidence: dict[str, list[Evidence]]) -> dict[str, list[Evidence]]:
    return {id_: sorted(pieces, key=lambda it: it.at) for id_, pieces in evidence.items()}
