"""From any earlier shape of the database to this program's."""

import time
import uuid
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import apsw

from graph_memory.adapters.sqlite.connection import exclusive, make_file, open_connection, use_write_ahead_log
from graph_memory.adapters.sqlite.errors import translated
from graph_memory.adapters.sqlite.tenants import add_tenant
from graph_memory.domain.errors import StoreMismatch
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
) -> int:
    """Bring the database at `path` to the last of `migrations`; return its version.

    Processes that open the file at once wait for the first, which alone migrates. A database that has rows of an
    earlier version is copied beside itself before it is touched.

    Raises:
        StoreMismatch: it is newer than `migrations`, or not a database of this product.
        StoreBusy: another process held it past the deadline.
    """
    newest = migrations[-1].version
    version = _known_version(connection, path, newest)
    use_write_ahead_log(connection, deadline)
    if version == newest:
        return newest
    with exclusive(connection):
        version = _known_version(connection, path, newest)
        pending = [migration for migration in migrations if migration.version > version]
        if version and pending:
            _copy_beside(path, version, deadline)
        if not version:
            connection.execute(_CREATE_RECORD)
        for migration in pending:
            migration.apply(connection)
            connection.execute(
                "insert into schema_migrations (version, name, applied_at) values (?, ?, ?)",
                (migration.version, migration.name, _now()),
            )
    return newest


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
            "give it another home"
        )
    if names and not is_ours:
        raise StoreMismatch(f"{path.name} is a database of something else; give this program another file")
    return version


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
