"""What hangs on memories: mentions of entities, links that nothing answers yet, earlier texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.memories import MemoryVersion, Mention, OpenLink
from tests.contract.samples import ALL, NOW, day, entity, memory

if TYPE_CHECKING:
    from graph_memory.domain.memories import Memory
    from graph_memory.ports.store import ReadTransaction
    from tests.contract.stores import Caller


def added(alice: Caller, *memories: Memory) -> None:
    alice.write(lambda tx: tx.memories.add(memories))


@pytest.mark.spec("storage.mention.own-rows")
def test_mentions_are_kept_once_and_listed_in_order(alice: Caller) -> None:
    added(alice, memory("a", 1), memory("b", 2), memory("c", 3))
    alice.write(lambda tx: tx.entities.put([entity("x"), entity("y")]))
    mentions = [Mention(2, "x", day(0)), Mention(1, "y", day(1)), Mention(1, "x", day(2)), Mention(3, "x", day(0))]
    assert alice.write(lambda tx: tx.memories.add_mentions(mentions)) == 4
    again = [Mention(1, "x", day(9)), Mention(2, "y", day(3))]
    assert alice.write(lambda tx: tx.memories.add_mentions(again)) == 1
    assert list(alice.read(lambda tx: tx.memories.mentions_of_memories([2, 1]))) == [
        Mention(1, "x", day(2)),
        Mention(1, "y", day(1)),
        Mention(2, "x", day(0)),
        Mention(2, "y", day(3)),
    ]
    assert alice.write(lambda tx: tx.memories.delete_mentions([2, 99])) == 2
    assert len(alice.read(lambda tx: tx.memories.mentions_of_memories([1, 2, 3]))) == 3


def test_mentions_of_entities_come_newest_memory_first_so_many_for_each(alice: Caller) -> None:
    added(alice, *(memory(f"m{number}", number, created_at=day(number)) for number in (1, 2, 3, 4)))
    alice.write(lambda tx: tx.entities.put([entity("x"), entity("y")]))
    mentions = [Mention(number, "x", NOW) for number in (2, 4, 1, 3)] + [Mention(1, "y", NOW)]
    alice.write(lambda tx: tx.memories.add_mentions(mentions))

    def found(limit: int) -> dict[str, list[int]]:
        answer: dict[str, list[int]] = {"x": [], "y": []}
        for mention in alice.read(lambda tx: tx.memories.mentions_of_entities(["x", "y", "none"], limit)):
            answer[mention.entity_id].append(mention.memory_id)
        return answer

    assert found(ALL) == {"x": [4, 3, 2, 1], "y": [1]}
    assert found(2) == {"x": [4, 3], "y": [1]}


def test_open_links_are_replaced_by_key_and_listed_in_order(alice: Caller) -> None:
    added(alice, memory("a", 1), memory("b", 2))
    alice.write(lambda tx: tx.memories.put_open_links([OpenLink(2, "Beta"), OpenLink(1, "gamma"), OpenLink(1, "BETA")]))
    alice.write(lambda tx: tx.memories.put_open_links([OpenLink(1, "beta ", is_ambiguous=True)]))

    def check(tx: ReadTransaction) -> None:
        first = [OpenLink(1, "beta ", is_ambiguous=True), OpenLink(1, "gamma")]
        assert list(tx.memories.open_links([2, 1])) == [*first, OpenLink(2, "Beta")]
        assert list(tx.memories.open_links([1])) == first
        assert list(tx.memories.find_open_links(["gamma", "beta", "none"])) == [
            OpenLink(1, "beta ", is_ambiguous=True),
            OpenLink(2, "Beta"),
            OpenLink(1, "gamma"),
        ]

    alice.read(check)
    assert alice.write(lambda tx: tx.memories.delete_open_links([OpenLink(1, "Beta"), OpenLink(2, "gamma")])) == 1
    left = alice.read(lambda tx: tx.memories.open_links([1, 2]))
    assert list(left) == [OpenLink(1, "gamma"), OpenLink(2, "Beta")]


def test_earlier_texts_are_listed_oldest_first(alice: Caller) -> None:
    added(alice, memory("a", 1), memory("b", 2))
    versions = [MemoryVersion(id_, f"t{at}", f"c{at}", day(at)) for id_, at in [(2, 1), (1, 3), (1, 1), (1, 2)]]
    alice.write(lambda tx: tx.memories.add_versions(versions))
    found = alice.read(lambda tx: tx.memories.versions([2, 1]))
    assert list(found) == [versions[2], versions[3], versions[1], versions[0]]
