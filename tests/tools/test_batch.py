"""graph_relate with a batch: local ids, existing names, all or nothing, and what the reply counts."""

from typing import Any

import pytest

from tests.tools.conftest import Client, Clock


def relate(client: Client, **batch: object) -> dict[str, Any]:
    return client.call("graph_relate", batch=batch)


TEAM = {
    "entities": [
        {"localId": "loom", "name": "Loom of Ada", "type": "Project", "properties": {"status": "active"}},
        {"localId": "steam", "name": "Steam", "type": "Concept"},
        {"localId": "ada", "name": "Ada", "type": "Person"},
        {"name": "Nobody uses this", "type": "Object", "properties": {"n": {"deep": [1]}}},
    ],
    "relations": [
        {"from": "ada", "to": "loom", "relation": "WORKS_ON", "weight": 0.9, "properties": {"role": "lead"}},
        {"from": "loom", "to": "steam", "relation": "uses tech"},
    ],
    "source_session": "s-7",
    "source_transcript": "/t/s-7.jsonl",
    "source_type": "conversation",
}


@pytest.mark.spec(
    "graph_batch.entities",
    "graph_batch.local-ids",
    "graph_batch.counts",
    "graph_batch.details",
    "graph_batch.edge-label",
    "graph_batch.provenance",
    "graph_batch.repeat",
    "graph_batch.weight-rules",
)
def test_a_batch_makes_a_connected_piece_of_the_graph_and_the_same_again_makes_nothing(client: Client) -> None:
    assert relate(client, **TEAM) == {
        "entities_created": 4,
        "entities_merged": 0,
        "edges_created": 2,
        "edges_strengthened": 0,
        "details": [
            {"entity": "Loom of Ada", "action": "created"},
            {"entity": "Steam", "action": "created"},
            {"entity": "Ada", "action": "created"},
            {"entity": "Nobody uses this", "action": "created"},
            {"edge": "Ada→WORKS_ON→Loom of Ada", "action": "created", "weight": 0.9},
            {"edge": "Loom of Ada→USES_TECH→Steam", "action": "created", "weight": 0.7},
        ],
    }
    assert client.node("Nobody uses this")["properties"] == {"n": {"deep": [1]}, "mention_count": 1}
    first = client.around("Ada")
    assert {(it["source_session"], it["source_transcript"], it["source_type"]) for it in first["edges"]} == {
        ("s-7", "/t/s-7.jsonl", "conversation")
    }
    again = relate(client, **TEAM)
    assert [it["action"] for it in again["details"]] == ["merged"] * 4 + ["strengthened"] * 2
    assert (again["entities_created"], again["entities_merged"]) == (0, 4)
    assert (again["edges_created"], again["edges_strengthened"]) == (0, 2)
    assert client.around("Ada")["edges"] == first["edges"]


@pytest.mark.spec("graph_batch.local-id-first", "graph_batch.existing-names", "graph_batch.batch-names")
def test_an_end_is_a_local_id_then_a_name_of_the_batch_or_of_what_is_stored(client: Client) -> None:
    client.relate("x", "IS", "Stored under the name x")
    entities = [{"localId": "x", "name": "Local", "type": "Concept"}, {"name": "In the batch", "type": "Concept"}]
    relations = [
        {"from": "x", "to": "stored under the NAME x", "relation": "FIRST"},
        {"from": "in the batch", "to": "x", "relation": "SECOND"},
    ]
    reply = relate(client, entities=entities, relations=relations)
    assert [it["edge"] for it in reply["details"][2:]] == [
        "Local→FIRST→Stored under the name x",
        "In the batch→SECOND→Local",
    ]


# Situation 17, originals "batch with a failing relation / a nested property".
@pytest.mark.spec("graph_batch.unknown-end", "graph_batch.all-or-nothing")
@pytest.mark.parametrize(
    ("part", "bad", "says"),
    [
        ("relations", {"from": "Nowhere", "to": "A", "relation": "USES"}, "batch.relations.1.from: 'Nowhere'"),
        ("relations", {"from": "A", "to": "Nowhere", "relation": "USES"}, "batch.relations.1.to: 'Nowhere'"),
        ("relations", {"from": "A", "to": "B", "relation": ""}, "batch.relations.1.relation"),
        ("relations", {"from": "A", "to": "B", "relation": "USES", "valid_at": "x"}, "batch.relations.1.valid_at"),
        ("relations", {"from": "A", "to": "B", "relation": "X", "properties": {"id": 1}}, "batch.relations.1.prop"),
        ("relations", {"from": "A", "to": "B", "relation": "X", "when": "now"}, "batch.relations.1.when: unknown"),
        ("entities", {"name": ""}, "batch.entities.2.name"),
        ("entities", {"name": "C", "properties": {"tenant_id": "victim"}}, "batch.entities.2.properties"),
        ("entities", {"name": "C", "localId": "a"}, "batch.entities.2.localId: 'a' stands for two"),
        ("entities", {"name": "C", "kind": "Person"}, "batch.entities.2.kind: unknown"),
    ],
)
def test_a_refused_item_leaves_nothing_of_the_batch(
    client: Client, part: str, bad: dict[str, object], says: str
) -> None:
    client.relate("Here before", "USES", "Other", properties={"n": 1})
    before = client.around("Here before")
    batch: dict[str, list[dict[str, object]]] = {
        "entities": [{"name": "A", "localId": "a"}, {"name": "Here before", "properties": {"n": 2}, "localId": "b"}],
        "relations": [{"from": "A", "to": "b", "relation": "USES", "weight": 1}],
    }
    batch["entities"].append({"name": "B"}) if part == "relations" else None
    batch[part].append(bad)
    assert says in client.refusal("graph_relate", batch=batch)
    assert client.around("Here before") == before


