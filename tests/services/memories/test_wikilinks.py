"""Wikilinks: what they lead to, now or later, and how heavy they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.memories import ConnectionType, MemoryFilter
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.services.links import answer_with_entities

if TYPE_CHECKING:
    from tests.services.memories.desk import Desk


@pytest.mark.spec(
    "wikilinks.by-id",
    "wikilinks.by-title",
    "wikilinks.by-slug",
    "wikilinks.alias",
    "wikilinks.heading",
    "wikilinks.block",
    "wikilinks.embed",
    "wikilinks.direction",
    "wikilinks.weight",
)
@pytest.mark.parametrize(
    "link",
    [
        "[[{id}]]",
        "[[Connection pool]]",
        "[[connection  POOL]]",
        "[[connection-pool]]",
        "[[Connection pool|the pool]]",
        "[[Connection pool#Size]]",
        "[[Connection pool#^b1]]",
        "![[Connection pool]]",
        "[[Connection pool.md]]",
    ],
)
def test_a_link_leads_from_its_author_to_what_it_names(desk: Desk, link: str) -> None:
    target = desk.add("Connection pool")

    added = desk.add("Author", link.format(id=target.id))

    assert added.wikilinks_resolved == 1
    assert added.broken_wikilinks == ()
    assert desk.wikilinks(added.id) == {target.id: 1.0}


@pytest.mark.spec("wikilinks.code-span", "wikilinks.code-fence")
@pytest.mark.parametrize("text", ["`[[Target]]`", "```\n[[Target]]\n```"])
def test_a_link_in_code_is_none(desk: Desk, text: str) -> None:
    desk.add("Target")

    added = desk.add("Author", text)

    assert (added.wikilinks_resolved, added.broken_wikilinks) == (0, ())


@pytest.mark.spec("wikilinks.written-again", "wikilinks.cap")
def test_a_link_weighs_more_for_each_time_it_is_written(desk: Desk) -> None:
    target = desk.add("Target")

    twice = desk.add("Twice", "[[Target]] and [[target]]")
    often = desk.add("Often", "[[Target]] " * 40)

    assert desk.wikilinks(twice.id) == {target.id: 1.5}
    assert desk.wikilinks(often.id) == {target.id: 5.0}
    assert twice.wikilinks_resolved == 1


@pytest.mark.spec("wikilinks.self")
def test_a_link_to_itself_is_no_synapse(desk: Desk) -> None:
    added = desk.add("Narcissus", "[[Narcissus]]")

    assert desk.synapses(added.id) == []
    assert added.broken_wikilinks == ()


@pytest.mark.spec("wikilinks.same-project-first", "wikilinks.global-second", "wikilinks.other-project-single")
def test_the_nearest_project_answers(desk: Desk) -> None:
    far = desk.add("Plan", project="beta")
    single = desk.add("Author 1", "[[Plan]]")
    shared = desk.add("Plan", project="_global")
    second = desk.add("Author 2", "[[Plan]]")
    near = desk.add("Plan")
    third = desk.add("Author 3", "[[Plan]]")

    assert desk.wikilinks(single.id) == {far.id: 1.0}
    assert [(link.memory_id, link.project_id) for link in single.foreign_wikilinks] == [(far.id, "beta")]
    assert desk.wikilinks(second.id) == {shared.id: 1.0}
    assert desk.wikilinks(third.id) == {near.id: 1.0}
    assert third.foreign_wikilinks == ()


@pytest.mark.spec("wikilinks.ambiguous")
def test_several_other_projects_leave_a_link_open_until_its_own_has_it(desk: Desk) -> None:
    beta, gamma = desk.add("Plan", project="beta"), desk.add("Plan", project="gamma")

    author = desk.add("Author", "[[Plan]]")

    (ambiguous,) = author.ambiguous_wikilinks
    assert ambiguous.candidates == (str(beta.id), str(gamma.id))
    assert desk.wikilinks(author.id) == {}

    near = desk.add("Plan")

    assert desk.wikilinks(author.id) == {near.id: 1.0}
    assert desk.open_links(author.id) == []


@pytest.mark.spec("wikilinks.broken-reported", "wikilinks.late")
@pytest.mark.parametrize("link", ["[[Later note]]", "[[later-note]]", "[[later  NOTE|x]]"])
def test_a_link_is_made_when_its_target_comes(desk: Desk, link: str) -> None:
    author = desk.add("Author", f"{link} and again {link}, not [[Never]]")
    assert author.wikilinks_resolved == 0
    assert len(author.broken_wikilinks) == 2

    later = desk.add("Later note")

    assert later.links_answered == 1
    assert desk.wikilinks(author.id) == {later.id: 1.5}
    assert desk.open_links(author.id) == ["Never"]


@pytest.mark.spec("wikilinks.late")
def test_links_of_other_projects_are_answered_by_a_single_match(desk: Desk) -> None:
    author = desk.add("Author", "[[Plan]]", project="beta")

    plan = desk.add("Plan")

    assert desk.wikilinks(author.id) == {plan.id: 1.0}


@pytest.mark.spec("wikilinks.late", "wikilinks.late-by-ingest")
def test_links_by_file_are_answered_by_the_file(desk: Desk) -> None:
    author = desk.add("Author", "[[docs/Setup]] and [[other/Setup]]")

    (setup,) = desk.add_all(
        MemoryDraft("Setup", "How to.", "context", "alpha", content_key="k", source_file="vault/docs/Setup.md")
    )

    assert desk.wikilinks(author.id) == {setup.id: 1.0}
    assert desk.open_links(author.id) == ["other/Setup"]


@pytest.mark.spec("wikilinks.entity")
def test_a_link_to_an_entity_is_a_mention(desk: Desk) -> None:
    postgres = desk.add_entity("Postgres")

    added = desk.add("Author", "[[postgres]] it is")

    assert added.mentions == (postgres.id,)
    assert added.broken_wikilinks == ()
    assert desk.mentions(added.id) == [postgres.id]


def test_a_memory_comes_before_an_entity_and_two_entities_are_ambiguous(desk: Desk) -> None:
    memory = desk.add("Postgres")
    desk.add_entity("Postgres")
    types = [desk.add_entity("Kafka"), desk.add_entity("Kafka", "Concept")]

    added = desk.add("Author", "[[Postgres]] or [[Kafka]]")

    assert desk.wikilinks(added.id) == {memory.id: 1.0}
    assert [link.target for link in added.ambiguous_wikilinks] == ["Kafka"]
    assert set(added.ambiguous_wikilinks[0].candidates) == {it.id for it in types}


def test_an_entity_that_comes_later_answers_open_links(desk: Desk) -> None:
    author = desk.add("Author", "[[Kafka]] and [[Redis]]")
    kafka = desk.add_entity("Kafka")

    answered = desk.write(lambda tx: answer_with_entities(tx, [kafka], desk.now, GraphPolicy()))

    assert answered == 1
    assert desk.mentions(author.id) == [kafka.id]
    assert desk.open_links(author.id) == ["Redis"]


@pytest.mark.spec(
    "synapse-cap.wikilinks-kept", "synapse-cap.in", "synapse-cap.drops-weakest-auto", "synapse-cap.on-insert"
)
def test_a_hub_keeps_every_wikilink_and_loses_automatic_ones(desk: Desk) -> None:
    hub = desk.add("Hub", "bernoulli principle lift")
    for number in range(10):
        other = desk.add(f"Like {number}")
        desk.link(other.id, hub.id, 0.2 + number / 100, ConnectionType.BM25_AUTO)

    def link_to_hub(*titles: str) -> None:
        drafts = (MemoryDraft(title, "[[Hub]]", "note", "alpha", is_auto_linked=False) for title in titles)
        desk.add_all(*drafts, links_within=False)

    link_to_hub(*(f"Author {number}" for number in range(45)))

    kept = [it for it in desk.synapses(hub.id) if it.target_id == hub.id]
    automatic = sorted(it.weight for it in kept if it.connection_type is ConnectionType.BM25_AUTO)
    assert len(kept) == 50
    assert automatic == pytest.approx([0.25, 0.26, 0.27, 0.28, 0.29])

    link_to_hub(*(f"Fan {number}" for number in range(75)))

    kept = [it for it in desk.synapses(hub.id) if it.target_id == hub.id]
    assert {it.connection_type for it in kept} == {ConnectionType.WIKILINK}
    assert len(kept) == 120


@pytest.mark.spec("synapse-cap.out")
def test_a_note_full_of_links_drops_its_automatic_ones(desk: Desk) -> None:
    desk.add("Alike", "bernoulli principle lift")
    desk.add_all(*(MemoryDraft(f"T{number}", "-", "note", "alpha") for number in range(50)))

    links = " ".join(f"[[T{number}]]" for number in range(50))
    added = desk.add("Index", f"bernoulli principle lift {links}")

    assert added.wikilinks_resolved == 50
    assert added.auto_links_created == 0
    assert len(desk.synapses(added.id)) == 50


@pytest.mark.spec("wikilinks.rendered.id", "wikilinks.rendered.slug", "wikilinks.rendered.stored-as-written")
def test_links_are_shown_by_the_title_their_target_has_now(desk: Desk) -> None:
    target = desk.add("Old name")
    written = f"See [[{target.id}]], [[old-name]] and [[nowhere]]."
    author = desk.add("Author", written)
    desk.put(replace(desk.memory(target.id), title="New name"))

    shown = _opened(desk, author.id)

    assert shown == "See [[New name]], [[New name]] and [[nowhere]]."
    assert desk.memory(author.id).content == written


@pytest.mark.spec("wikilinks.rendered.everywhere")
def test_links_are_shown_by_title_wherever_text_is_shown(desk: Desk) -> None:
    target = desk.add("Connection pool")
    desk.pass_days(1)
    desk.add("Author", f"bernoulli [[{target.id}]]")

    (found,) = desk.searcher.search(LOCAL_ADMIN, "bernoulli", MemoryFilter()).found
    newest = desk.searcher.recent(LOCAL_ADMIN, MemoryFilter()).memories[0]

    assert found.snippet == found.memory.content == newest.content == "bernoulli [[Connection pool]]"


def _opened(desk: Desk, memory_id: int) -> str:
    return desk.searcher.get(LOCAL_ADMIN, memory_id).memory.content
