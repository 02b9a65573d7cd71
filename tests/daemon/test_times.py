"""When jobs are due: once a local day, whatever the clock does."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.times import believable, clock_jobs, day_due, is_missed
from graph_memory.config.settings import ClockJob, Jobs
from graph_memory.domain.due_times import last_due, next_due
from graph_memory.domain.ledger import MADE_FOR, JobRun, RunStatus
from graph_memory.domain.retries import retry_at, wait_after

NIGHTLY = ClockJob(at=time(2, 30))
SUNDAYS = ClockJob(at=time(3, 20), day="sunday")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def berlin() -> ZoneInfo:
    try:
        return ZoneInfo("Europe/Berlin")
    except ZoneInfoNotFoundError:
        pytest.skip("the system has no time zone data")


def run_at(started_at: datetime, status: RunStatus = RunStatus.SUCCEEDED, made_for: date | None = None) -> JobRun:
    result = {} if made_for is None else {MADE_FOR: made_for.isoformat()}
    return JobRun("decay", started_at, status, started_at + timedelta(seconds=1), {**result})


def runs_made(when: ClockJob, zones: tzinfo | Callable[[datetime], tzinfo], instants: list[datetime]) -> list[datetime]:
    """Return at which of the instants, looked at in this order and in the zone of then, a job runs."""
    made: list[datetime] = []
    noted: list[JobRun] = []
    for now in instants:
        zone = zones if isinstance(zones, tzinfo) else zones(now)
        runs = believable(sorted(noted, key=lambda it: it.started_at, reverse=True), now)
        if is_missed(when, runs[0] if runs else None, instants[0] - timedelta(days=1), now, zone):
            made.append(now)
            noted.append(run_at(now, made_for=day_due(when, now, zone)))
    return made


def every_ten_minutes(start: datetime, hours: int) -> list[datetime]:
    return [start + timedelta(minutes=10 * step) for step in range(hours * 6)]


def test_a_job_is_due_at_its_local_time(berlin: ZoneInfo) -> None:
    now = datetime(2026, 1, 15, 12, tzinfo=UTC)
    assert last_due(NIGHTLY, now, berlin) == datetime(2026, 1, 15, 1, 30, tzinfo=UTC)
    assert next_due(NIGHTLY, now, berlin) == datetime(2026, 1, 16, 1, 30, tzinfo=UTC)


def test_before_its_time_the_run_of_the_day_before_counts(berlin: ZoneInfo) -> None:
    assert last_due(NIGHTLY, datetime(2026, 1, 15, 1, tzinfo=UTC), berlin) == datetime(2026, 1, 14, 1, 30, tzinfo=UTC)


def test_a_weekly_job_is_due_on_its_day(berlin: ZoneInfo) -> None:
    wednesday = datetime(2026, 1, 14, 12, tzinfo=UTC)
    assert last_due(SUNDAYS, wednesday, berlin) == datetime(2026, 1, 11, 2, 20, tzinfo=UTC)
    assert next_due(SUNDAYS, wednesday, berlin) == datetime(2026, 1, 18, 2, 20, tzinfo=UTC)


def test_on_its_own_day_a_weekly_job_waits_for_its_time(berlin: ZoneInfo) -> None:
    sunday_morning = datetime(2026, 1, 11, 1, tzinfo=UTC)
    assert last_due(SUNDAYS, sunday_morning, berlin) == datetime(2026, 1, 4, 2, 20, tzinfo=UTC)
    assert next_due(SUNDAYS, sunday_morning, berlin) == datetime(2026, 1, 11, 2, 20, tzinfo=UTC)


@pytest.mark.spec("jobs.once-a-day")
def test_a_time_that_the_clocks_skip_runs_once_that_day(berlin: ZoneInfo) -> None:
    # On 29 March 2026 the clocks go from 02:00 to 03:00: there is no 02:30.
    made = runs_made(NIGHTLY, berlin, every_ten_minutes(datetime(2026, 3, 28, 23, tzinfo=UTC), 24))
    assert made == [datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 1, 30, tzinfo=UTC)]


@pytest.mark.spec("jobs.once-a-day")
def test_a_time_that_comes_twice_runs_once_that_day(berlin: ZoneInfo) -> None:
    # On 25 October 2026 the clocks go from 03:00 back to 02:00: 02:30 comes twice.
    made = runs_made(NIGHTLY, berlin, every_ten_minutes(datetime(2026, 10, 24, 22, tzinfo=UTC), 24))
    assert made == [datetime(2026, 10, 24, 22, tzinfo=UTC), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)]


def test_a_weekly_job_keeps_its_time_across_a_change_of_the_clocks(berlin: ZoneInfo) -> None:
    tuesday_after = datetime(2026, 10, 27, 12, tzinfo=UTC)
    assert last_due(SUNDAYS, tuesday_after, berlin) == datetime(2026, 10, 25, 2, 20, tzinfo=UTC)
    tuesday_before = datetime(2026, 10, 20, 12, tzinfo=UTC)
    assert last_due(SUNDAYS, tuesday_before, berlin) == datetime(2026, 10, 18, 1, 20, tzinfo=UTC)


def test_a_clock_set_back_does_not_make_a_day_count_twice() -> None:
    ran = datetime(2026, 1, 15, 2, 30, 5, tzinfo=UTC)
    for now in (ran - timedelta(hours=2), ran + timedelta(minutes=1)):
        assert not is_missed(NIGHTLY, run_at(ran), LONG_AGO, now, ZoneInfo("UTC"))


def test_a_run_noted_by_a_clock_far_ahead_does_not_keep_a_job_from_running() -> None:
    now = datetime(2026, 1, 15, 12, tzinfo=UTC)
    ahead, before = run_at(now + timedelta(days=400)), run_at(now - timedelta(days=2))
    assert believable([ahead, before], now) == [before]
    assert is_missed(NIGHTLY, before, LONG_AGO, now, ZoneInfo("UTC"))
    assert believable([ahead], now) == []


def local_days(made: list[datetime], zones: Callable[[datetime], tzinfo]) -> list[date]:
    return [it.astimezone(zones(it)).date() for it in made]


@pytest.mark.spec("jobs.once-a-day")
@pytest.mark.parametrize(
    ("home", "abroad"), [("Europe/Berlin", "America/New_York"), ("America/New_York", "Asia/Tokyo")]
)
@pytest.mark.parametrize("hours", range(0, 48, 5))
def test_a_journey_makes_no_local_day_count_twice_and_leaves_none_out(home: str, abroad: str, hours: int) -> None:
    start = datetime(2026, 1, 13, 12, tzinfo=UTC)
    there = start + timedelta(hours=hours)

    def zones(now: datetime) -> tzinfo:
        return ZoneInfo(home if now < there else abroad)

    made = runs_made(NIGHTLY, zones, every_ten_minutes(start, 24 * 6))[1:]
    days = local_days(made, zones)
    assert len(days) == len(set(days))
    assert set(days) >= {date(2026, 1, day) for day in (16, 17, 18)}
    gaps = [later - earlier for earlier, later in pairwise(made)]
    assert max(gaps) < timedelta(days=2)


@pytest.mark.spec("jobs.once-a-day")
def test_a_clock_set_back_by_a_day_makes_no_day_count_twice_and_then_goes_on() -> None:
    start = datetime(2026, 1, 13, 12, tzinfo=UTC)
    before = every_ten_minutes(start, 48)
    after = every_ten_minutes(before[-1] - timedelta(days=1), 72)
    made = runs_made(NIGHTLY, UTC, [*before, *after])[1:]
    assert [it.date().day for it in made] == [14, 15, 16, 17]


@pytest.mark.spec("jobs.once-a-day")
def test_a_clock_that_was_a_year_ahead_once_keeps_no_later_day_from_counting() -> None:
    start = datetime(2026, 1, 13, 12, tzinfo=UTC)
    ahead = every_ten_minutes(start + timedelta(days=365), 1)
    made = runs_made(
        NIGHTLY, UTC, [*every_ten_minutes(start, 24), *ahead, *every_ten_minutes(start + timedelta(days=1), 48)]
    )
    assert [(it.year, it.day) for it in made[1:]] == [(2026, 14), (2027, 13), (2026, 15), (2026, 16)]


def test_a_laptop_that_slept_at_night_catches_up_once_when_it_wakes() -> None:
    evening, morning = datetime(2026, 1, 14, 22, tzinfo=UTC), datetime(2026, 1, 15, 8, tzinfo=UTC)
    yesterday = run_at(datetime(2026, 1, 14, 2, 30, tzinfo=UTC))
    zone = ZoneInfo("UTC")
    assert not is_missed(NIGHTLY, yesterday, LONG_AGO, evening, zone)
    assert is_missed(NIGHTLY, yesterday, LONG_AGO, morning, zone)
    assert not is_missed(NIGHTLY, run_at(morning), LONG_AGO, morning + timedelta(minutes=1), zone)


def test_a_month_asleep_is_made_good_by_one_run() -> None:
    zone, woke = ZoneInfo("UTC"), datetime(2026, 2, 15, 8, tzinfo=UTC)
    assert is_missed(NIGHTLY, run_at(datetime(2026, 1, 14, 2, 30, tzinfo=UTC)), LONG_AGO, woke, zone)
    assert not is_missed(NIGHTLY, run_at(woke), LONG_AGO, woke + timedelta(hours=1), zone)


def test_a_fresh_home_has_missed_nothing() -> None:
    made, zone = datetime(2026, 1, 15, 12, tzinfo=UTC), ZoneInfo("UTC")
    assert not is_missed(NIGHTLY, None, made, made + timedelta(hours=1), zone)
    assert is_missed(NIGHTLY, None, made, made + timedelta(days=1), zone)


@pytest.mark.parametrize("status", list(RunStatus))
def test_a_run_counts_however_it_ended(status: RunStatus) -> None:
    ran = datetime(2026, 1, 15, 2, 31, tzinfo=UTC)
    assert not is_missed(NIGHTLY, run_at(ran, status), LONG_AGO, ran + timedelta(hours=9), ZoneInfo("UTC"))


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2050, 1, 1)),  # noqa: DTZ001 - the strategy adds the zone itself
    st.times(),
    st.sampled_from(["daily", "monday", "thursday", "sunday"]),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Australia/Lord_Howe"]),
)
def test_now_lies_between_the_last_time_and_the_next(moment: datetime, at: time, day: str, name: str) -> None:
    try:
        zone = ZoneInfo(name)
    except ZoneInfoNotFoundError:
        pytest.skip("the system has no time zone data")
    when = ClockJob(at=at, day=day)  # type: ignore[arg-type]
    now = moment.replace(tzinfo=UTC)
    before, after = last_due(when, now, zone), next_due(when, now, zone)
    assert before <= now < after
    longest = timedelta(days=1 if day == "daily" else 7)
    assert after - before <= longest + timedelta(days=1, hours=2)  # Apia left a whole day out in 2011


def test_only_jobs_that_are_on_and_have_a_time_are_scheduled() -> None:
    settings = Jobs(decay=ClockJob(enabled=False))
    assert set(clock_jobs(settings, ("decay", "export", "backoff_seconds"))) == {"export"}


@pytest.mark.spec("config.ceiling.back-off")
def test_a_failing_part_waits_a_minute_then_two_doubling_to_an_hour() -> None:
    settings = Jobs()
    waits = [wait_after(n, settings.backoff_seconds, settings.backoff_max_seconds) for n in range(1, 10)]
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert wait_after(5_000, settings.backoff_seconds, settings.backoff_max_seconds) == 3600


def test_failures_count_back_to_the_last_success() -> None:
    start = datetime(2026, 1, 15, 3, tzinfo=UTC)
    failed = [run_at(start + timedelta(hours=n), RunStatus.FAILED) for n in range(3)]
    runs = [failed[2], failed[1], run_at(start), failed[0]]
    assert retry_at(runs, 60, 3600) == start + timedelta(hours=2, seconds=1 + 120)
    assert retry_at([run_at(start), *failed], 60, 3600) is None
    assert retry_at([], 60, 3600) is None
