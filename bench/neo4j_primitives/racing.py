"""Processes that write at the same time, and one that has to wait for another."""

import multiprocessing
import os
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from neo4j import Driver, ManagedTransaction
from neo4j.exceptions import Neo4jError

from bench.neo4j_primitives.client import Work, ask, connect
from bench.neo4j_primitives.measuring import Report, spread

Plan = Callable[[random.Random, int], Work]


@dataclass(frozen=True, slots=True)
class Tally:
    """One process's part in a race."""

    waits: list[float]
    runs: int
    errors: Counter[str]


def summary(tallies: Sequence[Tally]) -> Report:
    waits = [milliseconds for tally in tallies for milliseconds in tally.waits]
    errors = sum((tally.errors for tally in tallies), Counter[str]())
    return {"reruns": sum(tally.runs for tally in tallies) - len(waits), "errors": dict(errors), "ms": spread(waits)}


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
