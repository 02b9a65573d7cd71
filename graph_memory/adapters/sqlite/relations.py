"""Relations and their versions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from graph_memory.adapters.sqlite.evidence import RELATION_EVIDENCE
from graph_memory.adapters.sqlite.filters import relations_that
from graph_memory.adapters.sqlite.rows import (
    from_json,
    instant,
    listed,
    maybe_instant,
    micros,
    provenance,
    provenance_columns,
    to_json,
)
from graph_memory.adapters.sqlite.session import Row, Session, Value, composed
from graph_memory.domain.entities import Evidence
from graph_memory.domain.errors import Conflict
from graph_memory.domain.instants import to_micros
from graph_memory.domain.relations import Relation, RelationFilter, RelationKey
from graph_memory.ports.graph_rows import EvidenceFilter, Faded, FadingRelation

_COLUMNS = """relations.id, sources.id, relations.type, targets.id, relations.weight, relations.ingested_at,
    relations.last_confirmed, relations.valid_at, relations.invalid_at, relations.decayed_at, relations.properties,
    relations.source_type, relations.session, relations.transcript, relations.file, relations.memory_id"""
_ENDS = """
    cross join entities as sources on sources.pk = relations.source
    cross join entities as targets on targets.pk = relations.target
"""
_FIND = composed(
    """
    select $columns from json_each(?) as wanted
    cross join relations on relations.tenant = ? and relations.id = wanted.value
    $ends
    """,
    columns=_COLUMNS,
    ends=_ENDS,
)
_VERSIONS = composed(
    """
    select $columns from json_each(:keys) as wanted
    cross join entities as sources on sources.tenant = :tenant and sources.id = wanted.value ->> 0
    cross join entities as targets on targets.tenant = :tenant and targets.id = wanted.value ->> 2
    cross join relations on relations.source = sources.pk and relations.type_key = wanted.value ->> 1
        and relations.target = targets.pk and $which
    order by relations.ingested_at, relations.id
    """,
    columns=_COLUMNS,
    which="$which",
)
_CURRENT = composed(_VERSIONS, which="relations.past_id = ''")
_ALL = composed(_VERSIONS, which="true")
_FIND_FROM = composed(
    """
    select $columns from json_each(:sources) as wanted
    cross join entities as sources on sources.tenant = :tenant and sources.id = wanted.value
    cross join relations on relations.source = sources.pk and $types and $where
    cross join entities as targets on targets.pk = relations.target
    order by sources.id, relations.type_key, relations.id
    """,
    columns=_COLUMNS,
    types="$types",
    where="$where",
)
_OF_TYPES = "relations.type_key in (select value from json_each(:types))"
_NEIGHBOURS = composed(
    """
    with near (pk) as materialized (
        select entities.pk from json_each(:ids) as wanted
        cross join entities on entities.tenant = :tenant and entities.id = wanted.value
    ),
    excluded (pk) as materialized (
        select entities.pk from json_each(:exclude) as wanted
        cross join entities on entities.tenant = :tenant and entities.id = wanted.value
    ),
    strongest as materialized (
        select relations.pk, relations.weight, relations.id from near
        cross join relations on relations.source = near.pk
        where $where and relations.target not in (select pk from excluded)
            and (relations.source not in (select pk from excluded) or relations.target not in (select pk from near))
        union all
        select relations.pk, relations.weight, relations.id from near
        cross join relations on relations.target = near.pk
        where $where and relations.source not in (select pk from excluded)
            and relations.source not in (select pk from near)
        order by 2 desc, 3
        limit :limit
    )
    select $columns from strongest
    cross join relations on relations.pk = strongest.pk
    $ends
    order by strongest.weight desc, strongest.id
    """,
    columns=_COLUMNS,
    ends=_ENDS,
    where="$where",
)
_BETWEEN = composed(
    """
    with near (pk) as materialized (
        select entities.pk from json_each(:ids) as wanted
        cross join entities on entities.tenant = :tenant and entities.id = wanted.value
    )
    select $columns from near
    cross join relations on relations.source = near.pk and relations.target in (select pk from near)
    $ends
    where $where
    order by relations.weight desc, relations.id
    limit :limit
    """,
    columns=_COLUMNS,
    ends=_ENDS,
    where="$where",
)
_PAGE = composed(
    """
    select $columns from relations $ends
    where relations.tenant = :tenant and relations.id > :after and $where
    order by relations.id limit :limit
    """,
    columns=_COLUMNS,
    ends=_ENDS,
    where="$where",
)
_COUNT = "select count(*) from relations where relations.tenant = :tenant and $where"
_TYPES = """
    select type_key, count(*) from relations where relations.tenant = :tenant and $where group by type_key
