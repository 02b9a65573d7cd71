"""What a wikilink means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.link_targets import (
    LinkIndex,
    LinkTarget,
    Resolution,
    arrival_keys,
    link_target,
    spellings,
    target_id,
)
from graph_memory.domain.memories import GLOBAL_PROJECT, Memory
from graph_memory.domain.names import memory_slug

NOW = datetime(2026, 4, 5, tzinfo=UTC)


def stored(id_: int, title: str, project: str = "alpha", file: str | None = None) -> LinkTarget:
    memory = Memory(title, memory_slug(title), "text", "note", NOW, NOW, id=id_, project_id=project, source_file=file)
    return link_target(memory)


def resolved(target: str, *candidates: LinkTarget, project: str = "alpha") -> Resolution:
    return LinkIndex(candidates).resolve(target, project)


@pytest.mark.spec("wikilinks.by-id", "wikilinks.by-title", "wikilinks.by-slug")
@pytest.mark.parametrize("target", ["7", "Connection Pool", "connection   pool", "connection-pool"])
def test_a_link_means_an_id_a_title_or_a_slug(target: str) -> None:
    assert resolved(target, stored(7, "Connection pool")) == Resolution(7)


@pytest.mark.spec("wikilinks.order")
def test_an_id_comes_before_a_title_and_a_title_before_a_slug() -> None:
    by_id, by_title = stored(5, "Other"), stored(9, "5")
    titled, slugged = stored(1, "a-b"), stored(2, "A b")

    assert resolved("5", by_id, by_title).memory_id == 5
    assert resolved("a-b", titled, slugged).memory_id == 1


@pytest.mark.spec("wikilinks.same-project-first", "wikilinks.global-second")
def test_the_own_project_comes_first_then_the_global_one() -> None:
    near, shared, far = stored(3, "Plan"), stored(2, "Plan", GLOBAL_PROJECT), stored(1, "Plan", "beta")

    assert resolved("Plan", near, shared, far).memory_id == 3
    assert resolved("Plan", shared, far).memory_id == 2
    assert resolved("5", stored(5, "X", "beta"), stored(8, "5")).memory_id == 8


@pytest.mark.spec("wikilinks.other-project-single")
def test_another_project_answers_only_alone_and_is_marked() -> None:
    assert resolved("Plan", stored(1, "Plan", "beta")) == Resolution(1, is_foreign=True)


@pytest.mark.spec("wikilinks.ambiguous")
def test_several_other_projects_leave_it_open_and_are_told() -> None:
    found = resolved("Plan", stored(4, "Plan", "gamma"), stored(1, "Plan", "beta"))

    assert found == Resolution(candidates=(1, 4))


def test_nothing_means_nothing() -> None:
    assert resolved("Plan", stored(1, "Other")) == Resolution()
    assert resolved("") == Resolution()


@pytest.mark.parametrize(
    ("target", "file", "is_meant"),
    [
        ("docs/Setup", "vault/docs/Setup.md", True),
        ("docs/Setup.md", "docs/Setup.md", True),
        ("../docs/Setup", "docs/Setup.md", True),
        ("/docs/Setup", "docs/Setup.md", True),
        ("Setup.md", "docs/Setup.md", True),
        ("other/Setup", "docs/Setup.md", False),
        ("ocs/Setup", "docs/Setup.md", False),
        ("docs/Setup", None, True),
    ],
)
def test_a_path_means_the_file_that_ends_with_it(target: str, file: str | None, is_meant: bool) -> None:
    assert (resolved(target, stored(1, "Setup", file=file)).memory_id == 1) is is_meant


def test_a_path_finds_a_title_that_got_its_folder_in_brackets() -> None:
    assert resolved("docs/Setup", stored(1, "Setup"), stored(2, "Setup (docs)")).memory_id == 2


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("12", 12),
        (" 12 ", 12),
        ("0x1", None),
        ("\uff11\uff12", None),
        ("1.5", None),
        ("-1", None),
        ("9" * 30, None),
        ("", None),
    ],
)
def test_an_id_is_written_in_plain_digits(text: str, id_: int | None) -> None:
    assert target_id(text) == id_


@pytest.mark.spec("wikilinks.late")
@pytest.mark.parametrize(
    "target", ["7", "Setup", "setup", "Setup.md", "docs/Setup", "docs/setup.md", "vault/docs/Setup"]
)
def test_whatever_means_a_memory_waits_under_a_key_it_arrives_with(target: str) -> None:
    memory = stored(7, "Setup", file="vault/docs/Setup.md")

    assert resolved(target, memory).memory_id == 7
    assert spellings(target)[0].key in arrival_keys(memory)


@given(st.text(), st.lists(st.sampled_from(["Plan", "plan!", "5", "a/b"]), max_size=3, unique=True))
def test_no_target_is_an_error_and_the_answer_is_one_of_the_candidates(target: str, titles: list[str]) -> None:
    candidates = [stored(number, title) for number, title in enumerate(titles, start=1)]

    found = resolved(target, *candidates)

    assert found.memory_id is None or found.memory_id in {it.memory_id for it in candidates}
