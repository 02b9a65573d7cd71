"""Entities and their aliases."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from graph_memory.adapters.sqlite.entity_text import find_by_runs, find_by_text, forget_text, renew_text
from graph_memory.adapters.sqlite.evidence import ENTITY_EVIDENCE
from graph_memory.adapters.sqlite.filters import entities_that
from graph_memory.adapters.sqlite.rows import (
    beyond,
    fading_rows,
    from_json,
    instant,
    listed,
    maybe_instant,
    micros,
    to_json,
)
from graph_memory.adapters.sqlite.session import Row, Session, Value, composed
from graph_memory.domain.entities import Alias, Entity, EntityFilter, EntityKey, EntityOrder, Evidence
from graph_memory.domain.errors import Conflict
from graph_memory.domain.instants import to_micros
from graph_memory.domain.ledger import VectorOwner
from graph_memory.domain.queries import TextHit, TextQuery
from graph_memory.ports.graph_rows import EvidenceFilter, EvidenceSources, Faded, FadingEntity

_COLUMNS = """entities.id, entities.type, entities.name, entities.confidence, entities.created_at, entities.last_seen,
    entities.decayed_at, entities.mention_count, entities.properties, entities.source_file"""

_FIND = composed(
    """
    select $columns from json_each(?) as wanted
    cross join entities on entities.tenant = ? and entities.id = wanted.value
    """,
    columns=_COLUMNS,
)
_FIND_BY_KEY = composed(
    """
    select $columns from json_each(?) as wanted
    cross join entities on entities.tenant = ? and entities.type_key = wanted.value ->> 0
        and entities.name_key = wanted.value ->> 1
    """,
    columns=_COLUMNS,
)
_FIND_BY_NAME = composed(
    """
    select wanted.value, $columns from json_each(:keys) as wanted
    cross join entities on entities.tenant = :tenant and entities.name_key = wanted.value
    union
    select wanted.value, $columns from json_each(:keys) as wanted
    cross join aliases on aliases.tenant = :tenant and aliases.name_key = wanted.value
    cross join entities on entities.pk = aliases.entity
    order by 2
    """,
    columns=_COLUMNS,
)
_ORDERS = {
    EntityOrder.CONFIDENCE: "entities.confidence desc, entities.id",
    EntityOrder.LAST_SEEN: "entities.last_seen desc, entities.id",
    EntityOrder.NAME: "entities.name_key, entities.id",
    EntityOrder.ID: "entities.id",
}
_PAGE = """
    select $columns from entities where entities.tenant = :tenant and $where
    order by $order limit :limit offset :offset
"""
_PAGE_BY_ID = """
    select $columns from entities where entities.tenant = :tenant and entities.id $is_beyond :after and $where
    order by entities.id limit :limit
"""
_COUNT = "select count(*) from entities where entities.tenant = :tenant and $where"
_TYPES = """
    select entities.type, counted.entities from (
        select count(*) as entities, min(pk) as first from entities where tenant = ? group by type_key
    ) as counted
    join entities on entities.pk = counted.first
"""
_TYPE_SPELLING = """
    select wanted.value, (
        select entities.type from entities
        where entities.tenant = ? and entities.type_key = wanted.value order by entities.pk limit 1
    )
    from json_each(?) as wanted
"""
_DEGREES = """
    select entities.id,
        (select count(*) from relations where source = entities.pk and past_id = '')
        + (select count(*) from relations where target = entities.pk and past_id = '' and source <> entities.pk)
    from json_each(?) as wanted cross join entities on entities.tenant = ? and entities.id = wanted.value
"""
_ALIASES = """
    select entities.id, aliases.name from json_each(?) as wanted
    cross join entities on entities.tenant = ? and entities.id = wanted.value
    cross join aliases on aliases.entity = entities.pk
    order by aliases.name_key
"""
_STATE = """
    select entities.id, entities.pk, entities.type_key, entities.name_key, entities.name, entities.properties
    from json_each(:ids) as wanted
    cross join entities on entities.tenant = :tenant and entities.id = wanted.value
"""
_HOLDERS = """
    select entities.type_key, entities.name_key, entities.id from json_each(?) as wanted
    cross join entities on entities.tenant = ? and entities.type_key = wanted.value ->> 0
        and entities.name_key = wanted.value ->> 1
