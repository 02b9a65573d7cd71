"""What holds of this store's transactions beyond the contract."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.sqlite.connection import open_connection
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.errors import Conflict, StoreBusy
from tests.contract.samples import ANY_ENTITY, ANY_MEMORY, ANY_RELATION, entity, memory, relation
from tests.contract.stores import Caller, caller

if TYPE_CHECKING:
    from graph_memory.ports.store import WriteTransaction

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 60


def test_work_that_met_a_busy_file_runs_again(alice: Caller) -> None:
    runs = 0

    def work(_tx: object) -> int:
        nonlocal runs
        runs += 1
        if runs < 3:
            raise StoreBusy("a part of the work met a busy file")
        return runs

    assert alice.write(work) == 3
    assert alice.read(work) == 4


@pytest.mark.parametrize(
    ("outer", "inner"), [("write", "write"), ("write", "read"), ("read", "write"), ("read", "read")]
)
def test_a_transaction_within_a_transaction_is_refused(alice: Caller, outer: str, inner: str) -> None:
    with pytest.raises(RuntimeError, match="within a transaction"):
        getattr(alice, outer)(lambda _tx: getattr(alice, inner)(lambda _tx: None))
    assert getattr(alice, outer)(lambda _tx: "again") == "again"


def test_another_thread_may_be_in_a_transaction_meanwhile(alice: Caller) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = alice.write(lambda _tx: pool.submit(alice.read, lambda _tx: "read").result(SECONDS))
    assert answer == "read"


@pytest.mark.spec("storage.concurrent.readers")
def test_a_reader_does_not_wait_for_a_writer_and_sees_what_was_before(path: Path, alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a")]))
    written, may_commit = threading.Event(), threading.Event()

    def slow(tx: WriteTransaction) -> None:
        tx.entities.put([entity("b")])
        written.set()
        assert may_commit.wait(SECONDS)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(alice.write, slow)
        assert written.wait(SECONDS)
        reader = caller(SqliteStore(path, deadline=0.0), "alice")
        assert reader.read(lambda tx: tx.entities.count(ANY_ENTITY)) == 1
        may_commit.set()
        writing.result(SECONDS)
    assert reader.read(lambda tx: tx.entities.count(ANY_ENTITY)) == 2
    reader.store.close()


def test_a_refused_batch_leaves_nothing_even_in_work_that_goes_on(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        for refused in (
            lambda: tx.entities.put([entity("c"), entity("d", name="a")]),
            lambda: tx.relations.put([relation("a", "a"), relation("a", "nobody")]),
            lambda: tx.relations.put([relation("a", "a"), relation("a", "a", id="other")]),
            lambda: tx.memories.add([memory("new"), memory("old")]),
            lambda: tx.memories.put([memory("newer", 1), memory("newer", 2)]),
        ):
            with pytest.raises(Conflict):
                refused()

    alice.write(lambda tx: tx.entities.put([entity("a"), entity("b")]))
    alice.write(lambda tx: tx.memories.add([memory("old"), memory("x")]))
    alice.write(work)
    assert alice.read(lambda tx: tx.entities.count(ANY_ENTITY)) == 2
    assert alice.read(lambda tx: tx.relations.count(ANY_RELATION)) == 0
    assert alice.read(lambda tx: [found.title for found in tx.memories.find([1, 2, 3]).values()]) == ["old", "x"]


def test_current_versions_may_change_places_in_one_call(alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a"), entity("b")]))
    alice.write(lambda tx: tx.relations.put([relation("a", "b", id="1"), relation("b", "a", id="2")]))
    alice.write(lambda tx: tx.relations.put([relation("b", "a", id="1"), relation("a", "b", id="2")]))
    found = alice.read(lambda tx: tx.relations.find(["1", "2"]))
    assert {id_: (it.source_id, it.is_current) for id_, it in found.items()} == {"1": ("b", True), "2": ("a", True)}


WRITER = """
import sys
from pathlib import Path
from graph_memory.adapters.sqlite.store import SqliteStore
from tests.contract.samples import entity, memory, relation
from tests.contract.stores import caller

alice = caller(SqliteStore(Path(sys.argv[1])), "alice")

def work(tx):
    tx.entities.put([entity("lost"), entity("lost too")])
    tx.relations.put([relation("lost", "lost too")])
    tx.memories.add([memory("lost", content="vanished words")])
    if sys.argv[2] == "inside":
        print("ready", flush=True)
        sys.stdin.read()

alice.write(work)
print("ready", flush=True)
sys.stdin.read()
"""


def _killed(path: Path, where: str) -> None:
    """Run a process that writes, and kill it there without any chance to tidy up."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), where],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.spec("storage.atomic.crash", "storage.concurrent.no-lock-files")
def test_a_process_killed_in_a_transaction_leaves_nothing_and_keeps_nobody_out(path: Path, alice: Caller) -> None:
    _killed(path, "inside")
    assert alice.read(lambda tx: tx.entities.count(ANY_ENTITY) + tx.memories.count(ANY_MEMORY)) == 0
    alice.write(lambda tx: tx.entities.put([entity("lost")]))
    assert isinstance(alice.store, SqliteStore)
    assert alice.store.integrity_problems() == ()
    assert {part.name for part in path.parent.iterdir()} == {"memory.db", "memory.db-wal", "memory.db-shm"}


def test_what_was_answered_outlives_a_kill(path: Path) -> None:
    _killed(path, "behind")
    store = SqliteStore(path)
    alice = caller(store, "alice")
    assert alice.read(lambda tx: (tx.entities.count(ANY_ENTITY), tx.memories.count(ANY_MEMORY))) == (2, 1)
    assert store.integrity_problems() == ()
    store.close()


SHARER = """
import sys
from dataclasses import replace
from pathlib import Path
from graph_memory.adapters.sqlite.store import SqliteStore
from tests.contract.samples import entity, memory
from tests.contract.stores import caller

number = sys.argv[2]
alice = caller(SqliteStore(Path(sys.argv[1])), "alice")

def work(tx):
    shared = tx.entities.find_for_update([], ["shared"])
    now = next(iter(shared.values()), entity("shared"))
    tx.entities.put([replace(now, mention_count=now.mention_count + 1)])
    return tx.memories.add([memory(f"note {number} {now.mention_count}", content="shared words")])[0]

for _ in range(25):
    print(alice.write(work), flush=True)
"""


@pytest.mark.spec("storage.concurrent.processes", "storage.concurrent.writers")
def test_processes_that_open_a_new_file_at_once_lose_no_write(path: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", SHARER, str(path), str(number)], cwd=ROOT, stdout=subprocess.PIPE)
        for number in range(4)
    ]
    answers = [process.communicate(timeout=SECONDS)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    ids = [int(id_) for answer in answers for id_ in answer]
    assert sorted(ids) == list(range(1, 101))
    store = SqliteStore(path)
    alice = caller(store, "alice")
    assert alice.read(lambda tx: tx.entities.find(["shared"]))["shared"].mention_count == 100
    assert store.integrity_problems() == ()
    store.close()


def test_a_writer_waits_while_another_process_holds_the_file(path: Path, alice: Caller) -> None:
    holder = open_connection(path)
    holder.execute("begin immediate")
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(alice.write, lambda tx: tx.entities.put([entity("a")]))
        assert not writing.done()
        holder.execute("rollback")
        writing.result(SECONDS)
    holder.close()
    assert alice.read(lambda tx: tx.entities.count(ANY_ENTITY)) == 1
