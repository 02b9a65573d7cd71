"""Links fade by elapsed time, in slices, and slower when they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.memories import ConnectionType, DecayRate
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.services import pacing
from graph_memory.services.network import MemoryDecayReport

if TYPE_CHECKING:
    from tests.services.memories.desk import Desk


def pair(desk: Desk, name: str = "", layer: str = "episodic") -> tuple[int, int]:
    return desk.add(f"From {name}", layer=layer).id, desk.add(f"To {name}", layer=layer).id


def weight(desk: Desk, source: int, target: int) -> float | None:
    return {it.target_id: it.weight for it in desk.synapses(source) if it.source_id == source}.get(target)


@pytest.mark.spec("memory_decay.idempotent-in-time", "memory_decay.figures")
def test_a_second_run_at_once_changes_nothing(desk: Desk) -> None:
    source, target = pair(desk)
    desk.link(source, target)
    desk.pass_days(8)

    first = desk.decay.decay(LOCAL_ADMIN)
    after = desk.synapses(source)

    assert first == MemoryDecayReport(decayed=1)
    assert weight(desk, source, target) == pytest.approx(0.95 ** (8 / 7))
    assert [desk.decay.decay(LOCAL_ADMIN) for _ in range(3)] == [MemoryDecayReport()] * 3
    assert desk.synapses(source) == after


@pytest.mark.spec("memory_decay.idempotent-in-time")
def test_thirty_nights_equal_one_run_after_thirty_days(desk: Desk) -> None:
    source, target = pair(desk)
    desk.link(source, target)
    for _ in range(30):
        desk.pass_days(1)
        desk.decay.decay(LOCAL_ADMIN)

    assert weight(desk, source, target) == pytest.approx(0.95 ** (30 / 7), abs=1e-9)


@pytest.mark.spec("memory_decay.access.over-ten")
def test_a_link_in_use_fades_slower(desk: Desk) -> None:
    hot, cold = pair(desk, "hot"), pair(desk, "cold")
    desk.link(*hot)
    desk.link(*cold)
    for _ in range(20):
        desk.searcher.get(LOCAL_ADMIN, hot[0])
    desk.pass_days(7)

    report = desk.decay.decay(LOCAL_ADMIN)

    assert weight(desk, *hot) == pytest.approx(0.99)
    assert weight(desk, *cold) == pytest.approx(0.95)
    assert report == MemoryDecayReport(decayed=2, access_exempted=1)


@pytest.mark.spec("memory_decay.untouched-only")
def test_a_link_touched_within_the_cycle_does_not_fade(desk: Desk) -> None:
    source, target = pair(desk)
    desk.link(source, target)
    desk.pass_days(6)
    desk.searcher.get(LOCAL_ADMIN, source)
    desk.pass_days(6)

    assert desk.decay.decay(LOCAL_ADMIN) == MemoryDecayReport()


@pytest.mark.spec("memory_decay.prunes-auto", "memory_decay.prune-only-decayed", "memory_decay.keeps-linked")
def test_only_what_decay_lowered_is_removed(desk: Desk) -> None:
    fell, made, linked = pair(desk, "fell"), pair(desk, "made"), pair(desk, "linked")
    desk.link(*fell, 0.11, ConnectionType.BM25_AUTO)
    desk.link(*made, 0.05, ConnectionType.BM25_AUTO)
    desk.link(*linked, 0.11)
    assert desk.decay.decay(LOCAL_ADMIN) == MemoryDecayReport()
    desk.pass_days(70)

    report = desk.decay.decay(LOCAL_ADMIN)

    assert weight(desk, *fell) is None
    assert weight(desk, *made) == 0.05
    assert weight(desk, *linked) == 0.1
    assert report == MemoryDecayReport(decayed=1, pruned=1)


@pytest.mark.spec("memory_decay.exempt-types")
def test_structure_does_not_fade(desk: Desk) -> None:
    source, target = pair(desk)
    for kind in (ConnectionType.SEQUENCE, ConnectionType.PARENT_CHILD):
        desk.link(source, target, 1.0, kind)
    desk.pass_days(900)

    assert desk.decay.decay(LOCAL_ADMIN) == MemoryDecayReport()


@pytest.mark.spec("memory_decay.matrix.rows")
def test_the_matrix_is_in_the_store_and_what_stands_there_counts(desk: Desk) -> None:
    source, target = pair(desk)
    desk.link(source, target)
    desk.decay.decay(LOCAL_ADMIN)
    assert len(desk.read(lambda tx: tx.synapses.decay_rates())) == 20
    changed = DecayRate("episodic", "episodic", ConnectionType.WIKILINK, 0.5)
    desk.write(lambda tx: tx.synapses.put_decay_rates([changed]))
    desk.pass_days(7)

    desk.decay.decay(LOCAL_ADMIN)

    assert weight(desk, source, target) == pytest.approx(0.5)
    assert len(desk.read(lambda tx: tx.synapses.decay_rates())) == 20


@pytest.mark.spec("memory_decay.by-layers-and-type")
def test_layers_decide_the_rate(desk: Desk) -> None:
    working, partner = pair(desk, "w", "working"), pair(desk, "p", "partner")
    desk.link(*working)
    desk.link(*partner)
    desk.pass_days(7)

    desk.decay.decay(LOCAL_ADMIN)

    assert weight(desk, *working) == pytest.approx(0.7)
    assert weight(desk, *partner) == pytest.approx(0.999)


def test_slices_leave_room_for_others_and_reach_every_link(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "SLICE", 2)
    pairs = [pair(desk, str(number)) for number in range(5)]
    for ends in pairs:
        desk.link(*ends)
    desk.pass_days(7)

    report = desk.decay.decay(LOCAL_ADMIN)

    assert report.decayed == 5
    assert len(desk.pauses) == 2


def test_a_run_is_audited_with_its_figures(desk: Desk) -> None:
    desk.decay.decay(LOCAL_ADMIN)

    events = desk.read(lambda tx: tx.upkeep.page_audit(10))

    assert [(event.event, event.data) for event in events] == [
        ("memory_decay_applied", {"decayed": 0, "pruned": 0, "access_exempted": 0})
    ]


@pytest.mark.spec("memory_decay.defaults")
def test_the_cycle_and_the_floor_may_be_given(desk: Desk) -> None:
    source, target = pair(desk)
    desk.link(source, target)
    desk.pass_days(2)

    desk.decay.decay(LOCAL_ADMIN, decay_days=1, prune_floor=0.93)

    assert weight(desk, source, target) == 0.93
    with pytest.raises(InvalidRequest, match="decay_days"):
        desk.decay.decay(LOCAL_ADMIN, decay_days=0)
