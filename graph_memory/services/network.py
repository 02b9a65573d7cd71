"""Forgetting among the links of memories."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from graph_memory.domain.audit import audit_event
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.principal import Principal
from graph_memory.domain.synapse_decay import (
    DECAY_MATRIX,
    DecayMatrix,
    Fading,
    FadingWeight,
    decay_matrix,
    decay_policy,
    fading,
    rate_of,
)
from graph_memory.ports.memory_rows import FadedSynapse, FadingSynapse
from graph_memory.ports.store import Store, WriteTransaction
from graph_memory.services.pacing import Pace


@dataclass(frozen=True, slots=True)
class MemoryDecayReport:
    """How many links lost weight, were removed, and faded slower because they are used."""

    decayed: int = 0
    pruned: int = 0
    access_exempted: int = 0

    def plus(self, other: "MemoryDecayReport") -> "MemoryDecayReport":
        """Add another slice's counts."""
        return MemoryDecayReport(
            self.decayed + other.decayed, self.pruned + other.pruned, self.access_exempted + other.access_exempted
        )


class MemoryDecay:
    """Lets links fade; `pause` is called with seconds between two transactions."""

    def __init__(
        self, store: Store, clock: Callable[[], datetime], policy: MemoryPolicy, pause: Callable[[float], None]
    ) -> None:
        self._store, self._clock, self._policy, self._pause = store, clock, policy, pause

    def decay(
        self, principal: Principal, *, decay_days: float | None = None, prune_floor: float | None = None
    ) -> MemoryDecayReport:
        """Bring every link that nobody touched for `decay_days` up to now, in slices that clients can come between.

        Idempotent in time, and a run at once changes nothing. A crash leaves each link before or after; the next run
        does the rest.

        Raises:
            InvalidRequest: `decay_days` isn't above 0, or `prune_floor` isn't a weight.
        """
        policy = decay_policy(self._policy, decay_days, prune_floor)
        now = self._clock()
        cycle = _Cycle(self._store.write(principal, _matrix), now, policy)
        report = MemoryDecayReport()
        pace = Pace(self._pause)
        after: str | None = None
        while True:
            part, after = self._slice(principal, cycle, after, pace)
            report = report.plus(part)
            if after is None:
                break
            pace.rest()
        data = {"decayed": report.decayed, "pruned": report.pruned, "access_exempted": report.access_exempted}
        event = audit_event("memory_decay_applied", now, {**data})
        self._store.write(principal, lambda tx: tx.upkeep.add_audit([event]))
        return report

    def _slice(
        self, principal: Principal, cycle: "_Cycle", after: str | None, pace: Pace
    ) -> tuple[MemoryDecayReport, str | None]:
        return pace.write(self._store, principal, lambda tx: _fade(tx, cycle, after, pace.rows))


@dataclass(frozen=True, slots=True)
class _Cycle:
    """What links fade by, up to when."""

    matrix: DecayMatrix
    now: datetime
    policy: MemoryPolicy

    def fading(self, row: FadingSynapse) -> Fading | None:
        kind = row.key.connection_type
        rate = rate_of(self.matrix, row.source_layer, row.target_layer, kind)
        link = FadingWeight(row.weight, row.since, row.touched_at, kind, rate, row.cycle_access_count)
        return fading(link, self.now, self.policy)


def _matrix(tx: WriteTransaction) -> DecayMatrix:
    """Read the decay matrix; a store that has none gets the usual one."""
    rates = tx.synapses.decay_rates()
    if not rates:
        tx.synapses.put_decay_rates(DECAY_MATRIX)
    return decay_matrix(rates or DECAY_MATRIX)


def _fade(tx: WriteTransaction, cycle: _Cycle, after: str | None, limit: int) -> tuple[MemoryDecayReport, str | None]:
    rows, following = tx.synapses.scan_fading(after, limit)
    now = cycle.now
    due = [(row, faded) for row in rows if (faded := cycle.fading(row)) is not None]
    if due:
        tx.synapses.fade([FadedSynapse(row.key, row.weight, new.weight, now) for row, new in due])
    fallen = {row.key: new.weight for row, new in due if new.is_pruned}
    if fallen:
        # Only what fell just now: a link that somebody changed in between is not as it was read, and stays.
        found = tx.synapses.find(fallen)
        tx.synapses.delete([key for key, it in found.items() if (it.weight, it.decayed_at) == (fallen[key], now)])
    return _counts(due), following


def _counts(due: Sequence[tuple[FadingSynapse, Fading]]) -> MemoryDecayReport:
    return MemoryDecayReport(
        decayed=sum(not new.is_pruned and new.weight < row.weight for row, new in due),
        pruned=sum(new.is_pruned for _, new in due),
        access_exempted=sum(new.is_exempted for _, new in due),
    )
