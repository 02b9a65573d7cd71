"""One daemon per home: the lock that says so, and the file in which it tells others how it is doing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from secrets import token_hex

import orjson
from filelock import FileLock, Timeout

from graph_memory.domain.errors import Unavailable
from graph_memory.home import Home

_PATIENCE = 1.0
"""Seconds for which a starting daemon outwaits those who only look whether there is one."""
_MODE = 0o600


class AlreadyRunning(Unavailable):
    """Another daemon has this home; the text says which."""


@dataclass(frozen=True, slots=True)
class DaemonState:
    """How a daemon is doing; instants are ISO-8601, `memory_mb` is resident memory."""

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


@contextmanager
def hold_home(home: Home) -> Iterator[None]:
    """Be the one daemon of a home for as long as this lasts; the system lets go of it where the process dies.

    Raises:
        AlreadyRunning: another daemon is.
    """
    lock = FileLock(home.lock, timeout=_PATIENCE, mode=_MODE)
    try:
        lock.acquire()
    except Timeout:
        raise AlreadyRunning(f"another daemon{_described(home)} already has {home.path}; stop it first") from None
    try:
        yield
    finally:
        with suppress(OSError):
            _state_file(home).unlink(missing_ok=True)
        lock.release()


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


def write_state(home: Home, state: DaemonState) -> None:
    """Tell others how this daemon is doing; a reader sees the old state or the new one, whole."""
    path = _state_file(home)
    beside = path.with_name(f".{path.name}.{token_hex(4)}.tmp")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(asdict(state), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def find_state(home: Home) -> DaemonState | None:
    """Return what the daemon last told of itself; `None` where there is nothing or it can't be read."""
    try:
        written = orjson.loads(_state_file(home).read_bytes())
        known = {it.name for it in fields(DaemonState)}
        given = {name: value for name, value in written.items() if name in known}
        return DaemonState(**{**given, "problems": tuple(given.get("problems", ()))})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _state_file(home: Home) -> Path:
    return home.path / "daemon.json"


def _described(home: Home) -> str:
    state = find_state(home)
    return "" if state is None else f" (process {state.pid}, since {state.started_at})"
