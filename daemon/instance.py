"""One daemon per home: the lock that says so, and the file that names who holds it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from secrets import token_hex

import orjson
from filelock import FileLock, Timeout

from graph_memory.domain.errors import ConfigError, Unavailable
from graph_memory.home import Home
from graph_memory.presence import DaemonState, Holder, find_holder, find_state, is_held

__all__ = ["AlreadyRunning", "DaemonState", "find_holder", "find_state", "hold_home", "is_held", "write_holder"]

_PATIENCE = 1.0
"""Seconds for which a starting daemon outwaits those who only look whether there is one."""
_MODE = 0o600


class AlreadyRunning(Unavailable):
    """Another daemon has this home; the text says which."""


@contextmanager
def hold_home(home: Home) -> Iterator[None]:
    """Be the one daemon of a home for as long as this lasts; the system lets go of it where the process dies.

    Raises:
        AlreadyRunning: another daemon is.
        ConfigError: the home can't be written.
    """
    lock = FileLock(home.lock, timeout=_PATIENCE, mode=_MODE)
    try:
        lock.acquire()
    except Timeout:
        raise AlreadyRunning(f"another daemon{_described(home)} already has {home.path}; stop it first") from None
    except OSError as error:
        raise ConfigError(f"{home.lock} can't be written: {error.strerror}; `graph-memory doctor` says more") from error
    try:
        yield
    finally:
        with suppress(OSError):
            home.daemon_state.unlink(missing_ok=True)
        lock.release()


def write_holder(home: Home, holder: Holder) -> None:
    """Write down who has the home, once it does; a reader sees the last one or this one, whole.

    Raises:
        OSError: the file can't be written.
    """
    path = home.daemon_state
    beside = path.with_name(f".{path.name}.{token_hex(4)}.tmp")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(asdict(holder), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _described(home: Home) -> str:
    holder = find_holder(home)
    return "" if holder is None else f" (process {holder.pid}, since {holder.started_at})"
