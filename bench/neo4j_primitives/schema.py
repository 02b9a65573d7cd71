"""Constraints and indexes, created by several processes at once."""

import random

from neo4j import Driver

from bench.neo4j_primitives.client import Work, ask
from bench.neo4j_primitives.measuring import Report, timed
from bench.neo4j_primitives.racing import race

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
    ask(driver, "CALL db.createProperty('_lock')")  # see locks.LOCKS
    return report
