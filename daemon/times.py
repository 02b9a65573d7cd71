"""When a job has to run: at its times (`graph_memory.domain.due_times`), after a miss and after a failure.

Pure: no clock, no thread. Instants are aware UTC; `zone` is as there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo

from graph_memory.config.settings import ClockJob, Jobs
from graph_memory.domain.due_times import last_due
from graph_memory.domain.ledger import JobRun, RunStatus

_DAY = timedelta(days=1)
_MOST_DOUBLINGS = 32


def clock_jobs(settings: Jobs, names: Sequence[str]) -> Mapping[str, ClockJob]:
    """Return the times of those of the named jobs that the settings leave on."""
    return {name: when for name in names if isinstance(when := getattr(settings, name), ClockJob) and when.enabled}


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
