"""Upgrades: a copy before, nothing half done, and no process that writes into tables that it does not know."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.sqlite import upgrade_copies
from graph_memory.adapters.sqlite.connection import open_connection
from graph_memory.adapters.sqlite.migrations import MIGRATIONS, Migration, migrate
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.errors import StoreChanged, StoreMismatch, Unavailable
from tests.contract.samples import ANY_ENTITY, entity
from tests.contract.stores import caller

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import apsw

    from graph_memory.ports.store import Store

NOW = MIGRATIONS[-1].version


def step(version: int, apply: Callable[[apsw.Connection], None]) -> Migration:
    return Migration(version, "a step of tests", apply)


def drop_merges(connection: apsw.Connection) -> None:
    connection.execute("drop table merges")


def upgraded(path: Path, *more: Migration) -> SqliteStore:
    """Open a file with a program that is newer by these steps."""
    return SqliteStore(path, migrations=(*MIGRATIONS, *more))


@pytest.fixture
def used(path: Path) -> Path:
    """A database with one entity, closed."""
    store = SqliteStore(path)
    put(store, "a")
    store.close()
    return path


def put(store: Store, name: str) -> None:
    caller(store, "alice").write(lambda tx: tx.entities.put([entity(name)]))


def count(store: Store) -> int:
    return caller(store, "alice").read(lambda tx: tx.entities.count(ANY_ENTITY))


def copies(path: Path) -> list[str]:
    return sorted(it.name for it in path.parent.iterdir() if ".backup" in it.name)


@pytest.mark.spec("upgrade.copy")
def test_an_upgrade_says_from_where_it_came_and_what_copy_it_made(used: Path) -> None:
    store = upgraded(used, step(NOW + 1, drop_merges))
    assert store.migrated.before == NOW
    assert store.migrated.copy is not None
    assert store.migrated.copy.name in copies(used)
    assert store.migrated.copy.name.startswith(f"memory.db.v{NOW}-20")
    assert count(store) == 1
    store.close()
    again = upgraded(used, step(NOW + 1, drop_merges))
    assert (again.migrated.before, again.migrated.copy) == (None, None)
    again.close()


@pytest.mark.spec("upgrade.copy")
def test_the_copy_in_place_of_the_database_is_the_way_back(used: Path) -> None:
    upgraded(used, step(NOW + 1, drop_merges)).close()
    with pytest.raises(StoreMismatch, match=rf"of version {NOW + 1}, this program knows {NOW}.*{used.name}\.v{NOW}-"):
        SqliteStore(used)
    (copy,) = used.parent.glob("*.backup")
    copy.replace(used)
    store = SqliteStore(used)
    assert count(store) == 1
    assert store.integrity_problems() == ()
    store.close()


def test_the_copy_holds_what_stood_in_the_write_ahead_log_alone(path: Path) -> None:
    store = SqliteStore(path)
    put(store, "a")
    assert path.with_name("memory.db-wal").stat().st_size > 0
    newer = upgraded(path, step(NOW + 1, drop_merges))
    assert newer.migrated.copy is not None
    back = SqliteStore(newer.migrated.copy)
    assert count(back) == 1
    for one in (store, newer, back):
        one.close()


@pytest.mark.spec("upgrade.copy")
def test_the_last_copies_are_kept_and_no_more(used: Path) -> None:
    steps = []
    for number in range(1, upgrade_copies.KEPT + 3):
        steps.append(step(NOW + number, lambda _: None))
        store = upgraded(used, *steps)
        assert store.migrated.copy is not None
        os.utime(store.migrated.copy, (number, number))
        store.close()
    versions = sorted(int(it.split(".v")[1].split("-")[0]) for it in copies(used))
    assert versions == [NOW + 2, NOW + 3, NOW + 4]


@pytest.mark.spec("upgrade.copy")
def test_without_a_whole_copy_nothing_is_upgraded(used: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = upgrade_copies._copy

    def spoiled(path: Path, partial: Path, deadline: float) -> None:
        copied(path, partial, deadline)
        with partial.open("r+b") as file:
            file.seek(4_096)
            file.write(os.urandom(4_096 * 3))

    monkeypatch.setattr(upgrade_copies, "_copy", spoiled)
    with pytest.raises(Unavailable, match="not upgraded"):
        upgraded(used, step(NOW + 1, drop_merges))
    assert copies(used) == []
    store = SqliteStore(used)
    assert count(store) == 1
    store.close()


def test_without_room_for_the_copy_nothing_is_upgraded(used: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(upgrade_copies, "_copy", full)
    with pytest.raises(Unavailable, match=r"not upgraded.*No space left"):
        upgraded(used, step(NOW + 1, drop_merges))
    SqliteStore(used).close()


@pytest.mark.spec("upgrade.all-or-nothing")
def test_a_step_that_the_database_refuses_says_both_versions_and_changes_nothing(used: Path) -> None:
    def refused(connection: apsw.Connection) -> None:
        connection.execute("alter table nothing add column x")

    with pytest.raises(StoreMismatch, match=f"from version {NOW} to {NOW + 2} and is as it was"):
        upgraded(used, step(NOW + 1, drop_merges), step(NOW + 2, refused))
    store = SqliteStore(used)
    assert store.integrity_problems() == ()
    assert count(store) == 1
    store.close()


_KILLED = """
import sys, time
from pathlib import Path
from graph_memory.adapters.sqlite.migrations import MIGRATIONS, Migration
from graph_memory.adapters.sqlite.store import SqliteStore
def apply(connection):
    connection.execute("drop table merges")
    connection.execute("update entities set name = 'half way'")
    print("half way", flush=True)
    time.sleep(60)
