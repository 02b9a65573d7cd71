"""Synapses between memories, and the decay matrix."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from graph_memory.adapters.sqlite.filters import synapses_that
from graph_memory.adapters.sqlite.rows import instant, listed, maybe_instant, micros
from graph_memory.adapters.sqlite.session import Row, Session, Value, composed
from graph_memory.domain.errors import Conflict
from graph_memory.domain.instants import to_micros
from graph_memory.domain.memories import ConnectionType, DecayRate, Direction, Synapse, SynapseFilter, SynapseKey
from graph_memory.ports.memory_rows import Degree, FadedSynapse, FadingSynapse

_COLUMNS = """synapses.source_id, synapses.target_id, synapses.connection_type, synapses.weight, synapses.created_at,
    synapses.updated_at, synapses.decayed_at, synapses.accessed_at, synapses.access_count,
    synapses.cycle_access_count"""
_ORDER = "synapses.source_id, synapses.target_id, synapses.connection_type"
_KEY = """synapses.source_id = wanted.value ->> 0 and synapses.target_id = wanted.value ->> 1
    and synapses.connection_type = wanted.value ->> 2 and synapses.tenant = ?"""

_FIND = composed("select $columns from json_each(?) as wanted cross join synapses on $key", columns=_COLUMNS, key=_KEY)
_OUT = """
    select $columns from json_each(:ids) as near
    cross join synapses on synapses.source_id = near.value and synapses.tenant = :tenant
    where $where and synapses.target_id not in (select value from json_each(:exclude))
        and (synapses.source_id not in (select value from json_each(:exclude))
            or synapses.target_id not in (select value from json_each(:ids)))
"""
_IN = """
    select $columns from json_each(:ids) as near
    cross join synapses on synapses.target_id = near.value and synapses.tenant = :tenant
    where $where and synapses.source_id not in (select value from json_each(:exclude))
        and (synapses.target_id not in (select value from json_each(:exclude))
            or synapses.source_id not in (select value from json_each(:ids)))
"""
_ONLY_IN = composed("$in_ and synapses.source_id not in (select value from json_each(:ids))", in_=_IN)
_HEAVIEST = " order by 4 desc, 1, 2, 3 limit :limit"
_BOTH = composed("$out union all $only_in", out=_OUT, only_in=_ONLY_IN)
_OF_MEMORIES = {
    Direction.OUT: _OUT + _HEAVIEST,
    Direction.IN: _IN + _HEAVIEST,
    Direction.BOTH: _BOTH + _HEAVIEST,
}
_DEGREES = """
    select memories.id,
        (select count(*) from synapses where source_id = memories.id),
        (select count(*) from synapses where target_id = memories.id)
    from json_each(?) as wanted cross join memories on memories.id = wanted.value and memories.tenant = ?
"""
_LIGHTEST = """
    select $columns from synapses
    where synapses.$end = ? and synapses.tenant = ? and synapses.connection_type = ?
    order by synapses.weight, $order limit ?
"""
_COUNT_BY_TYPE = "select connection_type, count(*) from synapses where tenant = ? group by connection_type"
_PAGE = composed(
    """
    select $columns from synapses
    where ($order) > (?, ?, ?) and synapses.tenant = ?
    order by $order limit ?
    """,
    columns=_COLUMNS,
    order=_ORDER,
)
_MISSING = """
    select wanted.value from json_each(?) as wanted
    where not exists (select 1 from memories where memories.id = wanted.value and memories.tenant = ?) limit 1
"""
_PUT = """
    insert into synapses (source_id, target_id, connection_type, weight, created_at, updated_at, decayed_at,
        accessed_at, access_count, cycle_access_count, tenant)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (source_id, target_id, connection_type, tenant) do update set
        weight = excluded.weight, created_at = excluded.created_at, updated_at = excluded.updated_at,
        decayed_at = excluded.decayed_at, accessed_at = excluded.accessed_at, access_count = excluded.access_count,
        cycle_access_count = excluded.cycle_access_count
