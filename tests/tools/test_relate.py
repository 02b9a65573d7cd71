"""graph_relate with one relation: what it makes, how much it weighs, what stands beside it."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from tests.tools.conftest import Client, Clock


@pytest.mark.spec("graph_relate.creates-relation", "graph_relate.creates-entities", "graph_relate.strengthens")
def test_it_says_what_it_made(client: Client) -> None:
    made = client.relate("Ada", "KNOWS_ABOUT", "Engines", from_type="Person")
    assert made == {
        "action": "created",
        "edge": {"from": "ada", "to": "engines", "type": "KNOWS_ABOUT", "weight": 0.7},
        "created_entities": ["Ada", "Engines"],
    }
    assert client.relate("Ada", "KNOWS_ABOUT", "Looms", from_type="Person")["created_entities"] == ["Looms"]
    again = client.relate("Ada", "KNOWS_ABOUT", "Engines", from_type="Person")
    assert (again["action"], again["created_entities"]) == ("strengthened", [])
    assert client.counts() == {"nodes": 3, "edges": 2, "memories": 0}


# Originals: "weight 1.0 four times".
@pytest.mark.spec("graph_relate.idempotent")
@pytest.mark.parametrize("weight", [None, 0.2, 1.0])
def test_the_same_call_again_leaves_the_weight(client: Client, weight: float | None) -> None:
    weights = {client.relate("A", "USES", "B", weight=weight)["edge"]["weight"] for _ in range(4)}
    assert weights == {0.7 if weight is None else weight}


@pytest.mark.spec("graph_relate.type-omitted", "graph_relate.type-new")
def test_an_end_without_a_type_is_whatever_has_the_name(client: Client) -> None:
    client.relate("Ada", "USES", "Loom", from_type="Person", to_type="Object")
    client.call("graph_relate", from_name="ada", relation="USES", to_name="loom")
    assert client.counts()["nodes"] == 2
    client.call("graph_relate", from_name="ada", relation="USES", to_name="Unheard of")
    assert client.node("Unheard of")["type"] == "Concept"
    client.call("graph_relate", from_name="ada", relation="USES", to_name="Loom", to_type="Project")
    assert sorted(it["type"] for it in client.around("Loom", max_hops=0)["nodes"]) == ["Object", "Project"]


@pytest.mark.spec("graph_relate.properties", "graph_relate.properties.shallow-merge", "graph_relate.properties.nested")
def test_properties_are_merged_by_their_top_level(client: Client) -> None:
    first = {"role": "lead", "since": {"year": 2020, "month": [1, 2]}, "weeks": 7.5, "is_on": True}
    client.relate("A", "USES", "B", properties=first)
    assert client.edge("A", "USES", "B")["properties"] == first
    client.relate("A", "USES", "B", properties={"since": {"year": 2021}, "weeks": None, "größe": "ß"})
    assert client.edge("A", "USES", "B")["properties"] == {
        "role": "lead",
        "since": {"year": 2021},
        "is_on": True,
        "größe": "ß",
    }


@pytest.mark.spec("graph_relate.from_properties")
def test_properties_of_the_ends_go_to_the_ends(client: Client) -> None:
    client.relate("A", "USES", "B", from_properties={"stack": ["x"]}, to_properties={"n": 1})
    client.relate("A", "USES", "B", from_properties={"n": 2}, to_properties={"n": 3})
    assert client.node("A")["properties"] == {"stack": ["x"], "n": 2, "mention_count": 2}
    assert client.node("B")["properties"] == {"n": 3, "mention_count": 2}
    assert client.edge("A", "USES", "B")["properties"] == {}


# Originals: "batch properties {tenant_id, id, confidence: 99}".
@pytest.mark.spec("graph_relate.properties.reserved", "graph_relate.atomic")
@pytest.mark.parametrize("name", ["id", "tenant_id", "confidence", "NAME", "type", "weight", "mention_count", " "])
@pytest.mark.parametrize("argument", ["properties", "from_properties", "to_properties"])
def test_no_property_can_pass_for_a_field(client: Client, argument: str, name: str) -> None:
    client.relate("A", "USES", "B")
    before = client.around("A")
    ends = {"from_name": "New", "from_type": "Person", "relation": "USES", "to_name": "A"}
    assert client.refusal("graph_relate", **ends, **{argument: {name: "victim"}}).startswith(f"{argument}: ")
    assert client.around("A") == before


@pytest.mark.parametrize(
    "value",
    [2**64, float("nan"), [float("inf")], {"deep": "\ud800"}, json.loads("[" * 40 + "]" * 40)],
    ids=["more than 64 bits", "NaN", "infinity", "half a character", "forty deep"],
)
def test_what_not_every_reader_of_json_can_read_is_refused(client: Client, value: object) -> None:
    # One such value stored would spoil each later reply and backup.
    ends = {"from_name": "A", "relation": "USES", "to_name": "B"}
    for argument in ("properties", "from_properties"):
        assert client.refusal("graph_relate", **ends, **{argument: {"p": value}}).startswith(f"{argument}: ")
    assert client.refusal("graph_audit", event="run_start", data={"p": value}).startswith("data: ")
    assert client.call("graph_audit", event="run_start", data={"p": 2**63 - 1})["logged"]


@pytest.mark.spec("graph_relate.source_session", "graph_relate.valid_at", "graph_relate.evidence")
def test_provenance_stands_on_the_relation_and_evidence_with_its_contribution(client: Client) -> None:
    source = {"source_session": "s-1", "source_transcript": "/t/s-1.jsonl", "source_type": "conversation"}
    client.relate("A", "USES", "B", evidence="we use B", valid_at="2025-01-01", **source)
    edge = client.edge("A", "USES", "B")
    assert {name: edge[name] for name in source} == source
    assert edge["valid_at"] == "2025-01-01T00:00:00Z"
    client.relate("A", "USES", "B", evidence="the key is ghp_" + "a1B2" * 9, source_session="s-2")
    first, second = client.contributions("A", "USES", "B")
    assert (first.text, first.provenance.session, first.amount) == ("we use B", "s-1", 0.7)
    assert "a1B2" not in str(second.text)
    assert client.edge("A", "USES", "B")["source_session"] == "s-2"


@pytest.mark.spec(
    "graph_relate.explicit-max",
    "graph_relate.explicit-by-default",
    "graph_relate.mention-adds",
    "graph_relate.mention-at-most-one",
)
@pytest.mark.parametrize(
    ("first", "then", "source_type", "expected"),
    [
        (0.8, 0.5, "conversation", 0.8),
        (0.5, 0.8, "document", 0.8),
        (0.5, 0.8, "manual", 0.8),
        (0.8, 0.5, None, 0.8),
        (0.5, 0.8, None, 0.8),
        (0.5, 0.9, "mention", 0.55),
        (0.5, None, "mention", 0.55),
        (0.98, None, "mention", 1.0),
    ],
)
def test_explicit_evidence_takes_the_larger_and_a_mention_adds_a_little(
    client: Client, first: float, then: float | None, source_type: str | None, expected: float
) -> None:
    client.relate("A", "USES", "B", weight=first)
    assert client.relate("A", "USES", "B", weight=then, source_type=source_type)["edge"]["weight"] == expected
    assert client.edge("A", "USES", "B")["weight"] == expected


@pytest.mark.spec(
    "weights.default.conversation",
    "weights.default.manual",
    "weights.default.absent-source",
    "weights.default.document",
    "weights.default.inferred",
    "weights.new-entity-confidence",
    "graph_relate.mention-first",
)
@pytest.mark.parametrize(
    ("source_type", "expected"),
    [("conversation", 0.7), ("manual", 0.7), (None, 0.7), ("document", 0.5), ("inferred", 0.3), ("mention", 0.3)],
)
def test_without_a_weight_the_kind_of_evidence_decides(
    client: Client, source_type: str | None, expected: float
) -> None:
    assert client.relate("A", "USES", "B", source_type=source_type)["edge"]["weight"] == expected
    assert client.node("A")["confidence"] == expected


@pytest.mark.spec("weights.from-config")
def test_configured_weights_take_the_place_of_the_defaults(new_client: Callable[..., Client]) -> None:
    sizes = {"EXPLICIT_STATEMENT": ".61", "FROM_MEMORY_FILE": ".42", "INFERRED": ".23", "BOOST_ON_MENTION": ".01"}
    sizes |= {"BOOST_ON_CONFIRM": ".04", "WEAKEN_ON_CORRECT": ".02"}
    client = new_client(**{f"GRAPH_MEMORY_WEIGHTS__{name}": value for name, value in sizes.items()})
    for source_type, expected in [(None, 0.61), ("document", 0.42), ("inferred", 0.23)]:
        target = f"T {source_type}"
        assert client.relate("A", "USES", target, source_type=source_type)["edge"]["weight"] == expected
        assert client.node(target)["confidence"] == expected
    ends = {"from_name": "A", "relation": "USES", "to_name": "T inferred"}
    assert client.call("graph_relate", **ends, source_type="mention")["edge"]["weight"] == 0.24
    assert client.call("graph_boost", **ends)["new_weight"] == 0.28
    assert client.call("graph_weaken", **ends)["new_weight"] == 0.26


# Originals: "weight 1.0 four times; 7; -3".
@pytest.mark.spec("graph_relate.weight.clamped", "tools.weight.clamped", "tools.arguments.clamped-warns")
@pytest.mark.parametrize(("given", "used"), [(7, 1.0), (-3, 0.0), (1.0001, 1.0)])
@pytest.mark.parametrize("is_batch", [False, True])
def test_a_weight_out_of_range_is_clamped_with_a_warning(
    client: Client, given: float, used: float, is_batch: bool
) -> None:
    if is_batch:
        relations = [{"from": "A", "to": "B", "relation": "USES", "weight": given}]
        batch = {"entities": [{"name": "A"}, {"name": "B"}], "relations": relations}
        reply, argument = client.call("graph_relate", batch=batch), "batch.relations.0.weight"
    else:
        reply, argument = client.relate("A", "USES", "B", weight=given), "weight"
    assert client.edge("A", "USES", "B")["weight"] == used
    [warning] = reply["warnings"]
    assert warning.startswith(f"{argument}: {given:g} ")
    assert f"{used:g}" in warning


@pytest.mark.spec("graph_relate.atomic")
@pytest.mark.parametrize(
    "bad",
    [{"relation": " "}, {"properties": {"id": 1}}, {"valid_at": "soon"}, {"to_name": ""}],
)
def test_a_refused_call_leaves_nothing_behind(client: Client, bad: dict[str, object]) -> None:
    client.refusal("graph_relate", **{"from_name": "A", "relation": "USES", "to_name": "B", **bad})


@pytest.fixture
def in_project(client: Client) -> Client:
    """A session that goes on in the project Loom, which uses Engines, which need Oil."""
    client.relate("Loom", "USES", "Engines", from_type="Project")
    client.relate("Engines", "NEED", "Oil")
    session = {"name": "s-1", "type": "Session", "properties": {"project": client.node("Loom")["id"]}}
    client.call("graph_relate", batch={"entities": [session]})
    return client


@pytest.mark.spec("weights.project-boost.end", "weights.project-boost.one-hop")
@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [("Loom", "Wool", 0.8), ("Wool", "Loom", 0.8), ("Engines", "Wool", 0.8), ("Oil", "Wool", 0.7), ("Sun", "Sky", 0.7)],
)
def test_what_is_learned_in_a_project_near_it_weighs_more(
    in_project: Client, source: str, target: str, expected: float
) -> None:
    ends = {"from_name": source, "relation": "HAS", "to_name": target}
    assert in_project.call("graph_relate", **ends, source_session="s-1")["edge"]["weight"] == expected
    # Elsewhere the same words weigh what they weigh.
    elsewhere = {"from_name": source, "relation": "HAD", "to_name": target}
    assert in_project.call("graph_relate", **elsewhere, source_session="s-2")["edge"]["weight"] == 0.7


@pytest.mark.spec("weights.project-boost.once")
@pytest.mark.parametrize("sessions", [["s-1", "s-1", "s-1"], ["s-2", "s-1"], ["s-1", "s-2"]])
def test_the_project_counts_once_whatever_the_order_of_learning(in_project: Client, sessions: list[str]) -> None:
    ends = {"from_name": "Loom", "relation": "HAS", "to_name": "Wool"}
    for session in sessions:
        in_project.call("graph_relate", **ends, source_session=session)
    assert in_project.edge("Loom", "HAS", "Wool")["weight"] == 0.8


@given(
    contributions=st.lists(
        st.tuples(
            st.sampled_from(["conversation", "document", "mention", "inferred", None]),
            st.none() | st.floats(-0.5, 1.5),
            st.floats(0, 40),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_a_relation_said_singly_or_in_batches_comes_to_the_same(
    contributions: list[tuple[str | None, float | None, float]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = load_config({}, tmp_path_factory.getbasetemp() / "relate")
    clock = Clock()
    single, batch = (Client(build_services(config, ReferenceStore(), clock=clock), clock) for _ in range(2))
    for source_type, weight, days in contributions:
        clock.advance(days=days)
        single.relate("A", "USES", "B", weight=weight, source_type=source_type)
        entities = [{"name": "A", "type": "Concept"}, {"name": "B", "type": "Concept"}]
        relations = [{"from": "A", "to": "B", "relation": "USES", "weight": weight}]
        batch.call("graph_relate", batch={"entities": entities, "relations": relations, "source_type": source_type})
        assert single.around("A") == batch.around("A")
