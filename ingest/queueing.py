"""The queue as clients see it: put a document in, see what became of all, send a failed one again."""

import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath

import orjson

from graph_memory.config.settings import Ingest
from graph_memory.domain.audit import audit_event
from graph_memory.domain.entities import JsonValue
from graph_memory.domain.errors import InvalidRequest, NotFound, Unavailable
from graph_memory.domain.ledger import ORIGIN, IngestItem, IngestState, SessionCursor
from graph_memory.domain.names import short_hash
from graph_memory.domain.principal import Principal
from graph_memory.domain.tombstones import Grave, grave_key, session_of
from graph_memory.home import Home, write_new
from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction
from ingest.allowed_paths import allowed_paths
from ingest.documents import READABLE
from ingest.identity import content_key, document_path, item_id
from ingest.inbox import FoundKind, Inbox
from ingest.sidecars import SUFFIX, Sidecar, is_sidecar, sidecar_of

INLINE_EXTENSIONS = (".md", ".txt", ".json")
LISTED = 50
"""Documents of one state that `status` lists."""
_LONGEST_NAME = 200
_WAITING = frozenset({IngestState.PENDING, IngestState.PROCESSING})


@dataclass(frozen=True, slots=True)
class Queued:
    """What a queue call came to.

    `is_known`: the same bytes are known already as the document `item_id`, and nothing was queued. `file` is relative
    to `pending/`.
    """

    item_id: str
    file: str
    destination: Path | None = None
    is_meta_written: bool = False
    is_known: bool = False
    state: IngestState = IngestState.PENDING
    memory_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A document in `pending/`, whoever put it there."""

    file: str
    queued_at: datetime
    size: int


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """All four states: the counts are of all, the lists are bounded (the next to come, else the newest first)."""

    pending: Sequence[Waiting]
    processing: Sequence[IngestItem]
    completed: Sequence[IngestItem]
    failed: Sequence[IngestItem]
    counts: Mapping[IngestState, int]
    session_cursors: Mapping[str, SessionCursor] = field(default_factory=dict)


class IngestQueue:
    """Queues documents into a home and tells what became of them."""

    def __init__(self, store: Store, home: Home, settings: Ingest, clock: Callable[[], datetime]) -> None:
        self._store, self._home, self._settings, self._clock = store, home, settings, clock

    def queue_file(self, principal: Principal, file: str, meta: Mapping[str, JsonValue] | None = None) -> Queued:
        """Copy a file of this machine into `pending/`; the original stays as it is.

        Raises:
            InvalidRequest: the caller isn't admin, the file lies where no client may name one, is of a kind that can't
                be read or too large, or `meta` can't be used.
            NotFound: there is no such file.
        """
        _check_admin(principal)
        sidecar = None if meta is None else sidecar_of(meta)
        path = allowed_paths(self._home, self._settings).resolve(file, argument="file_path")
        if path.suffix.lower() not in READABLE:
            kinds = ", ".join(sorted(READABLE))
            raise InvalidRequest(
                f"file_path: files of kind {path.suffix or path.name!r} can't be read; {kinds} can",
                argument="file_path",
            )
        data = _read(path, self._settings.max_file_bytes)
        return self._queue(principal, data, _base_name(path.name), sidecar, origin=document_path(path))

    def queue_content(
        self, principal: Principal, content: str, file_name: str, meta: Mapping[str, JsonValue] | None = None
    ) -> Queued:
        """Write a text into `pending/` under a name.

        Raises:
            InvalidRequest: the caller isn't admin, the text is too large, the name is no plain `.md`, `.txt` or
                `.json` one, or `meta` can't be used.
        """
        _check_admin(principal)
        sidecar = None if meta is None else sidecar_of(meta)
        name = _inline_name(file_name)
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise InvalidRequest("content: holds half a character; send valid Unicode", argument="content") from None
        limit = self._settings.max_inline_bytes
        if len(data) > limit:
            raise InvalidRequest(
                f"content: has {len(data)} bytes; at most {limit} are taken inline, larger ones by file_path",
                argument="content",
            )
        return self._queue(principal, data, name, sidecar, origin=None)

    def retry(self, principal: Principal, item_ids: Iterable[str] | None = None) -> Sequence[IngestItem]:
        """Queue failed documents again, all of them without `item_ids`; return those that are pending now.

        Raises:
            InvalidRequest: the caller isn't admin.
            NotFound: a document of these did not fail, or its file is gone.
        """
        _check_admin(principal)
        if item_ids is None:
            found = self._store.read(principal, _all_failed)
            return [it for it in found if self._requeue(principal, it)]
        wanted = list(item_ids)
        known = self._store.read(principal, lambda tx: tx.ledger.find_items(wanted))
        for id_ in wanted:
            if id_ not in known or known[id_].state is not IngestState.FAILED:
                raise NotFound(f"no failed document has the id {id_}; graph_ingest with action status lists them")
            if not self._requeue(principal, known[id_]):
                raise NotFound(f"the file of {known[id_].path} is gone from failed/; queue it anew")
        return [replace(known[id_], state=IngestState.PENDING, reason=None) for id_ in wanted]

    def status(self, principal: Principal, limit: int = LISTED) -> QueueStatus:
        """Tell what waits, what is being learned, what was and what failed, and how far cloud sessions are queued."""

        def work(tx: ReadTransaction) -> QueueStatus:
            return QueueStatus(
                pending=(),
                processing=tx.ledger.page_items(IngestState.PROCESSING, limit),
                completed=tx.ledger.page_items(IngestState.COMPLETED, limit),
                failed=tx.ledger.page_items(IngestState.FAILED, limit),
                counts=tx.ledger.count_items(),
                session_cursors=tx.ledger.session_cursors(),
            )

        status = self._store.read(principal, work)
        if not principal.is_admin:
            return status
        waiting = self._waiting(principal)
        counts = {**status.counts, IngestState.PENDING: len(waiting)}
        return replace(status, pending=waiting[:limit], counts=counts)

    def _waiting(self, principal: Principal) -> Sequence[Waiting]:
        """List what lies in `pending/`: the folder is the truth, the ledger knows when it was queued."""
        found = [it for it in Inbox(self._home).pending() if it.kind is not FoundKind.SIDECAR]
        paths = {it.path for it in found}
        known = self._store.read(principal, lambda tx: tx.ledger.find_items_by_path(paths)) if paths else {}
        waiting = []
        for one in found:
            queued = next((it.queued_at for it in known.get(one.path, ()) if it.state in _WAITING), None)
            at = queued or datetime.fromtimestamp(one.modified_ns / 1e9, UTC)
            waiting.append(Waiting(one.path, at, one.look.size))
        return sorted(waiting, key=lambda it: (it.queued_at, it.file))

    def _queue(
        self, principal: Principal, data: bytes, name: str, sidecar: Sidecar | None, *, origin: str | None
    ) -> Queued:
        key = content_key(data)
        now = self._clock()
        meta = dict(sidecar.values) if sidecar is not None else {}
        if origin is not None:
            meta[ORIGIN] = origin

        def reserve(tx: WriteTransaction) -> Queued | IngestItem:
            known = _note_known(tx, key, name, meta, now)
            if known is not None:
                return known
            path = _free_path(tx, self._home, name, key, origin)
            item = IngestItem(item_id(key, path), key, path, IngestState.PENDING, len(data), now, now, meta)
            tx.ledger.put_items([item])
            tx.upkeep.add_audit([audit_event("ingest_queued", now, {"item_id": item.id, "bytes": item.size})])
            return item

        item = self._store.write(principal, reserve)
        if isinstance(item, Queued):
            return item
        target = self._home.pending / item.path
        try:
            if sidecar is not None:
                # Before the document, which nobody must see without it.
                write_new(target.with_name(target.name + SUFFIX), orjson.dumps(dict(sidecar.values)))
            write_new(target, data)
        except OSError as error:
            self._store.write(principal, lambda tx: tx.ledger.delete_items([item.id]))
            raise Unavailable(f"the document can't be written into pending/: {error.strerror}") from error
        return Queued(item.id, item.path, target, is_meta_written=sidecar is not None)

    def _requeue(self, principal: Principal, item: IngestItem) -> bool:
        """Move a failed document back to `pending/`; `False` where its file is gone, or never was in the inbox."""
        inbox = Inbox(self._home)
        if PurePath(item.path).is_absolute():
            return False
        relative, now = Path(item.path), self._clock()
        for file in inbox.place(self._home.failed, relative, item.content_key):
            if file.is_file() and not file.is_symlink() and content_key(file.read_bytes()) == item.content_key:
                if not inbox.restore(file, relative):
                    return False
                self._store.write(principal, lambda tx: _note_requeued(tx, item.id, now))
                return True
        return False


def _note_known(
    tx: WriteTransaction, key: str, name: str, meta: Mapping[str, JsonValue], now: datetime
) -> Queued | None:
    """Answer for bytes that are known: the first document of them, whose metadata a cloud session's cursor may need.

    Documents that failed are not known; they may be sent again.

    Raises:
        InvalidRequest: the bytes, or the session that they are of, were forgotten for good.
    """
    session = session_of(meta)
    if session is not None and tx.ledger.tombstones({grave_key(Grave.SESSION, session)}):
        raise InvalidRequest("meta.session_id: that session was forgotten for good and is not learned any more")
    if key in tx.ledger.tombstones({key}):
        raise InvalidRequest("this content was forgotten for good (graph_forget) and is not learned again")
    items = [it for it in tx.ledger.find_items_by_content({key}).get(key, ()) if it.state is not IngestState.FAILED]
    if not items:
        return None
    first = min(items, key=lambda it: (it.queued_at, it.id))
    if "through" in meta:
        # Kept under the name it was sent by: the cursor counts what is known already.
        again = next((it for it in items if it.path == name), None)
        state = IngestState.COMPLETED if first.path != name else first.state
        item = again or replace(first, id=item_id(key, name), path=name, state=state, meta={}, queued_at=now)
        tx.ledger.put_items([replace(item, meta={**item.meta, **meta}, updated_at=now)])
    return Queued(first.id, first.path, is_known=True, state=first.state, memory_ids=first.memory_ids)


def _note_requeued(tx: WriteTransaction, id_: str, now: datetime) -> None:
    known = tx.ledger.find_items({id_}).get(id_)
    if known is not None and known.state is IngestState.FAILED:
        tx.ledger.put_items([replace(known, state=IngestState.PENDING, reason=None, updated_at=now)])
        tx.upkeep.add_audit([audit_event("ingest_queued", now, {"item_id": id_, "bytes": known.size})])


def _free_path(tx: ReadTransaction, home: Home, name: str, key: str, origin: str | None) -> str:
    """Return a name in `pending/` that no other document has: one that waits, or was copied from another place."""
    pure = PurePath(name)
    marks = ["", *([f"-{short_hash(origin)}"] if origin is not None else []), f"-{key[:8]}", f"-{key}"]
    names = [f"{pure.stem}{mark}{pure.suffix}" for mark in marks]
    known = tx.ledger.find_items_by_path(names)
    for candidate in names:
        items = known.get(candidate, ())
        is_waiting = os.path.lexists(home.pending / candidate) or any(it.state in _WAITING for it in items)
        is_other = any(it.meta.get(ORIGIN) != origin for it in items[:1]) if origin is not None else False
        if not is_waiting and not is_other:
            return candidate
    return names[-1]


def _all_failed(tx: ReadTransaction) -> Sequence[IngestItem]:
    count = tx.ledger.count_items()[IngestState.FAILED]
    return tx.ledger.page_items(IngestState.FAILED, count)


def _check_admin(principal: Principal) -> None:
    if not principal.is_admin:
        raise InvalidRequest("only the admin tenant may queue documents")


def _read(path: Path, limit: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError:
        raise NotFound(f"file_path: there is no file {str(path)!r}") from None
    except OSError as error:
        raise InvalidRequest(f"file_path: can't be read: {error.strerror}", argument="file_path") from None
    if len(data) > limit:
        raise InvalidRequest(
            f"file_path: is larger than {limit} bytes, the largest document that is read (ingest.max_file_bytes)",
            argument="file_path",
        )
    return data


def _base_name(name: str) -> str:
    """Return a name for a copy: what a hidden or temporary one, a sidecar's or a long one has is taken off."""
    cleaned = unicodedata.normalize("NFC", os.fsencode(name).decode(errors="replace")).lstrip(".") or "document"
    if is_sidecar(cleaned):
        cleaned = cleaned.removesuffix(SUFFIX) + ".json"
    pure = PurePath(cleaned)
    stem = pure.stem.encode()[: _LONGEST_NAME - len(pure.suffix.encode())].decode(errors="ignore")
    return f"{stem}{pure.suffix}"


def _inline_name(name: str) -> str:
    normal = unicodedata.normalize("NFC", name)
    is_plain = normal == normal.strip() and not normal.startswith(".") and normal.isprintable()
    if not is_plain or any(part in normal for part in ("/", "\\", "..")) or not normal:
        raise InvalidRequest(
            f"file_name: {name!r:.120} is no plain base name, like notes.md, without folders", argument="file_name"
        )
    if not normal.lower().endswith(INLINE_EXTENSIONS) or is_sidecar(normal.lower()):
        raise InvalidRequest(
            f"file_name: {name!r:.120} must end in {', '.join(INLINE_EXTENSIONS)} (and not in {SUFFIX})",
            argument="file_name",
        )
    with suppress(UnicodeEncodeError):
        if len(normal.encode()) <= _LONGEST_NAME:
            return normal
    raise InvalidRequest(f"file_name: is longer than {_LONGEST_NAME} bytes", argument="file_name")
