"""Slices of everything: complete, terminating, and undisturbed by what happens between them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import pytest

from graph_memory.ports.graph_rows import Faded
from graph_memory.ports.memory_rows import FadedSynapse
from tests.contract.samples import day, entity, memory, relation, synapse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph_memory.domain.memories import SynapseKey
    from graph_memory.ports.store import WriteTransaction
    from tests.contract.stores import Caller

RowT_co = TypeVar("RowT_co", covariant=True)
Slice = tuple["Sequence[RowT_co]", "str | None"]


class Scan(Protocol[RowT_co]):
    """A scan, as `scan_fading` of a port with its limit given."""

    def __call__(self, tx: WriteTransaction, /, *, after: str | None) -> Slice[RowT_co]: ...


COUNT = 23
IDS = [f"x{number:02}" for number in range(COUNT)]
MEMORY_IDS = list(range(1, 8))
KEYS = [synapse(source, target).key for source in MEMORY_IDS for target in MEMORY_IDS if source != target][:COUNT]


@pytest.fixture(autouse=True)
def _rows(alice: Caller, bob: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        tx.entities.put([entity(id_) for id_ in reversed(IDS)])
        tx.relations.put([relation(IDS[0], id_, id=id_) for id_ in reversed(IDS)])
        tx.relations.put([relation(IDS[0], id_, "WAS", id=f"{id_} old", invalid_at=day(1)) for id_ in IDS])
        tx.memories.add([memory(f"m{id_}", id_) for id_ in MEMORY_IDS])
        tx.synapses.put([synapse(*key[:2]) for key in reversed(KEYS)])

    alice.write(work)
    bob.write(lambda tx: tx.entities.put([entity("bob")]))


def walk(alice: Caller, scan: Scan[RowT_co]) -> list[RowT_co]:
    """Scan in a transaction per slice; more slices than rows would mean that it never ends."""
    rows: list[RowT_co] = []
    after: str | None = None
    for _ in range(COUNT + 2):
        part, after = alice.write(partial(scan, after=after))
        rows += part
        if after is None:
            return rows
    pytest.fail("the scan does not end")


LIMITS = pytest.mark.parametrize("limit", [1, 2, 7, COUNT - 1, COUNT, COUNT + 1])


@LIMITS
def test_a_scan_of_entities_sees_each_once_and_ends(alice: Caller, limit: int) -> None:
    seen = walk(alice, lambda tx, *, after: tx.entities.scan_fading(after, limit))
    assert sorted(row.id for row in seen) == IDS


@LIMITS
def test_a_scan_of_relations_sees_each_once_and_ends(alice: Caller, limit: int) -> None:
    seen = walk(alice, lambda tx, *, after: tx.relations.scan_fading(after, limit))
    assert sorted(row.id for row in seen) == IDS


@LIMITS
def test_a_scan_of_synapses_sees_each_once_and_ends(alice: Caller, limit: int) -> None:
    seen = walk(alice, lambda tx, *, after: tx.synapses.scan_fading(after, limit))
    assert sorted(row.key for row in seen) == sorted(KEYS)


def test_a_slice_is_never_longer_than_its_limit(alice: Caller) -> None:
    assert len(alice.write(lambda tx: tx.entities.scan_fading(None, 5))[0]) <= 5
    assert len(alice.write(lambda tx: tx.relations.scan_fading(None, 5))[0]) <= 5
    assert len(alice.write(lambda tx: tx.synapses.scan_fading(None, 5))[0]) <= 5


def test_fading_each_slice_fades_all_once(alice: Caller) -> None:
    def entities(tx: WriteTransaction, *, after: str | None) -> Slice[int]:
        rows, then = tx.entities.scan_fading(after, 5)
        return [tx.entities.fade(Faded(row.id, row.confidence, row.confidence / 2, day(1)) for row in rows)], then

    def relations(tx: WriteTransaction, *, after: str | None) -> Slice[int]:
        rows, then = tx.relations.scan_fading(after, 5)
        return [tx.relations.fade(Faded(row.id, row.weight, row.weight / 2, day(1)) for row in rows)], then

    def synapses(tx: WriteTransaction, *, after: str | None) -> Slice[int]:
        rows, then = tx.synapses.scan_fading(after, 5)
        return [tx.synapses.fade(FadedSynapse(row.key, row.weight, row.weight / 2, day(1)) for row in rows)], then

    assert (sum(walk(alice, entities)), sum(walk(alice, relations)), sum(walk(alice, synapses))) == (COUNT,) * 3

    def check(tx: WriteTransaction) -> None:
        assert {row.confidence for row in tx.entities.find(IDS).values()} == {0.25}
        assert {row.weight for row in tx.relations.find(IDS).values()} == {0.25}
        assert {row.weight for row in tx.synapses.find(KEYS).values()} == {0.5}

    alice.write(check)


def test_rows_that_go_or_come_between_slices_hide_no_other(alice: Caller) -> None:
    def work(tx: WriteTransaction, *, after: str | None) -> Slice[str]:
        rows, then = tx.entities.scan_fading(after, 4)
        gone = [row.id for row in rows[:1]]
        tx.relations.delete_of_entities(gone)
        tx.entities.delete(gone)
        tx.entities.put([entity(f"new after {after}")])
        return [row.id for row in rows], then

    seen = walk(alice, work)
    assert set(IDS) <= set(seen)
    assert len(seen) == len(set(seen))


def test_a_scan_of_nothing_ends_at_once(bob: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        for rows, after in (tx.relations.scan_fading(None, 5), tx.synapses.scan_fading(None, 5)):
            assert (list(rows), after) == ([], None)

    bob.write(work)


def test_a_scan_goes_on_from_a_row_that_is_gone(alice: Caller) -> None:
    first, start = alice.write(lambda tx: tx.synapses.scan_fading(None, 3))
    alice.write(lambda tx: tx.synapses.delete([row.key for row in first]))
    rest = walk(alice, lambda tx, *, after: tx.synapses.scan_fading(after or start, 3))
    seen: list[SynapseKey] = sorted(row.key for row in (*first, *rest))
    assert seen == sorted(KEYS)
