"""Memories, with their tags, mentions, open links and earlier versions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.errors import Conflict, NotFound
from graph_memory.domain.ledger import VectorOwner
from graph_memory.domain.memories import (
    ConnectionType,
    Layer,
    Lifecycle,
    MemoryFilter,
    MemoryOrder,
    MemoryVersion,
    Mention,
    OpenLink,
    Source,
    Status,
)
from tests.contract.samples import ALL, ANY_MEMORY, NOW, ODD_TEXTS, day, entity, evidence, memory, synapse, vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph_memory.domain.memories import Memory
    from graph_memory.ports.store import ReadTransaction, WriteTransaction
    from tests.contract.stores import Caller


def added(alice: Caller, *memories: Memory) -> list[int]:
    return list(alice.write(lambda tx: tx.memories.add(memories)))


def titles(memories: Sequence[Memory]) -> list[str]:
    return [one.title for one in memories]


def page(tx: ReadTransaction) -> list[str]:
    return titles(tx.memories.page(ANY_MEMORY, MemoryOrder.ID, ALL))


@pytest.mark.spec("storage.memory.fields")
def test_every_field_comes_back_as_it_was_added(alice: Caller) -> None:
    whole = memory(
        "The Whole: 東京",
        7,
        "content with\n\n## heads and [[links]]",
        slug="an-odd slug",
        category="décision",
        created_at=day(-2),
        updated_at=day(-1),
        project_id="proj/é",
        layer=Layer.PARTNER,
        lifecycle=Lifecycle.PERMANENT,
        status=Status.ARCHIVED,
        source=Source.DERIVED,
        summary="short",
        tags=("a tag", "zweiter"),
        session_id="session",
        confidence=1 / 3,
        importance_score=0.1 + 0.2,
        boost=-9.5,
        accessed_at=day(-0.5),
        access_count=2**40,
        expires_at=day(30),
        content_key="key",
        source_file="notes/é.md",
        is_abandoned=True,
    )
    assert added(alice, whole) == [7]
    assert alice.read(lambda tx: tx.memories.find([7])) == {7: whole}


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_serves_as_title_content_tag_and_key(alice: Caller, text: str) -> None:
    odd = memory(text, 1, text, slug=text, category=text, project_id=text, tags=(text,), content_key=text)
    added(alice, odd)

    def check(tx: ReadTransaction) -> None:
        assert tx.memories.find([1]) == {1: odd}
        assert tx.memories.find_by_content_key([text]) == {text: odd}
        assert list(tx.memories.find_by_title([odd.title_key], text)) == [odd]
        assert list(tx.memories.find_by_slug([text], text)) == [odd]
        assert tx.memories.count(MemoryFilter(project_id=text, category=text)) == 1

    alice.read(check)


def test_a_long_content_comes_back_whole(alice: Caller) -> None:
    content = "wörd " * 400_000
    added(alice, memory("Long", 1, content))
    assert alice.read(lambda tx: tx.memories.find([1]))[1].content == content


@pytest.mark.spec("storage.memory.integer-id")
def test_ids_are_positive_rising_and_in_the_order_given(alice: Caller) -> None:
    first = added(alice, memory("c"), memory("a"), memory("b"))
    second = added(alice, memory("d"))
    assert first + second == sorted(set(first + second))
    assert first[0] > 0
    assert titles([alice.read(lambda tx: tx.memories.find(first))[id_] for id_ in first]) == ["c", "a", "b"]


def test_a_given_id_is_kept_and_later_ones_are_larger(alice: Caller) -> None:
    first, given, later = added(alice, memory("a"), memory("b", 1_000), memory("c"))
    assert given == 1_000
    assert first < 1_000 < later
    assert added(alice, memory("d", 500)) == [500]
    assert added(alice, memory("e"))[0] > later


@pytest.mark.spec("storage.memory.integer-id")
def test_an_id_is_never_used_again(alice: Caller) -> None:
    ids = added(alice, memory("a"), memory("b"))
    alice.write(lambda tx: tx.memories.delete(ids))
    assert min(added(alice, memory("a"), memory("b"))) > max(ids)


def test_a_given_id_may_come_back(alice: Caller) -> None:
    added(alice, memory("a", 5))
    alice.write(lambda tx: tx.memories.delete([5]))
    assert added(alice, memory("a", 5)) == [5]


@pytest.mark.spec("storage.memory.title-unique")
@pytest.mark.parametrize(
    "other",
    [
        memory("NOTE  one", slug="other"),
        memory("Other", slug="note-one"),
        memory("Other", content_key="key"),
        memory("Other", 1),
    ],
    ids=["title", "slug", "content key", "id"],
)
def test_what_is_taken_in_a_project_can_not_be_added(alice: Caller, other: Memory) -> None:
    added(alice, memory("Note one", 1, content_key="key"))
    with pytest.raises(Conflict):
        added(alice, memory("Before"), other)
    assert alice.read(page) == ["Note one"]


@pytest.mark.spec("storage.memory.title-unique")
def test_titles_and_slugs_are_free_in_another_project(alice: Caller) -> None:
    added(alice, memory("Note"), memory("Note", project_id="p1"), memory("Note", project_id="p2"))
    assert alice.read(page) == ["Note", "Note", "Note"]


def test_many_memories_have_no_content_key(alice: Caller) -> None:
    added(alice, memory("a"), memory("b"))
    assert alice.read(page) == ["a", "b"]


def test_put_replaces_all_fields_tags_included(alice: Caller) -> None:
    added(alice, memory("Old", 1, "old", tags=("x", "y"), content_key="key"), memory("Other", 2, tags=("z",)))
    new = memory("New", 1, "new", tags=("w",), project_id="p", access_count=3, accessed_at=day(1))
    alice.write(lambda tx: tx.memories.put([new]))

    def check(tx: ReadTransaction) -> None:
        assert tx.memories.find([1]) == {1: new}
        assert tx.memories.find([2])[2].tags == ("z",)
        assert tx.memories.find_by_content_key(["key"]) == {}
        assert list(tx.memories.find_by_title(["old"])) == []

    alice.read(check)


def test_earlier_texts_are_replaced_for_those_that_are_named(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        tx.memories.add([memory("a", 1), memory("b", 2), memory("c", 3)])
        tx.memories.add_versions([MemoryVersion(it, "was", f"was {it}", NOW) for it in (1, 1, 2, 3)])
        tx.memories.put_versions({1: [MemoryVersion(1, "was", "clean", NOW)], 2: []})

    alice.write(work)
    left = alice.read(lambda tx: tx.memories.versions([1, 2, 3]))
    assert [(it.memory_id, it.content) for it in left] == [(1, "clean"), (3, "was 3")]


def test_earlier_texts_need_their_memory(alice: Caller) -> None:
    with pytest.raises(Conflict):
        alice.write(lambda tx: tx.memories.put_versions({9: [MemoryVersion(9, "was", "was", NOW)]}))


def test_put_keeps_what_hangs_on_the_memory(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        tx.memories.add([memory("a", 1), memory("b", 2)])
        tx.entities.put([entity("x")])
        tx.memories.add_mentions([Mention(1, "x", NOW)])
        tx.memories.put_open_links([OpenLink(1, "open")])
        tx.memories.add_versions([MemoryVersion(1, "was", "was", NOW)])
        tx.synapses.put([synapse(1, 2)])
        tx.memories.put([memory("c", 1)])

    alice.write(work)

    def check(tx: ReadTransaction) -> None:
        assert len(tx.memories.mentions_of_memories([1])) == 1
        assert len(tx.memories.open_links([1])) == 1
        assert len(tx.memories.versions([1])) == 1
        assert tx.synapses.degrees([1]) == {1: (1, 0)}

    alice.read(check)


@pytest.mark.parametrize("other", [memory("NOTE one", 2, slug="other"), memory("Other", 2, slug="note-one")])
def test_put_does_not_take_what_another_has(alice: Caller, other: Memory) -> None:
    added(alice, memory("Note one", 1), memory("Second", 2))
    with pytest.raises(Conflict):
        alice.write(lambda tx: tx.memories.put([other]))
    assert alice.read(page) == ["Note one", "Second"]


def test_put_needs_the_memory(alice: Caller) -> None:
    added(alice, memory("Note", 1))
    with pytest.raises(NotFound):
        alice.write(lambda tx: tx.memories.put([memory("New", 1), memory("Other", 2)]))
    assert alice.read(page) == ["Note"]


@pytest.mark.parametrize("huge", [2**63 - 1, 2**63, 2**64, 10**40])
def test_ids_beyond_any_store_are_not_found(alice: Caller, huge: int) -> None:
    added(alice, memory("Note", 1))

    def check(tx: WriteTransaction) -> None:
        assert set(tx.memories.find([1, huge])) == {1}
        assert tx.memories.delete([huge]) == 0
        tx.memories.touch([huge], NOW)
        assert not tx.memories.open_links([huge])
        assert not tx.memories.mentions_of_memories([huge])

    alice.write(check)


def test_titles_and_slugs_are_found_in_one_project_or_all_by_id(alice: Caller) -> None:
    added(
        alice,
        memory("Note", 3),
        memory("NOTE", 1, project_id="p", status=Status.INVALID),
        memory("Other", 2, project_id="p"),
    )

    def check(tx: ReadTransaction) -> None:
        assert [one.id for one in tx.memories.find_by_title(["note", "other", "none"])] == [1, 2, 3]
        assert [one.id for one in tx.memories.find_by_title(["note", "other"], "p")] == [1, 2]
        assert [one.id for one in tx.memories.find_by_title(["note"], "_global")] == [3]
        assert [one.id for one in tx.memories.find_by_slug(["note", "other", "none"])] == [1, 2, 3]
        assert [one.id for one in tx.memories.find_by_slug(["note"], "p")] == [1]
        assert [one.id for one in tx.memories.find_by_slug(["note"], "q")] == []

    alice.read(check)


@pytest.mark.parametrize(
    ("order", "expected"),
    [(MemoryOrder.NEWEST, [2, 4, 3, 1]), (MemoryOrder.CHANGED, [1, 4, 3, 2]), (MemoryOrder.ID, [1, 2, 3, 4])],
)
def test_page_orders_with_ties_by_id_in_the_same_direction(
    alice: Caller, order: MemoryOrder, expected: list[int]
) -> None:
    added(
        alice,
        memory("a", 1, created_at=day(0), updated_at=day(9)),
        memory("b", 2, created_at=day(3), updated_at=day(3)),
        memory("c", 3, created_at=day(1), updated_at=day(4), tags=("t",)),
        memory("d", 4, created_at=day(1), updated_at=day(4)),
        memory("e", 5, status=Status.ARCHIVED),
    )
    found = alice.read(lambda tx: tx.memories.page(MemoryFilter(), order, ALL))
    assert [one.id for one in found] == expected
    assert {one.id: one.tags for one in found if one.tags} == {3: ("t",)}
    pages = alice.read(lambda tx: [tx.memories.page(MemoryFilter(), order, 3, offset) for offset in (0, 3, 6)])
    assert [[one.id for one in part] for part in pages] == [expected[:3], expected[3:], []]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("status", {"active": 2, "archived": 1}),
        ("layer", {"episodic": 2, "semantic": 1}),
        ("lifecycle", {"milestone": 2, "ephemeral": 1}),
        ("category", {"note": 2, "décision": 1}),
        ("project_id", {"_global": 1, "p": 2}),
    ],
)
def test_memories_are_counted_by_a_field(alice: Caller, field: str, expected: dict[str, int]) -> None:
    added(
        alice,
        memory("a"),
        memory("b", project_id="p", layer=Layer.SEMANTIC, category="décision"),
        memory("c", project_id="p", status=Status.ARCHIVED, lifecycle=Lifecycle.EPHEMERAL),
    )
    assert alice.read(lambda tx: tx.memories.count_by(field, ANY_MEMORY)) == expected
    assert sum(alice.read(lambda tx: tx.memories.count_by(field, MemoryFilter())).values()) == 2


@pytest.mark.spec("storage.synapse.access-count")
def test_touch_counts_one_access_and_changes_nothing_else(alice: Caller) -> None:
    before = memory("a", 1, "text", tags=("t",), access_count=4, updated_at=day(-1))
    added(alice, before, memory("b", 2))
    alice.write(lambda tx: tx.memories.touch([1, 1, 99], day(1)))
    alice.write(lambda tx: tx.memories.touch([1], day(2)))
    assert alice.read(lambda tx: tx.memories.find([1, 2])) == {
        1: replace(before, access_count=6, accessed_at=day(2)),
        2: memory("b", 2),
    }


def test_set_tags_replaces_the_tags_alone(alice: Caller) -> None:
    added(alice, memory("a", 1, tags=("x", "y")), memory("b", 2, tags=("x",)))
    alice.write(lambda tx: tx.memories.set_tags(1, ["é", "y"]))
    assert alice.read(lambda tx: tx.memories.find([1, 2])) == {
        1: memory("a", 1, tags=("é", "y")),
        2: memory("b", 2, tags=("x",)),
    }
    alice.write(lambda tx: tx.memories.set_tags(1, []))
    assert alice.read(lambda tx: tx.memories.find([1]))[1].tags == ()


def test_delete_takes_everything_that_hangs_on_the_memory(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        tx.entities.put([entity("x")])
        tx.memories.add([memory("a", 1, tags=("t",), content_key="k"), memory("b", 2), memory("c", 3)])
        for id_ in (1, 2):
            tx.memories.add_mentions([Mention(id_, "x", NOW)])
            tx.memories.put_open_links([OpenLink(id_, "open")])
            tx.memories.add_versions([MemoryVersion(id_, "was", "was", NOW)])
            tx.upkeep.put_vectors([vector(VectorOwner.MEMORY, str(id_), model) for model in ("m1", "m2")])
        tx.upkeep.put_vectors([vector(VectorOwner.ENTITY, "1", "m1")])
        tx.synapses.put([synapse(1, 2), synapse(2, 1), synapse(2, 3), synapse(1, 1, type_=ConnectionType.SEQUENCE)])

    alice.write(work)
    assert alice.write(lambda tx: tx.memories.delete([1, 99])) == 1

    def check(tx: ReadTransaction) -> None:
        assert set(tx.memories.find([1, 2, 3])) == {2, 3}
        assert tx.memories.find_by_content_key(["k"]) == {}
        assert [mention.memory_id for mention in tx.memories.mentions_of_entities(["x"], ALL)] == [2]
        assert [link.memory_id for link in tx.memories.find_open_links(["open"])] == [2]
        assert [version.memory_id for version in tx.memories.versions([1, 2])] == [2]
        assert [found.key for found in tx.synapses.page(None, ALL)] == [synapse(2, 3).key]
        assert set(tx.upkeep.vectors(VectorOwner.MEMORY, ["1", "2"], "m1")) == {"2"}
        assert dict(tx.upkeep.count_vectors()) == {"m1": 2, "m2": 1}

    alice.read(check)


def test_delete_leaves_what_was_learned_and_supported(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        tx.entities.put([entity("x")])
        tx.memories.add([memory("a", 1)])
        tx.entities.add_evidence([evidence("x", memory_id=1)])
        tx.ledger.add_learned({"key": 1})
        tx.memories.delete([1])

    alice.write(work)
    assert alice.read(lambda tx: tx.ledger.find_learned(["key"])) == {"key": 1}
    assert list(alice.read(lambda tx: tx.entities.evidence(["x"]))["x"]) == [evidence("x", memory_id=1)]


def test_what_hung_on_a_deleted_memory_does_not_come_back_with_its_id(alice: Caller) -> None:
    added(alice, memory("a", 1, tags=("t",)))
    alice.write(lambda tx: tx.memories.put_open_links([OpenLink(1, "open")]))
    alice.write(lambda tx: tx.memories.delete([1]))
    added(alice, memory("a", 1))
    assert alice.read(lambda tx: tx.memories.find([1])) == {1: memory("a", 1)}
    assert not alice.read(lambda tx: tx.memories.open_links([1]))
