"""The entry point of `graph-memory`."""

from importlib.metadata import version
from typing import Annotated

import typer

app = typer.Typer(name="graph-memory", no_args_is_help=True, add_completion=False)


def show_version(asked: bool) -> None:
    """Print the version and stop, if it was asked for."""
    if asked:
        typer.echo(version("graph-memory"))
        raise typer.Exit


@app.callback()
def graph_memory(
    *,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """Remember what coding agents and their people do, and answer from it."""


def main() -> None:
    """Run the command line."""
    app()
