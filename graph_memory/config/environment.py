"""What the environment says: which variable sets which setting."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

PREFIX = "GRAPH_MEMORY_"
HOME = "GRAPH_MEMORY_HOME"

SHARED_NAMES = {
    "CLAUDE_PROJECTS_DIR": ("ingest", "projects_dirs"),
    "NEO4J_URI": ("neo4j", "uri"),
    "NEO4J_USER": ("neo4j", "user"),
    "NEO4J_DATABASE": ("neo4j", "database"),
    "GRAPH_MEMORY_STORE": ("store", "kind"),
}
"""Variables with a name of their own. `GRAPH_MEMORY_<SECTION>__<KEY>` goes before them."""

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


class Variable(NamedTuple):
    """A variable that sets something: its name, the path of the setting, and the text."""

    name: str
    path: tuple[str, ...]
    text: str


def variables(environ: Mapping[str, str]) -> Iterator[Variable]:
    """List what is set, the more particular names last; an empty variable counts as absent."""
    for name, path in SHARED_NAMES.items():
        if environ.get(name):
            yield Variable(name, path, environ[name])
    for name in sorted(environ):
        if name.startswith(PREFIX) and "__" in name and environ[name]:
            yield Variable(name, tuple(name.removeprefix(PREFIX).lower().split("__")), environ[name])


def unknown_names(environ: Mapping[str, str]) -> Iterator[str]:
    """List variables that begin like ours and mean nothing."""
    for name in sorted(environ):
        if name.startswith(PREFIX) and "__" not in name and name != HOME and name not in SHARED_NAMES:
            yield name


def absolute(text: str, environ: Mapping[str, str], start: Path) -> Path:
    """Make a path absolute: `~` and variables expanded by `environ`, a relative one resolved against `start`.

    Links are left as they are, so that a path is shown as it was written. Raises `ValueError` where a variable is not
    set or a user is not known: a folder named by half of what was meant is worse than none.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if not environ.get(name):
            raise ValueError(f"${name} is not set")
        return environ[name]

    if not text:
        raise ValueError("an empty path")
    expanded = _VARIABLE.sub(value, text)
    if expanded == "~" or expanded.startswith("~/"):
        expanded = (environ.get("HOME") or str(Path.home())) + expanded[1:]
    elif expanded.startswith("~"):
        expanded = os.path.expanduser(expanded)  # noqa: PTH111 - Path.expanduser raises RuntimeError instead
        if expanded.startswith("~"):
            raise ValueError(f"no such user: {expanded.partition('/')[0]}")
    return Path(os.path.normpath(start / expanded))
