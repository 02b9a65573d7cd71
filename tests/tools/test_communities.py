"""graph_communities: clusters of entities."""

import random

import pytest

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from tests.tools.conftest import Client


def link(client: Client, *pairs: tuple[str, str], weight: float = 0.8) -> None:
    for source, target in pairs:
        client.relate(source, "NEAR", target, weight=weight)


@pytest.fixture
def islands(client: Client) -> Client:
    """Four around Ada, three around Loom, two far off, one alone."""
    client.relate("Ada", "KNOWS", "Bo", from_type="Person", to_type="Person", weight=0.8)
    client.relate("Ada", "KNOWS", "Cy", from_type="Person", to_type="Person", weight=0.8)
    client.relate("Ada", "KNOWS", "Tea", from_type="Person", weight=0.8)
    link(client, ("Loom", "Wool"), ("Loom", "Silk"), ("Rain", "Sun"))
    client.relate("Cy", "NEAR", "Wool", from_type="Person", weight=0.39)
    client.call("graph_relate", batch={"entities": [{"name": "Alone"}]})
    return client


@pytest.mark.spec(
    "graph_communities.bfs",
    "graph_communities.louvain",
    "graph_communities.fields",
    "graph_communities.coverage",
    "graph_communities.weight_threshold",
)
@pytest.mark.parametrize("method", [{}, {"method": "bfs"}, {"method": "louvain"}])
def test_clusters_are_found_over_relations_of_enough_weight(islands: Client, method: dict[str, str]) -> None:
    reply = islands.call("graph_communities", **method)
    found = [(it["id"], it["seed_name"], it["member_count"], it["dominant_type"]) for it in reply["communities"]]
    assert found == [(1, "Ada", 4, "Person"), (2, "Loom", 3, "Concept"), (3, "Rain", 2, "Concept")]
    members = reply["communities"][0]["members"]
    assert {"id": "tea", "name": "Tea", "type": "Concept"} in members
    assert sorted(it["name"] for it in members) == ["Ada", "Bo", "Cy", "Tea"]
    assert (reply["total_members"], reply["coverage_pct"]) == (9, 90.0)


@pytest.mark.spec("graph_communities.weight_threshold")
@pytest.mark.parametrize(("threshold", "largest"), [(0.39, 6), (0.4, 4), (0.8, 4), (0.81, 0)])
def test_the_threshold_is_inclusive(islands: Client, threshold: float, largest: int) -> None:
    found = islands.call("graph_communities", weight_threshold=threshold)["communities"]
    assert max((it["member_count"] for it in found), default=0) == largest


@pytest.mark.spec("graph_communities.max_communities", "graph_communities.min_size")
@pytest.mark.parametrize(
    ("arguments", "sizes"),
    [({"max_communities": 2}, [4, 3]), ({"min_size": 3}, [4, 3]), ({"min_size": 5}, []), ({"max_communities": 1}, [4])],
)
def test_groups_are_bounded_in_number_and_size(islands: Client, arguments: dict[str, int], sizes: list[int]) -> None:
    reply = islands.call("graph_communities", **arguments)
    assert [it["member_count"] for it in reply["communities"]] == sizes
    assert (reply["total_members"], reply["coverage_pct"]) == (sum(sizes), sum(sizes) * 10.0)


@pytest.mark.spec("graph_communities.max_communities")
def test_ten_are_returned_unless_more_are_asked_for(client: Client) -> None:
    link(client, *((f"A{n}", f"B{n}") for n in range(12)))
    assert len(client.call("graph_communities")["communities"]) == 10
    assert len(client.call("graph_communities", max_communities=50)["communities"]) == 12


@pytest.mark.spec("graph_communities.max_hops", "graph_communities.max_hops.cap")
@pytest.mark.parametrize(("hops", "size"), [(None, 6), (1, 4), (2, 5), (4, 7), (9, 7)])
def test_a_community_reaches_so_many_hops_from_its_seed(client: Client, hops: int | None, size: int) -> None:
    # The seed is the best linked: Hub, with a chain that leads away from it.
    link(client, ("Hub", "X"), ("Hub", "Y"), ("Hub", "N1"), ("N1", "N2"), ("N2", "N3"), ("N3", "N4"), ("N4", "N5"))
    reply = client.call("graph_communities", **({} if hops is None else {"max_hops": hops}))
    assert (reply["communities"][0]["seed_name"], reply["communities"][0]["member_count"]) == ("Hub", size)
    assert [it.split(":")[0] for it in reply.get("warnings", [])] == ["max_hops"] * (hops == 9)


@pytest.mark.spec("graph_communities.current-only")
@pytest.mark.parametrize("method", ["bfs", "louvain"])
def test_superseded_relations_join_nothing(client: Client, method: str) -> None:
    client.relate("Ada", "WORKS_AT", "Acme", valid_at="2020-01-01")
    client.relate("Ada", "WORKS_AT", "Globex", valid_at="2025-01-01")
    [one] = client.call("graph_communities", method=method)["communities"]
    assert sorted(it["name"] for it in one["members"]) == ["Ada", "Globex"]


@pytest.mark.spec("graph_communities.louvain")
def test_louvain_parts_what_a_single_bridge_joins(client: Client) -> None:
    for side in "AB":
        link(client, *((f"{side}{n}", f"{side}{m}") for n in range(5) for m in range(n)))
    link(client, ("A0", "B0"), weight=0.4)
    found = client.call("graph_communities", method="louvain")["communities"]
    assert [{it["name"][0] for it in one["members"]} for one in found] == [{"A"}, {"B"}]
    assert client.refusal("graph_communities", method="kmeans").startswith("method: ")
    assert all(it in client.refusal("graph_communities", method="x") for it in ("'bfs'", "'louvain'"))


@pytest.mark.spec("graph_communities.deterministic")
@pytest.mark.parametrize("method", ["bfs", "louvain"])
def test_equal_graphs_give_equal_communities_whatever_the_order_of_writing(client: Client, method: str) -> None:
    draw = random.Random(7)
    pairs = sorted({(f"n{draw.randrange(25)}", f"n{draw.randrange(25)}") for _ in range(40)})
    link(client, *pairs)
    twin = Client(build_services(load_config({}), ReferenceStore(), clock=client.clock), client.clock)
    link(twin, *draw.sample(pairs, len(pairs)))
    asked = {"method": method, "max_hops": 2, "max_communities": 100}
    assert client.call("graph_communities", **asked) == twin.call("graph_communities", **asked)


def test_an_empty_graph_has_none(client: Client) -> None:
    assert client.call("graph_communities") == {"communities": [], "total_members": 0, "coverage_pct": 0.0}
