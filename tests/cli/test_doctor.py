"""`graph-memory doctor`: every finding with its remedy."""

import os
import shutil
import socket
import stat
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import orjson
import pytest

from cli import checks, doctor, home_checks, machine_checks, memory_checks
from cli.checks import CHECKS, examine
from cli.findings import Finding, Level
from daemon.instance import hold_home, write_holder
from graph_memory.adapters.sqlite import inspection
from graph_memory.adapters.sqlite.migrations import MIGRATIONS
from graph_memory.bootstrap import open_services
from graph_memory.config import LoadedConfig, load_config
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.ledger import IngestItem, IngestState, JobRun, RunStatus
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.mounts import Mount
from graph_memory.presence import DaemonState, Holder
from ingest.inbox import Inbox
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
    assert "graph-memory restore latest" in errors[0]["remedy"]


def test_a_damaged_page_is_found(used_home: Path) -> None:
    with apsw.Connection(str(used_home / "memory.db")) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    database = used_home / "memory.db"
    whole = database.read_bytes()
    at = whole.index(b"We chose Postgres")
    database.write_bytes(whole[: at - 40] + b"\xff" * 80 + whole[at + 40 :])
    findings = [it for it in found(memory_checks.store) if it.level is Level.ERROR]
    assert findings
    assert all(it.remedy for it in findings)


def test_another_database_in_the_home_is_found(used_home: Path) -> None:
    file = used_home / "store.json"
    file.write_text(file.read_text().replace('"database_id": "', '"database_id": "other-'))
    assert "belongs to another SQLite database" in only(memory_checks.store, Level.ERROR).message


def test_an_old_sqlite_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    assert "3.51.3 is needed" in only(machine_checks.sqlite, Level.ERROR).message
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.3")
    assert [it.level for it in found(machine_checks.sqlite)] == [Level.OK]


def test_an_old_python_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_checks.sys, "version_info", (3, 10, 4, "final", 0))  # type: ignore[attr-defined]
    assert "3.10.4" in only(machine_checks.python, Level.ERROR).message


def test_files_that_others_can_read_are_named(used_home: Path) -> None:
    (used_home / "memory.db").chmod(0o644)
    (used_home / "logs").chmod(0o755)
    message = only(home_checks.permissions, Level.WARNING).message
    assert "memory.db" in message
    assert f"{used_home}/logs" in message


def test_a_network_file_system_is_an_error(used_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount = Mount(used_home, "nfs4")
    monkeypatch.setattr("graph_memory.home.find_network_mount", lambda _: mount)
    assert "network file system (nfs4" in only(home_checks.home, Level.ERROR).message


@pytest.mark.parametrize(("free", "level"), [(1_000_000, Level.ERROR), (500_000_000, Level.WARNING)])
def test_a_full_disk_is_found(monkeypatch: pytest.MonkeyPatch, free: int, level: Level) -> None:
    usage = namedtuple("usage", "total used free")  # noqa: PYI024 - as shutil has it
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, free))
    only(machine_checks.disk, level)


