"""The words of texts and queries: which tell something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.query_words import is_stop_word, likely_rare, tidy_word


@pytest.mark.parametrize(
    ("word", "tidy"),
    [
        ("(done).", "done"),
        ("C++,", "C++"),
        ("“quoted”", "quoted"),
        ("**bold**", "bold"),
        ("`code`", "code"),
        ("--error", "--error"),
        (".NET", ".NET"),
        ("__init__", "__init__"),
        ("!?", ""),
    ],
)
def test_marks_around_a_word_are_no_part_of_it(word: str, tidy: str) -> None:
    assert tidy_word(word) == tidy


@pytest.mark.parametrize(
    ("word", "says_nothing"), [("The", True), ("don\u2019t", True), ("Postgres", False), ("C", False)]
)
def test_words_that_say_nothing_are_known_in_any_spelling(word: str, says_nothing: bool) -> None:
    assert is_stop_word(word) is says_nothing


@pytest.mark.spec("autolink.informative-terms")
def test_long_words_names_and_numbers_are_likely_rare_wherever_they_stand() -> None:
    text = "we all went home and then had some tea with the team, when k8s or POL-358 broke the eigenvalue solver"

    assert likely_rare(text, 4) == ["k8s", "POL-358", "eigenvalue", "solver"]


@pytest.mark.spec("autolink.any-script")
def test_long_runs_of_scripts_without_spaces_are_cut_where_the_script_changes() -> None:
    text = "データベースの接続プールを選択した理由についてのメモである。"

    assert likely_rare(text, 9) == ["データベース", "接続", "プール", "選択", "理由", "メモ"]
    assert likely_rare("接続プール", 9) == ["接続プール"]


def test_what_is_looked_up_is_bounded_in_any_script() -> None:
    assert len(likely_rare(" ".join(f"word{number}" for number in range(5_000)), 32)) == 32
    assert len("".join(likely_rare("接続選択理由" * 3_000, 32))) <= 96


@given(st.text(), st.integers(0, 40))
def test_the_choice_is_bounded_and_distinct(text: str, limit: int) -> None:
    words = likely_rare(text, limit)

    assert len(words) <= limit
    assert len({word.casefold() for word in words}) == len(words)
    assert all(0 < len(word) <= 24 and not is_stop_word(word) for word in words)
