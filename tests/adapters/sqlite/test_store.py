"""What this store does beyond the port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from graph_memory.adapters.sqlite.connection import open_connection
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.entities import Alias
from tests.contract.dumps import dump
from tests.contract.samples import entity, evidence, memory, populate
from tests.contract.stores import caller

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.stores import Caller

SECRET = "xyzzyplugh"


def test_a_store_keeps_its_identity(path: Path, store: SqliteStore) -> None:
    again = SqliteStore(path)
    assert again.identity() == store.identity()
    again.close()
    assert store.identity().engine_version == apsw.sqlite_lib_version()


def test_the_engine_has_no_bug_that_corrupts_a_shared_log() -> None:
    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) >= (3, 51, 3)


def test_all_rows_are_there_when_opened_again(path: Path) -> None:
    store = SqliteStore(path)
    caller(store, "alice").write(populate)
    before = caller(store, "alice").read(dump)
    store.close()
    store = SqliteStore(path)
    assert caller(store, "alice").read(dump) == before
    assert store.tenants() == ("alice",)
    store.close()


def test_a_sound_file_has_no_problems(store: SqliteStore, alice: Caller) -> None:
    alice.write(populate)
    assert store.integrity_problems() == ()


def test_problems_are_named(path: Path, store: SqliteStore) -> None:
    local = caller(store, "local")
    local.write(populate)
    other = open_connection(path)
    other.execute("pragma foreign_keys = off; delete from entities where id = 'ada'")
    other.execute("drop trigger memories_fts_changed; update memories set content = 'unseen' where id = 1")
    other.close()
    problems = store.integrity_problems()
    assert any("relations refers to nothing" in problem for problem in problems)
    assert any("memories_fts is not what the memories say" in problem for problem in problems)


@pytest.mark.spec("storage.tags.rows", "storage.tags.unique")
def test_tags_are_rows_of_their_own(path: Path, store: SqliteStore) -> None:
    local = caller(store, "local")
    local.write(lambda tx: tx.memories.add([memory("a", tags=("x", "y", "x")), memory("b", tags=("x",))]))
    assert local.read(lambda tx: tx.memories.find([1]))[1].tags == ("x", "y")
    local.write(lambda tx: tx.memories.set_tags(1, ["z", "x", "z"]))
    reader = open_connection(path)
    tags = "select memory_id, tag from memory_tag order by memory_id, place"
    assert reader.execute(tags).fetchall() == [(1, "z"), (1, "x"), (2, "x")]
    local.write(lambda tx: tx.memories.delete([1]))
    assert reader.execute(tags).fetchall() == [(2, "x")]
    reader.close()


def test_a_checkpoint_empties_the_log(path: Path, store: SqliteStore, alice: Caller) -> None:
    alice.write(populate)
    log = path.with_name("memory.db-wal")
    assert log.stat().st_size > 0
    store.checkpoint()
    assert log.stat().st_size == 0


@pytest.mark.parametrize("tenant", ["local", "alice"])
def test_nothing_of_what_was_deleted_is_left_in_any_file(path: Path, store: SqliteStore, tenant: str) -> None:
    who = caller(store, tenant)
    who.write(
        lambda tx: (
            tx.memories.add([memory(f"kept {n}", content=f"plain words {n}") for n in range(300)])
            and tx.memories.add([memory(SECRET, content=f"{SECRET} {SECRET}s 秘密{SECRET}", tags=(SECRET,))])
        )
    )
    who.write(lambda tx: tx.entities.put([entity("gone", name=SECRET, properties={"note": SECRET}), entity("kept")]))
    who.write(lambda tx: tx.entities.put_aliases([Alias("gone", f"{SECRET} alias")]))
    who.write(lambda tx: tx.entities.add_evidence([evidence("gone", session=SECRET)]))
    who.write(lambda tx: tx.memories.put([memory(f"{SECRET} two", 301, f"other {SECRET}")]))
    assert _traces(path)
    who.write(lambda tx: (tx.entities.delete(["gone"]), tx.memories.delete([301])))
    store.erase_traces()
    assert not _traces(path)
    assert store.integrity_problems() == ()
    assert set(who.read(lambda tx: tx.entities.find(["gone", "kept"]))) == {"kept"}


def _traces(path: Path) -> list[str]:
    """List the files of the store that hold the secret word, or most of it."""
    part = SECRET[1:-1].encode()
    return [file.name for file in path.parent.iterdir() if part in file.read_bytes()]


def test_a_store_may_be_closed_twice_and_removed(path: Path) -> None:
    store = SqliteStore(path)
    caller(store, "alice").write(populate)
    store.close()
    store.close()
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]
