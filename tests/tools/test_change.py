"""graph_boost, graph_weaken and graph_delete."""

import pytest

from tests.tools.conftest import Client, Clock, ToolFailure

ENDS = {"from_name": "Ada", "relation": "USES", "to_name": "Loom"}


@pytest.fixture
def used(client: Client) -> Client:
    client.relate("Ada", "USES", "Loom", weight=0.6, from_type="Person")
    return client


@pytest.mark.spec(
    "graph_boost.adds",
    "graph_boost.default",
    "graph_boost.at-most-one",
    "graph_boost.result",
    "graph_weaken.subtracts",
    "graph_weaken.default",
    "graph_weaken.at-least-zero",
    "graph_weaken.result",
)
@pytest.mark.parametrize(
    ("tool", "amount", "expected"),
    [
        ("graph_boost", 0.15, 0.75),
        ("graph_boost", None, 0.75),
        ("graph_boost", 0, 0.6),
        ("graph_boost", 0.9, 1.0),
        ("graph_weaken", 0.2, 0.4),
        ("graph_weaken", None, 0.3),
        ("graph_weaken", 0, 0.6),
        ("graph_weaken", 0.9, 0.0),
    ],
)
def test_a_weight_is_changed_within_its_bounds(used: Client, tool: str, amount: float | None, expected: float) -> None:
    reply = used.call(tool, **ENDS, amount=amount)
    edge = {"from": "ada", "to": "loom", "type": "USES", "weight": expected}
    pruned = {} if tool == "graph_boost" else {"pruned": expected == 0}
    assert reply == {"previous_weight": 0.6, "new_weight": expected, "edge": edge, **pruned}
    assert used.edge("Ada", "USES", "Loom", current_only=False)["weight"] == expected


# Originals: "boost -5", "memory_boost(delta=1e308)".
@pytest.mark.spec("graph_boost.negative-refused", "graph_weaken.negative-refused")
@pytest.mark.parametrize("tool", ["graph_boost", "graph_weaken"])
@pytest.mark.parametrize("amount", [-0.1, -5, float("nan"), float("-inf")])
def test_an_amount_that_is_negative_or_no_number_is_refused(used: Client, tool: str, amount: float) -> None:
    assert used.refusal(tool, **ENDS, amount=amount).startswith("amount: ")
    assert used.edge("Ada", "USES", "Loom")["weight"] == 0.6


@pytest.mark.parametrize(("tool", "expected"), [("graph_boost", 1.0), ("graph_weaken", 0.0)])
def test_an_amount_over_one_is_taken_as_one_with_a_warning(used: Client, tool: str, expected: float) -> None:
    reply = used.call(tool, **ENDS, amount=1e308)
    assert reply["new_weight"] == expected
    assert reply["warnings"][0].startswith("amount: ")


@pytest.mark.spec("graph_boost.refreshes", "graph_weaken.no-refresh")
@pytest.mark.parametrize(("tool", "confirmed"), [("graph_boost", "2026-01-03T12:00:00Z"), ("graph_weaken", None)])
def test_a_boost_confirms_and_a_weakening_does_not(
    used: Client, clock: Clock, tool: str, confirmed: str | None
) -> None:
    before = used.edge("Ada", "USES", "Loom")["last_confirmed"]
    clock.advance(days=2)
    used.call(tool, **ENDS, amount=0.1)
    assert used.edge("Ada", "USES", "Loom")["last_confirmed"] == (confirmed or before)


@pytest.mark.spec("graph_boost.reason", "graph_weaken.reason")
@pytest.mark.parametrize("tool", ["graph_boost", "graph_weaken"])
def test_a_reason_is_kept_with_the_contribution_without_its_secrets(used: Client, tool: str) -> None:
    used.call(tool, **ENDS, amount=0.1, reason="said so, with AKIA" + "QYLPMN5HFIQR7XYZ"[:16])
    piece = used.contributions("Ada", "USES", "Loom")[-1]
    assert (piece.kind.value, piece.amount) == (tool.removeprefix("graph_"), 0.1)
    assert str(piece.text).startswith("said so")
    assert "QYLPMN" not in str(piece.text)


