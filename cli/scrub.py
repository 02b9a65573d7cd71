"""`graph-memory scrub`: today's rules of redaction over what was stored under older ones."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.bootstrap import Services
    from graph_memory.services.scrub import Scrubbed
    from ingest.archive_scrub import ScrubbedArchive


def scrub(
    context: typer.Context,
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this it is only counted.")] = False,
    renew_backups: Annotated[
        bool, typer.Option("--renew-backups", help="Write a new backup, then remove all that are older.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Take secrets out of what is stored that today's rules know and older ones did not.

    It looks at memories with their earlier texts, entities, relations, evidence, documents' metadata and the archive;
    the daemon need not stop. With --apply the old bytes are wiped from the database file, which takes seconds for each
    hundred megabytes. Backups of before still hold them: --renew-backups replaces those. Your own files and Claude
    Code's transcripts are never touched.
    """
    from cli import terminal
    from graph_memory.domain.principal import LOCAL_ADMIN
    from graph_memory.services.scrub import Scrub, Scrubbed
    from ingest.archive import Archive
    from ingest.archive_scrub import scrub_archive

    if renew_backups and not apply:
        raise typer.BadParameter("goes with --apply", param_hint="--renew-backups")
    with place_of(context).services(is_reading=True) as services:
        total, work = Scrubbed(), Scrub(services.store, services.clock)
        for principal in _everybody(services):
            total.add(work.scrub(principal, dry_run=not apply))
        archived = scrub_archive(Archive(services.home.archive), dry_run=not apply)
        removed = 0
        if apply:
            services.store.erase_traces()
            removed = _renew_backups(services) if renew_backups else 0
            services.audit.drain(LOCAL_ADMIN)
        kept = len(_backups(services)) - renew_backups
    if as_json:
        terminal.show_json({"applied": apply, **_json(total, archived), "backups_removed": removed})
        return
    _show(total, archived, is_applied=apply)
    if apply and kept and total.count:
        backups = terminal.counted(kept, "backup")
        terminal.warn(f"{backups} of before may hold what was taken out; `scrub --apply --renew-backups` replaces them")


def _everybody(services: "Services") -> "list[Any]":
    from graph_memory.domain.principal import LOCAL_ADMIN, LOCAL_TENANT, Principal

    return [LOCAL_ADMIN, *(Principal(it) for it in services.store.tenants() if it != LOCAL_TENANT)]


def _backups(services: "Services") -> "list[Path]":
    return sorted(services.home.backups.glob("*.jsonl*"))


def _renew_backups(services: "Services") -> int:
    """Write a backup, and remove all others once it is whole; count them."""
    from graph_memory.domain.principal import LOCAL_ADMIN

    before = _backups(services)
    services.backup.export(LOCAL_ADMIN, keep=len(before) + 1)
    for path in before:
        path.unlink(missing_ok=True)
    return len(before)


def _json(total: "Scrubbed", archived: "ScrubbedArchive") -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "looked_at": total.looked_at,
        "secrets": total.count + archived.secrets,
        "by_kind": dict(total.secrets),
        "rows": {name: count for name, count in total.rows.items() if count},
        "archive": asdict(archived),
    }


def _show(total: "Scrubbed", archived: "ScrubbedArchive", *, is_applied: bool) -> None:
    from cli import terminal

    terminal.show_row("looked at", f"{total.looked_at:,} rows, {archived.looked_at:,} archived sessions")
    for name, count in sorted(total.rows.items()):
        if count:
            terminal.show_row(name, f"{count:,} with secrets")
    if archived.files:
        terminal.show_row("archive", f"{terminal.counted(archived.files, 'file')} with secrets")
    if total.secrets:
        terminal.show_row("kinds", terminal.listed(total.secrets, 20))
    if archived.failed:
        terminal.warn(f"{terminal.counted(archived.failed, 'archived file')} can't be read; the log says which")
    found = terminal.counted(total.count + archived.secrets, "secret")
    if is_applied:
        terminal.show(f"{found} taken out, and wiped from the database file.")
    elif total.count + archived.secrets:
        terminal.show(f"{found} found and left where they are; `graph-memory scrub --apply` takes them out.")
    else:
        terminal.show("Nothing to take out.")
