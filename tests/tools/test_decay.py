"""graph_decay: forgetting by the time that has passed, however often it is asked for."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from graph_memory.services import pacing
from tests.tools.conftest import START, Client, Clock

RATES = {
    "Person": 0.998,
    "Project": 0.995,
    "Preference": 0.999,
    "Concept": 0.999,
    "Decision": 0.997,
    "Fact": 0.996,
    "Event": 0.993,
    "Object": 0.996,
    "Banana": 0.996,
    "person": 0.998,
}
EDGE_RATE = 0.997


def everything(client: Client, count: int = 12, seed: int = 1) -> Client:
    """Fill a graph with entities of all types and relations of all weights."""
    draw = random.Random(seed)
    types = [*RATES, "Alias"]
    entities = [{"name": f"E{n}", "type": types[n % len(types)]} for n in range(count)]
    relations = [
        {"from": f"E{n}", "to": f"E{draw.randrange(count)}", "relation": f"R{n}", "weight": draw.random()}
        for n in range(count)
    ]
    client.call("graph_relate", batch={"entities": entities, "relations": relations})
    return client


@pytest.mark.spec(
    "graph_decay.formula",
    "graph_decay.first-time",
    "graph_decay.rates-by-type",
    "graph_decay.fractional-days",
    "config.default.decay.rates",
    "config.default.decay.other-types",
    "config.default.decay.edge_rate",
)
@pytest.mark.parametrize("days", [0.25, 1.0, 30.5])
@pytest.mark.parametrize("entity_type", RATES)
def test_a_value_falls_by_its_rate_to_the_power_of_the_days(
    client: Client, clock: Clock, entity_type: str, days: float
) -> None:
    client.relate("A", "USES", "B", from_type=entity_type, weight=0.9)
    clock.advance(days=days)
    client.call("graph_decay")
    stored = client.stored()
    assert stored["a"] == pytest.approx(0.7 * RATES[entity_type] ** days, abs=1e-12)
    [weight] = [value for name, value in stored.items() if name.startswith("r-")]
    assert weight == pytest.approx(0.9 * EDGE_RATE**days, abs=1e-12)


# Originals: "nightly for 30 nights … 0.097 instead of 0.860".
@pytest.mark.spec("graph_decay.thirty-runs")
def test_thirty_nights_equal_one_run_after_thirty_days(client: Client, clock: Clock) -> None:
    everything(client)
    clock.advance(days=30)
    reference = Client(build_services(load_config({}), ReferenceStore(), clock=clock), clock)
    clock.now = START
    everything(reference)
    for _ in range(30):
        clock.advance(days=1)
        reference.call("graph_decay")
    client.call("graph_decay")
    once, nightly = client.stored(), reference.stored()
    assert once.keys() == nightly.keys()
    assert max(abs(once[it] - nightly[it]) for it in once) < 1e-9
    project = next(it for it in client.call("graph_entities", type="Project")["entities"])
    assert project["confidence"] / 0.7 == pytest.approx(0.86, abs=0.001)


@pytest.mark.spec("graph_decay.thirty-runs", "graph_decay.fractional-days", "graph_decay.twice-at-once")
@given(steps=st.lists(st.floats(0, 60, allow_subnormal=False), max_size=8), seed=st.integers(0, 99))
def test_any_way_to_divide_the_time_comes_to_the_same(
    steps: list[float], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = load_config({}, tmp_path_factory.getbasetemp() / "decay")
    clock = Clock()
    once, often = (Client(build_services(config, ReferenceStore(), clock=clock), clock) for _ in range(2))
    for client in (once, often):
        everything(client, seed=seed)
    for days in steps:
        clock.advance(days=days)
        often.call("graph_decay")
    once.call("graph_decay")
    first, second = once.stored(), often.stored()
    assert max(abs(first[it] - second[it]) for it in first) < 1e-9


@pytest.mark.spec("graph_decay.twice-at-once")
def test_a_second_run_at_the_same_moment_changes_nothing(client: Client, clock: Clock) -> None:
    everything(client)
    clock.advance(days=3.3)
    assert client.call("graph_decay")["nodes_decayed"] == 12
    before = client.stored()
    again = client.call("graph_decay")
    assert (again["nodes_decayed"], again["edges_decayed"], again["details"]) == (0, 0, [])
    assert client.stored() == before
    clock.advance(days=-10)  # nor does a clock that went back
    client.call("graph_decay")
    assert client.stored() == before


@pytest.mark.spec("graph_decay.floor", "graph_decay.floor-never-raises")
def test_decay_stops_at_a_hundredth_and_raises_nothing(client: Client, clock: Clock) -> None:
    client.relate("A", "USES", "B", weight=0.5)
    client.relate("A", "KNOWS", "B", weight=0.004)
    client.relate("A", "HAS", "B", weight=0.01)
    clock.advance(days=100_000)
    client.call("graph_decay")
    edges = {it["type"]: it["weight"] for it in client.around("A")["edges"]}
    assert edges == {"USES": 0.01, "KNOWS": 0.004, "HAS": 0.01}
    assert client.node("A")["confidence"] == 0.01


@pytest.mark.spec("graph_decay.exempt-pinned", "graph_decay.exempt-rule", "graph_relate.pinned")
@pytest.mark.parametrize(
    ("entity_type", "properties", "is_exempt"),
    [
        ("Concept", {"pinned": True}, True),
        ("Concept", {"pinned": False}, False),
        ("Concept", {"pinned": "true"}, False),
        ("Preference", {"subtype": "rule"}, True),
        ("preference", {"subtype": "rule"}, True),
        ("Preference", {"subtype": "habit"}, False),
        ("Preference", {}, False),
        ("Concept", {"subtype": "rule"}, False),
    ],
)
def test_what_is_pinned_or_a_rule_does_not_decay(
    client: Client, clock: Clock, entity_type: str, properties: dict[str, object], is_exempt: bool
) -> None:
    client.relate("A", "USES", "B", from_type=entity_type, from_properties=properties)
    clock.advance(days=50)
    reply = client.call("graph_decay")
    assert (client.node("A")["confidence"] == 0.7) is is_exempt
    assert ("A" in [it["name"] for it in reply["details"]]) is not is_exempt


def test_what_is_unpinned_decays_from_then_on(client: Client, clock: Clock) -> None:
    client.relate("A", "USES", "B", from_properties={"pinned": True})
    clock.advance(days=365)
    client.call("graph_decay")
    client.relate("A", "USES", "B", from_properties={"pinned": None})
    clock.advance(days=1)
    client.call("graph_decay")
    assert client.stored()["a"] == pytest.approx(0.7 * 0.999)


@pytest.mark.spec("graph_decay.dry_run")
def test_a_dry_run_tells_what_a_run_does_and_does_nothing(client: Client, clock: Clock) -> None:
    everything(client)
    clock.advance(days=9)
    before = client.stored()
    would = client.call("graph_decay", dry_run=True)
    assert client.stored() == before
    did = client.call("graph_decay")
    assert (would.pop("dry_run"), did.pop("dry_run")) == (True, False)
    assert would == did
    assert client.stored() != before


@pytest.mark.spec(
    "graph_decay.result",
    "graph_decay.flagged",
    "graph_decay.details",
    "graph_decay.deletes-nothing",
    "config.default.decay.prune_node_threshold",
    "config.default.decay.prune_edge_threshold",
)
def test_the_reply_counts_what_fell_and_what_fell_low(client: Client, clock: Clock) -> None:
    client.relate("Event of old", "LED_TO", "Deed", from_type="Event", weight=0.06)
    client.relate("Ada", "DID", "Deed", from_type="Person", weight=0.9)
    clock.advance(days=300)
    reply = client.call("graph_decay")
    assert {name: reply[name] for name in reply if name != "details"} == {
        "dry_run": False,
        "nodes_decayed": 3,
        "edges_decayed": 2,
        "nodes_flagged_for_pruning": 1,  # 0.7 * 0.993^300 = 0.085
        "edges_below_threshold": 1,  # 0.06 * 0.997^300 = 0.024
    }
    worst = reply["details"][0]
    assert worst == {
        "id": "event-of-old",
        "type": "Event",
        "name": "Event of old",
        "old_confidence": 0.7,
        "new_confidence": pytest.approx(0.7 * 0.993**300, abs=1e-6),
    }
    assert client.counts() == {"nodes": 3, "edges": 2, "memories": 0}
    assert all(it["invalid_at"] is None for it in client.around("Deed", current_only=False)["edges"])


@pytest.mark.spec("graph_decay.flagged")
def test_the_thresholds_are_those_of_the_settings(new_client: Callable[..., Client], clock: Clock) -> None:
    thresholds = {"PRUNE_NODE_THRESHOLD": "0.69", "PRUNE_EDGE_THRESHOLD": "0.55"}
    client = new_client(**{f"GRAPH_MEMORY_DECAY__{name}": value for name, value in thresholds.items()})
    client.relate("A", "USES", "B", from_type="Event", weight=0.56)
    clock.advance(days=8)
    reply = client.call("graph_decay")
    assert (reply["nodes_flagged_for_pruning"], reply["edges_below_threshold"]) == (1, 1)


@pytest.mark.spec("graph_decay.details")
def test_the_details_are_those_that_lost_most_and_no_more_than_a_hundred(client: Client, clock: Clock) -> None:
    entities = [{"name": f"E{n}", "type": "Event" if n % 3 == 0 else "Concept"} for n in range(150)]
    client.call("graph_relate", batch={"entities": entities})
    clock.advance(days=5)
    details = client.call("graph_decay")["details"]
    assert len(details) == 100
    assert [it["type"] for it in details[:50]] == ["Event"] * 50


@pytest.mark.spec("graph_decay.tenant")
def test_a_run_decays_the_callers_tenant_alone(client: Client, clock: Clock) -> None:
    other = client.as_tenant("other")
    everything(client)
    everything(other)
    before = other.stored()
    clock.advance(days=30)
    client.call("graph_decay")
    assert other.stored() == before
    other.call("graph_decay")
    assert other.stored() == client.stored()


class Interruption(Exception):
    pass


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "SLICE", 3)


@pytest.mark.spec("graph_decay.slices")
def test_others_write_between_the_slices(small_slices: None, new_client: Callable[..., Client], clock: Clock) -> None:
    written: list[Any] = []

    def write(_: float) -> None:
        written.append(client.relate("Between", "SLICE", f"{len(written)}")["action"])

    client = new_client(pause=write)
    everything(client)
    before = client.stored()
    clock.advance(days=3)
    client.call("graph_decay")
    assert len(written) >= 6
    assert set(written) == {"created"}
    after = client.stored()
    assert all(after[it] < before[it] for it in before)


@pytest.mark.spec("graph_decay.crash")
@pytest.mark.parametrize("slices", range(1, 7))
def test_a_run_after_a_crash_in_the_middle_comes_to_what_one_would_have(
    small_slices: None, new_client: Callable[..., Client], clock: Clock, slices: int
) -> None:
    passed = []

    def crash(_: float) -> None:
        passed.append(0)
        if len(passed) == slices:
            raise Interruption

    client = new_client(pause=crash)
    whole = Client(build_services(load_config({}), ReferenceStore(), clock=clock, pause=lambda _: None), clock)
    for it in (client, whole):
        everything(it)
    before = client.stored()
    clock.advance(days=2.5)
    whole.call("graph_decay")
    after = whole.stored()
    with pytest.raises(Interruption):
        client.services.upkeep.decay(client.caller)
    half = client.stored()
    assert all(half[it] in (before[it], after[it]) for it in half)
    assert before != half != after
    client.call("graph_decay")
    assert client.stored() == after
