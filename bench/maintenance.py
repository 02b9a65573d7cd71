"""Every job over a large home: seconds, the processor's seconds, and what it adds to a process, in megabytes.

    python -m bench.maintenance [JOB ...]    # all but those of files, about four minutes

100,000 entities with 300,000 relations, 100,000 notes with 300,000 links, of which a tenth of the notes has expired.
Each job runs in a process of its own on the same home, as the daemon runs it, a month and a half after all was learned.
"""

import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from bench.store_sqlite import NOW, SLICE, Notes, Report, fill_graph
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.bootstrap import open_services, open_store
from graph_memory.config import load_config
from graph_memory.domain.memories import ConnectionType, Synapse
from graph_memory.domain.principal import LOCAL_ADMIN

JOBS = ("decay", "expire", "memory_decay", "merge_suggestions", "validate", "communities")
ENTITIES, RELATIONS, HUB = 100_000, 300_000, 1_000
NOTES, LINKS = 100_000, 300_000
LATER = NOW + timedelta(days=45)


def fill(home: Path) -> None:
    """Make the home."""
    draw = random.Random(1)
    store = open_store(load_config({"GRAPH_MEMORY_HOME": str(home)}))
    assert isinstance(store, SqliteStore)
    fill_graph(store, ENTITIES, RELATIONS, HUB, draw)
    notes = Notes()
    for number in range(0, NOTES, 1_000):
        part = [notes.next() for _ in range(1_000)]
        if number % 10_000 == 0:
            part = [replace(it, expires_at=NOW + timedelta(days=30)) for it in part]
        store.write(LOCAL_ADMIN, lambda tx, part=part: tx.memories.add(part))  # type: ignore[misc]
    for _ in range(0, LINKS, SLICE):
        links: dict[tuple[int, int], Synapse] = {}
        while len(links) < SLICE:
            source, target = draw.randint(1, NOTES), draw.randint(1, NOTES)
            if source != target:
                kind = draw.choice((ConnectionType.BM25_AUTO, ConnectionType.WIKILINK))
                links[source, target] = Synapse(source, target, kind, draw.uniform(0.2, 1.5), NOW, NOW)
        store.write(LOCAL_ADMIN, lambda tx, links=links: tx.synapses.put(links.values()))  # type: ignore[misc]
    store.checkpoint()
    store.close()


def run(job: str, home: Path) -> Report:
    """Run a job in this process and tell what it took."""
    from daemon.jobs import run_job

    with open_services(load_config({"GRAPH_MEMORY_HOME": str(home)}), clock=lambda: LATER) as services:
        before, start, at_work = _megabytes(), time.perf_counter(), time.process_time()
        done = run_job(services, job)
        return {
            "s": round(time.perf_counter() - start, 2),
            "cpu_s": round(time.process_time() - at_work, 2),
            "mb_above": round(_megabytes() - before),
            "error": done.error,
            **done.figures,
        }


def _megabytes() -> float:
    """Return the most memory that this process has had; elsewhere than on Linux its parent's most counts, too."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1e3
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    chosen = sys.argv[1:] or JOBS
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        fill(home)
        for job in chosen:
            with context.Pool(1) as pool:
                print(json.dumps({job: pool.apply(run, (job, home))}), flush=True)


if __name__ == "__main__":
    main()
