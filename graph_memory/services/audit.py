"""The audit: events noted by clients, and the outbox emptied into the log."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from graph_memory.domain.audit import EVENTS, audit_event
from graph_memory.domain.entities import JsonValue
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.json_values import cleaned_json
from graph_memory.domain.ledger import AuditEvent
from graph_memory.domain.principal import Principal
from graph_memory.ports.audit import AuditSink
from graph_memory.ports.store import Store

BATCH = 500


class Audit:
    """Writes events into the store's outbox, and from there into the log."""

    def __init__(self, store: Store, clock: Callable[[], datetime], sink: AuditSink) -> None:
        self._store, self._clock, self._sink = store, clock, sink

    def log(self, principal: Principal, event: str, data: Mapping[str, JsonValue]) -> AuditEvent:
        """Note an event, durably and without secrets; it reaches the log at once where that can be written.

        Raises:
            InvalidRequest: nobody knows such an event (the text lists those there are), or `data` can't be kept.
        """
        if event not in EVENTS:
            msg = f"event: {event!r} is not one of {', '.join(sorted(EVENTS))}"
            raise InvalidRequest(msg, argument="event")
        noted = audit_event(event, self._clock(), cleaned_json(data, argument="data"))
        self._store.write(principal, lambda tx: tx.upkeep.add_audit([noted]))
        self.drain(principal)
        return noted

    def mask(self, ids: Collection[str]) -> int:
        """Make ids that are made of forgotten names unreadable in the log; return in how many events.

        Raises:
            Unavailable: the log can't be changed now.
        """
        return self._sink.mask(ids)

    def drain(self, principal: Principal) -> int:
        """Move what waits in the outbox to the log, oldest first; return how many events that were.

        At least once: a crash between the two writes some again, with the same ids.
        """
        moved = 0
        while events := self._store.read(principal, lambda tx: tx.upkeep.page_audit(BATCH)):
            self._sink.append(events)
            ids = [it.id for it in events]
            self._store.write(principal, lambda tx, done=ids: tx.upkeep.delete_audit(done))  # type: ignore[misc]
            moved += len(events)
        return moved
