"""What a person is told of how much there is to read."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from graph_memory.config.settings import Exclude
from ingest.exclusions import Exclusions
from ingest.reach import Reach, survey
from tests.ingest.transcript_files import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.reach import Survey
    from tests.ingest.places import Place


def write(place: Place, name: str, *, days: float, cwd: str | None = "/x/app") -> Path:
    chat = Transcript(place.ingest.projects_dirs[0] / "-x" / f"{name}.jsonl", session_id=name, cwd=cwd)
    chat.write({"type": "summary", "summary": "No folder here"})
    chat.say("Prompt")
    at = (place.clock.at - timedelta(days=days)).timestamp()
    os.utime(chat.file, (at, at))
    return chat.file


def look(place: Place, exclude: Exclude | None = None) -> Survey:
    return survey(place.ingest.projects_dirs, Exclusions(exclude or Exclude(), place.home), place.clock.at)


def test_transcripts_are_counted_by_when_they_were_last_written(place: Place) -> None:
    sizes = {days: write(place, f"s{days}", days=days).stat().st_size for days in (1, 8, 31, 91)}
    assert look(place).reaches == [
        Reach(days, count, sum(list(sizes.values())[:count])) for days, count in ((7, 1), (30, 2), (90, 3), (None, 4))
    ]


@pytest.mark.parametrize(
    ("exclude", "reason"),
    [
        (Exclude(projects=("app",)), "excluded_project"),
        (Exclude(sessions=("s1",)), "excluded_session"),
    ],
)
def test_what_is_excluded_is_counted_apart(place: Place, exclude: Exclude, reason: str) -> None:
    write(place, "s1", days=1)
    write(place, "s2", days=1, cwd="/x/other")
    seen = look(place, exclude)
    assert seen.excluded == {reason: 1}
    assert [it.transcripts for it in seen.reaches] == [1, 1, 1, 1]


def test_a_transcript_that_says_nothing_of_itself_is_counted(place: Place) -> None:
    file = write(place, "s1", days=1, cwd=None)
    with file.open("ab") as stream:
        stream.write(b'{"cwd": \n[]\n{"cwd": 3}\n\xff\n')
    assert look(place).reaches[0].transcripts == 1


def test_without_any_there_is_nothing_to_decide(place: Place) -> None:
    assert look(place).is_empty
