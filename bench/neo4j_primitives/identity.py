"""One entity and one relation per identity, however many processes write them."""

import random
from functools import partial

from neo4j import Driver, ManagedTransaction
from neo4j.exceptions import ConstraintError, TransientError

from bench.neo4j_primitives.client import Work, ask, clear
from bench.neo4j_primitives.locks import LOCK, LOCKS
from bench.neo4j_primitives.measuring import Report
from bench.neo4j_primitives.racing import after_waiting, race

READ = """
MATCH (a:Entity {id: $source}) WHERE a.id IN locked
MATCH (b:Entity {id: $target}) WHERE b.id IN locked
OPTIONAL MATCH (a)-[r]->(b) WHERE type(r) = $type AND r.invalid_at IS NULL
RETURN a.n AS a, b.n AS b, r.id AS id, r.n AS n LIMIT 1
"""
PUT_KNOWN = """
MATCH (a:Entity {id: $source})-[r {id: $id}]->(b:Entity {id: $target}) SET r.n = $n, a.n = $a, b.n = $b
"""
PUT_NEW = """
MATCH (a:Entity {id: $source}) MATCH (b:Entity {id: $target})
CREATE (a)-[:$($type) {id: $id, n: $n}]->(b) SET a.n = $a, b.n = $b
"""


def relate(locks: str, draw: random.Random, number: int) -> Work:
    ends = draw.sample([f"e{i}" for i in range(10)], 2)
    key = {"source": ends[0], "target": ends[1], "type": "WORKS `ON`"}
    statement = LOCKS[locks] + READ

    def work(tx: ManagedTransaction) -> None:
        row = tx.run(statement, key, ids=ends if locks == "unsorted" else sorted(ends)).single(strict=True)
        new = {"id": row["id"] or f"r{number}", "n": (row["n"] or 0) + 1, "a": row["a"] + 1, "b": row["b"] + 1}
        tx.run(PUT_KNOWN if row["id"] else PUT_NEW, key | new).consume()

    return work


def relations_race(uri: str, driver: Driver, locks: str) -> Report:
    clear(driver)
    ask(driver, "UNWIND range(0, 9) AS i CREATE (:Entity {id: 'e' + i, n: 0})")
    raced = race(uri, partial(relate, locks))
    keys = ask(driver, "MATCH (a)-[r]->(b) WHERE r.invalid_at IS NULL RETURN count(*), sum(r.n), a.id, b.id")
    return raced | {
        "duplicates": sum(count - 1 for count, *_ in keys),
        "relation_counter_of_800": sum(total for _, total, *_ in keys),
        "entity_counter_of_1600": ask(driver, "MATCH (n:Entity) RETURN sum(n.n)")[0][0],
    }


def identity(uri: str, driver: Driver) -> Report:
    report: Report = {f"locks_{locks}": relations_race(uri, driver, locks) for locks in LOCKS}
    for way in ("found_plainly", "found_plainly_and_run_again", "found_for_update"):
        clear(driver)
        work, runs = meet(way)
        try:
            answer = after_waiting(driver, "CREATE (:Entity {id: 'g', n: 1})", work)
        except ConstraintError:
            answer = "ConstraintError"
        counted = ask(driver, "MATCH (n:Entity) RETURN sum(n.n)")[0][0]
        report[f"new_entity_{way}"] = {"answer": answer, "runs": len(runs), "counter_of_2": counted}
    return report


def meet(way: str) -> tuple[Work, list[str]]:
    """Return work that counts a sighting of an entity that another process adds meanwhile, and the list of its runs."""
    runs: list[str] = []
    lock = LOCK if way == "found_for_update" else LOCKS["none"]

    def work(tx: ManagedTransaction) -> str:
        runs.append(way)
        row = tx.run(lock + "MATCH (n:Entity) WHERE n.id IN locked RETURN n.n AS n", ids=["g"]).single()
        try:
            put = "MATCH (n:Entity {id: 'g'}) SET n.n = $n" if row else "CREATE (n:Entity {id: 'g', n: $n})"
            tx.run(put, n=(row["n"] if row else 0) + 1).consume()
        except ConstraintError as error:
            if way == "found_plainly_and_run_again":
                raise TransientError("another process added this entity first") from error
            raise
        return "stored"

    return work, runs
