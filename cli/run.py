"""`graph-memory run` and `mcp`: the two programs that stay."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from mcp_server.catalogue import Family

FAMILIES = ("graph", "memory", "sql")


def run(
    context: typer.Context,
    *,
    since: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="DAYS",
            help="Read sessions back so many days.",
            show_default="first run: as answered, else ingest.since_days, 90",
        ),
    ] = None,
) -> None:
    """Run the daemon in the foreground, until Ctrl-C or SIGTERM.

    It watches, learns, and does its jobs at their times. The first time, on a terminal, it asks how far back to learn.
    A second signal ends it at once. Changed settings are put in force within seconds, by SIGHUP at once. It ends with
    75 where another daemon has the home, and with 78 where the settings or the home folder have to be mended first.
    """
    from cli.first_run import ask_reach
    from daemon.app import run_daemon

    config = place_of(context).load()
    if since is None:
        since = ask_reach(config)
    raise typer.Exit(run_daemon(config, since_days=since))


def mcp(
    context: typer.Context,
    *,
    tools: Annotated[
        str | None,
        typer.Option(
            metavar="FAMILIES", help="Families of tools to list: graph,memory,sql.", show_default="mcp.tools, all"
        ),
    ] = None,
) -> None:
    """Serve the tools to one MCP client over stdin and stdout. Clients start this by themselves."""
    families = None if tools is None else _families(tools)
    from mcp_server.app import run_stdio

    run_stdio(place_of(context).home, families)


def _families(text: str) -> "list[Family]":
    names = list(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    unknown = [name for name in names if name not in FAMILIES]
    if unknown or not names:
        given = ", ".join(unknown) or "nothing"
        raise typer.BadParameter(f"{given} is not among {', '.join(FAMILIES)}", param_hint="--tools")
    return cast("list[Family]", names)
