"""From any earlier shape of the database to this program's."""

import time
import uuid
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import apsw

from graph_memory.adapters.sqlite.connection import exclusive, make_file, open_connection
from graph_memory.adapters.sqlite.errors import translated
from graph_memory.adapters.sqlite.tenants import add_tenant
from graph_memory.domain.errors import StoreMismatch
from graph_memory.domain.principal import LOCAL_TENANT

_APPLICATION = 0x474D656D
"""What marks a file as ours; `schema.sql` sets it."""


class Migration(NamedTuple):
    """A step to `version`; it runs inside a transaction and opens none."""

    version: int
    name: str
    apply: Callable[[apsw.Connection], None]


def _create_tables(connection: apsw.Connection) -> None:
    connection.execute(files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))
    connection.execute("insert into database (id, created_at) values (?, ?)", (uuid.uuid4().hex, _now()))
    add_tenant(connection, LOCAL_TENANT)


MIGRATIONS: Sequence[Migration] = (Migration(1, "tables", _create_tables),)
"""All steps, in order; a step that was released is never changed."""


def migrate(
    connection: apsw.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS, *, deadline: float
) -> int:
    """Bring the database at `path` to the last of `migrations`; return its version.

    Processes that open the file at once wait for the first, which alone migrates. A database that has rows of an
    earlier version is copied beside itself before it is touched.

    Raises:
        StoreMismatch: it is newer than `migrations`, or not a database of this product.
        StoreBusy: another process held it past the deadline.
    """
    newest = migrations[-1].version
    if _version(connection) == newest:
        return newest
    with exclusive(connection):
        version = _version(connection)
        if version > newest:
            raise StoreMismatch(
                f"the database {path.name} is of version {version}, this program knows {newest}: upgrade the program, "
                "or give it another home"
            )
        pending = [migration for migration in migrations if migration.version > version]
        if version and pending:
            _copy_beside(path, version, deadline)
        if not version:
            _create_record(connection, path)
        for migration in pending:
            migration.apply(connection)
            connection.execute(
                "insert into schema_migrations (version, name, applied_at) values (?, ?, ?)",
                (migration.version, migration.name, _now()),
            )
    return newest


def _version(connection: apsw.Connection) -> int:
    """Return the version of the newest step that was taken, 0 for a file without any."""
    try:
        # Asked by a statement: what the driver knows of tables may be older than this transaction.
        if not connection.execute("select count(*) from sqlite_schema where name = 'schema_migrations'").get:
            return 0
        if connection.execute("pragma application_id").get != _APPLICATION:
            return 0
        version: int = connection.execute("select max(version) from schema_migrations").get
    except apsw.Error as error:
        raise translated(error) from error
    return version


def _create_record(connection: apsw.Connection, path: Path) -> None:
    if connection.execute("select count(*) from sqlite_schema").get:
        raise StoreMismatch(f"{path.name} is a database of something else; give this program another file")
    connection.execute(
        "create table schema_migrations (version integer primary key, name text not null, applied_at integer not null)"
        " strict"
    )


def _copy_beside(path: Path, version: int, deadline: float) -> None:
    """Copy the file as it is before a migration; the caller's lock keeps it so."""
    copy = path.with_name(f"{path.name}.v{version}.backup")
    copy.unlink(missing_ok=True)
    make_file(copy)
    source = open_connection(path, deadline)
    try:
        target = apsw.Connection(str(copy))
        try:
            with target.backup("main", source, "main") as backup:
                backup.step()
        finally:
            target.close(force=True)
    finally:
        source.close(force=True)


def _now() -> int:
    return time.time_ns() // 1_000