SqliteStore(Path(sys.argv[1]), migrations=(*MIGRATIONS, Migration(MIGRATIONS[-1].version + 1, "slow", apply)))
"""


@pytest.mark.spec("upgrade.all-or-nothing")
def test_killed_half_way_through_an_upgrade_the_database_is_as_it_was(used: Path) -> None:
    words = [sys.executable, "-c", _KILLED, str(used)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half way\n"
        process.send_signal(signal.SIGKILL)
    store = SqliteStore(used)
    assert store.integrity_problems() == ()
    assert caller(store, "alice").read(lambda tx: set(tx.entities.find(["a"]))) == {"a"}
    store.close()


@pytest.mark.spec("upgrade.side-by-side")
def test_a_process_that_is_older_than_the_upgraded_database_stores_nothing_and_says_why(used: Path) -> None:
    old = SqliteStore(used)
    new = upgraded(used, step(NOW + 1, drop_merges))
    for use in (lambda: put(old, "b"), lambda: count(old)):
        with pytest.raises(StoreChanged, match=f"version {NOW + 1} now.*knows {NOW}: restart"):
            use()
    assert count(new) == 1
    put(new, "c")
    assert count(new) == 2
    for one in (old, new):
        one.close()


@pytest.mark.spec("upgrade.side-by-side")
def test_a_transaction_under_way_ends_before_the_upgrade(used: Path) -> None:
    """The upgrade waits for the writer, and is seen by the next transaction at the latest."""
    old, seen = SqliteStore(used), []

    def opens_newer() -> None:
        with pytest.raises(Unavailable):
            SqliteStore(used, migrations=(*MIGRATIONS, step(NOW + 1, drop_merges)), deadline=0.2)
        seen.append(True)

    def work(tx: object) -> None:
        opens_newer()

    caller(old, "alice").write(work)
    assert seen
    put(old, "b")
    assert count(old) == 2
    old.close()


@pytest.mark.spec("storage.replaced")
@pytest.mark.parametrize("is_replaced", [True, False])
def test_what_a_process_would_write_into_a_file_that_is_gone_is_refused(
    used: Path, tmp_path: Path, is_replaced: bool
) -> None:
    store = SqliteStore(used)
    put(store, "b")
    used.rename(tmp_path / "aside.db")
    if is_replaced:
        SqliteStore(used).close()
    for use in (lambda: put(store, "c"), lambda: count(store)):
        with pytest.raises(StoreChanged, match=r"replaced or removed.*restart"):
            use()
    assert used.exists() == is_replaced
    store.close()


def test_erasing_traces_takes_the_copies_of_before_too(used: Path) -> None:
    store = upgraded(used, step(NOW + 1, lambda _: None))
    assert len(copies(used)) == 1
    store.erase_traces()
    assert copies(used) == []
    store.close()


def test_a_second_opener_sees_the_first_ones_upgrade(used: Path) -> None:
    connection = open_connection(used)
    migrated = migrate(connection, used, (*MIGRATIONS, step(NOW + 1, drop_merges)), deadline=30)
    assert migrated.version == NOW + 1
    connection.close()
