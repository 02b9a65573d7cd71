"""Scrub: today's rules of redaction run over what was stored under older ones.

Rows are looked at in slices, and only those that hold a secret are written, each slice in a transaction of its own: a
process that dies has scrubbed what it came to, and doing it again does the rest. What is replaced is gone from every
table at once; `Store.erase_traces` takes it out of the files as well.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from graph_memory.domain.audit import audit_event
from graph_memory.domain.entities import Alias, Entity, EntityFilter, Evidence, JsonValue
from graph_memory.domain.ledger import IngestState, VectorOwner
from graph_memory.domain.memories import MemoryFilter, MemoryOrder
from graph_memory.domain.principal import Principal
from graph_memory.domain.relations import Relation, RelationFilter
from graph_memory.domain.scrubbing import Scrubber
from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction
from graph_memory.services.scrub_names import put_scrubbed_memory, rename_entity

SLICE = 500
"""Rows of one look, and at most of one transaction."""
REST_SECONDS = 0.003
_EVERY_MEMORY = MemoryFilter(statuses=None)
_EVERY_RELATION = RelationFilter(current_only=False)
T = TypeVar("T")


@dataclass(slots=True)
class Scrubbed:
    """What scrubbing came to, or would: rows looked at, rows with secrets by place, secrets by kind."""

    looked_at: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    secrets: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """How many secrets there were."""
        return self.secrets.total()

    def add(self, other: "Scrubbed") -> None:
        """Add what another part came to."""
        self.looked_at += other.looked_at
        self.rows.update(other.rows)
        self.secrets.update(other.secrets)


class Scrub:
    """Scrubs a tenant's rows; `pause` lets others write between two slices."""

    def __init__(
        self, store: Store, clock: Callable[[], datetime], pause: Callable[[float], object] = time.sleep
    ) -> None:
        self._store, self._clock, self._pause = store, clock, pause

    def scrub(self, principal: Principal, *, dry_run: bool) -> Scrubbed:
        """Look at every text of a tenant; with `dry_run` nothing is changed.

        Raises:
            Unavailable: the store can't be used now; what was scrubbed before stays so.
        """
        total = Scrubbed()
        for find, work in (
            (_memories, _scrub_memories),
            (_entities, _scrub_entities),
            (_relations, _scrub_relations),
            (_documents, _scrub_documents),
            (_merges, _scrub_merges),
        ):
            self._scrub_all(principal, find, work, total, dry_run=dry_run)
        if total.count and not dry_run:
            now = self._clock()
            result: dict[str, JsonValue] = {**total.rows, **total.secrets}
            event = audit_event("run_end", now, {"job": "scrub", "status": "succeeded", "result": result})
            self._store.write(principal, lambda tx: tx.upkeep.add_audit([event]))
        return total

    def _scrub_all(self, principal: Principal, find: "_Find", work: "_Work", total: Scrubbed, *, dry_run: bool) -> None:
        after: _Place = None
        while True:
            ids, found, after = self._store.read(principal, partial(self._look, find, work, after))
            if found.count and not dry_run:
                found = self._store.write(principal, partial(self._write, work, ids))
                self._pause(REST_SECONDS)
            found.looked_at = len(ids)
            total.add(found)
            if after is None:
                return

    def _look(
        self, find: "_Find", work: "_Work", after: "_Place", tx: ReadTransaction
    ) -> "tuple[_Ids, Scrubbed, _Place]":
        ids, following = find(tx, after)
        return ids, work(tx, None, ids, self._clock()), following

    def _write(self, work: "_Work", ids: "_Ids", tx: WriteTransaction) -> Scrubbed:
        return work(tx, tx, ids, self._clock())


_Place = str | int | None
"""Where the next slice begins; `None` before the first and after the last one."""
_Ids = Sequence[Any]
_Find = Callable[[ReadTransaction, _Place], tuple[_Ids, _Place]]
_Work = Callable[[ReadTransaction, WriteTransaction | None, _Ids, datetime], Scrubbed]
"""Scrubs a slice where there is a transaction to write in; tells what it came to. It reads the rows anew."""


