"""An hour of ten writers: whether the daemon and a server stay as they are while a memory grows.

    python -m bench.soak [--minutes 60] [--rate 50] [--writers 10] [--csv FILE]

Each writer is a session that speaks a line at a time; every ten seconds one drops a note, and a client searches and
writes. Sampled each second from outside: resident memory, descriptors and threads of the daemon and of the server, and
the size of the write-ahead log. Prints JSON with each series as a line of bars, its middle in the tenth minute and at
the end, and its slope after the first ten minutes; `--csv` keeps every sample.
"""

import argparse
import csv
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import psutil

from bench.concurrency import SERVER, Client
from bench.ingest import words
from bench.start import Started
from bench.transcripts import MEGA
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.principal import LOCAL_ADMIN

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 60
SETTLED_AFTER = 1 / 6
"""The part of the time after which figures must be flat: ten minutes of an hour."""


class Writer:
    """A session that writes a line at a time: a prompt, three tool results, an answer."""

    def __init__(self, projects: Path, number: int) -> None:
        folder = projects / f"-home-dev-app{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        self.session = str(uuid4())
        self._file = (folder / f"{self.session}.jsonl").open("a", encoding="utf-8")
        self._draw = random.Random(number)
        self._cwd, self._parent, self._count = f"/home/dev/app{number % 3}", None, 0

    def write(self) -> None:
        """Append the next line."""
        place = self._count % 5
        self._count += 1
        if place == 0:
            message: dict[str, object] = {"role": "user", "content": f"{words(self._draw, 40)}?"}
        elif place == 4:
            text = f"{words(self._draw, 120)} in src/part{self._draw.randrange(99)}.py"
            message = {"role": "assistant", "id": f"msg_{uuid4().hex}", "content": [{"type": "text", "text": text}]}
        else:
            result = {"type": "tool_result", "tool_use_id": f"toolu_{place}", "content": words(self._draw, 300)}
            message = {"role": "user", "content": [result]}
        identity = str(uuid4())
        line = {
            "type": message["role"],
            "uuid": identity,
            "parentUuid": self._parent,
            "sessionId": self.session,
            "cwd": self._cwd,
            "isSidechain": False,
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "message": message,
        }
        self._parent = identity  # type: ignore[assignment]
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def drop(pending: Path, number: int, draw: random.Random) -> None:
    """Drop a note, written beside and moved, as editors do."""
    beside = pending.parent / f".note-{number}"
    beside.write_text(f"# Note {number}\n\n{words(draw, 200)} #soak [[Note {draw.randrange(number + 1)}]]\n")
    beside.replace(pending / f"note-{number}.md")


