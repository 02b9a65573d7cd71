"""Backups back again: into an empty home as they were, into a used one by the rules of evidence."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, islice
from pathlib import PurePath
from typing import Any

from graph_memory.domain.audit import audit_event
from graph_memory.domain.backups import (
    BackupFile,
    BackupRow,
    EntityEvidence,
    ImportMode,
    Learned,
    RelationEvidence,
)
from graph_memory.domain.entities import Alias, Entity, EntityFilter, EntityOrder
from graph_memory.domain.errors import Conflict, InvalidRequest
from graph_memory.domain.ledger import IngestItem, IngestState, MergeRecord, Tombstone, TranscriptCursor
from graph_memory.domain.memories import (
    DecayRate,
    Memory,
    MemoryFilter,
    MemoryOrder,
    MemoryVersion,
    Mention,
    OpenLink,
    Synapse,
)
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import Principal
from graph_memory.domain.relations import Relation
from graph_memory.ports.backups import Backups
from graph_memory.ports.store import Store, WriteTransaction
from graph_memory.services.forgotten_rows import SurvivingRows, every_tombstone
from graph_memory.services.restore_graph import GraphImport
from graph_memory.services.restore_memories import MemoryImport

PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do: rows by kind that were new and that joined what was there.

    `removed` counts what `replace` took away, `forgotten` the memories left out since they were forgotten for good.
    """

    file: BackupFile
    mode: ImportMode
    is_dry_run: bool
    added: Mapping[str, int]
    joined: Mapping[str, int]
    removed: Mapping[str, int]
    forgotten: int


class _DryRun(Exception):
    def __init__(self, result: Imported) -> None:
        super().__init__()
        self.result = result


class Restore:
    """Puts backups back, each in one transaction."""

    def __init__(self, store: Store, clock: Callable[[], datetime], backups: Backups, policy: GraphPolicy) -> None:
        self._store, self._clock, self._backups, self._policy = store, clock, backups, policy

    def import_file(
        self,
        principal: Principal,
        file: str,
        *,
        mode: ImportMode = ImportMode.MERGE,
        dry_run: bool = True,
        progress: Callable[[int, int], None] = lambda _done, _of: None,
    ) -> Imported:
        """Read a backup, check it whole, and put its rows back; `dry_run` undoes that and tells what it would be.

        `progress` is told how many of its rows are put back, and how many there are.

        Raises:
            NotFound: there is no such file.
            InvalidRequest: it is not a backup, not a whole one, or its rows contradict each other.
        """
        checked = self._backups.check(file)
        total = sum(checked.counts.values())
        now = self._clock()

        def work(tx: WriteTransaction) -> Imported:
            removed = _clear(tx) if mode is ImportMode.REPLACE else Counter[str]()
            run, line = _Import(tx, self._policy), 2
            left = SurvivingRows(lambda: self._backups.stored(file), every_tombstone(tx), self._policy)
            for kind, rows in groupby(left.rows(), key=type):
                while page := list(islice(rows, PAGE)):
                    try:
                        run.take(kind, page)
                    except Conflict as error:
                        raise _contradiction(file, line, line + len(page) - 1, error) from error
                    line += len(page)
                    progress(line - 2, total)
            result = run.result(checked, mode, removed, left.forgotten, is_dry_run=dry_run)
            if dry_run:
                raise _DryRun(result)
            figures = {"added": sum(result.added.values()), "joined": sum(result.joined.values())}
            tx.upkeep.add_audit([audit_event("imported", now, {**figures, "removed": sum(removed.values())})])
            return result

        try:
            return self._store.write(principal, work)
        except _DryRun as preview:
            return preview.result


def _contradiction(file: str, first: int, last: int, error: Conflict) -> InvalidRequest:
    text = f"file: {PurePath(file).name}: lines {first} to {last} don't fit what is there: {error}"
    return InvalidRequest(text, argument="file")


