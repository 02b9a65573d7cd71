"""Time what the SQLite store is asked most, and print the medians as JSON.

    python -m bench.store_sqlite                  # everything, about four minutes
    python -m bench.store_sqlite decay writers    # some sections

Every section makes its own file in a temporary folder. Times are milliseconds unless a name says seconds; `cpu` is what
the processor spent, which says more on a busy machine. Rows are drawn at random from a fixed seed; notes have 120 words
of a Zipf vocabulary, in 20 projects.
"""

import argparse
import json
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.decay import DecayPolicy
from graph_memory.domain.entities import Entity, EntityFilter, EntityOrder
from graph_memory.domain.memories import Memory, MemoryFilter, MemoryOrder
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.domain.queries import Clause, Operator, Term, TextQuery
from graph_memory.domain.relations import Relation, RelationFilter
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from graph_memory.services.upkeep import Upkeep

T = TypeVar("T")
Report = dict[str, object]

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TYPES = ("Person", "Project", "Concept", "Decision", "Fact", "Object")
RELATION_TYPES = ("USES_TECH", "WORKS_ON", "RELATED_TO", "KNOWS_ABOUT", "MENTIONS")
SLICE = 5_000
PROJECTS = 20


@contextmanager
def fresh_store() -> Iterator[SqliteStore]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "memory.db")
        yield store
        store.close()


def read(store: SqliteStore, work: Callable[[ReadTransaction], T]) -> T:
    return store.read(LOCAL_ADMIN, work)


def write(store: SqliteStore, work: Callable[[WriteTransaction], T]) -> T:
    return store.write(LOCAL_ADMIN, work)


def timed(work: Callable[[], object], times: int) -> dict[str, float]:
    """Run something often; return what `summary` says, and the median of the processor's time."""
    spans, busy = [], []
    for _ in range(times):
        start, at_work = time.perf_counter(), time.process_time()
        work()
        spans.append((time.perf_counter() - start) * 1e3)
        busy.append((time.process_time() - at_work) * 1e3)
    return {**summary(spans), "cpu_p50": round(statistics.median(busy), 3)}


def summary(spans: Sequence[float]) -> dict[str, float]:
    ordered = sorted(spans)
    shares = {"p95": 0.95, "p99": 0.99}
    tail = {name: round(ordered[int((len(ordered) - 1) * share)], 3) for name, share in shares.items()}
    return {"p50": round(statistics.median(ordered), 3), **tail}


# --- the graph ------------------------------------------------------------------------------------------------------


def an_entity(number: int, draw: random.Random) -> Entity:
    seen = NOW - timedelta(days=draw.uniform(0, 90))
    name = f"Thing {number:06x} {draw.choice(('alpha', 'beta', 'gamma', 'delta'))}"
    confidence, type_ = draw.uniform(0.1, 1), draw.choice(TYPES)
    return Entity(f"thing-{number}", type_, name, confidence, seen, seen, properties={"n": number})


def a_relation(number: int, source: int, target: int, draw: random.Random) -> Relation:
    seen = NOW - timedelta(days=draw.uniform(0, 90))
    id_ = f"r-{number:020x}"
    ends = (f"thing-{source}", f"thing-{target}")
    return Relation(id_, ends[0], draw.choice(RELATION_TYPES), ends[1], draw.uniform(0.05, 1), seen, seen)


def fill_graph(store: SqliteStore, entities: int, relations: int, hub: int, draw: random.Random) -> float:
    """Store a graph whose first entity has `hub` relations; return the seconds it took."""
    start = time.perf_counter()
    for first in range(0, entities, SLICE):
        part = [an_entity(number, draw) for number in range(first, min(first + SLICE, entities))]
        write(store, lambda tx, part=part: tx.entities.put(part))  # type: ignore[misc]
    seen: set[tuple[str, str, str]] = set()
    made: list[Relation] = []
    number = 0
    while len(seen) < relations:
        number += 1
        source, target = draw.randrange(entities), draw.randrange(entities)
        if len(seen) < hub:
            source, target = (0, target) if draw.random() < 0.5 else (source, 0)
        relation = a_relation(number, source, target, draw)
        if relation.key in seen:
            continue
        seen.add(relation.key)
        made.append(relation)
        if len(made) == SLICE:
            write(store, lambda tx, part=tuple(made): tx.relations.put(part))  # type: ignore[misc]
            made.clear()
    write(store, lambda tx: tx.relations.put(made))
    return time.perf_counter() - start


