"""The parts of the documentation that are written from the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, get_args, get_origin

from graph_memory.config import Settings
from graph_memory.config.leaves import Leaf, Range, field_types, plain, split, walk

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = ROOT / "docs" / "configuration.md"
BEGIN = "<!-- settings: written by `make pages` -->\n"
END = "<!-- /settings -->\n"


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
    CONFIGURATION.write_text(configuration_page(CONFIGURATION.read_text(encoding="utf-8")), encoding="utf-8")
