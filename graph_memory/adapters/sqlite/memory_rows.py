"""Memories to columns and back, and which of their names are taken."""

from collections.abc import Collection, Mapping
from datetime import datetime

from graph_memory.adapters.sqlite.rows import instant, list_from_json, listed, maybe_instant, micros
from graph_memory.adapters.sqlite.session import MEMORY_ID_BITS, Row, Session, Value, composed
from graph_memory.adapters.sqlite.text import runs_of, scope_word
from graph_memory.domain.errors import Conflict, InvalidRequest
from graph_memory.domain.instants import to_micros
from graph_memory.domain.memories import Layer, Lifecycle, Memory, Source, Status

COLUMNS = """memories.id, memories.project_id, memories.title, memories.slug, memories.category, memories.layer,
    memories.lifecycle, memories.status, memories.source, memories.session_id, memories.confidence,
    memories.importance_score, memories.boost, memories.created_at, memories.updated_at, memories.accessed_at,
    memories.access_count, memories.expires_at, memories.content_key, memories.source_file, memories.is_abandoned,
    memories.summary, memories.content, (
        select json_group_array(memory_tag.tag order by memory_tag.place) from memory_tag
        where memory_tag.memory_id = memories.id
    )"""

_WRITTEN = (
    "project_id",
    "title",
    "title_key",
    "slug",
    "category",
    "layer",
    "lifecycle",
    "status",
    "source",
    "session_id",
    "confidence",
    "importance_score",
    "boost",
    "created_at",
    "updated_at",
    "accessed_at",
    "access_count",
    "expires_at",
    "content_key",
    "source_file",
    "is_abandoned",
    "scope",
    "tag_words",
    "summary",
    "content",
    "runs",
)
_ADD = composed(
    "insert into memories ($columns, tenant, id) values ($marks)",
    columns=", ".join(_WRITTEN),
    marks=", ".join("?" * (len(_WRITTEN) + 2)),
)
_PUT = composed(
    "update memories set $columns where tenant = ? and id = ?",
    columns=", ".join(f"{column} = ?" for column in _WRITTEN),
)
_ADD_TAG = """
    insert into memory_tag (memory_id, tag, place, tenant) values (?, ?, ?, ?) on conflict (memory_id, tag) do nothing
"""
_DELETE_TAGS = "delete from memory_tag where tenant = ? and memory_id in (select value from json_each(?))"
_EXPIRED = """
    select memories.id from memories not indexed
    where memories.id > :after and memories.id <= :last and memories.status = 'active' and (
        memories.expires_at <= :now
        or memories.expires_at is null and memories.lifecycle = 'ephemeral' and memories.updated_at <= :unchanged_since
    )
    order by memories.id limit :limit
"""
_TAKEN = """
    select memories.id, memories.project_id, memories.title_key, memories.slug, memories.content_key
    from json_each(:ids) as wanted cross join memories on memories.id = wanted.value and +memories.tenant = :tenant
    union
    select memories.id, memories.project_id, memories.title_key, memories.slug, memories.content_key
    from json_each(:titles) as wanted cross join memories on memories.tenant = :tenant
        and memories.title_key = wanted.value ->> 1 and memories.project_id = wanted.value ->> 0
    union
    select memories.id, memories.project_id, memories.title_key, memories.slug, memories.content_key
    from json_each(:slugs) as wanted cross join memories on memories.tenant = :tenant
        and memories.slug = wanted.value ->> 1 and memories.project_id = wanted.value ->> 0
    union
    select memories.id, memories.project_id, memories.title_key, memories.slug, memories.content_key
    from json_each(:content_keys) as wanted cross join memories on memories.tenant = :tenant
        and memories.content_key = wanted.value
"""
_TAKEN_IDS = "select min(id) from memories where id in (select value from json_each(?))"


def memory(row: Row, first_key: int) -> Memory:
    """Read a memory from its columns; its id is its key in the file less `first_key`."""
    (id_, project_id, title, slug, category, layer, lifecycle, status, source, session_id, confidence) = row[:11]
    (importance_score, boost, created_at, updated_at, accessed_at, access_count, expires_at, content_key) = row[11:19]
    source_file, is_abandoned, summary, content, tags = row[19:]
    return Memory(
        title=title,
        slug=slug,
        content=content,
        category=category,
        created_at=instant(created_at),
        updated_at=instant(updated_at),
        id=id_ - first_key,
        project_id=project_id,
        layer=Layer(layer),
        lifecycle=Lifecycle(lifecycle),
        status=Status(status),
        source=Source(source),
        summary=summary,
        tags=tuple(list_from_json(tags)),
        session_id=session_id,
        confidence=confidence,
        importance_score=importance_score,
        boost=boost,
        accessed_at=maybe_instant(accessed_at),
        access_count=access_count,
        expires_at=maybe_instant(expires_at),
        content_key=content_key,
        source_file=source_file,
        is_abandoned=bool(is_abandoned),
    )


