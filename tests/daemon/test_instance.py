"""One daemon per home, and who that is."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.instance import AlreadyRunning, find_holder, hold_home, is_held, write_holder
from graph_memory.home import Home
from graph_memory.presence import Holder

HOLDER = Holder(pid=4711, version="1.0", started_at="2026-01-01T00:00:00Z")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.ensure()
    return home


def test_a_second_daemon_is_refused_and_told_who_has_the_home(home: Home) -> None:
    with hold_home(home):
        write_holder(home, HOLDER)
        with pytest.raises(AlreadyRunning, match=r"4711, since 2026-01-01") as caught, hold_home(home):
            pass
        assert str(home.path) in str(caught.value)
        assert is_held(home)


def test_a_home_is_free_again_once_its_daemon_has_ended(home: Home) -> None:
    with hold_home(home):
        write_holder(home, HOLDER)
    assert not is_held(home)
    assert find_holder(home) is None
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
from daemon.instance import hold_home, write_holder
from graph_memory.home import Home
from graph_memory.presence import Holder
home = Home(pathlib.Path({str(home.path)!r}))
with hold_home(home):
    write_holder(home, Holder(os.getpid(), "1.0", "2026-01-01T00:00:00Z"))
    print("held", flush=True)
    os.kill(os.getpid(), 9)
"""
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert killed.stdout == "held\n"
    left = find_holder(home)
    assert left is not None
    assert left.pid != os.getpid()
    assert not is_held(home)
    with hold_home(home):
        assert is_held(home)


def test_looking_for_a_daemon_makes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert not is_held(home)
    assert find_holder(home) is None
    assert not home.path.exists()


@pytest.mark.parametrize("broken", [b"", b"[]", b"{", b"7", b'{"pid": 1}', b'{"pid": "x"}'])
def test_a_holder_that_cannot_be_read_is_none(home: Home, broken: bytes) -> None:
    (home.path / "daemon.json").write_bytes(broken)
    assert find_holder(home) is None


def test_a_holder_of_a_newer_program_is_read_as_far_as_it_is_known(home: Home) -> None:
    write_holder(home, HOLDER)
    file = home.path / "daemon.json"
    file.write_bytes(file.read_bytes().replace(b'"pid"', b'"colour": "blue", "pid"'))
    assert find_holder(home) == HOLDER


def test_lock_and_holder_are_closed_to_others(home: Home) -> None:
    with hold_home(home):
        write_holder(home, HOLDER)
        for file in (home.lock, home.path / "daemon.json"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