def decay(_: argparse.Namespace) -> Report:
    """100,000 entities and 300,000 relations, let fade by the service; at first each from an instant of its own."""
    draw = random.Random(1)
    with fresh_store() as store:
        filled = fill_graph(store, 100_000, 300_000, 1_000, draw)
        runs = [decay_once(store, NOW + timedelta(days=day)) for day in (1, 2, 3)]
        return {"fill_s": round(filled, 1), "total_s": [run["total_s"] for run in runs], "last": runs[-1]}


def decay_once(store: SqliteStore, now: datetime) -> dict[str, object]:
    timed_store = TimedStore(store)
    upkeep = Upkeep(timed_store, lambda: now, DecayPolicy(), time.sleep)
    start, at_work = time.perf_counter(), time.process_time()
    done = upkeep.decay(LOCAL_ADMIN)
    return {
        "total_s": round(time.perf_counter() - start, 2),
        "cpu_s": round(time.process_time() - at_work, 2),
        "changed": done.nodes_decayed + done.edges_decayed,
        "slice": summary(timed_store.writes),
    }


class TimedStore:
    """A store that notes how many milliseconds each of its writes takes."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.writes: list[float] = []
        self.read, self.identity, self.tenants = store.read, store.identity, store.tenants
        self.erase_traces, self.close = store.erase_traces, store.close

    def write(self, principal: Principal, work: Callable[[WriteTransaction], T]) -> T:
        began = time.perf_counter()
        result = self._store.write(principal, work)
        self.writes.append((time.perf_counter() - began) * 1e3)
        return result


def neighbours(_: argparse.Namespace) -> Report:
    """Two hops from a hub of 17,000 among 60,000 entities and 197,000 relations, limit 200, entities fetched."""
    draw = random.Random(2)
    with fresh_store() as store:
        fill_graph(store, 60_000, 197_000, 17_000, draw)

        def hops(tx: ReadTransaction, where: RelationFilter) -> int:
            frontier, seen = {"thing-0"}, {"thing-0"}
            for _ in range(2):
                found = tx.relations.neighbours(frontier, where, exclude=seen, limit=200)
                frontier = {end for relation in found for end in (relation.source_id, relation.target_id)} - seen
                seen |= frontier
            return len(tx.entities.find(seen))

        reached = read(store, lambda tx: hops(tx, RelationFilter()))
        strong = RelationFilter(min_weight=0.3)
        typed = RelationFilter(type_keys=frozenset({"uses_tech"}))
        everything = EntityFilter()
        return {
            "reached": reached,
            "two_hops": timed(lambda: read(store, lambda tx: hops(tx, RelationFilter())), 50),
            "two_hops_min_weight": timed(lambda: read(store, lambda tx: hops(tx, strong)), 50),
            "two_hops_one_type": timed(lambda: read(store, lambda tx: hops(tx, typed)), 50),
            "degree_of_hub": timed(lambda: read(store, lambda tx: tx.entities.degrees(["thing-0"])), 50),
            "page_by_confidence": timed(
                lambda: read(store, lambda tx: tx.entities.page(everything, EntityOrder.CONFIDENCE, 50)), 20
            ),
            "page_by_name": timed(
                lambda: read(store, lambda tx: tx.entities.page(everything, EntityOrder.NAME, 50)), 20
            ),
            "orphans": timed(lambda: read(store, lambda tx: tx.entities.count(EntityFilter(is_orphan=True))), 20),
            "count_relations": timed(lambda: read(store, lambda tx: tx.relations.count(RelationFilter())), 20),
            "count_relations_by_type": timed(
                lambda: read(store, lambda tx: tx.relations.count_by_type(RelationFilter())), 20
            ),
            "mean_weight": timed(lambda: read(store, lambda tx: tx.relations.mean_weight(RelationFilter())), 20),
            "similar_names": timed(
                lambda: read(store, lambda tx: tx.entities.find_similar_names("Thing 00abcd alhpa", everything, 10)), 20
            ),
            "find_by_text": timed(
                lambda: read(store, lambda tx: tx.entities.search(any_of(["00abcd", "alpha"]), everything, 10)), 20
            ),
            "put_entity": timed(lambda: write(store, lambda tx: tx.entities.put([an_entity(7, draw)])), 200),
            "put_relation": timed(lambda: one_relation(store, draw), 500),
        }


def one_relation(store: SqliteStore, draw: random.Random) -> None:
    """Do what stating a relation does: lock its ends, look for it, write it."""
    source, target = draw.randrange(60_000), draw.randrange(60_000)
    relation = a_relation(draw.getrandbits(60) + 10**9, source, target, draw)

    def work(tx: WriteTransaction) -> None:
        tx.entities.find_for_update([], [relation.source_id, relation.target_id])
        if not tx.relations.find_current([relation.key]):
            tx.relations.put([relation])

    write(store, work)


# --- memories -------------------------------------------------------------------------------------------------------


class Notes:
    """Notes of 120 words, as a person's would repeat them: few words often, most words rarely."""

    def __init__(self, words: int = 200_000) -> None:
        self._draw = random.Random(3)
        letters = "bcdfghjklmnprstvz"
        self._words = [
            "".join(self._draw.choice(letters) + self._draw.choice("aeiou") for _ in range(self._draw.randint(2, 4)))
            for _ in range(words)
        ]
        self._weights = list(accumulate(1 / rank for rank in range(1, words + 1)))
        self._number = 0

    def text(self, words: int = 120) -> str:
        return " ".join(self._draw.choices(self._words, cum_weights=self._weights, k=words))

    def next(self) -> Memory:
        self._number += 1
        title = f"{self.text(5)} {self._number}"
        project = f"project-{self._draw.randrange(PROJECTS)}"
        at = NOW + timedelta(seconds=self._number)
        return Memory(title, f"note-{self._number}", self.text(), "note", at, at, project_id=project, tags=("a", "b"))


