"""graph_entities: the catalogue, its filters and its order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from graph_memory.domain.names import name_key
from tests.tools.conftest import Client, Clock


def listed(client: Client, **arguments: object) -> list[str]:
    return [it["name"] for it in client.call("graph_entities", **arguments)["entities"]]


@pytest.fixture
def catalogue(client: Client, clock: Clock) -> Client:
    for name, kind, source in [
        ("beta", "Person", "inferred"),
        ("Alpha", "Person", "document"),
        ("gamma", "Fact", None),
    ]:
        client.call("graph_relate", batch={"entities": [{"name": name, "type": kind}], "source_type": source})
        clock.advance(hours=1)
    client.call("graph_relate", batch={"entities": [{"name": "beta", "type": "Person"}], "source_type": "inferred"})
    return client


@pytest.mark.spec(
    "graph_entities.sort.confidence",
    "graph_entities.sort.last_seen",
    "graph_entities.sort.name",
    "graph_entities.type",
    "graph_entities.min_confidence",
    "graph_entities.total",
)
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, ["gamma", "Alpha", "beta"]),
        ({"sort_by": "confidence"}, ["gamma", "Alpha", "beta"]),
        ({"sort_by": "last_seen"}, ["beta", "gamma", "Alpha"]),
        ({"sort_by": "name"}, ["Alpha", "beta", "gamma"]),
        ({"type": " PERSON"}, ["Alpha", "beta"]),
        ({"type": "Unheard of"}, []),
        ({"min_confidence": 0.5}, ["gamma", "Alpha"]),
        ({"min_confidence": 0.51}, ["gamma"]),
        ({"min_confidence": 1.0}, []),
        ({"search": "beta", "type": "Fact"}, []),
    ],
)
def test_the_catalogue_is_filtered_and_sorted(
    catalogue: Client, arguments: dict[str, object], names: list[str]
) -> None:
    assert listed(catalogue, **arguments) == names
    assert catalogue.call("graph_entities", **arguments)["total"] == len(names)
    assert listed(catalogue, **arguments, limit=1) == names[:1]
    assert catalogue.call("graph_entities", **arguments, limit=1)["total"] == len(names)


@pytest.mark.spec("graph_entities.fields", "graph_entities.edge_count")
def test_an_entity_tells_its_current_relations_in_both_directions(client: Client) -> None:
    client.relate("Ada", "WORKS_AT", "Acme", valid_at="2020-01-01")
    client.relate("Ada", "WORKS_AT", "Globex", valid_at="2025-01-01")
    client.relate("Loom", "MADE_BY", "Ada")
    client.relate("Ada", "IS", "Ada")
    [ada] = client.call("graph_entities", search="Ada")["entities"]
    assert ada == {
        "id": "ada",
        "type": "Concept",
        "name": "Ada",
        "confidence": 0.7,
        "edge_count": 3,
        "last_seen": "2026-01-01T12:00:00Z",
        "source_file": None,
    }
    assert client.call("graph_entities", search="Acme")["entities"][0]["edge_count"] == 0


@pytest.mark.spec("graph_entities.search")
@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("postgres", ["Postgres", "Postgres cluster"]),
        ("cluster", ["Postgres cluster", "Redis cluster"]),
        ("Postgers", ["Postgres"]),
        ("clust", ["Postgres cluster", "Redis cluster"]),
        ("nothing like it", []),
        ("", ["Postgres", "Postgres cluster", "Redis cluster"]),
        ("  ", ["Postgres", "Postgres cluster", "Redis cluster"]),
    ],
)
def test_a_search_narrows_by_the_words_of_the_name(client: Client, search: str, names: list[str]) -> None:
    entities = [{"name": it} for it in ("Postgres cluster", "Postgres", "Redis cluster")]
    client.call("graph_relate", batch={"entities": entities})
    assert sorted(listed(client, search=search)) == names
    if search.strip() and names:
        assert listed(client, search=search)[0] == names[0]


@pytest.mark.spec("graph_entities.limit.default", "graph_entities.limit.cap", "tools.arguments.clamped-warns")
@pytest.mark.parametrize(("limit", "shown"), [({}, 20), ({"limit": 500}, 500), ({"limit": 501}, 500)])
@pytest.mark.parametrize("search", [{}, {"search": "entity"}])
def test_no_more_than_the_limit_is_listed(
    client: Client, limit: dict[str, int], shown: int, search: dict[str, str]
) -> None:
    client.call("graph_relate", batch={"entities": [{"name": f"entity {n}"} for n in range(503)]})
    reply = client.call("graph_entities", **limit, **search)
    assert len(reply["entities"]) == shown
    assert reply["next_offset"] == shown
    assert [it.split(":")[0] for it in reply.get("warnings", [])] == ["limit"] * (limit.get("limit") == 501)


@given(
    entities=st.lists(
        st.tuples(st.text("abcXYZ", min_size=1, max_size=3), st.sampled_from(["Person", "Fact", "Banana"])), max_size=12
    ),
    kind=st.sampled_from([None, "person", "FACT", "Banana", "Other"]),
    lowest=st.sampled_from([0.0, 0.3, 0.5, 0.7, 0.71]),
    order=st.sampled_from([None, "confidence", "last_seen", "name"]),
    page=st.integers(1, 5),
)
def test_pages_of_any_size_give_what_matches_once_and_in_order(
    entities: list[tuple[str, str]],
    kind: str | None,
    lowest: float,
    order: str | None,
    page: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    clock = Clock()
    config = load_config({}, tmp_path_factory.getbasetemp() / "entities")
    client = Client(build_services(config, ReferenceStore(), clock=clock), clock)
    for number, (name, type_) in enumerate(entities):
        source = ["inferred", "document", "manual"][number % 3]
        client.call("graph_relate", batch={"entities": [{"name": name, "type": type_}], "source_type": source})
        clock.advance(minutes=1)
    arguments = {"type": kind, "min_confidence": lowest, "sort_by": order}
    found: list[dict[str, Any]] = []
    reply: dict[str, Any] = {"next_offset": 0}
    while "next_offset" in reply:
        reply = client.call("graph_entities", **arguments, limit=page, offset=reply["next_offset"])
        found += reply["entities"]
    everything = client.call("graph_entities", limit=500)["entities"]
    wanted = [
        it
        for it in everything
        if it["confidence"] >= lowest and (kind is None or it["type"].casefold() == kind.casefold())
    ]
    keys = {
        None: lambda it: (-it["confidence"], it["id"]),
        "confidence": lambda it: (-it["confidence"], it["id"]),
        "last_seen": lambda it: ([-ord(c) for c in it["last_seen"]], it["id"]),
        "name": lambda it: (name_key(it["name"]), it["id"]),
    }
    assert found == sorted(wanted, key=keys[order])
    assert reply["total"] == len(found)
