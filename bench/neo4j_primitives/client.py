"""How the sections talk to the server, whatever they measure."""

import logging
from collections.abc import Callable
from typing import Any

from neo4j import Driver, GraphDatabase, ManagedTransaction

Work = Callable[[ManagedTransaction], Any]


def connect(uri: str, retry_delay: float = 0.05) -> Driver:
    logging.getLogger("neo4j").setLevel(logging.ERROR)  # reruns are counted here, not told
    return GraphDatabase.driver(uri, initial_retry_delay=retry_delay, notifications_min_severity="OFF")


def ask(driver: Driver, query: str, **parameters: object) -> list[Any]:
    return [record.values() for record in driver.execute_query(query, parameters).records]


def one(query: str, **parameters: object) -> Work:
    return lambda tx: tx.run(query, parameters).data()


def clear(driver: Driver) -> None:
    with driver.session() as session:
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()


def operators(driver: Driver, query: str, **parameters: object) -> list[str]:
    plan, found = driver.execute_query("EXPLAIN " + query, parameters).summary.plan, list[str]()
    while plan:
        found.append(plan["operatorType"].partition("@")[0])
        plan = next(iter(plan.get("children", ())), None)
    return found[::-1]