def any_of(words: Sequence[str]) -> TextQuery:
    return TextQuery(" ".join(words), None, Clause(Operator.OR, tuple(Term(word) for word in words)))


def memories(arguments: argparse.Namespace) -> Report:
    """Choose the ten most telling words of a note, find the five nearest notes of its project by them, and add it."""
    report: Report = {}
    notes = Notes()
    with fresh_store() as store:
        stored = 0
        for size in arguments.sizes:
            start = time.perf_counter()
            while stored < size:
                part = [notes.next() for _ in range(min(1_000, size - stored))]
                write(store, lambda tx, part=part: tx.memories.add(part))  # type: ignore[misc]
                stored += len(part)
            filled = time.perf_counter() - start
            start = time.perf_counter()
            common = write(store, lambda tx: tx.memories.renew_common_terms())
            renewed = time.perf_counter() - start
            report[str(size)] = {
                "fill_s": round(filled, 1),
                "common_terms": common,
                "renew_common_terms_s": round(renewed, 2),
                **memory_figures(store, notes),
            }
    return report


def memory_figures(store: SqliteStore, notes: Notes) -> Report:
    parts: dict[str, list[float]] = {"add": [], "rare_terms": [], "search": [], "whole": [], "whole_cpu": []}
    queries: list[TextQuery] = []

    def add(tx: WriteTransaction, memory: Memory) -> None:
        began = time.perf_counter()
        words = tx.memories.rare_terms(memory.content, 10)
        chosen = time.perf_counter()
        query = any_of(words)
        tx.memories.search(query, MemoryFilter(project_id=memory.project_id, is_project_exact=True), 5)
        found = time.perf_counter()
        tx.memories.add([memory])
        added = time.perf_counter()
        queries.append(query)
        for name, span in (("rare_terms", chosen - began), ("search", found - chosen), ("add", added - found)):
            parts[name].append(span * 1e3)

    for _ in range(300):
        memory = notes.next()
        start, at_work = time.perf_counter(), time.process_time()
        write(store, lambda tx, memory=memory: add(tx, memory))  # type: ignore[misc]
        parts["whole"].append((time.perf_counter() - start) * 1e3)
        parts["whole_cpu"].append((time.process_time() - at_work) * 1e3)
    typed = [notes.text(4).split() for _ in range(100)]
    return {
        **{name: summary(spans) for name, spans in parts.items()},
        "search_all_projects": timed_each(store, queries[:100], MemoryFilter()),
        "search_four_words": timed_each(
            store,
            [TextQuery("", Clause(Operator.AND, tuple(map(Term, words))), any_of(words).loose) for words in typed],
            MemoryFilter(project_id="project-3"),
        ),
        "newest_of_project": timed(
            lambda: read(
                store, lambda tx: tx.memories.page(MemoryFilter(project_id="project-3"), MemoryOrder.NEWEST, 20)
            ),
            50,
        ),
        "count_by_category": timed(
            lambda: read(store, lambda tx: tx.memories.count_by("category", MemoryFilter(statuses=None))), 20
        ),
    }