@pytest.mark.spec("graph_batch.evidence", "graph_batch.properties")
def test_a_relation_of_a_batch_carries_what_a_single_one_does(client: Client) -> None:
    relation = {"from": "A", "to": "B", "relation": "USES", "evidence": "said so", "valid_at": "2025-01-01"}
    entities = [{"name": "A"}, {"name": "B"}]
    relate(client, entities=entities, relations=[{**relation, "properties": {"role": "x", "n": 1}}])
    relate(client, entities=entities, relations=[{**relation, "properties": {"n": 2}, "evidence": "again"}])
    edge = client.edge("A", "USES", "B")
    assert (edge["properties"], edge["valid_at"]) == ({"role": "x", "n": 2}, "2025-01-01T00:00:00Z")
    assert [it.text for it in client.contributions("A", "USES", "B")] == ["said so", "again"]


@pytest.mark.spec("graph_batch.entity-exists")
def test_an_entity_that_exists_is_merged(client: Client, clock: Clock) -> None:
    client.relate("Ada", "IS", "Here", from_type="Person", source_type="inferred", from_properties={"a": 1, "b": 1})
    assert client.node("Ada")["confidence"] == 0.3
    entity = {"name": "ada", "type": "person", "properties": {"b": 2}}
    reply = relate(client, entities=[entity], source_type="document")
    assert reply["details"] == [{"entity": "Ada", "action": "merged"}]
    node = client.node("Ada")
    assert (node["confidence"], node["properties"]) == (0.5, {"a": 1, "b": 2, "mention_count": 2})
    relate(client, entities=[entity], source_type="inferred")
    assert client.node("Ada")["confidence"] == 0.5


@pytest.mark.spec("graph_batch.same-entity-twice")
def test_two_items_of_one_key_are_one_entity(client: Client) -> None:
    entities = [
        {"name": "Postgres", "type": "Object", "localId": "p", "properties": {"a": 1}},
        {"name": " POSTGRES ", "type": "object", "localId": "q", "properties": {"b": 2}},
    ]
    reply = relate(client, entities=entities, relations=[{"from": "p", "to": "q", "relation": "IS"}])
    assert (reply["entities_created"], reply["entities_merged"]) == (1, 0)
    assert client.counts() == {"nodes": 1, "edges": 1, "memories": 0}
    assert client.node("Postgres")["properties"] == {"a": 1, "b": 2, "mention_count": 1}


@pytest.mark.spec("graph_batch.weight-rules")
@pytest.mark.parametrize(
    ("source_type", "weight", "expected"),
    [(None, 0.2, 0.6), ("document", 0.9, 0.9), ("mention", 0.9, 0.65), ("inferred", None, 0.6), (None, None, 0.7)],
)
def test_weights_follow_the_rules_of_a_single_statement(
    client: Client, source_type: str | None, weight: float | None, expected: float
) -> None:
    client.relate("A", "USES", "B", weight=0.6)
    relation = {"from": "A", "to": "B", "relation": "USES", "weight": weight}
    reply = relate(client, relations=[relation], source_type=source_type)
    assert reply["details"] == [{"edge": "A→USES→B", "action": "strengthened", "weight": expected}]


def test_one_relation_twice_in_a_batch_is_one_relation(client: Client) -> None:
    relations = [{"from": "A", "to": "B", "relation": it, "weight": w} for it, w in [("USES", 0.2), ("uses", 0.9)]]
    reply = relate(client, entities=[{"name": "A"}, {"name": "B"}], relations=relations)
    assert (reply["edges_created"], reply["edges_strengthened"]) == (1, 1)
    assert client.edge("A", "USES", "B")["weight"] == 0.9


@pytest.mark.parametrize("batch", [{}, {"entities": [], "relations": []}])
def test_an_empty_batch_is_refused(client: Client, batch: dict[str, object]) -> None:
    assert "batch is empty" in client.refusal("graph_relate", batch=batch)
