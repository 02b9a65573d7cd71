"""Archiving memories that have had their time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from graph_memory.domain.audit import audit_event
from graph_memory.domain.expiry import archived, has_expired, unchanged_since
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import Store, WriteTransaction
from graph_memory.services.pacing import Pace

SLICE = 250
"""Memories a transaction archives: their whole rows are written, so it holds the lock about as long as decay does."""
PAGE = 5_000


@dataclass(frozen=True, slots=True)
class Expired:
    """How many memories were archived, and how many of them only because they were ephemeral."""

    archived: int = 0
    ephemeral: int = 0

    def plus(self, other: "Expired") -> "Expired":
        """Add another slice's counts."""
        return Expired(self.archived + other.archived, self.ephemeral + other.ephemeral)


class Expire:
    """Archives what has expired; `pause` is called with seconds between two transactions."""

    def __init__(
        self, store: Store, clock: Callable[[], datetime], policy: MemoryPolicy, pause: Callable[[float], None]
    ) -> None:
        self._store, self._clock, self._policy, self._pause = store, clock, policy, pause

    def expire(self, principal: Principal) -> Expired:
        """Archive every active memory whose time has passed, in slices that clients can come between.

        Each is audited in the transaction that archives it. What it links stays, and is not walked while it is
        archived. A run at once changes nothing; after a crash the next one does the rest.
        """
        now = self._clock()
        since = unchanged_since(now, self._policy)
        report = Expired()
        pace = Pace(self._pause)
        after = 0
        # Whoever looks for them holds no lock: few of many memories expire in a night.
        while ids := self._due(principal, now, since, after):
            after = ids[-1]
            for first in range(0, len(ids), SLICE):
                part = ids[first : first + SLICE]
                report = report.plus(self._archive(principal, part, now, since, pace))
                pace.rest()
        return report

    def _due(self, principal: Principal, now: datetime, since: datetime, after: int) -> Sequence[int]:
        return self._store.read(principal, lambda tx: tx.memories.page_expired(now, since, after, PAGE))

    def _archive(self, principal: Principal, ids: Sequence[int], now: datetime, since: datetime, pace: Pace) -> Expired:
        return pace.write(self._store, principal, lambda tx: _archive(tx, ids, now, since))


def _archive(tx: WriteTransaction, ids: Sequence[int], now: datetime, since: datetime) -> Expired:
    """Archive those that are still due: somebody may have given one more time since they were looked for."""
    found = tx.memories.find(ids)
    due = [found[it] for it in ids if it in found and has_expired(found[it], now, since)]
    if due:
        tx.memories.put([archived(it, now) for it in due])
        tx.upkeep.add_audit([audit_event("memory_archived", now, {"memory_id": it.id}) for it in due])
    return Expired(len(due), sum(it.expires_at is None for it in due))