def _memories(tx: ReadTransaction, place: _Place) -> tuple[Sequence[int], _Place]:
    offset = place if isinstance(place, int) else 0
    page = tx.memories.page(_EVERY_MEMORY, MemoryOrder.ID, SLICE, offset)
    return [it.id for it in page], offset + SLICE if len(page) == SLICE else None


def _scrub_memories(
    tx: ReadTransaction, writing: WriteTransaction | None, ids: Sequence[int], now: datetime
) -> Scrubbed:
    done = Scrubbed()
    links = _by(tx.memories.open_links(ids), lambda it: it.memory_id)
    earlier = _by(tx.memories.versions(ids), lambda it: it.memory_id)
    for memory in tx.memories.find(ids).values():
        scrubber = Scrubber()
        after = scrubber.memory(memory)
        kept = [scrubber.version(it) for it in earlier.get(memory.id, ())]
        spoiled = [it for it in links.get(memory.id, ()) if scrubber.text(it.target) != it.target]
        if not scrubber.counts:
            continue
        done.rows["memories"] += after != memory
        done.rows["versions"] += sum(a != b for a, b in zip(kept, earlier.get(memory.id, ()), strict=True))
        done.secrets.update(scrubber.counts)
        if writing is not None:
            put_scrubbed_memory(writing, memory, after)
            writing.memories.put_versions({memory.id: kept})
            writing.memories.delete_open_links(spoiled)
            writing.upkeep.delete_vectors(VectorOwner.MEMORY, [str(memory.id)])
            writing.upkeep.add_audit([audit_event("redacted", now, {"memory_id": memory.id, **scrubber.counts})])
    return done


def _entities(tx: ReadTransaction, place: _Place) -> tuple[Sequence[str], _Place]:
    page = tx.entities.page_by_id(EntityFilter(), place if isinstance(place, str) else None, SLICE)
    return [it.id for it in page], page[-1].id if len(page) == SLICE else None


def _scrub_entities(
    tx: ReadTransaction, writing: WriteTransaction | None, ids: Sequence[str], now: datetime
) -> Scrubbed:
    done = Scrubbed()
    aliases, evidence = tx.entities.aliases(ids), tx.entities.evidence(ids)
    for entity in tx.entities.find(ids).values():
        scrubber = Scrubber()
        after = scrubber.entity(entity)
        names = aliases.get(entity.id, ())
        spoiled = [it for it in names if scrubber.text(it.name) != it.name]
        kept = [scrubber.evidence(it) for it in evidence.get(entity.id, ())]
        if not scrubber.counts:
            continue
        done.rows["entities"] += after != entity or bool(spoiled)
        done.rows["evidence"] += _differing(kept, evidence.get(entity.id, ()))
        done.secrets.update(scrubber.counts)
        if writing is not None:
            stays = _put_entity(writing, entity, after, spoiled, kept)
            data: dict[str, JsonValue] = {"entity_id": stays.id, **scrubber.counts}
            writing.upkeep.add_audit([audit_event("redacted", now, data)])
    return done


def _put_entity(
    tx: WriteTransaction, entity: Entity, after: Entity, spoiled: Sequence[Alias], evidence: Sequence[Evidence]
) -> Entity:
    """Write a scrubbed entity; another name without its secret is no name of it any more, and goes."""
    tx.entities.delete_aliases(spoiled)
    tx.entities.put_evidence({entity.id: evidence})
    tx.upkeep.delete_vectors(VectorOwner.ENTITY, [entity.id])
    if after.name != entity.name:
        return rename_entity(tx, entity, after)
    tx.entities.put([after])
    return after


