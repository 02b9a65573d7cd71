"""`graph-memory config`: the settings in force."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graph_memory.config import ConfigProblem

app = typer.Typer(help="Look at the settings in force.", no_args_is_help=True, rich_markup_mode=None)


@app.command("show")
def show(
    context: typer.Context,
    *,
    changed: Annotated[bool, typer.Option("--changed", help="Only what differs from the defaults.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print every setting with its value and where it comes from. Secrets are never shown."""
    import orjson

    from cli import terminal
    from graph_memory.config import describe_config

    loaded = place_of(context).load()
    described = describe_config(loaded)
    settings = described["settings"]
    if changed:
        settings = {name: it for name, it in settings.items() if it["source"] != "default"}
    if as_json:
        terminal.show_json({**described, "settings": settings})
        return
    terminal.show_row("home", described["home"])
    for name, it in settings.items():
        source = "" if it["source"] == "default" else f"   ({it['source']})"
        terminal.show(f"{name} = {orjson.dumps(it['value']).decode()}{source}", "bold" if source else "")
    for name, said in described["credentials"].items():
        terminal.show(f"{name}: {said}")
    _report(loaded.problems)


@app.command("check")
def check(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what in the settings was not taken as it was written.

    The exit status is 1 if there is anything.
    """
    from cli import terminal
    from daemon.exits import Exit
    from graph_memory.config import describe_config
    from graph_memory.domain.errors import ConfigError

    loaded = place_of(context).load()
    fatal = None
    try:
        loaded.require_usable_store()
    except ConfigError as error:
        fatal = str(error)
    if as_json:
        terminal.show_json({"problems": describe_config(loaded)["problems"], "fatal": fatal})
    else:
        _report(loaded.problems)
        if fatal is not None:
            terminal.complain(fatal)
        elif not loaded.problems:
            terminal.show("The settings are in order.")
    raise typer.Exit(Exit.CONFIG if fatal else Exit.FAILED if loaded.problems else Exit.OK)


@app.command("path")
def path(context: typer.Context) -> None:
    """Print where the settings file is, or would be."""
    from cli import terminal

    terminal.show(str(place_of(context).load().home.config_file))


def _report(problems: "Iterable[ConfigProblem]") -> None:
    from cli import terminal

    for problem in problems:
        terminal.warn(str(problem))