def _columns(value: Memory) -> tuple[Value, ...]:
    """Write a memory as the columns of `_ADD` and `_PUT`, tenant and id left aside."""
    return (
        value.project_id,
        value.title,
        value.title_key,
        value.slug,
        value.category,
        value.layer.value,
        value.lifecycle.value,
        value.status.value,
        value.source.value,
        value.session_id,
        value.confidence,
        value.importance_score,
        value.boost,
        to_micros(value.created_at),
        to_micros(value.updated_at),
        micros(value.accessed_at),
        value.access_count,
        micros(value.expires_at),
        value.content_key,
        value.source_file,
        int(value.is_abandoned),
        scope_word(value.project_id),
        "\n".join(value.tags),
        value.summary,
        value.content,
        runs_of(value.title, value.content, *value.tags),
    )


def add_memories(session: Session, memories: Mapping[int, Memory]) -> None:
    """Add memories under these ids, which are free."""
    tenant, first_key = session.tenant, session.first_key
    session.run_many(_ADD, [(*_columns(value), tenant, first_key + id_) for id_, value in memories.items()])
    _add_tags(session, memories)


def put_memories(session: Session, memories: Mapping[int, Memory]) -> None:
    """Replace the memories that have these ids."""
    tenant, first_key = session.tenant, session.first_key
    session.run_many(_PUT, [(*_columns(value), tenant, first_key + id_) for id_, value in memories.items()])
    session.run(_DELETE_TAGS, (tenant, session.memory_keys(memories)))
    _add_tags(session, memories)


def _add_tags(session: Session, memories: Mapping[int, Memory]) -> None:
    tags = ((id_, tag, place) for id_, value in memories.items() for place, tag in enumerate(value.tags))
    session.run_many(_ADD_TAG, [(session.first_key + id_, tag, place, session.tenant) for id_, tag, place in tags])


def expired_memories(session: Session, now: datetime, unchanged_since: datetime, after: int, limit: int) -> list[int]:
    """List active memories that have had their time, by id; a tenant's keys lie between its first and its last."""
    first = session.first_key
    values: dict[str, Value] = {
        "after": first + after,
        "last": first + (1 << MEMORY_ID_BITS) - 1 if session.tenant else first,
        "now": to_micros(now),
        "unchanged_since": to_micros(unchanged_since),
        "limit": limit,
    }
    return [key - first for (key,) in session.rows(_EXPIRED, values)]


class TakenNames:
    """Titles, slugs and content keys of the stored memories that a batch could collide with, kept as it is written.

    A database tells a collision only when it has happened; to know it before leaves a refused batch without a trace.
    """

    def __init__(self, session: Session, batch: Collection[Memory]) -> None:
        values: dict[str, Value] = {
            "tenant": session.tenant,
            "ids": session.memory_keys(value.id for value in batch if value.id),
            "titles": listed([[value.project_id, value.title_key] for value in batch]),
            "slugs": listed([[value.project_id, value.slug] for value in batch]),
            "content_keys": listed([value.content_key for value in batch if value.content_key is not None]),
        }
        self._session = session
        self._names: dict[int, tuple[tuple[str, ...], ...]] = {}
        self._holders: dict[tuple[str, ...], int] = {}
        for key, project_id, title_key, slug, content_key in session.rows(_TAKEN, values):
            self._keep(key - session.first_key, _names(project_id, title_key, slug, content_key))

    @property
    def ids(self) -> Collection[int]:
        """The stored memories among those the batch could collide with."""
        return self._names.keys()

    def check_ids(self, ids: Collection[int]) -> None:
        """Refuse ids that a memory has.

        Raises:
            Conflict: one is taken.
            InvalidRequest: one is no id.
        """
        if ids and not 0 < min(ids) <= max(ids) < 1 << MEMORY_ID_BITS:
            raise InvalidRequest(f"a memory's id is at least 1 and less than 2^{MEMORY_ID_BITS}")
        if ids and (key := self._session.value(_TAKEN_IDS, (self._session.memory_keys(ids),))):
            taken = key - self._session.first_key
            raise Conflict(f"memory {taken} exists", existing_id=taken)

    def take(self, value: Memory, id_: int) -> None:
        """Note a memory as written under `id_`.

        Raises:
            Conflict: one of its names is another's.
        """
        names = _names(value.project_id, value.title_key, value.slug, value.content_key)
        for name in names:
            if (holder := self._holders.get(name, id_)) != id_:
                raise Conflict(f"memory {holder} has the {name[0]} {name[-1]!r:.200}", existing_id=holder)
        for name in self._names.get(id_, ()):
            self._holders.pop(name, None)
        self._keep(id_, names)

    def _keep(self, id_: int, names: tuple[tuple[str, ...], ...]) -> None:
        self._names[id_] = names
        self._holders.update(dict.fromkeys(names, id_))


def _names(project_id: str, title_key: str, slug: str, content_key: str | None) -> tuple[tuple[str, ...], ...]:
    names: tuple[tuple[str, ...], ...] = (("title", project_id, title_key), ("slug", project_id, slug))
    return names if content_key is None else (*names, ("content key", content_key))
