"""One daemon per home: the lock that says so, and the file that names who holds it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict

import orjson
from filelock import FileLock, Timeout

from graph_memory.domain.errors import ConfigError, Unavailable
from graph_memory.home import Home
from graph_memory.presence import DaemonState, Holder, find_holder, find_state, is_held
from graph_memory.whole_files import put_file

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
    put_file(home.daemon_state, orjson.dumps(asdict(holder), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _described(home: Home) -> str:
    holder = find_holder(home)
    return "" if holder is None else f" (process {holder.pid}, since {holder.started_at})"
