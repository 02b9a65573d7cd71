"""How the file is opened, and who may use a connection."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import apsw
import pytest

from graph_memory.adapters.sqlite.connection import CACHED_BYTES, Connections, open_connection, patience
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.errors import StoreBusy, StoreMismatch, Unavailable
from tests.contract.samples import ANY_ENTITY, entity
from tests.contract.stores import caller

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.stores import Caller


def test_the_files_are_their_owners_alone(path: Path, alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a")]))
    modes = {part.name: part.stat().st_mode & 0o777 for part in path.parent.iterdir()}
    assert modes == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    SqliteStore(path).close()
    path.chmod(0o644)
    SqliteStore(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.spec("tools.durable.full-sync")
def test_a_connection_waits_for_the_disk_and_keeps_references(path: Path) -> None:
    SqliteStore(path).close()
    connection = open_connection(path)
    settings = {name: connection.execute(f"pragma {name}").get for name in ("journal_mode", "synchronous")}
    assert settings == {"journal_mode": "wal", "synchronous": 2}
    assert connection.execute("pragma foreign_keys").get == 1
    connection.close()


def test_a_busy_file_is_tried_until_the_deadline() -> None:
    wait = patience(0.05)
    began = time.monotonic()
    calls = 0
    while wait(calls):
        calls += 1
    assert calls > 3
    assert time.monotonic() - began >= 0.05
    assert wait(0), "a new wait has a deadline of its own"


def test_a_write_gives_up_at_the_deadline_and_has_written_nothing(path: Path) -> None:
    store = SqliteStore(path, deadline=0.05)
    alice = caller(store, "alice")
    other = open_connection(path)
    other.execute("begin immediate")
    with pytest.raises(StoreBusy):
        alice.write(lambda tx: tx.entities.put([entity("a")]))
    other.execute("rollback")
    other.close()
    assert alice.read(lambda tx: tx.entities.count(ANY_ENTITY)) == 0
    alice.write(lambda tx: tx.entities.put([entity("a")]))
    store.close()


def test_opening_gives_up_at_the_deadline(path: Path) -> None:
    path.parent.mkdir()
    holder = apsw.Connection(str(path))
    holder.execute("begin exclusive; create table held (x)")
    with pytest.raises(StoreBusy):
        SqliteStore(path, deadline=0.05)
    holder.close()


def test_a_file_that_is_no_database_is_named_as_such(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"certainly not a database, but long enough to have a header of its own " * 100)
    with pytest.raises(StoreMismatch, match="damaged or not a database"):
        SqliteStore(path)


def test_a_place_that_can_not_be_opened_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match=r"memory\.db"):
        SqliteStore(tmp_path / "file" / "memory.db")
    with pytest.raises(Unavailable):
        SqliteStore(tmp_path)


def test_two_threads_never_share_a_connection_and_reuse_each_others(path: Path) -> None:
    SqliteStore(path).close()
    connections = Connections(path)
    with connections.lent() as one, connections.lent() as other:
        assert one is not other
        both = {id(one), id(other)}
    with connections.lent() as again:
        assert id(again) in both
    connections.close()


def test_closing_closes_what_is_lent_once_it_comes_back(path: Path) -> None:
    SqliteStore(path).close()
    connections = Connections(path)
    with connections.lent() as lent:
        connections.close()
        assert lent.execute("select 1").get == 1
    with pytest.raises(apsw.ConnectionClosedError):
        lent.execute("select 1")
    with pytest.raises(Unavailable, match="closed"), connections.lent():
        pass


def test_many_threads_read_and_write_at_once(alice: Caller) -> None:
    def work(number: int) -> int:
        alice.write(lambda tx: tx.entities.put([entity(f"e{number}")]))
        return alice.read(lambda tx: tx.entities.count(ANY_ENTITY))

    with ThreadPoolExecutor(12) as pool:
        counts = list(pool.map(work, range(60)))
    assert max(counts) == 60


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_connections_of_its_own(alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a")]))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            alice.write(lambda tx: tx.entities.put([entity("b")]))
            alice.store.close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    alice.write(lambda tx: tx.entities.put([entity("c")]))
    assert alice.read(lambda tx: tx.entities.count(ANY_ENTITY)) == 3


def test_the_caches_of_all_connections_have_a_bound_together(path: Path) -> None:
    SqliteStore(path).close()
    connections = [open_connection(path) for _ in range(6)]
    assert apsw.soft_heap_limit(-1) == CACHED_BYTES
    connections[0].execute("create table filler (text)")
    connections[0].execute(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000) "
        "insert into filler select hex(randomblob(1000)) from n"
    )
    for connection in connections:
        connection.execute("select sum(length(text)) from filler").fetchall()
    assert apsw.memory_used() < 2 * CACHED_BYTES
    for connection in connections:
        connection.close()
