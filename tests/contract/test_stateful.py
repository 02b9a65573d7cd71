"""Every store does the same random operations, and after each all of them hold the same rows.

`CONTRACT_OPERATIONS` says how many operations a run makes at least: a few hundred without it, `make fuzz` thousands.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from graph_memory.domain.entities import Alias
from graph_memory.domain.errors import GraphMemoryError
from graph_memory.domain.ledger import VectorOwner
from graph_memory.domain.memories import ConnectionType, MemoryVersion, Mention, OpenLink
from tests.contract.dumps import dump
from tests.contract.operations import operations
from tests.contract.samples import day, entity, evidence, memory, relation, synapse, vector
from tests.contract.stores import OPENERS, caller, reference_rerun

if TYPE_CHECKING:
    from collections.abc import Callable

    from graph_memory.ports.store import Store, WriteTransaction
    from tests.contract.operations import Operation

OPERATIONS = int(os.environ.get("CONTRACT_OPERATIONS", "400"))
STEPS = 40
"""Transactions in one history, at most; each has one to three operations."""
TENANTS = ("alice", "bob")


class Undone(Exception):
    """Raised by a work that has changed its mind."""


class Stores(RuleBasedStateMachine):
    """All stores side by side. The first one is the reference: what the others are compared with."""

    count: ClassVar[int] = 0
    """Operations made by all histories of this process."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="contract-"))
        openers = {**OPENERS, "reference that runs work again": reference_rerun}
        self.stores = {name: opener(self.folder) for name, opener in openers.items()}

    def teardown(self) -> None:
        for store in self.stores.values():
            store.close()
        shutil.rmtree(self.folder)

    @initialize(has_rows=st.integers(0, 3).map(bool))
    def begin(self, *, has_rows: bool) -> None:
        if has_rows:
            for tenant in TENANTS:
                self.compare(tenant, begin, undo=False)

    @rule(
        tenant=st.sampled_from(TENANTS),
        transaction=st.lists(operations, min_size=1, max_size=3),
        undo=st.integers(0, 7).map(lambda number: number == 7),
    )
    def do(self, tenant: str, transaction: list[Operation], *, undo: bool) -> None:
        def work(tx: WriteTransaction) -> object:
            return [operation(tx) for operation in transaction]

        Stores.count += len(transaction)
        self.compare(tenant, work, undo=undo)

    def compare(self, tenant: str, work: Callable[[WriteTransaction], object], *, undo: bool) -> None:
        (first, expected), *others = [
            (name, outcome(store, tenant, work, undo=undo)) for name, store in self.stores.items()
        ]
        for name, answer in others:
            assert answer == expected, f"{name} answers {answer}, but {first} {expected}"
        for each in TENANTS:
            (_, rows), *other_rows = [(name, caller(store, each).read(dump)) for name, store in self.stores.items()]
            for name, found in other_rows:
                apart = {kind: (found[kind], rows[kind]) for kind in rows if found[kind] != rows[kind]}
                assert not apart, f"{name} and {first} hold other rows of {each}: {apart}"


def begin(tx: WriteTransaction) -> None:
    """Store a few rows, so that a short history has something to work on."""
    tx.entities.put(
        [
            entity("a", "Person", "Ada"),
            entity("b", "Person", "lemon", properties={"note": "kiwi"}),
            entity("c", "Side Project", "orbit"),
            entity("d", "型", "Straße"),
            entity("é'x", "Person", "Other"),
        ]
    )
    tx.entities.put_aliases([Alias("a", "lemon"), Alias("d", "Other name")])
    tx.entities.add_evidence([evidence("a", session="s1"), evidence("b", file="f1"), evidence("a", memory_id=1)])
    tx.relations.put([relation("a", "b", id="r1"), relation("b", "c", id="r2"), relation("c", "a", id="r3")])
    tx.relations.put([relation("a", "a", "WORKS_ON", id="r4"), relation("a", "b", id="r5", invalid_at=day(0))])
    tx.relations.add_evidence([evidence("r1", session="s1"), evidence("r1", session="s2"), evidence("r5", file="f1")])
    tx.memories.add([memory("Note", 1, "lemon orbit"), memory("kiwi", 2, "lemon", project_id="p"), memory("Third", 3)])
    tx.memories.add([memory("Other note", 4, "orbit", tags=("kiwi",)), memory("lemon", 5, session_id="s1")])
    tx.memories.add_mentions([Mention(1, "a", day(0)), Mention(2, "a", day(1))])
    tx.memories.put_open_links([OpenLink(1, "lemon"), OpenLink(2, "Elsewhere")])
    tx.memories.add_versions([MemoryVersion(1, "Before", "kiwi", day(0))])
    tx.synapses.put([synapse(1, 2), synapse(2, 3, 0.5), synapse(3, 1, type_=ConnectionType.SEQUENCE), synapse(1, 1)])
    tx.upkeep.put_vectors([vector(VectorOwner.ENTITY, "a", "m1"), vector(VectorOwner.MEMORY, "1", "m1")])


def outcome(store: Store, tenant: str, work: Callable[[WriteTransaction], object], *, undo: bool) -> object:
    """Do a work and tell what came of it: its answer, or which error of ours it raised."""

    def run(tx: WriteTransaction) -> object:
        answer = work(tx)
        if undo:
            raise Undone
        return answer

    try:
        return "answered", caller(store, tenant).write(run)
    except (GraphMemoryError, Undone) as error:
        return "raised", type(error)


@pytest.mark.timeout(300 + OPERATIONS)  # a failure takes a while to be made small
def test_all_stores_do_the_same() -> None:
    examples = max(1, OPERATIONS // STEPS)
    Stores.count = 0
    run_state_machine_as_test(
        Stores,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Stores.count >= OPERATIONS
