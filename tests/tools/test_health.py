"""What graph_stats tells of the daemon: its jobs, its inbox, what it takes and what it suffers from."""

import os
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from daemon.instance import hold_home, write_holder
from daemon.jobs import JOBS, run_job
from daemon.retention import remove_old_files
from graph_memory.domain.due_times import CLOCK_JOBS, next_due
from graph_memory.domain.ledger import IngestItem, IngestState
from graph_memory.presence import SILENT, DaemonState, Holder
from tests.daemon.telling import telling
from tests.tools.conftest import START, Client, Clock

STATE = DaemonState(
    pid=os.getpid(),
    version="1.0",
    started_at="2026-01-01T12:00:00Z",
    seen_at="2026-01-01T12:00:00Z",
    activity="learning",
    memory_mb=120,
    problems=("2 folders are watched by looking alone",),
    items_last_minute=240,
    cpu_share=0.125,
)


def health(client: Client) -> dict[str, object]:
    return dict(client.call("graph_stats")["health"])


def test_every_job_of_the_daemon_is_known_by_its_name() -> None:
    assert set(JOBS) == set(CLOCK_JOBS)


@pytest.mark.spec("graph_stats.jobs", "jobs.recorded")
def test_each_job_has_its_last_run_with_its_result_and_its_next(client: Client, clock: Clock) -> None:
    jobs = client.call("graph_stats")["health"]["jobs"]
    assert set(jobs) == set(JOBS)
    assert {(it["started_at"], it["status"], it["error"]) for it in jobs.values()} == {(None, None, None)}
    nights = client.services.settings.jobs
    for name in JOBS:
        due = next_due(getattr(nights, name), clock.now)
        assert datetime.fromisoformat(jobs[name]["next"]).astimezone(UTC) == due > clock.now

    run_job(client.services, "validate")
    clock.advance(days=1)
    validate = client.call("graph_stats")["health"]["jobs"]["validate"]
    assert (validate["started_at"], validate["status"]) == ("2026-01-01T12:00:00Z", "succeeded")
    assert validate["result"] == {"issues": 0, "by_type": {}}
    assert datetime.fromisoformat(validate["next"]) > clock.now


@pytest.mark.spec("graph_stats.jobs")
def test_a_job_that_is_switched_off_has_no_next_run(client: Client) -> None:
    settings = client.services.settings
    off = replace(settings.jobs, export=replace(settings.jobs.export, enabled=False))
    quiet = Client(replace(client.services, settings=replace(settings, jobs=off)), client.clock)
    jobs = quiet.call("graph_stats")["health"]["jobs"]
    assert jobs["export"]["next"] is None
    assert jobs["decay"]["next"] is not None


@pytest.mark.spec("graph_stats.budget", "graph_stats.degraded")
def test_it_tells_what_the_daemon_takes_of_its_budget_and_suffers_from(client: Client) -> None:
    home = client.services.home
    idle = {
        "memory_mb": {"used": 0, "limit": 600},
        "cpu_share": {"used": 0.0, "limit": 0.5},
        "items_per_minute": {"used": 0, "limit": 600},
    }
    assert health(client)["budget"] == idle
    with hold_home(home):
        assert health(client)["budget"] == idle  # it only begins, or can't be asked
        assert health(client)["degraded"] == [SILENT]
    with telling(home, STATE):
        told = health(client)
    assert told["budget"] == {
        "memory_mb": {"used": 120, "limit": 600},
        "cpu_share": {"used": 0.125, "limit": 0.5},
        "items_per_minute": {"used": 240, "limit": 600},
    }
    assert told["degraded"] == list(STATE.problems)


@pytest.mark.spec("graph_stats.budget")
def test_what_a_daemon_that_was_killed_left_behind_is_not_believed(client: Client) -> None:
    write_holder(client.services.home, Holder(STATE.pid, STATE.version, STATE.started_at))
    assert health(client)["degraded"] == []


@pytest.mark.spec("graph_stats.queue", "graph_stats.pending_ingest_docs")
def test_documents_dropped_by_hand_count_before_anybody_noted_them(client: Client) -> None:
    (client.services.home.pending / "dropped.md").write_text("# Dropped", encoding="utf-8")
    client.call("graph_ingest", action="queue", content="# Sent", file_name="sent.md")
    assert health(client)["pending_ingest_docs"] == 2
    assert health(client)["queue"] == {"pending": 2, "processing": 0, "completed": 0, "failed": 0}


@pytest.mark.spec("graph_stats.total_ingested_docs")
def test_cleaning_the_completed_folder_lowers_nothing(client: Client) -> None:
    services = client.services
    item = IngestItem("i1", "k1", "done.md", IngestState.COMPLETED, 6, START, START)
    services.store.write(client.caller, lambda tx: tx.ledger.put_items([item]))
    done = services.home.completed / "done.md"
    done.write_text("# Done", encoding="utf-8")
    assert health(client)["total_ingested_docs"] == 1
    removed = remove_old_files(services.home, services.settings.limits, datetime(2100, 1, 1, tzinfo=UTC))
    assert (removed.completed, done.exists()) == (1, False)
    assert health(client)["total_ingested_docs"] == 1
