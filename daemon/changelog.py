"""The day's changelog: a line a run, in Markdown, for people; ids and figures alone."""

import os
from collections.abc import Mapping
from datetime import tzinfo

from graph_memory.domain.entities import JsonValue
from graph_memory.domain.ledger import JobRun
from graph_memory.home import Home, write_new


def note_run(home: Home, run: JobRun, zone: tzinfo | None = None) -> None:
    """Append a run that has ended to the changelog of the local day it began on.

    Raises:
        OSError: the file can't be written.
    """
    began = run.started_at.astimezone(zone)
    path = home.changelog(began.date())
    write_new(path, f"# {began.date().isoformat()}\n\n".encode())
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        os.write(descriptor, _line(run, began.strftime("%H:%M:%S")).encode())
    finally:
        os.close(descriptor)


def _line(run: JobRun, time_of_day: str) -> str:
    took = (run.ended_at - run.started_at).total_seconds() if run.ended_at else 0.0
    said = _figures(run.figures)  # and not the error: its text may name what was stored
    return f"- {time_of_day} {run.job} {run.status.value} in {max(took, 0.0):.1f} s{': ' if said else ''}{said}\n"


def _figures(result: Mapping[str, JsonValue]) -> str:
    flat: list[str] = []
    for name, value in result.items():
        if isinstance(value, Mapping):
            flat += [f"{name}.{part} {figure}" for part, figure in value.items()]
        else:
            flat.append(f"{name} {value}")
    return ", ".join(flat)
