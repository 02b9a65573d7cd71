"""Decay that is due on single synapses: applied before anything else changes their weights."""

from collections.abc import Collection, Mapping
from datetime import datetime

from graph_memory.domain.instants import days_between
from graph_memory.domain.memories import Synapse, SynapseKey
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.synapse_decay import (
    DECAY_MATRIX,
    DecayMatrix,
    FadingWeight,
    decay_matrix,
    rate_of,
    settled,
)
from graph_memory.ports.store import ReadTransaction


def read_matrix(tx: ReadTransaction) -> DecayMatrix:
    """Read the decay matrix; a store that has none yet fades by the usual one."""
    return decay_matrix(tx.synapses.decay_rates() or DECAY_MATRIX)


def settled_weights(
    tx: ReadTransaction, synapses: Collection[Synapse], now: datetime, policy: MemoryPolicy
) -> Mapping[SynapseKey, float]:
    """Return what synapses weigh once the decay due by `now` is applied; nothing is written.

    Most synapses that change were touched lately: then nothing is read either.
    """
    weights = {synapse.key: synapse.weight for synapse in synapses}
    due = [it for it in synapses if days_between(_touched_at(it), now) >= policy.decay_days]
    if due:
        matrix = read_matrix(tx)
        ends = tx.memories.find({end for synapse in due for end in (synapse.source_id, synapse.target_id)})
        for synapse in due:
            source, target = ends[synapse.source_id], ends[synapse.target_id]
            rate = rate_of(matrix, source.layer, target.layer, synapse.connection_type)
            weights[synapse.key] = settled(_fading_weight(synapse, rate), now, policy)
    return weights


def _touched_at(synapse: Synapse) -> datetime:
    return max(synapse.updated_at, synapse.accessed_at or synapse.updated_at)


def _fading_weight(synapse: Synapse, rate: float) -> FadingWeight:
    return FadingWeight(
        synapse.weight,
        synapse.decayed_at or synapse.updated_at,
        _touched_at(synapse),
        synapse.connection_type,
        rate,
        synapse.cycle_access_count,
    )
