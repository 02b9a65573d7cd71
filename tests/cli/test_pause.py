"""`graph-memory pause` and `resume`: what they say and what they leave for daemons to obey."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graph_memory.config import load_config
from graph_memory.domain.time_spans import parse_span
from graph_memory.home import Home
from graph_memory.pauses import Pause, find_last_pause, find_pause, pause_file, put_pause
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("words", "seconds"), [("90m", 5_400), ("2h", 7_200), ("1d12h", 129_600), ("1h1m1s", 3_661), ("30s", 30)]
)
def test_it_lasts_as_long_as_was_said(run: Run, home: Path, words: str, seconds: int) -> None:
    assert run("pause", "--for", words).status == 0
    pause = find_last_pause(Home(home))
    assert pause is not None
    assert pause.since is not None
    assert pause.until == pause.since + timedelta(seconds=seconds)
    assert pause_file(Home(home)).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("words", ["", "0s", "soon", "-1h", "3", "400d", "99999999999d"])
def test_other_durations_are_refused(run: Run, home: Path, words: str) -> None:
    assert run("pause", f"--for={words}").status == 2
    assert find_last_pause(Home(home)) is None


def test_without_a_duration_it_lasts_until_somebody_resumes(run: Run, home: Path) -> None:
    assert "until `graph-memory resume`" in run("pause").out
    assert find_pause(Home(home), datetime.max.replace(tzinfo=UTC)) is not None
    assert run("resume", "--json").json == {"resumed": True, "skipped": None}
    assert find_last_pause(Home(home)) is None
    assert "not paused" in run("resume").out


def test_a_pause_in_a_pause_keeps_its_beginning(run: Run, home: Path) -> None:
    long_ago = datetime(2026, 1, 1, tzinfo=UTC)
    home.mkdir(mode=0o700)
    put_pause(Home(home), Pause(long_ago))
    run("pause", "--for", "1h")
    pause = find_last_pause(Home(home))
    assert pause is not None
    assert pause.since == long_ago


@pytest.mark.spec("pause.skip")
def test_what_was_said_in_it_can_be_left_out_for_good(run: Run, home: Path) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    home.mkdir(mode=0o700)
    put_pause(Home(home), Pause(began))
    skipped = run("resume", "--skip", "--json").json["skipped"]
    assert load_config(os.environ).settings.exclude.times == (skipped,)
    span = parse_span(skipped, argument="it")
    assert span.since == began
    assert span.has(datetime.now(UTC) - timedelta(seconds=60))
    assert not pause_file(Home(home)).exists()


def test_a_pause_that_is_over_by_itself_can_not_be_skipped(run: Run, home: Path) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    home.mkdir(mode=0o700)
    put_pause(Home(home), Pause(began, began + timedelta(hours=1)))
    assert "over by itself" in run("resume", "--skip").out
    assert load_config(os.environ).settings.exclude.times == ()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"since": "soon"}', b'{"since": 3}', b"\xff"])
def test_a_file_that_is_not_understood_is_a_pause(tmp_path: Path, content: bytes) -> None:
    home = Home(tmp_path)
    pause_file(home).write_bytes(content)
    assert find_pause(home, datetime.now(UTC)) == Pause(None)
