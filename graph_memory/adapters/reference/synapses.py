"""Synapses between memories, and the decay matrix."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from graph_memory.adapters.reference.rows import Rows, stored
from graph_memory.domain.errors import Conflict
from graph_memory.domain.memories import (
    ConnectionType,
    DecayRate,
    Direction,
    Synapse,
    SynapseFilter,
    SynapseKey,
    heaviest_first,
)
from graph_memory.ports.memory_rows import Degree, FadedSynapse, FadingSynapse


class ReferenceSynapseReader:
    """Find synapses; see `SynapseReader`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self, keys: Collection[SynapseKey]) -> Mapping[SynapseKey, Synapse]:
        """Find synapses by key."""
        return {key: self._rows.synapses[key] for key in keys if key in self._rows.synapses}

    def of_memories(
        self, memory_ids: Collection[int], where: SynapseFilter, *, exclude: Collection[int] = (), limit: int
    ) -> Sequence[Synapse]:
        """List synapses at `memory_ids` whose other end is not excluded; heaviest first."""
        near, excluded = set(memory_ids), set(exclude)
        found = [
            synapse
            for synapse in self._rows.synapses.values()
            if where.matches(synapse) and _leads_on(synapse.key, near, excluded, where.direction)
        ]
        return sorted(found, key=heaviest_first)[:limit]

    def degrees(self, memory_ids: Collection[int]) -> Mapping[int, Degree]:
        """Count the synapses of each memory."""
        outgoing = Counter(key.source_id for key in self._rows.synapses)
        incoming = Counter(key.target_id for key in self._rows.synapses)
        return {id_: Degree(outgoing[id_], incoming[id_]) for id_ in memory_ids if id_ in self._rows.memories}

    def lightest(
        self, memory_id: int, *, outgoing: bool, connection_type: ConnectionType, limit: int
    ) -> Sequence[Synapse]:
        """List the lightest synapses of one type on one side of a memory; lightest first."""
        found = [
            synapse
            for key, synapse in self._rows.synapses.items()
            if key.connection_type is connection_type and memory_id == (key.source_id if outgoing else key.target_id)
        ]
        return sorted(found, key=lambda synapse: (synapse.weight, synapse.key))[:limit]

    def count_by_type(self) -> Mapping[str, int]:
        """Count synapses by connection type."""
        return Counter(str(key.connection_type) for key in self._rows.synapses)

    def page(self, after: SynapseKey | None, limit: int) -> Sequence[Synapse]:
        """List synapses by key, from the first past `after`."""
        keys = sorted(key for key in self._rows.synapses if after is None or key > after)
        return [self._rows.synapses[key] for key in keys[:limit]]

    def decay_rates(self) -> Sequence[DecayRate]:
        """List the decay matrix by source layer, target layer, type."""
        return [rate for _, rate in sorted(self._rows.decay_rates.items())]


class ReferenceSynapseWriter(ReferenceSynapseReader):
    """Change synapses; see `SynapseWriter`."""

    def put(self, synapses: Collection[Synapse]) -> None:
        """Add or replace synapses; none of them on a conflict.

        Raises:
            Conflict: an end does not exist.
        """
        ends = {end for synapse in synapses for end in (synapse.source_id, synapse.target_id)}
        if missing := ends - self._rows.memories.keys():
            raise Conflict(f"a synapse needs its end {min(missing)}")
        self._rows.synapses.update({synapse.key: stored(synapse) for synapse in synapses})

    def delete(self, keys: Collection[SynapseKey]) -> int:
        """Remove synapses."""
        doomed = set(keys) & self._rows.synapses.keys()
        for key in doomed:
            del self._rows.synapses[key]
        return len(doomed)

    def touch(self, keys: Collection[SynapseKey], at: datetime) -> None:
        """Count one access of each."""
        for key, synapse in self.find(set(keys)).items():
            count, in_cycle = synapse.access_count + 1, synapse.cycle_access_count + 1
            touched = replace(synapse, accessed_at=at, access_count=count, cycle_access_count=in_cycle)
            self._rows.synapses[key] = stored(touched)

    def put_decay_rates(self, rates: Collection[DecayRate]) -> None:
        """Add or replace rows of the decay matrix."""
        for rate in rates:
            self._rows.decay_rates[rate.source_layer, rate.target_layer, rate.connection_type] = rate

    def delete_decay_rates(self) -> int:
        """Remove the decay matrix."""
        count = len(self._rows.decay_rates)
        self._rows.decay_rates.clear()
        return count

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingSynapse], str | None]:
        """Read a slice of all synapses, by key; the text that says where the next begins is a key's parts."""
        part = self.page(None if after is None else _read_cursor(after), limit + 1)
        next_after = _write_cursor(part[limit - 1].key) if len(part) > limit else None
        return [self._fading(synapse) for synapse in part[:limit]], next_after

    def fade(self, faded: Iterable[FadedSynapse]) -> int:
        """Write decayed weights where they still apply."""
        count = 0
        for value in faded:
            synapse = self._rows.synapses.get(value.key)
            if synapse is not None and synapse.weight == value.old:
                faded_synapse = replace(synapse, weight=value.new, decayed_at=value.until, cycle_access_count=0)
                self._rows.synapses[value.key] = stored(faded_synapse)
                count += 1
        return count

    def _fading(self, synapse: Synapse) -> FadingSynapse:
        return FadingSynapse(
            key=synapse.key,
            source_layer=self._rows.memories[synapse.source_id].layer,
            target_layer=self._rows.memories[synapse.target_id].layer,
            weight=synapse.weight,
            since=synapse.decayed_at or synapse.updated_at,
            touched_at=max(synapse.updated_at, synapse.accessed_at or synapse.updated_at),
            cycle_access_count=synapse.cycle_access_count,
        )


def _leads_on(key: SynapseKey, near: set[int], excluded: set[int], direction: Direction) -> bool:
    """Tell whether a synapse leads from `near`, that way, to ends that are all wanted; within `near`, to both."""
    leaves, enters = key.source_id in near, key.target_id in near
    is_meant = (leaves and direction is not Direction.IN) or (enters and direction is not Direction.OUT)
    far = {key.target_id} if leaves else set()
    far |= {key.source_id} if enters else set()
    return is_meant and not far & excluded


def _write_cursor(key: SynapseKey) -> str:
    return " ".join(str(part) for part in key)


def _read_cursor(after: str) -> SynapseKey:
    source, target, connection_type = after.split(" ")
    return SynapseKey(int(source), int(target), ConnectionType(connection_type))
