"""When a job has to run: at its times (`graph_memory.domain.due_times`), after a miss and after a failure.

Pure: no clock, no thread. Instants are aware UTC; `zone` is as there.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo

from graph_memory.config.settings import ClockJob, Jobs
from graph_memory.domain.due_times import HOURLY, last_due
from graph_memory.domain.ledger import JobRun
from graph_memory.domain.retries import wait_after

__all__ = ("believable", "clock_jobs", "day_due", "is_missed", "wait_after")

_DAY = timedelta(days=1)


def clock_jobs(settings: Jobs, names: Sequence[str]) -> Mapping[str, ClockJob]:
    """Return the times of those of the named jobs that the settings leave on."""
    return {name: when for name in names if isinstance(when := getattr(settings, name), ClockJob) and when.enabled}


def believable(runs: Sequence[JobRun], now: datetime) -> Sequence[JobRun]:
    """Return those of `runs` that a clock can have recorded, in their order.

    A run from more than a day ahead was noted by a clock that was wrong; counted, it would keep the job from running
    until then.
    """
    return [it for it in runs if it.started_at <= now + _DAY]


def is_missed(when: ClockJob, last: JobRun | None, since: datetime, now: datetime, zone: tzinfo | None = None) -> bool:
    """Tell whether a run was due and has not been made.

    `last` is the latest run, however it ended; `since` is when there was first something to maintain: a fresh home has
    missed nothing. A clock that is set back does not make a day count twice, nor does a journey to where the same day
    is not as far yet: a run that was made for a day counts for it in every zone.
    """
    due = last_due(when, now, zone)
    if due <= (since if last is None else last.started_at):
        return False
    if last is None or last.made_for is None or when.day == HOURLY:
        return True
    ahead = last.made_for - due.astimezone(zone).date()
    return not timedelta(0) <= ahead <= _DAY


def day_due(when: ClockJob, now: datetime, zone: tzinfo | None = None) -> date:
    """Return the local day for which a run made now is made."""
    return last_due(when, now, zone).astimezone(zone).date()
