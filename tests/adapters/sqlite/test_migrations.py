"""From an earlier database to this program's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import apsw
import pytest

from graph_memory.adapters.sqlite.connection import open_connection
from graph_memory.adapters.sqlite.migrations import MIGRATIONS, Migration, migrate
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.errors import StoreMismatch
from tests.contract.samples import ANY_ENTITY, entity
from tests.contract.stores import caller

if TYPE_CHECKING:
    from pathlib import Path

DEADLINE = 30.0
NEWER = Migration(
    MIGRATIONS[-1].version + 1, "a column", lambda it: _run(it, "alter table merges add column note text")
)


def _run(connection: apsw.Connection, sql: str) -> None:
    connection.execute(sql)


def _migrate(path: Path, *more: Migration) -> int:
    connection = open_connection(path)
    try:
        return migrate(connection, path, (*MIGRATIONS, *more), deadline=DEADLINE).version
    finally:
        connection.close()


def test_versions_rise_by_one() -> None:
    assert [migration.version for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_each_step_is_recorded_once(path: Path) -> None:
    for _ in range(2):
        SqliteStore(path).close()
    connection = open_connection(path)
    recorded = connection.execute("select version, name from schema_migrations").fetchall()
    assert recorded == [(migration.version, migration.name) for migration in MIGRATIONS]
    connection.close()


def test_a_database_newer_than_the_program_is_refused_and_left_alone(path: Path) -> None:
    SqliteStore(path).close()
    assert _migrate(path, NEWER) == NEWER.version
    before = path.read_bytes()
    with pytest.raises(StoreMismatch, match=f"version {NEWER.version}.*upgrade"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_an_older_database_is_copied_before_it_is_migrated(path: Path) -> None:
    store = SqliteStore(path)
    caller(store, "alice").write(lambda tx: tx.entities.put([entity("a")]))
    store.close()
    _migrate(path, NEWER)
    (copy,) = path.parent.glob(f"memory.db.v{MIGRATIONS[-1].version}-*.backup")
    assert copy.stat().st_mode & 0o777 == 0o600
    restored = SqliteStore(copy)
    assert caller(restored, "alice").read(lambda tx: tx.entities.count(ANY_ENTITY)) == 1
    assert restored.identity().schema_version == MIGRATIONS[-1].version
    restored.close()


def test_a_new_database_needs_no_copy(path: Path) -> None:
    SqliteStore(path).close()
    assert [part.name for part in path.parent.iterdir()] == ["memory.db"]


def test_a_step_that_fails_leaves_the_database_as_it_was(path: Path) -> None:
    store = SqliteStore(path)
    caller(store, "alice").write(lambda tx: tx.entities.put([entity("a")]))
    store.close()

    def fail(connection: apsw.Connection) -> None:
        connection.execute("drop table merges")
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        _migrate(path, NEWER, Migration(NEWER.version + 1, "fails", fail))
    store = SqliteStore(path)
    assert store.integrity_problems() == ()
    assert caller(store, "alice").read(lambda tx: tx.entities.count(ANY_ENTITY)) == 1
    store.close()


def test_those_who_open_an_old_file_at_once_migrate_it_once(path: Path) -> None:
    SqliteStore(path).close()
    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(lambda _: _migrate(path, NEWER), range(8)))
    assert versions == [NEWER.version] * 8
    connection = open_connection(path)
    assert connection.execute("select count(*) from schema_migrations").get == len(MIGRATIONS) + 1
    connection.close()


@pytest.mark.parametrize("table", ["people (id)", "schema_migrations (version)"])
def test_a_database_of_something_else_is_refused_and_left_alone(path: Path, table: str) -> None:
    path.parent.mkdir()
    other = apsw.Connection(str(path))
    other.execute(f"create table {table}")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreMismatch, match="something else"):
        SqliteStore(path)
    assert path.read_bytes() == before
