"""The service under a real systemd of the user's own, as people have it."""

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from daemon.service.installation import installation_of
from daemon.service.systemd_unit import NAMESPACE
from graph_memory.config import load_config
from graph_memory.home import Home
from tests.cli.conftest import Ran
from tests.daemon.daemons import drop, pid_of_daemon, titles, wait_for
from tests.ingest.sample_files import docx, paragraph, pdf
from tests.service.user_managers import COMMAND, UserManager

pytestmark = pytest.mark.xdist_group("user-manager")

ODD = 'my "own" 100% \\x41 %h £'
"""A folder's name with all that systemd reads in ways of its own."""


class Service:
    """The service of a home of the test's own."""

    def __init__(self, manager: UserManager) -> None:
        self.manager = manager
        self.unit = f"{installation_of(load_config(os.environ), os.environ).name}.service"
        self.file = Path(manager.environ["XDG_CONFIG_HOME"]) / "systemd" / "user" / self.unit

    def command(self, *words: str) -> Ran:
        done = self.manager.run(COMMAND, "service", *words)
        return Ran(done.returncode, done.stdout, done.stderr)

    def installed(self) -> None:
        done = self.command("install")
        assert done.status == 0, done.err + self.journal()

    def shown(self, name: str) -> str:
        return self.manager.shown(self.unit, name)

    def pid(self) -> int:
        return int(self.shown("MainPID"))

    def change(self, *lines: str) -> None:
        """Lay lines over its section, as `systemctl edit` does."""
        folder = self.file.with_name(f"{self.unit}.d")
        folder.mkdir(exist_ok=True)
        (folder / "test.conf").write_text("\n".join(("[Service]", *lines, "")))
        self.manager.systemctl("daemon-reload")

    def journal(self) -> str:
        return self.manager.run("systemctl", "--user", "status", "--no-pager", self.unit).stdout

    def remove(self) -> None:
        self.command("uninstall")
        folder = self.file.with_name(f"{self.unit}.d")
        if folder.exists():
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
        self.manager.run("systemctl", "--user", "daemon-reload")


@pytest.fixture
def service(
    manager: UserManager, own_environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    (tmp_path / ODD / "projects").mkdir(parents=True)
    monkeypatch.setenv("GRAPH_MEMORY_HOME", str(tmp_path / ODD / "home"))
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", str(tmp_path / ODD / "projects"))
    service = Service(manager)
    try:
        yield service
    finally:
        service.remove()


@pytest.fixture
def home(service: Service) -> Home:
    return load_config(os.environ).home


@pytest.mark.spec("service.unit.starts", "service.install", "service.status", "service.uninstall")
def test_it_starts_learns_and_is_taken_back(service: Service, home: Home) -> None:
    service.installed()
    assert service.shown("ActiveState") == "active"
    assert service.shown("UnitFileState") == "enabled"
    assert pid_of_daemon() == service.pid()
    drop(home, "lamp.md", "# The lamp\n\nA Fresnel lens.")
    wait_for(lambda: titles("fresnel"))
    first = service.pid()
    again = service.command("install")
    assert "Unchanged" in again.out
    assert service.pid() == first
    status = service.command("status")
    assert (status.status, f"process {first}" in status.out) == (0, True)
    assert service.command("logs").out.count("daemon_start") == 1
    assert service.command("uninstall").status == 0
    assert service.shown("LoadState") == "not-found"
    assert pid_of_daemon() is None
    assert not service.file.exists()
    assert titles("fresnel") == ["The lamp"]
    assert service.command("uninstall").status == 0


@pytest.mark.spec("service.unit.starts")
def test_where_a_sandbox_is_granted_it_has_one(service: Service, home: Home) -> None:
    service.installed()
    if NAMESPACE not in service.file.read_text():
        pytest.skip("this machine grants a user's services no namespaces")
    mounts = Path(f"/proc/{service.pid()}/mountinfo").read_text().splitlines()
    options = {_plain(it.split()[4]): it.split()[5].split(",") for it in mounts}
    assert "ro" in options["/"]
    assert "rw" in options[str(home.path)]


def _plain(written: str) -> str:
    """Return a path as it is, of which the kernel writes some characters by their numbers."""
    return written.replace("\\040", " ").replace("\\134", "\\")


@pytest.mark.spec("service.install")
def test_a_change_of_what_is_carried_over_starts_it_anew(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service.installed()
    first = service.pid()
    monkeypatch.setenv("GRAPH_MEMORY_LOG__LEVEL", "debug")
    service.installed()
    assert service.pid() not in (0, first)
    environ = Path(f"/proc/{service.pid()}/environ").read_bytes().split(b"\0")
    assert b"GRAPH_MEMORY_LOG__LEVEL=debug" in environ
    assert f"GRAPH_MEMORY_HOME={os.environ['GRAPH_MEMORY_HOME']}".encode() in environ


@pytest.mark.spec("service.unit.killed")
@pytest.mark.parametrize(("number", "watchdog"), [(signal.SIGKILL, 60), (signal.SIGSTOP, 2)])
def test_killed_or_hanging_it_is_started_again(service: Service, number: int, watchdog: int) -> None:
    service.installed()
    service.change("RestartSec=100ms", f"WatchdogSec={watchdog}", "TimeoutAbortSec=1")
    service.manager.systemctl("restart", service.unit)
    first = service.pid()
    os.kill(first, number)
    wait_for(lambda: service.pid() not in (0, first) and service.shown("ActiveState") == "active")
    wait_for(lambda: pid_of_daemon() == service.pid())


@pytest.mark.spec("service.unit.bounds", "service.status")
def test_what_must_be_mended_first_is_not_tried_again(service: Service, home: Home) -> None:
    service.installed()
    service.change("RestartSec=100ms")
    home.config_file.write_text('{"store": {"kind": "neo4j"}}')
    assert service.manager.run("systemctl", "--user", "restart", service.unit).returncode
    assert service.shown("ActiveState") == "failed"
    assert service.shown("ExecMainStatus") == "78"
    assert service.shown("NRestarts") == "0"
    status = service.command("status")
    assert status.status == 1
    assert "doctor" in status.err
    home.config_file.unlink()
    service.installed()
    assert service.shown("ActiveState") == "active"


@pytest.mark.spec("service.notify")
def test_reloaded_it_reads_its_settings_and_goes_on(service: Service, home: Home) -> None:
    service.installed()
    first = service.pid()
    service.manager.systemctl("reload", service.unit)
    wait_for(lambda: "settings_reloaded" in home.daemon_log.read_text(encoding="utf-8"))
    wait_for(lambda: service.shown("ActiveState") == "active")
    assert service.pid() == first


@pytest.mark.spec("service.notify")
def test_it_says_when_it_is_about_to_stop(service: Service) -> None:
    service.installed()
    before = service.shown("WatchdogTimestampMonotonic")
    wait_for(lambda: service.shown("WatchdogTimestampMonotonic") != before)
    service.manager.systemctl("stop", service.unit)
    assert service.shown("Result") == "success"
    assert service.shown("ExecMainStatus") == "0"


@pytest.mark.skipif(find_spec("markitdown") is None, reason="the extra `formats` is not installed")
def test_it_reads_documents_of_other_programs_within_its_bounds(service: Service, home: Home) -> None:
    service.installed()
    for name, raw in (("lamp.pdf", pdf(["A Fresnel lens."])), ("keeper.docx", docx(paragraph("On the mainland.")))):
        (home.pending / name).write_bytes(raw)
    wait_for(lambda: titles("fresnel") and titles("mainland"))
