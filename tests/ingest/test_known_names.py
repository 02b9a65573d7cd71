"""Names that the graph knows are found in a text as whole words, the longest first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.names import name_key
from ingest.known_names import longest_matches


def named(text: str, *names: str) -> list[str]:
    keys = {name_key(name): name for name in names}
    return [keys[key] for key in longest_matches(text, keys)]


@pytest.mark.spec("extraction.known-entities")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("We use Postgres here.", "Postgres"),
        ("we use POSTGRES", "Postgres"),
        ("Postgres", "postgres"),
        ("(Postgres)", "Postgres"),
        ("Postgres's planner, “Postgres”, postgres/15", "Postgres"),
        ("a postgres-compatible store", "Postgres"),
        ("Ann\n  Lee wrote it", "Ann Lee"),
        ("C++, not C.", "C++"),
        ("written in C#", "C#"),
        ("node.js runs it", "node.js"),
        (".NET does", ".NET"),
        ("we are at Yahoo!", "Yahoo!"),
        ("AT&T's network", "AT&T"),
        ("see src/app/main.py:42", "src/app/main.py"),
        ("the five words of one name stand", "five words of one name"),
        ("Straße and STRASSE", "strasse"),
        ("Cafe\N{COMBINING ACUTE ACCENT} Noir", "Café Noir"),
        ("日本語のPostgreSQL入門を読む", "PostgreSQL"),
        ("日本語のPostgreSQL入門を読む", "入門"),
        ("我们使用图数据库", "图数据库"),
        ("東京 Tower に行く", "東京 Tower"),
        ("โปรแกรมภาษาไทย", "ภาษาไทย"),
        ("포스트그레스를 사용한다", "포스트그레스"),
        ("포스트그레스 서버가 있다", "포스트그레스 서버"),
        ("हिन्दी में लिखो", "हिन्दी"),
    ],
)
def test_a_known_name_is_found(text: str, name: str) -> None:
    assert named(text, name) == [name]


@pytest.mark.spec("extraction.known-entities")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("category", "cat"),
        ("concatenate", "cat"),
        ("my_project_x", "project"),
        ("C++ alone", "C"),
        ("C# alone", "C"),
        ("resumé", "resum"),
        ("e\N{COMBINING ACUTE ACCENT}t", "e"),
        ("हिन्दी", "हि"),
        ("큰포스트그레스", "포스트그레스"),
        ("nothing of it", "Postgres"),
    ],
)
def test_inside_of_a_longer_word_it_is_not(text: str, name: str) -> None:
    assert named(text, name) == []


@pytest.mark.spec("extraction.longest-first")
def test_of_overlapping_names_the_longest_is_meant() -> None:
    assert named("Project X Beta is late", "Project X", "Project X Beta", "Beta") == ["Project X Beta"]
    assert named("Project X Beta and Project X", "Project X", "Project X Beta") == ["Project X Beta", "Project X"]
    assert named("图数据库", "数据", "图数据库", "数据库") == ["图数据库"]
    assert named("graph-memory keeps memory", "memory", "graph-memory") == ["graph-memory", "memory"]


def test_each_name_is_given_once_in_the_order_of_the_text() -> None:
    assert named("b a b a", "a", "b") == ["b", "a"]


WORDS = st.sampled_from(
    [
        "a",
        "Bé",
        "c++",
        "d_e",
        ".net",
        "日本",
        "タ",
        "한국어",
        "ไทย",
        "हि",
        "x/y.z",
        "(f)",
        "42",
        "-",
        "'",
        "q\u0301",
        "\n",
    ]
)
TEXT = st.lists(WORDS, max_size=9).flatmap(lambda words: st.sampled_from([" ".join(words), "".join(words)]))


@given(TEXT)
def test_what_stands_between_spaces_is_found(text: str) -> None:
    for name in name_key(text).split():
        assert longest_matches(text, [name]) == (name,)


@given(TEXT)
def test_matches_do_not_overlap_and_lose_nothing_longer(text: str) -> None:
    key = name_key(text)
    parts = {key[start:end] for start in range(len(key)) for end in range(start + 1, len(key) + 1)}
    standing = [it for it in parts if longest_matches(text, [it])]

    matches = longest_matches(text, standing)

    assert sum(len(it) for it in matches) <= len(key)
    assert set(matches) <= set(standing)
    assert not key or key in matches
