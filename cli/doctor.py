"""`graph-memory doctor`: what is wrong, and what to do about it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from cli.findings import Finding
    from graph_memory.config import LoadedConfig


def doctor(
    context: typer.Context,
    *,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Mend what is safe to mend: rights, missing folders, leftovers of dead processes, a long log."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find what keeps the memory from working, and the remedies.

    Nothing is changed without --fix. The exit status is 1 where there are errors that were not mended.
    """
    from cli import terminal
    from cli.checks import counts
    from cli.findings import Level
    from daemon.exits import Exit

    seen = []
    for finding, mended in _seen(place_of(context).load(), is_fixing=fix):
        seen.append((finding, mended))
        if not as_json:
            _show(finding, mended)
    found = counts([finding for finding, mended in seen if mended is None])
    fixed = sum(mended is not None for _, mended in seen)
    if as_json:
        totals = {"errors": found[Level.ERROR], "warnings": found[Level.WARNING], "fixed": fixed}
        terminal.show_json({"findings": [_json(*it) for it in seen], **totals})
    else:
        errors, warnings = found[Level.ERROR], found[Level.WARNING]
        mended = f", {fixed} fixed" if fix else ""
        terminal.show(f"{terminal.counted(errors, 'error')}, {terminal.counted(warnings, 'warning')}{mended}.")
    raise typer.Exit(Exit.FAILED if found[Level.ERROR] else Exit.OK)


def _seen(config: "LoadedConfig", *, is_fixing: bool) -> "Iterator[tuple[Finding, str | None]]":
    """Yield every finding, with what was done about it; a fix comes before the next check looks."""
    from dataclasses import replace

    from cli.checks import examine
    from graph_memory.domain.errors import GraphMemoryError

    for finding in examine(config):
        if finding.fix is None or not is_fixing:
            yield finding, None
            continue
        try:
            yield finding, finding.fix()
        except (OSError, GraphMemoryError) as error:
            yield replace(finding, remedy=f"could not be fixed: {error}"), None


def _show(finding: "Finding", mended: str | None) -> None:
    from cli import terminal
    from cli.findings import Level

    styles = {Level.OK: "green", Level.WARNING: "yellow", Level.ERROR: "red"}
    label, style = ("fixed", "green") if mended is not None else (finding.level.value, styles[finding.level])
    terminal.show_row(label, f"{finding.check}: {finding.message}", style)
    if mended is not None or finding.remedy:
        terminal.show_row("", f"→ {finding.remedy if mended is None else mended}")


def _json(finding: "Finding", mended: str | None) -> dict[str, Any]:
    return {
        "check": finding.check,
        "level": finding.level.value,
        "message": finding.message,
        "remedy": finding.remedy,
        "is_fixable": finding.fix is not None,
        "fixed": mended,
    }
