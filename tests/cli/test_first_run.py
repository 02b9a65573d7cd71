"""The question of the first run, as a person at a terminal meets it."""

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from daemon.exits import Exit
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.instants import parse_instant
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.cli.conftest import BOUND, COMMAND

QUESTION = "How many days back?"


class Screen:
    """A daemon on a terminal: what it wrote so far, and a keyboard."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self.process, self._master, self.written = process, master, ""

    def wait_for(self, text: str) -> None:
        until = time.monotonic() + BOUND
        while text not in self.written:
            ready, _, _ = select.select([self._master], [], [], max(0.0, until - time.monotonic()))
            assert ready, self.written
            self.written += os.read(self._master, 65_536).decode()

    def type(self, text: str) -> None:
        self.written = ""
        os.write(self._master, text.encode())

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(BOUND)


@contextmanager
def started(*words: str, **environ: str) -> Iterator[Screen]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "run", *words], stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **environ}
    )
    os.close(theirs)
    try:
        yield Screen(process, ours)
    finally:
        process.kill()
        process.wait(BOUND)
        os.close(ours)


@pytest.fixture(autouse=True)
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sessions that were written to 1, 20, 60 and 200 days ago, and one of a private folder."""
    projects = tmp_path / "projects"
    private = tmp_path / "private"
    private.mkdir()
    (private / ".no-memory").touch()
    for days, cwd in ((1, "/x/app"), (20, "/x/app"), (60, "/x/app"), (200, "/x/app"), (2, str(private))):
        file = projects / "-x-app" / f"s{days}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'{{"type": "user", "cwd": "{cwd}", "sessionId": "s{days}"}}\n')
        at = time.time() - days * 86_400
        os.utime(file, (at, at))
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", str(projects))
    return projects


def days_back() -> float | None:
    """Return how far back it was decided to read."""
    with open_services(load_config(os.environ)) as services:
        run = services.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.last_success("first_run"))
        since = None if run is None else run.result.get("since")
        if not isinstance(since, str):
            return None
        return (services.clock() - parse_instant(since, argument="since").at) / timedelta(days=1)


@pytest.mark.spec("first-run.asks", "first-run.kept")
@pytest.mark.parametrize(("answer", "days"), [("\n", 90.0), ("30\n", 30.0), ("all\n", 36_500.0), ("0\n", 0.0)])
def test_it_says_what_it_will_read_and_keeps_the_answer(answer: str, days: float) -> None:
    with started() as screen:
        screen.wait_for(QUESTION)
        lines = [" ".join(it.split()) for it in screen.written.splitlines()]
        for line in ("last 7 days 1 session", "last 30 days 2 sessions", "last 90 days 3 sessions", "all 4 sessions"):
            assert any(it.startswith(line) for it in lines), lines
        assert "1 in folders with a .no-memory file" in screen.written
        screen.type(answer)
        screen.wait_for("Ctrl-C stops")
        assert screen.end() == Exit.OK
    assert days_back() == pytest.approx(days, abs=0.1)
    with started() as screen:  # asked once
        screen.wait_for("Ctrl-C stops")
        assert QUESTION not in screen.written
        assert screen.end() == Exit.OK
    assert days_back() == pytest.approx(days, abs=0.1)


def test_what_is_no_number_is_asked_again() -> None:
    with started() as screen:
        screen.wait_for(QUESTION)
        screen.type("soon\n")
        screen.wait_for(QUESTION)
        screen.type("-3\n")
        screen.wait_for(QUESTION)
        screen.type("7\n")
        screen.wait_for("read back 7 days")
        assert screen.end() == Exit.OK


def test_interrupted_at_the_question_nothing_is_decided() -> None:
    with started() as screen:
        screen.wait_for(QUESTION)
        screen.process.send_signal(signal.SIGINT)
        assert screen.process.wait(BOUND) != 0
    assert days_back() is None


@pytest.mark.spec("first-run.silent")
@pytest.mark.parametrize(
    ("words", "environ", "days"), [(("--since", "5"), {}, 5.0), ((), {"GRAPH_MEMORY_INGEST__SINCE_DAYS": "12"}, 12.0)]
)
def test_who_has_said_it_already_is_not_asked(words: tuple[str, ...], environ: dict[str, str], days: float) -> None:
    with started(*words, **environ) as screen:
        screen.wait_for("Ctrl-C stops")
        assert QUESTION not in screen.written
        assert screen.end() == Exit.OK
    assert days_back() == pytest.approx(days, abs=0.1)


def test_with_nothing_to_read_nobody_is_asked(sessions: Path) -> None:
    for file in sessions.rglob("*.jsonl"):
        file.unlink()
    with started() as screen:
        screen.wait_for("Ctrl-C stops")
        assert QUESTION not in screen.written
        assert screen.end() == Exit.OK
