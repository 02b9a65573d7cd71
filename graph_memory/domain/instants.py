"""Instants: aware UTC inside, ISO-8601 with `Z` on the wire."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from graph_memory.domain.errors import InvalidRequest

DAY = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class ParsedInstant:
    """What a caller's text meant, and a warning where it had to be guessed."""

    at: datetime
    warning: str | None = None


def parse_instant(value: str | date | datetime, *, argument: str) -> ParsedInstant:
    """Read an instant as people write them.

    A date alone is that day at 00:00Z; a naive instant is taken as UTC, with a warning.

    Raises:
        InvalidRequest: the text is not an instant; `argument` is named in the message.
    """
    if isinstance(value, datetime):
        parsed = value
    elif isinstance(value, date):
        return ParsedInstant(datetime(value.year, value.month, value.day, tzinfo=UTC))
    else:
        text = value.strip()
        try:
            if len(text) == len("2026-01-01"):
                return ParsedInstant(datetime.fromisoformat(text).replace(tzinfo=UTC))
            parsed = datetime.fromisoformat(text)
        except ValueError:
            msg = f"{argument}: {value!r:.80} is not an ISO-8601 date or date and time, like 2026-04-05T10:00:00Z"
            raise InvalidRequest(msg, argument=argument) from None
    if parsed.tzinfo is None:
        naive = f"{argument}: {value} has no time zone and was taken as UTC"
        return ParsedInstant(parsed.replace(tzinfo=UTC), naive)
    try:
        return ParsedInstant(parsed.astimezone(UTC))
    except OverflowError:
        msg = f"{argument}: {value!r:.80} is outside the calendar once in UTC"
        raise InvalidRequest(msg, argument=argument) from None


def to_wire(at: datetime) -> str:
    """Write an instant as ISO-8601 in UTC with `Z`, microseconds only where there are any."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def to_micros(at: datetime) -> int:
    """Count microseconds since 1970-01-01T00:00Z: how stores keep instants, exact and sortable."""
    return (at - EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Turn microseconds since 1970-01-01T00:00Z into an aware UTC instant."""
    return EPOCH + timedelta(microseconds=micros)


def days_between(earlier: datetime, later: datetime) -> float:
    """Count days from `earlier` to `later` in fractions; 0 when the clock went backwards."""
    return max(0.0, (later - earlier) / DAY)