"""
_PUT = """
    insert into entities (tenant, id, type, type_key, name, name_key, confidence, created_at, last_seen, decayed_at,
        mention_count, is_exempt, source_file, properties)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (tenant, id) do update set
        type = excluded.type, type_key = excluded.type_key, name = excluded.name, name_key = excluded.name_key,
        confidence = excluded.confidence, created_at = excluded.created_at, last_seen = excluded.last_seen,
        decayed_at = excluded.decayed_at, mention_count = excluded.mention_count, is_exempt = excluded.is_exempt,
        source_file = excluded.source_file, properties = excluded.properties
"""
_KEYS = """
    select entities.id, entities.pk from json_each(?) as wanted
    cross join entities on entities.tenant = ? and entities.id = wanted.value
"""
_ADD_ALIAS = """
    insert into aliases (tenant, entity, name, name_key) values (?, ?, ?, ?)
    on conflict (entity, name_key, tenant) do nothing
"""
_DELETE_ALIAS = "delete from aliases where entity = ? and name_key = ? and tenant = ?"
_LINK = """
    select relations.id, ends.id from json_each(?) as wanted
    cross join entities as ends on ends.pk = wanted.value
    cross join relations on relations.source = ends.pk or relations.target = ends.pk
    limit 1
"""
_DELETE = "delete from entities where +tenant = ? and pk in (select value from json_each(?))"
_DELETE_VECTORS = """
    delete from vectors where tenant = ? and owner = ? and owner_id in (select value from json_each(?))
"""
_SCAN = """
    select pk, id, type, name, confidence, coalesce(decayed_at, created_at), is_exempt from entities not indexed
    where pk > ? and tenant = ? order by pk limit ?
"""
_FADE = """
    update entities set confidence = ?, decayed_at = ?
    where pk = ? and id = ? and confidence = ? and (decayed_at is null or decayed_at <= ?)
