"""`graph-memory status`: how the memory and its daemon are doing, once or as long as somebody looks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from cli.place import Place
    from cli.snapshot import Photographer


def status(
    context: typer.Context,
    *,
    once: Annotated[bool, typer.Option("--once", help="Show it once; so it is done without a terminal.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, once.")] = False,
) -> None:
    """Show how the memory is doing.

    That is: daemon, queue, jobs, what learning takes of the machine, what is degraded, what was learned. On a terminal
    it goes on showing it, until q or Ctrl-C. The exit status is 1 where something needs attention: the daemon doesn't
    run, or a job failed.
    """
    from cli import terminal
    from cli.status_view import show_live, show_once
    from daemon.exits import Exit
    from graph_memory.domain.errors import GraphMemoryError

    try:
        with _photographer(place_of(context)) as photographer:
            if as_json:
                seen = photographer.take()
                terminal.show_json(seen)
            elif once or not terminal.is_watched():
                seen = photographer.take()
                show_once(seen)
            else:
                seen = show_live(photographer.take)
    except GraphMemoryError as error:
        if as_json:
            terminal.show_json({"healthy": False, "troubles": [str(error)]})
        raise
    raise typer.Exit(Exit.OK if seen["healthy"] else Exit.FAILED)


@contextmanager
def _photographer(place: "Place") -> "Iterator[Photographer]":
    """Open the store to look at it; where it can't be opened, the daemon's word has to do, if there is one."""
    from contextlib import ExitStack

    from cli.place import require_memory
    from cli.snapshot import Photographer
    from graph_memory.bootstrap import open_services
    from graph_memory.domain.errors import ConfigError, Unavailable
    from graph_memory.presence import find_state

    config = place.load_warning()
    with ExitStack() as stack:
        try:
            require_memory(config)
            photographer = Photographer(config.home, stack.enter_context(open_services(config)))
        except (ConfigError, Unavailable) as error:
            if find_state(config.home) is None:
                raise
            photographer = Photographer(config.home, None, str(error))
        yield photographer
