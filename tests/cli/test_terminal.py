"""What commands write."""

from datetime import UTC, datetime

import pytest

from cli.backup import Mode
from cli.terminal import clean, counted, joined, listed, local, size
from graph_memory.domain.backups import ImportMode


def test_control_characters_never_reach_the_terminal() -> None:
    assert clean("a\x1b[31mb\x07c\x9bd\re") == "a�[31mb�c�d�e"
    assert clean("tabs\tand\nlines, 日本語 and émojis 🎉 stay") == "tabs\tand\nlines, 日本語 and émojis 🎉 stay"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1_023, "1023 B"),
        (1_536, "1.5 KB"),
        (15_360, "15 KB"),
        (5 * 1024**3, "5.0 GB"),
        (2 * 1024**4, "2.0 TB"),
    ],
)
def test_sizes_are_for_people(count: int, shown: str) -> None:
    assert size(count) == shown


def test_nouns_follow_their_number() -> None:
    assert [counted(n, "entity", "entities") for n in (0, 1, 1_234)] == ["0 entities", "1 entity", "1,234 entities"]


def test_the_largest_counts_come_first_and_the_rest_is_hinted_at() -> None:
    assert listed({"b": 2, "a": 2, "c": 9, "none": 0}) == "c 9, a 2, b 2"
    assert listed({"a": 3, "b": 2, "c": 1}, most=2) == "a 3, b 2, …"


def test_what_there_is_nothing_to_say_about_is_left_out() -> None:
    assert joined(("a", "", "b")) == "a · b"


def test_instants_are_shown_as_the_clock_on_the_wall_has_them() -> None:
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert local(at) == at.astimezone().strftime("%Y-%m-%d %H:%M")
    assert local(None) == "never"


def test_modes_of_import_are_those_of_the_program() -> None:
    assert [it.value for it in Mode] == [it.value for it in ImportMode]
