"""`graph-memory mcp`: the protocol on stdout, and nothing else."""

import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest

from daemon.exits import Exit
from tests.cli.conftest import COMMAND, Run

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def talked(*words: str) -> tuple[list[dict[str, Any]], str]:
    """Greet a server, list its tools, and leave; return all lines of its stdout, and its stderr."""
    with subprocess.Popen(
        [COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        lines = []
        for messages in ((HELLO,), (READY, LIST)):
            for message in messages:
                server.stdin.write(orjson.dumps(message) + b"\n")
            server.stdin.flush()
            lines.append(server.stdout.readline())
        out, err = server.communicate(timeout=60)
        lines += out.splitlines()
    assert server.returncode == 0
    return [orjson.loads(line) for line in lines], err.decode()


def names(reply: dict[str, Any]) -> set[str]:
    return {it["name"] for it in reply["result"]["tools"]}


def test_every_line_of_stdout_is_the_protocols_even_with_settings_that_are_wrong(home: Path) -> None:
    home.mkdir()
    (home / "config.json").write_text('{"wieghts": {}, "log": {"level": "debug"}}')
    replies, err = talked("mcp")
    assert [it["id"] for it in replies] == [1, 2]
    assert "wieghts" in err


@pytest.mark.parametrize(("families", "prefixes"), [("graph", {"graph"}), ("memory,graph", {"memory", "graph"})])
def test_families_of_tools_can_be_chosen(families: str, prefixes: set[str]) -> None:
    replies, _ = talked("mcp", "--tools", families)
    assert {it.partition("_")[0] for it in names(replies[1])} == prefixes


def test_a_family_that_does_not_exist_is_refused_with_those_that_do(run: Run) -> None:
    done = run("mcp", "--tools", "memry")
    assert (done.status, done.out) == (Exit.USAGE, "")
    assert "memry is not among graph, memory, sql" in done.err


def test_a_home_that_cannot_be_used_lets_the_server_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    replies, _ = talked("--home", str(tmp_path / "file"), "mcp")
    assert replies[0]["result"]["serverInfo"]["name"] == "graph-memory"
