"""`graph-memory uninstall`: take back what this product put on the machine."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from graph_memory.config import LoadedConfig


def uninstall(
    context: typer.Context,
    *,
    purge: Annotated[
        bool, typer.Option("--purge", help="Delete what was learned, too: the whole home folder.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Stop and remove the service and the settings, and say what is left to do.

    What was learned stays where it is, unless --purge says otherwise. Transcripts are Claude Code's and are never
    touched.
    """
    from cli import terminal
    from cli.removal import refuse_foreign, settings_files
    from daemon.exits import Exit
    from daemon.instance import is_held
    from graph_memory.domain.errors import Unavailable

    config = place_of(context).load()
    home = config.home
    is_there = os.path.lexists(home.path)
    if purge and is_there:
        refuse_foreign(home)
    files = list(settings_files(home)) if is_there else []
    if not yes and not _agrees(config, purge=purge and is_there, settings=[it.name for it in files]):
        terminal.note("Nothing was changed.")
        raise typer.Exit(Exit.FAILED)
    _remove_service(context)
    if purge and is_there:
        if is_held(home):
            raise Unavailable(f"a daemon still has {home.path}; stop it (Ctrl-C where it runs), then try again")
        _purge(config)
    else:
        for file in files:
            file.unlink()
            terminal.show(f"Removed: {file}")
        if is_there:
            terminal.show(f"What was learned stays in {home.path}; `graph-memory uninstall --purge` deletes it.")
    _say_what_is_left()


def _agrees(config: "LoadedConfig", *, purge: bool, settings: list[str]) -> bool:
    """Ask whether to go on; without a terminal only --yes does."""
    from cli import terminal
    from cli.removal import size_of

    home = config.home.path
    if purge:
        question = (
            f"Delete {home} with all that was learned ({terminal.size(size_of(config.home))}), its backups and its "
            "archive? Nothing brings that back."
        )
    elif settings:
        question = f"Remove the service, and {' and '.join(settings)} in {home}? What was learned stays."
    else:
        question = "Remove the service? What was learned stays."
    if not terminal.is_interactive():
        raise typer.BadParameter(f"there is nobody to ask: {question} Say --yes.", param_hint="--yes")
    return typer.confirm(question, err=True)


def _remove_service(context: typer.Context) -> None:
    from cli import terminal
    from daemon.service.finding import manager_of
    from daemon.service.installation import installation_of
    from graph_memory.domain.errors import ConfigError, Unavailable

    try:
        manager = manager_of(installation_of(place_of(context).load(), os.environ))
        removed = manager.uninstall()
    except (ConfigError, Unavailable) as error:
        terminal.note(f"No service was looked for: {error}")
        return
    terminal.show(f"Service stopped and removed: {manager.file}" if removed else "There was no service.")


def _purge(config: "LoadedConfig") -> None:
    from cli import terminal
    from cli.removal import remove_home

    removed = remove_home(config.home)
    terminal.show(f"Deleted: {config.home.path} ({terminal.size(removed.size)})")
    for path in removed.left:
        terminal.warn(f"left, since this product did not put it there: {path}")
    if config.settings.store.kind == "neo4j":
        terminal.note("The memory itself is in Neo4j and was not touched.")


def _say_what_is_left() -> None:
    from cli import terminal
    from cli.registrations import find_registrations

    found = find_registrations(os.environ)
    for name in found:
        terminal.show(f"Claude Code still starts it for its clients; remove that: claude mcp remove {name}")
    if not found:
        terminal.show("Where an MCP client starts it, remove that too; for Claude Code: claude mcp remove graph-memory")
    terminal.show(
        "Clients that run now end it when they end. The program itself goes the way it came, such as by "
        "`pipx uninstall graph-memory`."
    )
