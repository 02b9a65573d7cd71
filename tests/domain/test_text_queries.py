"""What people type into a search is read as they mean it, and nothing they type is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.queries import Clause, Operator, Term, TextQuery
from graph_memory.domain.text_queries import (
    MAX_LOOSE_TERMS,
    MAX_TERM,
    MAX_TERMS,
    parse_query,
    positive_terms,
    written_literally,
)

OPERATORS = st.sampled_from(["AND", "OR", "NOT", "(", ")", '"', "*", "-", "a", "b*", '"c d"', "NEAR(", "title:", " "])
TYPED = st.one_of(st.text(), st.lists(OPERATORS, max_size=40).map(" ".join), st.lists(OPERATORS).map("".join))


def shown(clause: Term | Clause | None) -> str:
    """Write a clause so that a test can be read."""
    if clause is None:
        return "nothing"
    if isinstance(clause, Term):
        return f"{clause.words}*" if clause.is_prefix else clause.words
    joined = f" {clause.operator} ".join(shown(part) for part in clause.parts)
    excluded = "".join(f" not {shown(part)}" for part in clause.excluded)
    return f"({joined}{excluded})"


@pytest.mark.spec("memory_search.plain-text")
@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("C++", "(C++)"),
        ("C#", "(C#)"),
        ("POL-358", "(POL-358)"),
        ("don't", "(don't)"),
        ("C:\\repo", "(C:\\repo)"),
        ("a/b", "(a/b)"),
        ("foo:bar", "(foo:bar)"),
        ("v2.1.39", "(v2.1.39)"),
        ("--error", "(--error)"),
        ("email@x.org", "(email@x.org)"),
        ("50%", "(50%)"),
        (".NET", "(.NET)"),
        ("multi-agent", "(multi-agent)"),
        ("node.js", "(node.js)"),
        ("日本語のメモ", "(日本語のメモ)"),
        ("what's \"foo", "(what's and foo)"),
        ('5" pipe, 3" hose', "(5 and pipe and 3 and hose)"),
        ("**bold** (really).", "(bold and really)"),
        ("print() and call(x)", "(print and and and call(x)"),
        ("AND", "(AND)"),
        ("NOT done", "(NOT and done)"),
        ("a NEAR(b c)", "(a and NEAR(b and c)"),
        ("title:x", "(title:x)"),
        ("nul\x00and\ud800surrogate", "(nul and and and surrogate)"),
    ],
)
def test_plain_text_is_all_of_its_words(text: str, strict: str) -> None:
    assert shown(parse_query(text).strict) == strict


@pytest.mark.spec("memory_search.empty")
@pytest.mark.parametrize("text", ["", "  \n\t", "(", '"', "*", "--", "()", '""', "( ) ( )", "!?", "🎉", "\x00", "_"])
def test_a_text_without_a_letter_or_digit_asks_for_nothing(text: str) -> None:
    query = parse_query(text)

    assert query.strict is None
    assert query.loose is None


@pytest.mark.spec("memory_search.operators")
@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("a AND b", "(a and b)"),
        ("a OR b", "(a or b)"),
        ("a NOT b", "(a not b)"),
        ("a AND NOT b", "(a not b)"),
        ("a b OR c d", "((a and b) or (c and d))"),
        ("a OR b AND c", "(a or (b and c))"),
        ("(a OR b) AND c", "((a or b) and c)"),
        ("a NOT (b OR c)", "(a not (b or c))"),
        ("call() AND (x OR y())", "(call and (x or y))"),
        ('"quick brown" AND fox', "(quick brown and fox)"),
        ('"quick brown"', "(quick brown)"),
        ("“quick brown”", "(quick brown)"),
        ("deploy*", "(deploy*)"),
        ('"quick bro"*', "(quick bro*)"),
    ],
)
def test_operators_that_parse_are_kept(text: str, strict: str) -> None:
    assert shown(parse_query(text).strict) == strict


@pytest.mark.spec("memory_search.operators.else-words")
@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("sqlite AND", "(sqlite and AND)"),
        ("OR sqlite", "(OR and sqlite)"),
        ("a OR NOT b", "(a and OR and NOT and b)"),
        ("(a OR b", "(a and OR and b)"),
        ("a AND --", "(a and AND)"),
        ("a and b or c", "(a and and and b and or and c)"),
        ('"quick brown" AND', "(quick brown and AND)"),
    ],
)
def test_operators_that_do_not_parse_are_words(text: str, strict: str) -> None:
    assert shown(parse_query(text).strict) == strict


@pytest.mark.parametrize(
    ("text", "loose"),
    [
        ("what did we decide about postgres?", "(decide or postgres)"),
        ("to be or not to be", "(to or be or or or not)"),
        ("NOT done", "(done)"),
        ("Anna's plan", "(Anna or plan)"),
        ("multi-agent systems", "(multi-agent or multi or agent or systems)"),
        ("POL-358 don't break", "(POL-358 or break)"),
        ("データベースの選択", "(データベース or 選択)"),
        ("数据库选择", "(数据库 or 据库选 or 库选择)"),
        ("ありがとう", "(ありが or りがと or がとう)"),
        ("deploy* kube*", "(deploy* or kube*)"),
    ],
)
def test_the_loose_reading_is_any_informative_word(text: str, loose: str) -> None:
    assert shown(parse_query(text).loose) == loose


def test_what_was_quoted_must_hold_in_the_loose_reading_as_well() -> None:
    query = parse_query('"connection pool" postgres')

    assert shown(query.loose) == "(connection pool and (connection pool or postgres))"


@pytest.mark.parametrize("text", ["a AND b", "a NOT b", '"quick brown"', "C++", "deploy*"])
def test_nothing_looser_is_looked_for_where_nothing_looser_was_meant(text: str) -> None:
    query = parse_query(text)

    assert query.loose == query.strict


@pytest.mark.spec("memory_search.plain-text", "memory_search.huge-text")
@pytest.mark.parametrize(
    "text",
    [
        "lorem ipsum dolor sit amet " * 400,
        "".join(f"word{i} " for i in range(1_500)),
        "x" * 10_000,
        "(" * 10_000,
        '"a"b ' * 2_000,
        "(a AND " * 1_500,
        "a OR " * 2_000 + "a",
        "選択" * 5_000,
    ],
)
def test_ten_kilobytes_are_a_bounded_query(text: str) -> None:
    query = parse_query(text)

    for clause, most in ((query.strict, MAX_TERMS), (query.loose, MAX_LOOSE_TERMS)):
        count, depth = _size(clause)
        assert count <= most
        assert depth < 40


def test_a_word_too_long_to_be_searched_is_searched_by_its_beginning() -> None:
    assert parse_query("x" * 10_000).strict == Clause(Operator.AND, (Term("x" * MAX_TERM, is_prefix=True),))


def test_a_loose_reading_of_many_words_keeps_the_longest() -> None:
    text = " ".join(f"w{i}" for i in range(100)) + " extraordinary"

    terms = positive_terms(TextQuery(text, None, parse_query(text).loose))

    assert Term("extraordinary") in terms


@given(TYPED)
def test_no_text_is_an_error_and_every_reading_is_sound(text: str) -> None:
    query = parse_query(text)

    assert (query.strict is None) == (query.loose is None)
    for clause in (query.strict, query.loose):
        for term in () if clause is None else _all_terms(clause):
            assert any(c.isalnum() for c in term.words)
            assert 0 < len(term.words) <= MAX_TERM
            term.words.encode()


@given(st.lists(st.sampled_from(["alpha", "beta", "POL-358", "C++", "the", "and"]), min_size=1))
def test_all_words_typed_are_in_the_strict_reading(words: list[str]) -> None:
    strict = parse_query(" ".join(words)).strict

    assert strict is not None
    assert {term.words for term in _all_terms(strict)} == set(words)


def test_time_does_not_grow_faster_than_the_text() -> None:
    # The time limit of every test is the bound: in the square of these texts it would be hours.
    for text in ('"a"b ' * 200_000, "(" * 1_000_000, '" ' * 500_000):
        assert parse_query(text).text.startswith(text[:5])


@pytest.mark.spec("memory_search.plain-text.finds")
def test_what_no_index_keeps_is_told_as_written() -> None:
    assert written_literally(parse_query("learn C++ from POL-358")) == ("c++", "pol-358")
    assert written_literally(parse_query("plain words")) == ()
    assert written_literally(parse_query("")) == ()


def _all_terms(clause: Clause) -> list[Term]:
    parts = (*clause.parts, *clause.excluded)
    return [term for part in parts for term in ([part] if isinstance(part, Term) else _all_terms(part))]


def _size(clause: Clause | None) -> tuple[int, int]:
    if clause is None:
        return 0, 0
    inner = [(1, 0) if isinstance(part, Term) else _size(part) for part in (*clause.parts, *clause.excluded)]
    return sum(count for count, _ in inner), 1 + max(depth for _, depth in inner)
