"""The entry point of `graph-memory`: which commands there are, and how they end.

Modules of commands import at their head only what describes the command line; what a command needs it imports when it
runs, so that `--help` and completion are quick.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli import (
    backup,
    config,
    demo,
    doctor,
    exclude,
    forget,
    ingest,
    jobs,
    pause,
    restore,
    run,
    scrub,
    search,
    service,
    status,
    uninstall,
)
from cli.place import Place

app = typer.Typer(
    name="graph-memory",
    help="Remember what coding agents and their people do, and answer from it.",
    epilog=(
        "Exit status: 0 done, 1 found something wrong or could not do it, 2 not understood, 75 busy (try again), "
        "78 settings or home folder to be mended."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("mcp")(run.mcp)
app.command("status")(status.status)
app.command("search")(search.search)
app.command("ingest")(ingest.ingest)
app.command("retry")(ingest.retry)
app.add_typer(jobs.app, name="job")
app.add_typer(exclude.app, name="exclude")
app.command("pause")(pause.pause)
app.command("resume")(pause.resume)
app.command("scrub")(scrub.scrub)
app.command("forget")(forget.forget)
app.command("export")(backup.export)
app.command("import")(backup.import_)
app.command("restore")(restore.restore)
app.add_typer(config.app, name="config")
app.command("doctor")(doctor.doctor)
app.add_typer(service.app, name="service")
app.command("uninstall")(uninstall.uninstall)
app.command("demo")(demo.demo)


def show_version(asked: bool) -> None:
    """Print the version and stop, if it was asked for."""
    if asked:
        from importlib.metadata import version

        typer.echo(version("graph-memory"))
        raise typer.Exit


@app.callback()
def graph_memory(
    context: typer.Context,
    *,
    home: Annotated[
        Path | None,
        typer.Option(help="The home folder to work on.", show_default="GRAPH_MEMORY_HOME, else ~/graph-memory"),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """Say which home the command works on."""
    if home is not None:
        context.ensure_object(Place).home = home.expanduser()


def main() -> None:
    """Run the command line."""
    from graph_memory.home import use_private_umask

    use_private_umask()
    place = Place()
    try:
        app(obj=place)
    except Exception as error:  # noqa: BLE001 - a person gets one line, whatever happened
        sys.exit(_failed(error, place))


def _failed(error: Exception, place: Place) -> int:
    """Say in one line why a command failed; return its exit status."""
    from cli.terminal import complain
    from daemon.exits import Exit, exit_for
    from graph_memory.domain.errors import GraphMemoryError

    if isinstance(error, GraphMemoryError):
        complain(str(error))
        return exit_for(error)
    if isinstance(error, OSError) and error.strerror:
        complain(f"{error.strerror}: {error.filename}" if error.filename else error.strerror)
        return Exit.FAILED
    complain(f"something unexpected happened; {_logged(error, place)}")
    return Exit.FAILED


def _logged(error: Exception, place: Place) -> str:
    """Write an unexpected error into the home's log, or on stderr without a home; say where it is."""
    import io

    from graph_memory.domain.errors import ConfigError
    from graph_memory.log import configure_logging, get_logger

    home = place.load().home
    log = home.logs / "command.log"
    try:
        if home.logs.is_dir():
            configure_logging(file=log, stream=io.StringIO())
            return f"{log} has it as {get_logger('cli').unexpected('command_failed', error)}"
    except ConfigError:
        pass
    configure_logging()
    return f"it is {get_logger('cli').unexpected('command_failed', error)} above"
