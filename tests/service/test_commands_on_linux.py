"""`graph-memory service` with an acted systemd: what is asked of it, in which order, and what it may answer."""

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from daemon.exits import Exit
from daemon.instance import hold_home
from daemon.service.systemd_unit import NAMESPACE
from graph_memory.home import Home
from tests.cli.conftest import Ran
from tests.service.conftest import Acted
from tests.service.user_managers import COMMAND

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")

SYSTEMCTL = r"""
case "$2 $3" in
  "show --property=Version") echo 252;;
  "show graph-memory.service") printf '%s\n' LoadState=loaded ActiveState=$ACTIVE SubState=${SUB:-running} \
    UnitFileState=enabled MainPID=77 Result=${RESULT:-success} ExecMainStatus=${STATUS:-0} NeedDaemonReload=no;;
  restart*) exit ${RESTART:-0};;
esac
"""


def run(*words: str, **environ: str) -> Ran:
    done = subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, check=False, timeout=60, env={**os.environ, **environ}
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def unit(own_environment: Path) -> Path:
    return own_environment / ".config" / "systemd" / "user" / "graph-memory.service"


@pytest.fixture(autouse=True)
def no_configured_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def asked(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if " show " not in line and "show-user" not in line]


@pytest.mark.spec("service.install")
def test_it_is_written_loaded_enabled_and_started(acted: Acted, unit: Path, home: Home) -> None:
    log = acted("systemctl", SYSTEMCTL)
    done = run("service", "install", ACTIVE="active")
    assert (done.status, done.err) == (Exit.OK, "")
    assert asked(log) == [
        "systemctl --user daemon-reload",
        "systemctl --user enable --quiet graph-memory.service",
        "systemctl --user reset-failed graph-memory.service",
        "systemctl --user restart graph-memory.service",
    ]
    assert f'ExecStart="{COMMAND}" "run"' in unit.read_text()
    assert unit.stat().st_mode & 0o077 == 0
    assert home.pending.is_dir()


@pytest.mark.spec("service.install")
def test_again_it_does_nothing_and_with_a_change_it_starts_anew(acted: Acted, unit: Path) -> None:
    log = acted("systemctl", SYSTEMCTL)
    run("service", "install", ACTIVE="active")
    before = unit.stat()
    log.unlink()
    done = run("service", "install", ACTIVE="active")
    assert done.status == Exit.OK
    assert "Unchanged" in done.out
    assert asked(log) == ["systemctl --user enable --quiet graph-memory.service"]
    assert unit.stat().st_ino == before.st_ino
    run("service", "install", ACTIVE="active", CLAUDE_PROJECTS_DIR="/srv/projects")
    assert asked(log)[-1] == "systemctl --user restart graph-memory.service"
    assert 'Environment="CLAUDE_PROJECTS_DIR=/srv/projects"' in unit.read_text()


def test_only_what_the_machine_grants_of_the_sandbox_is_written(acted: Acted, unit: Path) -> None:
    acted("systemctl", SYSTEMCTL)
    log = acted("systemd-run", 'case "$*" in *ProtectKernelLogs*) exit 226;; esac')
    run("service", "install", ACTIVE="inactive")
    lines = unit.read_text().splitlines()
    assert NAMESPACE in lines
    assert "ProtectSystem=strict" in lines
    assert "ProtectKernelLogs=yes" not in lines
    assert "CapabilityBoundingSet=" in lines
    acted("systemd-run", "exit 217")
    run("service", "install", ACTIVE="inactive")
    lines = unit.read_text().splitlines()
    assert NAMESPACE not in lines
    assert "ProtectSystem=strict" not in lines
    assert "NoNewPrivileges=yes" in lines
    assert "systemd-run --user --wait" in log.read_text()


@pytest.mark.spec("service.print")
def test_printed_it_changes_nothing(acted: Acted, unit: Path, home: Home) -> None:
    log = acted("systemctl", SYSTEMCTL)
    done = run("service", "install", "--print", ACTIVE="inactive")
    assert done.status == Exit.OK
    assert done.out.startswith("# Written by")
    assert "[Install]\nWantedBy=default.target\n" in done.out
    assert asked(log) == []
    assert not unit.exists()
    assert not home.path.exists()


@pytest.mark.spec("service.absent")
def test_without_systemctl_it_says_so_and_writes_nothing(acted: Acted, unit: Path) -> None:
    acted("other", "")
    done = run("service", "install")
    assert done.status == Exit.BUSY
    assert len(done.err.splitlines()) == 1
    assert "there is no systemctl here" in done.err
    assert "graph-memory run" in done.err
    assert not unit.exists()