"""


def _entity(row: Row) -> Entity:
    id_, type_, name, confidence, created_at, last_seen, decayed_at, mention_count, properties, source_file = row
    return Entity(
        id_,
        type_,
        name,
        confidence,
        instant(created_at),
        instant(last_seen),
        maybe_instant(decayed_at),
        mention_count,
        from_json(properties),
        source_file,
    )


class SqliteEntityReader:
    """Find entities; see `EntityReader`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, ids: Collection[str]) -> Mapping[str, Entity]:
        """Find entities by id."""
        return {row[0]: _entity(row) for row in self._session.rows(_FIND, (listed(ids), self._session.tenant))}

    def find_by_key(self, keys: Collection[EntityKey]) -> Mapping[EntityKey, Entity]:
        """Find entities by type and name."""
        rows = self._session.rows(_FIND_BY_KEY, (listed([list(key) for key in keys]), self._session.tenant))
        return {entity.key: entity for entity in map(_entity, rows)}

    def find_by_name(self, name_keys: Collection[str]) -> Mapping[str, Sequence[Entity]]:
        """Find entities by the key of their name or of an alias."""
        found: defaultdict[str, list[Entity]] = defaultdict(list)
        values: dict[str, Value] = {"keys": listed(name_keys), "tenant": self._session.tenant}
        for key, *columns in self._session.rows(_FIND_BY_NAME, values):
            found[key].append(_entity(tuple(columns)))
        return dict(found)

    def search(self, query: TextQuery, where: EntityFilter, limit: int) -> Sequence[TextHit[str]]:
        """Find entities by text: all that match strictly, else all that match loosely."""
        return find_by_text(self._session, query, where, limit)

    def find_similar_names(self, name: str, where: EntityFilter, limit: int) -> Sequence[Entity]:
        """Find entities by shared runs of three letters, at least half of those of the shorter name."""
        ids = find_by_runs(self._session, name, where, limit)
        found = self.find(ids)
        return [found[id_] for id_ in ids]

    def page(self, where: EntityFilter, order: EntityOrder, limit: int, offset: int = 0) -> Sequence[Entity]:
        """List entities in an order."""
        condition = entities_that(where)
        statement = composed(_PAGE, columns=_COLUMNS, where=condition.sql, order=_ORDERS[order])
        values = {"tenant": self._session.tenant, "limit": limit, "offset": offset, **condition.values}
        return [_entity(row) for row in self._session.rows(statement, values)]

    def page_by_id(self, where: EntityFilter, after: str | None, limit: int) -> Sequence[Entity]:
        """List entities by id, from the first past `after`."""
        condition = entities_that(where)
        compare, start = beyond(after)
        statement = composed(_PAGE_BY_ID, columns=_COLUMNS, where=condition.sql, is_beyond=compare)
        values = {"tenant": self._session.tenant, "after": start, "limit": limit, **condition.values}
        return [_entity(row) for row in self._session.rows(statement, values)]

    def count(self, where: EntityFilter) -> int:
        """Count entities."""
        condition = entities_that(where)
        values = {"tenant": self._session.tenant, **condition.values}
        return int(self._session.value(composed(_COUNT, where=condition.sql), values))

    def count_by_type(self) -> Mapping[str, int]:
        """Count entities by type, under the spelling that `type_spelling` finds."""
        return dict(self._session.rows(_TYPES, (self._session.tenant,)))

    def degrees(self, ids: Collection[str]) -> Mapping[str, int]:
        """Count current relations; a loop counts once."""
        return dict(self._session.rows(_DEGREES, (listed(ids), self._session.tenant)))

    def aliases(self, ids: Collection[str]) -> Mapping[str, Sequence[Alias]]:
        """List aliases; entities without any are left out."""
        found: defaultdict[str, list[Alias]] = defaultdict(list)
        for id_, name in self._session.rows(_ALIASES, (listed(set(ids)), self._session.tenant)):
            found[id_].append(Alias(id_, name))
        return dict(found)

    def type_spelling(self, type_keys: Collection[str]) -> Mapping[str, str]:
        """Find the spelling of the entity first stored with each type."""
        rows = self._session.rows(_TYPE_SPELLING, (self._session.tenant, listed(type_keys)))
        return {key: spelling for key, spelling in rows if spelling is not None}

    def evidence(self, ids: Collection[str]) -> Mapping[str, Sequence[Evidence]]:
        """List evidence; entities without any are left out."""
        return ENTITY_EVIDENCE.find(self._session, set(ids))

    def find_supported(self, sources: EvidenceSources) -> Sequence[str]:
        """Find entities that have evidence from any of these sources."""
        return ENTITY_EVIDENCE.supported(self._session, sources)


