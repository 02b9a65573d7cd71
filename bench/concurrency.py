"""Four MCP servers and the daemon on one home: every acknowledged write is read back, and nothing is ever locked out.

    python -m bench.concurrency [CALLS]    # 200 writes and 200 reads a server

Prints JSON: the time of all calls, medians and 99th percentiles of writes and reads in milliseconds, and failures.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.start import Started
from bench.store_sqlite import summary

SERVERS = 4
CALLS = 200
SERVER = "from mcp_server.app import run_stdio; run_stdio()"
WORDS = ("falcon", "harbour", "lantern", "meadow", "orchid", "pebble", "quartz", "saffron")


@dataclass
class Client:
    """One server with the calls made to it."""

    number: int
    server: Started
    writes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    titles: dict[int, str] = field(default_factory=dict)
    relations: list[tuple[str, str]] = field(default_factory=list)
    _calls: int = 1

    def call(self, tool: str, spans: list[float], **arguments: object) -> dict[str, Any]:
        """Call a tool; what fails is kept, and answered with nothing."""
        self._calls += 1
        params: dict[str, object] = {"name": tool, "arguments": arguments}
        began = time.perf_counter()
        reply = self.server.ask({"jsonrpc": "2.0", "id": self._calls, "method": "tools/call", "params": params})
        spans.append((time.perf_counter() - began) * 1e3)
        result: Any = reply.get("result", {"isError": True, "content": reply})
        if result.get("isError"):
            self.failures.append(f"{tool}: {result['content']}")
            return {}
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    def work(self, calls: int) -> None:
        """Write and read in turn; every other write is a note, the rest relations between shared entities."""
        for number in range(calls):
            word = WORDS[number // 2 % len(WORDS)]
            if number % 2:
                title = f"Note {number} of client {self.number}"
                added = self.call("memory_add", self.writes, category="note", title=title, content=f"{word} {title}")
                if added:
                    self.titles[added["id"]] = title
            else:
                target = f"thing {number} of client {self.number}"
                ends = {"from_type": "Concept", "to_type": "Concept", "relation": "USES"}
                stated = self.call("graph_relate", self.writes, from_name=word, to_name=target, **ends)
                if stated:
                    self.relations.append((word, target))
            found = self.call("memory_search", self.reads, query=word)
            if found and number > 2 * len(WORDS) and not found["count"]:
                self.failures.append(f"memory_search: {word} was not found")

    def verify(self, others: "Sequence[Client]") -> None:
        """Read back, through this server, what all of them were told is stored."""
        for other in others:
            for id_, title in other.titles.items():
                if self.call("memory_get", [], id=id_).get("title") != title:
                    self.failures.append(f"lost: {title}")
            for _, target in other.relations:
                reply = self.call("graph_query", [], entities=[target], max_hops=1)
                if not reply.get("found") or not reply.get("edges"):
                    self.failures.append(f"lost: {target}")


def run(calls: int, home: Path) -> dict[str, object]:
    """Run the daemon and the clients on a home, and report."""
    environ = {**os.environ, "GRAPH_MEMORY_HOME": str(home), "CLAUDE_PROJECTS_DIR": str(home.parent / "projects")}
    daemon = subprocess.Popen(
        [sys.executable, "-c", "from cli.app import main; main()", "run"],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        dropped = _drop_notes(home)
        clients = [Client(number, Started(SERVER, str(home))) for number in range(SERVERS)]
        threads = [threading.Thread(target=it.work, args=(calls,)) for it in clients]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        total = time.perf_counter() - began
        clients[0].verify(clients)
        learned = _wait_until_learned(clients[0], dropped)
        for client in clients:
            errors = client.server.end()
            client.failures.extend(line for line in errors.splitlines() if "locked" in line.lower())
    finally:
        daemon.send_signal(signal.SIGTERM)
        _, said = daemon.communicate(timeout=60)
    failures = [it for client in clients for it in client.failures]
    failures.extend(line for line in said.decode().splitlines() if "locked" in line.lower())
    return {
        "servers": SERVERS,
        "writes": sum(len(it.writes) for it in clients),
        "reads": sum(len(it.reads) for it in clients),
        "total_s": round(total, 2),
        "write_ms": summary([span for it in clients for span in it.writes]),
        "read_ms": summary([span for it in clients for span in it.reads]),
        "notes_learned_meanwhile": learned,
        "daemon_exit": daemon.returncode,
        "failures": failures,
    }


def _drop_notes(home: Path, count: int = 20) -> int:
    pending = home / "ingest" / "pending"
    deadline = time.monotonic() + 30
    while not pending.is_dir():
        assert time.monotonic() < deadline, "the daemon did not make its home"
        time.sleep(0.05)
    for number in range(count):
        (pending / f"dropped-{number}.md").write_text(f"# Dropped {number}\n\nxylophone {number}\n")
    return count


def _wait_until_learned(client: Client, count: int) -> int:
    deadline = time.monotonic() + 60
    found = 0
    while found < count and time.monotonic() < deadline:
        found = client.call("memory_search", [], query="xylophone", limit=100).get("count", 0)
        time.sleep(0.1)
    return found


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(run(calls, Path(folder) / "home"), indent=2))


if __name__ == "__main__":
    main()
