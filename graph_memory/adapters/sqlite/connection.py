"""Connections to one file: how they are opened, and who may use them."""

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from graph_memory.adapters.sqlite.errors import translated
from graph_memory.domain.errors import StoreChanged, Unavailable

DEADLINE = 30.0
"""Seconds that a transaction waits for the file before it gives up."""

CACHED_BYTES = 32 * 1_048_576
"""What all caches of a process together may take before they use their pages again instead of growing.

A process has as many connections as threads that were ever at work at once, and each would fill a cache of its own.
"""
_STATEMENTS = 256
_MAX_IDLE = 8
_SHORTEST_WAIT = 0.0005
_LONGEST_WAIT = 0.0015

_SETTINGS = """
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma temp_store = memory;
    pragma cache_size = -16384;
    pragma trusted_schema = off;
    pragma journal_size_limit = 67108864;
"""

_abandoned: list[apsw.Connection] = []
"""Connections that a parent process goes on using: a child must neither use them nor close them."""


def patience(deadline: float) -> Callable[[int], bool]:
    """Make a busy handler that waits 0.5–1.5 ms at random until `deadline` seconds have passed.

    SQLite's own handler backs off to 100 ms a step, which starves whoever came first for up to a second.
    """
    until = 0.0

    def wait(calls: int) -> bool:
        nonlocal until
        now = time.monotonic()
        if calls == 0:
            until = now + deadline
        if now >= until:
            return False
        time.sleep(random.uniform(_SHORTEST_WAIT, _LONGEST_WAIT))  # noqa: S311 - spreads contenders, hides nothing
        return True

    return wait


def make_file(path: Path) -> None:
    """See that the file is there and is its owner's alone; what SQLite puts beside it gets the same rights.

    A folder that is missing is made for its owner alone.

    Raises:
        Unavailable: it can't be made.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        for part in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))):
            with suppress(FileNotFoundError):
                if part.stat().st_mode & 0o077:
                    part.chmod(0o600)
    except OSError as error:
        raise Unavailable(f"the database file {path.name} can't be opened: {error.strerror}") from error


def open_connection(path: Path, deadline: float = DEADLINE) -> apsw.Connection:
    """Open a file with the settings of this store.

    Raises:
        StoreBusy: others held it for longer than `deadline` seconds.
        StoreMismatch: it is no database.
        Unavailable: it can't be opened.
    """
    try:
        apsw.soft_heap_limit(CACHED_BYTES)
        connection = apsw.Connection(str(path), statementcachesize=_STATEMENTS)
    except apsw.Error as error:
        raise translated(error) from error
    try:
        # Before any statement: even the first one may meet a busy file.
        connection.set_busy_handler(patience(deadline))
        connection.execute(_SETTINGS)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    except apsw.Error as error:
        connection.close(force=True)
        raise translated(error) from error
    return connection


def use_write_ahead_log(connection: apsw.Connection, deadline: float = DEADLINE) -> None:
    """Switch a file to the write-ahead log for good.

    Raises:
        StoreBusy: others held it for longer than `deadline` seconds.
    """
    until = time.monotonic() + deadline
    while True:
        try:
            connection.execute("pragma journal_mode = wal").fetchall()
        except apsw.BusyError as error:
            # To avoid a deadlock SQLite may report a busy file here without asking the handler.
            if time.monotonic() >= until:
                raise translated(error) from error
            time.sleep(_LONGEST_WAIT)
        except apsw.Error as error:
            raise translated(error) from error
        else:
            return


class Connections:
    """Connections to one file, lent to one thread at a time.

    A connection that comes back is kept for whoever asks next, so there are as many as threads at work at once. After
    a fork the child opens its own. The file is the one that was there at first: one that was put in its place is for
    those who open it anew, since what is written to the old one is lost.

    Raises:
        Unavailable: there is no such file.
    """

    def __init__(self, path: Path, deadline: float = DEADLINE) -> None:
        self._path = path
        self._file = _file_at(path)
        if self._file is None:
            raise Unavailable(f"there is no database file {path.name}")
        self._deadline = deadline
        self._is_closed = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []

    @contextmanager
    def lent(self) -> Iterator[apsw.Connection]:
        """Lend a connection outside any transaction.

        Raises:
            StoreChanged: the file was replaced or removed.
            Unavailable: the store is closed, or the file can't be opened.
        """
        if _file_at(self._path) != self._file:
            raise StoreChanged(
                f"the database file {self._path.name} was replaced or removed while this process had it open: restart "
                "it; nothing was stored"
            )
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Close what is idle now, and what is lent once it comes back; safe to call again."""
        self._is_closed = True
        if self._process != os.getpid():
            return
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close(force=True)

    def _take(self) -> apsw.Connection:
        if self._is_closed:
            raise Unavailable("the store is closed")
        if self._process != os.getpid():
            _abandoned.extend(self._idle)
            self._begin()
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return open_connection(self._path, self._deadline)

    def _give_back(self, connection: apsw.Connection) -> None:
        if self._process != os.getpid():
            _abandoned.append(connection)
            return
        with self._lock:
            if not self._is_closed and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close(force=True)


def _file_at(path: Path) -> tuple[int, int] | None:
    """Return which file is there, `None` where there is none.

    Raises:
        Unavailable: that can't be known now, such as while its folder is closed to this user.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - twice as fast, and with every transaction
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unavailable(f"the database file {path.name} can't be reached: {error.strerror}") from error
    return status.st_dev, status.st_ino


@contextmanager
def exclusive(connection: apsw.Connection) -> Iterator[None]:
    """Hold the only write transaction of the file; commit at the end, roll back on any exception.

    Raises:
        StoreBusy: another process held the file past the deadline.
    """
    try:
        connection.execute("begin immediate")
    except apsw.Error as error:
        raise translated(error) from error
    try:
        yield
        connection.execute("commit")
    except BaseException as error:
        roll_back(connection)
        if isinstance(error, apsw.Error):
            raise translated(error) from error
        raise


def roll_back(connection: apsw.Connection) -> None:
    """End a transaction without a trace; a failure to do so is nobody's news, as the file does it at the next open."""
    if connection.in_transaction:
        with suppress(apsw.Error):
            connection.execute("rollback")
