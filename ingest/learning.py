"""One document from its bytes to the store: claimed by whoever calls, learned in one write, told to the ledger.

Every step may be repeated: what is known adds nothing, and the ledger says `completed` in the transaction that stores
what the document became, never before.
"""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Event

from graph_memory.config.settings import Ingest
from graph_memory.domain.audit import audit_event
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.entities import JsonValue
from graph_memory.domain.errors import Conflict, IngestError
from graph_memory.domain.ledger import IngestItem, IngestState
from graph_memory.domain.principal import Principal
from graph_memory.domain.tombstones import Grave, grave_key, stub_of
from graph_memory.ports.store import Store, WriteTransaction
from graph_memory.services.write import add_memories, add_sequence
from ingest.arrivals import Look
from ingest.document_memories import FORGOTTEN, Stored, store_document
from ingest.documents import Bounds, read_document
from ingest.exclusions import Exclusions, Reason
from ingest.identity import content_key, item_id
from ingest.late_sidecars import apply_sidecar, is_current
from ingest.name_index import NameIndex
from ingest.policies import Policies
from ingest.prepared import Prepared, prepare
from ingest.sidecars import Sidecar, joined

PROBLEMS = "sidecar_problems"
"""Key of a document's metadata: what of its sidecar could not be used."""
CHUNKS_AT_ONCE = 200
"""Chunks that are stored in one transaction; of a document with more, the rest is stored before it, in slices."""

_EXCLUDED = {
    Reason.PROJECT: "exclude.projects has the project that it says it is of",
    Reason.SESSION: "exclude.sessions has the session that it says it is of",
    Reason.FORGOTTEN: "the session that it says it is of was forgotten for good",
}


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document's bytes, under which path it is known, and what its file looked like when they were read."""

    path: str
    data: bytes
    look: Look
    sidecar: Sidecar = field(default_factory=Sidecar)

    @property
    def key(self) -> str:
        """What identifies its content."""
        return content_key(self.data)

    @property
    def id(self) -> str:
        """What the ledger calls it."""
        return item_id(self.key, self.path)


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that can't be learned, and why; of one that can't be read `key` is over what is known of it."""

    key: str
    path: str
    size: int
    reason: str
    sidecar: Sidecar = field(default_factory=Sidecar)


@dataclass(frozen=True, slots=True)
class Learned:
    """What became of a document; `is_known`: its content was there already. `warnings` are for a person.

    `is_excluded`: it says that it is of a project or session that the person excluded, so nothing of it was stored.
    `is_forgotten`: of a session that was forgotten for good, so that no copy of it may stay either.
    """

    item: IngestItem
    is_known: bool = False
    is_excluded: bool = False
    is_forgotten: bool = False
    warnings: tuple[str, ...] = ()


def read_raw(file: Path, path: str, sidecar: Sidecar, *, limit: int) -> RawDocument:
    """Read a document's bytes.

    Raises:
        IngestError: it is no regular file, too large, or can't be read; the text is the reason.
        FileNotFoundError: it is gone.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise IngestError(f"the file can't be read: {error.strerror}") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise IngestError("this is no regular file")
    with os.fdopen(descriptor, "rb") as stream:
        if status.st_size > limit:
            raise IngestError(
                f"the file has {status.st_size} bytes; documents of up to {limit} are read (ingest.max_file_bytes)"
            )
        try:
            data = stream.read(limit + 1)
        except OSError as error:
            raise IngestError(f"the file can't be read: {error.strerror}") from error
    return RawDocument(path, data, Look.at(status), sidecar)


