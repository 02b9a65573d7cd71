"""Statements on relations, and relations to columns and back."""

from collections.abc import Mapping

from graph_memory.adapters.sqlite.rows import (
    from_json,
    instant,
    maybe_instant,
    micros,
    provenance,
    provenance_columns,
    to_json,
)
from graph_memory.adapters.sqlite.session import Row, Value, composed
from graph_memory.domain.instants import to_micros
from graph_memory.domain.relations import Relation

_COLUMNS = """relations.id, sources.id, relations.type, targets.id, relations.weight, relations.ingested_at,
    relations.last_confirmed, relations.valid_at, relations.invalid_at, relations.decayed_at, relations.properties,
    relations.source_type, relations.session, relations.transcript, relations.file, relations.memory_id"""
_ENDS = """
    cross join entities as sources on sources.pk = relations.source
    cross join entities as targets on targets.pk = relations.target
"""
FIND = composed(
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
CURRENT = composed(_VERSIONS, which="relations.past_id = ''")
ALL = composed(_VERSIONS, which="true")
FIND_FROM = composed(
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
OF_TYPES = "relations.type_key in (select value from json_each(:types))"
NEIGHBOURS = composed(
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
            and $leaving
        union all
        select relations.pk, relations.weight, relations.id from near
        cross join relations on relations.target = near.pk
        where $where and relations.source not in (select pk from excluded)
            and $entering
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
    leaving="$leaving",
    entering="$entering",
)
WITHIN = {
    "leaving": "(relations.source not in (select pk from excluded) or relations.target not in (select pk from near))",
    "entering": "relations.source not in (select pk from near)",
}
"""What keeps relations within `near` from being listed twice, or at all where an end is excluded."""
NONE_WITHIN = {"leaving": "true", "entering": "true"}
"""Enough where all of `near` is excluded, as in every hop of a walk: two checks less for each relation of a hub."""
BETWEEN = composed(
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
PAGE = composed(
    """
    select $columns from relations $ends
    where relations.tenant = :tenant and relations.id $is_beyond :after and $where
    order by relations.id limit :limit
    """,
    columns=_COLUMNS,
    ends=_ENDS,
    is_beyond="$is_beyond",
    where="$where",
)
COUNT = "select count(*) from relations where relations.tenant = :tenant and $where"
TYPES = """
    select type_key, count(*) from relations where relations.tenant = :tenant and $where group by type_key
"""
MEAN = "select avg(relations.weight) from relations where relations.tenant = :tenant and $where"
# The index has the current ones of a type first, then the past ones: each part has its first at once.
TYPE_SPELLING = """
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
KEYS = """
    select relations.id, relations.pk from json_each(?) as wanted
    cross join relations on relations.tenant = ? and relations.id = wanted.value
"""
ENTITY_KEYS = """
    select entities.id, entities.pk from json_each(?) as wanted
    cross join entities on entities.tenant = ? and entities.id = wanted.value
"""
HOLDERS = """
    select wanted.key, relations.id from json_each(?) as wanted
    cross join relations on relations.source = wanted.value ->> 0 and relations.type_key = wanted.value ->> 1
        and relations.target = wanted.value ->> 2 and relations.past_id = ''
"""
PARK = """
    update relations set invalid_at = ingested_at, past_id = id
    where tenant = ? and id in (select value from json_each(?)) and invalid_at is null
"""
PUT = """
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
DELETE = "delete from relations where tenant = ? and id in (select value from json_each(?))"
DELETE_OF_ENTITIES = """
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
SCAN = """
    select pk, id, weight, coalesce(decayed_at, last_confirmed) from relations not indexed
    where pk > ? and tenant = ? and past_id = '' order by pk limit ?
"""
SCAN_LINKS = """
    select relations.pk, sources.id, targets.id, relations.weight from relations not indexed
    cross join entities as sources on sources.pk = relations.source
    cross join entities as targets on targets.pk = relations.target
    where relations.pk > ? and relations.tenant = ? and relations.past_id = '' order by relations.pk limit ?
"""
FADE = """
    update relations set weight = ?, decayed_at = ?
    where pk = ? and id = ? and weight = ? and (decayed_at is null or decayed_at <= ?)
"""


def read_relation(row: Row) -> Relation:
    """Read a relation from its columns."""
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


def columns_of(relation: Relation, tenant: int, ends: Mapping[str, int]) -> tuple[Value, ...]:
    """Write a relation as the columns of `PUT`; `ends` are the keys of entities in the file."""
    return (
        tenant,
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
