"""`graph-memory service`: the daemon as a service of the user's own."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from daemon.service.manager import ServiceManager, ServiceState
    from graph_memory.config import LoadedConfig

app = typer.Typer(
    help="Have the daemon run by itself: a systemd user unit, or a launchd agent on macOS.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
LINES = 50


@app.command("install")
def install(
    context: typer.Context,
    *,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the file that would be written, and change nothing.")
    ] = False,
) -> None:
    """Have the daemon started now and at every login.

    Writes the service's file with the paths of this installation and the settings that the environment holds now.
    Again, it writes what has changed and starts the service anew; without a change it does nothing.
    """
    from cli import terminal
    from daemon.instance import is_held
    from daemon.service.finding import manager_of
    from daemon.service.installation import installation_of
    from graph_memory.domain.errors import Unavailable

    config = place_of(context).load_warning()
    installation = installation_of(config, os.environ)
    manager = manager_of(installation)
    if print_only:
        typer.echo(manager.content(), nl=False)
        return
    config.require_usable_store()
    if is_held(config.home) and not manager.is_active():
        raise Unavailable(
            "a daemon that is no service has this home already; stop it (Ctrl-C where it runs), then try again"
        )
    config.home.ensure()
    done = manager.install()
    terminal.show(f"{'Written' if done.is_changed else 'Unchanged'}: {done.file}")
    terminal.show(
        "The service runs, and is started at every login." if done.is_started else "The service runs already."
    )
    _hint(manager.state(), config)
    if installation.left_out:
        terminal.warn(
            f"not carried over, since a service's file is no place for secrets: {', '.join(installation.left_out)}"
        )


@app.command("uninstall")
def uninstall(context: typer.Context) -> None:
    """Stop the service and remove its file. What was learned, and the settings, stay as they are."""
    from cli import terminal

    manager = _manager(context)
    if manager.uninstall():
        terminal.show(f"Stopped and removed: {manager.file}")
    else:
        terminal.show("There is no service to remove.")


@app.command("status")
def status(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show whether the service is installed and runs. The exit status is 1 where it does not run."""
    from dataclasses import asdict

    from cli import terminal
    from daemon.exits import Exit

    config = place_of(context).load()
    state = _manager(context).state()
    if as_json:
        terminal.show_json({**asdict(state), "file": str(state.file)})
    else:
        _show(state, config)
    raise typer.Exit(Exit.OK if state.is_running else Exit.FAILED)


@app.command("logs")
def logs(
    context: typer.Context,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as lines are added, until Ctrl-C.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="So many of the last lines.")] = LINES,
) -> None:
    """Show what the service said at its start and its end, then the daemon's log."""
    import subprocess

    from cli import terminal
    from graph_memory.domain.errors import NotFound, Unavailable

    log = place_of(context).load().home.daemon_log
    try:
        words = _manager(context).words(lines)
    except Unavailable:
        words = None
    for said in () if words is None else (list(words),):
        subprocess.run(said, check=False)  # noqa: S603 - a fixed command with the service's name
    if not log.is_file():
        raise NotFound(f"there is no {log} yet: no daemon has run")
    terminal.note(f"{log}:")
    tail = ["tail", "-n", str(lines), *(("-F",) if follow else ()), str(log)]
    raise typer.Exit(subprocess.run(tail, check=False).returncode)  # noqa: S603 - as above


def _manager(context: typer.Context) -> "ServiceManager":
    from daemon.service.finding import manager_of
    from daemon.service.installation import installation_of

    return manager_of(installation_of(place_of(context).load(), os.environ))


def _show(state: "ServiceState", config: "LoadedConfig") -> None:
    from cli import terminal

    terminal.show_row("service", state.name)
    if state.is_installed:
        terminal.show_row("file", str(state.file))
        running = f"running, process {state.pid}" if state.is_running and state.pid else state.detail or "not running"
        terminal.show_row("state", running, "green" if state.is_running else "yellow")
        terminal.show_row("at login", "started" if state.is_enabled else "not started")
    else:
        terminal.show_row("state", "not installed: `graph-memory service install`", "yellow")
    _hint(state, config)


def _hint(state: "ServiceState", config: "LoadedConfig") -> None:
    """Say what a person should know of the service."""
    from cli import terminal

    if state.problem:
        terminal.warn(state.problem)
    if state.is_installed and not state.is_current and not state.problem:
        terminal.note("Its file is not what would be written now; `graph-memory service install` writes it anew.")
    if state.stops_at_logout:
        terminal.note("It ends when you log out; `loginctl enable-linger` keeps it running.")
    if config.settings.store.kind == "neo4j" and os.environ.get("NEO4J_PASSWORD"):
        terminal.note(
            f"The service doesn't see NEO4J_PASSWORD of this shell: write it into {config.home.credentials_file}"
        )