class DocumentLearner:
    """Learns documents, one write each."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        policies: Policies,
        index: NameIndex,
        settings: Ingest,
        exclusions: Callable[[], Exclusions],
    ) -> None:
        self._store, self._clock, self._policies, self._settings = store, clock, policies, settings
        self._given_up = Event()
        self._bounds = Bounds(
            settings.convert_seconds, settings.convert_mb, settings.max_file_bytes, is_cancelled=self._given_up.is_set
        )
        self._index, self._exclusions = index, exclusions

    def give_up(self) -> None:
        """Have a reader that is at work in a process of its own ended; its document waits. Any thread may call this."""
        self._given_up.set()

    def learn(self, principal: Principal, raw: RawDocument) -> Learned:
        """Learn a document and note it as completed.

        Raises:
            IngestError: it can't be learned; the text is the reason, and nothing is noted.
            Unavailable: the store can't take it now; nothing was stored.
        """
        self._index.refresh()
        now = self._clock()
        if self._is_forgotten(principal, raw.sidecar.session_id):
            return self._pass_by(principal, _waiting(raw, now), Reason.FORGOTTEN)
        item = self._store.write(principal, lambda tx: self._begin(tx, raw, now))
        if item.state is IngestState.COMPLETED:
            return Learned(item, is_known=True, warnings=raw.sidecar.problems)
        prepared, warnings = self._prepared(raw, item)
        reason = self._exclusions().of_document(prepared.project_id, prepared.session_id)
        if reason is not None:
            return self._pass_by(principal, item, reason)
        staged = self._stage(principal, prepared)
        stored, done = self._store_whole(principal, prepared, item, staged)
        return Learned(done, stored.is_known, warnings=(*raw.sidecar.problems, *warnings))

    def fail(self, principal: Principal, failure: Failure) -> IngestItem:
        """Note that a document can't be learned; cloud sessions' cursors go back behind it."""
        now = self._clock()

        def work(tx: WriteTransaction) -> IngestItem:
            item = _item(tx, failure.key, failure.path, failure.size, failure.sidecar, now)
            item = replace(item, state=IngestState.FAILED, reason=failure.reason, memory_ids=(), updated_at=now)
            same = tx.ledger.find_items_by_content({failure.key}).get(failure.key, ())
            waiting = [it for it in same if it.id != item.id and _waits_for_memory(it)]
            failed = [replace(it, state=IngestState.FAILED, reason=failure.reason) for it in waiting]
            tx.ledger.put_items([item, *failed])
            tx.upkeep.add_audit([audit_event("ingest_failed", now, {"item_id": item.id, "bytes": item.size})])
            return item

        return self._store.write(principal, work)

    def apply_late(self, principal: Principal, path: str, sidecar: Sidecar) -> IngestItem | None:
        """Apply a sidecar that came after its document; `None` where no document of that path is known."""
        now = self._clock()

        def work(tx: WriteTransaction) -> IngestItem | None:
            items = tx.ledger.find_items_by_path({path}).get(path, ())
            if not items:
                return None
            latest = items[0]
            if latest.state is IngestState.COMPLETED and is_current(tx, latest):
                return apply_sidecar(tx, latest, sidecar, now, self._policies, self._index)
            changed = replace(latest, meta=joined(latest.meta, _meta(sidecar)), updated_at=now)
            tx.ledger.put_items([changed])
            return changed

        return self._store.write(principal, work)

    def _begin(self, tx: WriteTransaction, raw: RawDocument, now: datetime) -> IngestItem:
        """Note that a document is being learned; one that is there already stays completed, with what is new of it."""
        if raw.key in tx.ledger.tombstones({raw.key}):
            raise IngestError(FORGOTTEN)
        before = tx.ledger.find_items({raw.id}).get(raw.id)
        if before is not None and before.state is IngestState.COMPLETED and is_current(tx, before):
            return apply_sidecar(tx, before, raw.sidecar, now, self._policies, self._index)
        item = _item(tx, raw.key, raw.path, len(raw.data), raw.sidecar, now)
        item = replace(item, state=IngestState.PROCESSING, reason=None, updated_at=now)
        tx.ledger.put_items([item])
        tx.upkeep.add_audit([audit_event("ingest_start", now, {"item_id": item.id, "bytes": item.size})])
        return item

    def _prepared(self, raw: RawDocument, item: IngestItem) -> tuple[Prepared, tuple[str, ...]]:
        document = read_document(raw.data, raw.path, self._bounds)
        sidecar = Sidecar(item.meta)
        sizes = self._settings
        prepared = prepare(
            raw.key, raw.path, document, sidecar, self._index, whole=sizes.whole_chars, chunk=sizes.chunk_chars
        )
        return prepared, document.warnings

    def _pass_by(self, principal: Principal, item: IngestItem, reason: Reason) -> Learned:
        """Note that a document is dealt with and not learned: not failed, else whoever sent it would send it again."""
        now = self._clock()
        done = replace(item, state=IngestState.COMPLETED, reason=reason.value, memory_ids=(), updated_at=now)
        kept = done if reason is not Reason.FORGOTTEN else stub_of(done)

        def work(tx: WriteTransaction) -> None:
            if kept is None:
                tx.ledger.delete_items({done.id})
            else:
                tx.ledger.put_items([kept])
            tx.upkeep.add_audit([audit_event("ingest_end", now, {"item_id": done.id, "excluded": reason.value})])

        self._store.write(principal, work)
        is_forgotten = reason is Reason.FORGOTTEN
        warnings = (f"not learned: {_EXCLUDED[reason]}",)
        return Learned(done, is_excluded=True, is_forgotten=is_forgotten, warnings=warnings)

    def _is_forgotten(self, principal: Principal, session_id: str | None) -> bool:
        """Tell whether a document is of a session that was forgotten: more of it is sent without anybody's asking."""
        if session_id is None:
            return False
        grave = grave_key(Grave.SESSION, session_id)
        return bool(self._store.read(principal, lambda tx: tx.ledger.tombstones({grave})))

    def _stage(self, principal: Principal, prepared: Prepared) -> tuple[int, ...]:
        """Store the chunks of a very long document ahead, in slices that let others write in between."""
        count = len(prepared.chunks)
        if count <= CHUNKS_AT_ONCE:
            return ()
        ids: list[int] = []
        for start in range(1, count + 1, CHUNKS_AT_ONCE):
            drafts = [
                replace(prepared.draft(number), is_auto_linked=False)
                for number in range(start, min(start + CHUNKS_AT_ONCE, count + 1))
            ]
            work = partial(self._stage_slice, key=prepared.key, drafts=drafts, before=ids[-1:])
            ids += self._store.write(principal, work)
        return tuple(ids)

    def _stage_slice(
        self, tx: WriteTransaction, key: str, drafts: Sequence[MemoryDraft], before: Sequence[int]
    ) -> list[int]:
        now = self._clock()
        if key in tx.ledger.tombstones({key}):
            raise IngestError(FORGOTTEN)
        added = add_memories(tx, drafts, now, self._policies.memory, links_within=False)
        ids = [it.id for it in added]
        add_sequence(tx, [*before, *ids], now)
        return ids

    def _store_whole(
        self, principal: Principal, prepared: Prepared, item: IngestItem, staged: tuple[int, ...]
    ) -> tuple[Stored, IngestItem]:
        now = self._clock()

        def work(tx: WriteTransaction) -> tuple[Stored, IngestItem]:
            stored = store_document(tx, prepared, now, self._policies, self._index, staged=staged)
            done = replace(
                item,
                state=IngestState.COMPLETED,
                updated_at=now,
                reason=None,
                memory_ids=stored.memory_ids,
                entity_count=stored.entity_count,
                relation_count=stored.relation_count,
            )
            same = tx.ledger.find_items_by_content({item.content_key}).get(item.content_key, ())
            waiting = [it for it in same if it.id != item.id and _waits_for_memory(it)]
            tx.ledger.put_items([done, *(replace(it, memory_ids=stored.memory_ids) for it in waiting)])
            tx.upkeep.add_audit([audit_event("ingest_end", now, _figures(done, stored))])
            return stored, done

        try:
            return self._store.write(principal, work)
        except Conflict:
            # Another process stored the same at the same time, on a store that lets both go ahead; now it is known.
            return self._store.write(principal, work)


