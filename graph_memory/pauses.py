"""Whether learning is paused: a file in the home says so, and every daemon obeys it, now running or started later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import orjson

from graph_memory.domain.instants import parse_instant, to_wire
from graph_memory.whole_files import put_file

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.home import Home


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of learning; without `until` it lasts until somebody resumes, without `since` nobody knows any more."""

    since: datetime | None
    until: datetime | None = None

    def has_ended(self, now: datetime) -> bool:
        """Tell whether it is over by itself."""
        return self.until is not None and self.until <= now


def pause_file(home: Home) -> Path:
    """Return the file that is there while learning is paused."""
    return home.path / "paused.json"


def find_pause(home: Home, now: datetime) -> Pause | None:
    """Return the pause that is on; a file that can't be understood is one without an end: somebody asked for it."""
    pause = find_last_pause(home)
    return None if pause is None or pause.has_ended(now) else pause


def pause_words(pause: Pause) -> str:
    """Say that learning is paused, as one of the parts that are degraded."""
    end = "" if pause.until is None else f" until {pause.until.astimezone():%Y-%m-%d %H:%M}"
    return f"learning: paused{end}; `graph-memory resume` ends it"


def find_last_pause(home: Home) -> Pause | None:
    """Return the pause that nobody has ended by hand yet, also where it is over by itself."""
    try:
        written = orjson.loads(pause_file(home).read_bytes())
        since, until = written["since"], written.get("until")
        return Pause(
            parse_instant(since, argument="since").at,
            None if until is None else parse_instant(until, argument="until").at,
        )
    except FileNotFoundError:
        return None
    except Exception:  # noqa: BLE001 - whatever is wrong with it, learning what somebody may not want is worse
        return Pause(None)


def put_pause(home: Home, pause: Pause) -> None:
    """Begin a pause, or have the one that is on end at another time; durable when this returns.

    Raises:
        OSError: the home can't be written.
    """
    written = {
        "since": None if pause.since is None else to_wire(pause.since),
        "until": None if pause.until is None else to_wire(pause.until),
    }
    put_file(pause_file(home), orjson.dumps(written, option=orjson.OPT_APPEND_NEWLINE))


def delete_pause(home: Home) -> int:
    """End the pause; return how many there were.

    Raises:
        OSError: the home can't be written.
    """
    try:
        pause_file(home).unlink()
    except FileNotFoundError:
        return 0
    return 1
