"""Notes that have had their time are archived, in slices, and nobody else's."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.memories import Lifecycle, Status
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.services import expire
from graph_memory.services.expire import Expire, Expired
from tests.services.memories.desk import POLICY, START

if TYPE_CHECKING:
    from graph_memory.domain.memories import Memory
    from tests.services.memories.desk import Desk


def expiring(desk: Desk) -> Expire:
    return Expire(desk.store, desk.clock, POLICY, desk.pauses.append)


def archived_events(desk: Desk) -> list[object]:
    events = desk.read(lambda tx: tx.upkeep.page_audit(10_000))
    return [it.data["memory_id"] for it in events if it.event == "memory_archived"]


def make_ephemeral(desk: Desk, memory_id: int, **changes: object) -> None:
    memory: Memory = desk.memory(memory_id)
    desk.put(replace(memory, lifecycle=Lifecycle.EPHEMERAL, expires_at=None, **changes))  # type: ignore[arg-type]


@pytest.mark.spec("jobs.expire")
def test_a_note_is_archived_once_its_expiry_has_passed_and_audited(desk: Desk) -> None:
    note = desk.add("Offer", "The quartz offer ends soon.", expires_at=START + timedelta(days=3))
    kept = desk.add("Rule", "The quartz rule stays.")
    desk.pass_days(2.99)
    assert expiring(desk).expire(LOCAL_ADMIN) == Expired()

    desk.pass_days(0.01)
    assert expiring(desk).expire(LOCAL_ADMIN) == Expired(archived=1)

    assert desk.memory(note.id).status is Status.ARCHIVED
    assert desk.memory(note.id).updated_at == desk.now
    assert desk.memory(kept.id).status is Status.ACTIVE
    assert desk.found("quartz") == ["Rule"]
    assert archived_events(desk) == [note.id]


@pytest.mark.spec("jobs.expire")
def test_an_expiry_rules_whatever_the_lifecycle(desk: Desk) -> None:
    soon = START + timedelta(days=1)
    ids = [desk.add(it, lifecycle=it, expires_at=soon).id for it in Lifecycle]
    later = desk.add("Later", lifecycle="ephemeral", expires_at=START + timedelta(days=100)).id
    desk.pass_days(50)
    assert expiring(desk).expire(LOCAL_ADMIN).archived == len(ids)
    assert desk.memory(later).status is Status.ACTIVE


@pytest.mark.spec("jobs.expire.ephemeral")
def test_an_ephemeral_note_without_an_expiry_lives_a_fortnight_from_its_last_change(desk: Desk) -> None:
    short = desk.add("Short-lived").id
    make_ephemeral(desk, short)
    late = desk.add("Made ephemeral late").id
    lasting = desk.add("Lasting").id
    desk.pass_days(13.9)
    make_ephemeral(desk, late, updated_at=desk.now)
    assert expiring(desk).expire(LOCAL_ADMIN) == Expired()

    desk.pass_days(0.1)
    assert expiring(desk).expire(LOCAL_ADMIN) == Expired(archived=1, ephemeral=1)

    assert [desk.memory(it).status for it in (short, late, lasting)] == [Status.ARCHIVED, Status.ACTIVE, Status.ACTIVE]


@pytest.mark.spec("jobs.expire.ephemeral")
def test_an_ephemeral_note_added_with_no_more_is_gone_after_a_fortnight(desk: Desk) -> None:
    note = desk.add("Passing", lifecycle="ephemeral").id
    desk.pass_days(14)
    assert expiring(desk).expire(LOCAL_ADMIN).archived == 1
    assert desk.memory(note).status is Status.ARCHIVED


@pytest.mark.spec("jobs.expire")
def test_a_second_run_at_once_changes_nothing(desk: Desk) -> None:
    note = desk.add("Offer", expires_at=START).id
    desk.pass_days(1)
    expiring(desk).expire(LOCAL_ADMIN)
    before = desk.memory(note)
    desk.pass_days(1)
    assert expiring(desk).expire(LOCAL_ADMIN) == Expired()
    assert desk.memory(note) == before
    assert archived_events(desk) == [note]


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.INVALID, Status.ARCHIVED])
def test_what_is_not_active_keeps_its_status(desk: Desk, status: Status) -> None:
    note = desk.add("Old", expires_at=START).id
    desk.put(replace(desk.memory(note), status=status))
    desk.pass_days(1)
    assert expiring(desk).expire(LOCAL_ADMIN) == Expired()
    assert desk.memory(note).status is status


def test_links_of_an_archived_note_stay_as_they_are(desk: Desk) -> None:
    source, target = desk.add("From", expires_at=START).id, desk.add("To").id
    desk.link(source, target)
    before = desk.synapses(source)
    desk.pass_days(1)
    expiring(desk).expire(LOCAL_ADMIN)
    assert before
    assert desk.synapses(source) == before


@pytest.mark.spec("jobs.slices")
def test_many_are_archived_in_slices_with_pauses_between(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expire, "PAGE", 4)
    monkeypatch.setattr(expire, "SLICE", 2)
    ids = [desk.add(f"Offer {number}", expires_at=START).id for number in range(9)]
    desk.pass_days(1)
    assert expiring(desk).expire(LOCAL_ADMIN) == Expired(archived=9)
    assert archived_events(desk) == ids
    assert len(desk.pauses) == 5


def test_a_note_that_was_given_more_time_meanwhile_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expire, "SLICE", 1)
    first, second = (desk.add(it, expires_at=START).id for it in ("First", "Second"))
    desk.pass_days(1)

    def prolong(_seconds: float) -> None:
        desk.put(replace(desk.memory(second), expires_at=desk.now + timedelta(days=1)))

    assert Expire(desk.store, desk.clock, POLICY, prolong).expire(LOCAL_ADMIN) == Expired(archived=1)
    assert [desk.memory(it).status for it in (first, second)] == [Status.ARCHIVED, Status.ACTIVE]


def test_a_crash_leaves_the_rest_for_the_next_run(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expire, "SLICE", 1)
    ids = [desk.add(it, expires_at=START).id for it in ("First", "Second")]
    desk.pass_days(1)

    def crash(_seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Expire(desk.store, desk.clock, POLICY, crash).expire(LOCAL_ADMIN)
    assert [desk.memory(it).status for it in ids] == [Status.ARCHIVED, Status.ACTIVE]
    assert expiring(desk).expire(LOCAL_ADMIN) == Expired(archived=1)
    assert archived_events(desk) == ids


def test_another_tenants_notes_are_left_alone(desk: Desk) -> None:
    guest = Principal("guest")
    mine = desk.memory(desk.add("Mine", expires_at=START).id)
    (theirs,) = desk.store.write(guest, lambda tx: tx.memories.add([replace(mine, id=0)]))
    desk.pass_days(1)
    assert expiring(desk).expire(LOCAL_ADMIN) == Expired(archived=1)
    assert desk.store.read(guest, lambda tx: tx.memories.find([theirs]))[theirs].status is Status.ACTIVE
    assert expiring(desk).expire(guest) == Expired(archived=1)
