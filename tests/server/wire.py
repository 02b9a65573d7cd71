"""A server in a process of its own, spoken to by the SDK's client or by the bare protocol."""

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

T = TypeVar("T")

COMMAND = (sys.executable, "-c", "from cli.app import main; main()")
"""What `graph-memory` runs."""
SECONDS = 30.0
"""No answer takes so long, however busy the machine is."""


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a server of a home; the user's home is the folder that it lies in."""
    return {"HOME": str(home.parent), "GRAPH_MEMORY_HOME": str(home), "PATH": "", **(more or {})}


def with_session(
    home: Path,
    talk: Callable[[ClientSession], Awaitable[T]],
    *options: str,
    environ: Mapping[str, str] | None = None,
) -> T:
    """Start `graph-memory mcp`, initialize a session of the SDK's client, and return what `talk` made of it."""

    async def run() -> T:
        command, *arguments = (*COMMAND, "mcp", *options)
        server = StdioServerParameters(command=command, args=arguments, env=environment(home, environ))
        with anyio.fail_after(2 * SECONDS), (home.parent / "stderr.txt").open("w") as errors:
            async with stdio_client(server, errors) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                return await talk(session)

    return anyio.run(run)


@dataclass
class RawServer:
    """A server by the bare protocol: every line of its stdout is seen."""

    home: Path
    options: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    _ids: int = 0

    def __enter__(self) -> Self:
        with (self.home.parent / "stderr.txt").open("w") as errors:
            self.process = subprocess.Popen(
                [*COMMAND, "mcp", *self.options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment(self.home, self.environ),
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait(SECONDS)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def send(self, message: Mapping[str, object]) -> None:
        """Write a message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Read a message; the test's own time limit is what bounds the wait."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, (self.home.parent / "stderr.txt").read_text()
        self.lines.append(line)
        return cast("dict[str, Any]", json.loads(line))

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request and return its result."""
        self.request(method, **params)
        answer = self.receive()
        assert answer["id"] == self._ids, answer
        return cast("dict[str, Any]", answer["result"])

    def request(self, method: str, **params: object) -> int:
        """Send a request, and don't wait."""
        self._ids += 1
        self.send({"id": self._ids, "method": method, "params": params})
        return self._ids

    def initialize(self) -> dict[str, Any]:
        """Open the session."""
        about = {"name": "test", "version": "1"}
        result = self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
        self.send({"method": "notifications/initialized"})
        return result

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool and return its reply."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return cast("dict[str, Any]", result["structuredContent"])

    def rest(self) -> list[str]:
        """Close its end and return what else it writes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        found = self.process.stdout.readlines()
        self.process.wait(SECONDS)
        return found
