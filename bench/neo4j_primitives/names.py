"""Hostile names as labels, types and properties."""

from neo4j import Driver
from neo4j.exceptions import Neo4jError

from bench.neo4j_primitives.client import ask, clear
from bench.neo4j_primitives.measuring import Report

NAMES = [
    *("low-cost", "`", "`` ]->() DETACH DELETE n //", "X` SET n.pwned = 1 //", "\\u0060", "a\nb", "\t ", "'\"{}$x"),
    *("\N{WOMAN}\u200d\N{ROCKET}", "由...组成", "e\u0301", "CREATE", "Entity", "Memory", "n" * 200, "\N{ROCKET}" * 200),
]
WORDS = ["\N{ROCKET}", "\uffff", "é", "a", "Z"]
REFUSED = ("", "a\0b", "\ud800")


def names(_: str, driver: Driver) -> Report:
    clear(driver)
    ask(driver, "CREATE (:Entity {id: 'canary'})-[:CANARY {id: 'canary'}]->(:Memory {id: 1})")
    kept, refused = 0, {}
    make = """
    CREATE (n:Entity {id: $id, type: $name}) SET n:$($name)
    CREATE (n)-[:$($name) {id: $id}]->(m:Entity {id: $id + 'm'}) SET m[$name] = 1
    """
    read = """
    MATCH (n:Entity:$($name) {id: $id})-[r:$($name)]->(m)
    REMOVE n:$($name) SET n:$($name + '2') RETURN labels(n), type(r), keys(m)
    """
    for number, name in enumerate(NAMES):
        ask(driver, make, id=f"h{number}", name=name)
        labels, kind, keys = ask(driver, read, id=f"h{number}", name=name)[0]
        expected = {"Entity", name + "2"} - ({"Entity"} if name == "Entity" else set())
        kept += (set(labels), kind, name in keys) == (expected, name, True)
    for name in REFUSED:
        try:
            ask(driver, make, id="refused", name=name)
            refused[ascii(name)] = "stored"
        except (Neo4jError, UnicodeEncodeError) as error:
            refused[ascii(name)] = str(getattr(error, "code", type(error).__name__)).rpartition(".")[2]
    ask(driver, "CREATE (n:Entity {id: '1', type: 'Memory'}) SET n:$('Memory')")
    ask(driver, "UNWIND $words AS word CREATE (:Word {text: word})", words=WORDS)
    stored, computed = ("MATCH (w:Word) WITH w.text AS t ORDER BY t", "MATCH (w:Word) WITH w.text + '' AS t ORDER BY t")
    orders = {"stored": stored, "computed": computed}
    by_code_point = {
        what: ask(driver, query + " RETURN collect(t)")[0][0] == sorted(WORDS) for what, query in orders.items()
    }
    ask(driver, "MATCH (w:Word) DELETE w")
    counted = ask(driver, "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(n), count(r)")[0]
    wanted = [2 * len(NAMES) + 3, len(NAMES) + 1]
    return {
        "kept_exactly": f"{kept} of {len(NAMES)}",
        "refused": refused,
        "nothing_else_touched": counted == wanted,
        "memories_found_by_label_alone": ask(driver, "MATCH (m:Memory) RETURN count(m)")[0][0],
        "memories_found_that_are_no_entities": ask(driver, "MATCH (m:Memory) WHERE NOT m:Entity RETURN count(m)")[0][0],
        "text_is_ordered_by_code_point": by_code_point,
        "longest_indexed_text_bytes": longest_indexed(driver),
        "names_listed_after_deletion": names_left(driver),
    }  # fmt: skip


def longest_indexed(driver: Driver) -> int:
    fits, refused = 1, 100_000
    while refused - fits > 1:
        middle = (fits + refused) // 2
        try:
            ask(driver, "CREATE (n:Entity {id: $id})", id=f"{middle}" + "x" * (middle - len(f"{middle}")))
            fits = middle
        except Neo4jError:
            refused = middle
    return fits


def names_left(driver: Driver) -> Report:
    clear(driver)
    listed = {
        "labels": "CALL db.labels() YIELD label AS t",
        "relation_types": "CALL db.relationshipTypes() YIELD relationshipType AS t",
        "property_names": "CALL db.propertyKeys() YIELD propertyKey AS t",
    }
    return {
        what: sum(row[0] in set(NAMES) - {"Entity", "Memory"} for row in ask(driver, f"{query} RETURN t"))
        for what, query in listed.items()
    }
