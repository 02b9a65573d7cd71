"""The parts of the documentation that are written from the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from typer.testing import CliRunner

from cli.app import app
from daemon.service.installation import PROGRAM, Installation, installation_of
from daemon.service.launchd_agent import launchd_agent
from daemon.service.systemd_unit import systemd_unit
from graph_memory.config import Settings, load_config
from graph_memory.config.leaves import Leaf, Range, field_types, plain, split, walk
from graph_memory.home import Home

if TYPE_CHECKING:
    import typer

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = ROOT / "docs" / "configuration.md"
BEGIN = "<!-- settings: written by `make pages` -->\n"
END = "<!-- /settings -->\n"
COMMANDS = ROOT / "docs" / "cli.md"
COMMANDS_BEGIN = "<!-- commands: written by `make pages` -->\n"
COMMANDS_END = "<!-- /commands -->\n"
_HELP_WIDTH = 100
UNIT = ROOT / "systemd" / "graph-memory.service"
_TEMPLATE_NOTE = "# Written by `make pages`; `graph-memory service install` writes one for where you have it.\n"
AGENT = ROOT / "launchd" / "graph-memory.plist"


def settings_part() -> str:
    """Return the tables of all settings, a section each."""
    settings = Settings()
    parts = []
    for name in field_types(Settings):
        section = getattr(settings, name)
        rows = [_row(leaf) for leaf in walk(section, f"{name}.")]
        parts.append(
            f"### {name}\n\n{(type(section).__doc__ or '').strip()}\n\n"
            "| setting | default | bounds | what it is |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
        )
    return "\n" + "\n".join(parts) + "\n"


def configuration_page(written: str) -> str:
    """Return the page with its tables as they should be."""
    before, _, rest = written.partition(BEGIN)
    return before + BEGIN + settings_part() + END + rest.partition(END)[2]


def commands_page(written: str) -> str:
    """Return the page with the help of every command as it should be."""
    before, _, rest = written.partition(COMMANDS_BEGIN)
    parts = [f"### {' '.join(('graph-memory', *path))}\n\n```text\n{_help(path)}```\n" for path in command_paths()]
    return before + COMMANDS_BEGIN + "\n" + "\n".join(parts) + "\n" + COMMANDS_END + rest.partition(COMMANDS_END)[2]


def command_paths() -> list[tuple[str, ...]]:
    """List every command by its words, that of the program itself being none."""
    return _paths(app, ())


def unit_template() -> str:
    """Return the unit as one without the program at hand would copy it: the filters alone, which work everywhere."""
    at_home = systemd_unit(_example(Path("/home/you")), ())
    return _TEMPLATE_NOTE + at_home.partition("\n")[2].replace("/home/you", "%h")


def agent_template() -> str:
    """Return the agent with somebody's paths."""
    return launchd_agent(_example(Path("/Users/YOU"))).decode()


def _example(user: Path) -> Installation:
    home = Home(user / "graph-memory")
    return Installation(
        name=PROGRAM,
        command=(str(user / ".local" / "bin" / PROGRAM), "run"),
        home=home,
        writable=(home.path,),
        readable=(user / ".claude" / "projects",),
        memory_mb=installation_of(load_config({}), {}).memory_mb,
    )


def _paths(group: typer.Typer, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    found = [path]
    found += [(*path, it.name or "") for it in group.registered_commands]
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            found += _paths(inner.typer_instance, (*path, inner.name or ""))
    return found


def _help(path: tuple[str, ...]) -> str:
    shown = CliRunner().invoke(
        app, [*path, "--help"], prog_name="graph-memory", terminal_width=_HELP_WIDTH, catch_exceptions=False
    )
    lines = [line.rstrip() for line in shown.output.strip("\n").splitlines()]
    return "\n".join(lines) + "\n"


def _row(leaf: Leaf) -> str:
    return f"| `{leaf.path}` | {_shown(leaf.value)} | {_bounds(leaf)} | {leaf.about} |"


def _shown(value: object) -> str:
    shown = plain(value)
    if isinstance(shown, float) and shown == int(shown):
        shown = int(shown)
    return f"`{shown}`" if isinstance(shown, str) and shown else f"`{json.dumps(shown)}`"


def _bounds(leaf: Leaf) -> str:
    """Return what a value may be: the interval, or the words."""
    bare, said = split(leaf.annotation)
    inner = (bare, *get_args(bare))
    for rule in (*said, *(rule for part in inner for rule in split(part)[1])):
        if isinstance(rule, Range):
            return f"{rule.low:,g}–{_number(rule.high)}"
    for part in inner:
        if get_origin(part) is Literal:
            return ", ".join(f"`{choice}`" for choice in get_args(part))
    return ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


if __name__ == "__main__":
    for page, render in ((CONFIGURATION, configuration_page), (COMMANDS, commands_page)):
        page.write_text(render(page.read_text(encoding="utf-8")), encoding="utf-8")
    UNIT.write_text(unit_template(), encoding="utf-8")
    AGENT.write_text(agent_template(), encoding="utf-8")
