"""graph_merge_suggestions: what may be in the graph twice."""

from typing import Any

import pytest

from daemon.jobs import run_job
from graph_memory.domain.principal import Principal
from graph_memory.services import merge_suggestions
from tests.tools.conftest import Client, ToolFailure

HALF = {"min_score": 0.5}


def pairs(reply: dict[str, Any]) -> list[tuple[str, str]]:
    return [(it["entity_a"]["id"], it["entity_b"]["id"]) for it in reply["suggestions"]]


def events(client: Client) -> list[dict[str, Any]]:
    found = client.services.store.read(client.caller, lambda tx: tx.upkeep.page_audit(1_000))
    return [dict(it.data) for it in found if it.event == "merge_flagged"]


@pytest.fixture
def twins(client: Client) -> Client:
    """One project under two names, with the same people and tools; another that shares only the hub with it."""
    for name in ("Loom Weaver", "Weaver Loom"):
        for tool in ("Jacquard", "Shuttle"):
            client.relate(name, "USES", tool, from_type="Project", to_type="Object")
        client.relate("Ada", "WORKS_ON", name, from_type="Person", to_type="Project")
    client.relate("Ada", "WORKS_ON", "Lighthouse", from_type="Person", to_type="Project")
    for number in range(9):
        client.relate("Ada", "KNOWS", f"Friend {number}", from_type="Person", to_type="Person")
    return client


@pytest.mark.spec(
    "graph_merge_suggestions.result",
    "graph_merge_suggestions.score",
    "graph_merge_suggestions.missing-embedding",
    "graph_merge_suggestions.threshold_used",
    "graph_merge_suggestions.pairs-once",
)
def test_a_pair_comes_with_what_speaks_for_it(twins: Client) -> None:
    reply = twins.call("graph_merge_suggestions")
    [found] = reply["suggestions"]
    assert found["entity_a"] == {"id": "loom-weaver", "name": "Loom Weaver", "type": "Project", "edge_count": 3}
    assert found["entity_b"] == {"id": "weaver-loom", "name": "Weaver Loom", "type": "Project", "edge_count": 3}
    assert found["score"] == 1.0
    assert found["recommended_action"] == "review"
    signals = found["signals"]
    assert (signals["embedding_similarity"], signals["name_similarity"], signals["neighbor_jaccard"]) == (None, 1, 1)
    shared = [(it["id"], it["relation"], it["degree"]) for it in signals["shared_neighbors"]]
    assert shared == [("jacquard", "USES", 2), ("shuttle", "USES", 2), ("ada", "WORKS_ON", 12)]
    assert [it["weight"] for it in signals["shared_neighbors"]] == pytest.approx([0.591, 0.591, 0.287], abs=0.001)
    assert reply["threshold_used"] == 0.8
    assert reply["scope"] == {"global": True}
    assert reply["total_pairs_evaluated"] >= 1
    assert "Meaning was not compared" in reply["warnings"][0]


@pytest.mark.spec("graph_merge_suggestions.hub-weight")
def test_a_hub_in_common_makes_no_pair(twins: Client) -> None:
    assert "lighthouse" not in {it for pair in pairs(twins.call("graph_merge_suggestions", **HALF)) for it in pair}


@pytest.mark.spec("graph_merge_suggestions.same-type")
def test_one_name_under_two_types_is_no_pair(client: Client) -> None:
    client.relate("Loom", "USES", "Shuttle", from_type="Project")
    client.relate("Loom", "USES", "Shuttle", from_type="Object")
    assert pairs(client.call("graph_merge_suggestions", min_score=0.01)) == []


@pytest.mark.spec("graph_merge_suggestions.scope")
def test_the_look_is_at_one_entity_or_one_type_or_all(twins: Client) -> None:
    twins.relate("Fine Silk", "FROM", "Moth")
    twins.relate("Silk Fine", "FROM", "Moth")
    project, concept = ("loom-weaver", "weaver-loom"), ("fine-silk", "silk-fine")
    assert pairs(twins.call("graph_merge_suggestions")) == [concept, project]
    one = twins.call("graph_merge_suggestions", entity_id="silk-fine")
    assert (pairs(one), one["scope"]) == ([concept], {"global": False, "entity_id": "silk-fine"})
    kind = twins.call("graph_merge_suggestions", entity_type="PROJECT")
    assert (pairs(kind), kind["scope"]) == ([project], {"global": False, "entity_type": "PROJECT"})
    assert pairs(twins.call("graph_merge_suggestions", entity_type="Person")) == []


