"""`graph-memory ingest` and `retry`: learn files now, and try again what failed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graph_memory.bootstrap import Services
    from graph_memory.domain.ledger import IngestItem
    from ingest.work import WorkDone

    Outcomes = Iterator[tuple[Path, WorkDone]]


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", exists=True, help="Files, or folders with all below them.")
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Learn documents and transcripts now, where they lie.

    They are neither moved nor changed, and the daemon need not run. The exit status is 1 where a file could not be
    learned.
    """
    from cli import terminal
    from daemon.exits import Exit
    from graph_memory.domain.principal import LOCAL_ADMIN
    from ingest.exclusions import Exclusions
    from ingest.in_place import files_below

    with place_of(context).services() as services:
        exclusions = Exclusions(services.settings.exclude, services.home)
        total = sum(1 for path in paths for _ in files_below(path, exclusions))
        outcomes = list(_shown(_learned(services, paths), total, is_quiet=as_json))
        services.audit.drain(LOCAL_ADMIN)
    failed = [(path, done) for path, done in outcomes if done.failed]
    known = sum(done.is_known for _, done in outcomes)
    learned = sum(done.items for _, done in outcomes)
    if as_json:
        files = [_file_json(path, done) for path, done in outcomes]
        terminal.show_json({"files": files, "learned": learned, "known": known, "failed": len(failed)})
    else:
        terminal.show(f"{learned:,} learned, {known:,} known already, {len(failed):,} failed.")
    raise typer.Exit(Exit.FAILED if failed else Exit.OK)


def retry(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids, as the list shows them.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Try all of them again.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List what could not be learned, or queue it again."""
    from cli import terminal
    from graph_memory.domain.principal import LOCAL_ADMIN
    from ingest.queueing import IngestQueue

    if ids and everything:
        raise typer.BadParameter("give ids or --all, not both", param_hint="ID")
    with place_of(context).services(is_reading=True) as services:
        queue = IngestQueue(services.store, services.home, services.settings.ingest, services.clock)
        if ids or everything:
            queued = queue.retry(LOCAL_ADMIN, ids or None)
            services.audit.drain(LOCAL_ADMIN)
        else:
            queued = queue.status(LOCAL_ADMIN).failed
    if as_json:
        terminal.show_json({"queued" if ids or everything else "failed": [_item_json(it) for it in queued]})
    elif ids or everything:
        terminal.show(f"{terminal.counted(len(queued), 'document')} queued again; the daemon learns what is queued.")
    else:
        _list(queued)


def _learned(services: "Services", paths: "Sequence[Path]") -> "Outcomes":
    from daemon.learning import build_pipeline

    pipeline = build_pipeline(services)
    try:
        for path in paths:
            yield from pipeline.ingest_path(path)
        while not pipeline.link_late_mentions().is_done:
            pass
    finally:
        pipeline.close()


def _shown(outcomes: "Outcomes", total: int, *, is_quiet: bool) -> "Outcomes":
    """Pass outcomes on, with a bar on a terminal, and each file with what came of it."""
    from rich.progress import Progress

    from cli.terminal import clean, console

    output = console(is_error=True)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as bar:
        task = bar.add_task("learning", total=total)
        for path, done in outcomes:
            if not is_quiet:
                for line in _lines(path, done):
                    output.print(clean(line))
            bar.advance(task)
            yield path, done


def _lines(path: Path, done: "WorkDone") -> "Iterator[str]":
    for warning in done.warnings:
        yield f"Warning: {path}: {warning}"
    if done.failed:
        yield f"Failed: {path}: {done.reason}"
    elif done.items:
        yield f"Learned: {path}"


def _list(failed: "Sequence[IngestItem]") -> None:
    from cli import terminal

    for item in failed:
        terminal.show(f"{item.id}  {item.path}", "bold")
        terminal.show(f"    {item.reason} · {terminal.local(item.updated_at)}")
    if not failed:
        terminal.note("Nothing failed.")


def _file_json(path: Path, done: "WorkDone") -> dict[str, Any]:
    return {
        "file": str(path),
        "learned": done.items,
        "known": done.is_known,
        "id": None if done.item is None else done.item.id,
        "memory_ids": [] if done.item is None else list(done.item.memory_ids),
        "reason": done.reason,
        "warnings": list(done.warnings),
    }


def _item_json(item: "IngestItem") -> dict[str, Any]:
    from graph_memory.domain.instants import to_wire

    at = to_wire(item.updated_at)
    return {"id": item.id, "file": item.path, "reason": item.reason, "state": item.state.value, "updated_at": at}
