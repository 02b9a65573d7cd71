"""graph_validate: what is wrong with the names and the ties of a graph."""

from typing import Any

import pytest

from tests.tools.conftest import Client, Clock


def issues(client: Client, kind: str, **arguments: object) -> list[dict[str, Any]]:
    return [it for it in client.call("graph_validate", max_issues=500, **arguments)["issues"] if it["type"] == kind]


@pytest.mark.spec("graph_validate.generic_name", "graph_validate.reference_language", "graph_validate.fields")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("project", "generic_name"),
        ("User", "generic_name"),
        (" DATA ", "generic_name"),
        ("the project", "reference_language"),
        ("This File", "reference_language"),
        ("my team", "reference_language"),
        ("Project X", None),
        ("Therapist", None),
        ("Thesis", None),
        ("Data Vault", None),
    ],
)
def test_names_that_say_nothing_or_only_point_are_reported(client: Client, name: str, kind: str | None) -> None:
    client.relate(name, "USES", "Postgres")
    found = [it for it in client.call("graph_validate")["issues"] if it["entity_name"] == name.strip()]
    assert [it["type"] for it in found] == ([kind] if kind else [])
    for issue in found:
        assert issue["entity_id"] == client.node(name)["id"]
        assert issue["severity"] in {"high", "medium", "low"}
        assert name.strip() in issue["description"]


@pytest.mark.spec("graph_validate.orphan", "graph_validate.low-confidence")
def test_an_entity_that_nothing_holds_is_reported(client: Client, clock: Clock) -> None:
    batch = {"entities": [{"name": "Weak"}], "source_type": "inferred"}
    client.call("graph_relate", batch=batch)
    client.relate("Weak but held", "USES", "Postgres", source_type="inferred")
    client.call("graph_relate", batch={"entities": [{"name": "Strong"}]})
    assert issues(client, "orphan") == []  # 0.3 to the hair is not under 0.3
    clock.advance(hours=1)
    client.call("graph_decay")
    assert [it["entity_name"] for it in issues(client, "orphan")] == ["Weak"]


@pytest.mark.spec("graph_validate.near_duplicate")
def test_two_of_one_type_with_almost_one_name_are_reported_once(client: Client) -> None:
    for name, kind in [("PostgreSQL 16", "Object"), ("PostgreSQL16", "Object"), ("Postgre-SQL 16", "Person")]:
        client.relate(name, "USES", "Disk", from_type=kind)
    client.relate("Python 3.11", "BEFORE", "Python 3.12")
    [pair] = issues(client, "near_duplicate")
    assert {pair["entity_id"], *pair["related_ids"]} == {"postgresql-16", "postgresql16"}


@pytest.mark.spec("graph_validate.several-types")
def test_one_name_under_several_types_is_reported(client: Client) -> None:
    for kind in ("Project", "Person", "Fact"):
        client.relate("Mercury", "IS", "Hot", from_type=kind)
    [issue] = issues(client, "several_types")
    assert len({issue["entity_id"], *issue["related_ids"]}) == 3
    assert all(kind in issue["description"] for kind in ("Project", "Person", "Fact"))


@pytest.mark.spec("graph_validate.dangling-alias")
def test_an_alias_whose_entity_is_gone_is_reported(client: Client) -> None:
    client.relate("PG", "ALIAS_OF", "Postgres", from_type="Alias")
    client.relate("Maria", "ALIAS_OF", "MariaDB", from_type="Alias")
    assert issues(client, "dangling_alias") == []
    client.call("graph_delete", entity_id="postgres")
    assert [it["entity_name"] for it in issues(client, "dangling_alias")] == ["PG"]


@pytest.mark.spec(
    "graph_validate.order", "graph_validate.issue_count", "graph_validate.max_issues", "tools.offset.graph_validate"
)
def test_issues_come_by_severity_in_pages_that_hold_each_once(client: Client, clock: Clock) -> None:
    entities = [
        {"name": it} for it in ("the file", "data", "user", "this thing", *(f"Weak {n} end" for n in range(60)))
    ]
    client.call("graph_relate", batch={"entities": entities, "source_type": "inferred"})
    clock.advance(days=1)
    client.call("graph_decay")
    first = client.call("graph_validate")
    assert (len(first["issues"]), first["next_offset"]) == (50, 50)
    assert first["issue_count"] == 64 + 4
    rank = ["high", "medium", "low"]
    seen: list[dict[str, Any]] = []
    reply: dict[str, Any] = {"next_offset": 0}
    while "next_offset" in reply:
        reply = client.call("graph_validate", max_issues=7, offset=reply["next_offset"])
        seen += reply["issues"]
    assert len(seen) == len({(it["type"], it["entity_id"]) for it in seen}) == 68
    severities = [rank.index(it["severity"]) for it in seen]
    assert severities == sorted(severities)
    assert seen[:50] == first["issues"]
    assert client.call("graph_validate", max_issues=501)["warnings"][0].startswith("max_issues: ")


@pytest.mark.spec("graph_validate.source_session")
def test_a_session_narrows_to_the_entities_it_made(client: Client) -> None:
    client.relate("the file", "USES", "data", source_session="s-1")
    client.relate("the file", "USES", "user", source_session="s-2")
    assert {it["entity_name"] for it in client.call("graph_validate", source_session="s-1")["issues"]} == {
        "the file",
        "data",
    }
    # The second session spoke of the file as well, and made the user alone.
    assert {it["entity_name"] for it in client.call("graph_validate", source_session="s-2")["issues"]} == {"user"}
    assert client.call("graph_validate", source_session="s-3") == {"issues": [], "issue_count": 0}
