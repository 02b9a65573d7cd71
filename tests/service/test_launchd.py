"""The agent with an acted launchd: what is asked of it, in which order, and what it may answer."""

import os
from pathlib import Path

import pytest

from daemon.service.finding import manager_of
from daemon.service.installation import Installation
from daemon.service.launchd import Launchd
from daemon.service.launchd_agent import launchd_agent
from daemon.service.manager import ServiceFailed
from daemon.service.systemd_user import SystemdUser
from daemon.systemd import notify
from graph_memory.domain.errors import Unavailable
from tests.service.conftest import Acted

GUI = f"gui/{os.geteuid()}"
TARGET = f"{GUI}/graph-memory"

LAUNCHCTL = """
case "$1 $2" in
  "print gui/"*/graph-memory) [ -e "$LOADED" ] || exit 113
    printf '%s = {\\n\\tactive count = 1\\n\\tstate = %s\\n\\tpid = 77\\n' "$2" "${STATE:-running}"
    printf '\\tlast exit code = %s\\n\\tspawn = {\\n\\t\\tstate = x\\n\\t}\\n}\\n' "${CODE:-(never exited)}";;
  "print gui/"*) exit ${NO_SESSION:-0};;
  bootstrap*) [ -z "$REFUSES" ] || { echo "Bootstrap failed: 5: Input/output error" >&2; exit 5; }; : > "$LOADED";;
  bootout*) : > "$LOADED.leaving";;
esac
if [ "$1" = print ] && [ -e "$LOADED.leaving" ]; then /bin/rm -f "$LOADED" "$LOADED.leaving"; fi
"""


@pytest.fixture
def log(acted: Acted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOADED", str(tmp_path / "loaded"))
    return acted("launchctl", LAUNCHCTL)


@pytest.fixture
def agents(own_environment: Path) -> Path:
    return own_environment / "Library" / "LaunchAgents"


def launchd(installation: Installation) -> Launchd:
    return Launchd(installation, os.environ, pause=lambda _: None)


def asked(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if not line.startswith("launchctl print")]


def test_each_platform_has_its_manager(installation: Installation) -> None:
    assert isinstance(manager_of(installation, os.environ, platform="darwin"), Launchd)
    assert isinstance(manager_of(installation, os.environ, platform="linux"), SystemdUser)
    with pytest.raises(Unavailable, match="graph-memory run"):
        manager_of(installation, os.environ, platform="freebsd14")


@pytest.mark.spec("service.install")
def test_it_is_written_enabled_and_loaded(log: Path, agents: Path, installation: Installation) -> None:
    done = launchd(installation).install()
    file = agents / "graph-memory.plist"
    assert done == (file, True, True)
    assert asked(log) == [f"launchctl enable {TARGET}", f"launchctl bootstrap {GUI} {file}"]
    assert file.read_bytes() == launchd_agent(installation)


@pytest.mark.spec("service.install")
def test_again_it_does_nothing_and_with_a_change_it_is_loaded_anew(
    log: Path, agents: Path, installation: Installation
) -> None:
    launchd(installation).install()
    log.write_text("")
    assert launchd(installation).install()[1:] == (False, False)
    assert asked(log) == []
    file = agents / "graph-memory.plist"
    file.write_bytes(b"older")
    assert launchd(installation).install()[1:] == (True, True)
    assert asked(log) == [
        f"launchctl bootout {TARGET}",
        f"launchctl enable {TARGET}",
        f"launchctl bootstrap {GUI} {file}",
    ]


def test_one_that_was_stopped_is_started(
    log: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    launchd(installation).install()
    log.write_text("")
    monkeypatch.setenv("STATE", "not there")
    assert launchd(installation).install()[1:] == (False, True)
    assert asked(log) == [f"launchctl kickstart {TARGET}"]


@pytest.mark.spec("service.status")
def test_its_state(log: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not launchd(installation).state().is_installed
    launchd(installation).install()
    state = launchd(installation).state()
    assert (state.is_running, state.pid, state.is_current, state.problem) == (True, 77, True, "")
    monkeypatch.setenv("STATE", "spawn scheduled")
    monkeypatch.setenv("CODE", "78: EX_CONFIG")
    state = launchd(installation).state()
    assert not state.is_running
    assert "doctor" in state.problem


@pytest.mark.spec("service.uninstall")
def test_uninstalled_it_is_unloaded_and_gone(log: Path, agents: Path, installation: Installation) -> None:
    launchd(installation).install()
    log.write_text("")
    assert launchd(installation).uninstall()
    assert asked(log) == [f"launchctl bootout {TARGET}"]
    assert list(agents.iterdir()) == []
    log.write_text("")
    assert not launchd(installation).uninstall()
    assert asked(log) == []


@pytest.mark.spec("service.absent")
def test_without_launchd_or_a_session_it_says_so(
    acted: Acted, log: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_SESSION", "125")
    with pytest.raises(Unavailable, match="log in at the screen"):
        launchd(installation).install()
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(Unavailable, match="no launchctl"):
        launchd(installation).install()
    assert not launchd(installation).file.exists()


def test_what_launchd_refuses_is_told(log: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFUSES", "yes")
    with pytest.raises(ServiceFailed, match="Input/output error"):
        launchd(installation).install()


@pytest.mark.spec("service.logs")
def test_what_it_said_is_shown_from_its_file(log: Path, installation: Installation) -> None:
    assert launchd(installation).words(5) is None
    installation.home.ensure()
    (installation.home.logs / "service.log").write_text("first words\n")
    assert launchd(installation).words(5) == ("tail", "-n", "5", str(installation.home.logs / "service.log"))
    assert notify("READY=1", {}) is False, "launchd has no such protocol"