def test_a_clock_from_before_this_program_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: object = None) -> "Stopped":
            return cls(1970, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(machine_checks, "datetime", Stopped)
    assert "1970" in only(machine_checks.clock, Level.ERROR).message


def test_projects_folders_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", str(tmp_path / "nowhere"))
    assert str(tmp_path / "nowhere") in only(memory_checks.projects, Level.WARNING).message


def test_too_few_watches_are_found_with_the_command_that_mends_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number in range(20):
        (tmp_path / "projects" / f"p{number}").mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", str(tmp_path / "projects"))
    (tmp_path / "inotify").mkdir()
    monkeypatch.setattr(machine_checks, "_NAMESPACE", tmp_path / "none")
    (tmp_path / "inotify" / "max_user_watches").write_text("24\n")
    monkeypatch.setattr(machine_checks, "_INOTIFY", tmp_path / "inotify")
    assert "sysctl fs.inotify.max_user_watches=48" in only(machine_checks.file_events, Level.WARNING).remedy
    monkeypatch.setattr(machine_checks, "_INOTIFY", tmp_path / "not-linux")
    assert found(machine_checks.file_events) == []


def test_a_daemon_that_was_killed_is_found_and_one_that_runs_is_well(used_home: Path) -> None:
    home = load_config(os.environ).home
    state = DaemonState(4711, "1.0", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "watching")
    assert "not running" in only(memory_checks.daemon, Level.WARNING).message
    write_holder(home, Holder(state.pid, state.version, state.started_at))
    assert "4711 ended without a word" in only(memory_checks.daemon, Level.WARNING).message
    with telling(home, state):
        assert [it.level for it in found(memory_checks.daemon)] == [Level.OK]


def test_settings_that_were_not_taken_are_warnings(used_home: Path) -> None:
    (used_home / "config.json").write_text('{"weights": {"inferred": 7}}')
    assert "weights.inferred" in only(home_checks.settings, Level.WARNING).message


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
    findings = found(memory_checks.work)
    assert {it.check for it in findings} == {"inbox", "jobs", "clock"}
    assert all(it.level is Level.WARNING and it.remedy for it in findings)


def test_a_check_that_breaks_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def disk(_config: LoadedConfig) -> Iterator[Finding]:
        raise PermissionError(13, "Permission denied", "/closed")

    monkeypatch.setattr(checks, "CHECKS", [disk, machine_checks.python])
    findings = list(examine(load_config(os.environ)))
    assert [(it.check, it.level) for it in findings] == [("disk", Level.ERROR), ("python", Level.OK)]
    assert "/closed" in findings[0].message


@pytest.mark.parametrize("check", CHECKS, ids=lambda it: it.__name__)
def test_no_check_makes_or_changes_anything(home: Path, check: Check) -> None:
    found(check)
    assert not home.exists()


def test_a_database_that_is_gone_is_an_error_with_the_way_back(used_home: Path) -> None:
    (used_home / "memory.db").unlink()
    assert "restore latest" in only(memory_checks.store, Level.ERROR).remedy


def test_a_database_of_a_newer_program_is_told_from_a_damaged_one(used_home: Path) -> None:
    with apsw.Connection(str(used_home / "memory.db")) as connection:
        connection.execute("insert into schema_migrations (version, name, applied_at) values (99, 'later', 0)")
    finding = only(memory_checks.store, Level.ERROR)
    assert "schema 99 is newer than this program knows" in finding.message
    assert "install the newer version" in finding.remedy


def test_a_database_too_large_to_be_looked_through_is_whole_as_far_as_that_got(
    used_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_checks, "CHECKING_SECONDS", 0.0)
    monkeypatch.setattr(inspection, "_STEPS", 1)
    [finding] = found(memory_checks.store)
    assert finding.level is Level.OK
    assert "as far as 0 s of looking got" in finding.message


@pytest.mark.spec("watching.doctor")
def test_looking_at_a_store_migrates_and_makes_nothing(used_home: Path, run: Run) -> None:
    newest = MIGRATIONS[-1].version
    with apsw.Connection(str(used_home / "memory.db")) as connection:
        connection.execute("delete from schema_migrations where version = ?", (newest,))
        before = connection.execute("select max(version) from schema_migrations").get
    (used_home / "archive").rmdir()
    run("doctor")
    with apsw.Connection(str(used_home / "memory.db")) as connection:
        assert connection.execute("select max(version) from schema_migrations").get == before
    assert not (used_home / "archive").exists()


def test_a_read_only_file_system_is_an_error(used_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.statvfs(used_home)
    fields = list(whole)
    fields[8] |= os.ST_RDONLY
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(fields))
    assert "mounted read-only" in only(home_checks.home, Level.ERROR).message


def test_projects_on_another_machine_want_polling(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine_checks, "find_network_mount", lambda it: Mount(it, "nfs4"))
    warned = [it for it in found(machine_checks.file_events) if it.level is Level.WARNING]
    assert warned
    assert all("ingest.polling" in it.remedy for it in warned)
    monkeypatch.setenv("GRAPH_MEMORY_INGEST__POLLING", "true")
    assert [it for it in found(machine_checks.file_events) if it.level is Level.WARNING] == []


def test_a_daemon_that_does_not_answer_is_found(used_home: Path) -> None:
    with hold_home(load_config(os.environ).home):
        assert "does not answer on its socket" in only(memory_checks.daemon, Level.WARNING).message


def test_what_a_daemon_suffers_from_is_a_finding_each(used_home: Path) -> None:
    state = DaemonState(
        4711, "1.0", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "watching", problems=("log: it can't be written",)
    )
    with telling(used_home, state):
        assert only(memory_checks.daemon, Level.WARNING).message == "log: it can't be written"


def test_the_newest_backup_is_read_to_its_end_and_its_age_told(run: Run, used_home: Path) -> None:
    assert "none yet" in found(memory_checks.backups)[0].message
    file = Path(run("export").out.strip())
    [finding] = found(memory_checks.backups)
    assert finding.level is Level.OK
    assert "reads back whole" in finding.message

    whole = file.read_bytes()
    file.write_bytes(whole[:-40])
    assert "graph-memory export" in only(memory_checks.backups, Level.ERROR).remedy

    header, rest = whole.split(b"\n", 1)
    year = datetime.now(UTC).year
    file.write_bytes(header.replace(str(year).encode(), str(year - 1).encode()) + b"\n" + rest)
    old = only(memory_checks.backups, Level.WARNING)
    assert "the newest is 36" in old.message


def test_a_home_in_use_for_days_without_a_backup_is_found(used_home: Path) -> None:
    long_ago = (datetime.now(UTC) - timedelta(days=5)).timestamp()
    os.utime(used_home / "store.json", (long_ago, long_ago))
    assert "graph-memory export" in only(memory_checks.backups, Level.WARNING).remedy


def test_errors_of_the_last_day_are_counted_by_kind(used_home: Path) -> None:
    now = datetime.now(UTC)
    lines = [
        {"event": "piece_failed", "level": "error", "timestamp": now.isoformat()},
        {"event": "piece_failed", "level": "error", "timestamp": now.isoformat()},
        {"event": "old", "level": "error", "timestamp": (now - timedelta(days=2)).isoformat()},
        {"event": "daemon_start", "level": "info", "timestamp": now.isoformat()},
    ]
    log = used_home / "logs" / "daemon.log"
    log.write_bytes(b"".join(orjson.dumps(it) + b"\n" for it in lines) + b"no json\n[]\n{}\n")
    assert only(home_checks.logs, Level.WARNING).message == "errors in the last day: piece_failed × 2"
    log.write_bytes(orjson.dumps(lines[-1]))
    assert [it.level for it in found(home_checks.logs)] == [Level.OK]


def broken_home(home: Path) -> None:
    """Do to a home all that --fix mends."""
    (home / "memory.db").chmod(0o644)
    (home / "logs").chmod(0o755)
    (home / "config.json").write_text("{}")
    (home / "config.json").chmod(0o400)
    (home / "archive").rmdir()
    hour_ago = (datetime.now(UTC) - timedelta(hours=2)).timestamp()
    for left in (".store.json.abcd.tmp", "backups/.export-x.tmp"):
        (home / left).write_text("half")
        (home / left).chmod(0o600)
        os.utime(home / left, (hour_ago, hour_ago))
    (home / "logs" / ".2026-01-01.md.beef.tmp").touch(0o600)  # of a process that is at it
    (home / "ingest" / "processing" / ".worker-dead.lock").touch(0o600)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home / "daemon.sock"))
    (home / "daemon.sock").chmod(0o600)