class SqliteEntityWriter(SqliteEntityReader):
    """Change entities; see `EntityWriter`."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._scanned: dict[str, int] = {}
        """Keys in the file of the slice read last, which is what is faded next."""

    def find_for_update(self, keys: Collection[EntityKey], ids: Collection[str] = ()) -> Mapping[EntityKey, Entity]:
        """Find entities by key or id; the transaction holds the file alone, so nobody else changes them."""
        by_id = self.find(ids) if ids else {}
        return {**self.find_by_key(keys), **{entity.key: entity for entity in by_id.values()}}

    def put(self, entities: Collection[Entity]) -> None:
        """Add or replace entities; none of them on a conflict.

        Raises:
            Conflict: another entity has the same key.
        """
        session = self._session
        state = session.rows(_STATE, {"ids": listed({entity.id for entity in entities}), "tenant": session.tenant})
        self._check_keys(entities, {row[0]: EntityKey(row[2], row[3]) for row in state})
        rows = [self._row(entity) for entity in entities]
        session.run_many(_PUT, rows)
        known = {row[0]: (row[4], row[5]) for row in state}
        renew_text(session, [str(row[1]) for row in rows if known.get(row[1]) != (row[4], row[13])])

    def put_aliases(self, aliases: Collection[Alias]) -> None:
        """Add aliases; one that is there stays as it is.

        Raises:
            Conflict: there is no such entity.
        """
        keys = self._keys({alias.entity_id for alias in aliases})
        if missing := {alias.entity_id for alias in aliases} - keys.keys():
            raise Conflict(f"an alias needs its entity {min(missing)}")
        tenant = self._session.tenant
        rows = [(tenant, keys[alias.entity_id], alias.name, alias.name_key) for alias in aliases]
        if self._session.run_many(_ADD_ALIAS, rows):
            renew_text(self._session, keys)

    def delete_aliases(self, aliases: Collection[Alias]) -> int:
        """Remove aliases by entity and name key."""
        keys = self._keys({alias.entity_id for alias in aliases})
        rows = [
            (keys[alias.entity_id], alias.name_key, self._session.tenant)
            for alias in aliases
            if alias.entity_id in keys
        ]
        count = self._session.run_many(_DELETE_ALIAS, rows)
        if count:
            renew_text(self._session, keys)
        return count

    def delete(self, ids: Collection[str]) -> int:
        """Remove entities with all that hangs on them.

        Raises:
            Conflict: a relation still ends at one of them.
        """
        session = self._session
        keys = self._keys(set(ids))
        pks = listed(keys.values())
        if held := session.row(_LINK, (pks,)):
            relation, end = held
            raise Conflict(f"relation {relation} still ends at {end}", existing_id=relation)
        forget_text(session, keys.values())
        session.run(_DELETE_VECTORS, (session.tenant, VectorOwner.ENTITY.value, listed(keys)))
        return session.run(_DELETE, (session.tenant, pks))

    def add_evidence(self, evidence: Collection[Evidence]) -> None:
        """Add contributions.

        Raises:
            Conflict: there is no such entity.
        """
        ENTITY_EVIDENCE.add(self._session, evidence)

    def delete_evidence(self, where: EvidenceFilter) -> Sequence[str]:
        """Remove contributions; return the ids of the entities that lost some."""
        return ENTITY_EVIDENCE.delete(self._session, where)

    def put_evidence(self, evidence: Mapping[str, Sequence[Evidence]]) -> None:
        """Replace the evidence for these entities."""
        ENTITY_EVIDENCE.replace(self._session, evidence)

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingEntity], str | None]:
        """Read a slice of all entities, as they were stored."""
        rows = self._session.rows(_SCAN, (int(after or 0), self._session.tenant, limit + 1))
        self._scanned = {row[1]: row[0] for row in rows}
        part = [
            FadingEntity(id_, type_, name, confidence, since, bool(is_exempt))
            for _, id_, type_, name, confidence, since, is_exempt in rows[:limit]
        ]
        return part, str(rows[limit - 1][0]) if len(rows) > limit else None

    def fade(self, faded: Iterable[Faded]) -> int:
        """Write decayed confidences where they still apply."""
        unknown: list[Faded] = []
        count = self._session.run_many(_FADE, fading_rows(faded, self._scanned, unknown))
        if unknown:
            keys = self._keys({value.id for value in unknown})
            count += self._session.run_many(_FADE, fading_rows(unknown, keys, []))
        return count

    def _keys(self, ids: Collection[str]) -> dict[str, int]:
        return dict(self._session.rows(_KEYS, (listed(ids), self._session.tenant)))

    def _check_keys(self, entities: Collection[Entity], keys: dict[str, EntityKey]) -> None:
        """Refuse a key that another entity has, seen in the order in which they are put."""
        wanted = listed([list(entity.key) for entity in entities])
        rows = self._session.rows(_HOLDERS, (wanted, self._session.tenant))
        holders = {EntityKey(type_key, name_key): id_ for type_key, name_key, id_ in rows}
        for entity in entities:
            key = entity.key
            if (holder := holders.setdefault(key, entity.id)) != entity.id:
                raise Conflict(f"{entity.type} {entity.name} exists as {holder}", existing_id=holder)
            if (before := keys.get(entity.id)) is not None and before != key:
                holders.pop(before, None)
            keys[entity.id] = key

    def _row(self, entity: Entity) -> tuple[Value, ...]:
        key = entity.key
        return (
            self._session.tenant,
            entity.id,
            entity.type,
            key.type_key,
            entity.name,
            key.name_key,
            entity.confidence,
            to_micros(entity.created_at),
            to_micros(entity.last_seen),
            micros(entity.decayed_at),
            entity.mention_count,
            int(entity.is_exempt_from_decay),
            entity.source_file,
            to_json(entity.properties),
        )
