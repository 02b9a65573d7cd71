"""Looking at a database file without bringing it to this program's shape, and without end where it is large."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from graph_memory.adapters.sqlite.connection import patience
from graph_memory.adapters.sqlite.errors import translated
from graph_memory.adapters.sqlite.migrations import MIGRATIONS
from graph_memory.adapters.sqlite.tenants import indexes_out_of_step

_STEPS = 20_000
"""Virtual machine steps between two looks at the clock: about a millisecond."""
_BUSY_SECONDS = 5.0
_MOST = 20


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a database is and what is wrong with it; `is_complete` is false where the time did not do for all of it.

    `newest_version` is the schema that this program knows.
    """

    database_id: str
    schema_version: int
    newest_version: int
    engine_version: str
    problems: tuple[str, ...]
    is_complete: bool


def inspect(path: Path, *, seconds: float) -> Inspection:
    """Look at a database: its pages first, then indexes, references and text, until `seconds` have passed.

    Raises:
        StoreMismatch: it is no database of this product, or too damaged to be asked.
        Unavailable: it can't be opened or read.
    """
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error as error:
        raise translated(error) from error
    try:
        connection.set_busy_handler(patience(_BUSY_SECONDS))
        database_id = str(connection.execute("select id from database").get)
        version = int(connection.execute("select max(version) from schema_migrations").get or 0)
        newest = MIGRATIONS[-1].version
        problems, is_complete = _problems(connection, seconds)
    except apsw.Error as error:
        raise translated(error) from error
    finally:
        connection.close(force=True)
    return Inspection(database_id, version, newest, apsw.sqlite_lib_version(), problems, is_complete)


def _problems(connection: apsw.Connection, seconds: float) -> tuple[tuple[str, ...], bool]:
    found: list[str] = []
    try:
        with _interrupted(connection, seconds):
            for check in ("quick_check", "integrity_check"):
                found += [str(text) for (text,) in connection.execute(f"pragma {check}({_MOST})") if text != "ok"]
                if found:
                    return tuple(found), True
            orphans = connection.execute("pragma foreign_key_check").fetchall()
            found += [f"row {row} of {table} refers to nothing" for table, row, *_ in orphans[:_MOST]]
            names = indexes_out_of_step(connection)
            found += [f"the text index {name} is not what the memories say" for name in names]
    except apsw.InterruptError:
        return tuple(found), False
    except apsw.CorruptError as error:
        found.append(str(error))
    except (apsw.ReadOnlyError, apsw.BusyError):
        return tuple(found), False  # the text indexes are checked by a write that changes nothing
    return tuple(found), True


@contextmanager
def _interrupted(connection: apsw.Connection, seconds: float) -> Iterator[None]:
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() >= until, _STEPS)
    try:
        yield
    finally:
        connection.set_progress_handler(None)