def timed_each(store: SqliteStore, queries: Sequence[TextQuery], where: MemoryFilter) -> dict[str, float]:
    rest = iter(queries)

    def search(tx: ReadTransaction) -> object:
        return tx.memories.search(next(rest), where, 20)

    return timed(lambda: read(store, search), len(queries))


# --- processes ------------------------------------------------------------------------------------------------------


def writers(_: argparse.Namespace) -> Report:
    """Four processes that open a new file at once and write 250 relations each on ten shared entities."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        context = multiprocessing.get_context("spawn")
        with context.Pool(4) as pool:
            results = pool.starmap(write_many, [(path, number) for number in range(4)])
        store = SqliteStore(path)
        count = read(store, lambda tx: tx.relations.count(RelationFilter(current_only=False)))
        current = read(store, lambda tx: tx.relations.count(RelationFilter()))
        problems = store.integrity_problems()
        store.close()
    spans = [span for spans, _ in results for span in spans]
    errors = [error for _, errors in results for error in errors]
    return {"write": summary(spans), "errors": errors, "versions": count, "current": current, "problems": problems}


def write_many(path: Path, process: int) -> tuple[list[float], list[str]]:
    draw = random.Random(process)
    spans: list[float] = []
    errors: list[str] = []
    store = SqliteStore(path)
    for number in range(250):
        relation = a_relation(process * 1_000 + number, draw.randrange(10), draw.randrange(10), draw)

        def work(tx: WriteTransaction, relation: Relation = relation) -> None:
            ids = {relation.source_id, relation.target_id}
            known = tx.entities.find_for_update([], ids)
            missing = ids - {entity.id for entity in known.values()}
            tx.entities.put([an_entity(int(id_.removeprefix("thing-")), random.Random(1)) for id_ in missing])
            if not tx.relations.find_current([relation.key]):
                tx.relations.put([relation])

        start = time.perf_counter()
        try:
            write(store, work)
        except Exception as error:  # noqa: BLE001 - counted and shown
            errors.append(repr(error))
        spans.append((time.perf_counter() - start) * 1e3)
    store.close()
    return spans, errors


SECTIONS: dict[str, Callable[[argparse.Namespace], Report]] = {
    "decay": decay,
    "neighbours": neighbours,
    "memories": memories,
    "writers": writers,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], help="which to run; all when none is named")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000], help="stores of how many memories")
    arguments = parser.parse_args()
    for name in arguments.sections or SECTIONS:
        json.dump({name: SECTIONS[name](arguments)}, sys.stdout, indent=2)
        print(flush=True)


if __name__ == "__main__":
    main()
