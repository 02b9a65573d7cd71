"""What has an index, and the strongest neighbours of a hub."""

from typing import Any

from neo4j import Driver

from bench.neo4j_primitives.client import ask, operators
from bench.neo4j_primitives.graph import HUB, links, load_graph
from bench.neo4j_primitives.measuring import Report, timed


def index_versions(driver: Driver) -> None:
    """Give every relation a node under its id: what a relation itself can't have, its types being the user's."""
    ask(driver, "CREATE CONSTRAINT version_id IF NOT EXISTS FOR (v:Version) REQUIRE v.id IS UNIQUE")
    with driver.session() as session:
        session.run("""
            MATCH (a:Entity)-[r]->(b) CALL (a, r, b) { CREATE (:Version {id: r.id, source: a.id, target: b.id}) }
            IN TRANSACTIONS OF 5000 ROWS""").consume()


def lookups(_: str, driver: Driver) -> Report:
    """Show what has an index and what hasn't: a relation's own id, and labels and types given as data."""
    report: Report = {"load_seconds": load_graph(driver)}
    handle = ask(driver, "MATCH (:Entity {id: $id})-[r {id: 'r00500'}]->() RETURN elementId(r)", id=HUB)[0][0]
    spoke = links()[500]
    some = [link.id for link in links()[::300]]
    index_versions(driver)
    for name, query in {
        "relation_by_its_id": "MATCH ()-[r {id: $id}]->() RETURN r.weight",
        "relation_by_hub_and_id": "MATCH (:Entity {id: $source})-[r {id: $id}]->() RETURN r.weight",
        "relation_by_both_ends_and_id": """
            MATCH (:Entity {id: $source})-[r {id: $id}]->(:Entity {id: $target}) RETURN r.weight""",
        "relation_by_element_id": "MATCH ()-[r]->() WHERE elementId(r) = $handle AND r.id = $id RETURN r.weight",
        "relations_of_200_ids": "MATCH (a)-[r]->(b) WHERE r.id IN $some RETURN collect([a.id, b.id, r.weight])",
        "relations_of_200_ids_by_their_nodes": """
            UNWIND $some AS id MATCH (v:Version {id: id})
            WITH id, v.source AS source, v.target AS target
            MATCH (a:Entity {id: source})-[r {id: id}]->(b:Entity {id: target})
            RETURN collect([a.id, b.id, r.weight])""",
        "entities_by_label_as_data": "MATCH (n:Entity:$($type)) RETURN count(n)",
        "entities_by_type_property": "MATCH (n:Entity) WHERE n.type = $type RETURN count(n)",
        "relations_by_type_as_data": "MATCH ()-[r:$($relation)]->() RETURN count(r)",
    }.items():
        given = {"id": spoke.id, "source": spoke.source, "target": spoke.target, "handle": handle, "some": some}
        given |= {"type": "Kind `3`", "relation": "REL 3"}
        report[name] = {
            "ms": timed(lambda query=query, given=given: ask(driver, query, **given)),  # type: ignore[misc]
            "reads_by": operators(driver, query, **given)[0],
        }
    return report


NEIGHBOURS = """
MATCH (n:Entity)-[r]-(m:Entity)
WHERE n.id IN $ids AND r.weight >= $min_weight AND r.invalid_at IS NULL AND NOT m.id IN $exclude
  AND NOT (m.id IN $ids AND n.id IN $exclude)
WITH DISTINCT r ORDER BY r.weight DESC, r.id LIMIT $limit
RETURN collect([r.id, startNode(r).id, endNode(r).id, type(r), r.weight])
"""


def expected_neighbours(ids: set[str], exclude: set[str], min_weight: float, limit: int) -> list[str]:
    found = []
    for link in links():
        others = [far for near, far in ((link.source, link.target), (link.target, link.source)) if near in ids]
        if others and exclude.isdisjoint(others) and link.is_current and link.weight >= min_weight:
            found.append((-link.weight, link.id))
    return [link_id for _, link_id in sorted(found)[:limit]]


def neighbours(_: str, driver: Driver) -> Report:
    load_graph(driver)

    def hop(ids: set[str], exclude: set[str], min_weight: float = 0.0, limit: int = 200) -> list[list[Any]]:
        given = {"ids": sorted(ids), "exclude": sorted(exclude), "min_weight": min_weight, "limit": limit}
        with driver.session() as session:
            return session.execute_read(lambda tx: tx.run(NEIGHBOURS, given).single(strict=True)[0])

    first = hop({HUB}, {HUB})
    frontier = {end for row in first for end in row[1:3]} - {HUB}
    seen = frontier | {HUB}
    cases: list[tuple[set[str], set[str], float, int]] = [({HUB}, {HUB}, 0.0, 200), (frontier, seen, 0.0, 200)]
    some = set(sorted(frontier)[::3])
    cases += [
        ({HUB} | frontier, some, 0.0, 200),
        ({HUB}, {HUB}, 0.3, 200),
        (frontier, set(), 0.5, 500),
        ({HUB}, frontier, 0.0, 20_000),
    ]
    wrong = [case for case in cases if [row[0] for row in hop(*case)] != expected_neighbours(*case)]
    return {
        "cases": len(cases),
        "wrong": len(wrong),
        "one_hop_from_hub_ms": timed(lambda: hop({HUB}, {HUB})),
        "second_hop_ms": timed(lambda: hop(frontier, seen)),
        "new_nodes_in_second_hop": len({end for row in hop(frontier, seen) for end in row[1:3]} - seen),
        "new_nodes_without_exclude": len({end for row in hop(frontier, set()) for end in row[1:3]} - seen),
    }
