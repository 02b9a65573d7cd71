"""`graph-memory status` on a terminal: it goes on, and ends when told."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.status_socket import StatusSocket
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.cli.conftest import Run
from tests.cli.ptys import on_terminal
from tests.cli.test_status import STATE
from tests.daemon.telling import telling


@pytest.mark.spec("watching.status.live")
@pytest.mark.parametrize("key", ["q", "Q"])
def test_it_goes_on_until_q_and_leaves_the_terminal_as_it_was(used_home: Path, key: str) -> None:
    with telling(used_home, STATE), on_terminal("status") as terminal:
        before = terminal.modes()
        terminal.wait_for("process 4711")
        terminal.wait_for("process 4711")  # drawn again
        assert terminal.modes() != before
        terminal.press(key)
        assert terminal.ended() == 0
        assert terminal.modes() == before
        assert "\x1b[?1049l" in terminal.drawn  # what stood there before is back


@pytest.mark.spec("watching.status.live")
def test_ctrl_c_ends_it_like_q(used_home: Path) -> None:
    with telling(used_home, STATE), on_terminal("status") as terminal:
        terminal.wait_for("process 4711")
        os.kill(terminal.process.pid, signal.SIGINT)
        assert terminal.ended() == 0
        assert "Traceback" not in terminal.drawn


def test_what_changes_is_drawn(used_home: Path) -> None:
    with telling(used_home, STATE) as answering, on_terminal("status") as terminal:
        terminal.wait_for("42 items, 1.2 MB in the last minute")
        say(answering, items_per_minute=77)
        terminal.wait_for("77 items, 1.2 MB in the last minute")
        with open_services(load_config(os.environ)) as services:
            services.memory_write.add(
                LOCAL_ADMIN, MemoryDraft(title="Another", content="A second note.", category="note")
            )
        terminal.wait_for("memories     2")
        terminal.press("q")
        assert terminal.ended() == 0


def say(answering: StatusSocket, **changed: int) -> None:
    async def tell() -> object:
        return replace(STATE, **changed)  # type: ignore[arg-type]

    answering._tell = tell  # type: ignore[assignment]


def test_it_sees_a_daemon_come_and_go(used_home: Path) -> None:
    with on_terminal("status") as terminal:
        terminal.wait_for("the daemon is not running")
        with telling(used_home, STATE):
            terminal.wait_for("process 4711")
        terminal.wait_for("the daemon is not running")
        terminal.press("q")
        assert terminal.ended() == 1


def test_once_is_once_on_a_terminal_too(used_home: Path) -> None:
    with telling(used_home, STATE), on_terminal("status", "--once") as terminal:
        assert terminal.ended() == 0
        assert "All is well." in terminal.drawn
        assert "\x1b[?1049h" not in terminal.drawn


@pytest.mark.spec("watching.status.live")
def test_without_a_terminal_it_is_shown_once(run: Run, used_home: Path) -> None:
    with telling(used_home, STATE):
        done = run("status")
    assert (done.status, done.out.count("process 4711")) == (0, 1)
    assert "\x1b" not in done.out


def test_stored_text_cannot_drive_the_terminal(used_home: Path) -> None:
    evil = replace(STATE, problems=("/home/x\x1b]0;owned\x07: Permission denied",))
    with telling(used_home, evil), on_terminal("status") as terminal:
        terminal.wait_for("Permission denied")
        terminal.press("q")
        terminal.ended()
        assert "\x1b]0;owned" not in terminal.drawn
