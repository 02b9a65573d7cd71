from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from ingest.transcripts.own import is_own_folder, is_own_prompt

HOMES = (PurePosixPath("/home/u/graph-memory"),)


@pytest.mark.parametrize(
    ("cwd", "is_own"),
    [
        ("/home/u/graph-memory", True),
        ("/home/u/graph-memory/ingest/processing", True),
        ("/home/u/graph-memory/", True),
        ("/home/u/graph-memory-notes", False),
        ("/home/u/graph-memory/../project", False),
        ("/home/u/x/../graph-memory/logs", True),
        ("/home/u", False),
        ("", False),
        (None, False),
    ],
)
def test_a_session_in_the_products_home_is_its_own(cwd: str | None, is_own: bool) -> None:
    assert is_own_folder(cwd, HOMES) is is_own


def test_a_prompt_that_begins_with_the_mark_is_our_own() -> None:
    assert is_own_prompt('  <graph-memory source="briefing">\nknown facts\n</graph-memory>')
    assert not is_own_prompt("what is <graph-memory> for?")
