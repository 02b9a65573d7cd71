"""The question of the first run: how far back to learn."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from graph_memory.config import LoadedConfig
    from ingest.reach import Survey

ALL_DAYS = 36_500.0
"""What `all` comes to: a century."""
_REASONS = {
    "excluded_project": "of excluded projects",
    "excluded_folder": "in excluded folders",
    "excluded_session": "excluded by themselves",
    "no_memory_file": "in folders with a .no-memory file",
    "own_session": "about this product's own folder",
}


def ask_reach(config: "LoadedConfig") -> float | None:
    """Ask a person how many days back to read, with what that comes to.

    `None` where nobody has to be asked: there is no terminal or nothing to read, the settings say it, a daemon runs
    already, or it was decided before.
    """
    from cli import terminal
    from graph_memory.bootstrap import utc_now
    from graph_memory.presence import is_held
    from ingest.exclusions import Exclusions
    from ingest.reach import survey

    is_decided = "ingest.since_days" in config.sources or is_held(config.home)
    if not terminal.is_interactive() or is_decided or _was_decided(config):
        return None
    exclusions = Exclusions(config.settings.exclude, config.home)
    seen = survey(config.settings.ingest.projects_dirs, exclusions, utc_now())
    if seen.is_empty:
        return None
    default = config.settings.ingest.since_days
    _show(seen)
    while True:
        answer = typer.prompt("How many days back? A number, or `all`", default=f"{default:g}", err=True)
        days = _days(answer)
        if days is not None:
            return days
        terminal.note("A number of days, like 30, 0 for what comes from now on, or `all`.")


def _was_decided(config: "LoadedConfig") -> bool:
    from graph_memory.bootstrap import open_services
    from graph_memory.domain.errors import GraphMemoryError
    from graph_memory.domain.principal import LOCAL_ADMIN
    from ingest.grown_transcripts import has_since

    if not config.home.database.exists():
        return False
    try:
        with open_services(config) as services:
            return has_since(services.store, LOCAL_ADMIN)
    except GraphMemoryError:
        return True  # whoever runs the daemon next is told what is wrong


def _show(seen: "Survey") -> None:
    from cli import terminal

    terminal.note(
        "This is the first run. These sessions of Claude Code can be learned from; nothing leaves this machine:"
    )
    for reach in seen.reaches:
        what = "all" if reach.days is None else f"last {reach.days:g} days"
        count = terminal.counted(reach.transcripts, "session")
        terminal.note(f"  {what:<14}{count:>16}  {terminal.size(reach.size):>8}")
    if seen.excluded:
        total = terminal.counted(sum(seen.excluded.values()), "session")
        parts = ", ".join(f"{count:,} {_REASONS.get(name, name)}" for name, count in sorted(seen.excluded.items()))
        terminal.note(f"Not read: {total} ({parts}).")
    terminal.note("To leave out more: Ctrl-C, then `graph-memory exclude --help`.")


def _days(answer: str) -> float | None:
    text = answer.strip().lower()
    if text == "all":
        return ALL_DAYS
    try:
        days = float(text)
    except ValueError:
        return None
    return days if 0 <= days <= ALL_DAYS else None
