"""`graph-memory doctor`: every finding with its remedy."""

import os
import shutil
from collections import namedtuple
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from cli import checks
from cli.checks import CHECKS, Finding, Level, examine
from daemon.instance import write_holder
from graph_memory.bootstrap import open_services
from graph_memory.config import LoadedConfig, load_config
from graph_memory.domain.ledger import IngestItem, IngestState, JobRun, RunStatus
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.mounts import Mount
from graph_memory.presence import DaemonState, Holder
from tests.cli.conftest import Run
from tests.daemon.telling import telling

Check = Callable[[LoadedConfig], Iterator[Finding]]


def found(check: Check) -> list[Finding]:
    return list(check(load_config(os.environ)))


def only(check: Check, level: Level) -> Finding:
    [finding] = [it for it in found(check) if it.level is not Level.OK]
    assert finding.level is level
    assert finding.remedy
    return finding


def test_a_home_that_works_has_no_errors(run: Run, used_home: Path) -> None:
    done = run("doctor")
    assert done.status == 0
    assert "0 errors" in done.out
    assert run("doctor", "--json").json["errors"] == 0


def test_before_the_first_start_nothing_is_made_and_nothing_is_wrong(run: Run, home: Path) -> None:
    done = run("doctor")
    assert done.status == 0
    assert "does not exist yet" in done.out
    assert not home.exists()


def test_errors_end_with_one(run: Run, used_home: Path) -> None:
    (used_home / "memory.db").write_bytes(b"this is no database" * 1_000)
    done = run("doctor", "--json")
    assert done.status == 1
    errors = [it for it in done.json["findings"] if it["level"] == "error"]
    assert [it["check"] for it in errors] == ["store"]
    assert "import" in errors[0]["remedy"]


def test_a_damaged_page_is_found(used_home: Path) -> None:
    with apsw.Connection(str(used_home / "memory.db")) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    database = used_home / "memory.db"
    whole = database.read_bytes()
    at = whole.index(b"We chose Postgres")
    database.write_bytes(whole[: at - 40] + b"\xff" * 80 + whole[at + 40 :])
    findings = [it for it in found(checks.store) if it.level is Level.ERROR]
    assert findings
    assert all(it.remedy for it in findings)


def test_another_database_in_the_home_is_found(used_home: Path) -> None:
    file = used_home / "store.json"
    file.write_text(file.read_text().replace('"database_id": "', '"database_id": "other-'))
    assert "belongs to another SQLite database" in only(checks.store, Level.ERROR).message


def test_an_old_sqlite_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    assert "3.51.3 is needed" in only(checks.sqlite, Level.ERROR).message
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.3")
    assert [it.level for it in found(checks.sqlite)] == [Level.OK]


def test_an_old_python_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.sys, "version_info", (3, 10, 4, "final", 0))  # type: ignore[attr-defined]
    assert "3.10.4" in only(checks.python, Level.ERROR).message


def test_files_that_others_can_read_are_named(used_home: Path) -> None:
    (used_home / "memory.db").chmod(0o644)
    assert "memory.db" in only(checks.home, Level.WARNING).message


def test_a_network_file_system_is_an_error(used_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount = Mount(used_home, "nfs4")
    monkeypatch.setattr("graph_memory.home.find_network_mount", lambda _: mount)
    assert "network file system (nfs4" in only(checks.home, Level.ERROR).message


@pytest.mark.parametrize(("free", "level"), [(1_000_000, Level.ERROR), (500_000_000, Level.WARNING)])
def test_a_full_disk_is_found(monkeypatch: pytest.MonkeyPatch, free: int, level: Level) -> None:
    usage = namedtuple("usage", "total used free")  # noqa: PYI024 - as shutil has it
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, free))
    only(checks.disk, level)


def test_a_clock_from_before_this_program_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: object = None) -> "Stopped":
            return cls(1970, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(checks, "datetime", Stopped)
    assert "1970" in only(checks.clock, Level.ERROR).message


def test_projects_folders_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", str(tmp_path / "nowhere"))
    assert str(tmp_path / "nowhere") in only(checks.projects, Level.WARNING).message


def test_too_few_watches_are_found_with_the_command_that_mends_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number in range(20):
        (tmp_path / "projects" / f"p{number}").mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", str(tmp_path / "projects"))
    (tmp_path / "inotify").mkdir()
    (tmp_path / "inotify" / "max_user_watches").write_text("24\n")
    monkeypatch.setattr(checks, "_INOTIFY", tmp_path / "inotify")
    assert "sysctl fs.inotify.max_user_watches=48" in only(checks.file_events, Level.WARNING).remedy
    monkeypatch.setattr(checks, "_INOTIFY", tmp_path / "not-linux")
    assert found(checks.file_events) == []


def test_a_daemon_that_was_killed_is_found_and_one_that_runs_is_well(used_home: Path) -> None:
    home = load_config(os.environ).home
    state = DaemonState(4711, "1.0", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "watching")
    assert "not running" in only(checks.daemon, Level.WARNING).message
    write_holder(home, Holder(state.pid, state.version, state.started_at))
    assert "4711 ended without a word" in only(checks.daemon, Level.WARNING).message
    with telling(home, state):
        assert [it.level for it in found(checks.daemon)] == [Level.OK]


def test_settings_that_were_not_taken_are_warnings(used_home: Path) -> None:
    (used_home / "config.json").write_text('{"weights": {"inferred": 7}}')
    assert "weights.inferred" in only(checks.settings, Level.WARNING).message


def test_work_that_was_left_is_found(used_home: Path) -> None:
    with open_services(load_config(os.environ)) as services:
        now = services.clock()
        failed = IngestItem("d-1", "k", "a.md", IngestState.FAILED, 3, now, now, reason="binary")
        runs = [
            JobRun("export", now, RunStatus.FAILED, now, error="the disk is full"),
            JobRun("decay", now + timedelta(days=30), RunStatus.SUCCEEDED),
        ]
        services.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_items([failed]))
        for run in runs:
            services.store.write(LOCAL_ADMIN, lambda tx, run=run: tx.upkeep.put_run(run))  # type: ignore[misc]
    findings = found(checks.work)
    assert {it.check for it in findings} == {"inbox", "jobs", "clock"}
    assert all(it.level is Level.WARNING and it.remedy for it in findings)


def test_a_check_that_breaks_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def disk(_config: LoadedConfig) -> Iterator[Finding]:
        raise PermissionError(13, "Permission denied", "/closed")

    monkeypatch.setattr(checks, "CHECKS", [disk, checks.python])
    findings = list(examine(load_config(os.environ)))
    assert [(it.check, it.level) for it in findings] == [("disk", Level.ERROR), ("python", Level.OK)]
    assert "/closed" in findings[0].message


@pytest.mark.parametrize("check", CHECKS, ids=lambda it: it.__name__)
def test_no_check_makes_or_changes_anything(home: Path, check: Check) -> None:
    found(check)
    assert not home.exists()
