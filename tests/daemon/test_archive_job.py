"""The archive as the daemon keeps it: every hour, by its settings, with figures."""

from datetime import UTC, datetime, time, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from daemon.jobs import run_job
from daemon.learning import build_pipeline
from daemon.schedule import DueJobs
from daemon.times import clock_jobs, is_missed
from graph_memory.bootstrap import Services, open_services
from graph_memory.config import load_config
from graph_memory.config.settings import ClockJob, Jobs
from graph_memory.domain.due_times import last_due, next_due
from graph_memory.domain.ledger import JobRun, RunStatus
from graph_memory.domain.principal import LOCAL_ADMIN
from ingest.archive import Archive
from tests.daemon.conftest import Clock
from tests.ingest.transcript_files import Transcript

HOURLY = ClockJob(at=time(14, 7), day="hourly")
NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


@pytest.mark.spec("archive.hourly")
def test_an_hourly_job_is_due_at_its_minute_of_every_hour() -> None:
    assert last_due(HOURLY, NOON, UTC) == datetime(2026, 1, 15, 11, 7, tzinfo=UTC)
    assert next_due(HOURLY, NOON, UTC) == datetime(2026, 1, 15, 12, 7, tzinfo=UTC)
    at = datetime(2026, 1, 15, 12, 7, tzinfo=UTC)
    assert last_due(HOURLY, at, UTC) == at
    assert next_due(HOURLY, at, UTC) == at + timedelta(hours=1)


def test_its_minute_is_that_of_the_clock_on_the_wall() -> None:
    nepal = timezone(timedelta(hours=5, minutes=45))
    assert last_due(HOURLY, NOON, nepal) == datetime(2026, 1, 15, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize("start", ["2026-03-29T00:00", "2026-10-25T00:00"])
def test_it_runs_every_hour_of_a_day_on_which_the_clocks_change(start: str) -> None:
    zone, now = ZoneInfo("Europe/Berlin"), datetime.fromisoformat(start).replace(tzinfo=UTC)
    last = JobRun("archive", now, RunStatus.SUCCEEDED, now)
    made = 0
    for _ in range(6 * 60):
        now += timedelta(minutes=1)
        if is_missed(HOURLY, last, NOON, now, zone):
            last, made = JobRun("archive", now, RunStatus.SUCCEEDED, now), made + 1
    assert made == 6


@pytest.mark.spec("archive.hourly")
def test_after_a_night_asleep_it_is_caught_up_once(services: Services, clock: Clock) -> None:
    due = DueJobs(services, clock() - timedelta(days=1))
    assert "archive" in due.names()
    run_job(services, "archive")
    assert "archive" not in due.names()
    clock.move(hours=1)
    assert "archive" in due.names()
    run_job(services, "archive")
    clock.move(hours=9)
    due.run()
    assert "archive" not in due.names()


def test_it_can_be_switched_off() -> None:
    assert "archive" in clock_jobs(Jobs(), ("archive",))
    assert "archive" not in clock_jobs(Jobs(archive=ClockJob(enabled=False, day="hourly")), ("archive",))


def test_its_run_says_what_it_did(tmp_path: Path) -> None:
    environment = {"CLAUDE_PROJECTS_DIR": str(tmp_path / "projects")}
    talk = Transcript(tmp_path / "projects" / "p" / "11111111-0000-4000-8000-000000000001.jsonl")
    talk.say("which database?")
    talk.answer("Postgres")
    with open_services(load_config(environment, tmp_path / "home")) as services:
        pipeline = build_pipeline(services)
        for work in pipeline.scan().works:
            pipeline.run(work)
        pipeline.close()
        run = run_job(services, "archive")
        kept = services.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.last_runs())["archive"]
    assert run.status is RunStatus.SUCCEEDED
    assert {name: kept.result[name] for name in ("archived", "sessions", "bytes_read", "redacted")} == {
        "archived": 1,
        "sessions": 1,
        "bytes_read": talk.file.stat().st_size,
        "redacted": 0,
    }
    changelog = next(services.home.logs.glob("????-??-??.md")).read_text()
    assert "| archive |" in changelog
    assert list(Archive(services.home.archive).read(talk.session_id)) == talk.file.read_bytes().splitlines(
        keepends=True
    )