"""
_MEAN = "select avg(relations.weight) from relations where relations.tenant = :tenant and $where"
# The index has the current ones of a type first, then the past ones: each part has its first at once.
_TYPE_SPELLING = """
    select wanted.value, relations.type from json_each(:keys) as wanted
    cross join relations on relations.pk = (
        select min(pk) from (
            select min(pk) as pk from relations
            where tenant = :tenant and type_key = wanted.value and past_id = ''
            union all
            select min(pk) from relations
            where tenant = :tenant and type_key = wanted.value and past_id > ''
        )
    )
"""
_ENTITY_KEYS = """
    select entities.id, entities.pk from json_each(?) as wanted
    cross join entities on entities.tenant = ? and entities.id = wanted.value
"""
_HOLDERS = """
    select wanted.key, relations.id from json_each(?) as wanted
    cross join relations on relations.source = wanted.value ->> 0 and relations.type_key = wanted.value ->> 1
        and relations.target = wanted.value ->> 2 and relations.past_id = ''
"""
_PARK = """
    update relations set invalid_at = ingested_at, past_id = id
    where tenant = ? and id in (select value from json_each(?)) and invalid_at is null
"""
_PUT = """
    insert into relations (tenant, id, source, target, type, type_key, weight, ingested_at, last_confirmed, valid_at,
        invalid_at, decayed_at, source_type, session, transcript, file, memory_id, past_id, properties)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (tenant, id) do update set
        source = excluded.source, target = excluded.target, type = excluded.type, type_key = excluded.type_key,
        weight = excluded.weight, ingested_at = excluded.ingested_at, last_confirmed = excluded.last_confirmed,
        valid_at = excluded.valid_at, invalid_at = excluded.invalid_at, decayed_at = excluded.decayed_at,
        source_type = excluded.source_type, session = excluded.session, transcript = excluded.transcript,
        file = excluded.file, memory_id = excluded.memory_id, past_id = excluded.past_id,
        properties = excluded.properties
"""
_DELETE = "delete from relations where tenant = ? and id in (select value from json_each(?))"
_DELETE_OF_ENTITIES = """
    with ends (pk) as materialized (
        select entities.pk from json_each(?) as wanted
        cross join entities on entities.tenant = ? and entities.id = wanted.value
    )
    delete from relations where pk in (
        select relations.pk from ends cross join relations on relations.source = ends.pk
        union
        select relations.pk from ends cross join relations on relations.target = ends.pk
    )
"""
_SCAN = """
    select pk, id, weight, coalesce(decayed_at, last_confirmed) from relations not indexed
    where pk > ? and tenant = ? and past_id = '' order by pk limit ?
"""
_FADE = """
    update relations set weight = ?, decayed_at = ?
    where tenant = ? and id = ? and weight = ? and (decayed_at is null or decayed_at <= ?)
