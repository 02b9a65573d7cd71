"""What broke for users of graph memories before, acted out; each comment says which row of the cases it is.

`S 16` is a row of situations.md, `O` with some of its words a row of originals.md.
"""

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from graph_memory.domain.ledger import JobRun, RunStatus
from tests.tools.conftest import START, Client, Clock, ToolFailure

NFC, NFD = "Caf\u00e9 M\u00fcller", "Cafe\u0301 Mu\u0308ller"


# S 4
def test_while_maintenance_holds_the_store_a_client_waits_or_is_told_and_health_says_what_failed(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path / "memory.db", deadline=0.2)
    with closing(store), closing(apsw.Connection(str(tmp_path / "memory.db"))) as maintenance:
        clock = Clock()
        client = Client(build_services(load_config({}, tmp_path), store, clock=clock), clock)
        client.relate("Garden", "HAS", "Shed")
        maintenance.execute("begin immediate")
        with pytest.raises(ToolFailure, match="try again"):
            client.relate("Garden", "HAS", "Pond")
        with pytest.raises(ToolFailure, match="try again"):
            client.call("graph_decay")
        maintenance.execute("rollback")
        assert client.relate("Garden", "HAS", "Pond")["action"] == "created"
        run = JobRun("decay", START, RunStatus.FAILED, START, error="the store was held by others for 30 s")
        store.write(client.caller, lambda tx: tx.upkeep.put_run(run))
        assert client.call("graph_stats")["health"]["degraded"] == ["job decay: the store was held by others for 30 s"]


# S 12
def test_a_client_that_retries_makes_no_copies(client: Client) -> None:
    note = {"category": "decision", "title": "Compost in autumn", "content": "Leaves first, then kitchen scraps."}
    first = client.call("memory_add", **note)["id"]
    for _ in range(2):
        with pytest.raises(ToolFailure, match=f"memory {first} "):
            client.call("memory_add", **note)
    document = {"action": "queue", "content": "# Beds\n\nFour of them.", "file_name": "beds.md"}
    queued = [client.call("graph_ingest", **document) for _ in range(2)]
    queued.append(client.call("graph_ingest", **{**document, "file_name": "other name.md"}))
    assert [it["action"] for it in queued] == ["queued", "already_known", "already_known"]
    assert len({it["id"] for it in queued}) == 1
    statement = {"from_name": "Garden", "relation": "HAS", "to_name": "Four beds"}
    for _ in range(3):
        client.call("graph_relate", **statement)
    assert client.counts() == {"nodes": 2, "edges": 1, "memories": 1}
    assert client.call("graph_ingest", action="status")["pending_count"] == 1


# S 15
def test_composed_and_decomposed_spellings_are_one(client: Client) -> None:
    client.relate(NFC, "SERVES", "Coffee", from_type=NFC)
    client.relate(NFD, "SERVES", "Coffee", from_type=NFD)
    client.call("memory_add", category="note", title=NFD, content=f"We met at [[{NFD}]].", project_id=NFD)
    for spelling in (NFC, NFD):
        assert [it["name"] for it in client.around(spelling, max_hops=0)["nodes"]] == [NFC]
        assert client.call("graph_entities", type=spelling)["total"] == 1
        assert client.call("memory_search", query=spelling, project_id=spelling)["count"] == 1
    assert client.counts() == {"nodes": 2, "edges": 1, "memories": 1}
    assert "title: " in client.refusal("memory_add", category="note", title=NFC, content="x", project_id=NFC)


# S 16, O "Postgres, postgres, ' postgres ', POSTGRES"
def test_ways_to_write_a_name_are_one_node_with_a_stable_name(client: Client) -> None:
    for spelling in ("MyService", "myservice", " myservice ", "MYSERVICE"):
        client.relate(spelling, "LISTENS_ON", "Port 80")
    [node] = client.around("myservice", max_hops=0)["nodes"]
    assert (node["name"], node["properties"]["mention_count"]) == ("MyService", 4)
    assert client.call("graph_validate")["issues"] == []


# S 17
def test_a_relation_never_dangles(client: Client) -> None:
    batch = {
        "entities": [{"name": "Rake", "localId": "r"}],
        "relations": [
            {"from": "r", "to": "Rake", "relation": "IS"},
            {"from": "r", "to": "nobody", "relation": "LEANS_ON"},
        ],
    }
    assert "'nobody'" in client.refusal("graph_relate", batch=batch)
    client.call("graph_relate", from_name="Rake", relation="LEANS_ON", to_name="Shed")
    client.call("graph_delete", entity_id="shed")
    assert client.around("Rake", current_only=False)["edges"] == []


