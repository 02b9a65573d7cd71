"""Whether a daemon has a home, and what it tells of itself: for everybody who only looks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import orjson
from filelock import FileLock, Timeout

if TYPE_CHECKING:
    from graph_memory.home import Home

_MODE = 0o600


@dataclass(frozen=True, slots=True)
class DaemonState:
    """How a daemon is doing; instants are ISO-8601, `memory_mb` is resident memory.

    `items_last_minute` and `cpu_share`, in cores, are what the backlog took of the machine in the minute before.
    """

    pid: int
    version: str
    started_at: str
    seen_at: str
    activity: str
    backlog: int = 0
    learned: int = 0
    failed: int = 0
    memory_mb: int = 0
    problems: tuple[str, ...] = ()
    items_last_minute: int = 0
    cpu_share: float = 0.0


def is_held(home: Home) -> bool:
    """Tell whether a daemon has this home now; makes nothing."""
    if not home.lock.is_file():
        return False
    lock = FileLock(home.lock, timeout=0, mode=_MODE)
    try:
        lock.acquire()
    except Timeout:
        return True
    lock.release()
    return False


def find_state(home: Home) -> DaemonState | None:
    """Return what the daemon last told of itself; `None` where there is nothing or it can't be read."""
    try:
        written = orjson.loads(home.daemon_state.read_bytes())
        known = {it.name for it in fields(DaemonState)}
        given = {name: value for name, value in written.items() if name in known}
        return DaemonState(**{**given, "problems": tuple(given.get("problems", ()))})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def running_state(home: Home) -> DaemonState | None:
    """Return what the daemon that has this home told of itself; `None` where none runs, or it only begins to."""
    return find_state(home) if is_held(home) else None
