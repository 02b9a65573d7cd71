"""What ingest took in: documents, cursors, content keys and tombstones."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from graph_memory.adapters.sqlite.rows import beyond, from_json, instant, list_from_json, listed, to_json
from graph_memory.adapters.sqlite.session import Row, Session, Value, composed
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import parse_instant, to_micros
from graph_memory.domain.ledger import IngestItem, IngestState, SessionCursor, Tombstone, TranscriptCursor

_COLUMNS = """ingest_items.id, ingest_items.content_key, ingest_items.path, ingest_items.state, ingest_items.size,
    ingest_items.queued_at, ingest_items.updated_at, ingest_items.meta, ingest_items.reason, ingest_items.memory_ids,
    ingest_items.entity_count, ingest_items.relation_count"""
_FIND = composed(
    """
    select $columns from json_each(?) as wanted
    cross join ingest_items on ingest_items.tenant = ? and ingest_items.$column = wanted.value
    order by $order
    """,
    columns=_COLUMNS,
    column="$column",
    order="$order",
)
_BY_ID = composed(_FIND, column="id", order="ingest_items.id")
_BY_CONTENT = composed(_FIND, column="content_key", order="ingest_items.state = 'failed', ingest_items.id")
_BY_PATH = composed(_FIND, column="path", order="ingest_items.queued_at desc, ingest_items.id")
_PAGE = composed(
    """
    select $columns from ingest_items where tenant = ? and state = ?
    order by queued_at $direction, id limit ? offset ?
    """,
    columns=_COLUMNS,
    direction="$direction",
)
_OLDEST_FIRST = frozenset({IngestState.PENDING, IngestState.PROCESSING})
_COUNT = "select state, count(*) from ingest_items where tenant = ? group by state"
_CURSORS = composed(
    """
    select $columns from ingest_items where tenant = ? and cursor_session is not null
    order by cursor_session, cursor_through_at, id desc
    """,
    columns=_COLUMNS,
)
_PUT = """
    insert into ingest_items (tenant, id, content_key, path, state, size, queued_at, updated_at, reason, memory_ids,
        entity_count, relation_count, cursor_session, cursor_through_at, meta)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (tenant, id) do update set
        content_key = excluded.content_key, path = excluded.path, state = excluded.state, size = excluded.size,
        queued_at = excluded.queued_at, updated_at = excluded.updated_at, reason = excluded.reason,
        memory_ids = excluded.memory_ids, entity_count = excluded.entity_count,
        relation_count = excluded.relation_count, cursor_session = excluded.cursor_session,
        cursor_through_at = excluded.cursor_through_at, meta = excluded.meta
"""
_DELETE = "delete from ingest_items where tenant = ? and id in (select value from json_each(?))"
_TRANSCRIPTS = """
    select path, fingerprint, offset, size, updated_at, session_id, state from transcript_cursors where tenant = ?
"""
_TRANSCRIPTS_AT = """
    select path, fingerprint, offset, size, updated_at, session_id, state from transcript_cursors
    where tenant = ? and path in (select value from json_each(?))
