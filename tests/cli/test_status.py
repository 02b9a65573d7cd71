"""`graph-memory status`."""

import os
from pathlib import Path

from daemon.exits import Exit
from daemon.instance import DaemonState, hold_home, write_state
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.ledger import JobRun, RunStatus, TranscriptCursor
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.cli.conftest import Run

STATE = DaemonState(
    pid=4711,
    version="1.0",
    started_at="2026-01-01T00:00:00Z",
    seen_at="2026-01-01T00:00:02Z",
    activity="learning",
    backlog=12,
    memory_mb=88,
    problems=("file events: no space left; polling instead",),
)


def test_without_a_daemon_it_says_what_to_do_and_ends_with_one(run: Run, used_home: Path) -> None:
    done = run("status")
    assert done.status == 1
    assert "the daemon is not running" in done.out
    assert "memories     1\n" in done.out
    assert "Object 1, Person 1" in done.out


def test_with_a_daemon_all_is_well(run: Run, used_home: Path) -> None:
    home = load_config(os.environ).home
    with hold_home(home):
        write_state(home, STATE)
        done = run("status")
        assert done.status == 0
        for part in ("process 4711", "learning", "12 pieces of the backlog", "88 MB", "polling instead", "All is well"):
            assert part in done.out


def test_as_json_everything_is_there(run: Run, used_home: Path) -> None:
    done = run("status", "--json")
    assert done.status == 1
    assert done.err == ""
    told = done.json
    assert told["healthy"] is False
    assert told["daemon"] == {"running": False, "state": None}
    assert told["store"]["kind"] == "sqlite"
    assert told["entities"]["total"] == 2
    assert set(told["queue"]) == {"pending", "processing", "completed", "failed"}
    assert {it["name"] for it in told["jobs"]} >= {"decay", "export", "validate"}
    assert isinstance(told["degraded"], list)


def test_a_store_that_cannot_be_opened_is_told_in_json_too(run: Run, used_home: Path) -> None:
    (used_home / "memory.db").write_bytes(b"this is no database" * 1_000)
    done = run("status", "--json")
    assert done.status == Exit.CONFIG
    assert done.json["healthy"] is False
    assert "damaged" in done.json["troubles"][0]


def test_a_job_that_failed_makes_it_unhealthy(run: Run, used_home: Path) -> None:
    home = load_config(os.environ).home
    with open_services(load_config(os.environ)) as services:
        failed = JobRun("export", services.clock(), RunStatus.FAILED, services.clock(), error="the disk is full")
        services.store.write(LOCAL_ADMIN, lambda tx: tx.upkeep.put_run(failed))
    with hold_home(home):
        write_state(home, STATE)
        done = run("status")
    assert done.status == 1
    assert "job export: the disk is full" in done.out


def test_transcripts_that_have_grown_are_counted(run: Run, used_home: Path, tmp_path: Path) -> None:
    sizes = {"read.jsonl": 100, "grown.jsonl": 150}
    with open_services(load_config(os.environ)) as services:
        cursors = [
            TranscriptCursor(str(tmp_path / name), "f", 100, 100, services.clock()) for name in (*sizes, "gone.jsonl")
        ]
        services.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_transcript_cursors(cursors))
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    told = run("status", "--json").json["transcripts"]
    assert told == {"known": 3, "grown": 1, "bytes_behind": 50}