"""


def _relation(row: Row) -> Relation:
    (id_, source, type_, target, weight, ingested_at, last_confirmed, valid_at, invalid_at, decayed_at, properties) = (
        row[:11]
    )
    return Relation(
        id_,
        source,
        type_,
        target,
        weight,
        instant(ingested_at),
        instant(last_confirmed),
        maybe_instant(valid_at),
        maybe_instant(invalid_at),
        maybe_instant(decayed_at),
        from_json(properties),
        provenance(*row[11:]),
    )


class SqliteRelationReader:
    """Find relations; see `RelationReader`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, ids: Collection[str]) -> Mapping[str, Relation]:
        """Find versions by id."""
        rows = self._session.rows(_FIND, (listed(ids), self._session.tenant))
        return {row[0]: _relation(row) for row in rows}

    def find_current(self, keys: Collection[RelationKey]) -> Mapping[RelationKey, Relation]:
        """Find the current version of each key."""
        return {relation.key: relation for relation in self._of_keys(_CURRENT, keys)}

    def find_from(
        self, source_ids: Collection[str], type_keys: Collection[str] | None, where: RelationFilter
    ) -> Sequence[Relation]:
        """List the relations that leave entities, by source id, type key, id."""
        condition = relations_that(where)
        values: dict[str, Value] = {
            "sources": listed(set(source_ids)),
            "tenant": self._session.tenant,
            **condition.values,
        }
        if type_keys is not None:
            values["types"] = listed(type_keys)
        types = "true" if type_keys is None else _OF_TYPES
        return self._relations(composed(_FIND_FROM, types=types, where=condition.sql), values)

    def versions(self, keys: Collection[RelationKey]) -> Mapping[RelationKey, Sequence[Relation]]:
        """List every version of each key, by `ingested_at`, then id."""
        found: defaultdict[RelationKey, list[Relation]] = defaultdict(list)
        for relation in self._of_keys(_ALL, keys):
            found[relation.key].append(relation)
        return dict(found)

    def neighbours(
        self, ids: Collection[str], where: RelationFilter, *, exclude: Collection[str] = (), limit: int
    ) -> Sequence[Relation]:
        """List relations at `ids` whose other end is not excluded; strongest first."""
        condition = relations_that(where)
        values = {
            "ids": listed(set(ids)),
            "exclude": listed(exclude),
            "tenant": self._session.tenant,
            "limit": limit,
            **condition.values,
        }
        return self._relations(composed(_NEIGHBOURS, where=condition.sql), values)

    def between(self, ids: Collection[str], where: RelationFilter, limit: int) -> Sequence[Relation]:
        """List relations that have both ends in `ids`; strongest first."""
        condition = relations_that(where)
        values = {"ids": listed(set(ids)), "tenant": self._session.tenant, "limit": limit, **condition.values}
        return self._relations(composed(_BETWEEN, where=condition.sql), values)

    def page(self, where: RelationFilter, after: str | None, limit: int) -> Sequence[Relation]:
        """List relations by id, from the first past `after`."""
        condition = relations_that(where)
        values = {"tenant": self._session.tenant, "after": after or "", "limit": limit, **condition.values}
        return self._relations(composed(_PAGE, where=condition.sql), values)

    def count(self, where: RelationFilter) -> int:
        """Count relations."""
        return int(self._aggregate(_COUNT, where)[0][0])

    def count_by_type(self, where: RelationFilter) -> Mapping[str, int]:
        """Count relations by type, under the spelling that `type_spelling` finds."""
        counts: dict[str, int] = dict(self._aggregate(_TYPES, where))
        spelling = self.type_spelling(counts)
        return {spelling[key]: count for key, count in counts.items()}

    def mean_weight(self, where: RelationFilter) -> float:
        """Return the mean weight, 0 where there are none."""
        return float(self._aggregate(_MEAN, where)[0][0] or 0.0)

    def type_spelling(self, type_keys: Collection[str]) -> Mapping[str, str]:
        """Find the spelling of the relation first stored with each type."""
        values: dict[str, Value] = {"keys": listed(type_keys), "tenant": self._session.tenant}
        return dict(self._session.rows(_TYPE_SPELLING, values))

    def evidence(self, ids: Collection[str]) -> Mapping[str, Sequence[Evidence]]:
        """List evidence; versions without any are left out."""
        return RELATION_EVIDENCE.find(self._session, set(ids))

    def _of_keys(self, statement: str, keys: Collection[RelationKey]) -> Sequence[Relation]:
        values: dict[str, Value] = {"keys": listed([list(key) for key in set(keys)]), "tenant": self._session.tenant}
        return self._relations(statement, values)

    def _relations(self, statement: str, values: Mapping[str, Value]) -> Sequence[Relation]:
        return [_relation(row) for row in self._session.rows(statement, values)]

    def _aggregate(self, template: str, where: RelationFilter) -> list[Row]:
        condition = relations_that(where)
        values = {"tenant": self._session.tenant, **condition.values}
        return self._session.rows(composed(template, where=condition.sql), values)


