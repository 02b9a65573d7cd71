"""Synapses between memories, and the decay matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.errors import Conflict
from graph_memory.domain.memories import (
    ConnectionType,
    DecayRate,
    Direction,
    Layer,
    SynapseFilter,
    SynapseKey,
)
from graph_memory.ports.memory_rows import FadedSynapse, FadingSynapse
from tests.contract.samples import ALL, ANY_SYNAPSE, NOW, day, memory, synapse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph_memory.domain.memories import Synapse
    from graph_memory.ports.store import ReadTransaction
    from tests.contract.stores import Caller

WIKI, BM25, PARENT, SEQUENCE = (
    ConnectionType.WIKILINK,
    ConnectionType.BM25_AUTO,
    ConnectionType.PARENT_CHILD,
    ConnectionType.SEQUENCE,
)


@pytest.fixture(autouse=True)
def _memories(alice: Caller) -> None:
    layers = {1: Layer.WORKING, 2: Layer.SEMANTIC}
    notes = [memory(f"m{id_}", id_, layer=layers.get(id_, Layer.EPISODIC)) for id_ in range(1, 8)]
    alice.write(lambda tx: tx.memories.add(notes))


def stored(alice: Caller, *synapses: Synapse) -> None:
    alice.write(lambda tx: tx.synapses.put(synapses))


def ends(synapses: Sequence[Synapse]) -> list[tuple[int, int]]:
    return [(found.source_id, found.target_id) for found in synapses]


def of(
    alice: Caller, ids: list[int], where: SynapseFilter = ANY_SYNAPSE, exclude: Sequence[int] = (), limit: int = ALL
) -> list[tuple[int, int]]:
    return ends(alice.read(lambda tx: tx.synapses.of_memories(ids, where, exclude=exclude, limit=limit)))


def test_every_field_comes_back_as_it_was_put(alice: Caller) -> None:
    whole = synapse(
        1,
        2,
        1 / 3,
        SEQUENCE,
        created_at=day(-3),
        updated_at=day(-2),
        decayed_at=day(-1),
        accessed_at=day(-0.5),
        access_count=2**40,
        cycle_access_count=3,
    )
    stored(alice, whole)
    missing = SynapseKey(1, 2, WIKI)
    assert alice.read(lambda tx: tx.synapses.find([whole.key, missing])) == {whole.key: whole}


@pytest.mark.spec("storage.synapse.no-duplicate")
def test_a_key_is_of_both_ends_and_the_type(alice: Caller) -> None:
    stored(alice, synapse(1, 2), synapse(2, 1), synapse(1, 2, type_=BM25))
    stored(alice, synapse(1, 2, 4.5))
    found = alice.read(lambda tx: tx.synapses.page(None, ALL))
    assert [(one.key, one.weight) for one in found] == [
        (SynapseKey(1, 2, BM25), 1.0),
        (SynapseKey(1, 2, WIKI), 4.5),
        (SynapseKey(2, 1, WIKI), 1.0),
    ]


@pytest.mark.parametrize(("source", "target"), [(1, 99), (99, 1), (0, 1)])
def test_both_ends_must_exist(alice: Caller, source: int, target: int) -> None:
    with pytest.raises(Conflict):
        stored(alice, synapse(2, 3), synapse(source, target))
    assert not alice.read(lambda tx: tx.synapses.page(None, ALL))


def test_synapses_of_memories_come_heaviest_first_ties_by_key(alice: Caller) -> None:
    stored(
        alice,
        synapse(2, 1, 1.0),
        synapse(1, 3, 1.0, SEQUENCE),
        synapse(1, 3, 1.0, BM25),
        synapse(1, 2, 0.5),
        synapse(4, 1, 3.0),
        synapse(4, 5, 5.0),
    )
    assert of(alice, [1]) == [(4, 1), (1, 3), (1, 3), (2, 1), (1, 2)]
    assert of(alice, [1], limit=2) == [(4, 1), (1, 3)]
    assert of(alice, [1], limit=0) == []
    assert of(alice, [1], SynapseFilter(min_weight=1.0)) == [(4, 1), (1, 3), (1, 3), (2, 1)]
    assert of(alice, [1], SynapseFilter(connection_types=frozenset({BM25, PARENT}))) == [(1, 3)]
    assert of(alice, [1], SynapseFilter(connection_types=frozenset())) == []


def test_direction_is_seen_from_the_asked(alice: Caller) -> None:
    stored(alice, synapse(1, 2, 3.0), synapse(3, 1, 2.0), synapse(4, 5, 1.0))
    assert of(alice, [1], SynapseFilter(direction=Direction.OUT)) == [(1, 2)]
    assert of(alice, [1], SynapseFilter(direction=Direction.IN)) == [(3, 1)]
    assert of(alice, [1, 4], SynapseFilter(direction=Direction.OUT)) == [(1, 2), (4, 5)]
    assert of(alice, [1, 2], SynapseFilter(direction=Direction.IN)) == [(1, 2), (3, 1)]


def test_a_synapse_between_two_of_the_asked_is_listed_once_unless_an_end_is_excluded(alice: Caller) -> None:
    stored(alice, synapse(1, 2, 3.0), synapse(2, 1, 2.0), synapse(1, 3, 1.0), synapse(1, 1, 0.5))
    assert of(alice, [1, 2]) == [(1, 2), (2, 1), (1, 3), (1, 1)]
    assert of(alice, [1, 2], exclude=[1]) == [(1, 3)]
    assert of(alice, [1, 2], exclude=[2]) == [(1, 3), (1, 1)]
    assert of(alice, [1], exclude=[1]) == [(1, 2), (2, 1), (1, 3)]


def test_excluded_memories_take_no_place_within_the_limit(alice: Caller) -> None:
    stored(alice, synapse(1, 2, 3.0), synapse(3, 1, 2.0), synapse(1, 4, 1.0))
    assert of(alice, [1], exclude=[2, 3, 99], limit=1) == [(1, 4)]


def test_degrees_count_both_ways_all_kinds(alice: Caller) -> None:
    stored(alice, synapse(1, 2), synapse(1, 2, type_=BM25), synapse(2, 1), synapse(3, 3))
    assert alice.read(lambda tx: tx.synapses.degrees([1, 2, 3, 4])) == {1: (2, 1), 2: (1, 2), 3: (1, 1), 4: (0, 0)}


def test_lightest_lists_one_type_on_one_side(alice: Caller) -> None:
    stored(
        alice,
        synapse(1, 5, 0.5),
        synapse(1, 2, 0.5),
        synapse(1, 3, 0.1),
        synapse(1, 4, 0.05, BM25),
        synapse(6, 1, 0.2),
        synapse(7, 1, 0.1),
    )

    def lightest(*, outgoing: bool, limit: int = ALL, type_: ConnectionType = WIKI) -> list[tuple[int, int]]:
        return ends(
            alice.read(lambda tx: tx.synapses.lightest(1, outgoing=outgoing, connection_type=type_, limit=limit))
        )

    assert lightest(outgoing=True) == [(1, 3), (1, 2), (1, 5)]
    assert lightest(outgoing=True, limit=2) == [(1, 3), (1, 2)]
    assert lightest(outgoing=False) == [(7, 1), (6, 1)]
    assert lightest(outgoing=True, type_=BM25) == [(1, 4)]


def test_synapses_are_counted_by_type(alice: Caller) -> None:
    stored(alice, synapse(1, 2), synapse(2, 1), synapse(1, 2, type_=PARENT))
    assert alice.read(lambda tx: tx.synapses.count_by_type()) == {"wikilink": 2, "parent_child": 1}


def test_page_walks_all_by_key(alice: Caller) -> None:
    keys = [(s, t, kind) for s in (1, 2, 3) for t in (1, 2) for kind in (BM25, SEQUENCE, WIKI)]
    stored(alice, *(synapse(s, t, type_=kind) for s, t, kind in reversed(keys)))

    def walk(tx: ReadTransaction) -> list[SynapseKey]:
        found: list[SynapseKey] = []
        while part := tx.synapses.page(found[-1] if found else None, 4):
            found += [one.key for one in part]
        return found

    assert alice.read(walk) == [SynapseKey(*key) for key in keys]


def test_delete_and_count(alice: Caller) -> None:
    stored(alice, synapse(1, 2), synapse(1, 2, type_=BM25))
    assert alice.write(lambda tx: tx.synapses.delete([SynapseKey(1, 2, WIKI), SynapseKey(2, 1, WIKI)])) == 1
    assert [one.key for one in alice.read(lambda tx: tx.synapses.page(None, ALL))] == [SynapseKey(1, 2, BM25)]


@pytest.mark.spec("storage.synapse.access-count")
def test_touch_counts_one_access_and_changes_nothing_else(alice: Caller) -> None:
    before = synapse(1, 2, access_count=3, cycle_access_count=1)
    stored(alice, before, synapse(2, 1))
    missing = SynapseKey(5, 6, WIKI)
    alice.write(lambda tx: tx.synapses.touch([before.key, missing], day(1)))
    found = alice.read(lambda tx: tx.synapses.find([before.key, synapse(2, 1).key]))
    assert found == {
        before.key: replace(before, access_count=4, cycle_access_count=2, accessed_at=day(1)),
        synapse(2, 1).key: synapse(2, 1),
    }


def test_the_decay_matrix_is_listed_in_order_and_replaced_by_key(alice: Caller) -> None:
    rates = [
        DecayRate("working", "*", WIKI, 0.5),
        DecayRate("episodic", "semantic", WIKI, 0.6),
        DecayRate("episodic", "*", WIKI, 0.7),
        DecayRate("episodic", "*", BM25, 0.8),
    ]
    alice.write(lambda tx: tx.synapses.put_decay_rates(rates))
    alice.write(lambda tx: tx.synapses.put_decay_rates([DecayRate("working", "*", WIKI, 0.25)]))
    assert list(alice.read(lambda tx: tx.synapses.decay_rates())) == [
        rates[3],
        rates[2],
        rates[1],
        DecayRate("working", "*", WIKI, 0.25),
    ]
    assert alice.write(lambda tx: tx.synapses.delete_decay_rates()) == 4
    assert list(alice.read(lambda tx: tx.synapses.decay_rates())) == []


def test_fade_writes_only_where_the_weight_is_as_it_was_read(alice: Caller) -> None:
    stored(alice, synapse(1, 2, 1.5, cycle_access_count=4, access_count=9), synapse(2, 1, 1.25))
    keys = [SynapseKey(1, 2, WIKI), SynapseKey(2, 1, WIKI), SynapseKey(3, 1, WIKI)]
    assert alice.write(lambda tx: tx.synapses.fade(FadedSynapse(key, 1.5, 0.75, day(1)) for key in keys)) == 1
    assert alice.read(lambda tx: tx.synapses.find(keys)) == {
        keys[0]: synapse(1, 2, 0.75, decayed_at=day(1), access_count=9),
        keys[1]: synapse(2, 1, 1.25),
    }


def test_scan_tells_what_decay_needs(alice: Caller) -> None:
    stored(
        alice,
        synapse(1, 2, 1.5, updated_at=day(-1), accessed_at=day(-2), cycle_access_count=3),
        synapse(2, 3, 0.5, SEQUENCE, updated_at=day(-4), accessed_at=day(-3), decayed_at=day(-1)),
        synapse(3, 1),
    )
    rows, after = alice.write(lambda tx: tx.synapses.scan_fading(None, ALL))
    assert after is None
    assert sorted(rows) == [
        FadingSynapse(SynapseKey(1, 2, WIKI), "working", "semantic", 1.5, day(-1), day(-1), 3),
        FadingSynapse(SynapseKey(2, 3, SEQUENCE), "semantic", "episodic", 0.5, day(-1), day(-3), 0),
        FadingSynapse(SynapseKey(3, 1, WIKI), "episodic", "working", 1.0, NOW, NOW, 0),
    ]
