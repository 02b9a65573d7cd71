"""Composition of the MCP server over standard input and output; see `mcp_server.server` for what is loaded when."""

import threading
from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from mcp_server.leaving import ClientWatch
from mcp_server.server import NAME, build_server

if TYPE_CHECKING:
    from graph_memory.domain.principal import Principal
    from mcp_server.catalogue import Family, ToolSpec
    from mcp_server.toolbox import LocalToolbox


class _LazyToolbox:
    """A toolbox that is loaded by the first question."""

    def __init__(self, home: Path | None, families: "Collection[Family] | None") -> None:
        self._home, self._families = home, families
        self._lock = threading.Lock()
        self._loaded: LocalToolbox | None = None

    def _toolbox(self) -> "LocalToolbox":
        with self._lock:
            if self._loaded is None:
                from mcp_server.toolbox import local_toolbox

                self._loaded = local_toolbox(self._home, self._families)
            return self._loaded

    def specs(self) -> "Mapping[str, ToolSpec]":
        """Return the tools by name."""
        return self._toolbox().specs()

    def limit(self) -> int:
        """Return how many bytes a reply may have."""
        return self._toolbox().limit()

    def close(self) -> None:
        """Close what was loaded."""
        if self._loaded is not None:
            self._loaded.close()


def run_stdio(home: Path | None = None, families: "Collection[Family] | None" = None) -> None:
    """Serve one client over standard input and output until it closes its end, or is gone."""
    toolbox = _LazyToolbox(home, families)
    ClientWatch(toolbox.close).start()
    server = build_server(toolbox, _local_admin, version(NAME))

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    try:
        anyio.run(serve)
    finally:
        toolbox.close()


def _local_admin() -> "Principal":
    """Return the caller: over standard input and output it is the person whose machine this is."""
    from graph_memory.domain.principal import LOCAL_ADMIN

    return LOCAL_ADMIN
