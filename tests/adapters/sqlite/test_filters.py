"""Each filter means in SQL what its `matches` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.entities import EntityFilter, EntityOrder
from graph_memory.domain.memories import (
    ConnectionType,
    Direction,
    Layer,
    Lifecycle,
    MemoryFilter,
    MemoryOrder,
    Status,
    SynapseFilter,
)
from graph_memory.domain.relations import RelationFilter
from tests.contract.samples import ALL, ANY_SYNAPSE, day, entity, evidence, memory, relation, synapse
from tests.contract.stores import Caller, caller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graph_memory.ports.store import WriteTransaction

NUMBERS = range(24)
TYPES = ("Person", "side project", "Fact")
type_keys = st.frozensets(st.sampled_from(["person", "side_project", "fact", "none"]), max_size=3)
instants = st.builds(day, st.integers(-1, 6))
thresholds = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


@pytest.fixture(scope="module")
def alice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    store = SqliteStore(tmp_path_factory.mktemp("filters") / "memory.db")
    for tenant in ("bob", "alice"):
        caller(store, tenant).write(fill)
    yield caller(store, "alice")
    store.close()


def fill(tx: WriteTransaction) -> None:
    tx.entities.put(
        [
            entity(f"e{n}", TYPES[n % 3], confidence=n % 5 / 4, created_at=day(n % 4), last_seen=day(n % 6))
            for n in NUMBERS
        ]
    )
    tx.entities.add_evidence([evidence(f"e{n}", session=f"s{n % 4}") for n in NUMBERS if n % 4])
    tx.relations.put(
        [
            relation(f"e{n}", f"e{n // 2}", TYPES[n % 3], weight=n % 5 / 4, invalid_at=day(1) if n % 4 == 0 else None)
            for n in NUMBERS
            if n % 5
        ]
    )
    ids = tx.memories.add(
        [
            memory(
                f"m{n}",
                project_id=("_global", "p", "q")[n % 3],
                category=("note", "todo")[n % 2],
                layer=list(Layer)[n % 5],
                lifecycle=list(Lifecycle)[n % 3],
                status=list(Status)[n % 4],
                session_id=(None, "s1", "s2")[n % 3],
                source_file=(None, "f")[n % 2],
                updated_at=day(n % 5),
            )
            for n in NUMBERS
        ]
    )
    types = list(ConnectionType)
    tx.synapses.put([synapse(ids[n], ids[n // 2], n % 5 / 4, types[n % 4]) for n in NUMBERS])


examples = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@examples
@given(
    where=st.builds(
        EntityFilter,
        ids=maybe(st.frozensets(st.sampled_from([f"e{n}" for n in NUMBERS] + ["none"]))),
        type_keys=maybe(type_keys),
        min_confidence=thresholds,
        seen_before=maybe(instants),
        created_since=maybe(instants),
        is_orphan=maybe(st.booleans()),
        session=maybe(st.sampled_from(["s1", "s2", "none"])),
    )
)
def test_entities(alice: Caller, where: EntityFilter) -> None:
    def work(tx: WriteTransaction) -> None:
        everything = tx.entities.page(EntityFilter(), EntityOrder.ID, ALL)
        ids = [one.id for one in everything]
        degrees, kept = tx.entities.degrees(ids), tx.entities.evidence(ids)
        sessions = {id_: frozenset(it.provenance.session or "" for it in kept.get(id_, ())) for id_ in ids}
        meant = [
            one.id
            for one in everything
            if where.matches(one, relation_count=degrees[one.id], sessions=sessions[one.id])
        ]
        assert [one.id for one in tx.entities.page(where, EntityOrder.ID, ALL)] == meant
        assert tx.entities.count(where) == len(meant)

    alice.write(work)


@examples
@given(
    where=st.builds(
        RelationFilter,
        type_keys=maybe(type_keys),
        min_weight=thresholds,
        max_weight=maybe(thresholds),
        current_only=st.booleans(),
    )
)
def test_relations(alice: Caller, where: RelationFilter) -> None:
    def work(tx: WriteTransaction) -> None:
        everything = tx.relations.page(RelationFilter(current_only=False), None, ALL)
        meant = [one.id for one in everything if where.matches(one)]
        assert [one.id for one in tx.relations.page(where, None, ALL)] == meant
        assert tx.relations.count(where) == len(meant)

    alice.write(work)


@examples
@given(
    where=st.builds(
        MemoryFilter,
        project_id=maybe(st.sampled_from(["_global", "p", "q", "none"])),
        is_project_exact=st.booleans(),
        category=maybe(st.sampled_from(["note", "todo", "none"])),
        layers=maybe(st.frozensets(st.sampled_from(Layer))),
        lifecycles=maybe(st.frozensets(st.sampled_from(Lifecycle))),
        statuses=maybe(st.frozensets(st.sampled_from(Status))),
        session_id=maybe(st.sampled_from(["s1", "none"])),
        source_file=maybe(st.sampled_from(["f", "none"])),
        updated_since=maybe(instants),
        created_since=maybe(instants),
        created_before=maybe(instants),
    )
)
def test_memories(alice: Caller, where: MemoryFilter) -> None:
    def work(tx: WriteTransaction) -> None:
        everything = tx.memories.page(MemoryFilter(statuses=None), MemoryOrder.ID, ALL)
        meant = [one.id for one in everything if where.matches(one)]
        assert [one.id for one in tx.memories.page(where, MemoryOrder.ID, ALL)] == meant
        assert tx.memories.count(where) == len(meant)

    alice.write(work)


@examples
@given(
    where=st.builds(
        SynapseFilter,
        connection_types=maybe(st.frozensets(st.sampled_from(ConnectionType))),
        min_weight=thresholds,
        direction=st.sampled_from(Direction),
    )
)
def test_synapses(alice: Caller, where: SynapseFilter) -> None:
    def work(tx: WriteTransaction) -> None:
        ids = range(1, len(NUMBERS) + 1)
        everything = tx.synapses.of_memories(ids, ANY_SYNAPSE, limit=ALL)
        assert list(tx.synapses.of_memories(ids, where, limit=ALL)) == [one for one in everything if where.matches(one)]

    alice.write(work)