# S 21, O "type / relation holding a backtick"
@pytest.mark.parametrize(
    "text",
    [
        "X` SET e.pwned=1 //",
        "KNOWS]->() DETACH DELETE n //",
        "x'); delete from entities; --",
        "` : `",
        "{name: 'x'}) RETURN n //",
        '"; drop table relations; --',
    ],
)
def test_no_name_is_ever_a_query(client: Client, text: str) -> None:
    client.relate("Witness", "SEES", "All", from_properties={"sworn": True})
    before = client.node("Witness")
    client.relate(text, text, text, from_type=text, to_type=text, properties={"p": text})
    ends = {"from_name": text, "relation": text, "to_name": text}
    client.call("graph_boost", **ends, reason=text)
    client.call("graph_weaken", **ends, amount=0.01)
    client.call("graph_query", entities=[text], entity_types=[text], project_context=text)
    client.call("graph_entities", search=text, type=text)
    client.call("graph_validate", source_session=text)
    client.call("graph_delete", entity_id=text)
    assert client.node("Witness") == before
    assert client.call("graph_stats")["nodes"]["by_type"] == {"Concept": 2, text: 1}


# S 22
@pytest.mark.parametrize(
    "relation", ["low-cost", "由\u2026组成", "definiert_für", "is 50% of", "two\nlines", "🪴", "a.b.c", "x" * 200]
)
def test_a_relation_of_any_name_is_found_under_it(client: Client, relation: str) -> None:
    client.relate("Seed", relation, "Tree")
    [edge] = client.around("Seed")["edges"]
    assert edge["type"] == relation.replace("\n", " ")
    assert client.relate("Seed", relation, "Tree")["action"] == "strengthened"
    assert client.call("graph_weaken", from_name="Seed", relation=relation, to_name="Tree")["new_weight"] == 0.4


# S 22
@pytest.mark.parametrize("relation", ["", " ", "x" * 300])
def test_a_relation_without_a_name_or_with_a_novel_for_one_is_refused(client: Client, relation: str) -> None:
    assert client.refusal("graph_relate", from_name="A", relation=relation, to_name="B").startswith("relation: ")


# S 23, S 24
@pytest.mark.parametrize(
    "text",
    r"""C:\garden\plan.md a/b C++ ( " * foo:bar AND BED-358 don't --error v2.1.39 multi-agent""".split(),
)
def test_any_name_that_is_stored_is_found_by_every_tool_that_searches(client: Client, text: str) -> None:
    client.relate(text, "IS", "Odd", from_type="Object")
    client.call("memory_add", category="note", title="About odd names", content=f"One of them is {text} indeed.")
    assert client.call("graph_query", entities=[text])["nodes"][0]["name"] == text
    assert client.call("graph_entities", search=text)["entities"][0]["name"] == text
    has_words = any(it.isalnum() for it in text)
    assert client.call("memory_search", query=text)["count"] == (1 if has_words else 0)


# S 23
def test_nothing_finds_nothing_and_very_much_is_no_error(client: Client) -> None:
    client.relate("Plan of the garden", "IS", "Old")
    for text in ("", " "):
        assert client.call("graph_query", entities=[text])["found"] is False
        assert client.call("memory_search", query=text)["count"] == 0
    for text in ("plan " * 2_000, "(" * 10_000, '"' * 9_999, "\u00e9" * 10_000):
        client.call("graph_query", entities=[text])
        client.call("graph_entities", search=text)
        client.call("memory_search", query=text)


# O "graph_decay({}) three times, 30 days old; nightly for 30 nights"
def test_decay_does_not_compound(client: Client, clock: Clock) -> None:
    client.relate("Greenhouse", "NEEDS", "Glass", from_type="Project", weight=1.0)
    for _ in range(30):
        clock.advance(days=1)
        for _ in range(3):
            client.call("graph_decay")
    assert client.node("Greenhouse")["confidence"] == pytest.approx(0.7 * 0.860, abs=0.001)


