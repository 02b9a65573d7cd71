"""What a reach is, and what is left of a graph that loses a source."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.entities import Entity, Evidence, EvidenceKind, Provenance
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.forgetting import Affected, Reach, plan_loss, properties_left, reach_of_dates
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.relations import Relation
from graph_memory.domain.supersession import plan_supersession, true_since
from graph_memory.domain.time_spans import TimeSpan
from graph_memory.domain.weights import folded

if TYPE_CHECKING:
    from graph_memory.domain.entities import JsonValue

POLICY = GraphPolicy()
START = datetime(2026, 1, 1, tzinfo=UTC)
LOST, KEPT = Provenance(session="lost"), Provenance(session="kept")


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def piece(at: float, source: Provenance = KEPT, amount: float = 0.5, **stated: JsonValue) -> Evidence:
    return Evidence("x", EvidenceKind.EXPLICIT, amount, day(at), source, properties=stated)


def is_lost(evidence: Evidence) -> bool:
    return evidence.provenance == LOST


def entity(id_: str = "x", **more: object) -> Entity:
    return replace(Entity(id_, "Concept", id_, 0.9, day(0), day(9), day(9)), **more)  # type: ignore[arg-type]


def relation(target: str, since: float, until: float | None = None, type_: str = "WORKS_AT") -> Relation:
    ended = None if until is None else day(until)
    return Relation(f"to-{target}", "x", type_, target, 0.5, day(since), day(since), invalid_at=ended)


@pytest.mark.spec("graph_forget.sources")
@pytest.mark.parametrize(
    "reach",
    [
        Reach(),
        Reach(source_session="s", project="p"),
        Reach(memory_id=1, dates=TimeSpan(day(0), day(1))),
        Reach(source_file="  "),
    ],
)
def test_a_reach_is_exactly_one_source(reach: Reach) -> None:
    with pytest.raises(InvalidRequest):
        reach.checked()


def test_a_reach_says_which_source_it_is() -> None:
    assert Reach(project="p").checked().kind == "project"
    assert Reach(dates=TimeSpan(day(0), day(1))).checked().kind == "dates"


@pytest.mark.parametrize(("after", "before"), [(day(1), None), (None, day(1)), (day(1), day(1)), (day(2), day(1))])
def test_a_stretch_of_time_has_two_ends_in_order(after: datetime | None, before: datetime | None) -> None:
    with pytest.raises(InvalidRequest):
        reach_of_dates(after, before)
    assert reach_of_dates(None, None) is None


@pytest.mark.spec("graph_forget.recomputes")
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1), st.sampled_from(EvidenceKind)), min_size=1, max_size=8))
def test_what_others_support_is_folded_from_what_is_left(drawn: list[tuple[bool, float, EvidenceKind]]) -> None:
    evidence = [
        replace(piece(number, LOST if is_gone else KEPT, amount), kind=kind)
        for number, (is_gone, amount, kind) in enumerate(drawn)
    ]
    one = entity(mention_count=len(evidence))
    loss = plan_loss(Affected({"x": one}, {"x": evidence}, {}, {}), is_lost, POLICY)
    kept = [it for it in evidence if not is_lost(it)]
    if len(kept) == len(evidence):
        assert not loss.touched_entities
    elif kept:
        left = loss.entities["x"]
        assert (left.confidence, left.decayed_at) == folded(kept, POLICY.decay.rate_of("Concept"))
        assert left.mention_count == len(kept)
        assert loss.entity_evidence["x"] == kept
    else:
        assert loss.gone_entities == {"x"}


@pytest.mark.parametrize(
    ("current", "kept", "lost", "left"),
    [
        ({"a": 1, "b": 2}, [], [{"a": 1}], {"b": 2}),
        ({"a": 3}, [{"a": 1}, {"a": 2}], [{"a": 3}], {"a": 2}),
        ({"a": 1}, [{"a": None}], [{"a": 1}], {}),
        ({"a": 1}, [{"a": 1}], [{}], {"a": 1}),
    ],
)
def test_properties_that_only_the_source_stated_go(
    current: dict[str, int], kept: list[dict[str, int]], lost: list[dict[str, int]], left: dict[str, int]
) -> None:
    pieces = [[replace(piece(n), properties=it) for n, it in enumerate(some)] for some in (kept, lost)]
    assert properties_left(current, *pieces) == left


def test_what_something_else_still_names_keeps_its_name_alone() -> None:
    one = entity(properties={"note": "secret"}, source_file="gone.md")
    evidence = piece(1, LOST, note="secret")
    assert plan_loss(Affected({"x": one}, {"x": [evidence]}, {}, {}), is_lost, POLICY).gone_entities == {"x"}
    held = plan_loss(Affected({"x": one}, {"x": [evidence]}, {}, {}, held=frozenset("x")), is_lost, POLICY)
    assert not held.gone_entities
    assert held.entities["x"].properties == {}


def test_a_project_without_memories_goes_unless_it_is_held() -> None:
    one, evidence = entity(), piece(1)
    for held in (frozenset[str](), frozenset("x")):
        affected = Affected({"x": one}, {"x": [evidence]}, {}, {}, hollow=frozenset("x"), held=held)
        loss = plan_loss(affected, is_lost, POLICY)
        assert loss.gone_entities == ({"x"} if not held else set())
        assert not loss.entities


def test_a_file_and_instants_that_only_the_source_gave_go() -> None:
    lost = piece(1, replace(LOST, file="gone.md"))
    kept = piece(3, replace(KEPT, file="stays.md"))
    one = entity(created_at=day(1), last_seen=day(9), source_file="gone.md")
    affected = Affected({"x": one}, {"x": [lost, kept]}, {}, {})
    loss = plan_loss(affected, lambda it: it.provenance.session == "lost", POLICY)
    left = loss.entities["x"]
    assert (left.source_file, left.created_at) == ("stays.md", day(3))


def test_what_a_gone_fact_had_ended_holds_again() -> None:
    old, new = relation("acme", 1, 5), relation("globex", 5)
    affected = Affected(
        {}, {}, {new.id: new}, {new.id: [piece(5, LOST)]}, rivals=[old, new], held=frozenset({"x", "globex"})
    )
    loss = plan_loss(affected, is_lost, POLICY)
    assert loss.gone_relations == {"to-globex"}
    assert loss.relations["to-acme"].is_current


@given(st.lists(st.integers(0, 20), min_size=2, max_size=6, unique=True), st.data())
def test_history_without_one_fact_is_what_it_would_have_been(days: list[int], data: st.DataObject) -> None:
    gone = f"to-{data.draw(st.integers(0, len(days) - 1))}"
    told = [relation(str(number), since) for number, since in enumerate(sorted(days))]
    history, without = _told(told), _told([it for it in told if it.id != gone])
    doomed = next(it for it in history if it.id == gone)
    affected = Affected({}, {}, {gone: doomed}, {gone: [piece(0, LOST)]}, rivals=history)
    loss = plan_loss(affected, is_lost, POLICY)
    left = {it.id: loss.relations.get(it.id, it) for it in history if it.id != gone}
    assert {id_: it.invalid_at for id_, it in left.items()} == {it.id: it.invalid_at for it in without}


def _told(relations: list[Relation]) -> list[Relation]:
    """State facts of a single-valued type one after the other."""
    known: dict[str, Relation] = {}
    for it in relations:
        plan = plan_supersession(it.key, true_since(it), list(known.values()))
        known.update((closed.id, closed) for closed in plan.closed)
        known[it.id] = replace(it, invalid_at=plan.invalid_at)
    return list(known.values())
