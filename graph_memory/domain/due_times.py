"""When something is due by the clock: at a local time, once a day, a week or an hour, whatever the clocks do.

Instants are aware UTC. A `zone` of `None` is the system's own, with its rules for past and future days; a fixed offset
would be wrong on the other side of a change of the clocks.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Protocol

CLOCK_JOBS = ("export", "decay", "expire", "memory_decay", "merge_suggestions", "validate", "communities", "archive")
"""The jobs that are done by the clock, by the names that settings and runs know them by."""
HOURLY = "hourly"

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_LONGEST_LOOK = 9
"""Days to look at for a weekly time that is still to come today."""


class DayTime(Protocol):
    """A time of every day (`daily`), of one day of the week by its English name in lower case, or a minute `hourly`."""

    @property
    def at(self) -> time:
        """The local time; seconds don't count, and nor does the hour where it is `hourly`."""

    @property
    def day(self) -> str:
        """`daily`, `hourly`, or the day of the week."""


def last_due(when: DayTime, now: datetime, zone: tzinfo | None = None) -> datetime:
    """Return the latest instant, not after `now`, at which something was due."""
    if when.day == HOURLY:
        in_this_hour = _in_the_hour(when, now, zone)
        return in_this_hour if in_this_hour <= now else in_this_hour - _HOUR
    return next(due for due in _around(when, now, -_DAY, zone) if due <= now)


def next_due(when: DayTime, now: datetime, zone: tzinfo | None = None) -> datetime:
    """Return the first instant after `now` at which something is due."""
    if when.day == HOURLY:
        in_this_hour = _in_the_hour(when, now, zone)
        return in_this_hour if in_this_hour > now else in_this_hour + _HOUR
    return next(due for due in _around(when, now, _DAY, zone) if due > now)


def _in_the_hour(when: DayTime, now: datetime, zone: tzinfo | None) -> datetime:
    """Return when in the hour that it is on the wall something is due: some zones are half an hour off the others."""
    return now.astimezone(zone).replace(minute=when.at.minute, second=0, microsecond=0).astimezone(UTC)


def _around(when: DayTime, now: datetime, step: timedelta, zone: tzinfo | None) -> Iterator[datetime]:
    """Yield when something is due today, and on the days that follow in steps of `step`."""
    today = now.astimezone(zone).date()
    for days in range(_LONGEST_LOOK):
        due = _due_on(when, today + days * step, zone)
        if due is not None:
            yield due


def _due_on(when: DayTime, day: date, zone: tzinfo | None) -> datetime | None:
    """Return the instant at which something is due on a local day, if it is.

    A time that the clocks skip falls as far behind the change as it would have; one that comes twice counts the first
    time.
    """
    if when.day != "daily" and day.weekday() != _WEEKDAYS.index(when.day):
        return None
    return datetime.combine(day, when.at.replace(second=0, microsecond=0), tzinfo=zone).astimezone(UTC)
