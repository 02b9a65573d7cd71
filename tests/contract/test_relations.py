"""Relations, their versions, and evidence for relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.entities import Provenance, SourceType
from graph_memory.domain.errors import Conflict
from graph_memory.domain.instants import to_micros
from graph_memory.domain.relations import RelationFilter, RelationKey
from graph_memory.ports.graph_rows import EvidenceFilter, Faded, Link
from tests.contract.samples import ALL, ANY_RELATION, CURRENT, NOW, ODD_TEXTS, day, entity, evidence, relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph_memory.domain.relations import Relation
    from graph_memory.ports.store import ReadTransaction, WriteTransaction
    from tests.contract.stores import Caller

NODES = ("a", "b", "c", "d")


def stored(alice: Caller, *relations: Relation) -> None:
    def work(tx: WriteTransaction) -> None:
        ends = {end for one in relations for end in (one.source_id, one.target_id)}
        tx.entities.put([entity(id_) for id_ in sorted({*NODES, *ends} - set(tx.entities.find(ends)))])
        tx.relations.put(relations)

    alice.write(work)


def ids(relations: Sequence[Relation]) -> list[str]:
    return [one.id for one in relations]


def page(tx: ReadTransaction) -> list[str]:
    return ids(tx.relations.page(ANY_RELATION, None, ALL))


def test_every_field_comes_back_as_it_was_put(alice: Caller) -> None:
    whole = relation(
        "a",
        "b",
        "Könnt' es `sein` ]-() DELETE",
        id="r 'odd'",
        weight=1 / 3,
        ingested_at=day(1),
        last_confirmed=day(2),
        valid_at=day(-100),
        invalid_at=day(100),
        decayed_at=day(3),
        properties={"role": "東京", "list": [1, None, 2.5]},
        provenance=Provenance(SourceType.DOCUMENT, "session", "/t.jsonl", "file.md", 2**40),
    )
    stored(alice, whole)
    assert alice.read(lambda tx: tx.relations.find([whole.id, "none"])) == {whole.id: whole}
    assert alice.read(lambda tx: tx.relations.find_current([whole.key])) == {}
    assert list(alice.read(lambda tx: tx.relations.versions([whole.key]))[whole.key]) == [whole]


@pytest.mark.spec("names.type.any-text")
@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_serves_as_type_and_property(alice: Caller, text: str) -> None:
    odd = relation("a", "b", text, id=text, properties={text: text}, provenance=Provenance(session=text, file=text))
    stored(alice, odd, relation("b", "a"))

    def check(tx: ReadTransaction) -> None:
        assert tx.relations.find_current([odd.key]) == {odd.key: odd}
        assert tx.relations.count_by_type(CURRENT) == {text: 1, "USES": 1}
        assert tx.relations.type_spelling([odd.key.type_key]) == {odd.key.type_key: text}
        assert ids(tx.relations.page(RelationFilter(type_keys=frozenset({odd.key.type_key})), None, ALL)) == [text]

    alice.read(check)


def test_find_current_finds_by_key_the_version_that_holds(alice: Caller) -> None:
    old, now = relation("a", "b", version=0, invalid_at=NOW), relation("a", "b", version=1)
    stored(alice, old, now, relation("b", "a"), relation("a", "b", "OTHER"))
    keys = [now.key, RelationKey("a", "nothing", "b")]
    assert alice.read(lambda tx: tx.relations.find_current(keys)) == {now.key: now}


def test_a_type_in_another_spelling_is_the_same_key(alice: Caller) -> None:
    stored(alice, relation("a", "b", "WORKS_ON", id="r1"))
    with pytest.raises(Conflict):
        stored(alice, relation("a", "b", "works on", id="r2"))
    found = alice.read(lambda tx: tx.relations.find_current([RelationKey("a", "works_on", "b")]))
    assert ids(list(found.values())) == ["r1"]


def test_a_key_has_one_current_version(alice: Caller) -> None:
    stored(alice, relation("a", "b", id="r1"))
    with pytest.raises(Conflict):
        stored(alice, relation("a", "c", id="r3"), relation("a", "b", id="r2"))
    with pytest.raises(Conflict):
        stored(alice, relation("c", "a", id="r4"), relation("c", "a", id="r5"))
    assert alice.read(page) == ["r1"]


def test_a_key_may_have_many_superseded_versions(alice: Caller) -> None:
    stored(alice, *(relation("a", "b", version=number, invalid_at=NOW) for number in range(3)))
    assert alice.read(lambda tx: tx.relations.count(ANY_RELATION)) == 3
    assert alice.read(lambda tx: tx.relations.count(CURRENT)) == 0


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_key_moves_to_a_new_version_in_one_call(alice: Caller, *, is_reversed: bool) -> None:
    stored(alice, relation("a", "b", version=0))
    move = [relation("a", "b", version=1), relation("a", "b", version=0, invalid_at=day(1))]
    stored(alice, *(reversed(move) if is_reversed else move))
    assert alice.read(lambda tx: tx.relations.find_current([move[0].key])) == {move[0].key: move[0]}


def test_a_superseded_version_may_become_current_again(alice: Caller) -> None:
    stored(alice, relation("a", "b", version=0, invalid_at=NOW))
    stored(alice, relation("a", "b", version=0))
    assert alice.read(lambda tx: tx.relations.count(CURRENT)) == 1


def test_keys_are_free_to_change_places_in_one_call(alice: Caller) -> None:
    stored(alice, relation("a", "b", id="r1"), relation("a", "c", id="r2"))
    stored(alice, relation("a", "c", id="r1"), relation("a", "b", id="r2"))
    found = alice.read(lambda tx: tx.relations.page(CURRENT, None, ALL))
    assert [(one.id, one.target_id) for one in found] == [("r1", "c"), ("r2", "b")]


def test_put_replaces_and_keeps_the_evidence(alice: Caller) -> None:
    stored(alice, relation("a", "b", id="r", properties={"x": 1}))
    alice.write(lambda tx: tx.relations.add_evidence([evidence("r")]))
    new = relation("a", "b", id="r", weight=0.75)
    stored(alice, new)
    assert alice.read(lambda tx: tx.relations.find(["r"])) == {"r": new}
    assert list(alice.read(lambda tx: tx.relations.evidence(["r"]))["r"]) == [evidence("r")]


def test_put_may_move_a_version_to_other_ends(alice: Caller) -> None:
    stored(alice, relation("a", "b", id="r"))
    moved = relation("c", "d", id="r")
    stored(alice, moved)
    stored(alice, relation("a", "b", id="new"))
    assert alice.read(lambda tx: tx.relations.find(["r"])) == {"r": moved}
    assert alice.read(lambda tx: tx.entities.degrees(NODES)) == {"a": 1, "b": 1, "c": 1, "d": 1}


@pytest.mark.parametrize(("source", "target"), [("a", "nobody"), ("nobody", "a"), ("nobody", "nobody")])
def test_both_ends_must_exist(alice: Caller, source: str, target: str) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a")]))
    with pytest.raises(Conflict):
        alice.write(lambda tx: tx.relations.put([relation(source, target)]))
    assert alice.read(page) == []


def test_find_from_lists_by_source_type_and_id(alice: Caller) -> None:
    stored(
        alice,
        relation("b", "a", "USES", id="r1"),
        relation("a", "c", "uses", id="r2"),
        relation("a", "b", "USES", id="r3"),
        relation("a", "b", "KNOWS", id="r4", weight=0.1),
        relation("a", "d", "USES", id="r5", invalid_at=NOW),
        relation("c", "a", "USES", id="r6"),
    )

    def found(types: list[str] | None, where: RelationFilter = ANY_RELATION) -> list[str]:
        return ids(alice.read(lambda tx: tx.relations.find_from(["b", "a", "nobody"], types, where)))

    assert found(None) == ["r4", "r2", "r3", "r5", "r1"]
    assert found(None, CURRENT) == ["r4", "r2", "r3", "r1"]
    assert found(["uses"], RelationFilter(min_weight=0.2)) == ["r2", "r3", "r1"]
    assert found(["knows", "nothing"]) == ["r4"]


def test_versions_are_listed_as_they_were_learned_ties_by_id(alice: Caller) -> None:
    stored(
        alice,
        relation("a", "b", id="r1", ingested_at=day(3)),
        relation("a", "b", id="r2", ingested_at=day(1), invalid_at=day(3)),
        relation("a", "b", id="r4", ingested_at=day(0), invalid_at=day(3)),
        relation("a", "b", id="r3", ingested_at=day(1), invalid_at=day(3)),
        relation("b", "a", id="other"),
    )
    key = RelationKey("a", "uses", "b")
    found = alice.read(lambda tx: tx.relations.versions([key, RelationKey("a", "uses", "c")]))
    assert {key: ids(versions) for key, versions in found.items()} == {key: ["r4", "r2", "r3", "r1"]}


def neighbours(
    alice: Caller, of: list[str], exclude: Sequence[str] = (), limit: int = ALL, where: RelationFilter = CURRENT
) -> list[str]:
    return ids(alice.read(lambda tx: tx.relations.neighbours(of, where, exclude=exclude, limit=limit)))


def test_neighbours_are_found_both_ways_strongest_first_ties_by_id(alice: Caller) -> None:
    stored(
        alice,
        relation("a", "b", id="r3", weight=0.5),
        relation("c", "a", id="r2", weight=0.5),
        relation("d", "a", id="r1", weight=0.4),
        relation("a", "d", id="r4", weight=0.9),
        relation("a", "c", id="r5", weight=1.0, invalid_at=NOW),
        relation("b", "c", id="r6", weight=1.0),
    )
    assert neighbours(alice, ["a"]) == ["r4", "r2", "r3", "r1"]
    assert neighbours(alice, ["a"], limit=2) == ["r4", "r2"]
    assert neighbours(alice, ["a"], limit=0) == []
    assert neighbours(alice, ["a"], where=ANY_RELATION) == ["r5", "r4", "r2", "r3", "r1"]
    assert neighbours(alice, ["a"], where=RelationFilter(min_weight=0.5)) == ["r4", "r2", "r3"]


def test_a_relation_between_two_of_the_asked_is_listed_once(alice: Caller) -> None:
    stored(alice, relation("a", "b", id="r1"), relation("b", "a", id="r2"), relation("a", "a", id="r3"))
    assert neighbours(alice, ["a", "b"]) == ["r1", "r2", "r3"]
    assert neighbours(alice, ["a"]) == ["r1", "r2", "r3"]


def test_a_relation_between_two_of_the_asked_is_not_listed_if_one_end_is_excluded(alice: Caller) -> None:
    stored(alice, relation("a", "b", id="r1"), relation("b", "a", id="r2"), relation("a", "c", id="r3"))
    assert neighbours(alice, ["a", "b"], exclude=["a"]) == ["r3"]
    assert neighbours(alice, ["a", "b"], exclude=["b"]) == ["r3"]


def test_a_loop_is_not_listed_if_its_entity_is_excluded(alice: Caller) -> None:
    stored(alice, relation("a", "a", id="r1"), relation("a", "b", id="r2"))
    assert neighbours(alice, ["a"], exclude=["a"]) == ["r2"]


def test_relations_to_excluded_entities_take_no_place_within_the_limit(alice: Caller) -> None:
    stored(
        alice,
        relation("a", "b", id="r1", weight=0.9),
        relation("c", "a", id="r2", weight=0.8),
        relation("a", "d", id="r3", weight=0.1),
    )
    assert neighbours(alice, ["a"], exclude=["b", "c", "nobody"], limit=1) == ["r3"]


def test_the_second_hop_does_not_return_the_hubs_own_relations(alice: Caller) -> None:
    leaves = [f"leaf{number:03}" for number in range(200)]
    to_hub = [relation(leaf, "hub", id=f"hub-{leaf}", weight=0.9) for leaf in leaves]
    beyond = [relation(leaf, f"far{leaf}", id=f"far-{leaf}", weight=0.2) for leaf in leaves]
    stored(alice, *to_hub, *beyond)
    first = alice.read(lambda tx: tx.relations.neighbours(["hub"], CURRENT, exclude=["hub"], limit=50))
    assert ids(first) == [f"hub-{leaf}" for leaf in leaves[:50]]
    frontier = [one.other_end("hub") for one in first]
    seen = ["hub", *frontier]
    second = alice.read(lambda tx: tx.relations.neighbours(frontier, CURRENT, exclude=seen, limit=50))
    assert ids(second) == [f"far-{leaf}" for leaf in leaves[:50]]


def test_between_lists_relations_with_both_ends_among_the_asked(alice: Caller) -> None:
    stored(
        alice,
        relation("a", "b", id="r3"),
        relation("b", "a", id="r1"),
        relation("b", "c", id="r2", weight=0.9),
        relation("a", "a", id="r4", weight=0.8),
        relation("a", "b", "OLD", id="r5", invalid_at=NOW),
    )
    assert ids(alice.read(lambda tx: tx.relations.between(["a", "b"], CURRENT, ALL))) == ["r4", "r1", "r3"]
    assert ids(alice.read(lambda tx: tx.relations.between(["a", "b", "c"], CURRENT, 2))) == ["r2", "r4"]
    assert ids(alice.read(lambda tx: tx.relations.between(["a", "b"], ANY_RELATION, ALL))) == ["r4", "r1", "r3", "r5"]


def test_page_walks_all_by_id(alice: Caller) -> None:
    stored(alice, *(relation("a", "b", f"T{number}", id=f"r{number}") for number in (5, 3, 1, 4, 2)))

    def walk(tx: ReadTransaction) -> list[list[str]]:
        pages, after = [], None
        while part := ids(tx.relations.page(CURRENT, after, 2)):
            pages.append(part)
            after = part[-1]
        return pages

    assert alice.read(walk) == [["r1", "r2"], ["r3", "r4"], ["r5"]]
    assert ids(alice.read(lambda tx: tx.relations.page(CURRENT, "r35", 2))) == ["r4", "r5"]
    assert ids(alice.read(lambda tx: tx.relations.page(RelationFilter(type_keys=frozenset({"t3"})), None, 2))) == ["r3"]


@pytest.mark.parametrize("limit", [1, 2, 3, 99])
def test_a_scan_of_links_sees_each_current_relation_once_and_ends(alice: Caller, limit: int) -> None:
    old = relation("c", "a", id="old", invalid_at=day(1))
    kept = [relation("a", "b", id="r1", weight=0.25), relation("b", "b", id="r3"), relation("b", "a", "T2", id="r2")]
    stored(alice, old, *kept)

    def walk(tx: ReadTransaction) -> list[Link]:
        links, after = tx.relations.scan_links(None, limit)
        found = list(links)
        while after is not None:
            links, after = tx.relations.scan_links(after, limit)
            found += links
        return found

    meant = sorted(Link(it.source_id, it.target_id, it.weight) for it in kept)
    assert sorted(alice.read(walk)) == meant


def test_relations_are_counted_and_their_weight_averaged(alice: Caller) -> None:
    stored(
        alice,
        relation("a", "b", "USES", weight=0.2),
        relation("b", "c", "USES", weight=0.6),
        relation("a", "c", "Knows About", weight=0.7),
        relation("c", "a", "USES", weight=1.0, invalid_at=NOW),
    )

    def check(tx: ReadTransaction) -> None:
        assert (tx.relations.count(CURRENT), tx.relations.count(ANY_RELATION)) == (3, 4)
        assert tx.relations.count_by_type(CURRENT) == {"USES": 2, "Knows About": 1}
        assert tx.relations.count_by_type(ANY_RELATION) == {"USES": 3, "Knows About": 1}
        assert tx.relations.mean_weight(CURRENT) == pytest.approx(0.5)
        assert tx.relations.mean_weight(RelationFilter(max_weight=0.2)) == pytest.approx(0.2)
        assert tx.relations.mean_weight(RelationFilter(min_weight=0.9)) == 0

    alice.read(check)


def test_types_are_spelled_as_the_relation_first_stored_spells_them(alice: Caller) -> None:
    stored(alice, relation("a", "b", "Works-On", id="z"))
    stored(alice, relation("b", "c", "WORKS_ON", id="a"), relation("b", "c", "USES", id="b"))
    found = alice.read(lambda tx: tx.relations.type_spelling(["works_on", "uses", "none"]))
    assert found == {"works_on": "Works-On", "uses": "USES"}


def test_delete_takes_versions_with_their_evidence(alice: Caller) -> None:
    stored(alice, relation("a", "b", id="r1"), relation("a", "c", id="r2"))
    alice.write(lambda tx: tx.relations.add_evidence([evidence("r1", session="s"), evidence("r2")]))
    assert alice.write(lambda tx: tx.relations.delete(["r1", "none"])) == 1
    assert alice.read(page) == ["r2"]
    assert set(alice.read(lambda tx: tx.relations.evidence(["r1", "r2"]))) == {"r2"}
    stored(alice, relation("a", "b", id="r1"))
    assert not alice.write(lambda tx: tx.relations.delete_evidence(EvidenceFilter(session="s")))


def test_delete_of_entities_takes_every_version_at_either_end(alice: Caller) -> None:
    stored(
        alice,
        relation("a", "b", id="r1"),
        relation("c", "a", id="r2", invalid_at=NOW),
        relation("a", "a", id="r3"),
        relation("b", "c", id="r4"),
    )
    alice.write(lambda tx: tx.relations.add_evidence([evidence(id_) for id_ in ("r1", "r2", "r3", "r4")]))
    assert alice.write(lambda tx: tx.relations.delete_of_entities(["a", "nobody"])) == 3
    assert alice.read(page) == ["r4"]
    assert set(alice.read(lambda tx: tx.relations.evidence(["r1", "r2", "r3", "r4"]))) == {"r4"}


def test_evidence_is_listed_by_instant_then_as_added(alice: Caller) -> None:
    stored(alice, relation("a", "b", id="r"))
    items = [evidence("r", day(at), amount) for at, amount in [(2, 0.1), (1, 0.9), (1, 0.2), (0, 0.5), (1, 0.4)]]
    alice.write(lambda tx: tx.relations.add_evidence(items))
    found = alice.read(lambda tx: tx.relations.evidence(["r", "none"]))
    assert {id_: [item.amount for item in kept] for id_, kept in found.items()} == {"r": [0.5, 0.9, 0.2, 0.4, 0.1]}


def test_evidence_is_removed_where_all_given_parts_hold(alice: Caller) -> None:
    stored(alice, relation("a", "b", id="r2"), relation("a", "c", id="r1"))
    items = [evidence("r2", day(1), session="s"), evidence("r1", day(2), session="s", file="f"), evidence("r1", day(3))]
    alice.write(lambda tx: tx.relations.add_evidence(items))
    where = EvidenceFilter(session="s", before=day(2))
    assert list(alice.write(lambda tx: tx.relations.delete_evidence(where))) == ["r2"]
    assert list(alice.write(lambda tx: tx.relations.delete_evidence(EvidenceFilter(session="s")))) == ["r1"]
    assert alice.read(lambda tx: tx.relations.evidence(["r1", "r2"]))["r1"] == items[2:]


def test_fade_writes_only_where_the_row_is_as_it_was_read(alice: Caller) -> None:
    stored(
        alice,
        relation("a", "b", id="same"),
        relation("a", "c", id="changed", weight=0.6),
        relation("b", "c", id="later", decayed_at=day(4)),
        relation("c", "b", id="until", decayed_at=day(3)),
    )
    names = ["same", "changed", "later", "until", "none"]
    assert alice.write(lambda tx: tx.relations.fade(Faded(id_, 0.5, 0.25, day(3)) for id_ in names)) == 2
    found = alice.read(lambda tx: tx.relations.find(names))
    assert {id_: (one.weight, one.decayed_at) for id_, one in found.items()} == {
        "same": (0.25, day(3)),
        "changed": (0.6, None),
        "later": (0.5, day(4)),
        "until": (0.25, day(3)),
    }


def test_scan_tells_what_decay_needs_of_current_relations(alice: Caller) -> None:
    stored(
        alice,
        relation("a", "b", id="r1", last_confirmed=day(-3), weight=0.75),
        relation("a", "c", id="r2", decayed_at=day(-1)),
        relation("a", "d", id="r3", invalid_at=NOW),
    )
    rows, after = alice.write(lambda tx: tx.relations.scan_fading(None, ALL))
    assert after is None
    assert {tuple(row) for row in rows} == {("r1", 0.75, to_micros(day(-3))), ("r2", 0.5, to_micros(day(-1)))}
