"""Decay of a large graph, over and over, while four MCP servers write and read: what clients feel meanwhile.

    python -m bench.decay_contention [CALLS]    # 200 writes and 200 reads a server

The job is the daemon's own, in a process of its own, over 100,000 entities and 300,000 relations, with a clock that is
an hour further each time, so that every row changes. Counted are the calls that began while a run was under way, after
a first one of each kind, which loads what a server needs. Every reply is checked, and in the end all that was
acknowledged is read back and the file is checked. Prints JSON: times of the runs alone and beside the clients in
seconds, and of calls in milliseconds, of all clients and of the one worst off.
"""

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from bench.concurrency import CALLS, SERVER, SERVERS, Client
from bench.start import Started
from bench.store_sqlite import Report, fill_graph, summary
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.bootstrap import open_services, open_store, utc_now
from graph_memory.config import load_config

ENTITIES, RELATIONS, HUB = 100_000, 300_000, 1_000
ALONE = 3
"""Runs before any client comes."""


class Span(NamedTuple):
    """When something began and ended, in seconds of the machine's own clock."""

    began: float
    ended: float


@dataclass
class WatchedClient(Client):
    """A client that notes when its calls were made."""

    when: dict[int, list[float]] = field(default_factory=dict)

    def call(self, tool: str, spans: list[float], **arguments: object) -> dict[str, Any]:
        """Call a tool and note when."""
        self.when.setdefault(id(spans), []).append(time.monotonic())
        return super().call(tool, spans, **arguments)

    def warm_up(self) -> None:
        """Make one call of each kind: what a server loads with its first ones is not waited for on any lock."""
        self.call("memory_add", [], category="note", title=f"Warm {self.number}", content="warm")
        ends = {"from_type": "Concept", "to_type": "Concept", "relation": "USES"}
        self.call("graph_relate", [], from_name="warm", to_name=f"warm {self.number}", **ends)
        self.call("memory_search", [], query="warm")

    def within(self, spans: list[float], runs: Sequence[Span]) -> list[float]:
        """Return what calls took that began within a run."""
        began = self.when.get(id(spans), [])
        return [ms for at, ms in zip(began, spans, strict=True) if any(run.began <= at <= run.ended for run in runs)]


class Decay:
    """The job in a process of its own, which runs it again and again until told to stop."""

    def __init__(self, home: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.decay_contention", "--decay", str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.runs: list[Span] = []
        self.failures: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            run = json.loads(line)
            self.runs.append(Span(run["began"], run["ended"]))
            if run["error"] or run["entities"] < ENTITIES or run["relations"] < RELATIONS:
                self.failures.append(f"decay: {line.strip()}")

    def wait_for(self, count: int) -> None:
        """Wait until so many runs are done."""
        deadline = time.monotonic() + 120
        while len(self.runs) < count:
            assert time.monotonic() < deadline, "decay does not come to an end"
            time.sleep(0.01)

    def end(self) -> None:
        """Let the run at hand be finished."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=120)
        self._reader.join()


def decay_until_told(home: Path) -> None:
    """Run the job until standard input ends; write a line for every run."""
    from daemon.jobs import run_job

    ended = threading.Event()

    def wait_until_told() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait_until_told, daemon=True).start()
    ahead = timedelta(0)

    def clock() -> datetime:
        return utc_now() + ahead

    with open_services(load_config({"GRAPH_MEMORY_HOME": str(home)}), clock=clock) as services:
        while not ended.is_set():
            ahead += timedelta(hours=1)
            began = time.monotonic()
            run = run_job(services, "decay")
            figures = {"entities": run.result.get("nodes_decayed", 0), "relations": run.result.get("edges_decayed", 0)}
            line = {"began": began, "ended": time.monotonic(), "error": run.error, **figures}
            with suppress(BrokenPipeError):
                print(json.dumps(line), flush=True)


def run(calls: int, home: Path) -> Report:
    """Fill a home, let decay and clients loose on it, and report."""
    store = open_store(load_config({"GRAPH_MEMORY_HOME": str(home)}))
    assert isinstance(store, SqliteStore)
    fill_graph(store, ENTITIES, RELATIONS, HUB, random.Random(1))
    decay = Decay(home)
    try:
        decay.wait_for(ALONE)
        clients = [WatchedClient(number, Started(SERVER, str(home))) for number in range(SERVERS)]
        for client in clients:
            client.warm_up()
        threads = [threading.Thread(target=it.work, args=(calls,)) for it in clients]
        with_clients = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        without = time.monotonic()
    finally:
        decay.end()
    clients[0].verify(clients)
    for client in clients:
        client.failures.extend(line for line in client.server.end().splitlines() if "locked" in line.lower())
    problems = store.integrity_problems()
    store.close()
    beside = [it for it in decay.runs if it.ended > with_clients and it.began < without]
    writes = [it.within(it.writes, beside) for it in clients]
    reads = [it.within(it.reads, beside) for it in clients]
    return {
        "decay_alone_s": [round(it.ended - it.began, 2) for it in decay.runs[:ALONE]],
        "decay_beside_clients_s": [round(it.ended - it.began, 2) for it in beside],
        "clients_s": round(without - with_clients, 2),
        "writes_within_runs": sum(map(len, writes)),
        "write_ms": _summary([ms for spans in writes for ms in spans]),
        "write_p99_ms_of_the_worst": max((summary(spans)["p99"] for spans in writes if spans), default=None),
        "reads_within_runs": sum(map(len, reads)),
        "read_ms": _summary([ms for spans in reads for ms in spans]),
        "acknowledged": sum(len(it.titles) + len(it.relations) for it in clients),
        "failures": [*decay.failures, *problems, *(it for client in clients for it in client.failures)],
    }


def _summary(spans: Sequence[float]) -> dict[str, float]:
    return {**summary(spans), "max": round(max(spans), 1)} if spans else {}


def main() -> int:
    """Report; the exit status is 1 where something was lost or failed."""
    if sys.argv[1:2] == ["--decay"]:
        decay_until_told(Path(sys.argv[2]))
        return 0
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    with tempfile.TemporaryDirectory() as folder:
        report = run(calls, Path(folder) / "home")
    print(json.dumps(report, indent=2))
    return 1 if report["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
