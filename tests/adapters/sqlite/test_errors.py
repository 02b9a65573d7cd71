"""What the driver raises, in our words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from graph_memory.adapters.sqlite.connection import open_connection
from graph_memory.adapters.sqlite.errors import translated
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.errors import (
    Conflict,
    GraphMemoryError,
    InvalidRequest,
    QueryTimeout,
    StoreBusy,
    StoreDamaged,
    StoreMismatch,
    Unavailable,
)
from tests.contract.samples import entity, memory
from tests.contract.stores import caller

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.stores import Caller


@pytest.mark.parametrize(
    ("theirs", "ours", "words"),
    [
        (apsw.BusyError, StoreBusy, "another process"),
        (apsw.LockedError, StoreBusy, "another process"),
        (apsw.ConstraintError, Conflict, "can't both hold"),
        (apsw.CorruptError, StoreDamaged, "damaged"),
        (apsw.NotADBError, StoreDamaged, "not a database"),
        (apsw.FullError, Unavailable, "disk is full"),
        (apsw.ReadOnlyError, Unavailable, "can't be written"),
        (apsw.CantOpenError, Unavailable, "can't be opened"),
        (apsw.NoMemError, Unavailable, "memory"),
        (apsw.IOError, Unavailable, "disk"),
        (apsw.InterruptError, QueryTimeout, "stopped"),
        (apsw.TooBigError, InvalidRequest, "longer"),
        (apsw.ConnectionClosedError, Unavailable, "closed"),
        (apsw.SQLError, StoreMismatch, "lacks"),
        (apsw.MisuseError, Unavailable, "MisuseError"),
        (OverflowError, InvalidRequest, "too large"),
    ],
)
def test_each_error_has_its_words(theirs: type[Exception], ours: type[GraphMemoryError], words: str) -> None:
    error = translated(theirs("the driver's words"))
    assert type(error) is ours
    assert words in str(error)


def test_a_lone_surrogate_is_refused_and_nothing_is_stored(alice: Caller) -> None:
    for bad in (entity("a", source_file="\ud800"), entity("a", properties={"x": "\ud800"})):
        with pytest.raises(InvalidRequest):
            alice.write(lambda tx, bad=bad: tx.entities.put([entity("b"), bad]))  # type: ignore[misc]
    with pytest.raises(InvalidRequest):
        alice.write(lambda tx: tx.memories.add([memory("a", content="\udfff")]))
    assert alice.read(lambda tx: tx.entities.find(["a", "b"])) == {}


def test_a_number_beyond_64_bits_is_refused(alice: Caller) -> None:
    with pytest.raises(InvalidRequest, match="too large"):
        alice.write(lambda tx: tx.entities.put([entity("a", mention_count=2**63)]))


def test_a_damaged_file_is_named_as_such(path: Path) -> None:
    store = SqliteStore(path)
    alice = caller(store, "alice")
    alice.write(lambda tx: tx.entities.put([entity(f"e{number}", source_file="x" * 500) for number in range(200)]))
    store.checkpoint()
    store.close()
    with path.open("r+b") as file:
        file.seek(8 * 4096)
        file.write(b"\xff" * (path.stat().st_size - 8 * 4096))
    with pytest.raises(StoreMismatch, match="damaged"):
        caller(SqliteStore(path), "alice").read(lambda tx: tx.entities.find([f"e{number}" for number in range(200)]))


def test_a_table_that_is_gone_is_named_as_such(path: Path, alice: Caller) -> None:
    other = open_connection(path)
    other.execute("drop table merges")
    other.close()
    with pytest.raises(StoreMismatch, match="changed from outside"):
        alice.read(lambda tx: tx.upkeep.merges(["m"]))


def test_a_constraint_in_the_file_stands_behind_the_checks(path: Path, alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a")]))
    other = open_connection(path)
    same_key = """
        insert into entities select 99, tenant, 'other', type, type_key, name, name_key, confidence, created_at,
            last_seen, decayed_at, mention_count, is_exempt, source_file, properties from entities
    """
    for statement in (same_key, "insert into mentions values (1, 1, 1, 1)"):
        with pytest.raises(apsw.ConstraintError):
            other.execute(statement)
    other.close()
