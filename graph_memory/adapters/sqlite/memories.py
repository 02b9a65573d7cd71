"""Memories, with their mentions, open links and earlier versions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from graph_memory.adapters.sqlite.filters import memories_that
from graph_memory.adapters.sqlite.memory_rows import (
    COLUMNS,
    TakenNames,
    add_memories,
    expired_memories,
    memory,
    put_memories,
)
from graph_memory.adapters.sqlite.rows import instant, listed
from graph_memory.adapters.sqlite.session import Row, Session, Value, composed
from graph_memory.adapters.sqlite.terms import CommonTerms, rare_terms, renew
from graph_memory.adapters.sqlite.text import any_of, expression, scope_word
from graph_memory.domain.errors import Conflict, NotFound
from graph_memory.domain.instants import to_micros
from graph_memory.domain.ledger import VectorOwner
from graph_memory.domain.memories import Memory, MemoryFilter, MemoryOrder, MemoryVersion, Mention, OpenLink
from graph_memory.domain.queries import TextHit, TextQuery

_FIND = composed(
    "select $columns from json_each(?) as wanted cross join memories on memories.id = wanted.value and +tenant = ?",
    columns=COLUMNS,
)
_FIND_BY = composed(
    """
    select $columns from json_each(:keys) as wanted
    cross join memories on memories.tenant = :tenant and memories.$column = wanted.value and $project
    order by memories.id
    """,
    columns=COLUMNS,
    column="$column",
    project="$project",
)
_OF_PROJECT = "memories.project_id = :project_id"
_SEARCH = """
    select found.rowid, -found.rank from memories_fts$index as found
    cross join memories on memories.id = found.rowid
    where found.memories_fts$index match :query and memories.tenant = :tenant and $where
    order by found.rank limit :limit
"""
_ORDERS = {
    MemoryOrder.NEWEST: ("memories.tenant = :tenant", "memories.created_at desc, memories.id desc"),
    MemoryOrder.CHANGED: ("memories.tenant = :tenant", "memories.updated_at desc, memories.id desc"),
    MemoryOrder.ID: ("memories.id > :first_key and +memories.tenant = :tenant", "memories.id"),
}
"""Whose memories, and their order; a plus keeps the tenant's indexes out of it, so that rows are read as they lie."""
_PAGE = composed(
    """
    select $columns from memories where $whose and $where
    order by $order limit :limit offset :offset
    """,
    columns=COLUMNS,
    whose="$whose",
    where="$where",
    order="$order",
)
_COUNT = "select count(*) from memories where memories.tenant = :tenant and $where"
_COUNT_BY = "select $field, count(*) from memories where memories.tenant = :tenant and $where group by $field"
_COUNTED = frozenset({"status", "layer", "lifecycle", "category", "project_id"})
_MENTIONS_OF_MEMORIES = """
    select mentions.memory_id, entities.id, mentions.created_at from json_each(?) as wanted
    cross join mentions on mentions.memory_id = wanted.value and mentions.tenant = ?
    cross join entities on entities.pk = mentions.entity
    order by mentions.memory_id, entities.id
"""
_MENTIONS_OF_ENTITIES = """
    select mentions.memory_id, entities.id, mentions.created_at from json_each(:ids) as wanted
    cross join entities on entities.tenant = :tenant and entities.id = wanted.value
    cross join mentions on mentions.entity = entities.pk and mentions.memory_id in (
        select newest.memory_id from mentions as newest where newest.entity = entities.pk
        order by newest.memory_id desc limit :limit
    )
    order by mentions.memory_id desc, entities.id
"""
_OPEN_LINKS = """
    select open_links.memory_id, open_links.target, open_links.is_ambiguous from json_each(?) as wanted
    cross join open_links on open_links.memory_id = wanted.value and open_links.tenant = ?
    order by open_links.memory_id, open_links.target_key
"""
_LINKS_TO = """
    select open_links.memory_id, open_links.target, open_links.is_ambiguous from json_each(?) as wanted
    cross join open_links on open_links.target_key = wanted.value and open_links.tenant = ?
    order by open_links.target_key, open_links.memory_id
"""
_VERSIONS = """
    select memory_versions.memory_id, memory_versions.title, memory_versions.content, memory_versions.replaced_at
    from json_each(?) as wanted
    cross join memory_versions on memory_versions.memory_id = wanted.value and memory_versions.tenant = ?
    order by memory_versions.memory_id, memory_versions.replaced_at, memory_versions.pk
"""
_LAST_ID = "select last_memory_id from tenants where pk = ?"
_KEEP_LAST_ID = "update tenants set last_memory_id = ? where pk = ?"
_MISSING = """
    select wanted.value from json_each(?) as wanted
    where not exists (select 1 from memories where memories.id = wanted.value and memories.tenant = ?) limit 1
"""
_DELETE = "delete from memories where +tenant = ? and id in (select value from json_each(?))"
_DELETE_VECTORS = """
    delete from vectors where tenant = ? and owner = ? and owner_id in (
        select cast(id - ? as text) from memories where +tenant = ? and id in (select value from json_each(?))
    )
"""
_TOUCH = """
    update memories set accessed_at = ?, access_count = access_count + 1
    where +tenant = ? and id in (select value from json_each(?))
"""
_ENTITY_KEYS = """
    select entities.id, entities.pk from json_each(?) as wanted
    cross join entities on entities.tenant = ? and entities.id = wanted.value
"""
_ADD_MENTION = """
    insert into mentions (tenant, memory_id, entity, created_at) values (?, ?, ?, ?)
    on conflict (memory_id, entity) do nothing
"""
_DELETE_MENTIONS = "delete from mentions where tenant = ? and memory_id in (select value from json_each(?))"
_PUT_LINK = """
    insert into open_links (tenant, memory_id, target_key, target, is_ambiguous) values (?, ?, ?, ?, ?)
    on conflict (memory_id, target_key) do update set
        target = excluded.target, is_ambiguous = excluded.is_ambiguous
"""
_DELETE_LINK = "delete from open_links where tenant = ? and memory_id = ? and target_key = ?"
_DELETE_VERSIONS = "delete from memory_versions where memory_id = ? and tenant = ?"
_ADD_VERSION = "insert into memory_versions (tenant, memory_id, title, content, replaced_at) values (?, ?, ?, ?, ?)"


