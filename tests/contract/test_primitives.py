"""What holds of every primitive: tenants, transactions, idempotence, empty collections."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.errors import Conflict, NotFound
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from tests.contract.dumps import dump
from tests.contract.primitives import (
    CHANGES,
    DELETES,
    EMPTY_READS,
    EMPTY_WRITES,
    OTHER_WRITES,
    PUTS,
    READS,
    UNSEEN,
    WRITERS_READS,
)
from tests.contract.samples import populate

if TYPE_CHECKING:
    from tests.contract.stores import Caller


class Undone(Exception):
    """Raised by a work that has changed its mind."""


def is_nothing(found: object) -> bool:
    """Tell whether an answer holds nothing: counts of 0, empty lists, mappings to nothing."""
    if isinstance(found, Mapping):
        return all(is_nothing(value) for value in found.values())
    if isinstance(found, tuple | list):
        return all(is_nothing(value) for value in found)
    return not found


def walk(table: Mapping[str, object]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", sorted(table))


def names_of(transaction: type) -> set[str]:
    """List `port.primitive` of a transaction."""
    from graph_memory.ports import graph_rows, ledger_rows, memory_rows

    ports = {**vars(graph_rows), **vars(ledger_rows), **vars(memory_rows)}
    names = set()
    for family, getter in vars(transaction).items():
        if isinstance(getter, property):
            port = ports[getter.fget.__annotations__["return"].__name__]
            names |= {f"{family}.{name}" for name in dir(port) if not name.startswith("_")}
    return names


def test_every_primitive_of_a_read_is_walked() -> None:
    assert set(READS) == names_of(ReadTransaction)


def test_every_primitive_of_a_write_is_walked() -> None:
    walked = {**READS, **WRITERS_READS, **CHANGES, **UNSEEN}
    assert set(walked) == names_of(WriteTransaction)


@walk(READS)
def test_a_read_finds_what_was_written(alice: Caller, name: str) -> None:
    alice.write(populate)
    assert not is_nothing(alice.read(READS[name]))


@walk(READS)
def test_a_read_of_another_tenant_finds_nothing(alice: Caller, bob: Caller, name: str) -> None:
    alice.write(populate)
    assert is_nothing(bob.read(READS[name]))


@walk(READS)
def test_a_read_answers_within_a_write(alice: Caller, name: str) -> None:
    def work(tx: WriteTransaction) -> object:
        populate(tx)
        return READS[name](tx)

    within = alice.write(work)
    assert within == alice.read(READS[name])


@walk(WRITERS_READS)
def test_a_writers_read_finds_only_what_its_tenant_wrote(alice: Caller, bob: Caller, name: str) -> None:
    alice.write(populate)
    assert not is_nothing(alice.write(WRITERS_READS[name]))
    assert is_nothing(bob.write(WRITERS_READS[name]))


@walk(CHANGES)
def test_a_change_is_seen_within_its_transaction_and_after_it(alice: Caller, name: str) -> None:
    alice.write(populate)
    before = alice.read(dump)

    def work(tx: WriteTransaction) -> object:
        CHANGES[name](tx)
        return dump(tx)

    within = alice.write(work)
    assert within != before
    assert alice.read(dump) == within


@pytest.mark.spec("storage.atomic.failure")
@walk({**CHANGES, **UNSEEN})
def test_a_failed_work_leaves_nothing_and_its_exception_is_raised_as_it_is(alice: Caller, name: str) -> None:
    alice.write(populate)
    before = alice.read(dump)

    def work(tx: WriteTransaction) -> None:
        {**CHANGES, **UNSEEN}[name](tx)
        raise Undone

    with pytest.raises(Undone):
        alice.write(work)
    assert alice.read(dump) == before


@walk({**CHANGES, **UNSEEN})
def test_a_change_of_another_tenant_changes_nothing_here(alice: Caller, bob: Caller, name: str) -> None:
    alice.write(populate)
    before = alice.read(dump)
    with suppress(Conflict, NotFound):  # what it needs is not there for the other tenant
        bob.write({**CHANGES, **UNSEEN}[name])
    assert alice.read(dump) == before


@walk(DELETES)
def test_a_delete_of_another_tenant_removes_nothing(alice: Caller, bob: Caller, name: str) -> None:
    alice.write(populate)
    assert is_nothing(bob.write(DELETES[name]))


@walk(PUTS)
def test_a_put_done_again_changes_nothing_more(alice: Caller, name: str) -> None:
    alice.write(populate)
    alice.write(PUTS[name])
    once = alice.read(dump)
    alice.write(PUTS[name])
    assert alice.read(dump) == once


@walk(DELETES)
def test_a_delete_tells_what_it_removed_and_removes_nothing_again(alice: Caller, name: str) -> None:
    alice.write(populate)
    assert not is_nothing(alice.write(DELETES[name]))
    once = alice.read(dump)
    assert is_nothing(alice.write(DELETES[name]))
    assert alice.read(dump) == once


@walk(EMPTY_READS)
def test_a_read_for_nothing_finds_nothing(alice: Caller, name: str) -> None:
    alice.write(populate)
    assert is_nothing(alice.read(EMPTY_READS[name]))


@walk(EMPTY_WRITES)
def test_a_write_of_nothing_changes_nothing(alice: Caller, name: str) -> None:
    alice.write(populate)
    before = alice.read(dump)
    assert is_nothing(alice.write(EMPTY_WRITES[name]))
    assert alice.read(dump) == before


@pytest.mark.spec("names.key.tenant")
def test_two_tenants_with_the_same_ids_and_keys_keep_their_own_rows(alice: Caller, bob: Caller) -> None:
    alice.write(populate)
    bob.write(populate)
    same = alice.read(dump)
    assert bob.read(dump) == same

    def change_all(tx: WriteTransaction) -> None:
        for name in (*PUTS, *OTHER_WRITES, *DELETES):
            CHANGES[name](tx)

    bob.write(change_all)
    assert alice.read(dump) == same
