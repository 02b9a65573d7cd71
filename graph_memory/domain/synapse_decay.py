"""How synapses fade: by rate per cycle, by elapsed time, slower when they are used."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import days_between
from graph_memory.domain.memories import MAX_SYNAPSE_WEIGHT, ConnectionType, DecayRate, Layer
from graph_memory.domain.memory_policy import MemoryPolicy

ANY_LAYER = "*"
MAX_DECAY_DAYS = 36_500.0
DEFAULT_RATE = 0.85
"""Per cycle, for pairs of layers without a row."""
FADING_TYPES = frozenset({ConnectionType.WIKILINK, ConnectionType.BM25_AUTO})
"""Structure (`parent_child`, `sequence`) doesn't fade."""
_IN_USE = ((10, 0.99), (3, 0.97))
"""More accesses than the first in a cycle: at least the second as its rate."""
_PAIRS: tuple[tuple[str, str, float, float], ...] = (
    (Layer.PROCEDURAL, Layer.PROCEDURAL, 0.995, 0.98),
    (Layer.PROCEDURAL, Layer.SEMANTIC, 0.99, 0.94),
    (Layer.PROCEDURAL, Layer.EPISODIC, 0.97, 0.92),
    (Layer.PROCEDURAL, Layer.PARTNER, 0.99, 0.96),
    (Layer.SEMANTIC, Layer.SEMANTIC, 0.99, 0.93),
    (Layer.SEMANTIC, ANY_LAYER, 0.95, 0.85),
    (Layer.EPISODIC, Layer.EPISODIC, 0.95, 0.88),
    (Layer.EPISODIC, Layer.WORKING, 0.80, 0.60),
    (Layer.WORKING, Layer.WORKING, 0.70, 0.40),
    (Layer.PARTNER, Layer.PARTNER, 0.999, 0.97),
)
DECAY_MATRIX: tuple[DecayRate, ...] = tuple(
    DecayRate(str(source), str(target), connection_type, rate)
    for source, target, wikilink, automatic in _PAIRS
    for connection_type, rate in ((ConnectionType.WIKILINK, wikilink), (ConnectionType.BM25_AUTO, automatic))
)
"""The rows a store starts with; rates per cycle of seven days."""

DecayMatrix: TypeAlias = Mapping[tuple[str, str, ConnectionType], float]


def decay_matrix(rates: Iterable[DecayRate]) -> DecayMatrix:
    """Index the rows of a decay matrix."""
    return {(row.source_layer, row.target_layer, row.connection_type): row.rate for row in rates}


def rate_of(matrix: DecayMatrix, source_layer: str, target_layer: str, connection_type: ConnectionType) -> float:
    """Look a pair of layers up in both orders: the row for both, else one with a wildcard, else 0.85."""
    pairs = (
        (source_layer, target_layer),
        (target_layer, source_layer),
        (source_layer, ANY_LAYER),
        (target_layer, ANY_LAYER),
    )
    return next(
        (rate for pair in pairs if (rate := matrix.get((*pair, connection_type))) is not None),
        DEFAULT_RATE,
    )


def rate_in_use(rate: float, cycle_access_count: int) -> float:
    """Return the rate of a synapse accessed so often since its last cycle: use slows fading, and never hastens it."""
    return next((max(rate, least) for accesses, least in _IN_USE if cycle_access_count > accesses), rate)


@dataclass(frozen=True, slots=True)
class FadingWeight:
    """What fading depends on: the weight as of `since`, the last touch, and the accesses in the cycle before now."""

    weight: float
    since: datetime
    touched_at: datetime
    connection_type: ConnectionType
    rate: float
    cycle_access_count: int = 0


@dataclass(frozen=True, slots=True)
class Fading:
    """What decay does to a synapse: its new weight, whether use slowed it, and whether it is to be removed."""

    weight: float
    is_exempted: bool = False
    is_pruned: bool = False


def fading(link: FadingWeight, now: datetime, policy: MemoryPolicy) -> Fading | None:
    """Tell how a synapse fades up to `now`; `None` where nothing is due: structure, touched lately, no time passed.

    weight × rate^(days since `since` / decay_days). Use counts for the cycle that begins with the last touch: that part
    of the time fades by the slower rate, the rest by the plain one. So a run every night equals one run at the end of
    as many nights, whenever the count of accesses goes back to 0.

    The floor stops a fall and never raises a weight. An automatic link that falls below it is pruned; one that stood
    below it before decay came was made that way, and stays.
    """
    elapsed = days_between(link.since, now)
    untouched = days_between(link.touched_at, now)
    if link.connection_type not in FADING_TYPES or elapsed <= 0.0 or untouched < policy.decay_days:
        return None
    slow = rate_in_use(link.rate, link.cycle_access_count)
    used = min(elapsed, days_between(link.since, link.touched_at + timedelta(days=policy.decay_days)))
    cycles_used, cycles_idle = used / policy.decay_days, (elapsed - used) / policy.decay_days
    weight = link.weight * slow**cycles_used * link.rate**cycles_idle
    is_exempted = slow > link.rate and used > 0.0
    if weight >= policy.prune_floor:
        return Fading(weight, is_exempted)
    if link.connection_type is ConnectionType.BM25_AUTO and link.weight >= policy.prune_floor:
        return Fading(weight, is_exempted, is_pruned=True)
    return Fading(min(link.weight, policy.prune_floor), is_exempted)


def settled(link: FadingWeight, now: datetime, policy: MemoryPolicy) -> float:
    """Return the weight once the decay that is due by `now` is applied: what any change starts from."""
    due = fading(link, now, policy)
    return link.weight if due is None else max(due.weight, min(link.weight, policy.prune_floor))


def decay_policy(policy: MemoryPolicy, decay_days: float | None, prune_floor: float | None) -> MemoryPolicy:
    """Put a caller's figures in place of the configured ones.

    Raises:
        InvalidRequest: `decay_days` isn't above 0, or `prune_floor` isn't a weight.
    """
    days = policy.decay_days if decay_days is None else decay_days
    floor = policy.prune_floor if prune_floor is None else prune_floor
    if not 0.0 < days <= MAX_DECAY_DAYS:
        raise InvalidRequest(
            f"decay_days: {days} is not a number of days above 0, up to {MAX_DECAY_DAYS:g}", argument="decay_days"
        )
    if not 0.0 <= floor <= MAX_SYNAPSE_WEIGHT:
        raise InvalidRequest(
            f"prune_floor: {floor} is not a weight within 0 and {MAX_SYNAPSE_WEIGHT:g}", argument="prune_floor"
        )
    return MemoryPolicy(policy.ephemeral_days, days, floor)
