"""Runs of jobs: kept, audited, in the changelog, and none stops another."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import orjson
import pytest

from daemon import jobs
from daemon.jobs import JOBS, Job, run_job, run_job_for_all
from daemon.report import job_views
from daemon.schedule import INTERRUPTED, DueJobs
from graph_memory.bootstrap import Services, build_services, open_services, open_store
from graph_memory.config import load_config
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.due_times import next_due
from graph_memory.domain.errors import NotFound, Unavailable
from graph_memory.domain.ledger import JobRun, RunStatus
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.domain.statements import Batch, EntityStatement, RelationStatement
from graph_memory.services import pacing
from tests.daemon.conftest import Clock

UTC_ZONE = UTC
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
GUEST = Principal("guest")


def state_fact(services: Services, principal: Principal = LOCAL_ADMIN) -> None:
    people = EntityStatement("Ada", "Person"), EntityStatement("Postgres", "Object")
    services.relate.relate(principal, Batch(people, (RelationStatement("Ada", "USES_TECH", "Postgres"),)))


def confidences(services: Services, principal: Principal = LOCAL_ADMIN) -> Mapping[str, float]:
    page = services.recall.entities(principal, limit=100)
    return {it.name: it.confidence for it in page.entities}


def kept(services: Services, name: str) -> list[JobRun]:
    return list(services.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.runs(name, 10)))


def break_job(
    monkeypatch: pytest.MonkeyPatch, name: str, run: Callable[[Services, Principal], Mapping[str, int]]
) -> None:
    broken = {**JOBS, name: replace(JOBS[name], run=run)}
    monkeypatch.setattr(jobs, "JOBS", MappingProxyType(broken))


def raise_unavailable(_services: Services, _principal: Principal) -> Mapping[str, int]:
    raise Unavailable("the disk is full; nothing was written")


def raise_defect(_services: Services, _principal: Principal) -> Mapping[str, int]:
    raise KeyError("a secret that stands in the row")


@pytest.mark.spec("jobs.decay")
def test_the_night_decays_the_graph_of_every_tenant(services: Services, clock: Clock) -> None:
    for principal in (LOCAL_ADMIN, GUEST):
        state_fact(services, principal)
    before = {it: confidences(services, it) for it in (LOCAL_ADMIN, GUEST)}
    clock.move(days=10)

    run = run_job_for_all(services, "decay")

    assert run.status is RunStatus.SUCCEEDED
    assert run.result["nodes_decayed"] == 2
    for principal in (LOCAL_ADMIN, GUEST):
        after = confidences(services, principal)
        assert all(after[name] < value for name, value in before[principal].items())


@pytest.mark.spec("jobs.expire", "jobs.expire.ephemeral")
def test_the_night_archives_what_has_expired_of_every_tenant(services: Services, clock: Clock) -> None:
    until = clock.at + timedelta(days=3)
    for principal in (LOCAL_ADMIN, GUEST):
        services.memory_write.add(principal, MemoryDraft("Offer", "Ends soon.", "note", expires_at=until))
        services.memory_write.add(principal, MemoryDraft("Passing", "Only now.", "note", lifecycle="ephemeral"))
        services.memory_write.add(principal, MemoryDraft("Rule", "Stays.", "note"))
    clock.move(days=15)

    run = run_job_for_all(services, "expire")

    assert run.status is RunStatus.SUCCEEDED
    assert run.result["archived"] == 2
    assert set(run.result) == {"archived", "ephemeral", "files_removed"}
    for principal in (LOCAL_ADMIN, GUEST):
        assert services.orient.overview(principal).by_status == {"archived": 2, "active": 1}
    theirs = services.store.read(GUEST, lambda tx: tx.upkeep.runs("expire", 1))
    assert theirs[0].result == {"archived": 2, "ephemeral": 0}


@pytest.mark.spec("jobs.slices")
def test_between_the_slices_of_decay_clients_write(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pacing, "SLICE", 2)
    config = load_config({}, tmp_path / "shared")
    config.home.ensure()
    written: list[str] = []
    with open_services(config) as client, closing(open_store(config)) as store:

        def write_as_a_client(_seconds: float) -> None:
            name = f"Client {len(written)}"
            client.relate.relate(LOCAL_ADMIN, Batch((EntityStatement(name, "Person"),)))
            written.append(name)

        services = build_services(config, store, clock=clock, pause=write_as_a_client)
        services.relate.relate(
            LOCAL_ADMIN, Batch(tuple(EntityStatement(f"Old {number}", "Person") for number in range(6)))
        )
        clock.move(days=10)
        before = confidences(services)
        assert run_job(services, "decay").status is RunStatus.SUCCEEDED
        after = confidences(services)
    assert len(written) >= 3
    assert set(written) <= set(after)
    assert all(after[name] < value for name, value in before.items())


@pytest.mark.spec("jobs.recorded")
def test_a_run_is_kept_with_its_start_end_result_and_figures(services: Services, clock: Clock) -> None:
    state_fact(services)
    run = run_job(services, "validate")
    assert kept(services, "validate") == [run]
    assert (run.started_at, run.ended_at, run.status) == (clock.at, clock.at, RunStatus.SUCCEEDED)
    assert isinstance(run.result["issues"], int)
    stats = services.insight.stats(LOCAL_ADMIN)
    assert stats.last_runs["validate"] == run


@pytest.mark.spec("jobs.audited")
def test_a_run_is_audited_from_its_start_to_its_end_with_its_figures(services: Services) -> None:
    state_fact(services)
    run_job(services, "communities")
    lines = [orjson.loads(line) for line in services.home.dream_audit.read_bytes().splitlines()]
    events = [(it["event"], it["data"]) for it in lines if it["data"].get("job") == "communities"]
    assert [name for name, _ in events] == ["run_start", "run_end"]
    assert events[1][1]["status"] == "succeeded"
    assert set(events[1][1]["result"]) == {"communities", "total_members", "coverage_pct"}


@pytest.mark.parametrize("name", list(JOBS))
def test_every_job_runs_in_an_empty_home_and_in_a_used_one(services: Services, name: str) -> None:
    assert run_job(services, name).status is RunStatus.SUCCEEDED
    state_fact(services)
    assert run_job(services, name).status is RunStatus.SUCCEEDED


@pytest.mark.spec("jobs.last_dream_run")
def test_a_night_that_failed_does_not_move_the_last_night(
    services: Services, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run_job(services, "decay")
    clock.move(days=1)
    break_job(monkeypatch, "decay", raise_unavailable)
    run_job(services, "decay")
    stats = services.insight.stats(LOCAL_ADMIN)
    assert stats.last_night == done
    assert stats.last_runs["decay"].status is RunStatus.FAILED


def test_a_defect_is_a_failed_run_whose_reason_is_in_the_log_alone(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_job(monkeypatch, "decay", raise_defect)
    run = run_job(services, "decay")
    assert run.status is RunStatus.FAILED
    assert run.error is not None
    assert "e-" in run.error
    assert "secret" not in run.error


def test_a_job_that_does_not_exist_is_named_with_those_that_do(services: Services) -> None:
    with pytest.raises(NotFound, match="export, decay"):
        run_job(services, "dacay")


def test_a_tenants_failure_is_in_its_own_run_alone(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    state_fact(services, GUEST)

    def fail_for_guests(_services: Services, principal: Principal) -> Mapping[str, int]:
        if principal.tenant == GUEST.tenant:
            raise Unavailable("busy")
        return {}

    break_job(monkeypatch, "validate", fail_for_guests)
    assert run_job_for_all(services, "validate").status is RunStatus.SUCCEEDED
    theirs = services.store.read(GUEST, lambda tx: tx.upkeep.runs("validate", 1))
    assert theirs[0].status is RunStatus.FAILED


def due(services: Services, **given: object) -> DueJobs:
    return DueJobs(services, LONG_AGO, zone=UTC_ZONE, **given)  # type: ignore[arg-type]


@pytest.mark.spec("jobs.memory_decay", "jobs.export", "jobs.validate", "jobs.communities", "jobs.merge_suggestions")
def test_what_was_missed_is_caught_up_once_in_the_order_of_its_times(services: Services) -> None:
    due_jobs = due(services)
    assert due_jobs.names() == [
        "archive",
        "export",
        "decay",
        "expire",
        "memory_decay",
        "merge_suggestions",
        "validate",
        "communities",
    ]
    due_jobs.run()
    assert due_jobs.names() == []
    stats = services.insight.stats(LOCAL_ADMIN)
    assert {it.status for it in stats.last_runs.values()} == {RunStatus.SUCCEEDED}
    assert len(list(services.home.backups.glob("*.jsonl"))) == 1


def test_a_day_later_the_daily_jobs_are_due_again(services: Services, clock: Clock) -> None:
    due_jobs = due(services)
    due_jobs.run()
    clock.move(days=1)
    assert due_jobs.names() == ["archive", "export", "decay", "expire", "validate", "communities"]


@pytest.mark.spec("jobs.failure-isolated", "jobs.back-off.shown")
def test_a_failing_job_stops_no_other_backs_off_and_shows(
    services: Services, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_job(monkeypatch, "export", raise_unavailable)
    due_jobs = due(services)
    due_jobs.run()
    last = services.insight.stats(LOCAL_ADMIN).last_runs
    assert last["export"].status is RunStatus.FAILED
    assert services.degraded() == ("job export: the disk is full; nothing was written",)
    assert {run.status for name, run in last.items() if name != "export"} == {RunStatus.SUCCEEDED}
    shown = {it.name: it for it in job_views(last, services.next_runs())}
    assert shown["export"].has_failed
    assert shown["export"].last is not None
    assert shown["export"].last.error == "the disk is full; nothing was written"
    assert shown["export"].next_at == clock.at + timedelta(seconds=60)

    waits = []
    for _ in range(3):
        waited = 0
        while not due_jobs.names():
            clock.move(seconds=10)
            waited += 10
        assert services.next_runs()["export"] == clock.at
        waits.append(waited)
        due_jobs.run()
    assert waits == [60, 120, 240]


def test_a_job_that_recovers_is_left_alone_until_the_next_day(
    services: Services, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        break_job(broken, "export", raise_unavailable)
        due(services).run()
    clock.move(minutes=2)
    due(services).run()
    assert [it.status for it in kept(services, "export")] == [RunStatus.SUCCEEDED, RunStatus.FAILED]
    clock.move(hours=1)
    assert due(services).names() == ["archive"]


def test_a_store_that_refuses_is_no_reason_to_give_up(services: Services) -> None:
    def refuse(_services: Services, _name: str, _day: date) -> JobRun:
        raise Unavailable("busy")

    due_jobs = due(services, run=refuse)
    due_jobs.run()
    assert len(due_jobs.names()) == len(JOBS)


def test_once_the_daemon_ends_no_further_job_begins(services: Services) -> None:
    ran: list[str] = []

    def note(_services: Services, name: str, _day: date) -> JobRun:
        ran.append(name)
        return JobRun(name, LONG_AGO, RunStatus.SUCCEEDED, LONG_AGO)

    due(services, run=note, is_ending=lambda: len(ran) == 2).run()
    assert ran == ["archive", "export"]


@pytest.mark.spec("jobs.once-a-day")
def test_runs_that_a_clock_a_year_ahead_noted_are_gone_with_the_next(services: Services, clock: Clock) -> None:
    run_job(services, "decay")
    clock.move(days=365)
    due(services).run()
    clock.move(days=-364)
    due_jobs = due(services)
    assert "decay" in due_jobs.names()
    due_jobs.run()
    assert due_jobs.names() == []
    assert services.insight.stats(LOCAL_ADMIN).last_runs["decay"].started_at == clock.at
    assert services.next_runs()["decay"] == next_due(services.settings.jobs.decay, clock.at)


def test_an_export_says_whose_memory_it_leaves_out(services: Services) -> None:
    assert "tenants_left_out" not in run_job(services, "export").result
    state_fact(services, GUEST)
    assert run_job(services, "export").result["tenants_left_out"] == 1


def test_a_tenant_whose_store_is_busy_stops_no_other(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("a", "b", "c")
    for name in names:
        state_fact(services, Principal(name))
    keep = jobs._keep

    def refuse_b(services: Services, principal: Principal, *rest: object) -> None:
        if principal.tenant == "b":
            raise Unavailable("busy")
        keep(services, principal, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(jobs, "_keep", refuse_b)
    assert run_job_for_all(services, "validate").status is RunStatus.SUCCEEDED
    made = {it: services.store.read(Principal(it), lambda tx: tx.upkeep.runs("validate", 1)) for it in names}
    assert [bool(made[it]) for it in names] == [True, False, True]


def test_a_run_that_was_killed_is_failed_and_tried_again(services: Services, clock: Clock) -> None:
    due(services).run()
    clock.move(days=1)
    begun = JobRun("export", clock.at, RunStatus.RUNNING)
    services.store.write(LOCAL_ADMIN, lambda tx: tx.upkeep.put_run(begun))
    clock.move(minutes=5)
    due_jobs = due(services)
    assert "export" not in due_jobs.names()
    assert due_jobs.settle_interrupted(clock.at) == 1
    assert kept(services, "export")[0].error == INTERRUPTED
    clock.move(minutes=1)
    assert "export" in due_jobs.names()


def test_jobs_that_are_switched_off_are_never_due(services: Services) -> None:
    settings = services.settings
    off = replace(settings.jobs, export=replace(settings.jobs.export, enabled=False))
    quiet = replace(services, settings=replace(settings, jobs=off))
    assert "export" not in due(quiet).names()
    shown = {it.name: it for it in job_views({}, quiet.next_runs())}
    assert shown["export"].next_at is None
    assert shown["decay"].next_at == next_due(settings.jobs.decay, services.clock())


def test_jobs_have_names_that_the_settings_know(services: Services) -> None:
    for name, job in JOBS.items():
        assert isinstance(job, Job)
        assert hasattr(services.settings.jobs, name)
