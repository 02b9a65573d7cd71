"""Decay of the whole graph in slices, alone and beside clients that write."""

import random
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from neo4j import Driver, ManagedTransaction

from bench.neo4j_primitives.client import Work, ask, one, operators
from bench.neo4j_primitives.graph import LEARNED_AT, SPOKES, links, load_graph
from bench.neo4j_primitives.locks import LOCK
from bench.neo4j_primitives.measuring import Report, spread, timed
from bench.neo4j_primitives.racing import racers, summary

# A page follows (source, id): the index on the source gives the order, so no slice reads more than it returns, and a
# hub is cut like any other. Many rows travel as one record and instants as whole microseconds.
MICROSECONDS = "x.decayed_at.epochSeconds * 1000000 + x.decayed_at.microsecond"
PAGE = """
MATCH (s:Entity) WHERE s.id >= $source
MATCH (s)-[x]->(t:Entity) WHERE x.invalid_at IS NULL AND (s.id > $source OR x.id > $relation)
WITH s, x, t ORDER BY s.id, x.id LIMIT $limit
"""
READ_PAGE = f"{PAGE} RETURN collect([s.id, x.id, t.id, x.weight, {MICROSECONDS}, x.boosts])"
READ_ROWS = f"{PAGE} RETURN s.id, x.id, t.id, x.weight, x.decayed_at, x.boosts"
READ_ROWS_PLAIN = f"{PAGE} RETURN s.id, x.id, t.id, x.weight, {MICROSECONDS}, x.boosts"
SET_PAGE = f"""{PAGE}
SET x.weight = x.weight * 0.996 ^ (duration.inSeconds(x.decayed_at, $at).seconds / 86400.0), x.decayed_at = $at
WITH collect([s.id, x.id]) AS keys RETURN keys[-1] AS cursor
"""
READ_ENTITIES = f"""
MATCH (x:Entity) WHERE x.id > $source
WITH x ORDER BY x.id LIMIT $limit
RETURN collect([x.id, '', '', x.confidence, {MICROSECONDS}, 0])
"""
# Compare and set, whole rows; compared only after the lock. Who loses the comparison is left for the next run.
PUT_PAGE = f"""
UNWIND $rows AS row
MATCH (:Entity {{id: row[0]}})-[x {{id: row[1]}}]->(:Entity {{id: row[2]}}) REMOVE x._lock
WITH x, row WHERE x.weight = row[3] AND {MICROSECONDS} = row[4] AND x.boosts = row[5]
SET x.weight = row[6], x.decayed_at = $at, x.boosts = row[5]
RETURN count(x) AS changed
"""
PUT_ENTITIES = f"""
UNWIND $rows AS row MATCH (x:Entity {{id: row[0]}}) REMOVE x._lock
WITH x, row WHERE x.confidence = row[3] AND {MICROSECONDS} = row[4]
SET x.confidence = row[6], x.decayed_at = $at
RETURN count(x) AS changed
"""
PUT_BY_HANDLE = """
UNWIND $rows AS row MATCH ()-[x]->() WHERE elementId(x) = row[7] AND x.id = row[1] SET x.weight = row[6]
"""
PUT_BY_ENDS = """
UNWIND $rows AS row MATCH (:Entity {id: row[0]})-[x {id: row[1]}]->(:Entity {id: row[2]}) SET x.weight = row[6]
"""
PUT_BY_SOURCE = "UNWIND $rows AS row MATCH (:Entity {id: row[0]})-[x]->() WHERE x.id = row[1] SET x.weight = row[6]"


def decayed(row: Sequence[Any], at: datetime) -> list[Any]:
    days = (int(at.timestamp()) * 1_000_000 - row[4]) / 86_400e6
    return [*row, row[3] * 0.996 ** max(days, 0.0)]


def decay_slice(
    tx: ManagedTransaction, read: str, put: str, cursor: tuple[str, str], limit: int, at: datetime, *, locks_ends: bool
) -> tuple[list[Any], int]:
    rows = tx.run(read, source=cursor[0], relation=cursor[1], limit=limit).single(strict=True)[0]
    if locks_ends:
        ends = sorted({end for row in rows for end in (row[0], row[2]) if end})
        tx.run(LOCK + "RETURN size(locked)", ids=ends).consume()
    new = [decayed(row, at) for row in rows]
    return rows, tx.run(put, rows=new, at=at).single(strict=True)["changed"]