# Originals: "graph_weaken to 0".
@pytest.mark.spec("graph_weaken.pruned", "graph_weaken.not-deleted")
@pytest.mark.parametrize(
    ("left", "is_pruned"), [(0.0, True), (0.04, True), (0.05, True), (0.0501, False), (0.3, False)]
)
def test_at_or_under_the_threshold_a_relation_is_no_longer_current(used: Client, left: float, is_pruned: bool) -> None:
    reply = used.call("graph_weaken", **ENDS, amount=round(0.6 - left, 6))
    assert reply["pruned"] is is_pruned
    assert len(used.edges("Ada", "USES", "Loom")) == (not is_pruned)
    [stored] = used.edges("Ada", "USES", "Loom", current_only=False)
    assert stored["invalid_at"] == ("2026-01-01T12:00:00Z" if is_pruned else None)
    # Said again, it is a new fact beside the refuted one.
    used.relate("Ada", "USES", "Loom", from_type="Person")
    assert len(used.edges("Ada", "USES", "Loom", current_only=False)) == 1 + is_pruned


@pytest.mark.spec("graph_weaken.pruned")
def test_exactly_at_the_threshold_it_is_pruned(client: Client) -> None:
    client.relate("Ada", "USES", "Loom", weight=0.05)
    assert client.call("graph_weaken", **ENDS, amount=0)["pruned"] is True


@pytest.mark.spec("graph_boost.missing", "graph_weaken.missing", "tools.not-found.advice")
@pytest.mark.parametrize("tool", ["graph_boost", "graph_weaken"])
@pytest.mark.parametrize("wrong", [{"from_name": "Bo"}, {"to_name": "Wool"}, {"relation": "KNOWS"}])
def test_a_relation_that_is_not_there_is_an_error_that_names_graph_relate(
    used: Client, tool: str, wrong: dict[str, str]
) -> None:
    assert "graph_relate" in used.refusal(tool, **{**ENDS, **wrong})


@pytest.mark.parametrize("tool", ["graph_boost", "graph_weaken"])
def test_ends_may_be_ids_and_the_type_in_any_spelling(used: Client, tool: str) -> None:
    reply = used.call(tool, from_name="ada", relation="uses", to_name="LOOM", amount=0.1)
    assert reply["edge"]["type"] == "USES"


@pytest.mark.parametrize("tool", ["graph_boost", "graph_weaken"])
def test_names_that_fit_two_relations_are_refused_with_both(used: Client, tool: str) -> None:
    used.relate("Ada", "USES", "Loom", from_type="Project")
    text = used.refusal(tool, **ENDS)
    assert "several relations fit" in text
    assert all(it["id"] in text for it in used.around("Ada", max_hops=0)["nodes"])


@pytest.mark.spec("graph_delete.removes", "graph_delete.result", "graph_delete.neighbours-stay", "graph_delete.reason")
@pytest.mark.parametrize("reason", [{}, {"reason": "a test artefact"}, {"reason": None}])
def test_a_deleted_entity_is_gone_with_its_relations_of_every_version(client: Client, reason: dict[str, str]) -> None:
    client.relate("Ada", "WORKS_AT", "Acme", valid_at="2020-01-01", from_type="Person")
    client.relate("Ada", "WORKS_AT", "Globex", valid_at="2025-01-01", from_type="Person")
    client.relate("Ada", "IS", "Ada", from_type="Person", to_type="Person")
    client.call("memory_add", category="note", title="About", content="About [[Ada]].")
    reply = client.call("graph_delete", entity_id="ada", **reason)
    assert reply == {
        "found": True,
        "deleted": True,
        "entity": {"id": "ada", "name": "Ada", "type": "Person"},
        "edges_removed": 3,
    }
    assert client.around("Ada", current_only=False)["nodes"] == []
    assert client.call("graph_entities", search="Ada")["entities"] == []
    assert client.call("graph_stats")["edges"] == {"total": 0, "by_type": {}}
    assert client.around("Acme", current_only=False)["edges"] == []
    assert client.counts() == {"nodes": 2, "edges": 0, "memories": 1}
    with pytest.raises(ToolFailure):
        client.call("graph_boost", from_name="Ada", relation="WORKS_AT", to_name="Globex")


@pytest.mark.spec("graph_delete.missing", "tools.not-found.entity", "tools.not-found.normal")
@pytest.mark.parametrize("entity_id", ["nobody", "", "Ada", "x" * 10_000])
def test_an_unknown_id_deletes_nothing_and_is_no_error(used: Client, entity_id: str) -> None:
    before = used.counts()
    reply = used.call("graph_delete", entity_id=entity_id)
    assert (reply["found"], reply["deleted"]) == (False, False)
    assert used.counts() == before
