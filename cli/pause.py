"""`graph-memory pause` and `resume`: a while in which nothing is learned."""

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from graph_memory.config import LoadedConfig
    from graph_memory.pauses import Pause

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_LONGEST = timedelta(days=366)
KEPT_BY_CLIENT = timedelta(days=30)
"""After which time without a change Claude Code deletes a transcript, unless told otherwise."""


def pause(
    context: typer.Context,
    *,
    for_: Annotated[
        str | None,
        typer.Option("--for", metavar="DURATION", help="How long, like 90m, 2h or 1d12h.", show_default="until resume"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Learn nothing for a while.

    Daemons obey at once, the one that runs and any that starts meanwhile; jobs go on at their times. Nothing is lost:
    what happens meanwhile is learned afterwards, unless `resume --skip` ends the pause. What you name yourself
    (`graph-memory ingest`) is learned all the same.
    """
    from cli import terminal
    from graph_memory.bootstrap import utc_now
    from graph_memory.pauses import Pause, find_pause, put_pause

    duration = None if for_ is None else _duration(for_)
    config = place_of(context).load_warning()
    config.home.ensure()
    now = utc_now().replace(microsecond=0)
    known = find_pause(config.home, now)
    since = now if known is None or known.since is None else known.since
    paused = Pause(since, None if duration is None else now + duration)
    put_pause(config.home, paused)
    if as_json:
        terminal.show_json(pause_json(paused))
        return
    end = "until `graph-memory resume`" if paused.until is None else f"until {terminal.local(paused.until)}"
    terminal.show(f"Learning is paused {end}. Jobs go on; what happens meanwhile is learned afterwards.")
    if duration is not None and duration >= KEPT_BY_CLIENT:
        days = KEPT_BY_CLIENT.days
        terminal.warn(f"Claude Code deletes sessions after {days} days; what it deletes meanwhile can't be learned")


def resume(
    context: typer.Context,
    *,
    skip: Annotated[
        bool, typer.Option("--skip", help="Never learn what sessions said during the pause; dropped files are.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Learn again, and also what happened during the pause.

    With `--skip` the time of the pause is added to `exclude.times`, where `graph-memory exclude` shows it.
    """
    from cli import terminal
    from graph_memory.bootstrap import utc_now
    from graph_memory.pauses import delete_pause, find_last_pause

    config = place_of(context).load_warning()
    last = find_last_pause(config.home)
    now = utc_now()
    is_over = last is not None and last.has_ended(now)
    skipped = _skip(config, last) if skip and last is not None and not is_over else None
    delete_pause(config.home)
    if as_json:
        terminal.show_json({"resumed": last is not None and not is_over, "skipped": skipped})
    elif last is None:
        terminal.show("Learning was not paused.")
    elif is_over:
        terminal.show(f"The pause was over by itself at {terminal.local(last.until)}; what was said in it is learned.")
    elif skipped is None:
        terminal.show("Learning goes on, with what happened during the pause.")
    else:
        terminal.show(f"Learning goes on. What sessions said in {skipped} is never learned.")


def pause_json(pause: "Pause | None") -> dict[str, object]:
    """Return a pause as JSON."""
    from graph_memory.domain.instants import to_wire

    since, until = (None, None) if pause is None else (pause.since, pause.until)
    return {
        "paused": pause is not None,
        "since": None if since is None else to_wire(since),
        "until": None if until is None else to_wire(until),
    }


def _duration(text: str) -> timedelta:
    found = _DURATION.fullmatch(text.strip().lower())
    days, hours, minutes, seconds = (int(it or 0) for it in found.groups()) if found else (0, 0, 0, 0)
    try:
        duration = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        duration = timedelta.max
    if not timedelta() < duration <= _LONGEST:
        raise typer.BadParameter("say it like 90m, 2h, 1d12h, a year at most", param_hint="--for")
    return duration


def _skip(config: "LoadedConfig", last: "Pause") -> str:
    """Add the pause to the times that are never learned; return it.

    The exclusion is in the file before the pause is over, so that no daemon can look in between.

    Raises:
        ConfigError: the settings file can't be changed, or the beginning of the pause is not known.
    """
    from cli.exclude import change_exclusions
    from graph_memory.bootstrap import utc_now
    from graph_memory.domain.errors import ConfigError
    from graph_memory.domain.time_spans import TimeSpan

    if last.since is None:
        raise ConfigError("since when learning is paused can't be read; resume without --skip, or exclude a --time")
    span = str(TimeSpan(last.since, utc_now().replace(microsecond=0) + timedelta(seconds=1)))
    change_exclusions(config, {"times": [span]}, is_adding=True)
    return span
