"""The order of search results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.ranking import Candidate, best_first

FINITE = st.floats(allow_nan=False, allow_infinity=True)


@pytest.mark.spec("memory_search.rank")
def test_rank_is_relevance_times_importance_and_half_the_boost() -> None:
    assert Candidate(1, 3.0, 0.5, 4.0).rank == pytest.approx(3.0 * 0.5 + 0.5 * 4.0)


@pytest.mark.spec("memory_search.boost-counts", "memory_search.importance-counts")
def test_of_equal_texts_the_boosted_and_the_more_important_come_first() -> None:
    plain, boosted, important = Candidate(1, 2.0, 1.0, 0.0), Candidate(2, 2.0, 1.0, 1.0), Candidate(3, 2.0, 2.0, 0.0)

    assert [hit.memory_id for hit in best_first([plain, boosted, important])] == [3, 2, 1]


def test_ties_are_broken_by_id() -> None:
    hits = [Candidate(id_, 1.0, 1.0, 0.0) for id_ in (3, 1, 2)]

    assert [hit.memory_id for hit in best_first(hits)] == [1, 2, 3]


@pytest.mark.spec("memory_search.plain-text.finds")
def test_what_holds_the_query_as_written_comes_first() -> None:
    hits = [Candidate(1, 9.0, 1.0, 0.0, is_literal=False), Candidate(2, 1.0, 1.0, 0.0)]

    assert [hit.memory_id for hit in best_first(hits)] == [2, 1]


def test_the_memory_whose_title_was_asked_for_comes_first_of_all() -> None:
    hits = [Candidate(1, 9.0, 1.0, 9.0), Candidate(2, 0.0, 1.0, 0.0, is_literal=False, is_title=True)]

    assert [hit.memory_id for hit in best_first(hits)] == [2, 1]


@given(st.builds(Candidate, st.integers(1), st.floats(0, 1e6), FINITE, FINITE))
def test_no_stored_number_makes_a_rank_that_is_none(hit: Candidate) -> None:
    assert -1e9 < hit.rank < 1e9
