"""One daemon per home, and what it tells of itself."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.instance import AlreadyRunning, DaemonState, find_state, hold_home, is_held, write_state
from graph_memory.home import Home

STATE = DaemonState(
    pid=4711, version="1.0", started_at="2026-01-01T00:00:00Z", seen_at="2026-01-01T00:00:02Z", activity="watching"
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.ensure()
    return home


def test_a_second_daemon_is_refused_and_told_who_has_the_home(home: Home) -> None:
    with hold_home(home):
        write_state(home, STATE)
        with pytest.raises(AlreadyRunning, match=r"4711, since 2026-01-01") as caught, hold_home(home):
            pass
        assert str(home.path) in str(caught.value)
        assert is_held(home)


def test_a_home_is_free_again_once_its_daemon_has_ended(home: Home) -> None:
    with hold_home(home):
        write_state(home, STATE)
    assert not is_held(home)
    assert find_state(home) is None
    with hold_home(home):
        pass


def test_two_homes_have_a_daemon_each(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    other.ensure()
    with hold_home(home), hold_home(other):
        assert is_held(home)


def test_a_killed_daemon_leaves_a_home_that_can_be_taken(home: Home) -> None:
    code = f"""
import os, pathlib
from daemon.instance import DaemonState, hold_home, write_state
from graph_memory.home import Home
home = Home(pathlib.Path({str(home.path)!r}))
with hold_home(home):
    write_state(home, DaemonState(os.getpid(), "1.0", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "watching"))
    print("held", flush=True)
    os.kill(os.getpid(), 9)
"""
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert killed.stdout == "held\n"
    left = find_state(home)
    assert left is not None
    assert left.pid != os.getpid()
    assert not is_held(home)
    with hold_home(home):
        assert is_held(home)


def test_looking_for_a_daemon_makes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert not is_held(home)
    assert find_state(home) is None
    assert not home.path.exists()


@pytest.mark.parametrize("broken", [b"", b"[]", b"{", b'{"pid": 1}', b'{"problems": 3}'])
def test_a_state_that_cannot_be_read_is_none(home: Home, broken: bytes) -> None:
    (home.path / "daemon.json").write_bytes(broken)
    assert find_state(home) is None


def test_a_state_of_a_newer_program_is_read_as_far_as_it_is_known(home: Home) -> None:
    write_state(home, STATE)
    file = home.path / "daemon.json"
    file.write_bytes(file.read_bytes().replace(b'"pid"', b'"colour": "blue", "pid"'))
    assert find_state(home) == STATE


def test_lock_and_state_are_closed_to_others(home: Home) -> None:
    with hold_home(home):
        write_state(home, STATE)
        for file in (home.lock, home.path / "daemon.json"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
