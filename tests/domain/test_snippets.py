"""Snippets show why a text was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.snippets import MAX_SNIPPET, make_snippet
from graph_memory.domain.text_queries import parse_query

LONG = "Nothing of note here. " * 60


@pytest.mark.spec("memory_search.snippet")
@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("deployed", "we are deploying the service"),
        ("policy", "both policies hold"),
        ("POL-358", "see POL-358 for more"),
        ("c++", "written in C++ mostly"),
        ("選択", "データベースを選択した。"),
        ("Größe", "die größe der Tabelle"),
    ],
)
def test_a_snippet_stands_around_the_words_in_any_inflection(query: str, passage: str) -> None:
    text = f"{LONG}{passage} {LONG}"

    snippet = make_snippet(text, parse_query(query))

    assert passage in snippet
    assert snippet.startswith("…")
    assert snippet.endswith("…")


def test_the_place_with_most_of_the_words_is_shown() -> None:
    text = f"postgres {LONG} postgres pool size {LONG} pool"

    assert "postgres pool size" in make_snippet(text, parse_query("postgres pool size"))


def test_a_short_text_is_shown_whole_and_on_one_line() -> None:
    assert make_snippet("one\n\n  two\tthree", parse_query("two")) == "one two three"


def test_where_nothing_matches_the_beginning_is_shown() -> None:
    snippet = make_snippet("The beginning. " + LONG, parse_query("elsewhere"))

    assert snippet.startswith("The beginning.")
    assert snippet.endswith("…")


def test_nothing_is_added_to_what_the_text_says() -> None:
    text = "found <b>bold</b> & `code` [link](x) found"

    assert make_snippet(text, parse_query("found")) == text


def test_the_inside_of_a_word_is_no_match() -> None:
    text = f"undeployable {LONG} deploy now"

    assert "deploy now" in make_snippet(text, parse_query("deploy"))


@pytest.mark.parametrize("text", ["İstanbul " * 50 + "target word", "ﬁ ß ŉ " * 100 + "target word"])
def test_letters_that_grow_in_lower_case_do_not_move_the_window(text: str) -> None:
    assert make_snippet(text, parse_query("target")).endswith("target word")


@pytest.mark.spec("memory_search.huge-text")
@pytest.mark.parametrize("text", ["deploy " * 700_000, "xdeploy " * 600_000, "deploy" * 800_000, "a" * 5_000_000])
def test_five_megabytes_are_read_once(text: str) -> None:
    # The time limit of every test is the bound: in the square of these texts it would be days.
    assert len(make_snippet(text, parse_query("deploy deployment a aa"))) <= MAX_SNIPPET + 2


@given(st.text(), st.text(), st.integers(20, 300))
def test_a_snippet_is_bounded_and_is_of_the_text(text: str, query: str, length: int) -> None:
    snippet = make_snippet(text, parse_query(query), length)

    assert len(snippet) <= length + 2
    assert "\n" not in snippet
    assert set(snippet) <= set(text) | {"…", " "}
