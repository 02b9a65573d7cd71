"""What a service manager has to know of this installation: command, home, and what of the environment counts."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from graph_memory.config import LoadedConfig
from graph_memory.config.environment import HOME, absolute, variables
from graph_memory.config.loading import DEFAULT_HOME
from graph_memory.domain.errors import ConfigError
from graph_memory.domain.redaction import redact
from graph_memory.home import Home

PROGRAM = "graph-memory"
CLAUDE_FOLDER = "CLAUDE_CONFIG_DIR"
_FOLDERS = ("CLAUDE_PROJECTS_DIR", CLAUDE_FOLDER)
_DIGITS = 8
_FIRST_PRINTABLE = " "


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A home, and how its daemon is started.

    `writable` are the folders it writes into, `readable` those it learns from. `memory_mb` is what the daemon and the
    readers it starts may hold together. `needs_network`: the settings have it talk to something over TCP. `compiles`:
    an engine makes code while it runs. `left_out` names variables that are set here and were not carried over, since
    they hold secrets.
    """

    name: str
    command: tuple[str, ...]
    home: Home
    writable: tuple[Path, ...]
    readable: tuple[Path, ...]
    memory_mb: int
    environment: Mapping[str, str] = field(default_factory=dict)
    needs_network: bool = False
    compiles: bool = False
    left_out: tuple[str, ...] = ()


def installation_of(config: LoadedConfig, environ: Mapping[str, str]) -> Installation:
    """Describe this installation.

    Raises:
        ConfigError: the command can't be found, or a path or a variable has characters that no service file can hold.
    """
    settings, home = config.settings, config.home
    default = absolute(DEFAULT_HOME, environ, Path.cwd())
    carried, left_out = _carried(environ)
    if home.path != default:
        carried = {HOME: str(home.path), **carried}
    folders = dict.fromkeys((home.path, home.socket.parent))
    installation = Installation(
        name=PROGRAM if home.path == default else f"{PROGRAM}-{_short(home.path)}",
        command=(str(_program()), "run"),
        home=home,
        writable=tuple(folders),
        readable=tuple(settings.ingest.projects_dirs),
        memory_mb=settings.limits.memory_mb + settings.ingest.convert_mb,
        environment=carried,
        needs_network=settings.store.kind == "neo4j" or settings.metrics.enabled,
        compiles=settings.embedding.engine == "sentence-transformers",
        left_out=left_out,
    )
    for text in (*installation.command, *map(str, installation.writable), *carried.values()):
        if any(it < _FIRST_PRINTABLE for it in text):
            raise ConfigError(f"{text!r} has control characters; a service file can't hold them")
    return installation


def _program() -> Path:
    """Return the command of the environment that runs now, by a path that outlives upgrades of it."""
    beside = Path(sys.executable).with_name(PROGRAM)
    found = beside if beside.is_file() else shutil.which(PROGRAM)
    if found is None:
        raise ConfigError(f"the command {PROGRAM} is neither beside {sys.executable} nor on PATH")
    return Path(found).absolute()


def _carried(environ: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the variables that a service needs too, and the names of those that must not stand in a file."""
    names = dict.fromkeys((*(it.name for it in variables(environ)), CLAUDE_FOLDER))
    carried, left_out = {}, []
    for name in names:
        text = environ.get(name, "")
        if name in _FOLDERS and text:
            text = str(absolute(text, environ, Path.cwd()))
        if not text:
            continue
        if redact(f"{name}={text}").counts or redact(text).counts:
            left_out.append(name)
        else:
            carried[name] = text
    return carried, tuple(left_out)


def _short(path: Path) -> str:
    return sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
