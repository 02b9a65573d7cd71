"""graph_query: finding what is named, walking outwards, and how much is said of it."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from tests.tools.conftest import Client, Clock

NODE = {"id", "type", "name", "properties", "confidence", "source_file"}
EDGE = {
    "from",
    "to",
    "type",
    "weight",
    "effective_weight",
    "properties",
    "valid_at",
    "invalid_at",
    "source_session",
    "source_type",
}


ODD_NAMES = r"""C:\repo\src a/b C++ ( " what's"foo * foo:bar AND [x] !""".split()


def names(reply: dict[str, Any]) -> list[str]:
    return [it["name"] for it in reply["nodes"]]


def batch(client: Client, *relations: tuple[str, str, float], types: dict[str, str] | None = None) -> Client:
    """State many relations at once; ends are Concepts but for those in `types`."""
    ends = dict.fromkeys(end for source, target, _ in relations for end in (source, target))
    entities = [{"name": it, "type": (types or {}).get(it, "Concept")} for it in ends]
    stated = [{"from": source, "to": target, "relation": "NEAR", "weight": w} for source, target, w in relations]
    for start in range(0, len(entities), 1_000):
        client.call("graph_relate", batch={"entities": entities[start : start + 1_000]})
    for start in range(0, len(stated), 1_000):
        client.call("graph_relate", batch={"relations": stated[start : start + 1_000]})
    return client


@pytest.fixture
def chain(client: Client) -> Client:
    """H0 - H1 - … - H6, relations pointing now this way, now that."""
    pairs = [(f"H{n}", f"H{n + 1}") if n % 2 else (f"H{n + 1}", f"H{n}") for n in range(6)]
    return batch(client, *((*pair, 0.8) for pair in pairs))


@pytest.mark.spec(
    "graph_query.max_hops.default",
    "graph_query.max_hops.respected",
    "graph_query.max_hops.cap",
    "graph_query.walk.both-directions",
    "config.default.query.default_max_hops",
    "tools.arguments.clamped-warns",
)
@pytest.mark.parametrize(("given", "walked"), [(None, 2), (0, 0), (1, 1), (3, 3), (4, 4), (5, 4), (99, 4)])
def test_a_walk_goes_so_many_hops_in_both_directions(chain: Client, given: int | None, walked: int) -> None:
    reply = chain.call("graph_query", entities=["H0"], max_hops=given)
    assert names(reply) == [f"H{n}" for n in range(walked + 1)]
    warnings = reply.get("warnings", [])
    assert [it.split(":")[0] for it in warnings] == ["max_hops"] * (given not in (None, walked))
    assert all(str(given) in it and "4" in it for it in warnings)


# Originals: "max_hops -1 / 1.5".
@pytest.mark.parametrize(
    "wrong",
    [{"max_hops": -1}, {"max_hops": 1.5}, {"limit": 0}, {"entities": []}, {"entities": "H0"}, {"current_only": "x"}],
)
def test_what_makes_no_sense_is_refused_by_its_argument(chain: Client, wrong: dict[str, object]) -> None:
    text = chain.refusal("graph_query", **{"entities": ["H0"], **wrong})
    assert text.startswith(next(iter(wrong)))


@pytest.mark.spec(
    "graph_query.min_weight.default", "graph_query.min_weight.inclusive", "config.default.query.default_min_weight"
)
@pytest.mark.parametrize(("given", "found"), [(None, "ABC"), (0.3, "ABC"), (0.31, "AB"), (0.29, "ABCD"), (0, "ABCD")])
def test_lighter_relations_are_neither_walked_nor_returned(client: Client, given: float | None, found: str) -> None:
    batch(client, ("A", "B", 0.5), ("B", "C", 0.3), ("C", "D", 0.29))
    reply = client.call("graph_query", entities=["A"], max_hops=4, min_weight=given)
    assert names(reply) == list(found)
    assert len(reply["edges"]) == len(found) - 1


@pytest.mark.spec(
    "graph_query.limit.default",
    "graph_query.limit.counts-nodes",
    "graph_query.limit.cap",
    "graph_query.walk.strongest-first",
    "config.default.query.default_limit",
)
@pytest.mark.parametrize(("given", "shown"), [(None, 20), (7, 7), (1, 1), (500, 500), (501, 500), (9_999, 500)])
def test_the_limit_counts_nodes_and_leaves_the_weakest_out(client: Client, given: int | None, shown: int) -> None:
    batch(client, *(("Hub", f"N{n:03}", 1 - n / 1_000) for n in range(600)))
    reply = client.call("graph_query", entities=["Hub"], limit=given, max_hops=1)
    assert names(reply) == ["Hub", *(f"N{n:03}" for n in range(shown - 1))]
    ids = {it["id"] for it in reply["nodes"]}
    assert len(reply["edges"]) == shown - 1
    assert all({it["from"], it["to"]} <= ids for it in reply["edges"])
    assert bool(reply.get("warnings")) is (given is not None and given > 500)


@pytest.mark.spec("graph_query.walk.hub")
def test_places_are_kept_for_what_lies_beyond_a_hub(client: Client) -> None:
    hub = [("Hub", f"N{n:04}", 0.9 - n / 10_000) for n in range(1_200)]
    beyond = [("N0001", "Beyond one", 0.8), ("N0002", "Beyond two", 0.8), ("N0100", "Too far out", 1.0)]
    batch(client, *hub, *beyond)
    reply = client.call("graph_query", entities=["Hub"])
    assert len(reply["nodes"]) == 20
    assert names(reply) == ["Hub", *(f"N{n:04}" for n in range(17)), "Beyond one", "Beyond two"]
    assert len(reply["edges"]) == 19


@pytest.mark.spec("graph_query.walk.hub", "graph_query.entity_types.filters-result")
def test_the_relations_of_a_hub_do_not_come_back_from_its_neighbours(client: Client) -> None:
    hub = [("Hub", f"N{n:04}", 0.9) for n in range(1_100)]
    batch(client, *hub, *((f"N{n:04}", f"Person {n}", 0.5) for n in range(5)))
    client.relate("Far", "NEAR", "Hub", weight=0.95)
    client.relate("Bo", "NEAR", "Far", from_type="Person", weight=0.4)
    reply = client.call("graph_query", entities=["Hub"], entity_types=["Person"])
    assert names(reply) == ["Bo"]


@pytest.mark.spec("graph_query.entities.several", "graph_query.walk.deduplicated")
def test_several_starts_give_the_union_each_node_and_relation_once(client: Client) -> None:
    batch(client, ("A", "M", 0.9), ("B", "M", 0.9), ("A", "B", 0.9), ("M", "Z", 0.5))
    reply = client.call("graph_query", entities=["A", "B", "a", "Nobody"])
    assert names(reply) == ["A", "B", "M", "Z"]
    assert len(reply["edges"]) == 4
    assert reply["unknown"] == ["Nobody"]


@pytest.mark.spec("graph_query.entity_types.filters-result", "names.type.every-type-searched")
def test_entity_types_filter_what_is_returned_and_not_the_walk(client: Client) -> None:
    batch(client, ("Ada", "Loom", 0.9), ("Loom", "Bo", 0.9), types={"Ada": "Person", "Bo": "Person", "Loom": "Project"})
    reply = client.call("graph_query", entities=["Loom"], entity_types=["person"])
    assert names(reply) == ["Ada", "Bo"]
    assert reply["edges"] == []
    assert names(client.call("graph_query", entities=["Ada"], entity_types=["Person"])) == ["Ada", "Bo"]
    assert client.call("graph_query", entities=["Ada"], entity_types=["Unheard of"])["nodes"] == []


@pytest.mark.spec("graph_query.current_only.default", "graph_query.current_only.false")
def test_superseded_relations_are_walked_only_when_asked_for(client: Client) -> None:
    client.relate("Ada", "WORKS_AT", "Acme", valid_at="2020-01-01")
    client.relate("Acme", "IS_IN", "Leeds")
    client.relate("Ada", "WORKS_AT", "Globex", valid_at="2025-01-01")
    assert names(client.call("graph_query", entities=["Ada"])) == ["Ada", "Globex"]
    past = client.call("graph_query", entities=["Ada"], current_only=False)
    assert set(names(past)) == {"Ada", "Globex", "Acme", "Leeds"}
    assert {it["to"]: it["invalid_at"] for it in past["edges"]} == {
        "acme": "2025-01-01T00:00:00Z",
        "globex": None,
        "leeds": None,
    }


@pytest.mark.spec(
    "graph_query.context_level.default",
    "graph_query.full.nodes",
    "graph_query.full.edges",
    "graph_query.full.source_files",
    "graph_query.minimal.nodes",
    "graph_query.minimal.edge_count",
    "graph_query.relations-only.nodes",
    "graph_query.relations-only.edges",
)
def test_a_context_level_says_how_much_is_told(chain: Client) -> None:
    replies = {
        level: chain.call("graph_query", entities=["H0"], context_level=level)
        for level in ("full", "minimal", "relations-only")
    }
    full, minimal, bare = replies.values()
    assert chain.call("graph_query", entities=["H0"]) == full
    assert all(node.keys() >= NODE for node in full["nodes"])
    assert all(edge.keys() >= EDGE for edge in full["edges"])
    assert full["source_files"] == []
    assert minimal["nodes"] == [
        {name: it[name] for name in ("id", "name", "type", "confidence")} for it in full["nodes"]
    ]
    assert (minimal["edge_count"], minimal.keys() & {"edges", "source_files"}) == (2, set())
    assert bare["nodes"] == [{name: it[name] for name in ("id", "name", "type")} for it in full["nodes"]]
    assert bare["edges"] == full["edges"]


@pytest.mark.spec("graph_query.full.mention_count")
def test_a_node_tells_how_often_it_was_mentioned(client: Client) -> None:
    for target in ("B", "C", "B"):
        client.relate("A", "USES", target, source_type="mention")
    assert {it: client.node(it)["properties"]["mention_count"] for it in "ABC"} == {"A": 3, "B": 2, "C": 1}


# Situation 23, originals "graph_query / graph_entities of …".
@pytest.mark.spec("graph_query.match.plain-text", "graph_query.not-found", "tools.not-found.normal")
@pytest.mark.parametrize("text", [*ODD_NAMES, "NOT done", "", "x" * 10_000])
def test_any_text_is_a_name_to_look_for(client: Client, text: str) -> None:
    client.relate("Something else", "USES", "Other thing")
    reply = client.call("graph_query", entities=[text])
    assert (reply["found"], reply["nodes"], reply["edges"], reply["unknown"]) == (False, [], [], [text])
    # An empty search is none: all are listed.
    assert client.call("graph_entities", search=text)["total"] == (0 if text else 2)
    if text and len(text) <= 1_000:
        client.relate(text, "USES", "Other thing")
        assert names(client.call("graph_query", entities=[text]))[0] == text
        assert client.call("graph_entities", search=text)["entities"][0]["name"] == text


@pytest.mark.spec("graph_query.match.full-text", "graph_query.match.typo", "graph_query.match.exact-first")
@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("Postgres", "Postgres"),
        ("postgres", "Postgres"),
        ("Postgers", "Postgres"),
        ("Postgrs", "Postgres"),
        ("cluster", "Postgres cluster of Berlin"),
        ("berlin cluster", "Postgres cluster of Berlin"),
        ("graph-memry", "graph-memory"),
    ],
)
def test_a_name_is_found_by_its_words_and_despite_a_slip(client: Client, asked: str, first: str) -> None:
    batch(
        client, ("Postgres cluster of Berlin", "Disk", 1.0), ("Postgres", "WAL", 0.5), ("graph-memory", "SQLite", 0.5)
    )
    reply = client.call("graph_query", entities=[asked])
    assert names(reply)[0] == first
    assert reply.get("inexact", []) == ([] if asked.casefold() == first.casefold() else [asked])


# Originals: "graph_query(["Project Zeus"]), only Apollo stored".
@pytest.mark.spec("graph_query.not-found", "graph_query.match.typo")
@pytest.mark.parametrize("asked", ["Project Zeus", "Zeus", "Apollon the Great of Delphi", "Prject"])
def test_what_merely_resembles_a_little_is_not_taken_for_it(client: Client, asked: str) -> None:
    client.relate("Project Apollo", "USES", "Rockets", from_type="Project")
    reply = client.call("graph_query", entities=[asked])
    assert (reply["found"], reply["nodes"], reply["edges"], reply["unknown"]) == (False, [], [], [asked])


@pytest.mark.spec("graph_query.match.alias")
def test_an_entity_is_found_by_its_aliases(client: Client) -> None:
    from graph_memory.domain.entities import Alias

    client.relate("Postgres", "USES", "WAL")
    client.services.store.write(client.caller, lambda tx: tx.entities.put_aliases([Alias("postgres", "PG")]))
    assert names(client.call("graph_query", entities=["pg"])) == ["Postgres", "WAL"]
    assert client.relate("PG", "USES", "MVCC")["edge"]["from"] == "postgres"


@pytest.mark.spec("graph_query.order.ties-by-id")
def test_equal_ranks_stand_in_the_order_of_their_ids(client: Client) -> None:
    draw = random.Random(4)
    near = [f"n{n}" for n in range(9)]
    for name in draw.sample(near, len(near)):
        client.relate("Hub", "NEAR", name, weight=0.5)
    reply = client.call("graph_query", entities=["Hub"])
    assert names(reply) == ["Hub", *near]
    twin = Client(build_services(load_config({}), ReferenceStore(), clock=client.clock), client.clock)
    for name in near:
        twin.relate("Hub", "NEAR", name, weight=0.5)
    assert twin.call("graph_query", entities=["Hub"]) == reply


@pytest.fixture
def loom(client: Client) -> Client:
    """The project Loom: one hop to Wool, two to Sheep, three to Grass, four to Rain."""
    types = {"Loom": "Project"}
    pairs = [("Loom", "Wool", 0.9), ("Sheep", "Wool", 0.8), ("Sheep", "Grass", 0.7), ("Rain", "Grass", 0.6)]
    return batch(client, *pairs, ("Rain", "Cloud", 0.9), types=types)


@pytest.mark.spec(
    "graph_query.project_context.by-path",
    "graph_query.project_context.by-name",
    "graph_query.project_context.one-hop",
    "graph_query.project_context.two-hops",
    "graph_query.project_context.itself",
    "graph_query.project_context.unclamped",
    "graph_query.project_context.order",
    "config.default.affinity.hop_1_multiplier",
    "config.default.affinity.hop_2_multiplier",
)
@pytest.mark.parametrize("context", ["Loom", "loom", "/home/ada/src/Loom", "/home/ada/src/loom/", "C:\\src\\Loom"])
def test_what_lies_near_the_project_counts_for_more(loom: Client, context: str) -> None:
    reply = loom.call("graph_query", entities=["Sheep"], max_hops=4, project_context=context)
    weights = [it["effective_weight"] for it in reply["edges"]]
    # Cloud is five hops from Loom, Rain's relation to Grass four.
    assert weights == pytest.approx([1.17, 1.04, 0.9, 0.805, 0.6])
    assert weights == sorted(weights, reverse=True)
    assert sorted(it["weight"] for it in reply["edges"]) == [0.6, 0.7, 0.8, 0.9, 0.9]
    assert "warnings" not in reply


@pytest.mark.spec("graph_query.project_context.absent")
def test_without_a_project_the_weight_itself_counts(loom: Client) -> None:
    for context in (None, "", "Unknown"):
        reply = loom.call("graph_query", entities=["Sheep"], project_context=context)
        assert all(it["effective_weight"] == it["weight"] for it in reply["edges"])
        assert bool(reply.get("warnings")) is bool(context)


@pytest.mark.spec("graph_query.affinity.from-config")
def test_the_multipliers_are_those_of_the_settings(new_client: Callable[..., Client]) -> None:
    client = new_client(GRAPH_MEMORY_AFFINITY__HOP_1_MULTIPLIER="2", GRAPH_MEMORY_AFFINITY__HOP_2_MULTIPLIER="1.5")
    batch(client, ("P", "A", 0.5), ("A", "B", 0.5), ("B", "C", 0.5), types={"P": "Project"})
    reply = client.call("graph_query", entities=["P"], max_hops=3, project_context="P")
    assert [it["effective_weight"] for it in reply["edges"]] == [1.0, 1.0, 0.75]


@pytest.mark.spec("graph_query.full.source_files", "graph_query.paths.resolved")
def test_files_that_nodes_came_from_are_listed_once_and_resolved(client: Client, tmp_path: Path) -> None:
    from graph_memory.domain.entities import Provenance, SourceType
    from graph_memory.domain.statements import Batch, EntityStatement, RelationStatement

    path = str((tmp_path / "notes.md").resolve())
    source = Provenance(SourceType.DOCUMENT, file=path)
    ends = tuple(EntityStatement(it, "Concept", local_id=it) for it in ("A", "B"))
    stated = Batch(ends, (RelationStatement("A", "USES", "B"),), source)
    client.services.relate.relate(client.caller, stated)
    client.relate("A", "USES", "C")
    reply = client.call("graph_query", entities=["A"])
    assert reply["source_files"] == [path]
    assert {it["name"]: it["source_file"] for it in reply["nodes"]} == {"A": path, "B": path, "C": None}
    assert Path(path).is_absolute()
    assert "~" not in path


NAMES = [letter * 8 for letter in "abcdefghijklmnopqrstuvwxy"]
"""Names that nobody takes for one another."""


@given(
    pairs=st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24), st.integers(1, 10)), min_size=1, max_size=60),
    start=st.integers(0, 24),
    hops=st.integers(0, 4),
    limit=st.integers(1, 24),
    lightest=st.integers(0, 10),
)
def test_an_answer_is_one_connected_piece_within_its_bounds(
    pairs: list[tuple[int, int, int]],
    start: int,
    hops: int,
    limit: int,
    lightest: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    clock = Clock()
    config = load_config({}, tmp_path_factory.getbasetemp() / "query")
    client = Client(build_services(config, ReferenceStore(), clock=clock), clock)
    batch(client, *((NAMES[a], NAMES[b], w / 10) for a, b, w in pairs))
    reply = client.call("graph_query", entities=[NAMES[start]], max_hops=hops, limit=limit, min_weight=lightest / 10)
    ids = [it["id"] for it in reply["nodes"]]
    assert len(ids) == len(set(ids)) <= limit
    assert all(it["weight"] >= lightest / 10 for it in reply["edges"])
    reached = {NAMES[start]} & set(ids)
    for _ in range(hops):
        reached |= {end for it in reply["edges"] if reached & {it["from"], it["to"]} for end in (it["from"], it["to"])}
    assert reached == set(ids)
    # Nothing is left out while there is room.
    distance = {NAMES[start]: 0} if ids else {}
    for hop in range(1, hops + 1):
        distance |= dict.fromkeys(neighbours(pairs, lightest, distance), hop)
    assert len(ids) == min(limit, len(distance))


def neighbours(pairs: list[tuple[int, int, int]], lightest: int, reached: dict[str, int]) -> set[str]:
    """List what one more hop reaches; of several statements of one relation the heaviest holds."""
    strong = [(NAMES[a], NAMES[b]) for a, b, w in pairs if w >= lightest]
    return {end for pair in strong if set(pair) & reached.keys() for end in pair} - reached.keys()
