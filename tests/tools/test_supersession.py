"""Which fact is current: single-valued relations, named targets, facts that arrive late, contradictions."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from tests.tools.conftest import Client, Clock, ToolFailure

SINGLE_VALUED = ["WORKS_AT", "REPORTS_TO", "HOSTED_ON", "LIVES_IN", "HAS_STATUS"]


def state(client: Client, source: str = "Ada") -> dict[str, tuple[str | None, str | None]]:
    """Return since when and until when each target holds or held."""
    edges = client.around(source, max_hops=1, current_only=False)["edges"]
    return {it["to"]: (it["valid_at"], it["invalid_at"]) for it in edges if it["from"] == source.casefold()}


def say(client: Client, relation: str, target: str, *, is_batch: bool, **more: object) -> dict[str, Any]:
    if not is_batch:
        return client.relate("Ada", relation, target, **more)
    entities = [{"name": "Ada", "type": "Concept"}, {"name": target, "type": "Concept"}]
    relations = [{"from": "Ada", "to": target, "relation": relation, **more}]
    return client.call("graph_relate", batch={"entities": entities, "relations": relations})


# Originals: "graph_relate(App USES_TECH Kafka, valid_at) … same by batch".
@pytest.mark.spec(
    "supersession.single-valued.built-in",
    "supersession.closes-old",
    "supersession.batch-too",
    "supersession.no-contradiction",
    "graph_relate.weight.as-asked",
)
@pytest.mark.parametrize("relation", [*SINGLE_VALUED, "works at"])
@pytest.mark.parametrize("is_batch", [False, True])
def test_a_new_target_of_a_single_valued_relation_ends_the_old_one(
    client: Client, relation: str, is_batch: bool
) -> None:
    say(client, relation, "Old", is_batch=is_batch, weight=0.9, valid_at="2020-01-01")
    reply = say(client, relation, "New", is_batch=is_batch, weight=0.4, valid_at="2025-03-01")
    assert [it["to"] for it in reply["superseded"]] == ["old"]
    assert state(client) == {
        "old": ("2020-01-01T00:00:00Z", "2025-03-01T00:00:00Z"),
        "new": ("2025-03-01T00:00:00Z", None),
    }
    [current] = client.around("Ada", max_hops=1)["edges"]
    assert (current["to"], current["weight"]) == ("new", 0.4)
    assert set(client.call("graph_stats")["edges"]["by_type"]) == {current["type"]}


@pytest.mark.spec("supersession.closes-old-now")
def test_without_a_date_the_old_one_ends_now(client: Client, clock: Clock) -> None:
    client.relate("Ada", "LIVES_IN", "London", valid_at="2020-01-01")
    clock.advance(days=1)
    client.relate("Ada", "LIVES_IN", "Turin")
    assert state(client)["london"] == ("2020-01-01T00:00:00Z", "2026-01-02T12:00:00Z")


@pytest.mark.spec("supersession.single-valued.config", "config.default.relations.single_valued")
def test_configured_types_are_single_valued_besides_the_built_in_ones(new_client: Callable[..., Client]) -> None:
    plain = new_client()
    assert plain.services.settings.relations.single_valued == ()
    client = new_client(GRAPH_MEMORY_RELATIONS__SINGLE_VALUED="Drives:Owned By")
    for relation in ("DRIVES", "owned-by", "WORKS_AT"):
        for target in ("One", "Two"):
            client.relate("Ada", relation, target)
    edges = client.around("Ada", max_hops=1)["edges"]
    assert {(it["type"], it["to"]) for it in edges} == {("DRIVES", "two"), ("owned-by", "two"), ("WORKS_AT", "two")}


@pytest.mark.spec("supersession.many-valued")
@pytest.mark.parametrize("is_batch", [False, True])
def test_other_types_keep_all_their_targets(client: Client, is_batch: bool) -> None:
    for day, target in enumerate(["React", "Postgres", "Redis", "Kafka"], start=1):
        say(client, "USES_TECH", target, is_batch=is_batch, weight=0.8, valid_at=f"2025-01-0{day}")
    edges = client.around("Ada", max_hops=1)["edges"]
    assert {it["to"]: it["weight"] for it in edges} == dict.fromkeys(["react", "postgres", "redis", "kafka"], 0.8)


@pytest.mark.spec("supersession.named", "supersession.batch-too")
@pytest.mark.parametrize("is_batch", [False, True])
def test_named_targets_of_a_many_valued_relation_end(client: Client, is_batch: bool) -> None:
    for target in ("Vue", "jQuery", "Redis"):
        say(client, "USES_TECH", target, is_batch=is_batch, valid_at="2024-01-01")
    reply = say(
        client, "USES_TECH", "React", is_batch=is_batch, valid_at="2025-05-01", supersedes=["vue", "JQUERY", "Ember"]
    )
    assert {target for target, (_, until) in state(client).items() if until} == {"vue", "jquery"}
    [warning] = reply["warnings"]
    assert "USES_TECH from 'Ada' to 'Ember'" in warning


@pytest.mark.spec("supersession.named")
def test_named_targets_end_when_the_new_one_begins(client: Client, clock: Clock) -> None:
    for target in ("Vue", "jQuery", "Redis"):
        client.relate("Ada", "USES_TECH", target, valid_at="2024-01-01")
    client.relate("Ada", "USES_TECH", "React", valid_at="2025-05-01", supersedes=["vue"])
    client.relate("Ada", "USES_TECH", "Preact", supersedes=["jquery"])
    ended = {target: until for target, (_, until) in state(client).items() if until}
    assert ended == {"vue": "2025-05-01T00:00:00Z", "jquery": "2026-01-01T12:00:00Z"}


@pytest.mark.spec("supersession.late-arrival")
def test_an_older_fact_that_arrives_late_is_stored_as_ended(client: Client) -> None:
    client.relate("Ada", "WORKS_AT", "Globex", valid_at="2024-01-01", weight=0.8)
    before = client.edge("Ada", "WORKS_AT", "Globex")
    reply = client.relate("Ada", "WORKS_AT", "Acme", valid_at="2019-01-01")
    assert reply["action"] == "created"
    assert client.edge("Ada", "WORKS_AT", "Globex") == before
    assert state(client)["acme"] == ("2019-01-01T00:00:00Z", "2024-01-01T00:00:00Z")
    # Between the two: it ends where the next one begins, and the earlier one stays as it was said.
    client.relate("Ada", "WORKS_AT", "Initech", valid_at="2022-01-01")
    assert state(client)["initech"] == ("2022-01-01T00:00:00Z", "2024-01-01T00:00:00Z")
    assert client.edge("Ada", "WORKS_AT", "Globex") == before


@pytest.mark.spec("supersession.late-arrival", "supersession.closes-old")
@pytest.mark.parametrize("order", list(permutations(["2019", "2021", "2023"])))
def test_whatever_the_order_of_learning_the_newest_is_current(client: Client, order: tuple[str, ...]) -> None:
    for year in order:
        client.relate("Ada", "WORKS_AT", f"Job {year}", valid_at=f"{year}-01-01")
    current = {target for target, (_, until) in state(client).items() if until is None}
    assert current == {"job-2023"}


def test_somebody_who_comes_back_has_two_versions_of_one_relation(client: Client) -> None:
    for year, employer in [("2018", "Acme"), ("2020", "Globex"), ("2024", "Acme")]:
        client.relate("Ada", "WORKS_AT", employer, valid_at=f"{year}-01-01")
    versions = client.edges("Ada", "WORKS_AT", "Acme", current_only=False)
    assert sorted((it["valid_at"][:4], (it["invalid_at"] or "")[:4]) for it in versions) == [
        ("2018", "2020"),
        ("2024", ""),
    ]


@pytest.mark.spec("supersession.late-arrival", "time.valid-at")
def test_what_is_said_again_of_an_earlier_time_supports_the_version_of_then(client: Client, clock: Clock) -> None:
    for year, employer in [("2018", "Acme"), ("2020", "Globex"), ("2024", "Acme")]:
        client.relate("Ada", "WORKS_AT", employer, valid_at=f"{year}-01-01")
    clock.advance(days=1)
    reply = client.relate("Ada", "WORKS_AT", "Acme", valid_at="2018-01-01", weight=0.9)
    assert reply["action"] == "strengthened"
    versions = client.edges("Ada", "WORKS_AT", "Acme", current_only=False)
    assert {it["valid_at"][:4]: (it["weight"] == 0.9, it["invalid_at"] is None) for it in versions} == {
        "2018": (True, False),
        "2024": (False, True),
    }


@pytest.mark.spec("time.valid-at", "graph_relate.valid_at")
def test_a_date_given_later_is_kept(client: Client) -> None:
    client.relate("Ada", "USES_TECH", "Loom")
    for given in ("2020-05-01", "2019-05-01", None):
        client.relate("Ada", "USES_TECH", "Loom", valid_at=given)
        assert client.edge("Ada", "USES_TECH", "Loom")["valid_at"] == f"{given or '2019-05-01'}T00:00:00Z"


@pytest.fixture
def disputed(client: Client) -> Client:
    client.relate("Uses Vue", "MENTIONS", "Uses React", from_type="Fact", to_type="Fact")
    client.relate("Uses Vue", "CONTRADICTS", "Uses React", from_type="Fact", to_type="Fact")
    client.relate("Uses Vue", "CONTRADICTS", "Uses Svelte", from_type="Fact", to_type="Fact")
    return client


def unresolved(client: Client) -> int:
    return int(client.call("graph_stats")["health"]["unresolved_contradictions"])


# Originals: "graph_relate CONTRADICTS, SUPERSEDES".
@pytest.mark.spec("contradiction.stored", "contradiction.resolves", "graph_stats.unresolved_contradictions")
def test_a_contradiction_stays_open_until_it_is_resolved(disputed: Client, clock: Clock) -> None:
    assert unresolved(disputed) == 2
    assert len(disputed.around("Uses Vue")["edges"]) == 3
    clock.advance(days=1)
    resolves = {"node_a": "uses react", "node_b": "Uses Vue", "keep": "Uses React"}
    reply = disputed.call("graph_relate", resolves=resolves)
    assert (reply["action"], reply["edge"]["type"]) == ("resolved", "CONTRADICTS")
    assert unresolved(disputed) == 1
    [closed] = disputed.edges("Uses Vue", "CONTRADICTS", "Uses React", current_only=False)
    assert closed["invalid_at"] == "2026-01-02T12:00:00Z"
    assert closed["properties"] == {"resolved": True, "kept": "uses-react"}
    # Both facts are still there, and it can't be resolved twice.
    assert disputed.counts()["nodes"] == 3
    with pytest.raises(ToolFailure, match="graph_query"):
        disputed.call("graph_relate", resolves=resolves)


@pytest.mark.spec("contradiction.resolves")
@pytest.mark.parametrize(
    ("resolves", "argument"),
    [
        ({"node_a": "Uses Vue", "node_b": "Uses React", "keep": "Uses Svelte"}, "keep"),
        ({"node_a": "Uses React", "node_b": "Uses Svelte", "keep": "Uses React"}, "no open contradiction"),
        ({"node_a": "Uses Vue", "node_b": "Uses React"}, "resolves.keep"),
    ],
)
def test_only_an_open_contradiction_between_the_two_can_be_resolved(
    disputed: Client, resolves: dict[str, str], argument: str
) -> None:
    assert argument in disputed.refusal("graph_relate", resolves=resolves)
    assert unresolved(disputed) == 2


@pytest.mark.parametrize(
    "more", [{"from_name": "A"}, {"weight": 0.5}, {"batch": {"entities": [{"name": "A"}]}}, {"source_session": "s"}]
)
def test_resolving_leaves_no_room_for_another_statement(disputed: Client, more: dict[str, object]) -> None:
    resolves = {"node_a": "Uses Vue", "node_b": "Uses React", "keep": "Uses React"}
    assert "no other argument" in disputed.refusal("graph_relate", resolves=resolves, **more)
