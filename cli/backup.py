"""`graph-memory export` and `import`: everything into one file, and back."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from graph_memory.services.restore import Imported


class Mode(StrEnum):
    """`ImportMode` as the command line has it: importing that would cost every command its start."""

    MERGE = "merge"
    REPLACE = "replace"


def export(
    context: typer.Context,
    *,
    label: Annotated[str | None, typer.Option(help="Name it; a labelled backup is never removed.")] = None,
    keep: Annotated[
        int | None, typer.Option(min=1, help="Unlabelled backups to keep.", show_default="export.keep, 14")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write everything into one file of the backups folder."""
    from cli import terminal
    from graph_memory.domain.principal import LOCAL_ADMIN

    with place_of(context).services(is_reading=True) as services:
        exported = services.backup.export(LOCAL_ADMIN, keep=keep or services.settings.export.keep, label=label)
        services.audit.drain(LOCAL_ADMIN)
    file = exported.file
    if as_json:
        described = {"file": file.path, "bytes": file.size, "rows": dict(file.counts), "sha256": file.sha256}
        terminal.show_json({**described, "pruned": exported.retention.pruned})
        return
    terminal.show(file.path)
    terminal.note(f"{terminal.counted(sum(file.counts.values()), 'row')}, {terminal.size(file.size)}")


def import_(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A backup; a bare name is looked for in the backups folder.")
    ],
    *,
    mode: Annotated[
        Mode, typer.Option(help="`merge` adds to what is there, `replace` puts the backup in its place.")
    ] = Mode.MERGE,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put a backup back.

    What it would do is shown first. Without a terminal to ask on, and without --yes, that is all.
    """
    from cli import terminal
    from graph_memory.domain.backups import ImportMode
    from graph_memory.domain.principal import LOCAL_ADMIN

    how = ImportMode(mode.value)
    name = str(file.expanduser().absolute()) if file.exists() else str(file)
    with place_of(context).services() as services:
        with terminal.counting("looking", is_quiet=as_json) as progress:
            preview = services.restore.import_file(LOCAL_ADMIN, name, mode=how, dry_run=True, progress=progress)
        if not as_json:
            _show(preview)
        if not terminal.agrees("Do it?", yes=yes, as_json=as_json, preview=lambda: _json(preview)):
            return
        with terminal.counting("importing", is_quiet=as_json) as progress:
            done = services.restore.import_file(LOCAL_ADMIN, name, mode=how, dry_run=False, progress=progress)
        services.audit.drain(LOCAL_ADMIN)
    if as_json:
        terminal.show_json(_json(done))
    else:
        terminal.show("Done.")


def _show(preview: "Imported") -> None:
    from cli.terminal import local, show_row

    show_row("backup", f"{preview.file.path}, made {local(preview.file.exported_at)}")
    for label, counts in (("new", preview.added), ("joined", preview.joined), ("removed", preview.removed)):
        if any(counts.values()):
            show_row(label, _figures(counts))
    if preview.forgotten:
        show_row("left out", f"{preview.forgotten:,} that were forgotten for good")
    if not (any(preview.added.values()) or any(preview.joined.values()) or any(preview.removed.values())):
        show_row("new", "nothing")


def _figures(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in counts.items() if number)


def _json(imported: "Imported") -> dict[str, Any]:
    return {
        "file": imported.file.path,
        "mode": imported.mode.value,
        "dry_run": imported.is_dry_run,
        "added": dict(imported.added),
        "joined": dict(imported.joined),
        "removed": dict(imported.removed),
        "forgotten": imported.forgotten,
    }