def test_an_entity_that_is_not_there_is_named_with_what_finds_it(client: Client) -> None:
    with pytest.raises(ToolFailure, match=r"entity_id: .*'nobody'.*graph_entities"):
        client.call("graph_merge_suggestions", entity_id="nobody")


@pytest.mark.spec("graph_merge_suggestions.threshold_used")
def test_bounds_are_kept_with_a_warning(twins: Client) -> None:
    reply = twins.call("graph_merge_suggestions", min_score=1.5, limit=1_000, min_embedding_similarity=-1)
    assert reply["threshold_used"] == 1
    assert [it.partition(":")[0] for it in reply["warnings"][:3]] == ["min_score", "min_embedding_similarity", "limit"]
    assert pairs(twins.call("graph_merge_suggestions", min_score=0.01, limit=1)) == [("loom-weaver", "weaver-loom")]


@pytest.mark.spec("graph_merge_suggestions.score")
def test_weights_that_the_caller_gives_are_taken(client: Client) -> None:
    client.relate("Postgres", "USES", "Shuttle")
    client.relate("PostgreSQL", "USES", "Shuttle")
    assert pairs(client.call("graph_merge_suggestions")) == []
    reply = client.call("graph_merge_suggestions", weights={"name": 0.0})
    assert [(it["score"], it["signals"]["name_similarity"]) for it in reply["suggestions"]] == [(1.0, 0.0)]
    with pytest.raises(ToolFailure, match="weights"):
        client.call("graph_merge_suggestions", weights={"name": 0, "neighbor_jaccard": 0})
    with pytest.raises(ToolFailure, match=r"weights\.nome"):
        client.call("graph_merge_suggestions", weights={"nome": 1})


@pytest.mark.spec("graph_merge_suggestions.audit", "graph_merge_suggestions.read-only")
def test_each_pair_is_an_event_unless_told_otherwise_and_nothing_else_changes(twins: Client) -> None:
    before = twins.around("Loom Weaver", "Weaver Loom", "Ada")
    twins.call("graph_merge_suggestions", log_to_audit=False)
    assert events(twins) == []
    twins.call("graph_merge_suggestions")
    assert events(twins) == [{"entity_a": "loom-weaver", "entity_b": "weaver-loom", "score": 1.0}]
    assert twins.around("Loom Weaver", "Weaver Loom", "Ada") == before


def test_spellings_of_one_name_are_one_entity_already(client: Client) -> None:
    for name in ("Postgres", "postgres", " Postgres "):
        client.relate(name, "USES", "Shuttle", from_type="Object")
    assert pairs(client.call("graph_merge_suggestions", min_score=0.01)) == []


@pytest.mark.spec("jobs.merge_suggestions")
def test_what_the_night_found_is_weighed_anew_when_asked(twins: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_job(twins.services, "merge_suggestions")
    assert run.result["suggestions"] == 1
    assert run.figures.keys() == {"suggestions", "pairs_evaluated"}
    monkeypatch.setattr(merge_suggestions, "MAX_SEEDS", 0)
    assert pairs(twins.call("graph_merge_suggestions")) == [("loom-weaver", "weaver-loom")]
    assert pairs(twins.call("graph_merge_suggestions", entity_type="Person")) == []
    assert "pairs" not in twins.call("graph_stats")["health"]["jobs"]["merge_suggestions"]["result"]

    twins.relate("Weaver Loom", "USES", "Dye", from_type="Project", to_type="Object")
    [again] = twins.call("graph_merge_suggestions", **HALF)["suggestions"]
    assert again["score"] < 1
    twins.call("graph_delete", entity_id="weaver-loom")
    assert pairs(twins.call("graph_merge_suggestions", **HALF)) == []


def test_another_tenants_pairs_are_not_seen(twins: Client) -> None:
    guest = Client(twins.services, twins.clock, Principal("guest"))
    guest.relate("Loom Weaver", "USES", "Shuttle", from_type="Project")
    assert pairs(guest.call("graph_merge_suggestions", min_score=0.01)) == []
    run_job(twins.services, "merge_suggestions", guest.caller)
    assert pairs(guest.call("graph_merge_suggestions", min_score=0.01)) == []
