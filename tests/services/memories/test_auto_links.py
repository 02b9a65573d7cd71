"""Automatic links between memories that speak of the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.memories import MemoryFilter, Status
from graph_memory.domain.principal import LOCAL_ADMIN

if TYPE_CHECKING:
    from tests.services.memories.desk import Desk

ABOUT = "The connection pool of the billing service exhausted its sockets"


@pytest.mark.spec("autolink.on-add", "autolink.count-reported", "autolink.weight")
def test_a_new_memory_is_linked_to_what_speaks_of_the_same(desk: Desk) -> None:
    first = desk.add("Incident", ABOUT)
    desk.add("Lunch", "Tomato soup on Tuesdays")

    added = desk.add("Follow-up", f"{ABOUT} again")

    assert added.auto_links_created == 1
    ((target, weight),) = desk.automatic(added.id).items()
    assert target == first.id
    assert 0.2 <= weight <= 1.5


@pytest.mark.spec("autolink.same-project")
def test_automatic_links_stay_in_their_project(desk: Desk) -> None:
    desk.add("Elsewhere", ABOUT, project="beta")
    desk.add("Shared", ABOUT, project="_global")

    assert desk.add("Here", ABOUT).auto_links_created == 0


@pytest.mark.spec("autolink.at-most-five")
def test_at_most_five_are_made(desk: Desk) -> None:
    for number in range(8):
        desk.add(f"Incident {number}", ABOUT)

    assert desk.add("Follow-up", ABOUT).auto_links_created == 5


@pytest.mark.spec("autolink.any-script", "autolink.operators-are-words")
@pytest.mark.parametrize(
    "text",
    [
        "Выбор базы данных для биллинга и очередей",
        "データベースの接続プールを選択した理由",
        'connection AND pool OR NOT "sockets" (billing) title:x *',
    ],
)
def test_text_of_any_script_and_with_any_marks_is_linked(desk: Desk, text: str) -> None:
    first = desk.add("One", text)

    assert list(desk.automatic(desk.add("Two", text).id)) == [first.id]


@pytest.mark.spec("autolink.informative-terms")
def test_the_rarest_words_count_wherever_they_stand(desk: Desk) -> None:
    common = "meeting notes about the weekly project status and plans"
    weeks = (MemoryDraft(f"Week {number}", common, "note", "alpha", is_auto_linked=False) for number in range(60))
    desk.add_all(*weeks, links_within=False)
    desk.write(lambda tx: tx.memories.renew_common_terms())
    rare = desk.add("Physics", "bernoulli eigenvalue")

    added = desk.add("Odd week", f"{common} {common} {common} bernoulli eigenvalue")

    assert rare.id in desk.automatic(added.id)


def test_only_active_memories_are_linked_to(desk: Desk) -> None:
    first = desk.add("Incident", ABOUT)
    desk.put(replace(desk.memory(first.id), status=Status.INVALID))

    assert desk.add("Follow-up", ABOUT).auto_links_created == 0


def test_turns_of_one_batch_are_linked_to_those_before_and_parts_are_not(desk: Desk) -> None:
    drafts = [MemoryDraft(f"Turn {number}", ABOUT, "context", "alpha") for number in range(3)]
    turns = desk.add_all(*drafts)
    parts = desk.add_all(
        *(MemoryDraft(f"Part {number}", f"{ABOUT} eigenvalue", "context", "beta") for number in range(3)),
        links_within=False,
    )

    assert [sorted(desk.automatic(turn.id)) for turn in turns] == [[], [turns[0].id], [turns[0].id, turns[1].id]]
    assert [part.auto_links_created for part in parts] == [0, 0, 0]


def test_a_draft_may_ask_for_no_automatic_links(desk: Desk) -> None:
    desk.add("Incident", ABOUT)

    assert desk.add("Follow-up", ABOUT, is_auto_linked=False).auto_links_created == 0


@pytest.mark.spec("autolink.not-on-read")
def test_reading_makes_no_links(desk: Desk) -> None:
    first = desk.add("Incident", ABOUT)
    added = desk.add("Follow-up", ABOUT, is_auto_linked=False)

    desk.found("connection pool")
    desk.searcher.get(LOCAL_ADMIN, added.id)
    desk.searcher.recent(LOCAL_ADMIN, MemoryFilter())

    assert desk.synapses(added.id) == desk.synapses(first.id) == []
