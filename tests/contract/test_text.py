"""What is found by text. Words are chosen so that stemming leaves them as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.entities import Alias, EntityFilter
from graph_memory.domain.memories import MemoryFilter, Status
from graph_memory.domain.queries import Clause, Operator, Term, TextQuery
from tests.contract.samples import ALL, ANY_ENTITY, ANY_MEMORY, ODD_TEXTS, entity, memory, query
from tests.contract.stores import OPENERS

if TYPE_CHECKING:
    from graph_memory.domain.entities import Entity
    from graph_memory.domain.memories import Memory
    from tests.contract.stores import Caller

AND, OR = Operator.AND, Operator.OR


def asked(clause: Clause, loose: Clause | None = None) -> TextQuery:
    return TextQuery("", clause, loose)


def notes(alice: Caller, *memories: Memory) -> None:
    alice.write(lambda tx: tx.memories.add(memories))


def found(alice: Caller, text: TextQuery, where: MemoryFilter = ANY_MEMORY, limit: int = ALL) -> list[int]:
    hits = alice.read(lambda tx: tx.memories.search(text, where, limit))
    assert all(hit.score > 0 for hit in hits)
    return [hit.ref for hit in hits]


def things(alice: Caller, *entities: Entity) -> None:
    alice.write(lambda tx: tx.entities.put(entities))


def found_things(alice: Caller, text: TextQuery, where: EntityFilter = ANY_ENTITY, limit: int = ALL) -> list[str]:
    hits = alice.read(lambda tx: tx.entities.search(text, where, limit))
    assert all(hit.score > 0 for hit in hits)
    return [hit.ref for hit in hits]


def test_title_content_and_tags_are_searched(alice: Caller) -> None:
    notes(alice, memory("Lemon", 1), memory("b", 2, "a lemon, yes"), memory("c", 3, tags=("lemon",)), memory("d", 4))
    assert set(found(alice, query("LEMON"))) == {1, 2, 3}


def test_a_title_counts_for_more_than_text(alice: Caller) -> None:
    notes(alice, memory("Kiwi", 1, "the orbit of it"), memory("Orbit", 2, "a kiwi in it"))
    assert found(alice, query("orbit")) == [2, 1]
    assert found(alice, query("kiwi")) == [1, 2]


def test_all_words_or_any(alice: Caller) -> None:
    notes(
        alice, memory("a", 1, "lemon orbit"), memory("b", 2, "lemon"), memory("c", 3, "orbit"), memory("d", 4, "kiwi")
    )
    assert found(alice, query("lemon", "orbit")) == [1]
    assert set(found(alice, query("lemon", "orbit", operator=OR))) == {1, 2, 3}


def test_a_phrase_is_its_words_in_order(alice: Caller) -> None:
    notes(alice, memory("a", 1, "the lemon orbit"), memory("b", 2, "orbit lemon"), memory("c", 3, "lemon or orbit"))
    assert found(alice, query("lemon orbit")) == [1]
    assert found(alice, query("lemon-ORBIT")) == [1]


def test_a_prefix_matches_what_begins_with_it(alice: Caller) -> None:
    notes(alice, memory("a", 1, "orbital lemon"), memory("b", 2, "lemon orb"), memory("c", 3, "morb"))
    assert set(found(alice, query("orb", is_prefix=True))) == {1, 2}
    assert found(alice, query("orb")) == [2]
    assert found(alice, query("lemon or", is_prefix=True)) == [2]
    assert found(alice, query("lem orb", is_prefix=True)) == []


def test_excluded_parts_must_not_match(alice: Caller) -> None:
    notes(alice, memory("a", 1, "lemon orbit"), memory("b", 2, "lemon kiwi"), memory("c", 3, "lemon"))
    assert found(alice, asked(Clause(AND, (Term("lemon"),), (Term("orbit"), Term("kiwi"))))) == [3]
    both = Clause(AND, (Term("orbit"), Term("kiwi")))
    assert set(found(alice, asked(Clause(AND, (Term("lemon"),), (both,))))) == {1, 2, 3}


def test_clauses_nest(alice: Caller) -> None:
    notes(
        alice,
        memory("a", 1, "lemon orbit"),
        memory("b", 2, "lemon kiwi"),
        memory("c", 3, "lemon"),
        memory("d", 4, "kiwi"),
    )
    either = Clause(OR, (Term("orbit"), Term("kiwi")))
    assert set(found(alice, asked(Clause(AND, (Term("lemon"), either))))) == {1, 2}


def test_strict_hits_come_before_loose_ones(alice: Caller) -> None:
    notes(
        alice,
        memory("Orbit orbit orbit", 1, "orbit"),
        memory("b", 2, "long text " * 50 + "lemon orbit"),
        memory("Lemon", 3),
        memory("d", 4, "kiwi"),
    )
    hits = found(alice, query("lemon", "orbit", loose=True))
    assert hits[0] == 2
    assert set(hits) == {1, 2, 3}
    assert found(alice, query("lemon", "orbit", loose=True), limit=1) == [2]
    assert len(found(alice, query("lemon", "orbit", loose=True), limit=2)) == 2


def test_a_query_without_words_finds_nothing(alice: Caller) -> None:
    notes(alice, memory("Lemon", 1))
    things(alice, entity("lemon"))
    assert found(alice, TextQuery("++", None, None)) == []
    assert found_things(alice, TextQuery("++", None, None)) == []


def test_a_loose_reading_stands_alone_where_there_is_no_strict_one(alice: Caller) -> None:
    notes(alice, memory("Lemon", 1))
    assert found(alice, TextQuery("lemon", None, Clause(OR, (Term("lemon"),)))) == [1]


def test_case_and_diacritics_make_no_difference(alice: Caller) -> None:
    notes(alice, memory("a", 1, "CAFÉ"), memory("b", 2, "cafe\u0301"), memory("c", 3, "cafe"))
    for word in ("café", "cafe", "Cafe\u0301"):
        assert set(found(alice, query(word))) == {1, 2, 3}


@pytest.mark.spec("storage.fts.stemming")
@pytest.mark.parametrize("store", sorted(set(OPENERS) - {"reference"}), indirect=True)
def test_a_word_in_any_inflection_matches(alice: Caller) -> None:
    """The reference compares words as they are: it is simple before it is clever."""
    notes(alice, memory("a", 1, "they run tests"), memory("b", 2, "Running a test"), memory("c", 3, "other"))
    for word in ("running", "run", "runs"):
        assert set(found(alice, query(word))) == {1, 2}
    assert set(found(alice, query("tested", "run"))) == {1, 2}


@pytest.mark.parametrize(
    ("text", "word"), [("東京タワーへ行く", "タワー"), ("我喜欢编程语言", "编程"), ("ภาษาไทยง่าย", "ไทย")]
)
def test_scripts_without_spaces_match_by_runs_of_characters(alice: Caller, text: str, word: str) -> None:
    notes(alice, memory("a", 1, text), memory(text, 2), memory("c", 3, "other"))
    assert set(found(alice, query(word))) == {1, 2}


@pytest.mark.spec("storage.project.global")
def test_a_filter_restricts_what_is_found(alice: Caller) -> None:
    notes(
        alice,
        memory("lemon", 1),
        memory("lemon", 2, project_id="p"),
        memory("lemon", 3, project_id="q"),
        memory("lemon 2", 4, project_id="p", status=Status.ARCHIVED),
    )
    assert set(found(alice, query("lemon"), MemoryFilter())) == {1, 2, 3}
    assert set(found(alice, query("lemon"), MemoryFilter(project_id="p"))) == {1, 2}
    assert found(alice, query("lemon"), MemoryFilter(project_id="p", is_project_exact=True)) == [2]
    assert found(alice, query("lemon"), MemoryFilter(category="none")) == []
    assert found(alice, query("p"), ANY_MEMORY) == []


@pytest.mark.spec("storage.fts.in-step")
def test_changes_are_found_at_once(alice: Caller) -> None:
    notes(alice, memory("a", 1, "lemon"), memory("b", 2, "lemon"))
    alice.write(lambda tx: tx.memories.put([memory("a", 1, "orbit")]))
    assert found(alice, query("lemon")) == [2]
    assert found(alice, query("orbit")) == [1]
    alice.write(lambda tx: tx.memories.set_tags(2, ["orbit"]))
    assert set(found(alice, query("orbit"))) == {1, 2}
    alice.write(lambda tx: tx.memories.delete([2]))
    assert found(alice, query("orbit")) == [1]
    assert alice.write(
        lambda tx: (tx.memories.add([memory("kiwi", 3)]), tx.memories.search(query("kiwi"), ANY_MEMORY, 1))
    )[1]


SYNTAX = [
    '"',
    "*",
    "AND",
    "OR NOT",
    "NEAR(a b)",
    "(",
    "title:lemon",
    "-lemon",
    "^lemon",
    "C++",
    "don't",
    "{a}",
    "%",
    "_",
]


@pytest.mark.parametrize("text", [*ODD_TEXTS, *SYNTAX, "x" * 10_000, "lemon " * 2_000])
def test_any_text_in_a_term_is_text(alice: Caller, text: str) -> None:
    notes(alice, memory("Lemon", 1, text))
    things(alice, entity("lemon", name="Lemon", properties={"text": text}))
    for clause in (
        Clause(AND, (Term(text),)),
        Clause(OR, (Term(text, is_prefix=True), Term("lemon"))),
        Clause(AND, (Term("lemon"),), (Clause(OR, (Term(text), Term("nothing"))),)),
    ):
        assert found(alice, asked(clause, clause)) in ([], [1])
        assert found_things(alice, asked(clause, clause)) in ([], ["lemon"])
    assert found(alice, query("lemon")) == [1]


def test_entities_are_found_by_name_alias_and_text_properties(alice: Caller) -> None:
    things(
        alice,
        entity("a", name="Lemon tree"),
        entity("b", name="Citrus"),
        entity("c", name="Other", properties={"note": "the lemon", "n": 3}),
        entity("d", name="Kiwi"),
    )
    alice.write(lambda tx: tx.entities.put_aliases([Alias("b", "Lemon")]))
    assert set(found_things(alice, query("lemon"))) == {"a", "b", "c"}
    assert found_things(alice, query("lemon", "tree")) == ["a"]
    assert found_things(alice, query("lemon"), EntityFilter(ids=frozenset({"c", "d"}))) == ["c"]
    assert len(found_things(alice, query("lemon"), limit=2)) == 2


def test_entities_are_found_loosely_only_if_not_strictly(alice: Caller) -> None:
    things(alice, entity("a", name="Lemon orbit"), entity("b", name="Lemon"), entity("c", name="Kiwi"))
    assert found_things(alice, query("lemon", "orbit", loose=True)) == ["a"]
    assert set(found_things(alice, query("lemon", "kiwi", loose=True))) == {"a", "b", "c"}


def test_changes_of_entities_are_found_at_once(alice: Caller) -> None:
    things(alice, entity("a", name="Lemon"), entity("b", name="Kiwi"))
    alice.write(lambda tx: tx.entities.put_aliases([Alias("b", "Lemon")]))
    things(alice, entity("a", name="Orbit"))
    assert found_things(alice, query("lemon")) == ["b"]
    alice.write(lambda tx: tx.entities.delete_aliases([Alias("b", "lemon")]))
    assert found_things(alice, query("lemon")) == []
    alice.write(lambda tx: tx.entities.delete(["a"]))
    assert found_things(alice, query("orbit")) == []


def test_names_that_are_nearly_the_same_are_candidates(alice: Caller) -> None:
    things(
        alice,
        entity("a", name="Kubernetes"),
        entity("b", name="Kubernets", confidence=0.9),
        entity("c", name="PostgreSQL"),
        entity("d", name="Container system"),
        entity("e", name="東京タワー"),
    )
    alice.write(lambda tx: tx.entities.put_aliases([Alias("d", "KUBERNETES!")]))

    def similar(name: str, where: EntityFilter = ANY_ENTITY, limit: int = ALL) -> set[str]:
        return {one.id for one in alice.read(lambda tx: tx.entities.find_similar_names(name, where, limit))}

    assert {"a", "b", "d"} <= similar("kubernetes")
    assert "c" not in similar("kubernetes")
    assert "a" in similar("Kubernetse")
    assert "e" in similar("東京タワ")
    assert similar("kubernetes", EntityFilter(min_confidence=0.8)) == {"b"}
    assert len(similar("kubernetes", limit=1)) == 1
    assert similar("zzzz qqqq") == set()
    similar("")
    similar("k8")


def test_rare_terms_are_the_rarest_words_first_ties_by_word(alice: Caller) -> None:
    notes(
        alice,
        memory("a", 1, "lemon orbit kiwi plum"),
        memory("b", 2, "lemon orbit plum"),
        memory("c", 3, "lemon", tags=("plum",)),
    )

    def rare(text: str, limit: int = ALL) -> list[str]:
        return list(alice.read(lambda tx: tx.memories.rare_terms(text, limit)))

    assert rare("The LEMON, an orbit: kiwi (plum) kiwi!")[-4:] == ["kiwi", "orbit", "lemon", "plum"]
    assert rare("lemon orbit kiwi plum", 2) == ["kiwi", "orbit"]
    assert rare("") == []
    assert rare("... !") == []


def test_rare_terms_find_the_memories_they_come_from(alice: Caller) -> None:
    text = "Running tests: the Cafés of 東京タワー don't crash in foo_bar.baz() or C++"
    notes(alice, memory("a", 1, text))
    terms = alice.read(lambda tx: tx.memories.rare_terms(text, ALL))
    assert terms
    for term in terms:
        assert found(alice, query(term)) == [1], term


def test_common_words_are_left_out_once_the_set_is_made(alice: Caller, bob: Caller) -> None:
    notes(alice, *(memory(f"n{number}", number, f"lemon x{number}") for number in range(1, 201)))
    notes(bob, memory("a", 1_001, "lemon"))
    assert "lemon" in alice.read(lambda tx: tx.memories.rare_terms("lemon x7", ALL))
    size = alice.write(lambda tx: tx.memories.renew_common_terms())
    terms = list(alice.read(lambda tx: tx.memories.rare_terms("lemon x7", ALL)))
    assert terms == ["x7"] if size else "x7" in terms
    assert list(bob.read(lambda tx: tx.memories.rare_terms("lemon", ALL))) == ["lemon"]
