"""The schedule itself, with its threads and a clock that is moved under it: after sleep, and whatever is set."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import pytest

from daemon.jobs import run_job_for_all
from daemon.schedule import LOOK_SECONDS, DueJobs, Schedule
from graph_memory.bootstrap import Services
from graph_memory.domain.ledger import JobRun
from tests.daemon.conftest import Clock

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
BOUND = 30.0


@dataclass
class Made:
    """The jobs that were run, as they are run, and a way to wait for them."""

    names: list[str] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def run(self, services: Services, name: str, day: date) -> JobRun:
        made = run_job_for_all(services, name, day)
        with self.changed:
            self.names.append(name)
            self.changed.notify_all()
        return made

    def wait_for(self, holds: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(holds, BOUND), self.names


@dataclass
class Looks:
    """Counts how often the schedule has looked, so that a test can wait until it has looked once more."""

    due: DueJobs
    count: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def run(self) -> None:
        self.due.run()
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def wait_for_another(self) -> None:
        with self.changed:
            before = self.count
            assert self.changed.wait_for(lambda: self.count > before + 1, BOUND)


@pytest.fixture
def made() -> Made:
    return Made()


@contextmanager
def scheduled(services: Services, made: Made) -> Iterator[Looks]:
    looks = Looks(DueJobs(services, LONG_AGO, zone=UTC, run=made.run))
    schedule = Schedule(services, looks, look_seconds=0.05)  # type: ignore[arg-type]
    schedule.start()
    try:
        yield looks
    finally:
        schedule.stop()


def test_the_look_comes_round_twice_a_minute() -> None:
    """Within 60 s of waking: at most one look later, and the jobs before it."""
    assert LOOK_SECONDS <= 30


@pytest.mark.spec("jobs.catch-up")
def test_after_a_night_asleep_what_was_due_runs_at_the_next_look_once(
    services: Services, clock: Clock, made: Made
) -> None:
    clock.at = datetime(2026, 1, 14, 22, tzinfo=UTC)
    with scheduled(services, made) as looks:
        made.wait_for(lambda: "communities" in made.names)
        looks.wait_for_another()
        made.names.clear()
        clock.at = datetime(2026, 1, 15, 8, tzinfo=UTC)
        looks.wait_for_another()
        looks.wait_for_another()
        assert made.names == ["archive", "export", "decay", "expire", "validate", "communities"]


@pytest.mark.spec("jobs.once-a-day")
def test_a_clock_set_back_does_not_stop_the_looks_and_makes_nothing_twice(
    services: Services, clock: Clock, made: Made
) -> None:
    with scheduled(services, made) as looks:
        made.wait_for(lambda: "communities" in made.names)
        looks.wait_for_another()
        made.names.clear()
        clock.move(days=-1)
        looks.wait_for_another()
        assert made.names == []
        clock.move(days=2)
        made.wait_for(lambda: "communities" in made.names)
        looks.wait_for_another()
        assert made.names.count("decay") == 1


@pytest.mark.spec("jobs.once-a-day")
def test_after_a_year_ahead_the_next_night_counts_again(services: Services, clock: Clock, made: Made) -> None:
    right = clock.at
    clock.at = right + timedelta(days=365)
    with scheduled(services, made) as looks:
        made.wait_for(lambda: "communities" in made.names)
        made.names.clear()
        clock.at = right
        made.wait_for(lambda: "communities" in made.names)
        looks.wait_for_another()
        assert made.names.count("decay") == 1
        made.names.clear()
        clock.at = right + timedelta(days=1)
        made.wait_for(lambda: "communities" in made.names)
        looks.wait_for_another()
        assert made.names.count("decay") == 1


def test_a_defect_in_a_look_does_not_end_the_next_ones(services: Services, made: Made) -> None:
    class Broken:
        looks = 0

        def run(self) -> None:
            self.looks += 1
            with made.changed:
                made.changed.notify_all()
            raise KeyError("a defect")

    broken = Broken()
    schedule = Schedule(services, broken, look_seconds=0.01)  # type: ignore[arg-type]
    schedule.start()
    made.wait_for(lambda: broken.looks >= 3)
    schedule.stop()


def test_it_ends_at_once_while_it_waits_and_where_it_never_began(services: Services, made: Made) -> None:
    due = DueJobs(services, services.clock(), zone=UTC, run=made.run)
    Schedule(services, due).stop()
    schedule = Schedule(services, due)
    schedule.start()
    schedule.stop()
    assert not [it for it in threading.enumerate() if it.name == "schedule"]
