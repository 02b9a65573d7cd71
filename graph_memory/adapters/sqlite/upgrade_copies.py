"""Copies of the database as it was before each upgrade, for whoever wants to go back to an earlier program.

Beside them lies what a restore set aside; both are named after the database and end alike.
"""

import os
import time
from contextlib import closing, suppress
from pathlib import Path

import apsw

from graph_memory.adapters.sqlite.connection import make_file, open_connection
from graph_memory.adapters.sqlite.errors import translated
from graph_memory.domain.errors import Unavailable

KEPT = 3
"""Copies that stay, the newest ones."""
_SUFFIX = ".backup"
_PARTIAL = ".copying"
_PAGES = 4_096


def copy_beside(path: Path, version: int, deadline: float) -> Path:
    """Copy a database before it is migrated; the caller's lock keeps it as it is. Return where the copy is.

    It is durable and was read back whole when this returns, and it is named by its version and the second it was made.

    Raises:
        Unavailable: it can't be written, or is not whole; there is none then.
    """
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime())
    copy = path.with_name(f"{path.name}.v{version}-{stamp}{_SUFFIX}")
    partial = copy.with_name(copy.name + _PARTIAL)
    for left in path.parent.glob(f"{path.name}.v*{_SUFFIX}{_PARTIAL}*"):  # of a process that was killed
        left.unlink(missing_ok=True)
    try:
        _copy(path, partial, deadline)
        _verify(partial, version)
        partial.replace(copy)
        _sync(path.parent)
    except apsw.Error as error:
        raise Unavailable(f"the database is not upgraded, its copy can't be made: {translated(error)}") from error
    except OSError as error:
        raise Unavailable(f"the database is not upgraded, its copy can't be made: {error.strerror}") from error
    finally:
        for part in (partial, *path.parent.glob(f"{partial.name}-*")):
            with suppress(OSError):
                part.unlink(missing_ok=True)
    for old in upgrade_copies(path)[KEPT:]:
        with suppress(OSError):
            old.unlink()
    return copy


def upgrade_copies(path: Path) -> list[Path]:
    """List the copies of a database that upgrades have left, the newest first."""
    found = path.parent.glob(f"{path.name}.v*{_SUFFIX}")
    return sorted(found, key=lambda it: (_made_at(it), it.name), reverse=True)


def all_copies(path: Path) -> list[Path]:
    """List all files beside a database that hold its rows of before, with those that belong to them."""
    return sorted(path.parent.glob(f"{path.name}.*{_SUFFIX}*"))


def set_aside(path: Path) -> Path:
    """Move a database that is damaged away, with its log, so that a new one can be made; return where it is.

    Raises:
        Unavailable: it can't be moved.
    """
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime())
    aside = path.with_name(f"{path.name}.damaged-{stamp}{_SUFFIX}")
    try:
        # The database last: while it is there, nobody takes what is left for a whole one.
        for part in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                path.with_name(path.name + part).replace(aside.with_name(aside.name + part))
        _sync(path.parent)
    except OSError as error:
        raise Unavailable(f"{path.name} can't be moved away: {error.strerror}") from error
    return aside


def _made_at(copy: Path) -> float:
    try:
        return copy.stat().st_mtime
    except OSError:
        return 0.0


def _copy(path: Path, partial: Path, deadline: float) -> None:
    make_file(partial)
    with closing(open_connection(path, deadline)) as source, closing(apsw.Connection(str(partial))) as target:
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(_PAGES)
        target.execute("pragma journal_mode = delete").fetchall()
    descriptor = os.open(partial, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _verify(copy: Path, version: int) -> None:
    with closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        found = [text for (text,) in connection.execute("pragma integrity_check(1)")]
        written = connection.execute("select max(version) from schema_migrations").get
    if found != ["ok"] or written != version:
        raise Unavailable(
            "the database is not upgraded, as a copy of it is not whole: `graph-memory doctor` says what is damaged"
        )


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
