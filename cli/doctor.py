"""`graph-memory doctor`: what is wrong, and what to do about it."""

from typing import Annotated

import typer

from cli.place import place_of


def doctor(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find what keeps the memory from working, and the remedies.

    Nothing is changed. The exit status is 1 where there are errors.
    """
    from cli import terminal
    from cli.checks import Level, counts, examine
    from daemon.exits import Exit

    styles = {Level.OK: "green", Level.WARNING: "yellow", Level.ERROR: "red"}
    findings = []
    for finding in examine(place_of(context).load()):
        findings.append(finding)
        if not as_json:
            terminal.show_row(finding.level.value, f"{finding.check}: {finding.message}", styles[finding.level])
            if finding.remedy:
                terminal.show_row("", f"→ {finding.remedy}")
    found = counts(findings)
    if as_json:
        described = [
            {"check": it.check, "level": it.level.value, "message": it.message, "remedy": it.remedy} for it in findings
        ]
        terminal.show_json({"findings": described, "errors": found[Level.ERROR], "warnings": found[Level.WARNING]})
    else:
        errors, warnings = found[Level.ERROR], found[Level.WARNING]
        terminal.show(f"{terminal.counted(errors, 'error')}, {terminal.counted(warnings, 'warning')}.")
    raise typer.Exit(Exit.FAILED if found[Level.ERROR] else Exit.OK)