@pytest.mark.spec("service.absent")
def test_without_a_manager_it_says_so_and_writes_nothing(acted: Acted, unit: Path) -> None:
    acted("systemctl", "echo 'Failed to connect to bus: No medium found' >&2; exit 1")
    done = run("service", "install")
    assert done.status == Exit.BUSY
    assert "No medium found" in done.err
    assert "graph-memory run" in done.err
    assert not unit.exists()
    assert run("service", "status").status == Exit.FAILED


@pytest.mark.parametrize(
    ("status", "words"), [("78", "doctor"), ("75", "another daemon"), ("226", "sandbox"), ("1", "logs")]
)
@pytest.mark.spec("service.status")
def test_a_service_that_does_not_start_is_told_with_its_reason(acted: Acted, status: str, words: str) -> None:
    acted("systemctl", SYSTEMCTL)
    failed = {"ACTIVE": "failed", "SUB": "failed", "RESULT": "exit-code", "STATUS": status}
    done = run("service", "install", **failed, RESTART="1")
    assert done.status == Exit.FAILED
    assert "did not start" in done.err
    assert words in done.err
    shown = run("service", "status", **failed)
    assert shown.status == Exit.FAILED
    assert words in shown.err


@pytest.mark.spec("service.status")
def test_its_state_is_shown_for_people_and_programs(acted: Acted, unit: Path) -> None:
    acted("systemctl", SYSTEMCTL)
    acted("loginctl", "echo no")
    assert "not installed" in run("service", "status", ACTIVE="inactive").out
    run("service", "install", ACTIVE="inactive")
    done = run("service", "status", ACTIVE="active")
    assert done.status == Exit.OK
    assert "running, process 77" in done.out
    assert "loginctl enable-linger" in done.err
    state = orjson.loads(run("service", "status", "--json", ACTIVE="active").out)
    assert state["is_running"] is state["is_current"] is state["stops_at_logout"] is True
    assert (state["file"], state["pid"]) == (str(unit), 77)
    unit.write_text(unit.read_text().replace("Nice=10", "Nice=0"))
    done = run("service", "status", ACTIVE="active")
    assert "not what would be written now" in done.err


def test_a_daemon_that_is_no_service_is_not_fought_for_the_home(acted: Acted, home: Home, unit: Path) -> None:
    acted("systemctl", SYSTEMCTL)
    home.ensure()
    with hold_home(home):
        done = run("service", "install", ACTIVE="inactive")
    assert done.status == Exit.BUSY
    assert "stop it" in done.err
    assert not unit.exists()


@pytest.mark.spec("service.uninstall")
def test_uninstalled_it_is_stopped_and_gone(acted: Acted, unit: Path, home: Home) -> None:
    log = acted("systemctl", SYSTEMCTL)
    run("service", "install", ACTIVE="inactive")
    log.unlink()
    done = run("service", "uninstall", ACTIVE="active")
    assert done.status == Exit.OK
    assert asked(log) == [
        "systemctl --user disable --now --quiet graph-memory.service",
        "systemctl --user daemon-reload",
        "systemctl --user reset-failed graph-memory.service",
    ]
    assert not unit.exists()
    assert home.pending.is_dir()


@pytest.mark.spec("service.uninstall")
def test_where_nothing_is_installed_nothing_is_removed(acted: Acted) -> None:
    log = acted("systemctl", SYSTEMCTL.replace("LoadState=loaded", "LoadState=not-found"))
    done = run("service", "uninstall", ACTIVE="inactive")
    assert (done.status, asked(log)) == (Exit.OK, [])
    assert "no service" in done.out


@pytest.mark.spec("service.logs")
def test_the_log_is_shown_after_what_the_manager_heard(acted: Acted, home: Home) -> None:
    home.ensure()
    home.daemon_log.write_text("".join(f"line {number}\n" for number in range(9)))
    log = acted("journalctl", "echo its first words")
    acted("tail", 'shift 2; while read line; do echo "$line"; done < "$1"')
    done = run("service", "logs", "--lines", "3")
    assert done.status == Exit.OK
    assert done.out.startswith("its first words\nline 0")
    calls = log.read_text().splitlines()
    assert calls[0] == "journalctl --user --no-pager --quiet --lines 3 --unit graph-memory.service"
    assert calls[1] == f"tail -n 3 {home.daemon_log}"
    assert f"tail -n 3 -F {home.daemon_log}" == _followed(log)


def _followed(log: Path) -> str:
    run("service", "logs", "--lines", "3", "--follow")
    return log.read_text().splitlines()[-1]


def test_without_a_log_it_says_that_none_has_run(acted: Acted) -> None:
    acted("systemctl", SYSTEMCTL)
    done = run("service", "logs")
    assert done.status == Exit.FAILED
    assert "no daemon has run" in done.err