def decay(driver: Driver, limit: int, at: datetime, *, locks_ends: bool) -> Report:
    began, waits, changed, seen, runs = time.perf_counter(), list[float](), 0, 0, 0

    def counted(tx: ManagedTransaction, read: str, put: str, after: tuple[str, str]) -> tuple[list[Any], int]:
        nonlocal runs
        runs += 1
        return decay_slice(tx, read, put, after, limit, at, locks_ends=locks_ends)

    with driver.session() as session:
        for read, put in ((READ_ENTITIES, PUT_ENTITIES), (READ_PAGE, PUT_PAGE)):
            cursor = ("", "")
            while True:
                slice_began = time.perf_counter()
                rows, count = session.execute_write(counted, read, put, cursor)
                waits.append((time.perf_counter() - slice_began) * 1e3)
                if not rows:
                    break
                seen, changed, cursor = seen + len(rows), changed + count, (rows[-1][0], rows[-1][1])
                time.sleep(0.003)
    seconds = round(time.perf_counter() - began, 2)
    return {
        "seconds": seconds,
        "rows": seen,
        "changed": changed,
        "reruns": runs - len(waits),
        "slice_ms": spread(waits),
    }


def boost(draw: random.Random, _: int) -> Work:
    link = draw.choice(links()[:SPOKES] if draw.random() < 0.3 else links())
    key = {"source": link.source, "target": link.target, "id": link.id, "ids": sorted((link.source, link.target))}
    this = "MATCH (:Entity {id: $source})-[r {id: $id}]->(:Entity {id: $target})"
    time.sleep(0.005)

    def work(tx: ManagedTransaction) -> None:
        row = tx.run(f"{LOCK}{this} RETURN r.weight AS w, r.boosts AS n", key).single(strict=True)
        new = {"w": min(1.0, row["w"] + 0.05), "n": row["n"] + 1}
        tx.run(f"{this} SET r.weight = $w, r.boosts = $n", key | new).consume()

    return work


def scan(uri: str, driver: Driver) -> Report:
    load_graph(driver)
    start: dict[str, object] = {"source": "", "relation": "", "limit": 5000}
    handles = dict(ask(driver, "MATCH (:Entity)-[r]->(:Entity) RETURN r.id, elementId(r)"))
    page = ask(driver, READ_PAGE, **start)[0][0]
    rows = [[*decayed(row, LEARNED_AT), handles[row[1]]] for row in page]
    report: Report = {
        "page_plan": operators(driver, READ_PAGE, **start),
        "read_5000_as_rows_with_instants_ms": timed(lambda: ask(driver, READ_ROWS, **start), 5),
        "read_5000_as_rows_with_integers_ms": timed(lambda: ask(driver, READ_ROWS_PLAIN, **start), 5),
        "read_5000_as_one_record_ms": timed(lambda: ask(driver, READ_PAGE, **start), 5),
        "put_5000_of_a_hub_by_element_id_ms": timed(lambda: ask(driver, PUT_BY_HANDLE, rows=rows), 5),
        "put_5000_of_a_hub_by_both_ends_ms": timed(lambda: ask(driver, PUT_BY_ENDS, rows=rows), 5),
        "put_200_of_a_hub_by_source_ms": timed(lambda: ask(driver, PUT_BY_SOURCE, rows=rows[:200]), 3),
    }
    at = LEARNED_AT
    for limit in (1000, 5000):
        at += timedelta(days=1)
        report[f"decay_alone_slices_of_{limit}"] = decay(driver, limit, at, locks_ends=True)
    made = 0
    for limit, locks_ends in ((1000, False), (5000, False), (500, True), (1000, True), (5000, True)):
        at += timedelta(days=1)
        with racers(uri, boost, processes=2, writes=100_000) as parts:
            alone = decay(driver, limit, at, locks_ends=locks_ends)
        clients = [part.result() for part in parts]
        made += sum(len(client.waits) for client in clients)
        lost = made - ask(driver, "MATCH (:Entity)-[r]->() RETURN sum(r.boosts)")[0][0]
        name = f"decay_beside_two_clients_slices_of_{limit}_{'ends_locked' if locks_ends else 'relations_only'}"
        report[name] = alone | {"clients": summary(clients), "boosts_lost": lost}
    report["policy_in_cypher_seconds"] = decay_in_cypher(driver, at + timedelta(days=1))
    return report


def decay_in_cypher(driver: Driver, at: datetime) -> float:
    began, cursor = time.perf_counter(), ["", ""]
    with driver.session() as session:
        while cursor:
            given = {"source": cursor[0], "relation": cursor[1], "limit": 5000, "at": at}
            cursor = session.execute_write(one(SET_PAGE, **given))[0]["cursor"]
    return round(time.perf_counter() - began, 2)