class Soak:
    """A daemon, a server and writers on a home of their own."""

    def __init__(self, folder: Path, writers: int) -> None:
        self.home, projects = folder / "home", folder / "projects"
        self._environ = {**os.environ, "GRAPH_MEMORY_HOME": str(self.home), "CLAUDE_PROJECTS_DIR": str(projects)}
        self._writers = [Writer(projects, number) for number in range(writers)]
        self._ending = threading.Event()
        self.events = self.notes = 0
        self.samples: list[dict[str, float]] = []

    def run(self, seconds: float, rate: float) -> dict[str, object]:
        """Write for so long, then let the daemon finish; return what was seen."""
        command = [sys.executable, "-c", "from cli.app import main; main()", "run"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        daemon = subprocess.Popen(command, env=self._environ, **quiet)  # type: ignore[call-overload]
        try:
            while not (self.home / "ingest" / "pending").is_dir():
                time.sleep(0.05)
            client = Client(0, Started(SERVER, str(self.home)))
            threads = [
                threading.Thread(target=self._write, args=(rate,)),
                threading.Thread(target=self._use, args=(client,)),
            ]
            for thread in threads:
                thread.start()
            began = time.monotonic()
            for moment in _seconds(seconds):
                self.samples.append({"second": moment, **self._look(daemon.pid, client.server.process.pid)})
            self._ending.set()
            for thread in threads:
                thread.join()
            took = time.monotonic() - began
            behind = self._wait_until_learned()
            client.server.end()
        finally:
            self._ending.set()
            daemon.send_signal(signal.SIGTERM)
            status = daemon.wait(120)
        return {
            "seconds": round(took),
            "events": self.events,
            "events_per_second": round(self.events / took, 1),
            "notes": self.notes,
            "learned_after_s": behind,
            "memories": self._count(),
            "client_failures": client.failures[:5],
            "daemon_exit": status,
            "series": {
                name: describe([it[name] for it in self.samples]) for name in self.samples[0] if name != "second"
            },
        }

    def _write(self, rate: float) -> None:
        began = time.monotonic()
        while not self._ending.is_set():
            self._writers[self.events % len(self._writers)].write()
            self.events += 1
            self._ending.wait(max(0.0, began + self.events / rate - time.monotonic()))
        for writer in self._writers:
            writer.close()

    def _use(self, client: Client) -> None:
        draw = random.Random(0)
        while not self._ending.is_set():
            drop(self.home / "ingest" / "pending", self.notes, draw)
            self.notes += 1
            client.call("memory_search", client.reads, query=words(draw, 2))
            title = f"Written {self.notes}"
            client.call("memory_add", client.writes, category="note", title=title, content=words(draw, 80))
            client.call("graph_relate", client.writes, from_name=f"thing {self.notes}", relation="USES", to_name="hub")
            self._ending.wait(10)

    def _look(self, daemon: int, server: int) -> dict[str, float]:
        seen: dict[str, float] = {}
        for name, pid in (("daemon", daemon), ("server", server)):
            process = psutil.Process(pid)
            seen[f"{name}_mb"] = process.memory_info().rss / MEGA
            seen[f"{name}_descriptors"] = process.num_fds()
            seen[f"{name}_threads"] = process.num_threads()
        log = self.home / "memory.db-wal"
        seen["wal_mb"] = log.stat().st_size / MEGA if log.exists() else 0.0
        seen["database_mb"] = (self.home / "memory.db").stat().st_size / MEGA
        return seen

    def _wait_until_learned(self) -> float:
        """Wait until the last words of each session are found; return how long that took."""
        began = time.monotonic()
        with open_services(load_config(self._environ)) as services:
            while time.monotonic() - began < 300:
                cursors = services.store.read(LOCAL_ADMIN, lambda tx: tx.ledger.transcript_cursors())
                if all(it.offset >= Path(path).stat().st_size for path, it in cursors.items()):
                    break
                time.sleep(0.2)
        return round(time.monotonic() - began, 1)

    def _count(self) -> int:
        with open_services(load_config(self._environ)) as services:
            return services.insight.stats(LOCAL_ADMIN).memories


def _seconds(count: float) -> Iterator[float]:
    began = time.monotonic()
    for second in range(int(count)):
        time.sleep(max(0.0, began + second - time.monotonic()))
        yield second


def describe(values: list[float]) -> dict[str, object]:
    """Return a series as bars, and how it moves after it should be flat: per hour, by least squares."""
    start = int(len(values) * SETTLED_AFTER)
    settled = values[start:]
    near = max(1, len(values) // 60)
    slope = statistics.linear_regression(range(len(settled)), settled).slope if len(settled) > 1 else 0.0
    return {
        "bars": bars(values),
        "when_settled": round(statistics.median(values[start : start + near]), 1),
        "at_the_end": round(statistics.median(values[-near:]), 1),
        "most": round(max(values), 1),
        "slope_per_hour": round(slope * 3_600, 2),
    }


def bars(values: list[float]) -> str:
    """Draw a series from zero to its largest value."""
    top = max(values) or 1.0
    parts = [values[len(values) * at // WIDTH : len(values) * (at + 1) // WIDTH] or values[-1:] for at in range(WIDTH)]
    return "".join(BARS[min(int(statistics.fmean(part) / top * len(BARS)), len(BARS) - 1)] for part in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--writers", type=int, default=10)
    parser.add_argument("--csv", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), asked.writers)
        report = soak.run(asked.minutes * 60, asked.rate)
    if asked.csv is not None:
        with asked.csv.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(soak.samples[0]))
            table.writeheader()
            table.writerows(soak.samples)
    print(json.dumps(report, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
