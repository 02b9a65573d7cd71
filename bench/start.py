"""How long a client waits for the server, and what the server weighs: beside a bare one of the same SDK, in turn.

    python -m bench.start [ROUNDS]

Prints JSON: medians in milliseconds and megabytes, their ratio, and heavy modules found loaded after a first call.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15
HEAVY = ("numpy", "torch", "onnxruntime", "watchdog", "apscheduler", "sentence_transformers", "detect_secrets")
BARE = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
@server.tool()
def ping() -> str:
    "Answer."
    return "pong"
server.run()
"""
OURS = 'import sys; sys.argv[1:] = ["mcp"]; from cli.app import main; main()'
LOADED = f"""
import sys, threading
def look():
    found = [it for it in {HEAVY!r} if it in sys.modules]
    print("LOADED " + ",".join(found), file=sys.stderr, flush=True)
import atexit; atexit.register(look)
{OURS}
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


class Started:
    """A server that has answered `initialize`."""

    def __init__(self, code: str, home: str) -> None:
        environ = {**os.environ, "GRAPH_MEMORY_HOME": home}
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
        )
        self.answer = self.ask(HELLO)
        self.seconds = time.perf_counter() - began

    def ask(self, message: dict[str, object]) -> dict[str, object]:
        """Send a request and return the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, object] = json.loads(self.process.stdout.readline())
        return answer

    def megabytes(self) -> float:
        """Return its resident memory, settled."""
        import psutil

        time.sleep(0.3)
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6

    def end(self) -> str:
        """Close its standard input and return what it wrote to standard error."""
        _, errors = self.process.communicate(timeout=20)
        return errors.decode()


def main(rounds: int = ROUNDS) -> None:
    """Measure in turn, so that whatever else the machine does falls on both."""
    times: dict[str, list[float]] = {"bare": [], "ours": []}
    sizes: dict[str, list[float]] = {"bare": [], "ours": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for name, code in (("bare", BARE), ("ours", OURS)):
                started = Started(code, str(Path(folder, f"home-{number}")))
                assert "result" in started.answer, started.answer
                times[name].append(started.seconds * 1_000)
                sizes[name].append(started.megabytes())
                started.end()
        called = Started(LOADED, str(Path(folder, "home-called")))
        params = {"name": "memory_overview", "arguments": {}}
        reply = called.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
        assert "result" in reply, reply
        after_a_call = called.megabytes()
        loaded = next(it for it in called.end().splitlines() if it.startswith("LOADED"))
    medians = {name: statistics.median(values) for name, values in times.items()}
    weights = {name: statistics.median(values) for name, values in sizes.items()}
    print(
        json.dumps(
            {
                "rounds": rounds,
                "initialize_ms": {name: round(value, 1) for name, value in medians.items()},
                "ratio": round(medians["ours"] / medians["bare"], 3),
                "idle_mb": {name: round(value, 1) for name, value in weights.items()},
                "idle_mb_above_bare": round(weights["ours"] - weights["bare"], 1),
                "mb_after_a_call_above_bare": round(after_a_call - weights["bare"], 1),
                "heavy_modules": [it for it in loaded.removeprefix("LOADED ").split(",") if it],
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