class SqliteRelationWriter(SqliteRelationReader):
    """Change relations; see `RelationWriter`."""

    def put(self, relations: Collection[Relation]) -> None:
        """Add or replace versions, superseded ones first; none of them on a conflict.

        Raises:
            Conflict: a key would have two current versions, or an end does not exist.
        """
        session = self._session
        latest = {relation.id: relation for relation in relations}
        ends = {end for relation in latest.values() for end in (relation.source_id, relation.target_id)}
        keys: dict[str, int] = dict(session.rows(_ENTITY_KEYS, (listed(ends), session.tenant)))
        if missing := ends - keys.keys():
            raise Conflict(f"a relation needs its end {min(missing)}")
        if self._check_current(latest, keys):
            session.run(_PARK, (session.tenant, listed(latest)))
        ordered = sorted(latest.values(), key=lambda version: version.is_current)
        session.run_many(_PUT, [self._row(relation, keys) for relation in ordered])

    def delete(self, ids: Collection[str]) -> int:
        """Remove versions with their evidence."""
        return self._session.run(_DELETE, (self._session.tenant, listed(ids)))

    def delete_of_entities(self, entity_ids: Collection[str]) -> int:
        """Remove every version at these entities, with their evidence."""
        return self._session.run(_DELETE_OF_ENTITIES, (listed(entity_ids), self._session.tenant))

    def add_evidence(self, evidence: Collection[Evidence]) -> None:
        """Add contributions.

        Raises:
            Conflict: there is no such version.
        """
        RELATION_EVIDENCE.add(self._session, evidence)

    def delete_evidence(self, where: EvidenceFilter) -> Sequence[str]:
        """Remove contributions; return the ids of the versions that lost some."""
        return RELATION_EVIDENCE.delete(self._session, where)

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingRelation], str | None]:
        """Read a slice of all current relations, as they were stored."""
        rows = self._session.rows(_SCAN, (int(after or 0), self._session.tenant, limit + 1))
        part = [FadingRelation(id_, weight, instant(since)) for _, id_, weight, since in rows[:limit]]
        return part, str(rows[limit - 1][0]) if len(rows) > limit else None

    def fade(self, faded: Iterable[Faded]) -> int:
        """Write decayed weights where they still apply."""
        tenant = self._session.tenant
        rows = ((new, at := to_micros(until), tenant, id_, old, at) for id_, old, new, until in faded)
        return self._session.run_many(_FADE, rows)

    def _check_current(self, latest: Mapping[str, Relation], ends: Mapping[str, int]) -> bool:
        """Refuse a second current version of a key; tell whether one of the batch has to make way for another."""
        current: dict[RelationKey, str] = {}
        for relation in latest.values():
            if relation.is_current and (other := current.setdefault(relation.key, relation.id)) != relation.id:
                raise Conflict(f"{other} and {relation.id} would both be current", existing_id=other)
        keys = list(current)
        wanted = listed([[ends[key.source_id], key.type_key, ends[key.target_id]] for key in keys])
        must_make_way = False
        for place, holder in self._session.rows(_HOLDERS, (wanted,)):
            newcomer = current[keys[place]]
            if holder != newcomer and (holder not in latest):
                raise Conflict(f"{newcomer} can't be current beside {holder}", existing_id=holder)
            must_make_way = must_make_way or (holder != newcomer and latest[holder].is_current)
        return must_make_way

    def _row(self, relation: Relation, ends: Mapping[str, int]) -> tuple[Value, ...]:
        return (
            self._session.tenant,
            relation.id,
            ends[relation.source_id],
            ends[relation.target_id],
            relation.type,
            relation.key.type_key,
            relation.weight,
            to_micros(relation.ingested_at),
            to_micros(relation.last_confirmed),
            micros(relation.valid_at),
            micros(relation.invalid_at),
            micros(relation.decayed_at),
            *provenance_columns(relation.provenance),
            "" if relation.is_current else relation.id,
            to_json(relation.properties),
        )