"""
_PUT_TRANSCRIPT = """
    insert into transcript_cursors (tenant, path, fingerprint, offset, size, updated_at, session_id, state)
    values (?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (tenant, path) do update set
        fingerprint = excluded.fingerprint, offset = excluded.offset, size = excluded.size,
        updated_at = excluded.updated_at, session_id = excluded.session_id, state = excluded.state
"""
_DELETE_TRANSCRIPTS = "delete from transcript_cursors where tenant = ? and path in (select value from json_each(?))"
_LEARNED = """
    select content_key, memory_id from learned where tenant = ? and content_key in (select value from json_each(?))
"""
_LEARNED_OF = """
    select learned.content_key, learned.memory_id from json_each(?) as wanted
    cross join learned on learned.tenant = ? and learned.memory_id = wanted.value
"""
_PAGE_LEARNED = """
    select content_key, memory_id from learned
    where tenant = ? and content_key $is_beyond ? order by content_key limit ?
"""
_ADD_LEARNED = """
    insert into learned (tenant, content_key, memory_id) values (?, ?, ?) on conflict (tenant, content_key) do nothing
"""
_DELETE_LEARNED = "delete from learned where tenant = ? and memory_id in (select value from json_each(?))"
_TOMBSTONES = """
    select content_key, reason, forgotten_at from tombstones
    where tenant = ? and content_key in (select value from json_each(?))
"""
_PAGE_TOMBSTONES = """
    select content_key, reason, forgotten_at from tombstones
    where tenant = ? and content_key $is_beyond ? order by content_key limit ?
"""
_PUT_TOMBSTONE = """
    insert into tombstones (tenant, content_key, reason, forgotten_at) values (?, ?, ?, ?)
    on conflict (tenant, content_key) do update set reason = excluded.reason, forgotten_at = excluded.forgotten_at
"""


def _item(row: Row) -> IngestItem:
    id_, content_key, path, state, size, queued_at, updated_at, meta, reason, memory_ids, entities, relations = row
    return IngestItem(
        id_,
        content_key,
        path,
        IngestState(state),
        size,
        instant(queued_at),
        instant(updated_at),
        from_json(meta),
        reason,
        tuple(list_from_json(memory_ids)),
        entities,
        relations,
    )


def _cursor(row: Row) -> TranscriptCursor:
    path, fingerprint, offset, size, updated_at, session_id, state = row
    return TranscriptCursor(path, fingerprint, offset, size, instant(updated_at), session_id, from_json(state))


def _tombstone(row: Row) -> Tombstone:
    content_key, reason, forgotten_at = row
    return Tombstone(content_key, reason, instant(forgotten_at))


class SqliteLedgerReader:
    """Find what ingest took in; see `LedgerReader`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find_items(self, ids: Collection[str]) -> Mapping[str, IngestItem]:
        """Find documents by id."""
        return {item.id: item for item in self._items(_BY_ID, (listed(ids), self._session.tenant))}

    def find_items_by_content(self, content_keys: Collection[str]) -> Mapping[str, Sequence[IngestItem]]:
        """Find documents by content key; those that failed last, then by id."""
        found: defaultdict[str, list[IngestItem]] = defaultdict(list)
        for item in self._items(_BY_CONTENT, (listed(set(content_keys)), self._session.tenant)):
            found[item.content_key].append(item)
        return dict(found)

    def find_items_by_path(self, paths: Collection[str]) -> Mapping[str, Sequence[IngestItem]]:
        """Find documents by path, the newest first."""
        found: defaultdict[str, list[IngestItem]] = defaultdict(list)
        for item in self._items(_BY_PATH, (listed(set(paths)), self._session.tenant)):
            found[item.path].append(item)
        return dict(found)

    def page_items(self, state: IngestState, limit: int, offset: int = 0) -> Sequence[IngestItem]:
        """List documents in a state, by `queued_at`; waiting ones oldest first, finished ones newest first."""
        statement = composed(_PAGE, direction="asc" if state in _OLDEST_FIRST else "desc")
        return self._items(statement, (self._session.tenant, state.value, limit, offset))

    def count_items(self) -> Mapping[IngestState, int]:
        """Count documents by state; every state is there."""
        counts: dict[str, int] = dict(self._session.rows(_COUNT, (self._session.tenant,)))
        return {state: counts.get(state.value, 0) for state in IngestState}

    def session_cursors(self) -> Mapping[str, SessionCursor]:
        """Return the cursor with the newest `through` of each cloud session; of equal ones, the first by id."""
        items = self._items(_CURSORS, (self._session.tenant,))
        cursors = (item.session_cursor for item in items)
        return {cursor.session_id: cursor for cursor in cursors if cursor is not None}

    def transcript_cursors(self, paths: Collection[str] | None = None) -> Mapping[str, TranscriptCursor]:
        """Find cursors by path, or all."""
        if paths is None:
            rows = self._session.rows(_TRANSCRIPTS, (self._session.tenant,))
        else:
            rows = self._session.rows(_TRANSCRIPTS_AT, (self._session.tenant, listed(paths)))
        return {row[0]: _cursor(row) for row in rows}

    def find_learned(self, keys: Collection[str]) -> Mapping[str, int]:
        """Find which content keys are known."""
        return dict(self._session.rows(_LEARNED, (self._session.tenant, listed(keys))))

    def find_learned_of(self, memory_ids: Collection[int]) -> Mapping[str, int]:
        """Find the content keys that went into these memories."""
        return dict(self._session.rows(_LEARNED_OF, (listed(set(memory_ids)), self._session.tenant)))

    def page_learned(self, after: str | None, limit: int) -> Sequence[tuple[str, int]]:
        """List known content keys with their memories, by key, from the first past `after`."""
        compare, start = beyond(after)
        statement = composed(_PAGE_LEARNED, is_beyond=compare)
        rows = self._session.rows(statement, (self._session.tenant, start, limit))
        return [(key, memory_id) for key, memory_id in rows]

    def tombstones(self, content_keys: Collection[str]) -> Mapping[str, Tombstone]:
        """Find what was forgotten for good."""
        rows = self._session.rows(_TOMBSTONES, (self._session.tenant, listed(content_keys)))
        return {row[0]: _tombstone(row) for row in rows}

    def page_tombstones(self, after: str | None, limit: int) -> Sequence[Tombstone]:
        """List tombstones by content key, from the first past `after`."""
        compare, start = beyond(after)
        statement = composed(_PAGE_TOMBSTONES, is_beyond=compare)
        rows = self._session.rows(statement, (self._session.tenant, start, limit))
        return [_tombstone(row) for row in rows]

    def _items(self, statement: str, values: Sequence[Value]) -> list[IngestItem]:
        return [_item(row) for row in self._session.rows(statement, values)]


class SqliteLedgerWriter(SqliteLedgerReader):
    """Change what ingest took in; see `LedgerWriter`."""

    def put_items(self, items: Collection[IngestItem]) -> None:
        """Add or replace documents."""
        self._session.run_many(_PUT, [self._row(item) for item in items])

    def delete_items(self, ids: Collection[str]) -> int:
        """Remove documents."""
        return self._session.run(_DELETE, (self._session.tenant, listed(ids)))

    def put_transcript_cursors(self, cursors: Collection[TranscriptCursor]) -> None:
        """Add or replace cursors."""
        rows = [
            (
                self._session.tenant,
                cursor.path,
                cursor.fingerprint,
                cursor.offset,
                cursor.size,
                to_micros(cursor.updated_at),
                cursor.session_id,
                to_json(cursor.state),
            )
            for cursor in cursors
        ]
        self._session.run_many(_PUT_TRANSCRIPT, rows)

    def delete_transcript_cursors(self, paths: Collection[str]) -> int:
        """Remove cursors."""
        return self._session.run(_DELETE_TRANSCRIPTS, (self._session.tenant, listed(paths)))

    def add_learned(self, memory_ids: Mapping[str, int]) -> None:
        """Note content keys as known; a key that is known keeps its memory."""
        rows = [(self._session.tenant, key, memory_id) for key, memory_id in memory_ids.items()]
        self._session.run_many(_ADD_LEARNED, rows)

    def delete_learned(self, memory_ids: Collection[int]) -> int:
        """Remove the keys that went into these memories."""
        return self._session.run(_DELETE_LEARNED, (self._session.tenant, listed(memory_ids)))

    def put_tombstones(self, tombstones: Collection[Tombstone]) -> None:
        """Note content keys as forgotten for good."""
        rows = [
            (self._session.tenant, tombstone.content_key, tombstone.reason, to_micros(tombstone.forgotten_at))
            for tombstone in tombstones
        ]
        self._session.run_many(_PUT_TOMBSTONE, rows)

    def _row(self, item: IngestItem) -> tuple[Value, ...]:
        cursor = item.session_cursor
        return (
            self._session.tenant,
            item.id,
            item.content_key,
            item.path,
            item.state.value,
            item.size,
            to_micros(item.queued_at),
            to_micros(item.updated_at),
            item.reason,
            listed(item.memory_ids),
            item.entity_count,
            item.relation_count,
            None if cursor is None else cursor.session_id,
            None if cursor is None else _through(cursor),
            to_json(item.meta),
        )


def _through(cursor: SessionCursor) -> int | None:
    """Read how far a cursor reaches; one that says nothing readable stands behind all others."""
    try:
        return to_micros(parse_instant(cursor.through, argument="through").at)
    except InvalidRequest:
        return None
