"""What the driver runs again, and how soon after a deadlock."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from neo4j import Driver, ManagedTransaction
from neo4j.exceptions import ConstraintError, TransientError

from bench.neo4j_primitives.client import ask, clear, connect
from bench.neo4j_primitives.measuring import Report


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
