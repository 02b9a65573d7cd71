"""What decay makes of one value: by the time that passed, and the same however instants are counted."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.decay import FLOOR, decayed, decayed_since
from graph_memory.domain.instants import to_micros

START = datetime(2026, 1, 1, tzinfo=UTC)
values = st.floats(0, 1)
rates = st.floats(0.5, 1)
spans = st.timedeltas(timedelta(0), timedelta(days=3_000))


@given(values, rates, spans)
def test_a_value_falls_by_its_rate_for_each_day_down_to_the_floor(value: float, rate: float, span: timedelta) -> None:
    fallen = decayed(value, rate, START, START + span)
    assert fallen <= value
    assert fallen == max(value * rate ** (span / timedelta(days=1)), min(value, FLOOR))


@given(values, rates, st.timedeltas(timedelta(days=-3_000), timedelta(0)))
def test_a_clock_that_went_back_changes_nothing(value: float, rate: float, span: timedelta) -> None:
    assert decayed(value, rate, START, START + span) == value


@given(values, rates, spans)
def test_instants_in_microseconds_mean_the_same(value: float, rate: float, span: timedelta) -> None:
    now = START + span
    assert decayed_since(value, rate, to_micros(START), to_micros(now)) == decayed(value, rate, START, now)


@given(values, rates, st.lists(spans.filter(bool), min_size=1, max_size=30))
def test_many_runs_equal_one(value: float, rate: float, spans: list[timedelta]) -> None:
    at, now = value, START
    for span in spans:
        at, now = decayed(at, rate, now, now + span), now + span
    once = decayed(value, rate, START, now)
    assert abs(at - once) <= 1e-9