class SqliteMemoryReader:
    """Find memories; see `MemoryReader`."""

    def __init__(self, session: Session, common: CommonTerms) -> None:
        self._session = session
        self._common = common

    def find(self, ids: Collection[int]) -> Mapping[int, Memory]:
        """Find memories by id."""
        rows = self._session.rows(_FIND, self._of(ids))
        return {found.id: found for found in self._memories(rows)}

    def find_by_content_key(self, keys: Collection[str]) -> Mapping[str, Memory]:
        """Find memories by content key."""
        found = self._find_by("content_key", keys, None)
        return {value.content_key: value for value in found if value.content_key is not None}

    def find_by_title(self, title_keys: Collection[str], project_id: str | None = None) -> Sequence[Memory]:
        """List memories with one of these titles, by id."""
        return self._find_by("title_key", title_keys, project_id)

    def find_by_slug(self, slugs: Collection[str], project_id: str | None = None) -> Sequence[Memory]:
        """List memories with one of these slugs, by id."""
        return self._find_by("slug", slugs, project_id)

    def search(self, query: TextQuery, where: MemoryFilter, limit: int) -> Sequence[TextHit[int]]:
        """Find memories by text: what matches strictly, then what only matches loosely."""
        connection = self._session.connection
        found = self._matching(expression(query.strict, connection), where, limit)
        if len(found) < limit:
            loose = expression(query.loose, connection)
            for id_, hit in self._matching(loose, where, limit + len(found)).items():
                found.setdefault(id_, hit)
        return list(found.values())[:limit]

    def rare_terms(self, text: str, limit: int) -> Sequence[str]:
        """Return the words of `text` that the fewest memories have, common ones and unknown ones left out."""
        return rare_terms(self._session, self._common.of(self._session), text, limit)

    def page(self, where: MemoryFilter, order: MemoryOrder, limit: int, offset: int = 0) -> Sequence[Memory]:
        """List memories in an order; ties by id, in the same direction."""
        condition = memories_that(where)
        whose, place = _ORDERS[order]
        statement = composed(_PAGE, whose=whose, where=condition.sql, order=place)
        first_key = self._session.first_key
        values = {
            "tenant": self._session.tenant,
            "first_key": first_key,
            "limit": limit,
            "offset": offset,
            **condition.values,
        }
        return self._memories(self._session.rows(statement, values))

    def page_expired(self, now: datetime, unchanged_since: datetime, after: int, limit: int) -> Sequence[int]:
        """List active memories that have had their time, by id."""
        return expired_memories(self._session, now, unchanged_since, after, limit)

    def count(self, where: MemoryFilter) -> int:
        """Count memories."""
        condition = memories_that(where)
        values = {"tenant": self._session.tenant, **condition.values}
        return int(self._session.value(composed(_COUNT, where=condition.sql), values))

    def count_by(self, field: str, where: MemoryFilter) -> Mapping[str, int]:
        """Count memories by one of their fields.

        Raises:
            ValueError: memories are not counted by that.
        """
        if field not in _COUNTED:
            raise ValueError(f"memories are not counted by {field}")
        condition = memories_that(where)
        values = {"tenant": self._session.tenant, **condition.values}
        return dict(self._session.rows(composed(_COUNT_BY, field=field, where=condition.sql), values))

    def mentions_of_memories(self, memory_ids: Collection[int]) -> Sequence[Mention]:
        """List mentions by memory id, then entity id."""
        rows = self._session.rows(_MENTIONS_OF_MEMORIES, self._of(memory_ids))
        return self._mentions(rows)

    def mentions_of_entities(self, entity_ids: Collection[str], limit: int) -> Sequence[Mention]:
        """List mentions, newest memory first, at most `limit` for each entity."""
        values: dict[str, Value] = {"ids": listed(set(entity_ids)), "tenant": self._session.tenant, "limit": limit}
        return self._mentions(self._session.rows(_MENTIONS_OF_ENTITIES, values))

    def open_links(self, memory_ids: Collection[int]) -> Sequence[OpenLink]:
        """List open links by memory id, then target key."""
        return self._links(self._session.rows(_OPEN_LINKS, self._of(memory_ids)))

    def find_open_links(self, target_keys: Collection[str]) -> Sequence[OpenLink]:
        """List open links by target key, then memory id."""
        return self._links(self._session.rows(_LINKS_TO, (listed(set(target_keys)), self._session.tenant)))

    def versions(self, memory_ids: Collection[int]) -> Sequence[MemoryVersion]:
        """List earlier texts by memory id, then oldest first."""
        first, rows = self._session.first_key, self._session.rows(_VERSIONS, self._of(memory_ids))
        return [MemoryVersion(key - first, title, content, instant(at)) for key, title, content, at in rows]

    def _of(self, memory_ids: Collection[int]) -> tuple[str, int]:
        return self._session.memory_keys(memory_ids), self._session.tenant

    def _mentions(self, rows: Iterable[Row]) -> list[Mention]:
        first = self._session.first_key
        return [Mention(key - first, entity_id, instant(at)) for key, entity_id, at in rows]

    def _links(self, rows: Iterable[Row]) -> list[OpenLink]:
        first = self._session.first_key
        return [OpenLink(key - first, target, bool(is_ambiguous)) for key, target, is_ambiguous in rows]

    def _find_by(self, column: str, keys: Collection[str], project_id: str | None) -> list[Memory]:
        values: dict[str, Value] = {"keys": listed(set(keys)), "tenant": self._session.tenant}
        if project_id is not None:
            values["project_id"] = project_id
        project = "true" if project_id is None else _OF_PROJECT
        statement = composed(_FIND_BY, column=column, project=project)
        return self._memories(self._session.rows(statement, values))

    def _memories(self, rows: Iterable[Row]) -> list[Memory]:
        first_key = self._session.first_key
        return [memory(row, first_key) for row in rows]

    def _matching(self, match: str | None, where: MemoryFilter, limit: int) -> dict[int, TextHit[int]]:
        """Find the best memories for an expression; the index gives them in order, so few are looked at."""
        if match is None:
            return {}
        if (projects := where.projects) is not None:
            match = f"scope : ({any_of(sorted(map(scope_word, projects)))}) AND ({{title content tags runs}} : {match})"
        else:
            match = f"{{title content tags runs}} : {match}"
        condition = memories_that(where)
        statement = composed(_SEARCH, index=self._session.index, where=condition.sql)
        values = {"query": match, "tenant": self._session.tenant, "limit": limit, **condition.values}
        first, rows = self._session.first_key, self._session.rows(statement, values)
        hits = [TextHit(int(key) - first, float(score)) for key, score in rows]
        return {hit.ref: hit for hit in sorted(hits, key=lambda hit: (-hit.score, hit.ref))}


