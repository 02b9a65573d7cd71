"""Stretches of time, written as ISO-8601 intervals: `2026-01-02T10:00:00Z/2026-01-02T12:00:00Z`."""

from dataclasses import dataclass
from datetime import datetime

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import parse_instant, to_wire


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From an instant to a later one; the first belongs to it, the last does not."""

    since: datetime
    until: datetime

    def has(self, at: datetime) -> bool:
        """Tell whether an instant is in it."""
        return self.since <= at < self.until

    def __str__(self) -> str:
        """Return it as an interval."""
        return f"{to_wire(self.since)}/{to_wire(self.until)}"


def parse_span(text: str, *, argument: str) -> TimeSpan:
    """Read an interval of two instants.

    Raises:
        InvalidRequest: it is none, or ends before it begins; `argument` is named in the message.
    """
    since, mark, until = text.partition("/")
    if not mark:
        msg = f"{argument}: {text!r:.80} is no interval like 2026-01-02T10:00:00Z/2026-01-02T12:00:00Z"
        raise InvalidRequest(msg, argument=argument)
    span = TimeSpan(parse_instant(since, argument=argument).at, parse_instant(until, argument=argument).at)
    if span.until <= span.since:
        raise InvalidRequest(f"{argument}: {text!r:.80} ends before it begins", argument=argument)
    return span
