"""What commands write: data for people or programs on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_CONTROLS = {code: "�" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}
_LABEL = 13
_UNIT = 1024
_DECIMAL_BELOW = 10


def console(*, is_error: bool = False) -> Console:
    """Return the terminal; colours only where it is one and `NO_COLOR` is not set."""
    from rich.console import Console

    return Console(stderr=is_error, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show(text: str = "", style: str = "") -> None:
    """Write a line of what was asked for."""
    console().print(clean(text), style=style or None)


def show_row(label: str, text: str, style: str = "") -> None:
    """Write a line with a label in front."""
    from rich.text import Text

    console().print(Text.assemble((f"{label:<{_LABEL}}", "bold"), (clean(text), style)))


def show_json(value: Mapping[str, Any]) -> None:
    """Write JSON, and nothing else, to stdout."""
    import orjson

    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


def note(text: str) -> None:
    """Write a line about what is going on."""
    console(is_error=True).print(clean(text))


def warn(text: str) -> None:
    """Write a line about what is not as it should be."""
    console(is_error=True).print(f"Warning: {clean(text)}", style="yellow")


def complain(text: str) -> None:
    """Write the one line that says why a command failed."""
    console(is_error=True).print(f"Error: {clean(text)}", style="red")


@contextmanager
def counting(what: str, *, is_quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal's stderr while something goes on; the function given is told how much of how much."""
    from rich.progress import Progress

    output = console(is_error=True)
    with Progress(console=output, transient=True, disable=is_quiet or not output.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def is_interactive() -> bool:
    """Tell whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def agrees(question: str, *, yes: bool, as_json: bool, preview: Callable[[], Mapping[str, Any]]) -> bool:
    """Tell whether something is to be done; where not, write what it would come to, or how to have it done.

    It is where `yes` was said beforehand, or where a person at the terminal says so to `question`.
    """
    import typer

    if yes or (not as_json and is_interactive() and typer.confirm(question, err=True)):
        return True
    if as_json:
        show_json(preview())
    else:
        note("Nothing was changed. Add --yes to do it.")
    return False


def is_watched() -> bool:
    """Tell whether what is written to stdout can be drawn again: a terminal that moves its cursor."""
    return sys.stdout.isatty() and not console().is_dumb_terminal


def clean(text: str) -> str:
    """Return a text without control characters: what was learned from others must not drive the terminal."""
    return text.translate(_CONTROLS)


def local(at: datetime | None) -> str:
    """Return an instant as the clock on the wall shows it."""
    return "never" if at is None else at.astimezone().strftime("%Y-%m-%d %H:%M")


def size(count: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < _UNIT:
            return f"{count:.0f} {unit}" if unit == "B" or count >= _DECIMAL_BELOW else f"{count:.1f} {unit}"
        count /= _UNIT
    return f"{count:.1f} TB"


def counted(number: int, what: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def listed(counts: Mapping[str, int], most: int = 5) -> str:
    """Return the largest of some counts in one line."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{name} {number:,}" for name, number in ranked[:most] if number]
    return ", ".join([*shown, "…"] if len(ranked) > most else shown)


def joined(parts: Iterable[str], mark: str = " · ") -> str:
    """Join what there is to say."""
    return mark.join(part for part in parts if part)
