"""Backups: everything a tenant has into one file."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import TypeVar

from graph_memory.domain.audit import audit_event
from graph_memory.domain.backups import BackupFile, BackupRow, EntityEvidence, Learned, RelationEvidence
from graph_memory.domain.entities import Entity, EntityFilter
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.ledger import IngestItem, IngestState
from graph_memory.domain.memories import Memory, MemoryFilter, MemoryOrder
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import Principal
from graph_memory.domain.relations import Relation, RelationFilter
from graph_memory.ports.backups import Backups, Retention
from graph_memory.ports.store import ReadTransaction, Store
from graph_memory.services.forgotten_rows import SurvivingRows, every_tombstone

T = TypeVar("T")

PAGE = 1_000
EVERY_MEMORY = MemoryFilter(statuses=None)


@dataclass(frozen=True, slots=True)
class Exported:
    """A backup that was written, and what retention did."""

    file: BackupFile
    retention: Retention


class Backup:
    """Writes backups of one tenant."""

    def __init__(self, store: Store, clock: Callable[[], datetime], backups: Backups, policy: GraphPolicy) -> None:
        self._store, self._clock, self._backups, self._policy = store, clock, backups, policy

    def export(self, principal: Principal, *, keep: int = 14, label: str | None = None) -> Exported:
        """Write everything, on one consistent view, and keep the newest `keep` backups without a label.

        Raises:
            InvalidRequest: `keep` is under 1.
            Unavailable: the folder can't be written.
        """
        if keep < 1:
            msg = f"keep: {keep} is not a number of backups to keep; give 1 or more"
            raise InvalidRequest(msg, argument="keep")
        now = self._clock()
        # The read may run again: each run writes a file anew and an abandoned one is removed by the folder itself.
        file = self._store.read(principal, lambda tx: self._backups.write(every_row(tx), at=now, label=label))
        file = self._without_forgotten(principal, file)
        retention = self._backups.apply_retention(keep, newest=file.path)
        event = audit_event("exported", now, {"rows": sum(file.counts.values()), "bytes": file.size})
        self._store.write(principal, lambda tx: tx.upkeep.add_audit([event]))
        return Exported(file, retention)

    def _without_forgotten(self, principal: Principal, file: BackupFile) -> BackupFile:
        """Return a backup that was just written without what somebody forgot while it was."""
        stones = self._store.read(principal, lambda tx: list(every_tombstone(tx)))
        if len(stones) == file.counts.get("tombstone", 0):
            return file
        left = SurvivingRows(lambda: self._backups.stored(file.path), stones, self._policy)
        return self._backups.rewrite(file.path, left.stored(with_tombstones=True))


def every_row(tx: ReadTransaction) -> Iterator[BackupRow]:
    """Yield all that a tenant has, in the order of `ROW_KINDS`, each kind in an order of its own that never varies.

    Vectors are left out: they come back by themselves. So are job runs and the audit's outbox, which are of a machine.
    """
    return chain(_memory_rows(tx), _graph_rows(tx), _link_rows(tx), _ledger_rows(tx))


def _graph_rows(tx: ReadTransaction) -> Iterator[BackupRow]:
    yield from _entities(tx)
    for page in _pages(it.id for it in _entities(tx)):
        aliases = tx.entities.aliases(page)
        yield from (alias for it in page for alias in aliases.get(it, ()))
    for page in _pages(it.id for it in _entities(tx)):
        evidence = tx.entities.evidence(page)
        yield from (EntityEvidence(piece) for it in page for piece in evidence.get(it, ()))
    yield from _relations(tx)
    for page in _pages(it.id for it in _relations(tx)):
        evidence = tx.relations.evidence(page)
        yield from (RelationEvidence(piece) for it in page for piece in evidence.get(it, ()))
    after: str | None = None
    while merges := tx.upkeep.page_merges(after, PAGE):
        yield from merges
        after = merges[-1].id


def _entities(tx: ReadTransaction) -> Iterator[Entity]:
    after: str | None = None
    while page := tx.entities.page_by_id(EntityFilter(), after, PAGE):
        yield from page
        after = page[-1].id


def _relations(tx: ReadTransaction) -> Iterator[Relation]:
    after: str | None = None
    where = RelationFilter(current_only=False)
    while page := tx.relations.page(where, after, PAGE):
        yield from page
        after = page[-1].id


def _memories(tx: ReadTransaction) -> Iterator[Memory]:
    offset = 0
    while page := tx.memories.page(EVERY_MEMORY, MemoryOrder.ID, PAGE, offset):
        yield from page
        offset += len(page)


def _pages(rows: Iterable[T]) -> Iterator[list[T]]:
    """Group rows into lists of at most `PAGE`."""
    waiting = iter(rows)
    while page := list(islice(waiting, PAGE)):
        yield page


def _memory_rows(tx: ReadTransaction) -> Iterator[BackupRow]:
    yield from _memories(tx)
    for page in _pages(it.id for it in _memories(tx)):
        yield from tx.memories.versions(page)


def _link_rows(tx: ReadTransaction) -> Iterator[BackupRow]:
    after = None
    while synapses := tx.synapses.page(after, PAGE):
        yield from synapses
        after = synapses[-1].key
    for page in _pages(it.id for it in _memories(tx)):
        yield from tx.memories.mentions_of_memories(page)
    for page in _pages(it.id for it in _memories(tx)):
        yield from tx.memories.open_links(page)
    yield from tx.synapses.decay_rates()


def _ledger_rows(tx: ReadTransaction) -> Iterator[BackupRow]:
    ids = sorted(it.id for state in IngestState for it in _items(tx, state))
    for page in _pages(ids):
        found = tx.ledger.find_items(page)
        yield from (found[it] for it in page)
    key: str | None = None
    while learned := tx.ledger.page_learned(key, PAGE):
        yield from (Learned(*it) for it in learned)
        key = learned[-1][0]
    cursors = tx.ledger.transcript_cursors()
    yield from (cursors[path] for path in sorted(cursors))
    key = None
    while tombstones := tx.ledger.page_tombstones(key, PAGE):
        yield from tombstones
        key = tombstones[-1].content_key


def _items(tx: ReadTransaction, state: IngestState) -> Iterator[IngestItem]:
    offset = 0
    while page := tx.ledger.page_items(state, PAGE, offset):
        yield from page
        offset += len(page)