def _relations(tx: ReadTransaction, place: _Place) -> tuple[Sequence[str], _Place]:
    page = tx.relations.page(_EVERY_RELATION, place if isinstance(place, str) else None, SLICE)
    return [it.id for it in page], page[-1].id if len(page) == SLICE else None


def _scrub_relations(
    tx: ReadTransaction, writing: WriteTransaction | None, ids: Sequence[str], now: datetime
) -> Scrubbed:
    done = Scrubbed()
    evidence = tx.relations.evidence(ids)
    changed, support, events = list[Relation](), dict[str, Sequence[Evidence]](), []
    for relation in tx.relations.find(ids).values():
        scrubber = Scrubber()
        after = scrubber.relation(relation)
        kept = [scrubber.evidence(it) for it in evidence.get(relation.id, ())]
        if not scrubber.counts:
            continue
        done.rows["relations"] += after != relation
        done.rows["evidence"] += _differing(kept, evidence.get(relation.id, ()))
        done.secrets.update(scrubber.counts)
        changed.append(after)
        support[relation.id] = kept
        events.append(audit_event("redacted", now, {"edge_id": relation.id, **scrubber.counts}))
    if writing is not None and changed:
        writing.relations.put(changed)
        writing.relations.put_evidence(support)
        writing.upkeep.add_audit(events)
    return done


def _documents(tx: ReadTransaction, place: _Place) -> tuple[Sequence[str], _Place]:
    """List documents state by state; one that changes its state meanwhile was written by today's rules."""
    states = list(IngestState)
    name, _, offset = (place if isinstance(place, str) else f"{states[0]}:0").partition(":")
    state, start = IngestState(name), int(offset)
    page = tx.ledger.page_items(state, SLICE, start)
    following = states[states.index(state) + 1 :]
    ids = [it.id for it in page]
    if len(page) == SLICE:
        return ids, f"{state}:{start + SLICE}"
    return ids, f"{following[0]}:0" if following else None


def _scrub_documents(
    tx: ReadTransaction, writing: WriteTransaction | None, ids: Sequence[str], now: datetime
) -> Scrubbed:
    done, changed = _scrubbed("documents", tx.ledger.find_items(ids).values(), Scrubber.item)
    if writing is not None and changed:
        writing.ledger.put_items(changed)
        writing.upkeep.add_audit([audit_event("redacted", now, {"item_id": it.id}) for it in changed])
    return done


def _scrubbed(what: str, rows: Iterable[T], scrub: Callable[[Scrubber, T], T]) -> tuple[Scrubbed, list[T]]:
    """Scrub rows that nothing hangs on; return those that had a secret, as they are to be."""
    done, changed = Scrubbed(), list[T]()
    for row in rows:
        scrubber = Scrubber()
        after = scrub(scrubber, row)
        if scrubber.counts:
            done.rows[what] += 1
            done.secrets.update(scrubber.counts)
            changed.append(after)
    return done, changed


def _merges(tx: ReadTransaction, place: _Place) -> tuple[Sequence[str], _Place]:
    page = tx.upkeep.page_merges(place if isinstance(place, str) else None, SLICE)
    return [it.id for it in page], page[-1].id if len(page) == SLICE else None


def _scrub_merges(tx: ReadTransaction, writing: WriteTransaction | None, ids: Sequence[str], now: datetime) -> Scrubbed:
    done, changed = _scrubbed("merges", tx.upkeep.merges(ids).values(), Scrubber.merge)
    if writing is not None and changed:
        writing.upkeep.put_merges(changed)
        writing.upkeep.add_audit([audit_event("redacted", now, {"merge_id": it.id}) for it in changed])
    return done


def _differing(after: Sequence[Evidence], before: Sequence[Evidence]) -> int:
    return sum(new != old for new, old in zip(after, before, strict=True))


def _by(rows: Sequence[T], key: Callable[[T], int]) -> Mapping[int, Sequence[T]]:
    grouped: dict[int, list[T]] = {}
    for row in rows:
        grouped.setdefault(key(row), []).append(row)
    return grouped
