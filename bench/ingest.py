"""How fast learning is, through redaction, turns, links and mentions into a SQLite store on the disk.

    python -m bench.ingest [--megabytes 200] [--documents 500] [--known 0] [--large 20] [--folder DIR]

`--known` fills the store with that many entities first, `--large` is the size in MB of one huge document. What others
wait for is the longest write transaction. One core, warm cache; prints JSON.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from bench.transcripts import MEGA, Session
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.config.settings import Ingest, Settings
from graph_memory.domain.entities import Entity
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.home import Home
from graph_memory.ports.store import WriteTransaction
from ingest.pipeline import IngestPipeline
from ingest.policies import Policies

T = TypeVar("T")
VOCABULARY = 20_000


def utc_now() -> datetime:
    return datetime.now(UTC)


class TimedStore(SqliteStore):
    """A store that notes how long each write held the others up."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.held: list[float] = []

    def write(self, principal: Principal, work: Callable[[WriteTransaction], T]) -> T:
        def timed(tx: WriteTransaction) -> T:
            start = time.perf_counter()
            try:
                return work(tx)
            finally:
                self.held.append(time.perf_counter() - start)

        return super().write(principal, timed)


class Talk(Session):
    """A session that works more than it talks, in as many words as people use; outputs of tools repeat a few."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._draw = random.Random(seed)

    def text(self, size: int) -> str:
        return super().text(size) if size > 1_000 else words(self._draw, size // 6)


class Bench:
    """A home with a pipeline that needs no waiting for files to settle."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home")
        self.home.ensure()
        self.projects = folder / "projects"
        (self.projects / "-app").mkdir(parents=True)
        self.store = TimedStore(self.home.database)
        settings = replace(Settings(), ingest=Ingest(projects_dirs=(self.projects,)))
        self.seconds = 0.0
        self.pipeline = IngestPipeline(
            self.store, self.home, settings, utc_now, Policies(), monotonic=lambda: self.seconds
        )

    def learn(self) -> int:
        """Do all there is to do; return how many documents and turns that were."""
        items = 0
        self.pipeline.scan()
        self.seconds += 10
        while works := self.pipeline.scan().works:
            for work in works:
                done = self.pipeline.run(work)
                items += done.items
                if done.reason is not None:
                    raise SystemExit(f"{work.name}: {done.reason}")
        return items

    def close(self) -> None:
        self.pipeline.close()
        self.store.close()


@contextmanager
def measured(report: dict[str, object], name: str, bench: Bench) -> Iterator[dict[str, float]]:
    """Note seconds and the write transactions of a part; `figures` may hold counts to be divided by the seconds."""
    figures: dict[str, float] = {}
    bench.store.held.clear()
    start, cpu = time.perf_counter(), time.process_time()
    yield figures
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    held = sorted(bench.store.held) or [0.0]
    report[name] = {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        **{f"{what}_per_second": round(count / seconds, 1) for what, count in figures.items()},
        "writes": len(bench.store.held),
        "write_p50_ms": round(held[len(held) // 2] * 1e3, 1),
        "write_p99_ms": round(held[int(len(held) * 0.99)] * 1e3, 1),
        "write_max_ms": round(held[-1] * 1e3, 1),
    }


def words(draw: random.Random, count: int) -> str:
    """Return a text with words as people use them: few often, most seldom."""
    return " ".join(f"w{int(VOCABULARY * draw.random() ** 3)}" for _ in range(count))


def note(draw: random.Random, number: int, total: int) -> str:
    links = " ".join(f"[[Note {draw.randrange(total)}]]" for _ in range(3))
    parts = "\n\n".join(f"## Part {part}\n\n{words(draw, draw.randint(60, 250))}" for part in range(draw.randint(1, 5)))
    return f"# Note {number}\n\n#topic{number % 40} in src/app/part{number % 97}.py, see {links}\n\n{parts}\n"


def fill_entities(store: SqliteStore, count: int) -> None:
    now = utc_now()
    for start in range(0, count, 5_000):
        entities = [
            Entity(f"known-{n}", "Concept", f"known {n} thing", 0.5, now, now)
            for n in range(start, min(start + 5_000, count))
        ]
        store.write(LOCAL_ADMIN, lambda tx, some=entities: tx.entities.put(some))  # type: ignore[misc]


def transcripts(bench: Bench, report: dict[str, object], megabytes: int) -> None:
    path = bench.projects / "-app" / "session.jsonl"
    session = Talk(7)
    with path.open("wb") as stream:
        while stream.tell() < megabytes * MEGA:
            stream.writelines(session.turn())
    size = path.stat().st_size / MEGA
    with measured(report, "transcript", bench) as figures:
        figures.update(MB=size, turns=bench.learn())
    with measured(report, "transcript_again", bench) as figures:
        copy = path.with_name("copy.jsonl")
        copy.write_bytes(path.read_bytes())
        bench.learn()
        figures.update(MB=size)


def documents(bench: Bench, report: dict[str, object], count: int) -> None:
    draw = random.Random(3)
    for number in range(count):
        (bench.home.pending / f"{number}.md").write_text(note(draw, number, count))
    with measured(report, "documents", bench) as figures:
        figures.update(documents=bench.learn())
    with measured(report, "late_mentions", bench) as figures:
        entities = 0
        while not (step := bench.pipeline.link_late_mentions()).is_done:
            entities += step.entities
        figures.update(entities=entities + step.entities)


def large(bench: Bench, report: dict[str, object], megabytes: int) -> None:
    draw = random.Random(5)
    path = bench.home.pending / "large.md"
    with path.open("w") as stream:
        while stream.tell() < megabytes * MEGA:
            stream.write(f"## Part\n\n{words(draw, 200)}\n\n")
    with measured(report, "large_document", bench) as figures:
        bench.learn()
        figures.update(MB=megabytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--known", type=int, default=0)
    parser.add_argument("--large", type=int, default=20)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        bench = Bench(Path(folder))
        fill_entities(bench.store, chosen.known)
        if chosen.megabytes:
            transcripts(bench, report, chosen.megabytes)
        if chosen.documents:
            documents(bench, report, chosen.documents)
        if chosen.large:
            large(bench, report, chosen.large)
        report["database_mb"] = round(bench.home.database.stat().st_size / MEGA, 1)
        bench.close()
    report["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
