"""How long a client waits for a tool, over standard input and output, on a home of its own; every reply is checked.

    python -m bench.tools                 # everything, several minutes
    python -m bench.tools graph memories  # some sections

Prints JSON: medians, 95th and 99th percentiles in milliseconds, of the whole call as a client sees it.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.start import Started
from bench.store_sqlite import Notes, fill_graph, summary
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.bootstrap import open_store
from graph_memory.config import load_config
from graph_memory.domain.principal import LOCAL_ADMIN

SERVER = "from mcp_server.app import run_stdio; run_stdio()"
SIZES = (1_000, 100_000)
Caller = Callable[[str, dict[str, Any]], dict[str, Any]]
Report = dict[str, object]


class OverStdio:
    """Calls tools of a server process."""

    def __init__(self, home: Path) -> None:
        self._server = Started(SERVER, str(home))
        self._number = 1

    def __call__(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        params = {"name": tool, "arguments": arguments}
        reply = self._server.ask({"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params})
        result: Any = reply["result"]
        assert not result.get("isError"), result
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    def end(self) -> None:
        self._server.end()


@contextmanager
def client(home: Path) -> Iterator[Caller]:
    """Yield a client of a server on a home."""
    stdio = OverStdio(home)
    try:
        yield stdio
    finally:
        stdio.end()


def timed(
    call: Caller, tool: str, arguments: Callable[[int], dict[str, Any]], check: Callable[..., object], n: int
) -> Report:
    """Call a tool `n` times and return the figures; `check(reply, arguments)` must hold for each."""
    spans = []
    for number in range(n):
        given = arguments(number)
        began = time.perf_counter()
        reply = call(tool, given)
        spans.append((time.perf_counter() - began) * 1e3)
        assert check(reply, given), (tool, given, reply)
    return {**summary(spans)}


@contextmanager
def new_home() -> Iterator[tuple[Path, SqliteStore]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        store = open_store(load_config({}, home))
        assert isinstance(store, SqliteStore)
        try:
            yield home, store
        finally:
            store.close()


def graph() -> Report:
    """Two hops from a hub of 17,000 among 60,000 entities and 197,000 relations; statements into the same graph."""
    draw = random.Random(2)
    report: Report = {}
    with new_home() as (home, store):
        fill_graph(store, 60_000, 197_000, 17_000, draw)
        [hub] = store.read(LOCAL_ADMIN, lambda tx: tx.entities.find({"thing-0"})).values()
        with client(home) as call:
            for limit in (20, 200):
                report[f"graph_query limit {limit}"] = timed(
                    call,
                    "graph_query",
                    lambda _, limit=limit: {"entities": [hub.name], "limit": limit},  # type: ignore[misc]
                    lambda reply, given: reply["nodes"][0]["id"] == "thing-0" and _is_full(reply, given["limit"]),
                    50,
                )
            report["graph_relate new"] = timed(call, "graph_relate", _statement, _is_created, 300)
            report["graph_relate known"] = timed(call, "graph_relate", _statement, _is_strengthened, 300)
    return report


def _is_full(reply: dict[str, Any], limit: int) -> bool:
    return len(reply["nodes"]) == limit or bool(reply.get("truncated"))


def _statement(number: int) -> dict[str, Any]:
    return {
        "from_name": f"source {number}",
        "from_type": "Concept",
        "relation": "USES",
        "to_name": f"target {number}",
        "to_type": "Concept",
        "evidence": "it was said",
    }


def _is_created(reply: dict[str, Any], _: object) -> bool:
    return reply["action"] == "created" and len(reply["created_entities"]) == 2


def _is_strengthened(reply: dict[str, Any], _: object) -> bool:
    return bool(reply["action"] == "strengthened")


def memories() -> Report:
    """Notes of 120 words of a Zipf vocabulary in twenty projects, added to stores of two sizes."""
    report: Report = {}
    notes = Notes()
    with new_home() as (home, store):
        stored = 0
        for size in SIZES:
            while stored < size:
                part = [notes.next() for _ in range(min(1_000, size - stored))]
                store.write(LOCAL_ADMIN, lambda tx, part=part: tx.memories.add(part))  # type: ignore[misc]
                stored += len(part)
            store.write(LOCAL_ADMIN, lambda tx: tx.memories.renew_common_terms())
            with client(home) as call:
                report[f"at {size}"] = memory_figures(call, notes, str(size))
    return report


def memory_figures(call: Caller, notes: Notes, mark: str) -> Report:
    ids: list[int] = []

    def added(reply: dict[str, Any], given: dict[str, Any]) -> bool:
        ids.append(reply["id"])
        return reply["auto_links_created"] <= 5 and not reply["broken_wikilinks"] and bool(given)

    def note(number: int) -> dict[str, Any]:
        memory = notes.next()
        return {
            "category": "note",
            "title": f"{mark} {number} {memory.title}",
            "content": memory.content,
            "project_id": memory.project_id,
            "tags": list(memory.tags),
        }

    return {
        "memory_add": timed(call, "memory_add", note, added, 300),
        "memory_get": timed(call, "memory_get", lambda n: {"id": ids[n]}, lambda r, g: r["id"] == g["id"], 100),
        "memory_search": timed(
            call,
            "memory_search",
            lambda _: {"query": notes.text(3)},
            lambda reply, _: reply["count"] == len(reply["memories"]),
            100,
        ),
    }


SECTIONS: dict[str, Callable[[], Report]] = {"graph": graph, "memories": memories}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    chosen = parser.parse_args().sections or list(SECTIONS)
    if unknown := set(chosen) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    report: Report = {"at": datetime.now(UTC).isoformat(), "python": sys.version.split()[0]}
    for name in chosen:
        report[name] = SECTIONS[name]()
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
