"""How alike two entities are by words and neighbours, and how the signals are weighed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.merge_scores import (
    Signals,
    SignalWeights,
    hub_weight,
    name_tokens,
    token_jaccard,
    weighted_jaccard,
)

shares = st.floats(0, 1)
few = st.sets(st.integers(0, 6))


@pytest.mark.spec("graph_merge_suggestions.hub-weight")
@pytest.mark.parametrize(
    ("degree", "weight"), [(1, 1.0), (2, 0.59), (5, 0.38), (10, 0.30), (50, 0.20), (100, 0.18), (0, 1.0)]
)
def test_a_shared_hub_tells_little(degree: int, weight: float) -> None:
    assert hub_weight(degree) == pytest.approx(weight, abs=0.005)


@pytest.mark.spec("graph_merge_suggestions.score")
def test_the_score_is_the_weighted_sum_of_the_three_signals() -> None:
    signals = Signals(name=0.5, neighbours=0.85, embedding=0.97)
    assert signals.score(SignalWeights()) == pytest.approx(0.4 * 0.97 + 0.4 * 0.85 + 0.2 * 0.5)
    assert signals.score(SignalWeights(1, 0, 1)) == pytest.approx((0.97 + 0.5) / 2)


@pytest.mark.spec("graph_merge_suggestions.missing-embedding")
def test_a_missing_embedding_is_left_out_and_the_others_make_up_the_whole() -> None:
    assert Signals(name=0.5, neighbours=0.8).score(SignalWeights()) == pytest.approx((0.4 * 0.8 + 0.2 * 0.5) / 0.6)
    assert Signals(name=1, neighbours=1).score(SignalWeights()) == pytest.approx(1)


@given(shares, shares, st.none() | shares, st.tuples(shares, shares, shares).filter(lambda it: it[1] + it[2] > 0))
def test_a_score_lies_between_its_signals(
    name: float, neighbours: float, embedding: float | None, weights: tuple[float, float, float]
) -> None:
    score = Signals(name, neighbours, embedding).score(SignalWeights(*weights))
    given_signals = [it for it in (name, neighbours, embedding) if it is not None]
    assert min(given_signals) - 1e-9 <= score <= max(given_signals) + 1e-9


@pytest.mark.parametrize("weights", [(-0.1, 1, 1), (1, math.nan, 1), (1, 1, math.inf), (1, 0, 0)])
def test_weights_that_say_nothing_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(InvalidRequest, match="weights"):
        SignalWeights(*weights)


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("Ada Lovelace", "lovelace, ADA", 1),
        ("Ada Lovelace", "Ada Byron", 1 / 3),
        ("Postgres", "PostgreSQL", 0),
        ("C", "C++", 0),
        ("C++", "c++", 1),
        ("snake_case name", "snake-case NAME", 1),
        ("東京", "東京", 1),
        ("...", "...", 1),
        ("...", "!!!", 0),
    ],
)
def test_names_are_compared_by_their_words(one: str, other: str, share: float) -> None:
    assert token_jaccard(name_tokens(one), name_tokens(other)) == pytest.approx(share)


@given(few, few, st.lists(st.integers(1, 100), min_size=7, max_size=7))
def test_shared_neighbours_are_a_share_of_all_by_weight(one: set[int], other: set[int], degrees: list[int]) -> None:
    def weight(node: int) -> float:
        return hub_weight(degrees[node])

    share = weighted_jaccard(one, other, weight)
    assert share == weighted_jaccard(other, one, weight)
    assert 0 <= share <= 1
    assert (share == 1) == (one == other and bool(one))
    assert (share == 0) == (not one & other)
