"""Put the settings together: defaults, then `config.json`, then the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from graph_memory.config.credentials import PASSWORD, Credentials, read_credentials, read_credentials_file
from graph_memory.config.environment import HOME, PREFIX, SHARED_NAMES, absolute, unknown_names, variables
from graph_memory.config.leaves import plain, walk
from graph_memory.config.overlay import ConfigProblem, Layer, Overlay
from graph_memory.config.settings import Settings
from graph_memory.domain.errors import ConfigError
from graph_memory.home import Home

DEFAULT_HOME = "~/graph-memory"
_USERINFO = re.compile(r"//[^/@\s]*@")


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The settings in force, where each came from, and what was wrong.

    `sources` has the settings that something set; the others are at their defaults.
    """

    home: Home
    settings: Settings
    credentials: Credentials
    problems: tuple[ConfigProblem, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    def require_usable_store(self) -> None:
        """Raise `ConfigError` for the one fatal case: a store was asked for that this version doesn't have."""
        if self.settings.store.kind != "sqlite":
            raise ConfigError(
                f"The store is to be Neo4j ({self.sources.get('store.kind', 'default')}), and this version keeps its "
                "memory in SQLite alone; set GRAPH_MEMORY_STORE=sqlite."
            )


def load_config(environ: Mapping[str, str], home: Path | None = None) -> LoadedConfig:
    """Load the settings of a home folder; whatever is wrong is reported, nothing is fatal.

    `home` goes before `GRAPH_MEMORY_HOME`. `credentials.env` in the home counts as environment, below the real one.
    Reads two files and writes nothing.
    """
    overlay = Overlay()
    place = Home(home.absolute() if home else _find_home(environ, overlay))
    from_file = _read_credentials(place, overlay)
    merged = {**from_file, **environ}

    _lay_defaults(overlay, environ)
    in_home = partial(absolute, environ=environ, start=place.path)
    overlay.lay(_read_config(place, overlay), Layer(place.config_file.name, in_home))
    for name, path, text in variables(merged):
        source = name if name in environ else f"{place.credentials_file.name}: {name}"
        start = Path.cwd() if name in environ else place.path
        nested: object = text
        for part in reversed(path):
            nested = {part: nested}
        overlay.lay(nested, Layer(source, partial(absolute, environ=environ, start=start)))
    for name in unknown_names(merged):
        _report_unknown(name, overlay)
    _report_unused_address(overlay)
    return LoadedConfig(
        home=place,
        settings=overlay.settings,
        credentials=read_credentials(merged),
        problems=tuple(overlay.problems),
        sources=overlay.sources,
    )


def describe_config(loaded: LoadedConfig) -> dict[str, Any]:
    """Return the settings as JSON: each with its value, its default and its source; no secret's value is in it."""
    defaults = {leaf.path: plain(leaf.value) for leaf in walk(Settings())}
    return {
        "home": str(loaded.home.path),
        "settings": {
            leaf.path: {
                "value": _masked(plain(leaf.value)),
                "default": defaults[leaf.path],
                "source": loaded.sources.get(leaf.path, "default"),
            }
            for leaf in walk(loaded.settings)
        },
        "credentials": loaded.credentials.described(),
        "problems": [
            {"setting": problem.setting, "source": problem.source, "message": problem.message}
            for problem in loaded.problems
        ],
    }


def _masked(value: object) -> object:
    """Hide a password that someone wrote into an address."""
    return _USERINFO.sub("//***@", value) if isinstance(value, str) else value


def _find_home(environ: Mapping[str, str], overlay: Overlay) -> Path:
    written = environ.get(HOME)
    if written:
        try:
            return absolute(written, environ, Path.cwd())
        except ValueError as error:
            overlay.report("home", HOME, f"{error}; {DEFAULT_HOME} is used")
    return absolute(DEFAULT_HOME, environ, Path.cwd())


def _lay_defaults(overlay: Overlay, environ: Mapping[str, str]) -> None:
    """Make the default folders absolute, with Claude Code's own where it says it keeps them elsewhere."""
    expand = partial(absolute, environ=environ, start=Path.cwd())
    ingest = overlay.settings.ingest
    folders = {"projects_dirs": plain(ingest.projects_dirs), "allowed_dirs": plain(ingest.allowed_dirs)}
    overlay.lay({"ingest": folders}, Layer("default", expand))
    overlay.sources.clear()
    moved = environ.get("CLAUDE_CONFIG_DIR")
    if moved:
        overlay.lay({"ingest": {"projects_dirs": [f"{moved}/projects"]}}, Layer("CLAUDE_CONFIG_DIR", expand))


def _read_credentials(home: Home, overlay: Overlay) -> dict[str, str]:
    try:
        values = read_credentials_file(home.credentials_file)
    except ValueError as error:
        overlay.report(home.credentials_file.name, home.credentials_file.name, str(error))
        return {}
    known = {PASSWORD, *SHARED_NAMES}
    for name in values:
        if name not in known and not name.startswith(PREFIX):
            overlay.report(name, home.credentials_file.name, "not a variable of graph-memory; ignored")
    return {name: value for name, value in values.items() if name != HOME}


def _read_config(home: Home, overlay: Overlay) -> object:
    name = home.config_file.name
    try:
        raw = home.config_file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        overlay.report(name, name, f"it can't be read ({error.strerror}); the defaults are used")
        return {}
    import orjson  # a home without the file doesn't pay for it

    try:
        return orjson.loads(raw.removeprefix(b"\xef\xbb\xbf") or b"{}")
    except orjson.JSONDecodeError as error:
        message = f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}; the defaults are used"
        overlay.report(name, name, message)
        return {}


def _report_unknown(name: str, overlay: Overlay) -> None:
    sections = {part.split(".")[0].upper() for part in (leaf.path for leaf in walk(overlay.settings))}
    known = [HOME, *(shared for shared in SHARED_NAMES if shared.startswith(PREFIX))]
    section, _, key = name.removeprefix(PREFIX).partition("_")
    if section in sections and key:
        overlay.report(name, "environment", f"no such setting; did you mean {PREFIX}{section}__{key}?")
    else:
        overlay.report_unknown(name, "environment", known)


def _report_unused_address(overlay: Overlay) -> None:
    """Say that a Neo4j isn't used: whoever has its address set for other programs keeps a memory all the same."""
    if "store.kind" not in overlay.sources and "neo4j.uri" in overlay.sources:
        message = "this version keeps its memory in SQLite alone; the address is not used"
        overlay.report("neo4j.uri", overlay.sources["neo4j.uri"], message)
