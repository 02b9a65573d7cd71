"""How links fade."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.memories import ConnectionType, Layer
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.synapse_decay import (
    DECAY_MATRIX,
    FadingWeight,
    decay_matrix,
    decay_policy,
    fading,
    rate_in_use,
    rate_of,
    settled,
)

NOW = datetime(2026, 4, 5, 3, tzinfo=UTC)
POLICY = MemoryPolicy()
MATRIX = decay_matrix(DECAY_MATRIX)
WIKILINK, AUTO = ConnectionType.WIKILINK, ConnectionType.BM25_AUTO


def days(count: float) -> timedelta:
    return timedelta(days=count)


def link(
    weight: float, age: float, kind: ConnectionType = WIKILINK, rate: float = 0.95, accesses: int = 0
) -> FadingWeight:
    """A link that was made `age` days ago and not touched since, but for the accesses right then."""
    return FadingWeight(weight, NOW - days(age), NOW - days(age), kind, rate, accesses)


@pytest.mark.spec(
    "memory_decay.matrix.rows",
    "memory_decay.matrix.procedural",
    "memory_decay.matrix.semantic",
    "memory_decay.matrix.episodic",
    "memory_decay.matrix.working",
    "memory_decay.matrix.partner",
)
@pytest.mark.parametrize(
    ("source", "target", "wikilink", "automatic"),
    [
        ("procedural", "procedural", 0.995, 0.98),
        ("procedural", "semantic", 0.99, 0.94),
        ("procedural", "episodic", 0.97, 0.92),
        ("procedural", "partner", 0.99, 0.96),
        ("semantic", "semantic", 0.99, 0.93),
        ("semantic", "*", 0.95, 0.85),
        ("episodic", "episodic", 0.95, 0.88),
        ("episodic", "working", 0.80, 0.60),
        ("working", "working", 0.70, 0.40),
        ("partner", "partner", 0.999, 0.97),
    ],
)
def test_the_matrix_has_a_row_for_each_pair_and_type(
    source: str, target: str, wikilink: float, automatic: float
) -> None:
    assert len(DECAY_MATRIX) == len(MATRIX) == 20
    assert MATRIX[source, target, WIKILINK] == wikilink
    assert MATRIX[source, target, AUTO] == automatic


@pytest.mark.spec(
    "memory_decay.by-layers-and-type",
    "memory_decay.specific-first",
    "memory_decay.both-orders",
    "memory_decay.default-rate",
)
@pytest.mark.parametrize(
    ("source", "target", "kind", "rate"),
    [
        (Layer.PROCEDURAL, Layer.SEMANTIC, AUTO, 0.94),
        (Layer.SEMANTIC, Layer.PROCEDURAL, AUTO, 0.94),
        (Layer.SEMANTIC, Layer.SEMANTIC, WIKILINK, 0.99),
        (Layer.SEMANTIC, Layer.WORKING, WIKILINK, 0.95),
        (Layer.WORKING, Layer.SEMANTIC, AUTO, 0.85),
        (Layer.WORKING, Layer.EPISODIC, AUTO, 0.60),
        (Layer.WORKING, Layer.PARTNER, WIKILINK, 0.85),
        (Layer.EPISODIC, Layer.PARTNER, AUTO, 0.85),
    ],
)
def test_a_pair_of_layers_is_looked_up_in_both_orders(
    source: Layer, target: Layer, kind: ConnectionType, rate: float
) -> None:
    assert rate_of(MATRIX, source, target, kind) == rate


def test_a_cycle_takes_the_rate_once() -> None:
    faded = fading(link(1.0, 7), NOW, POLICY)

    assert faded is not None
    assert faded.weight == pytest.approx(0.95)


@pytest.mark.spec("memory_decay.untouched-only")
def test_only_links_untouched_for_a_cycle_fade() -> None:
    assert fading(link(1.0, 6.99), NOW, POLICY) is None
    assert fading(replace(link(1.0, 90), touched_at=NOW - days(3)), NOW, POLICY) is None
    assert fading(link(1.0, 7), NOW, POLICY) is not None


@pytest.mark.spec("memory_decay.exempt-types")
@pytest.mark.parametrize("kind", [ConnectionType.PARENT_CHILD, ConnectionType.SEQUENCE])
def test_structure_does_not_fade(kind: ConnectionType) -> None:
    assert fading(link(1.0, 900, kind), NOW, POLICY) is None


@pytest.mark.spec("memory_decay.idempotent-in-time")
def test_a_second_run_at_once_changes_nothing() -> None:
    assert fading(replace(link(1.0, 90), since=NOW), NOW, POLICY) is None


@pytest.mark.spec("memory_decay.idempotent-in-time")
@given(
    weight=st.floats(0.0, 5.0),
    kind=st.sampled_from([WIKILINK, AUTO]),
    rate=st.floats(0.4, 0.999),
    accesses=st.integers(0, 20),
    idle=st.floats(0.0, 20.0),
    gaps=st.lists(st.floats(0.0, 12.0), min_size=1, max_size=30),
)
def test_many_runs_equal_one_after_the_same_time(
    weight: float, kind: ConnectionType, rate: float, accesses: int, idle: float, gaps: list[float]
) -> None:
    made = FadingWeight(weight, NOW - days(idle), NOW, kind, rate, accesses)
    at, often, is_gone = NOW, made, False
    for gap in gaps:
        at += days(gap)
        step = None if is_gone else fading(often, at, POLICY)
        if step is not None:
            often = replace(often, weight=step.weight, since=at, cycle_access_count=0)
            is_gone = step.is_pruned
    once = fading(made, at, POLICY)

    assert is_gone == (once is not None and once.is_pruned)
    if not is_gone:
        assert often.weight == pytest.approx(made.weight if once is None else once.weight, abs=1e-9)


@pytest.mark.spec("memory_decay.access.over-ten", "memory_decay.access.over-three", "memory_decay.access.larger-wins")
@pytest.mark.parametrize(
    ("rate", "accesses", "used"),
    [(0.95, 0, 0.95), (0.95, 3, 0.95), (0.95, 4, 0.97), (0.95, 10, 0.97), (0.95, 11, 0.99), (0.995, 20, 0.995)],
)
def test_use_slows_fading_and_never_hastens_it(rate: float, accesses: int, used: float) -> None:
    assert rate_in_use(rate, accesses) == used

    faded = fading(link(1.0, 7, rate=rate, accesses=accesses), NOW, POLICY)

    assert faded is not None
    assert faded.weight == pytest.approx(used)
    assert faded.is_exempted == (used > rate)


def test_use_counts_for_the_cycle_after_it_and_no_longer() -> None:
    faded = fading(link(1.0, 21, accesses=20), NOW, POLICY)

    assert faded is not None
    assert faded.weight == pytest.approx(0.99 * 0.95**2)


@pytest.mark.spec("memory_decay.prunes-auto")
def test_an_automatic_link_that_falls_below_the_floor_is_removed() -> None:
    faded = fading(link(0.12, 70, AUTO, 0.85), NOW, POLICY)

    assert faded is not None
    assert faded.is_pruned


@pytest.mark.spec("memory_decay.prune-only-decayed")
@pytest.mark.parametrize("kind", [WIKILINK, AUTO])
def test_a_link_made_lighter_than_the_floor_stays_as_it_is(kind: ConnectionType) -> None:
    faded = fading(link(0.05, 70, kind), NOW, POLICY)

    assert faded is not None
    assert not faded.is_pruned
    assert faded.weight == 0.05


@pytest.mark.spec("memory_decay.keeps-linked")
def test_what_a_text_linked_comes_to_rest_at_the_floor() -> None:
    faded = fading(link(1.0, 9_000), NOW, POLICY)

    assert faded is not None
    assert not faded.is_pruned
    assert faded.weight == POLICY.prune_floor


def test_what_changes_a_weight_starts_from_the_decayed_one() -> None:
    assert settled(link(1.0, 7), NOW, POLICY) == pytest.approx(0.95)
    assert settled(link(1.0, 1), NOW, POLICY) == 1.0
    assert settled(link(1.0, 900, AUTO), NOW, POLICY) == POLICY.prune_floor


@pytest.mark.spec("memory_decay.defaults")
def test_a_caller_may_set_the_cycle_and_the_floor() -> None:
    assert decay_policy(POLICY, None, None) == POLICY
    assert (POLICY.decay_days, POLICY.prune_floor) == (7, 0.1)
    assert decay_policy(POLICY, 1, 0.5) == MemoryPolicy(decay_days=1, prune_floor=0.5)


@pytest.mark.parametrize("days_", [0, -1, float("nan"), float("inf"), 1e9])
def test_a_cycle_is_a_number_of_days(days_: float) -> None:
    with pytest.raises(InvalidRequest, match="decay_days"):
        decay_policy(POLICY, days_, None)


@pytest.mark.parametrize("floor", [-0.1, 5.1, float("nan")])
def test_a_floor_is_a_weight(floor: float) -> None:
    with pytest.raises(InvalidRequest, match="prune_floor"):
        decay_policy(POLICY, None, floor)