"""
_DELETE = composed(
    """
    delete from synapses where pk in (select synapses.pk from json_each(?) as wanted cross join synapses on $key)
    """,
    key=_KEY,
)
_TOUCH = composed(
    """
    update synapses set accessed_at = ?, access_count = access_count + 1, cycle_access_count = cycle_access_count + 1
    where pk in (select synapses.pk from json_each(?) as wanted cross join synapses on $key)
    """,
    key=_KEY,
)
_RATES = """
    select source_layer, target_layer, connection_type, decay_rate from decay_matrix where tenant = ? order by 1, 2, 3
"""
_DELETE_RATES = "delete from decay_matrix where tenant = ?"
_PUT_RATE = """
    insert into decay_matrix (tenant, source_layer, target_layer, connection_type, decay_rate) values (?, ?, ?, ?, ?)
    on conflict (tenant, source_layer, target_layer, connection_type) do update set decay_rate = excluded.decay_rate
"""
_SCAN = """
    select synapses.pk, synapses.source_id, synapses.target_id, synapses.connection_type, sources.layer, targets.layer,
        synapses.weight, coalesce(synapses.decayed_at, synapses.updated_at),
        max(synapses.updated_at, coalesce(synapses.accessed_at, synapses.updated_at)), synapses.cycle_access_count
    from synapses not indexed
    cross join memories as sources on sources.id = synapses.source_id
    cross join memories as targets on targets.id = synapses.target_id
    where synapses.pk > ? and synapses.tenant = ?
    order by synapses.pk limit ?
"""
_FADE = """
    update synapses set weight = ?, decayed_at = ?, cycle_access_count = 0
    where source_id = ? and target_id = ? and connection_type = ? and tenant = ? and weight = ?
"""


def _synapse(row: Row, first_key: int) -> Synapse:
    source_id, target_id, type_, weight, created_at, updated_at, decayed_at, accessed_at, accesses, in_cycle = row
    return Synapse(
        source_id - first_key,
        target_id - first_key,
        ConnectionType(type_),
        weight,
        instant(created_at),
        instant(updated_at),
        maybe_instant(decayed_at),
        maybe_instant(accessed_at),
        accesses,
        in_cycle,
    )


class SqliteSynapseReader:
    """Find synapses; see `SynapseReader`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, keys: Collection[SynapseKey]) -> Mapping[SynapseKey, Synapse]:
        """Find synapses by key."""
        return {synapse.key: synapse for synapse in self._synapses(_FIND, (self._keys(keys), self._session.tenant))}

    def of_memories(
        self, memory_ids: Collection[int], where: SynapseFilter, *, exclude: Collection[int] = (), limit: int
    ) -> Sequence[Synapse]:
        """List synapses at `memory_ids` whose other end is not excluded; heaviest first."""
        condition = synapses_that(where)
        values: dict[str, Value] = {
            "ids": self._session.memory_keys(memory_ids),
            "exclude": self._session.memory_keys(exclude),
            "tenant": self._session.tenant,
            "limit": limit,
            **condition.values,
        }
        statement = composed(_OF_MEMORIES[where.direction], columns=_COLUMNS, where=condition.sql)
        return self._synapses(statement, values)

    def degrees(self, memory_ids: Collection[int]) -> Mapping[int, Degree]:
        """Count the synapses of each memory."""
        first = self._session.first_key
        rows = self._session.rows(_DEGREES, (self._session.memory_keys(memory_ids), self._session.tenant))
        return {key - first: Degree(outgoing, incoming) for key, outgoing, incoming in rows}

    def lightest(
        self, memory_id: int, *, outgoing: bool, connection_type: ConnectionType, limit: int
    ) -> Sequence[Synapse]:
        """List the lightest synapses of one type on one side of a memory; lightest first."""
        statement = composed(_LIGHTEST, columns=_COLUMNS, order=_ORDER, end="source_id" if outgoing else "target_id")
        key = self._session.first_key + memory_id
        return self._synapses(statement, (key, self._session.tenant, connection_type.value, limit))

    def count_by_type(self) -> Mapping[str, int]:
        """Count synapses by connection type."""
        return dict(self._session.rows(_COUNT_BY_TYPE, (self._session.tenant,)))

    def page(self, after: SynapseKey | None, limit: int) -> Sequence[Synapse]:
        """List synapses by key, from the first past `after`."""
        first = self._session.first_key
        source_id, target_id, type_ = after or (0, 0, "")
        return self._synapses(_PAGE, (first + source_id, first + target_id, type_, self._session.tenant, limit))

    def decay_rates(self) -> Sequence[DecayRate]:
        """List the decay matrix by source layer, target layer, type."""
        rows = self._session.rows(_RATES, (self._session.tenant,))
        return [DecayRate(source, target, ConnectionType(type_), rate) for source, target, type_, rate in rows]

    def _synapses(self, statement: str, values: Sequence[Value] | Mapping[str, Value]) -> list[Synapse]:
        first_key = self._session.first_key
        return [_synapse(row, first_key) for row in self._session.rows(statement, values)]

    def _keys(self, keys: Collection[SynapseKey]) -> str:
        first = self._session.first_key
        return listed([[first + source_id, first + target_id, str(type_)] for source_id, target_id, type_ in keys])


