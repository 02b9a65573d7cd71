"""Pairs that may be one thing are found by what few share, and never by comparing all with all."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain import merge_candidates
from graph_memory.domain.merge_candidates import MergePair, NamedEntity, find_pairs
from graph_memory.domain.merge_scores import (
    CANDIDATES,
    Signals,
    SignalWeights,
    hub_weight,
    name_tokens,
    token_jaccard,
    weighted_jaccard,
)

WEIGHTS = SignalWeights()
words = st.sampled_from(["ada", "lovelace", "loom", "engine", "post", "gres"])
named = st.lists(
    st.tuples(st.sampled_from(["person", "object"]), st.lists(words, min_size=1, max_size=3).map(" ".join)), max_size=8
).map(lambda rows: [NamedEntity(f"e{number}", *row) for number, row in enumerate(rows)])
links = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda it: (f"e{it[0]}", f"e{it[1]}")), max_size=14
)


def all_pairs(entities: list[NamedEntity], ends: list[tuple[str, str]], min_score: float) -> list[MergePair]:
    """Compare all with all, straight from the formula."""
    known = {it.id for it in entities}
    ends = [it for it in ends if set(it) <= known]
    degree = {id_: sum(id_ in it for it in ends) for id_ in known}
    near = {id_: {other for it in ends if id_ in it for other in it} - {id_} for id_ in known}
    found = []
    for one, other in combinations(sorted(entities, key=lambda it: it.id), 2):
        if one.type_key == other.type_key:
            name = token_jaccard(name_tokens(one.name), name_tokens(other.name))
            a, b = near[one.id] - {other.id}, near[other.id] - {one.id}
            score = Signals(name, weighted_jaccard(a, b, lambda it: hub_weight(degree[it]))).score(WEIGHTS)
            if score >= min_score:
                found.append(MergePair(one.id, other.id, score))
    return sorted(found, key=merge_candidates.best_first)


@pytest.mark.spec("graph_merge_suggestions.same-type", "graph_merge_suggestions.pairs-once")
@given(named, links, st.sampled_from([0.01, 0.3, 0.6, 0.8, 1.0]))
def test_a_small_graph_is_compared_as_if_all_were_compared_with_all(
    entities: list[NamedEntity], ends: list[tuple[str, str]], min_score: float
) -> None:
    pairs, scored = find_pairs(entities, ends, WEIGHTS, min_score, 100)
    assert pairs == all_pairs(entities, ends, min_score)
    assert len(pairs) <= scored <= len(entities) * (len(entities) - 1) // 2


def test_the_best_are_kept_when_there_are_more(monkeypatch: pytest.MonkeyPatch) -> None:
    entities = [NamedEntity(f"e{number:02}", "person", f"same word {number // 2}") for number in range(30)]
    everything, _ = find_pairs(entities, [], WEIGHTS, 0.05, 1_000)
    assert find_pairs(entities, [], WEIGHTS, 0.05, 3)[0] == everything[:3]


def test_what_everybody_shares_brings_nobody_together() -> None:
    crowd = [
        NamedEntity(f"e{number:03}", "person", f"user {number:03}x{number * 7919 % 1000:03}") for number in range(200)
    ]
    hub = NamedEntity("hub", "project", "Everything")
    twins = [NamedEntity("t1", "person", "Ada Lovelace"), NamedEntity("t2", "person", "Lovelace Ada")]
    ends = [(it.id, "hub") for it in (*crowd, *twins)]
    pairs, scored = find_pairs([hub, *crowd, *twins], ends, WEIGHTS, 0.9, 10)
    assert [(it.first_id, it.second_id) for it in pairs] == [("t1", "t2")]
    assert scored < len(crowd) * CANDIDATES


def test_the_work_grows_with_the_graph_and_not_with_its_square() -> None:
    draw = random.Random(5)
    for size in (300, 1_200):
        entities = [
            NamedEntity(f"e{n}", "fact", f"{draw.randrange(size // 3)} {draw.random():.9f}") for n in range(size)
        ]
        ends = [(f"e{draw.randrange(size)}", f"e{draw.randrange(size)}") for _ in range(3 * size)]
        _, scored = find_pairs(entities, ends, WEIGHTS, 0.5, 10)
        assert 0 < scored <= size * CANDIDATES


def test_links_to_what_is_not_compared_are_left_aside() -> None:
    entities = [NamedEntity("a", "person", "Ada"), NamedEntity("b", "person", "Ada L")]
    assert find_pairs(entities, [("a", "gone"), ("gone", "b")], WEIGHTS, 0.1, 10) == find_pairs(
        entities, [], WEIGHTS, 0.1, 10
    )
