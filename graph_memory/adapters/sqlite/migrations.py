"""From any earlier shape of the database to this program's."""

import time
import uuid
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import apsw

from graph_memory.adapters.sqlite.connection import exclusive, use_write_ahead_log
from graph_memory.adapters.sqlite.errors import translated
from graph_memory.adapters.sqlite.tenants import add_tenant
from graph_memory.adapters.sqlite.upgrade_copies import copy_beside
from graph_memory.domain.errors import Conflict, StoreChanged, StoreMismatch
from graph_memory.domain.principal import LOCAL_TENANT

_APPLICATION = 0x474D656D
"""What marks a file as ours; `schema.sql` sets it."""


_VERSION = "select max(version) from schema_migrations"
_CREATE_RECORD = """
    create table schema_migrations (
        version integer primary key, name text not null, applied_at integer not null
    ) strict
"""


class Migration(NamedTuple):
    """A step to `version`; it runs inside a transaction and opens none."""

    version: int
    name: str
    apply: Callable[[apsw.Connection], None]


class Migrated(NamedTuple):
    """What `migrate` found: the version there is now; the one before and the copy made of it, where it was older."""

    version: int
    before: int | None = None
    copy: Path | None = None


def _create_tables(connection: apsw.Connection) -> None:
    connection.execute(files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))
    connection.execute("insert into database (id, created_at) values (?, ?)", (uuid.uuid4().hex, _now()))
    add_tenant(connection, LOCAL_TENANT)


def _keep_stated_properties(connection: apsw.Connection) -> None:
    for table in ("entity_evidence", "relation_evidence"):
        connection.execute(f"alter table {table} add column properties text")


MIGRATIONS: Sequence[Migration] = (
    Migration(1, "tables", _create_tables),
    Migration(2, "properties of evidence", _keep_stated_properties),
)
"""All steps, in order; a step that was released is never changed."""


def migrate(
    connection: apsw.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS, *, deadline: float
) -> Migrated:
    """Bring the database at `path` to the last of `migrations`.

    Processes that open the file at once wait for the first, which alone migrates, in one transaction: one that fails or
    dies leaves the database as it was. A database of an earlier version is copied beside itself before it is touched.

    Raises:
        StoreMismatch: it is newer than `migrations`, not a database of this product, or could not be brought there.
        StoreBusy: another process held it past the deadline.
        Unavailable: there is no room for the copy, or the copy is not whole.
    """
    newest = migrations[-1].version
    version = _known_version(connection, path, newest)
    use_write_ahead_log(connection, deadline)
    if version == newest:
        return Migrated(newest)
    copy = None
    with exclusive(connection):
        version = _known_version(connection, path, newest)
        if version == newest:
            return Migrated(newest)
        if version:
            copy = copy_beside(path, version, deadline)
        else:
            connection.execute(_CREATE_RECORD)
        try:
            _apply(connection, [it for it in migrations if it.version > version])
        except apsw.Error as error:
            raise _failure(error, path, version, newest) from error
    return Migrated(newest, version or None, copy)


def require_version(connection: apsw.Connection, version: int) -> None:
    """See, inside a transaction, that the database still has the tables of `version`; about a microsecond.

    Raises:
        StoreChanged: it has not.
    """
    found = connection.execute(_VERSION).get
    if found != version:
        raise StoreChanged(
            f"the database is of version {found} now and this process, which is older, knows {version}: restart it; "
            "nothing was stored"
        )


def _apply(connection: apsw.Connection, migrations: Sequence[Migration]) -> None:
    for migration in migrations:
        migration.apply(connection)
        connection.execute(
            "insert into schema_migrations (version, name, applied_at) values (?, ?, ?)",
            (migration.version, migration.name, _now()),
        )


def _failure(error: apsw.Error, path: Path, version: int, newest: int) -> Exception:
    """Say what became of an upgrade that the database refused; what the disk refused says so itself."""
    ours = translated(error)
    if not version or not isinstance(ours, StoreMismatch | Conflict):
        return ours
    return StoreMismatch(
        f"{path.name} could not be upgraded from version {version} to {newest} and is as it was: {error}"
    )


def _known_version(connection: apsw.Connection, path: Path, newest: int) -> int:
    """Return the version of the newest step that was taken, 0 for an empty file.

    Raises:
        StoreMismatch: this program does not know it; the file is as it was.
    """
    try:
        # One view for all questions, or the first process to make the tables would look like somebody else.
        with connection:
            names = {name for (name,) in connection.execute("select name from sqlite_schema")}
            is_ours = "schema_migrations" in names and connection.execute("pragma application_id").get == _APPLICATION
            version = int(connection.execute(_VERSION).get) if is_ours else 0
    except apsw.Error as error:
        raise translated(error) from error
    if version > newest:
        raise StoreMismatch(
            f"the database {path.name} is of version {version}, this program knows {newest}: upgrade the program, or "
            f"put the copy of before the upgrade, {path.name}.v{newest}-….backup, in its place"
        )
    if names and not is_ours:
        raise StoreMismatch(f"{path.name} is a database of something else; give this program another file")
    return version


def _now() -> int:
    return time.time_ns() // 1_000
