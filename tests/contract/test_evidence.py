"""Evidence for entities: kept as it was added, listed by time, removed by where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.entities import Evidence, EvidenceKind, Provenance, SourceType
from graph_memory.ports.graph_rows import EvidenceFilter, EvidenceSources
from tests.contract.samples import day, entity, evidence, relation

if TYPE_CHECKING:
    from graph_memory.domain.entities import Entity
    from graph_memory.ports.store import WriteTransaction
    from tests.contract.stores import Caller


def stored(alice: Caller, *entities: Entity) -> None:
    alice.write(lambda tx: tx.entities.put(entities))


def test_evidence_is_listed_by_instant_then_as_added(alice: Caller) -> None:
    stored(alice, entity("a"), entity("b"))
    items = [evidence("a", day(at), amount) for at, amount in [(2, 0.1), (1, 0.9), (1, 0.2), (0, 0.5), (1, 0.4)]]
    alice.write(lambda tx: tx.entities.add_evidence([*items[:3], evidence("b", day(1))]))
    alice.write(lambda tx: tx.entities.add_evidence(items[3:]))
    found = alice.read(lambda tx: tx.entities.evidence(["a", "nobody"]))
    assert {id_: [item.amount for item in kept] for id_, kept in found.items()} == {"a": [0.5, 0.9, 0.2, 0.4, 0.1]}


def test_evidence_comes_back_whole_and_twice_if_added_twice(alice: Caller) -> None:
    source = Provenance(SourceType.CONVERSATION, "session", "/t.jsonl", "file.md", 2**40)
    whole = Evidence("a", EvidenceKind.WEAKEN, 1 / 3, day(0.5), source, "because 東京", {"role": "lead", "age": None})
    stored(alice, entity("a"))
    alice.write(lambda tx: tx.entities.add_evidence([whole, whole]))
    assert list(alice.read(lambda tx: tx.entities.evidence(["a"]))["a"]) == [whole, whole]


@pytest.mark.parametrize(
    ("where", "losers", "left"),
    [
        (EvidenceFilter(session="s"), ["a", "b"], {"file", "memory"}),
        (EvidenceFilter(file="f"), ["a", "c"], {"memory", "session"}),
        (EvidenceFilter(memory_id=7), ["a"], {"both", "file", "session"}),
        (EvidenceFilter(session="s", file="f"), ["a"], {"file", "memory", "session"}),
        (EvidenceFilter(since=day(2)), ["a", "c"], {"both", "session"}),
        (EvidenceFilter(before=day(2)), ["a", "b"], {"file", "memory"}),
        (EvidenceFilter(since=day(1), before=day(2)), ["b"], {"both", "file", "memory"}),
        (EvidenceFilter(session="nothing"), [], {"both", "file", "memory", "session"}),
    ],
)
def test_evidence_is_removed_where_all_given_parts_hold(
    alice: Caller, where: EvidenceFilter, losers: list[str], left: set[str]
) -> None:
    stored(alice, entity("a"), entity("b"), entity("c"))
    items = [
        Evidence("c", EvidenceKind.BOOST, 0.1, day(2), Provenance(file="f"), "file"),
        Evidence("b", EvidenceKind.BOOST, 0.1, day(1), Provenance(session="s"), "session"),
        Evidence("a", EvidenceKind.BOOST, 0.1, day(0), Provenance(session="s", file="f"), "both"),
        Evidence("a", EvidenceKind.BOOST, 0.1, day(3), Provenance(memory_id=7), "memory"),
    ]
    alice.write(lambda tx: tx.entities.add_evidence(items))
    assert list(alice.write(lambda tx: tx.entities.delete_evidence(where))) == losers
    kept = alice.read(lambda tx: tx.entities.evidence(["a", "b", "c"]))
    assert {item.text for items in kept.values() for item in items} == left


def test_evidence_for_entities_and_for_relations_is_removed_apart(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        tx.entities.put([entity("x")])
        tx.relations.put([relation("x", "x", id="x")])
        tx.entities.add_evidence([evidence("x", session="s")])
        tx.relations.add_evidence([evidence("x", session="s")])

    alice.write(work)
    assert list(alice.write(lambda tx: tx.entities.delete_evidence(EvidenceFilter(session="s")))) == ["x"]
    assert not alice.read(lambda tx: tx.entities.evidence(["x"]))
    assert list(alice.read(lambda tx: tx.relations.evidence(["x"]))["x"]) == [evidence("x", session="s")]


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        (EvidenceSources(), []),
        (EvidenceSources(sessions=["s", "t"]), ["a", "b"]),
        (EvidenceSources(files=["f"]), ["a", "c"]),
        (EvidenceSources(memory_ids=[7, 8]), ["a"]),
        (EvidenceSources(sessions=["none"], files=["f"], memory_ids=[9]), ["a", "c"]),
        (EvidenceSources(since=day(1), before=day(2)), ["b"]),
        (EvidenceSources(sessions=["none"], since=day(3), before=day(9)), ["a"]),
    ],
)
def test_what_has_evidence_from_any_source_is_found(
    alice: Caller, bob: Caller, sources: EvidenceSources, found: list[str]
) -> None:
    for one in (alice, bob):
        stored(one, entity("a"), entity("b"), entity("c"))
    items = [
        Evidence("c", EvidenceKind.BOOST, 0.1, day(2), Provenance(file="f")),
        Evidence("b", EvidenceKind.BOOST, 0.1, day(1), Provenance(session="s")),
        Evidence("a", EvidenceKind.BOOST, 0.1, day(0), Provenance(session="s", file="f")),
        Evidence("a", EvidenceKind.BOOST, 0.1, day(3), Provenance(memory_id=7)),
    ]
    alice.write(lambda tx: tx.entities.add_evidence(items))
    assert list(alice.read(lambda tx: tx.entities.find_supported(sources))) == found
    assert not bob.read(lambda tx: tx.entities.find_supported(sources))


def test_replaced_evidence_is_all_that_is_left(alice: Caller) -> None:
    stored(alice, entity("a"), entity("b"), entity("c"))
    alice.write(lambda tx: tx.entities.add_evidence([evidence(it, day(1)) for it in "abc"]))
    left = [evidence("a", day(2), 0.1), evidence("a", day(2), 0.2), evidence("a", day(0), 0.3)]
    alice.write(lambda tx: tx.entities.put_evidence({"a": left, "b": []}))
    found = alice.read(lambda tx: tx.entities.evidence(["a", "b", "c"]))
    assert {it: [item.amount for item in kept] for it, kept in found.items()} == {"a": [0.3, 0.1, 0.2], "c": [0.5]}
