"""What holds of reads and writes as a whole."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from graph_memory.domain.entities import EntityKey
from graph_memory.domain.errors import Conflict, NotFound, Unavailable
from graph_memory.domain.principal import Principal
from graph_memory.domain.relations import RelationKey
from tests.contract.dumps import dump
from tests.contract.samples import ANY_ENTITY, CURRENT, day, entity, memory, populate, relation, synapse
from tests.contract.stores import caller

if TYPE_CHECKING:
    from collections.abc import Callable

    from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction
    from tests.contract.stores import Caller

SECONDS = 60
"""How long a test waits for another thread before it gives up."""


def test_read_and_write_return_what_work_returns(alice: Caller) -> None:
    answer = object()
    assert alice.read(lambda _tx: answer) is answer
    assert alice.write(lambda _tx: answer) is answer


@pytest.mark.parametrize("error", [ValueError("mine"), NotFound("mine"), Conflict("mine"), KeyError("mine")])
def test_an_exception_from_work_is_raised_as_it_is(alice: Caller, error: Exception) -> None:
    def work(tx: ReadTransaction) -> None:
        raise error

    for run in (alice.read, alice.write):
        with pytest.raises(type(error)) as caught:
            run(work)
        assert caught.value is error


def test_work_that_runs_again_is_kept_once(alice: Caller) -> None:
    runs = 0

    def work(tx: WriteTransaction) -> int:
        nonlocal runs
        runs += 1
        tx.entities.put(
            [replace(found, mention_count=found.mention_count + 1) for found in tx.entities.find(["a"]).values()]
        )
        return runs

    alice.write(lambda tx: tx.entities.put([entity("a")]))
    assert alice.write(work) == runs
    assert alice.read(lambda tx: tx.entities.find(["a"]))["a"].mention_count == 1


def test_the_reference_can_run_work_more_than_once() -> None:
    from graph_memory.adapters.reference import ReferenceStore

    alice = caller(ReferenceStore(runs=3), "alice")
    runs: list[int] = []

    def work(tx: WriteTransaction) -> list[int]:
        runs.append(tx.entities.count(ANY_ENTITY))
        return list(tx.memories.add([memory("Note")]))

    assert alice.write(work) == [1]
    assert runs == [0, 0, 0]
    alice.read(lambda _tx: runs.append(-1))
    assert runs == [0, 0, 0, -1, -1, -1]


def test_a_conflict_leaves_nothing_of_the_transaction(alice: Caller) -> None:
    alice.write(populate)
    before = alice.read(dump)

    def work(tx: WriteTransaction) -> None:
        tx.entities.put([entity("new")])
        tx.memories.add([memory("New")])
        tx.relations.put([relation("new", "nobody")])

    with pytest.raises(Conflict):
        alice.write(work)
    assert alice.read(dump) == before


@pytest.mark.parametrize(
    "refused",
    [
        lambda tx: tx.entities.put([entity("fine"), entity("new", "Person", "Ada Lovelace")]),
        lambda tx: tx.relations.put([relation("ada", "ada"), relation("ada", "nobody")]),
        lambda tx: tx.relations.put([relation("ada", "ada"), relation("ada", "engine", "WORKS_ON", id="r-new")]),
        lambda tx: tx.memories.add([memory("Fine"), memory("First note")]),
        lambda tx: tx.memories.put([memory("Fine", 2), memory("Fine", 1)]),
        lambda tx: tx.synapses.put([synapse(1, 1), synapse(1, 99)]),
        lambda tx: tx.entities.delete(["lonely", "ada"]),
    ],
    ids=["entities", "relations to nothing", "relations", "memories", "memories replaced", "synapses", "deleted"],
)
def test_work_may_catch_a_conflict_which_left_nothing_of_its_primitive(
    alice: Caller, refused: Callable[[WriteTransaction], object]
) -> None:
    alice.write(populate)
    before = alice.read(dump)

    def work(tx: WriteTransaction) -> None:
        with pytest.raises(Conflict):
            refused(tx)
        assert dump(tx) == before
        tx.entities.put([entity("other")])

    alice.write(work)
    assert set(alice.read(lambda tx: tx.entities.find(["other", "fine", "new"]))) == {"other"}


def test_a_store_goes_on_after_a_failed_work(alice: Caller) -> None:
    def work(tx: WriteTransaction) -> None:
        tx.entities.put([entity("a")])
        raise KeyError

    for _ in range(5):
        with pytest.raises(KeyError):
            alice.write(work)
    alice.write(lambda tx: tx.entities.put([entity("a")]))
    assert alice.read(lambda tx: tx.entities.count(ANY_ENTITY)) == 1


def test_a_read_sees_one_state_whatever_is_written_meanwhile(alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a"), entity("b")]))

    def work(tx: ReadTransaction) -> tuple[int, int]:
        before = tx.entities.count(ANY_ENTITY)
        writer = threading.Thread(target=alice.write, args=(lambda tx: tx.entities.put([entity(f"c{before}")]),))
        writer.start()
        writer.join(SECONDS)
        assert not writer.is_alive()
        return before, len(tx.entities.find(["a", "b", f"c{before}"]))

    assert alice.read(work) == (2, 2)
    assert alice.read(lambda tx: tx.entities.count(ANY_ENTITY)) == 3


@pytest.mark.spec("storage.concurrent.writers")
def test_no_update_is_lost_between_threads(alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a"), entity("b")]))
    keys = [EntityKey("concept", "b"), EntityKey("concept", "a")]

    def count_up(tx: WriteTransaction) -> None:
        found = tx.entities.find_for_update(keys)
        tx.entities.put([replace(one, mention_count=one.mention_count + 1) for one in found.values()])
        key = RelationKey("a", "uses", "b")
        known = tx.relations.find_current([key]).get(key)
        weight = known.weight + 1 / 256 if known else 0.0
        tx.relations.put([relation("a", "b", weight=weight)])

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(alice.write, count_up) for _ in range(100)]:
            done.result(SECONDS)
    found = alice.read(lambda tx: tx.entities.find(["a", "b"]))
    assert {one.mention_count for one in found.values()} == {100}
    assert alice.read(lambda tx: tx.relations.page(CURRENT, None, 10))[0].weight == 99 / 256


def test_one_of_two_that_add_the_same_key_wins(alice: Caller) -> None:
    start = threading.Barrier(4)

    def add(number: int) -> bool:
        start.wait(SECONDS)
        try:
            alice.write(lambda tx: tx.entities.put([entity(f"id{number}", name="Same")]))
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        won = list(threads.map(add, range(4), timeout=SECONDS))
    assert won.count(True) == 1
    assert alice.read(lambda tx: tx.entities.count(ANY_ENTITY)) == 1


@pytest.mark.spec("storage.concurrent.readers")
def test_a_read_is_not_kept_waiting_by_a_write_and_sees_the_state_before_it(alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a")]))

    def count() -> int:
        return alice.read(lambda tx: tx.entities.count(ANY_ENTITY))

    def work(tx: WriteTransaction) -> int:
        tx.entities.put([entity("b")])
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(count).result(SECONDS)

    assert alice.write(work) == 1
    assert count() == 2


@pytest.mark.spec("access.principal.required-by-store")
def test_there_is_no_transaction_without_a_tenant(store: Store) -> None:
    for run in (store.read, store.write):
        with pytest.raises(TypeError):
            cast("Callable[..., object]", run)(lambda _tx: None)
    with pytest.raises(ValueError, match="tenant"):
        Principal("")


def test_tenants_that_have_rows_are_listed_in_order(store: Store) -> None:
    assert store.tenants() == ()
    for tenant in ("zoe", "alice", "Ünal"):
        caller(store, tenant).write(lambda tx: tx.entities.put([entity("a")]))
    caller(store, "reader").read(lambda tx: tx.entities.count(ANY_ENTITY))
    assert store.tenants() == ("alice", "zoe", "Ünal")


@pytest.mark.parametrize("tenant", ["o'Brien; drop table x --", "東京", "a b", "$index", "x" * 300, "A", "a"])
def test_any_text_serves_as_tenant(store: Store, alice: Caller, tenant: str) -> None:
    odd = caller(store, tenant)
    odd.write(populate)
    rows = odd.read(dump)
    odd.read(lambda tx: tx.entities.find_similar_names("Ada", ANY_ENTITY, 5))
    assert rows["entities"]
    assert not alice.read(dump)["entities"]
    assert not caller(store, tenant.swapcase() + "x").read(dump)["entities"]
    assert store.tenants() == (tenant,)


def test_rights_of_a_principal_do_not_change_what_it_sees(store: Store, alice: Caller) -> None:
    alice.write(populate)
    assert store.read(Principal("alice", is_admin=True), dump) == alice.read(dump)


def test_a_store_tells_who_it_is(store: Store) -> None:
    identity = store.identity()
    assert identity == store.identity()
    assert identity.kind in {"reference", "sqlite", "neo4j"}
    assert identity.database_id
    assert identity.schema_version > 0
    assert identity.engine_version


def test_a_closed_store_is_unavailable(store: Store, alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("a", last_seen=day(1))]))
    store.close()
    store.close()
    with pytest.raises(Unavailable):
        alice.read(lambda tx: tx.entities.count(ANY_ENTITY))
    with pytest.raises(Unavailable):
        alice.write(lambda tx: tx.entities.put([entity("b")]))
