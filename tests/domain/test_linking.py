"""Which links are made, how heavy they are, and which give way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.linking import (
    CrowdedSide,
    auto_weight,
    choose_neighbours,
    is_rewritten,
    new_synapse,
    plan_drops,
    strengthened,
    structure_synapses,
    wikilink_weight,
)
from graph_memory.domain.memories import ConnectionType, Synapse, SynapseKey
from graph_memory.domain.queries import TextHit

NOW = datetime(2026, 4, 5, tzinfo=UTC)


def automatic(source: int, target: int, weight: float) -> Synapse:
    return new_synapse(SynapseKey(source, target, ConnectionType.BM25_AUTO), weight, NOW)


@pytest.mark.spec("autolink.at-most-five")
def test_at_most_five_neighbours_are_chosen() -> None:
    chosen = choose_neighbours([TextHit(id_, 8.0) for id_ in range(1, 10)])

    assert [near.memory_id for near in chosen] == [1, 2, 3, 4, 5]


@pytest.mark.spec("autolink.half-of-best")
def test_a_neighbour_has_at_least_half_the_best_score() -> None:
    hits = [TextHit(1, 10.0), TextHit(2, 5.0), TextHit(3, 4.9)]

    assert [near.memory_id for near in choose_neighbours(hits)] == [1, 2]


@pytest.mark.spec("autolink.weight")
@pytest.mark.parametrize(
    ("score", "weight"), [(0.1, 0.2), (2.0, 0.2), (7.0, 0.7), (15.0, 1.5), (400.0, 1.5), (-7.0, 0.7)]
)
def test_an_automatic_link_weighs_a_tenth_of_the_score_within_bounds(score: float, weight: float) -> None:
    assert auto_weight(score) == pytest.approx(weight)


def test_without_hits_nothing_is_chosen() -> None:
    assert list(choose_neighbours([])) == []


@given(st.lists(st.builds(TextHit, st.integers(1, 50), st.floats(0, 100)), max_size=30, unique_by=lambda hit: hit.ref))
def test_the_choice_does_not_depend_on_the_order_of_hits(hits: list[TextHit[int]]) -> None:
    chosen = choose_neighbours(hits)

    assert list(chosen) == list(choose_neighbours(hits[::-1]))
    assert all(0.2 <= near.weight <= 1.5 for near in chosen)


@pytest.mark.spec("wikilinks.weight", "wikilinks.written-again", "wikilinks.cap")
@pytest.mark.parametrize(("times", "weight"), [(1, 1.0), (2, 1.5), (3, 2.0), (9, 5.0), (100, 5.0)])
def test_a_wikilink_weighs_more_for_each_time_it_is_written(times: int, weight: float) -> None:
    assert wikilink_weight(times) == weight


@pytest.mark.spec("autolink.found-again")
def test_a_link_found_again_starts_from_what_it_weighs_now_and_is_capped() -> None:
    link = automatic(1, 2, 0.7)
    later = NOW + timedelta(days=9)

    again = strengthened(link, 0.5, 0.2, later)

    assert again.weight == pytest.approx(0.7)
    assert again.updated_at == again.decayed_at == later
    assert again.created_at == NOW
    assert strengthened(link, 4.9, 0.2, later).weight == 5.0


@pytest.mark.parametrize(
    ("old", "new", "says_something_else"),
    [
        ("one two three four", "one two three four five", False),
        ("one two three four", "One, two; three four!", False),
        ("one two three four", "five six seven eight", True),
        ("one two", "", True),
        ("", "", False),
    ],
)
def test_a_text_is_rewritten_when_most_of_its_words_are_others(old: str, new: str, says_something_else: bool) -> None:
    assert is_rewritten(old, new) is says_something_else


@pytest.mark.spec("synapse-cap.drops-weakest-auto")
def test_the_lightest_automatic_links_give_way() -> None:
    lightest = [automatic(1, 2, 0.2), automatic(1, 3, 0.3), automatic(1, 4, 0.4)]

    assert list(plan_drops([CrowdedSide(1, True, 2, lightest)])) == [lightest[0].key, lightest[1].key]


def test_a_side_crowded_by_other_links_stays_crowded() -> None:
    assert list(plan_drops([CrowdedSide(1, True, 70, [])])) == []


def test_a_link_that_gives_way_on_one_side_makes_room_on_the_other() -> None:
    shared, other = automatic(1, 2, 0.2), automatic(3, 2, 0.3)

    drops = plan_drops([CrowdedSide(1, True, 1, [shared]), CrowdedSide(2, False, 1, [shared, other])])

    assert list(drops) == [shared.key]


def test_a_full_side_after_the_first_drops_only_what_is_still_too_much() -> None:
    shared, other = automatic(1, 2, 0.2), automatic(3, 2, 0.3)

    drops = plan_drops([CrowdedSide(1, True, 1, [shared]), CrowdedSide(2, False, 2, [shared, other])])

    assert list(drops) == [shared.key, other.key]


def test_parts_and_turns_are_joined_with_weight_one() -> None:
    (link,) = structure_synapses([(1, 2)], ConnectionType.SEQUENCE, NOW)

    assert link.key == SynapseKey(1, 2, ConnectionType.SEQUENCE)
    assert link.weight == 1.0