# O "graph_relate(App USES_TECH Kafka, valid_at) with React, Postgres, Redis there", "same by batch"
@pytest.mark.parametrize("is_batch", [False, True])
def test_a_fourth_tool_does_not_end_the_three_before(client: Client, is_batch: bool) -> None:
    for tool in ("Spade", "Hoe", "Rake"):
        client.relate("Gardener", "USES_TECH", tool, valid_at="2024-01-01")
    statement = {"relation": "USES_TECH", "weight": 0.8, "valid_at": "2025-01-01"}
    if is_batch:
        relations = [{"from": "Gardener", "to": "Shears", **statement}]
        client.call("graph_relate", batch={"entities": [{"name": "Shears"}], "relations": relations})
    else:
        client.relate("Gardener", "USES_TECH", "Shears", **{k: v for k, v in statement.items() if k != "relation"})
    edges = client.around("Gardener")["edges"]
    assert sorted((it["to"], it["weight"]) for it in edges) == [
        ("hoe", 0.7),
        ("rake", 0.7),
        ("shears", 0.8),
        ("spade", 0.7),
    ]


# O "Docker Object, then Docker Concept"
def test_one_name_under_two_types_is_two_nodes_and_is_reported(client: Client) -> None:
    client.relate("Ivy", "GROWS_ON", "Wall", from_type="Object")
    client.relate("Ivy", "IS", "Neighbour", from_type="Person")
    assert sorted(it["type"] for it in client.around("Ivy", max_hops=0)["nodes"]) == ["Object", "Person"]
    assert [it["type"] for it in client.call("graph_validate")["issues"]] == ["several_types"]


# O "batch properties {tenant_id, id, confidence: 99}"
def test_no_property_moves_a_node_to_another_tenant(client: Client) -> None:
    for name, value in [("tenant_id", "victim"), ("id", "root"), ("confidence", 99), ("decayed_at", "2000-01-01")]:
        entity = {"name": "Mole", "properties": {name: value}}
        assert name in client.refusal("graph_relate", batch={"entities": [entity]})
    assert client.as_tenant("victim").counts()["nodes"] == 0


# O "graph_query([\"Project Zeus\"]), only Apollo stored"
def test_another_things_neighbourhood_is_no_answer_or_a_marked_one(client: Client) -> None:
    client.relate("Project Apollo", "GROWS", "Laurel", from_type="Project")
    assert client.call("graph_query", entities=["Project Zeus"])["found"] is False
    near = client.call("graph_query", entities=["Projet Apollo"])
    assert (near["nodes"][0]["name"], near["inexact"]) == ("Project Apollo", ["Projet Apollo"])


# O "graph_weaken to 0"
def test_a_refuted_fact_is_pruned_and_does_not_look_fresh(client: Client, clock: Clock) -> None:
    client.relate("Tomato", "IS_A", "Vegetable")
    clock.advance(days=2)
    reply = client.call("graph_weaken", from_name="Tomato", relation="IS_A", to_name="Vegetable", amount=1)
    assert (reply["new_weight"], reply["pruned"]) == (0.0, True)
    assert client.edges("Tomato", "IS_A", "Vegetable") == []
    [edge] = client.edges("Tomato", "IS_A", "Vegetable", current_only=False)
    assert (edge["last_confirmed"], edge["invalid_at"]) == ("2026-01-01T12:00:00Z", "2026-01-03T12:00:00Z")


# O "graph_ingest(/etc/passwd); two n.md; missing transcript"
def test_files_are_neither_taken_from_anywhere_nor_overwritten(client: Client) -> None:
    assert "/etc/passwd" in client.refusal("graph_ingest", action="queue", file_path="/etc/passwd")
    for text in ("# First", "# Second"):
        client.call("graph_ingest", action="queue", content=text, file_name="n.md")
    texts = {it.read_text() for it in client.services.home.pending.rglob("*.md")}
    assert texts == {"# First", "# Second"}
    assert "nobody" in client.refusal("graph_read_transcript", session_id="nobody")


# O "search expansion, hubs, communities"
def test_what_was_superseded_counts_nowhere(client: Client) -> None:
    for year, home in enumerate(["Attic", "Barn", "Cellar", "Den"], start=2021):
        client.relate("Cat", "LIVES_IN", home, valid_at=f"{year}-01-01")
    assert client.call("graph_entities", search="Cat")["entities"][0]["edge_count"] == 1
    assert client.call("graph_communities")["total_members"] == 2
    stats = client.call("graph_stats")
    assert (stats["edges"]["total"], stats["health"]["orphaned_nodes"]) == (1, 3)
    assert [it["name"] for it in client.call("graph_query", entities=["Cat"])["nodes"]] == ["Cat", "Den"]
    # They are kept all the same.
    assert len(client.around("Cat", current_only=False)["edges"]) == 4
    backup = Path(client.call("graph_export")["backup_file"]).read_text().splitlines()
    assert sum(json.loads(line).get("kind") == "relation" for line in backup) == 4
