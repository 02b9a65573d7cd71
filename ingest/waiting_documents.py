"""Looking for documents: what waits in the inbox and has arrived whole."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from graph_memory.domain.ledger import IngestItem, IngestState
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction
from ingest.arrivals import Arrivals, Look
from ingest.inbox import Found, FoundKind, Inbox, document_of, sidecar_of
from ingest.work import FRESH, Work, WorkKind

ORPHAN_SIDECAR_SECONDS = 3_600.0
"""For how long a sidecar waits for its document."""
_UNSTABLE_SIDECAR_SECONDS = 30.0
_LOST_AFTER = timedelta(minutes=10)
_LOST_IN_PLACE_AFTER = timedelta(hours=6)
_MOST_LOST = 1_000


class WaitingDocuments:
    """Looks into the inbox; remembers how files looked the last time. For one thread."""

    def __init__(self, store: Store, inbox: Inbox, clock: Callable[[], datetime], arrivals: Arrivals) -> None:
        self._store, self._inbox, self._clock, self._arrivals = store, inbox, clock, arrivals
        self._left_alone: dict[Path, Look] = {}

    def find(self, principal: Principal) -> tuple[Sequence[Work], float | None]:
        """Return documents and sidecars that can be taken, and in how many seconds others may be.

        Raises:
            Unavailable: the store can't be asked now.
        """
        waits: list[float] = []
        lying = list(self._inbox.pending())
        there = {it.file for it in lying}
        self._left_alone = {file: look for file, look in self._left_alone.items() if file in there}
        pending = [it for it in lying if self._left_alone.get(it.file) != it.look]
        pending.sort(key=lambda it: (it.modified_ns, it.path))
        orphans = list(self._inbox.orphans())
        self._arrivals.look_around({it.file for it in pending})
        works = [self._work(it) for it in orphans if it.kind is not FoundKind.SIDECAR]
        works += self._arrived(pending, waits)
        works += self._late_sidecars(principal, pending, orphans, waits)
        self._drop_lost(principal, {it.path for it in pending})
        return works, min(waits, default=None)

    def leave_alone(self, found: Found) -> None:
        """Pass a file by until it changes: it can't be moved."""
        self._left_alone[found.file] = found.look

    def _arrived(self, pending: Sequence[Found], waits: list[float]) -> Iterator[Work]:
        sidecars = {it.file: it for it in pending if it.kind is FoundKind.SIDECAR}
        for found in pending:
            if found.kind is FoundKind.SIDECAR:
                continue
            left = self._arrivals.seconds_left(found.file, found.look)
            sidecar = sidecars.get(sidecar_of(found.file))
            if sidecar is not None and self._arrivals.age(found.file) < _UNSTABLE_SIDECAR_SECONDS:
                left = max(left, self._arrivals.seconds_left(sidecar.file, sidecar.look))
            if left > 0:
                waits.append(left)
            else:
                yield self._work(found)

    def _late_sidecars(
        self, principal: Principal, pending: Sequence[Found], orphans: Sequence[Found], waits: list[float]
    ) -> Iterator[Work]:
        """Yield sidecars whose document was learned, and those that waited for one too long."""
        there = {it.file for it in pending}
        ready = [it for it in orphans if it.kind is FoundKind.SIDECAR]
        for found in pending:
            if found.kind is FoundKind.SIDECAR and found.root / document_of(found.relative) not in there:
                left = self._arrivals.seconds_left(found.file, found.look)
                if left > 0:
                    waits.append(left)
                else:
                    ready.append(found)
        latest = self._latest(principal, {it.document_path for it in ready})
        for found in ready:
            item = latest.get(found.document_path)
            is_too_old = found.is_orphan or self._arrivals.age(found.file) >= ORPHAN_SIDECAR_SECONDS
            if is_too_old if item is None else item.state in (IngestState.COMPLETED, IngestState.FAILED):
                yield self._work(found)

    def _latest(self, principal: Principal, paths: set[str]) -> Mapping[str, IngestItem]:
        if not paths:
            return {}
        found = self._store.read(principal, lambda tx: tx.ledger.find_items_by_path(paths))
        return {path: items[0] for path, items in found.items()}

    def _work(self, found: Found) -> Work:
        kinds = {FoundKind.DOCUMENT: WorkKind.DOCUMENT, FoundKind.SIDECAR: WorkKind.SIDECAR}
        kind = kinds.get(found.kind, WorkKind.REFUSAL)
        is_backlog = found.look.changed_ns < (self._clock() - FRESH).timestamp() * 1e9
        return Work(kind, f"{kind}:{found.path}", found.file, found.look.size, is_backlog, found)

    def _drop_lost(self, principal: Principal, pending: set[str]) -> None:
        """Take from the ledger what waits there and nowhere else: files that somebody removed, and work cut off."""
        waiting = self._store.read(principal, _waiting)
        if not waiting:
            return
        there = pending | self._inbox.processing()
        now = self._clock()
        lost = [
            it.id
            for it in waiting
            if it.path not in there
            and now - it.updated_at > (_LOST_IN_PLACE_AFTER if it.path.startswith("/") else _LOST_AFTER)
        ]

        def work(tx: WriteTransaction) -> None:
            still = tx.ledger.find_items(lost)
            unmade = (IngestState.PENDING, IngestState.PROCESSING)
            tx.ledger.delete_items([it.id for it in still.values() if it.state in unmade])

        if lost:
            self._store.write(principal, work)


def _waiting(tx: ReadTransaction) -> Sequence[IngestItem]:
    states = (IngestState.PENDING, IngestState.PROCESSING)
    return [item for state in states for item in tx.ledger.page_items(state, _MOST_LOST)]
