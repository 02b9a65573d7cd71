"""Adding memories: checked, redacted, named, and all of it or nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.errors import Conflict, InvalidRequest
from graph_memory.domain.memories import ConnectionType, Layer, Lifecycle
from graph_memory.services.write import add_memory, add_parts, add_sequence
from tests.services.memories.desk import POLICY

if TYPE_CHECKING:
    from graph_memory.ports.store import WriteTransaction
    from tests.services.memories.desk import Desk

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.spec("memory_add.result", "memory_add.tags", "memory_add.optional-kept")
def test_a_memory_is_stored_with_all_that_was_said(desk: Desk) -> None:
    added = desk.add(
        "Pool size",
        "Twenty connections.",
        tags=["#Db", "db", "Pool"],
        summary="20",
        session_id="s1",
        layer="procedural",
        lifecycle="permanent",
        expires_at="2027-01-01",
        source="manual",
    )

    memory = desk.memory(added.id)
    assert (memory.title, memory.slug, memory.content) == ("Pool size", "pool-size", "Twenty connections.")
    assert (memory.tags, memory.summary, memory.session_id) == (("Db", "Pool"), "20", "s1")
    assert (memory.layer, memory.lifecycle) == (Layer.PROCEDURAL, Lifecycle.PERMANENT)
    assert memory.expires_at is not None
    assert memory.expires_at.year == 2027
    assert added.slug == "pool-size"


@pytest.mark.spec("memory_add.title-taken")
def test_a_taken_title_is_a_conflict_that_names_the_holder(desk: Desk) -> None:
    first = desk.add("Postgres choice", "We use Postgres.")

    with pytest.raises(Conflict, match=str(first.id)) as refused:
        desk.add(" postgres  Choice ", "Something else.")

    assert refused.value.existing_id == first.id
    assert desk.count() == 1
    assert desk.memory(first.id).content == "We use Postgres."


def test_the_same_memory_sent_again_is_already_known(desk: Desk) -> None:
    first = desk.add("Postgres choice", "We use Postgres.")

    for _ in range(2):
        with pytest.raises(Conflict, match="already known") as refused:
            desk.add("Postgres choice", "We use Postgres.")
        assert refused.value.existing_id == first.id

    assert desk.count() == 1


def test_projects_have_titles_of_their_own(desk: Desk) -> None:
    assert desk.add("Plan").slug == desk.add("Plan", project="beta").slug == "plan"


def test_titles_that_share_a_slug_get_a_hash_of_their_own(desk: Desk) -> None:
    slugs = [desk.add(title).slug for title in ("C", "C++", "C#", "日本語のメモ", "Заметка", "!!!", "???")]

    assert slugs[0] == "c"
    assert all(slug.startswith("c-") for slug in slugs[1:3])
    assert slugs[3:5] == ["日本語のメモ", "заметка"]
    assert all(slug.startswith("memory-") for slug in slugs[5:])
    assert len(set(slugs)) == len(slugs)


@pytest.mark.spec("memory_add.empty-refused")
@pytest.mark.parametrize(("title", "content", "argument"), [(" \n", "Content", "title"), ("Title", " \n", "content")])
def test_an_empty_text_is_refused_and_nothing_is_stored(desk: Desk, title: str, content: str, argument: str) -> None:
    with pytest.raises(InvalidRequest, match=argument):
        desk.add_all(MemoryDraft("Other", "Content", "note"), MemoryDraft(title, content, "note"))

    assert desk.count() == 0


def test_secrets_are_counted_and_never_stored(desk: Desk) -> None:
    added = desk.add(f"Token {SECRET}", f"It is {SECRET}, keep it.", summary=SECRET)

    assert SECRET not in repr(desk.memory(added.id))
    assert sum(added.redactions.values()) == 3
    events = desk.read(lambda tx: tx.upkeep.page_audit(10))
    assert [event.event for event in events] == ["memory_added", "redacted"]
    assert SECRET not in repr(events)


@pytest.mark.spec("memory_add.atomic")
def test_a_write_that_fails_late_leaves_nothing(desk: Desk) -> None:
    desk.add("Target", "Shared words about connection pooling.")

    def work(tx: WriteTransaction) -> None:
        add_memory(tx, MemoryDraft("New", "[[Target]] and pooling", "note", "alpha", tags=["t"]), desk.now, POLICY)
        raise RuntimeError("the power went")

    with pytest.raises(RuntimeError, match="power"):
        desk.write(work)

    assert desk.count() == 1
    assert desk.synapses(1) == []


def test_a_content_key_that_is_stored_is_known_and_changes_nothing(desk: Desk) -> None:
    draft = MemoryDraft("Turn", "Hello.", "context", "alpha", content_key="k1")
    (first,) = desk.add_all(draft)

    again, other, twin = desk.add_all(
        replace(draft, content="Changed."),
        MemoryDraft("B", "b", "note", content_key="k2"),
        MemoryDraft("C", "c", "note", content_key="k2"),
    )

    assert (again.id, again.is_known) == (first.id, True)
    assert (twin.id, twin.is_known, other.is_known) == (other.id, True, False)
    assert desk.memory(first.id).content == "Hello."
    assert desk.count() == 2


def test_ingest_never_conflicts_over_a_title(desk: Desk) -> None:
    drafts = [
        MemoryDraft("Setup", f"text {key}", "context", "alpha", content_key=key, other_titles=("Setup (docs)",))
        for key in ("k1", "k2", "k3", "k4")
    ]

    titles = [added.title for added in desk.add_all(*drafts)]

    assert titles[:2] == ["Setup", "Setup (docs)"]
    assert all(title.startswith("Setup (") for title in titles[2:])
    assert len(set(titles)) == 4


def test_a_batch_answers_in_its_order_and_its_texts_find_each_other(desk: Desk) -> None:
    first, second = desk.add_all(
        MemoryDraft("One", "see [[Two]]", "note", "alpha"),
        MemoryDraft("Two", "see [[One]] and [[Three]]", "note", "alpha"),
    )

    assert desk.wikilinks(first.id) == {second.id: 1.0}
    assert desk.wikilinks(second.id) == {first.id: 1.0}
    assert second.broken_wikilinks == ("Three",)


def test_a_batch_with_a_taken_title_stores_nothing(desk: Desk) -> None:
    with pytest.raises(Conflict):
        desk.add_all(MemoryDraft("Same", "a", "note"), MemoryDraft("same", "b", "note"))

    assert desk.count() == 0


def test_an_empty_batch_is_nothing_to_do(desk: Desk) -> None:
    assert list(desk.add_all()) == []


def test_parts_hang_on_their_document_and_turns_on_each_other(desk: Desk) -> None:
    ids = [desk.add(title).id for title in ("Whole", "Part 1", "Part 2")]

    desk.write(lambda tx: add_parts(tx, ids[0], ids[1:], desk.now))
    desk.write(lambda tx: add_sequence(tx, [ids[2], ids[2], ids[0]], desk.now))

    made = {tuple(synapse.key) for id_ in ids for synapse in desk.synapses(id_)}
    assert made == {
        (ids[0], ids[1], ConnectionType.PARENT_CHILD),
        (ids[0], ids[2], ConnectionType.PARENT_CHILD),
        (ids[1], ids[2], ConnectionType.SEQUENCE),
        (ids[2], ids[0], ConnectionType.SEQUENCE),
    }


def test_warnings_come_back(desk: Desk) -> None:
    added = desk.add("Loud", confidence=7)

    assert desk.memory(added.id).confidence == 1.0
    assert len(added.warnings) == 1