@pytest.mark.spec("watching.doctor.fix")
def test_what_is_safe_is_mended_once_and_said(run: Run, used_home: Path) -> None:
    broken_home(used_home)
    before = {it["check"]: it for it in run("doctor", "--json").json["findings"] if it["is_fixable"]}
    assert set(before) == {"permissions", "folders", "leftovers"}
    assert all(it["fixed"] is None for it in before.values())
    assert (used_home / "daemon.sock").exists()

    done = run("doctor", "--fix", "--json")
    assert done.status == 0
    assert done.json["fixed"] == 3
    said = {it["check"]: it["fixed"] for it in done.json["findings"] if it["fixed"] is not None}
    assert said["folders"] == "made 1 folder"
    assert said["leftovers"] == "removed 4 files"
    assert stat.S_IMODE((used_home / "memory.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((used_home / "logs").stat().st_mode) == 0o700
    assert stat.S_IMODE((used_home / "config.json").stat().st_mode) == 0o600
    assert (used_home / "archive").is_dir()
    assert not (used_home / "daemon.sock").exists()
    assert (used_home / "logs" / ".2026-01-01.md.beef.tmp").exists()

    again = run("doctor", "--fix")
    assert ", 0 fixed." in again.out
    assert "fixed  " not in again.out
    assert run("search", "Postgres", "--json").json["count"] == 1


def test_what_belongs_to_the_living_is_left_alone(used_home: Path) -> None:
    home = load_config(os.environ).home
    inbox = Inbox(home)
    (home.pending / "a.md").write_text("# A")
    [document] = inbox.pending()
    assert inbox.claim(document) is not None
    state = DaemonState(4711, "1.0", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "watching")
    with telling(home, state):
        assert [it.message for it in found(home_checks.leftovers)] == ["there are none"]
    inbox.close()


def test_documents_of_a_dead_worker_are_told_and_left_to_the_daemon(used_home: Path) -> None:
    home = load_config(os.environ).home
    (home.processing / "worker-dead" / "1").mkdir(parents=True, mode=0o700)
    (home.processing / "worker-dead" / "1" / "a.md").write_text("# A")
    (home.processing / ".worker-dead.lock").touch(0o600)
    finding = only(home_checks.leftovers, Level.WARNING)
    assert "nothing is lost" in finding.remedy
    assert finding.fix is None


def test_a_log_of_the_store_that_grew_is_moved_into_the_file(
    run: Run, used_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_checks, "_LARGE_LOG", 0)
    with closing(apsw.Connection(str(used_home / "memory.db"))) as idle:
        assert idle.execute("select count(*) from memories").get == 1
        with open_services(load_config(os.environ)) as services:
            draft = MemoryDraft(title="More", content="More of it.", category="note")
            services.memory_write.add(LOCAL_ADMIN, draft)
        finding = only(memory_checks.write_ahead_log, Level.WARNING)
        assert finding.fix is not None
        assert "moved the log" in finding.fix()
        assert (used_home / "memory.db-wal").stat().st_size == 0


def test_a_fix_that_fails_says_why_and_leaves_the_finding(
    run: Run, used_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fix() -> str:
        raise PermissionError(1, "Operation not permitted", "/somewhere")

    def check(_config: LoadedConfig) -> Iterator[Finding]:
        yield Finding("home", Level.ERROR, "broken", "mend it", fix)

    monkeypatch.setattr(checks, "CHECKS", [check])
    [(finding, mended)] = doctor._seen(load_config(os.environ), is_fixing=True)
    assert mended is None
    assert finding.remedy.startswith("could not be fixed: ")


@pytest.mark.spec("watching.doctor")
@pytest.mark.parametrize("check", CHECKS, ids=lambda it: it.__name__)
def test_every_check_of_a_home_in_use_says_something_and_every_trouble_has_a_remedy(
    used_home: Path, check: Check
) -> None:
    findings = found(check)
    assert all(it.remedy for it in findings if it.level is not Level.OK)
    assert findings or check in {
        memory_checks.work,
        home_checks.logs,
        memory_checks.write_ahead_log,
        machine_checks.file_events,
    }
