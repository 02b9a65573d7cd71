"""`graph-memory restore`: a home as it was when a backup was made."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.restoring import Plan, Restored


def restore(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE|latest", help="A backup; a bare name is looked for in the backups folder.")
    ],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would do.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put a backup in the place of all that is there.

    The daemon has to be stopped. What is there goes into a backup of its own first; a damaged database is set aside.
    What was forgotten for good stays forgotten. Where something would go, it asks; without a terminal to ask on it
    needs --yes, and ends with status 1 without.
    """
    from cli import restoring, terminal
    from daemon.exits import Exit

    config = place_of(context).load_warning()
    config.require_usable_store()
    backup = restoring.find_backup(config.home, file)
    if dry_run and not config.home.path.exists():
        _tell_plan(restoring.Plan(backup, None), as_json=as_json)
        return
    config.home.ensure()
    with restoring.alone(config.home):
        plan = restoring.plan_restore(config, backup)
        if dry_run:
            _tell_plan(plan, as_json=as_json)
            return
        if plan.is_replacing and not yes:
            if not as_json:
                _tell_plan(plan, as_json=False)
            if as_json or not terminal.is_interactive() or not typer.confirm("Do it?", err=True):
                terminal.note("Nothing was changed. Add --yes to do it.")
                raise typer.Exit(Exit.FAILED)
        done = restoring.apply_restore(config, plan)
    _tell_done(plan, done, as_json=as_json)


def _tell_plan(plan: "Plan", *, as_json: bool) -> None:
    from cli.terminal import local, show_json, show_row

    counts = plan.backup.counts if plan.preview is None else plan.preview.added
    removed = {} if plan.preview is None else plan.preview.removed
    forgotten = 0 if plan.preview is None else plan.preview.forgotten
    if as_json:
        show_json({
            **_backup_json(plan),
            "dry_run": True,
            "restored": dict(counts),
            "removed": dict(removed),
            "forgotten": forgotten,
            "is_damaged": plan.is_damaged,
        })  # fmt: skip
        return
    show_row("backup", f"{plan.backup.path}, made {local(plan.backup.exported_at)}")
    show_row("restores", _figures(counts) or "nothing")
    if _figures(removed):
        show_row("in place of", _figures(removed))
    if plan.is_damaged:
        show_row("in place of", "a damaged database, which is set aside")
    if forgotten:
        show_row("left out", f"{forgotten:,} that were forgotten for good")


def _tell_done(plan: "Plan", done: "Restored", *, as_json: bool) -> None:
    from cli.terminal import local, show_json, show_row, warn

    imported = done.imported
    if as_json:
        show_json({
            **_backup_json(plan),
            "dry_run": False,
            "restored": dict(imported.added),
            "removed": dict(imported.removed),
            "forgotten": imported.forgotten,
            "is_damaged": done.aside is not None,
            "backup_before": None if done.backup_before is None else str(done.backup_before),
            "set_aside": None if done.aside is None else str(done.aside),
        })  # fmt: skip
    else:
        show_row("restored", _figures(imported.added) or "nothing")
        show_row("as of", f"{local(plan.backup.exported_at)}, from {plan.backup.path}")
        if done.backup_before is not None:
            show_row("before it", f"{_figures(imported.removed)}: now in {done.backup_before}")
        if done.aside is not None:
            show_row("set aside", str(done.aside))
        if imported.forgotten:
            show_row("left out", f"{imported.forgotten:,} that were forgotten for good")
    if not done.is_forgotten_known:
        warn("what was forgotten since the backup could not be read from the damaged database: look, and forget again")


def _backup_json(plan: "Plan") -> dict[str, Any]:
    from graph_memory.domain.instants import to_wire

    backup = plan.backup
    return {"file": backup.path, "exported_at": to_wire(backup.exported_at), "sha256": backup.sha256}


def _figures(counts: "Mapping[str, int]") -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in counts.items() if number)