class SqliteSynapseWriter(SqliteSynapseReader):
    """Change synapses; see `SynapseWriter`."""

    def put(self, synapses: Collection[Synapse]) -> None:
        """Add or replace synapses.

        Raises:
            Conflict: an end does not exist.
        """
        ends = {end for synapse in synapses for end in (synapse.source_id, synapse.target_id)}
        missing = self._session.value(_MISSING, (self._session.memory_keys(ends), self._session.tenant))
        if missing is not None:
            raise Conflict(f"a synapse needs its end {missing - self._session.first_key}")
        self._session.run_many(_PUT, [self._row(synapse) for synapse in synapses])

    def delete(self, keys: Collection[SynapseKey]) -> int:
        """Remove synapses."""
        return self._session.run(_DELETE, (self._keys(keys), self._session.tenant))

    def touch(self, keys: Collection[SynapseKey], at: datetime) -> None:
        """Count one access of each."""
        self._session.run(_TOUCH, (to_micros(at), self._keys(keys), self._session.tenant))

    def put_decay_rates(self, rates: Collection[DecayRate]) -> None:
        """Add or replace rows of the decay matrix."""
        tenant = self._session.tenant
        rows = [(tenant, rate.source_layer, rate.target_layer, rate.connection_type.value, rate.rate) for rate in rates]
        self._session.run_many(_PUT_RATE, rows)

    def delete_decay_rates(self) -> int:
        """Remove the decay matrix."""
        return self._session.run(_DELETE_RATES, (self._session.tenant,))

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingSynapse], str | None]:
        """Read a slice of all synapses, as they were stored."""
        first = self._session.first_key
        rows = self._session.rows(_SCAN, (int(after or 0), self._session.tenant, limit + 1))
        part = [
            FadingSynapse(
                SynapseKey(source_id - first, target_id - first, ConnectionType(type_)),
                source_layer,
                target_layer,
                weight,
                instant(since),
                instant(touched_at),
                accesses,
            )
            for _, source_id, target_id, type_, source_layer, target_layer, weight, since, touched_at, accesses in (
                rows[:limit]
            )
        ]
        return part, str(rows[limit - 1][0]) if len(rows) > limit else None

    def fade(self, faded: Iterable[FadedSynapse]) -> int:
        """Write decayed weights where they still apply."""
        tenant, first = self._session.tenant, self._session.first_key
        rows = (
            (
                new,
                to_micros(until),
                first + key.source_id,
                first + key.target_id,
                key.connection_type.value,
                tenant,
                old,
            )
            for key, old, new, until in faded
        )
        return self._session.run_many(_FADE, rows)

    def _row(self, synapse: Synapse) -> tuple[Value, ...]:
        first = self._session.first_key
        return (
            first + synapse.source_id,
            first + synapse.target_id,
            synapse.connection_type.value,
            synapse.weight,
            to_micros(synapse.created_at),
            to_micros(synapse.updated_at),
            micros(synapse.decayed_at),
            micros(synapse.accessed_at),
            synapse.access_count,
            synapse.cycle_access_count,
            self._session.tenant,
        )
