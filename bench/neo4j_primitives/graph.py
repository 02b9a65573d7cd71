"""A graph of 20,000 entities and 60,000 relations, 17,000 of them at one hub."""

import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from neo4j import Driver

from bench.neo4j_primitives.client import ask, clear

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
