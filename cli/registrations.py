"""Under which names Claude Code starts this product; only looked at, since the file is not ours."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_PROGRAM = "graph-memory"


def find_registrations(environ: Mapping[str, str]) -> Sequence[str]:
    """Return the names, with their scope where it is not the project's own, as `claude mcp remove` takes them."""
    import orjson

    folder = environ.get("CLAUDE_CONFIG_DIR")
    file = (Path(folder) if folder else Path.home()) / ".claude.json"
    try:
        written = orjson.loads(file.read_bytes())
    except (OSError, ValueError):
        return []
    found = [f"{shlex.quote(name)} --scope user" for name in _ours(written)]
    projects = written.get("projects") if isinstance(written, dict) else None
    for project, inner in projects.items() if isinstance(projects, dict) else ():
        found += [f"{shlex.quote(name)} --scope local   (in {project})" for name in _ours(inner)]
    return found


def _ours(holder: Any) -> Iterator[str]:  # noqa: ANN401 - JSON that others write
    servers = holder.get("mcpServers") if isinstance(holder, dict) else None
    for name, server in servers.items() if isinstance(servers, dict) else ():
        command = server.get("command") if isinstance(server, dict) else None
        if isinstance(command, str) and Path(command).name == _PROGRAM:
            yield name
