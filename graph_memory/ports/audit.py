"""Where audited events end up."""

from collections.abc import Collection, Sequence
from typing import Protocol

from graph_memory.domain.ledger import AuditEvent


class AuditSink(Protocol):
    """An append-only log of events."""

    def append(self, events: Sequence[AuditEvent]) -> None:
        """Write events, one line each, and make them durable before returning.

        May be called again with events that were written: at least once, repeats visible by their ids.
        """

    def mask(self, ids: Collection[str]) -> int:
        """Make these ids unreadable wherever an event's data has them; return in how many events.

        Raises:
            Unavailable: the log can't be changed now.
        """