class SqliteMemoryWriter(SqliteMemoryReader):
    """Change memories; see `MemoryWriter`."""

    def add(self, memories: Sequence[Memory]) -> Sequence[int]:
        """Add memories and return their ids; none of them on a conflict.

        Raises:
            Conflict: a title, slug, content key or id is taken.
        """
        taken = TakenNames(self._session, memories)
        taken.check_ids({value.id for value in memories if value.id})
        tenant = self._session.tenant
        last: int = self._session.value(_LAST_ID, (tenant,))
        added: dict[int, Memory] = {}
        for value in memories:
            id_ = value.id or last + 1
            if id_ in added:
                raise Conflict(f"memory {id_} exists", existing_id=id_)
            last = max(last, id_)
            taken.take(value, id_)
            added[id_] = value
        add_memories(self._session, added)
        self._session.run(_KEEP_LAST_ID, (last, tenant))
        return list(added)

    def put(self, memories: Collection[Memory]) -> None:
        """Replace memories; none of them on a conflict.

        Raises:
            Conflict: a title, slug or content key is taken.
            NotFound: no memory has that id.
        """
        taken = TakenNames(self._session, memories)
        for value in memories:
            if value.id not in taken.ids:
                raise NotFound(f"there is no memory {value.id}")
            taken.take(value, value.id)
        put_memories(self._session, {value.id: value for value in memories})

    def delete(self, ids: Collection[int]) -> int:
        """Remove memories with all that hangs on them."""
        tenant, doomed = self._session.tenant, self._session.memory_keys(ids)
        owner = VectorOwner.MEMORY.value
        self._session.run(_DELETE_VECTORS, (tenant, owner, self._session.first_key, tenant, doomed))
        return self._session.run(_DELETE, (tenant, doomed))

    def touch(self, ids: Collection[int], at: datetime) -> None:
        """Count one access of each."""
        self._session.run(_TOUCH, (to_micros(at), self._session.tenant, self._session.memory_keys(ids)))

    def set_tags(self, memory_id: int, tags: Collection[str]) -> None:
        """Replace the tags of a memory.

        Raises:
            NotFound: no memory has that id.
        """
        value = self.find([memory_id]).get(memory_id)
        if value is None:
            raise NotFound(f"there is no memory {memory_id}")
        self.put([replace(value, tags=tuple(tags))])

    def add_mentions(self, mentions: Collection[Mention]) -> int:
        """Add mentions; return how many are new.

        Raises:
            Conflict: there is no such memory or entity.
        """
        self._check_there({mention.memory_id for mention in mentions})
        ids = {mention.entity_id for mention in mentions}
        keys: dict[str, int] = dict(self._session.rows(_ENTITY_KEYS, (listed(ids), self._session.tenant)))
        if missing := ids - keys.keys():
            raise Conflict(f"a mention needs its entity {min(missing)}")
        tenant, first = self._session.tenant, self._session.first_key
        rows = [
            (tenant, first + mention.memory_id, keys[mention.entity_id], to_micros(mention.created_at))
            for mention in mentions
        ]
        return self._session.run_many(_ADD_MENTION, rows)

    def delete_mentions(self, memory_ids: Collection[int]) -> int:
        """Remove the mentions made by these memories."""
        return self._session.run(_DELETE_MENTIONS, (self._session.tenant, self._session.memory_keys(memory_ids)))

    def put_open_links(self, links: Collection[OpenLink]) -> None:
        """Add or replace open links.

        Raises:
            Conflict: there is no such memory.
        """
        self._check_there({link.memory_id for link in links})
        tenant, first = self._session.tenant, self._session.first_key
        rows = [
            (tenant, first + link.memory_id, link.target_key, link.target, int(link.is_ambiguous)) for link in links
        ]
        self._session.run_many(_PUT_LINK, rows)

    def delete_open_links(self, links: Collection[OpenLink]) -> int:
        """Remove open links by memory and target key."""
        tenant, first = self._session.tenant, self._session.first_key
        rows = [(tenant, first + link.memory_id, link.target_key) for link in links]
        return self._session.run_many(_DELETE_LINK, rows)

    def add_versions(self, versions: Collection[MemoryVersion]) -> None:
        """Keep earlier texts.

        Raises:
            Conflict: there is no such memory.
        """
        self._check_there({version.memory_id for version in versions})
        tenant, first = self._session.tenant, self._session.first_key
        rows = [
            (tenant, first + version.memory_id, version.title, version.content, to_micros(version.replaced_at))
            for version in versions
        ]
        self._session.run_many(_ADD_VERSION, rows)

    def put_versions(self, versions: Mapping[int, Sequence[MemoryVersion]]) -> None:
        """Replace the earlier texts of these memories; raises what `add_versions` does."""
        rows = [(self._session.first_key + it, self._session.tenant) for it in versions]
        self._session.run_many(_DELETE_VERSIONS, rows)
        self.add_versions([it for kept in versions.values() for it in kept])

    def renew_common_terms(self) -> int:
        """Take as common the words that are in more than one of 500 memories, and in more than fifty."""
        return renew(self._session)

    def _check_there(self, ids: Collection[int]) -> None:
        missing = self._session.value(_MISSING, self._of(ids))
        if missing is not None:
            raise Conflict(f"there is no memory {missing - self._session.first_key}")