class _Import:
    """One import: pages of one kind each, in the order of the file."""

    def __init__(self, tx: WriteTransaction, policy: GraphPolicy) -> None:
        self._tx = tx
        self._memories = MemoryImport(tx)
        self._graph = GraphImport(tx, policy, self._memories.source_id)
        self._added: Counter[str] = Counter()
        self._takers: Mapping[type[BackupRow], Callable[[Any], None]] = {
            Entity: self._graph.entities,
            Alias: self._graph.aliases,
            EntityEvidence: lambda rows: self._graph.entity_evidence([it.evidence for it in rows]),
            Relation: self._graph.relations,
            RelationEvidence: lambda rows: self._graph.relation_evidence([it.evidence for it in rows]),
            MergeRecord: self._merges,
            Memory: self._memories.memories,
            MemoryVersion: self._memories.versions,
            Synapse: self._memories.synapses,
            Mention: lambda rows: self._memories.mentions(rows, self._graph.entity_id),
            OpenLink: self._memories.open_links,
            DecayRate: self._memories.decay_rates,
            IngestItem: self._items,
            Learned: self._learned,
            TranscriptCursor: self._cursors,
            Tombstone: self._tombstones,
        }

    def take(self, kind: type[BackupRow], rows: Sequence[BackupRow]) -> None:
        """Put a page of rows of one kind back."""
        self._takers[kind](rows)

    def _merges(self, rows: Sequence[MergeRecord]) -> None:
        self._tx.upkeep.put_merges(rows)
        self._added["merge"] += len(rows)

    def _items(self, rows: Sequence[IngestItem]) -> None:
        known = self._tx.ledger.find_items({it.id for it in rows})
        fresh = [replace(it, memory_ids=self._memories.memory_ids(it.memory_ids)) for it in rows if it.id not in known]
        self._tx.ledger.put_items(fresh)
        self._added["ingest_item"] += len(fresh)

    def _learned(self, rows: Sequence[Learned]) -> None:
        here = {it.key: number for it in rows if (number := self._memories.source_id(it.memory_id)) is not None}
        self._tx.ledger.add_learned(here)
        self._added["learned"] += len(here)

    def _cursors(self, rows: Sequence[TranscriptCursor]) -> None:
        known = self._tx.ledger.transcript_cursors({it.path for it in rows})
        fresh = [it for it in rows if it.path not in known]
        self._tx.ledger.put_transcript_cursors(fresh)
        self._added["transcript_cursor"] += len(fresh)

    def _tombstones(self, rows: Sequence[Tombstone]) -> None:
        self._tx.ledger.put_tombstones(rows)
        self._added["tombstone"] += len(rows)

    def result(
        self, file: BackupFile, mode: ImportMode, removed: Mapping[str, int], forgotten: int, *, is_dry_run: bool
    ) -> Imported:
        """Return what was done so far."""
        return Imported(
            file=file,
            mode=mode,
            is_dry_run=is_dry_run,
            added=dict(self._added + self._graph.added + self._memories.added),
            joined=dict(self._graph.joined + self._memories.joined),
            removed=dict(removed),
            forgotten=forgotten,
        )


def _clear(tx: WriteTransaction) -> Counter[str]:
    """Remove all that a tenant has, but for what it forgot for good."""
    removed: Counter[str] = Counter()
    while entities := tx.entities.page(EntityFilter(), EntityOrder.ID, PAGE):
        ids = {it.id for it in entities}
        removed["relation"] += tx.relations.delete_of_entities(ids)
        removed["entity"] += tx.entities.delete(ids)
    while memories := tx.memories.page(MemoryFilter(statuses=None), MemoryOrder.ID, PAGE):
        numbers = {it.id for it in memories}
        removed["memory"] += tx.memories.delete(numbers)
    while learned := tx.ledger.page_learned(None, PAGE):
        removed["learned"] += tx.ledger.delete_learned({number for _, number in learned})
    removed["decay_rate"] += tx.synapses.delete_decay_rates()
    for state in IngestState:
        while items := tx.ledger.page_items(state, PAGE):
            removed["ingest_item"] += tx.ledger.delete_items({it.id for it in items})
    removed["transcript_cursor"] += tx.ledger.delete_transcript_cursors(list(tx.ledger.transcript_cursors()))
    while merges := tx.upkeep.page_merges(None, PAGE):
        removed["merge"] += tx.upkeep.delete_merges({it.id for it in merges})
    return removed
