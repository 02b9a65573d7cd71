"""Daemons that tests start, and what tests do to them."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from daemon.instance import find_state
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.memories import MemoryFilter
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home

COMMAND = Path(sys.executable).with_name("graph-memory")
BOUND = 60.0
SESSION = "5f1c1a52-aaaa-4bbb-8ccc-0123456789ab"


class Daemon:
    """A running daemon, with what it says gathered as it comes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line.rstrip("\n"))

    def ended(self, number: int | None = None) -> int:
        """Send a signal, if one is given, and return the exit status."""
        if number is not None:
            self.process.send_signal(number)
        status = self.process.wait(BOUND)
        self._reader.join(BOUND)
        return status


@contextmanager
def running(
    *words: str, through: Sequence[str] = (), preexec: Callable[[], None] | None = None, **environ: str
) -> Iterator[Daemon]:
    """Start a daemon and wait until it works; `through` is a program that becomes it."""
    process = subprocess.Popen(
        [*through, COMMAND, "run", *words],
        preexec_fn=preexec,  # noqa: PLW1509 - tests hold no lock meanwhile
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environ},
    )
    daemon = Daemon(process)
    try:
        wait_for(lambda: pid_of_daemon() == process.pid or process.poll() is not None)
        assert process.poll() is None, daemon.said
        yield daemon
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        daemon.ended()
        if process.stdout is not None:
            process.stdout.close()
        if process.stderr is not None:
            process.stderr.close()


def pid_of_daemon() -> int | None:
    state = find_state(load_config(os.environ).home)
    return None if state is None else state.pid


def wait_for(holds: Callable[[], object]) -> None:
    """Wait until something holds; fail after a minute."""
    until = time.monotonic() + BOUND
    while not holds():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.05)


def titles(query: str) -> list[str]:
    """Return the titles of all memories that a text finds."""
    with open_services(load_config(os.environ)) as services:
        page = services.memory_search.search(LOCAL_ADMIN, query, MemoryFilter(), limit=100)
    return [it.memory.title for it in page.found]


def say(
    projects: Path,
    prompt: str,
    answer: str = "",
    *,
    number: int = 0,
    cwd: str = "/home/dev/lighthouse",
    at: datetime | None = None,
) -> None:
    """Append a prompt, and an answer to it, to the session's transcript."""
    folder = projects / "-home-dev-lighthouse"
    folder.mkdir(parents=True, exist_ok=True)
    at = at or datetime(2026, 1, 15, 12, tzinfo=UTC) + timedelta(minutes=number)
    shared = {"isSidechain": False, "cwd": cwd, "sessionId": SESSION, "timestamp": at.isoformat()}
    lines: list[dict[str, Any]] = [
        {"type": "user", "uuid": f"u{number}", "parentUuid": f"a{number - 1}" if number else None, **shared}
    ]
    lines[0]["message"] = {"role": "user", "content": prompt}
    if answer:
        message = {"id": f"m{number}", "role": "assistant", "content": [{"type": "text", "text": answer}]}
        lines.append(
            {"type": "assistant", "uuid": f"a{number}", "parentUuid": f"u{number}", **shared, "message": message}
        )
    with (folder / f"{SESSION}.jsonl").open("ab") as file:
        for line in lines:
            file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def drop(home: Home, name: str, text: str) -> None:
    home.pending.mkdir(parents=True, exist_ok=True)
    (home.pending / name).write_text(text, encoding="utf-8")
