"""When a job is due: local times of day, once a local day, whatever the clock does. Pure: no clock, no thread.

Instants are aware UTC. A `zone` of `None` is the system's own, with its rules for past and future days; a fixed offset
would be wrong on the other side of a change of the clocks.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo

from graph_memory.config.settings import ClockJob, Jobs
from graph_memory.domain.ledger import JobRun, RunStatus

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = timedelta(days=1)
_LONGEST_LOOK = 9
"""Days to look at for a weekly job whose time today is still to come."""
_MOST_DOUBLINGS = 32


def clock_jobs(settings: Jobs, names: Sequence[str]) -> Mapping[str, ClockJob]:
    """Return the times of those of the named jobs that the settings leave on."""
    return {name: when for name in names if isinstance(when := getattr(settings, name), ClockJob) and when.enabled}


def last_due(when: ClockJob, now: datetime, zone: tzinfo | None = None) -> datetime:
    """Return the latest instant, not after `now`, at which a job was due."""
    return next(due for due in _around(when, now, -_DAY, zone) if due <= now)


def next_due(when: ClockJob, now: datetime, zone: tzinfo | None = None) -> datetime:
    """Return the first instant after `now` at which a job is due."""
    return next(due for due in _around(when, now, _DAY, zone) if due > now)


def _around(when: ClockJob, now: datetime, step: timedelta, zone: tzinfo | None) -> Iterator[datetime]:
    """Yield when a job is due today, and on the days that follow in steps of `step`."""
    today = now.astimezone(zone).date()
    for days in range(_LONGEST_LOOK):
        due = _due_on(when, today + days * step, zone)
        if due is not None:
            yield due


def _due_on(when: ClockJob, day: date, zone: tzinfo | None) -> datetime | None:
    """Return the instant at which a job is due on a local day, if it is.

    A time that the clocks skip falls as far behind the change as it would have; one that comes twice counts the first
    time.
    """
    if when.day != "daily" and day.weekday() != _WEEKDAYS.index(when.day):
        return None
    return datetime.combine(day, when.at.replace(second=0, microsecond=0), tzinfo=zone).astimezone(UTC)


def latest(runs: Sequence[JobRun], now: datetime) -> JobRun | None:
    """Return the newest of `runs` (newest first) that a clock can have recorded.

    A run from more than a day ahead was noted by a clock that was wrong; counted, it would keep the job from running
    until then.
    """
    return next((it for it in runs if it.started_at <= now + _DAY), None)


def is_missed(when: ClockJob, last: JobRun | None, since: datetime, now: datetime, zone: tzinfo | None = None) -> bool:
    """Tell whether a run was due and has not been made.

    `last` is the latest run, however it ended; `since` is when there was first something to maintain: a fresh home has
    missed nothing. A clock that is set back does not make a day count twice.
    """
    return last_due(when, now, zone) > (since if last is None else last.started_at)


def retry_at(runs: Sequence[JobRun], settings: Jobs) -> datetime | None:
    """Return when a job that failed is tried again; `runs` are newest first; `None` where the newest did not fail."""
    failures = 0
    for run in runs:
        if run.status is not RunStatus.FAILED:
            break
        failures += 1
    if not failures:
        return None
    ended_at = runs[0].ended_at or runs[0].started_at
    return ended_at + timedelta(seconds=wait_after(failures, settings.backoff_seconds, settings.backoff_max_seconds))


def wait_after(failures: int, first: float, longest: float) -> float:
    """Return how many seconds to wait after so many failures in a row: `first`, doubled by each further one."""
    return min(first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), longest)
