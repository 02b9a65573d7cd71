"""Entities, aliases, and evidence for entities."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.entities import (
    Alias,
    EntityFilter,
    EntityKey,
    EntityOrder,
)
from graph_memory.domain.errors import Conflict
from graph_memory.domain.instants import to_micros
from graph_memory.domain.ledger import VectorOwner
from graph_memory.domain.memories import Mention
from graph_memory.ports.graph_rows import Faded
from tests.contract.samples import ALL, ANY_ENTITY, NOW, ODD_TEXTS, day, entity, evidence, memory, relation, vector

if TYPE_CHECKING:
    from graph_memory.domain.entities import Entity
    from graph_memory.ports.store import ReadTransaction, WriteTransaction
    from tests.contract.stores import Caller


def stored(alice: Caller, *entities: Entity) -> None:
    alice.write(lambda tx: tx.entities.put(entities))


def page(tx: ReadTransaction, where: EntityFilter = ANY_ENTITY, order: EntityOrder = EntityOrder.ID) -> list[str]:
    return [found.id for found in tx.entities.page(where, order, ALL)]


def test_every_field_comes_back_as_it_was_put(alice: Caller) -> None:
    whole = entity(
        "whole",
        "Käse Type",
        "The Whole",
        confidence=0.1 + 0.2,
        created_at=day(-3.25),
        last_seen=day(-1.125),
        decayed_at=day(2),
        mention_count=2**40,
        properties={"text": "a", "no": None, "yes": True, "n": 3, "x": 0.1, "list": [1, [2, {"deep": "é"}]], "": {}},
        source_file="notes/ä.md",
    )
    stored(alice, whole)
    assert alice.read(lambda tx: tx.entities.find(["whole"])) == {"whole": whole}


@pytest.mark.spec("names.type.any-text")
@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_serves_as_id_name_type_and_property(alice: Caller, text: str) -> None:
    odd = entity(text, text, text, properties={text: text}, source_file=text)
    stored(alice, odd, entity("plain"))

    def work(tx: ReadTransaction) -> None:
        assert tx.entities.find([text])[text] == odd
        assert tx.entities.find_by_key([odd.key]) == {odd.key: odd}
        assert list(tx.entities.find_by_name([odd.key.name_key])[odd.key.name_key]) == [odd]
        assert tx.entities.count_by_type() == {text: 1, "Concept": 1}
        assert tx.entities.count(EntityFilter(type_keys=frozenset({odd.key.type_key}))) == 1

    alice.read(work)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 2**64 - 1, 2**64, -(2**100), 10**40])
def test_properties_hold_integers_of_any_size(alice: Caller, number: int) -> None:
    stored(alice, entity("big", properties={"n": number, "list": [number]}))
    found = alice.read(lambda tx: tx.entities.find(["big"]))["big"]
    assert found.properties == {"n": number, "list": [number]}


def test_instants_come_back_exact(alice: Caller) -> None:
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    stored(alice, entity("a", created_at=first, last_seen=last, decayed_at=first + timedelta(microseconds=1)))
    found = alice.read(lambda tx: tx.entities.find(["a"]))["a"]
    assert (found.created_at, found.last_seen) == (first, last)
    assert found.decayed_at == first + timedelta(microseconds=1)


def test_what_a_caller_does_to_an_answer_is_not_stored(alice: Caller) -> None:
    properties: dict[str, object] = {"list": [1]}
    stored(alice, entity("a", properties=properties))
    properties["list"] = "changed after it was put"
    answer = alice.read(lambda tx: tx.entities.find(["a"]))["a"].properties["list"]
    assert isinstance(answer, list)
    answer.append("changed after it was read")
    assert alice.read(lambda tx: tx.entities.find(["a"]))["a"].properties == {"list": [1]}


def test_find_leaves_out_what_is_not_there_and_takes_an_id_twice(alice: Caller) -> None:
    stored(alice, entity("a"), entity("b"))
    assert set(alice.read(lambda tx: tx.entities.find(["a", "nobody", "a"]))) == {"a"}


def test_find_takes_tens_of_thousands_of_ids(alice: Caller) -> None:
    stored(alice, *(entity(f"e{number}") for number in range(10)))
    ids = [f"e{number}" for number in range(40_000)]
    assert len(alice.read(lambda tx: tx.entities.find(ids))) == 10


def test_key_is_of_type_and_name_whatever_their_spelling(alice: Caller) -> None:
    stored(alice, entity("a", "Works On", "Straße  Eins"), entity("b", "Person", "Straße Eins"))
    key = EntityKey("works_on", "strasse eins")
    found = alice.read(lambda tx: tx.entities.find_by_key([key, EntityKey("person", "nobody")]))
    assert {key: found_.id for key, found_ in found.items()} == {key: "a"}


def test_find_by_name_finds_every_type_and_alias_by_id(alice: Caller) -> None:
    stored(alice, entity("z", "Person", "Mercury"), entity("a", "Project", "MERCURY"), entity("m", "Planet", "Hermes"))
    alice.write(
        lambda tx: tx.entities.put_aliases([Alias("m", "mercury"), Alias("z", "Mercury"), Alias("z", "Freddie")])
    )
    found = alice.read(lambda tx: tx.entities.find_by_name(["mercury", "freddie", "venus"]))
    ids = {key: [entity.id for entity in entities] for key, entities in found.items()}
    assert ids == {"mercury": ["a", "m", "z"], "freddie": ["z"]}


def test_put_replaces_the_entity_with_the_same_id(alice: Caller) -> None:
    stored(alice, entity("a", name="Old", properties={"x": 1}))
    stored(alice, entity("a", name="New"))

    def work(tx: ReadTransaction) -> None:
        assert tx.entities.find(["a"]) == {"a": entity("a", name="New")}
        assert tx.entities.find_by_name(["old"]) == {}
        assert tx.entities.count(ANY_ENTITY) == 1

    alice.read(work)


def test_put_keeps_what_hangs_on_the_entity(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        tx.entities.put([entity("a"), entity("b")])
        tx.entities.put_aliases([Alias("a", "Other")])
        tx.entities.add_evidence([evidence("a")])
        tx.relations.put([relation("a", "b")])
        tx.entities.put([entity("a", confidence=0.9)])

    alice.write(work)

    def check(tx: ReadTransaction) -> None:
        assert list(tx.entities.aliases(["a"])["a"]) == [Alias("a", "Other")]
        assert list(tx.entities.evidence(["a"])["a"]) == [evidence("a")]
        assert tx.entities.degrees(["a"]) == {"a": 1}

    alice.read(check)


def test_a_key_belongs_to_one_entity(alice: Caller) -> None:
    stored(alice, entity("a", "Person", "Ada"))
    with pytest.raises(Conflict):
        stored(alice, entity("c"), entity("b", "PERSON", " ada "))
    assert alice.read(page) == ["a"]


def test_a_key_that_was_given_up_is_free(alice: Caller) -> None:
    stored(alice, entity("a", name="Ada"), entity("b", name="Grace"))
    stored(alice, entity("a", name="Lovelace"))
    stored(alice, entity("c", name="Ada"))
    alice.write(lambda tx: tx.entities.delete(["b"]))
    stored(alice, entity("d", name="Grace"))
    assert alice.read(page) == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (EntityOrder.CONFIDENCE, ["d", "b", "c", "a"]),
        (EntityOrder.LAST_SEEN, ["a", "b", "d", "c"]),
        (EntityOrder.NAME, ["c", "b", "d", "a"]),
        (EntityOrder.ID, ["a", "b", "c", "d"]),
    ],
)
def test_page_orders_with_ties_by_id(alice: Caller, order: EntityOrder, expected: list[str]) -> None:
    stored(
        alice,
        entity("d", "Other", "banana", confidence=0.9, last_seen=day(1)),
        entity("c", name="apple", confidence=0.5, last_seen=day(0)),
        entity("b", name="Banana", confidence=0.5, last_seen=day(1)),
        entity("a", name="ärger", confidence=0.1, last_seen=day(1) + timedelta(microseconds=1)),
    )
    assert alice.read(lambda tx: page(tx, order=order)) == expected
    pages = alice.read(lambda tx: [tx.entities.page(ANY_ENTITY, order, 2, offset) for offset in range(0, 6, 2)])
    assert [found.id for part in pages for found in part] == expected
    assert list(alice.read(lambda tx: tx.entities.page(ANY_ENTITY, order, 0))) == []


def test_all_are_walked_by_id(alice: Caller) -> None:
    stored(alice, *(entity(it, "Other" if it == "ä" else "Person") for it in ("c", "a", "ä", "b", "D")))

    def walk(tx: ReadTransaction) -> list[list[str]]:
        pages, after = [], None
        while part := [it.id for it in tx.entities.page_by_id(ANY_ENTITY, after, 2)]:
            pages.append(part)
            after = part[-1]
        return pages

    assert alice.read(walk) == [["D", "a"], ["b", "c"], ["ä"]]
    others = EntityFilter(type_keys=frozenset({"other"}))
    assert [it.id for it in alice.read(lambda tx: tx.entities.page_by_id(others, "bb", 9))] == ["ä"]


def test_types_are_counted_and_spelled_as_the_entity_first_stored_spells_them(alice: Caller) -> None:
    stored(alice, entity("z", "Side Project"))
    stored(alice, entity("a", "side_project"), entity("b", "Person"), entity("c", "SIDE-PROJECT"))

    def work(tx: ReadTransaction) -> None:
        assert tx.entities.type_spelling(["side_project", "person", "none"]) == {
            "side_project": "Side Project",
            "person": "Person",
        }
        assert sum(tx.entities.count_by_type().values()) == 4

    alice.read(work)


def test_degree_counts_current_relations_and_a_loop_once(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        tx.entities.put([entity("a"), entity("b"), entity("c")])
        tx.relations.put([relation("a", "b"), relation("b", "a"), relation("a", "a")])
        tx.relations.put([relation("a", "b", "KNOWS", invalid_at=NOW)])

    alice.write(work)
    assert alice.read(lambda tx: tx.entities.degrees(["a", "b", "c"])) == {"a": 3, "b": 2, "c": 0}


def test_aliases_are_listed_by_key_and_stay_as_first_spelled(alice: Caller) -> None:
    stored(alice, entity("a"), entity("b"))
    alice.write(lambda tx: tx.entities.put_aliases([Alias("a", "Zoe"), Alias("a", "ada"), Alias("b", "ada")]))
    alice.write(lambda tx: tx.entities.put_aliases([Alias("a", "ADA"), Alias("a", "Bea")]))
    found = alice.read(lambda tx: tx.entities.aliases(["a"]))
    assert {id_: list(aliases) for id_, aliases in found.items()} == {
        "a": [Alias("a", "ada"), Alias("a", "Bea"), Alias("a", "Zoe")]
    }


def test_aliases_are_removed_by_entity_and_key(alice: Caller) -> None:
    stored(alice, entity("a"), entity("b"))
    alice.write(lambda tx: tx.entities.put_aliases([Alias("a", "Ada"), Alias("b", "Ada"), Alias("a", "Zoe")]))
    assert alice.write(lambda tx: tx.entities.delete_aliases([Alias("a", "ADA"), Alias("a", "none")])) == 1
    found = alice.read(lambda tx: tx.entities.aliases(["a", "b"]))
    assert {id_: [alias.name for alias in aliases] for id_, aliases in found.items()} == {"a": ["Zoe"], "b": ["Ada"]}


def test_find_for_update_finds_by_key_and_by_id(alice: Caller) -> None:
    stored(alice, entity("a", "Person", "Ada"), entity("b", "Project", "Engine"), entity("c"))
    keys = [EntityKey("person", "ada"), EntityKey("person", "nobody")]
    found = alice.write(lambda tx: tx.entities.find_for_update(keys, ["b", "a", "nobody"]))
    assert {key: found_.id for key, found_ in found.items()} == {
        EntityKey("person", "ada"): "a",
        EntityKey("project", "engine"): "b",
    }
    assert set(alice.write(lambda tx: tx.entities.find_for_update([], ["c"]))) == {EntityKey("concept", "c")}


def test_delete_takes_everything_that_hangs_on_the_entity(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> int:
        tx.entities.put([entity("a"), entity("b")])
        for id_ in ("a", "b"):
            tx.entities.put_aliases([Alias(id_, f"other {id_}")])
            tx.entities.add_evidence([evidence(id_)])
            tx.upkeep.put_vectors([vector(VectorOwner.ENTITY, id_, model) for model in ("m1", "m2")])
        tx.upkeep.put_vectors([vector(VectorOwner.MEMORY, "a", "m1")])
        memory_id = tx.memories.add([memory("Note")])[0]
        tx.memories.add_mentions([Mention(memory_id, "a", NOW), Mention(memory_id, "b", NOW)])
        return memory_id

    memory_id = alice.write(work)
    assert alice.write(lambda tx: tx.entities.delete(["a", "nobody"])) == 1

    def check(tx: ReadTransaction) -> None:
        assert set(tx.entities.find(["a", "b"])) == {"b"}
        assert set(tx.entities.aliases(["a", "b"])) == {"b"}
        assert set(tx.entities.find_by_name(["other a", "other b"])) == {"other b"}
        assert set(tx.entities.evidence(["a", "b"])) == {"b"}
        assert [mention.entity_id for mention in tx.memories.mentions_of_memories([memory_id])] == ["b"]
        assert set(tx.upkeep.vectors(VectorOwner.ENTITY, ["a", "b"], "m1")) == {"b"}
        assert dict(tx.upkeep.count_vectors()) == {"m1": 2, "m2": 1}

    alice.read(check)


def test_what_hung_on_a_deleted_entity_does_not_come_back_with_its_id(alice: Caller) -> None:
    stored(alice, entity("a"))
    alice.write(lambda tx: tx.entities.put_aliases([Alias("a", "other")]))
    alice.write(lambda tx: tx.entities.add_evidence([evidence("a")]))
    alice.write(lambda tx: tx.entities.delete(["a"]))
    stored(alice, entity("a"))
    assert not alice.read(lambda tx: tx.entities.aliases(["a"]))
    assert not alice.read(lambda tx: tx.entities.evidence(["a"]))


@pytest.mark.parametrize("invalid_at", [None, NOW])
@pytest.mark.parametrize("doomed", ["a", "b"])
def test_an_entity_at_which_a_relation_ends_is_not_deleted(
    alice: Caller, invalid_at: datetime | None, doomed: str
) -> None:
    stored(alice, entity("a"), entity("b"))
    alice.write(lambda tx: tx.relations.put([relation("a", "b", invalid_at=invalid_at)]))
    with pytest.raises(Conflict):
        alice.write(lambda tx: tx.entities.delete([doomed]))
    assert alice.read(page) == ["a", "b"]


def test_entities_go_once_their_relations_are_gone(alice: Caller) -> None:
    stored(alice, entity("a"), entity("b"))
    alice.write(lambda tx: tx.relations.put([relation("a", "b"), relation("a", "a", invalid_at=NOW)]))

    def work(tx: WriteTransaction) -> tuple[int, int]:
        return tx.relations.delete_of_entities(["a"]), tx.entities.delete(["a"])

    assert alice.write(work) == (2, 1)
    assert alice.read(page) == ["b"]


def test_fade_writes_only_where_the_row_is_as_it_was_read(alice: Caller) -> None:
    stored(
        alice,
        entity("same"),
        entity("changed", confidence=0.6),
        entity("decayed", decayed_at=day(2)),
        entity("later", decayed_at=day(4)),
        entity("until", decayed_at=day(3)),
    )
    ids = ["same", "changed", "decayed", "later", "until", "nobody"]
    assert alice.write(lambda tx: tx.entities.fade(Faded(id_, 0.5, 0.25, day(3)) for id_ in ids)) == 3
    found = alice.read(lambda tx: tx.entities.find(ids))
    assert {id_: (found_.confidence, found_.decayed_at) for id_, found_ in found.items()} == {
        "same": (0.25, day(3)),
        "changed": (0.6, None),
        "decayed": (0.25, day(3)),
        "later": (0.5, day(4)),
        "until": (0.25, day(3)),
    }


def test_fade_changes_nothing_else(alice: Caller) -> None:
    before = entity("a", confidence=0.1 + 0.2, mention_count=3, properties={"x": 1})
    stored(alice, before)
    assert alice.write(lambda tx: tx.entities.fade([Faded("a", 0.1 + 0.2, 0.1, day(1))])) == 1
    expected = entity("a", confidence=0.1, decayed_at=day(1), mention_count=3, properties={"x": 1})
    assert alice.read(lambda tx: tx.entities.find(["a"])) == {"a": expected}


def test_scan_tells_what_decay_needs(alice: Caller) -> None:
    stored(
        alice,
        entity("a", "Person", "Ada", created_at=day(-2)),
        entity("b", decayed_at=day(-1), confidence=0.75),
        entity("c", properties={"pinned": True}),
        entity("d", "preference", properties={"subtype": "rule"}),
    )
    rows, after = alice.write(lambda tx: tx.entities.scan_fading(None, ALL))
    assert after is None
    assert {row.id: tuple(row)[1:] for row in rows} == {
        "a": ("Person", "Ada", 0.5, to_micros(day(-2)), False),
        "b": ("Concept", "b", 0.75, to_micros(day(-1)), False),
        "c": ("Concept", "c", 0.5, to_micros(NOW), True),
        "d": ("preference", "d", 0.5, to_micros(NOW), True),
    }
