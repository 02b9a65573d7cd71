"""The versions of a relation, each by its id, and ids of notes from a counter."""

import random
import time
from datetime import UTC, datetime
from functools import partial

from neo4j import Driver, ManagedTransaction

from bench.neo4j_primitives.client import Work, ask, clear
from bench.neo4j_primitives.measuring import Report
from bench.neo4j_primitives.racing import race


def versions(_: str, driver: Driver) -> Report:
    clear(driver)
    ask(driver, "CREATE (:Entity {id: 'a'}), (:Entity {id: 'b'})")
    supersede = """
    MATCH (a:Entity {id: 'a'}) MATCH (b:Entity {id: 'b'})
    OPTIONAL MATCH (a)-[old:WORKS_AT]->(b) WHERE old.invalid_at IS NULL
    SET old.invalid_at = $at
    CREATE (a)-[:WORKS_AT {id: $id, valid_at: $at}]->(b)
    """
    for number in range(5):
        ask(driver, supersede, id=f"v{number}", at=datetime(2026, 1, 1 + number, tzinfo=UTC))
    current = "MATCH (:Entity {id: 'a'})-[r:WORKS_AT]->(:Entity {id: 'b'}) WHERE r.invalid_at IS NULL RETURN r.id"
    history = "MATCH (:Entity {id: 'a'})-[r:WORKS_AT]->() RETURN r.id ORDER BY r.valid_at DESC, r.id"
    by_id = "MATCH (:Entity {id: 'a'})-[r {id: 'v2'}]->(:Entity {id: 'b'}) RETURN r.valid_at.day, r.invalid_at.day"
    return {"current": ask(driver, current), "history": ask(driver, history), "one_by_id": ask(driver, by_id)}


TAKE_IDS = """
MATCH (c:Counter {name: 'memory'}) REMOVE c._lock SET c.next = c.next + $count RETURN c.next - $count AS first
"""
ADD_MEMORY = "CREATE (m:Memory {id: $id, title: $title})"


def add_memory(way: str, draw: random.Random, number: int) -> Work:
    def work(tx: ManagedTransaction) -> None:
        for _ in range(3):  # the rest of a real write: neighbours, tags, synapses
            tx.run("MATCH (n:Entity {id: $id}) SET n.seen = $n", id=f"e{draw.randrange(2000)}", n=number).consume()
        if way == "locked":
            taken = tx.run(TAKE_IDS, count=1).single(strict=True)["first"]
        elif way == "unlocked":
            taken = tx.run("MATCH (c:Counter {name: 'memory'}) RETURN c.next AS first").single(strict=True)["first"]
            tx.run("MATCH (c:Counter {name: 'memory'}) SET c.next = $next", next=taken + 1).consume()
        else:
            taken = number
        tx.run(ADD_MEMORY, id=taken, title=f"note {number}").consume()

    return work


def counter(uri: str, driver: Driver) -> Report:
    report: Report = {}
    for way in ("no_counter", "locked", "unlocked"):
        clear(driver)
        ask(driver, "UNWIND range(0, 1999) AS i CREATE (:Entity {id: 'e' + i}) ")
        ask(driver, "CREATE (:Counter {name: 'memory', next: 1})")
        began = time.perf_counter()
        raced = race(uri, partial(add_memory, way))
        stored, distinct, highest = ask(driver, "MATCH (m:Memory) RETURN count(m), count(DISTINCT m.id), max(m.id)")[0]
        seconds = round(time.perf_counter() - began, 1)
        report[way] = raced | {"stored_of_800": stored, "distinct": distinct, "highest": highest, "seconds": seconds}
    return report
