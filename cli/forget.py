"""`graph-memory forget`: a source erased for good."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from graph_memory.domain.forgetting import Reach
    from graph_memory.services.forget import Forgetting


def forget(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    session: Annotated[str | None, typer.Option(metavar="ID", help="A session.")] = None,
    file: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="A document, by its name in the inbox, or a transcript."),
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="A project with its sessions.")] = None,
    memory: Annotated[int | None, typer.Option(metavar="ID", help="One note.")] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="ID", help="An entity of the graph; notes that name it stay.")
    ] = None,
    after: Annotated[str | None, typer.Option(metavar="WHEN", help="With --before: what was said since.")] = None,
    before: Annotated[str | None, typer.Option(metavar="WHEN", help="With --after: what was said until then.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Erase for good all that came from one source.

    It goes from notes, graph, indexes, archive, inbox, audit and backups, and is never learned again; what others
    support too is kept and weighed anew. What would go is shown first. Without a terminal to ask on, and without --yes,
    that is all. Your own files, transcripts among them, are left alone. It works while the daemon runs.
    """
    from cli import terminal
    from graph_memory.domain.principal import LOCAL_ADMIN
    from ingest.forgetting import forgetting

    reach = _reach(session, file, project, memory, entity, after, before)
    with place_of(context).services(is_reading=True) as services:
        forgets = forgetting(services)
        preview = forgets.preview(LOCAL_ADMIN, reach)
        if not as_json:
            _show(preview)
        if not terminal.agrees("Forget it?", yes=yes, as_json=as_json, preview=lambda: _json(preview)):
            return
        done = forgets.execute(LOCAL_ADMIN, reach)
        services.audit.drain(LOCAL_ADMIN)
    if as_json:
        terminal.show_json(_json(done))
    else:
        _show_end(done)
    if done.problems:
        raise typer.Exit(1)


def _reach(
    session: str | None,
    file: str | None,
    project: str | None,
    memory: int | None,
    entity: str | None,
    after: str | None,
    before: str | None,
) -> "Reach":
    """Return what was named.

    Raises:
        BadParameter: nothing was, or several things, or an instant that can't be read.
    """
    from graph_memory.domain.errors import InvalidRequest
    from graph_memory.domain.forgetting import Reach, reach_of_dates
    from graph_memory.domain.instants import parse_instant

    try:
        since, until = (
            None if text is None else parse_instant(text, argument=name).at
            for text, name in ((after, "after"), (before, "before"))
        )
        named = Reach(session, _known_as(file), entity, memory, project, reach_of_dates(since, until))
        return named.checked()
    except InvalidRequest as error:
        text = (
            str(error).replace("source_", "").replace("_id", "").replace(" before with after", " --before with --after")
        )
        raise typer.BadParameter(text) from None


def _known_as(file: str | None) -> str | None:
    """Return what a file is stored as: one that is there by its whole path, any other as it was written."""
    if file is None:
        return None
    path = Path(file).expanduser()
    return str(path.resolve()) if path.exists() else file


def _show(preview: "Forgetting") -> None:
    from cli.terminal import counted, joined, show, show_row

    if not preview.is_found:
        rest = "what comes of it later is not learned either" if preview.is_open_ended else "look with `search`"
        show(f"Nothing of it is stored; {rest}.")
        return
    copies = preview.copies
    parts = (
        (counted(preview.memories, "note"), preview.memories),
        (counted(preview.documents, "document"), preview.documents),
        (counted(preview.entities, "entity", "entities"), preview.entities),
        (counted(preview.relations, "relation"), preview.relations),
    )
    show_row("goes", joined(text for text, count in parts if count))
    if preview.recomputed:
        show_row("stays", f"{preview.recomputed:,} that others support too, weighed anew")
    if copies.inbox or copies.archive:
        files = ((copies.inbox, "in the inbox"), (copies.archive, "in the archive"))
        show_row("files", joined(f"{count:,} {where}" for count, where in files if count))
    if preview.backups:
        show_row("backups", f"{preview.backups:,}, rewritten without it")
    if preview.named_in:
        show_row("note", f"{counted(preview.named_in, 'note')} that name it stay")
    for example in preview.examples:
        show_row("", example)


def _show_end(done: "Forgetting") -> None:
    from cli.terminal import show, warn

    for problem in done.problems:
        warn(f"not erased yet: {problem}; a running daemon tries again")
    if done.unreadable_backups:
        warn(f"removed, since nobody can tell what they held: {done.unreadable_backups} damaged backups")
    if not done.problems:
        show("Forgotten.")


def _json(forgetting: "Forgetting") -> dict[str, Any]:
    return {
        "reach": forgetting.reach.kind,
        "executed": forgetting.is_executed,
        "found": forgetting.is_found,
        "memories": forgetting.memories,
        "documents": forgetting.documents,
        "entities": forgetting.entities,
        "relations": forgetting.relations,
        "recomputed": forgetting.recomputed,
        "named_in": forgetting.named_in,
        "inbox_files": forgetting.copies.inbox,
        "archive_files": forgetting.copies.archive,
        "backups": forgetting.backups,
        "unreadable_backups": forgetting.unreadable_backups,
        "examples": list(forgetting.examples),
        "problems": list(forgetting.problems),
    }
