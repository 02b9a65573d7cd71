"""`graph-memory status`."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.exits import Exit
from daemon.instance import hold_home
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.ledger import IngestItem, IngestState, JobRun, RunStatus, TranscriptCursor
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from graph_memory.presence import SILENT, DaemonState, SeenError
from tests.cli.conftest import Run
from tests.daemon.telling import telling

STATE = DaemonState(
    pid=4711,
    version="1.0",
    started_at="2026-01-01T00:00:00Z",
    seen_at="2026-01-01T00:00:02Z",
    activity="learning",
    backlog=12,
    memory_mb=88,
    items_per_minute=42,
    bytes_per_minute=1_300_000,
    memory_bytes=88_000_000,
    descriptors=31,
    threads=9,
    process_cpu_share=0.25,
    budget={
        "memory_mb": {"used": 88, "limit": 600},
        "cpu_share": {"used": 0.31, "limit": 0.5},
        "items_per_minute": {"used": 42, "limit": 600},
    },
)
DEGRADED = replace(
    STATE,
    problems=("file events: no space left; polling instead",),
    errors=(SeenError("piece_failed", "error", 3, "2026-01-01T00:00:01Z", "e-12345678"),),
)


@pytest.mark.spec("watching.status.without-daemon")
def test_without_a_daemon_it_says_what_to_do_and_ends_with_one(run: Run, used_home: Path) -> None:
    done = run("status")
    assert done.status == 1
    assert "the daemon is not running" in done.out
    assert "All is well" not in done.out
    assert "memories     1\n" in done.out
    assert "Object 1, Person 1" in done.out


def test_with_a_daemon_all_is_well(run: Run, used_home: Path) -> None:
    with telling(used_home, STATE):
        done = run("status")
    assert done.status == 0
    for part in (
        "process 4711",
        "learning",
        "12 pieces of the backlog",
        "42 items, 1.2 MB in the last minute",
        "88 of 600 MB · 0.31 of 0.50 cores for the backlog",
        "0.25 cores · 84 MB · 31 open files · 9 threads",
        "0 pending, 0 processing, 0 completed, 0 failed",
        "decay: never ran · next ",
    ):
        assert part in done.out
    assert done.out.endswith("All is well.\n")


@pytest.mark.spec("watching.status.honest", "watching.errors")
def test_what_is_degraded_and_what_was_logged_is_shown_and_not_called_well(run: Run, used_home: Path) -> None:
    with telling(used_home, DEGRADED):
        done = run("status")
    assert done.status == 0
    assert "degraded     file events: no space left; polling instead\n" in done.out
    assert "piece_failed × 3, last 2026-01-01" in done.out
    assert "e-12345678" in done.out
    assert "All is well" not in done.out


@pytest.mark.spec("watching.status.honest")
def test_documents_that_failed_are_not_called_well(run: Run, used_home: Path) -> None:
    with open_services(load_config(os.environ)) as services:
        now = services.clock()
        failed = IngestItem("d-1", "k", "a.md", IngestState.FAILED, 3, now, now, reason="binary")
        services.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_items([failed]))
    with telling(used_home, STATE):
        done = run("status")
    assert "1 document failed: `graph-memory retry` lists them" in done.out
    assert "All is well" not in done.out


def test_a_daemon_that_does_not_answer_is_told_from_one_that_does_not_run(run: Run, used_home: Path) -> None:
    with hold_home(Home(used_home)):
        done = run("status")
    assert done.status == 0
    assert "running; it does not answer" in done.out
    assert SILENT in done.out


def test_as_json_everything_is_there(run: Run, used_home: Path) -> None:
    done = run("status", "--json")
    assert done.status == 1
    assert done.err == ""
    told = done.json
    assert told["healthy"] is False
    assert told["daemon"] == {"running": False, "state": None}
    assert told["store"]["kind"] == "sqlite"
    assert told["store"]["bytes"] > 0
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


def test_a_store_that_this_program_cannot_open_is_no_reason_not_to_say_what_the_daemon_says(
    run: Run, used_home: Path
) -> None:
    work = {
        "queue": {"pending": 3},
        "transcripts": {"known": 7, "grown": 0, "bytes_behind": 0},
        "session_cursors": {},
        "jobs": [{"name": "decay", "summary": "", "last_run": None, "next_run": "2026-01-01T02:00:00Z"}],
    }
    (used_home / "memory.db").write_bytes(b"this is no database" * 1_000)
    with telling(used_home, replace(STATE, work=work)):
        done = run("status")
    assert done.status == 1
    for part in ("store: the database file is damaged", "process 4711", "3 pending", "7 known", "decay: never ran"):
        assert part in done.out


def test_a_job_that_failed_makes_it_unhealthy(run: Run, used_home: Path) -> None:
    with open_services(load_config(os.environ)) as services:
        failed = JobRun("export", services.clock(), RunStatus.FAILED, services.clock(), error="the disk is full")
        services.store.write(LOCAL_ADMIN, lambda tx: tx.upkeep.put_run(failed))
    with telling(used_home, STATE):
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