def _waiting(raw: RawDocument, now: datetime) -> IngestItem:
    """Return what the ledger would have of a document that nobody told it of."""
    return IngestItem(raw.id, raw.key, raw.path, IngestState.PENDING, len(raw.data), now, now, _meta(raw.sidecar))


def _item(tx: WriteTransaction, key: str, path: str, size: int, sidecar: Sidecar, now: datetime) -> IngestItem:
    """Return what the ledger has of a document, with its sidecar; what waits keeps its place in the queue."""
    id_ = item_id(key, path)
    known = tx.ledger.find_items({id_}).get(id_)
    meta = joined({} if known is None else known.meta, _meta(sidecar))
    if known is None:
        return IngestItem(id_, key, path, IngestState.PENDING, size, now, now, meta)
    is_waiting = known.state in (IngestState.PENDING, IngestState.PROCESSING)
    return replace(known, meta=meta, queued_at=known.queued_at if is_waiting else now)


def _meta(sidecar: Sidecar) -> Mapping[str, JsonValue]:
    return {**sidecar.values, PROBLEMS: list(sidecar.problems)} if sidecar.problems else sidecar.values


def _waits_for_memory(item: IngestItem) -> bool:
    """Tell whether a document was answered as known while the first of its content was still waiting."""
    return item.state is IngestState.COMPLETED and not item.memory_ids and item.reason is None


def _figures(item: IngestItem, stored: Stored) -> Mapping[str, JsonValue]:
    return {
        "item_id": item.id,
        "memories": len(stored.memory_ids),
        "entities": stored.entity_count,
        "relations": stored.relation_count,
        "is_known": stored.is_known,
    }
