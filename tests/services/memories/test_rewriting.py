"""Changing a memory: earlier texts are kept, links follow the new one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.errors import Conflict, InvalidRequest, NotFound
from graph_memory.domain.memories import ConnectionType, Mention
from graph_memory.services.rewrite import put_memory_text
from tests.services.memories.desk import POLICY

if TYPE_CHECKING:
    from tests.services.memories.desk import Desk

ABOUT = "The connection pool of the billing service exhausted its sockets"
OTHER = "Tomato soup with fresh basil for lunch on Tuesdays"


def test_the_earlier_text_is_kept(desk: Desk) -> None:
    added = desk.add("Title", "First.")
    desk.pass_days(1)

    desk.rewrite(added.id, "Second.")

    (version,) = desk.read(lambda tx: tx.memories.versions({added.id}))
    assert (version.title, version.content, version.replaced_at) == ("Title", "First.", desk.now)
    assert desk.memory(added.id).content == "Second."
    assert desk.memory(added.id).updated_at == desk.now


@pytest.mark.spec("wikilinks.written-again")
def test_saving_the_same_text_changes_nothing(desk: Desk) -> None:
    target = desk.add("Target", ABOUT)
    added = desk.add("Author", f"[[Target]] {ABOUT}")
    before = desk.synapses(added.id)
    desk.pass_days(1)

    for _ in range(4):
        assert not desk.rewrite(added.id, f"[[Target]] {ABOUT}").is_changed

    assert desk.synapses(added.id) == before
    assert desk.wikilinks(added.id) == {target.id: 1.0}
    assert desk.read(lambda tx: tx.memories.versions({added.id})) == []


def test_wikilinks_follow_the_text(desk: Desk) -> None:
    gone, kept, more, new = (desk.add(title).id for title in ("Gone", "Kept", "More", "New"))
    added = desk.add("Author", "[[Gone]] [[Kept]] [[More]] [[Missing]]")

    result = desk.rewrite(added.id, "[[Kept]] [[More]] [[More]] [[New]] [[Also missing]]")

    assert desk.wikilinks(added.id) == {kept: 1.0, more: 1.5, new: 1.0}
    assert gone not in desk.wikilinks(added.id)
    assert desk.open_links(added.id) == ["Also missing"]
    assert (result.wikilinks_resolved, result.wikilinks_dropped) == (3, 1)
    assert result.broken_wikilinks == ("Also missing",)


def test_a_link_made_by_hand_stays_when_the_text_changes(desk: Desk) -> None:
    target = desk.add("Target")
    added = desk.add("Author", "Plain.")
    desk.link(added.id, target.id, 2.0)

    desk.rewrite(added.id, "Still plain.")
    assert desk.wikilinks(added.id) == {target.id: 2.0}

    desk.rewrite(added.id, "Now [[Target]].")
    assert desk.wikilinks(added.id) == {target.id: 2.5}


def test_a_link_written_again_first_decays(desk: Desk) -> None:
    target = desk.add("Target")
    added = desk.add("Author", "[[Target]]")
    desk.pass_days(7)

    desk.rewrite(added.id, "[[Target]] [[Target]]")

    assert desk.wikilinks(added.id) == {target.id: pytest.approx(0.95 + 0.5)}


@pytest.mark.spec("autolink.found-again")
def test_automatic_links_are_found_anew(desk: Desk) -> None:
    incident, lunch = desk.add("Incident", ABOUT), desk.add("Lunch", OTHER)
    added = desk.add("Author", ABOUT)
    first = desk.automatic(added.id)[incident.id]

    desk.rewrite(added.id, f"{ABOUT} again")
    assert desk.automatic(added.id) == {incident.id: pytest.approx(first + 0.2)}

    result = desk.rewrite(added.id, OTHER)
    assert list(desk.automatic(added.id)) == [lunch.id]
    assert (result.auto_links_created, result.auto_links_dropped) == (1, 1)


def test_what_found_the_old_text_alike_lets_go_of_one_that_was_rewritten(desk: Desk) -> None:
    first = desk.add("Incident", ABOUT)
    follower = desk.add("Follow-up", f"{ABOUT} again")
    assert list(desk.automatic(follower.id)) == [first.id]

    desk.rewrite(first.id, f"{ABOUT} twice")
    assert list(desk.automatic(follower.id)) == [first.id]

    desk.rewrite(first.id, OTHER)
    assert desk.automatic(follower.id) == {}


def test_a_text_that_grows_keeps_no_versions_and_strengthens_nothing(desk: Desk) -> None:
    incident = desk.add("Incident", ABOUT)
    added = desk.add("Turn", ABOUT)
    first = desk.automatic(added.id)[incident.id]

    for number in range(3):
        desk.rewrite(added.id, f"{desk.memory(added.id).content} and {number}", is_growth=True)

    assert desk.read(lambda tx: tx.memories.versions({added.id})) == []
    assert desk.automatic(added.id) == {incident.id: first}


def test_a_new_title_makes_a_new_slug_and_answers_links_that_waited(desk: Desk) -> None:
    author = desk.add("Author", "[[New name]]")
    added = desk.add("Old name")

    result = desk.rewrite(added.id, title="New name")

    assert result.links_answered == 1
    assert desk.wikilinks(author.id) == {added.id: 1.0}
    assert desk.memory(added.id).slug == "new-name"


def test_another_spelling_of_the_title_keeps_the_slug(desk: Desk) -> None:
    desk.add("C")
    added = desk.add("C++")

    desk.rewrite(added.id, title="c++")

    assert (desk.memory(added.id).title, desk.memory(added.id).slug) == ("c++", added.slug)


def test_a_title_that_another_memory_has_is_a_conflict(desk: Desk) -> None:
    holder, added = desk.add("Taken"), desk.add("Free")

    with pytest.raises(Conflict) as refused:
        desk.rewrite(added.id, title="taken")

    assert refused.value.existing_id == holder.id
    assert desk.memory(added.id).title == "Free"


def test_another_project_is_another_neighbourhood(desk: Desk) -> None:
    here, there = desk.add("Here", ABOUT), desk.add("There", ABOUT, project="beta")
    added = desk.add("Author", ABOUT)
    assert list(desk.automatic(added.id)) == [here.id]
    moved = replace(desk.memory(added.id), project_id="beta")

    desk.write(lambda tx: put_memory_text(tx, moved, moved.title, moved.content, desk.now, POLICY))

    assert list(desk.automatic(added.id)) == [there.id]


def test_mentions_that_the_text_itself_made_outlive_its_links(desk: Desk) -> None:
    linked, spoken = desk.add_entity("Postgres"), desk.add_entity("Kafka")
    added = desk.add("Author", "[[Postgres]]; Kafka too")
    desk.write(lambda tx: tx.memories.add_mentions([Mention(added.id, spoken.id, desk.now)]))

    desk.rewrite(added.id, "Kafka only")

    assert desk.mentions(added.id) == [spoken.id]
    assert linked.id not in desk.mentions(added.id)


def test_other_fields_are_those_that_were_passed(desk: Desk) -> None:
    added = desk.add("Author", "Same.", tags=["a"])
    changed = replace(desk.memory(added.id), tags=("B", "b"), summary=" s ", importance_score=2.0)

    result = desk.write(lambda tx: put_memory_text(tx, changed, "Author", "Same.", desk.now, POLICY))

    memory = desk.memory(added.id)
    assert result.is_changed
    assert (memory.tags, memory.summary, memory.importance_score) == (("B",), "s", 2.0)
    assert desk.read(lambda tx: tx.memories.versions({added.id})) == []


def test_empty_texts_and_missing_memories_are_refused(desk: Desk) -> None:
    added = desk.add("Author")

    with pytest.raises(InvalidRequest, match="content"):
        desk.rewrite(added.id, " ")
    with pytest.raises(InvalidRequest, match="title"):
        desk.rewrite(added.id, title=" ")
    ghost = replace(desk.memory(added.id), id=999)
    with pytest.raises(NotFound, match="memory_search"):
        desk.write(lambda tx: put_memory_text(tx, ghost, "A", "b", desk.now, POLICY))


def test_the_cap_holds_after_a_rewrite(desk: Desk) -> None:
    hub, added = desk.add("Hub"), desk.add("Author", "Plain.")
    for number in range(50):
        desk.link(desk.add(f"Like {number}").id, hub.id, 0.3, ConnectionType.BM25_AUTO)

    desk.rewrite(added.id, "[[Hub]]")

    assert len([it for it in desk.synapses(hub.id) if it.target_id == hub.id]) == 50
