"""The day's changelog: problems first, a row a job, what was learned; ids and figures alone."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import pytest

from daemon import jobs
from daemon.changelog import write_changelog
from daemon.jobs import JOBS, run_job, run_job_for_all
from graph_memory.bootstrap import Services
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.errors import Unavailable
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.domain.statements import Batch, EntityStatement, RelationStatement
from tests.daemon.conftest import Clock

pytestmark = pytest.mark.spec("jobs.changelog")


def learn(services: Services, principal: Principal = LOCAL_ADMIN) -> None:
    people = EntityStatement("Ada", "Person"), EntityStatement("Postgres", "Object")
    services.relate.relate(principal, Batch(people, (RelationStatement("Ada", "USES_TECH", "Postgres"),)))
    services.memory_write.add(principal, MemoryDraft("Secret plan", "Ada plans.", "note"))


def page(services: Services, clock: Clock) -> str:
    return services.home.changelog(clock.at.astimezone().date()).read_text(encoding="utf-8")


def break_job(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def fail(_services: Services, _principal: Principal) -> Mapping[str, int]:
        raise Unavailable("Ada stands in the way")

    monkeypatch.setattr(jobs, "JOBS", MappingProxyType({**JOBS, name: replace(JOBS[name], run=fail)}))


def test_a_day_begins_with_its_name_and_ends_with_what_was_learned(services: Services, clock: Clock) -> None:
    learn(services)
    run_job(services, "decay")
    text = page(services, clock)
    day = clock.at.astimezone().date()
    assert text.startswith(f"# Thursday, {day.isoformat()}\n\n## Jobs\n")
    assert text.endswith("## Learned that day\n\n- 2 new entities\n- 1 note added or changed\n")
    at = f"{clock.at.astimezone():%H:%M}"
    assert f"| {at} | decay | 0.0 s | nothing to do |" in text
    assert services.home.changelog(day).stat().st_mode & 0o077 == 0


def test_a_row_has_the_figures_that_are_anything(services: Services, clock: Clock) -> None:
    learn(services)
    clock.move(days=10)
    run_job(services, "decay")
    run_job(services, "validate")
    run_job(services, "merge_suggestions")
    text = page(services, clock)
    assert "nodes decayed 2; edges decayed 1" in text
    assert "pruning 0" not in text
    assert "| pairs [" not in text
    assert "- 0 new entities" in text
    for word in ("Ada", "ada", "Secret", "Postgres"):
        assert word not in text


def test_problems_come_first_without_their_words(
    services: Services, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_job(services, "decay")
    with monkeypatch.context() as broken:
        break_job(broken, "export")
        run_job(services, "export")
        clock.move(minutes=1)
        run_job(services, "export")
    text = page(services, clock)
    at = f"{clock.at.astimezone():%H:%M}"
    assert text.index("## Problems") < text.index("## Jobs")
    assert f"- **export** failed, 2 times, last at {at}: `graph-memory job list` says why" in text
    assert f"| {at} | export (2 runs) | 0.0 s | **failed** |" in text
    assert "Ada" not in text

    clock.move(minutes=1)
    run_job(services, "export")
    assert f"- **export** failed, 2 times, last at {at}: it has run since" in page(services, clock)


def test_other_tenants_are_told_of_in_numbers(
    services: Services, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        learn(services, Principal(name))
    run_job_for_all(services, "validate")
    run_job(services, "export")
    text = page(services, clock)
    assert "Of 2 other tenants: 2 runs, 0 failed." in text
    assert "- **export** holds the owner's memory alone: that of 2 other tenants is in no backup" in text
    break_job(monkeypatch, "decay")
    clock.move(minutes=1)
    run_job_for_all(services, "decay")
    assert "- 2 jobs of other tenants failed" in page(services, clock)


def test_a_day_is_written_to_its_end_when_the_next_begins(services: Services, clock: Clock) -> None:
    run_job(services, "decay")
    before = services.home.changelog(clock.at.astimezone().date())
    learn(services)
    assert "- 0 new entities" in before.read_text(encoding="utf-8")
    clock.move(days=1)
    run_job(services, "decay")
    assert "- 2 new entities" in before.read_text(encoding="utf-8")
    assert "- 0 new entities" in page(services, clock)


def test_what_was_lost_of_a_day_is_written_again(services: Services, clock: Clock) -> None:
    run_job(services, "decay")
    path = services.home.changelog(clock.at.astimezone().date())
    whole = path.read_text(encoding="utf-8")
    path.write_text("# half a", encoding="utf-8")
    write_changelog(services, tuple(JOBS), clock.at)
    assert path.read_text(encoding="utf-8") == whole


def test_a_run_just_before_midnight_stands_on_its_own_day(services: Services, clock: Clock) -> None:
    clock.at = datetime(2026, 1, 15, 23, 59, 59, tzinfo=UTC)
    run_job(services, "decay")
    write_changelog(services, tuple(JOBS), clock.at, UTC)
    clock.move(seconds=2)
    run_job(services, "validate")
    write_changelog(services, tuple(JOBS), clock.at, UTC)
    first, second = (services.home.changelog((clock.at - timedelta(days=it)).date()) for it in (1, 0))
    assert "| decay |" in first.read_text(encoding="utf-8")
    assert "| decay |" not in second.read_text(encoding="utf-8")


def test_a_changelog_that_cannot_be_written_fails_no_job(services: Services, clock: Clock) -> None:
    services.home.changelog(clock.at.astimezone().date()).mkdir()
    assert run_job(services, "decay").error is None
