"""What ingest took in: documents, cursors, content keys and tombstones."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from graph_memory.adapters.reference.rows import Rows, detached, stored
from graph_memory.domain.instants import parse_instant, to_micros
from graph_memory.domain.ledger import IngestItem, IngestState, SessionCursor, Tombstone, TranscriptCursor

_OLDEST_FIRST = frozenset({IngestState.PENDING, IngestState.PROCESSING})


class ReferenceLedgerReader:
    """Find what ingest took in; see `LedgerReader`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find_items(self, ids: Collection[str]) -> Mapping[str, IngestItem]:
        """Find documents by id."""
        return {id_: detached(self._rows.items[id_]) for id_ in ids if id_ in self._rows.items}

    def find_items_by_content(self, content_keys: Collection[str]) -> Mapping[str, Sequence[IngestItem]]:
        """Find documents by content key; those that failed last, then by id."""
        wanted, found = set(content_keys), defaultdict[str, list[IngestItem]](list)
        for item in sorted(self._rows.items.values(), key=lambda item: (item.state is IngestState.FAILED, item.id)):
            if item.content_key in wanted:
                found[item.content_key].append(detached(item))
        return dict(found)

    def find_items_by_path(self, paths: Collection[str]) -> Mapping[str, Sequence[IngestItem]]:
        """Find documents by path, the newest first."""
        wanted, found = set(paths), defaultdict[str, list[IngestItem]](list)
        for item in sorted(self._rows.items.values(), key=lambda item: (-to_micros(item.queued_at), item.id)):
            if item.path in wanted:
                found[item.path].append(detached(item))
        return dict(found)

    def page_items(self, state: IngestState, limit: int, offset: int = 0) -> Sequence[IngestItem]:
        """List documents in a state, by `queued_at`; waiting ones oldest first, finished ones newest first."""
        sign = 1 if state in _OLDEST_FIRST else -1
        items = [item for item in self._rows.items.values() if item.state is state]
        items.sort(key=lambda item: (sign * to_micros(item.queued_at), item.id))
        return [detached(item) for item in items[offset : offset + limit]]

    def count_items(self) -> Mapping[IngestState, int]:
        """Count documents by state; every state is there."""
        counts = Counter(item.state for item in self._rows.items.values())
        return {state: counts[state] for state in IngestState}

    def session_cursors(self) -> Mapping[str, SessionCursor]:
        """Return the cursor with the newest `through` of each cloud session."""
        newest: dict[str, SessionCursor] = {}
        for _, item in sorted(self._rows.items.items()):
            if (cursor := item.session_cursor) is None:
                continue
            known = newest.get(cursor.session_id)
            if known is None or _through(cursor) > _through(known):
                newest[cursor.session_id] = cursor
        return newest

    def transcript_cursors(self, paths: Collection[str] | None = None) -> Mapping[str, TranscriptCursor]:
        """Find cursors by path, or all."""
        cursors = self._rows.transcript_cursors
        return {path: detached(cursors[path]) for path in (cursors if paths is None else paths) if path in cursors}

    def find_learned(self, keys: Collection[str]) -> Mapping[str, int]:
        """Find which content keys are known."""
        return {key: self._rows.learned[key] for key in keys if key in self._rows.learned}

    def find_learned_of(self, memory_ids: Collection[int]) -> Mapping[str, int]:
        """Find the content keys that went into these memories."""
        wanted = set(memory_ids)
        return {key: id_ for key, id_ in self._rows.learned.items() if id_ in wanted}

    def page_learned(self, after: str | None, limit: int) -> Sequence[tuple[str, int]]:
        """List known content keys with their memories, by key, from the first past `after`."""
        return sorted(item for item in self._rows.learned.items() if after is None or item[0] > after)[:limit]

    def tombstones(self, content_keys: Collection[str]) -> Mapping[str, Tombstone]:
        """Find what was forgotten for good."""
        return {key: self._rows.tombstones[key] for key in content_keys if key in self._rows.tombstones}

    def page_tombstones(self, after: str | None, limit: int) -> Sequence[Tombstone]:
        """List tombstones by content key, from the first past `after`."""
        keys = sorted(key for key in self._rows.tombstones if after is None or key > after)
        return [self._rows.tombstones[key] for key in keys[:limit]]


class ReferenceLedgerWriter(ReferenceLedgerReader):
    """Change what ingest took in; see `LedgerWriter`."""

    def put_items(self, items: Collection[IngestItem]) -> None:
        """Add or replace documents."""
        self._rows.items.update({item.id: stored(item) for item in items})

    def delete_items(self, ids: Collection[str]) -> int:
        """Remove documents."""
        doomed = set(ids) & self._rows.items.keys()
        for id_ in doomed:
            del self._rows.items[id_]
        return len(doomed)

    def put_transcript_cursors(self, cursors: Collection[TranscriptCursor]) -> None:
        """Add or replace cursors."""
        self._rows.transcript_cursors.update({cursor.path: stored(cursor) for cursor in cursors})

    def delete_transcript_cursors(self, paths: Collection[str]) -> int:
        """Remove cursors."""
        doomed = set(paths) & self._rows.transcript_cursors.keys()
        for path in doomed:
            del self._rows.transcript_cursors[path]
        return len(doomed)

    def add_learned(self, memory_ids: Mapping[str, int]) -> None:
        """Note content keys as known; a key that is known keeps its memory."""
        self._rows.learned = {**memory_ids, **self._rows.learned}

    def delete_learned(self, memory_ids: Collection[int]) -> int:
        """Remove the keys that went into these memories."""
        gone = set(memory_ids)
        before = len(self._rows.learned)
        self._rows.learned = {key: id_ for key, id_ in self._rows.learned.items() if id_ not in gone}
        return before - len(self._rows.learned)

    def put_tombstones(self, tombstones: Collection[Tombstone]) -> None:
        """Note content keys as forgotten for good."""
        self._rows.tombstones.update({tombstone.content_key: stored(tombstone) for tombstone in tombstones})


def _through(cursor: SessionCursor) -> datetime:
    return parse_instant(cursor.through, argument="through").at
