"""Whatever a filter says: what a store lists and counts is what the filter's own `matches` keeps."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_memory.domain.entities import EntityOrder
from graph_memory.domain.expiry import has_expired
from graph_memory.domain.memories import Direction, MemoryOrder, heaviest_first
from graph_memory.domain.names import name_key, type_key
from graph_memory.domain.relations import strongest_first
from tests.contract import strategies as s
from tests.contract.samples import ALL, entity, memory, query
from tests.contract.stores import OPENERS, Caller, caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from graph_memory.domain.entities import Entity, EntityFilter, Evidence
    from graph_memory.domain.memories import Memory, MemoryFilter, Synapse, SynapseFilter
    from graph_memory.domain.relations import Relation, RelationFilter
    from graph_memory.ports.store import Store, WriteTransaction

RowT = TypeVar("RowT")

# One store serves all examples: each begins empty, since the one before was rolled back.
EXAMPLES = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


class Undone(Exception):
    """Raised at the end of every example."""


@pytest.fixture(params=sorted(OPENERS), scope="module")
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    opened: Store = OPENERS[request.param](tmp_path_factory.mktemp("filters"))
    yield caller(opened, "alice")
    opened.close()


def undone(shared: Caller, work: Callable[[WriteTransaction], None]) -> None:
    def run(tx: WriteTransaction) -> None:
        work(tx)
        raise Undone

    with pytest.raises(Undone):
        shared.write(run)


def distinct(rows: list[RowT], *keys: Callable[[RowT], object]) -> list[RowT]:
    """Keep the first of those that share one of the keys."""
    kept: list[RowT] = []
    for row in rows:
        if not any(key(row) == key(other) for other in kept for key in keys):
            kept.append(row)
    return kept


ENTITIES = st.lists(s.entities, max_size=5).map(lambda rows: distinct(rows, lambda row: row.id, lambda row: row.key))
RELATIONS = st.lists(s.relations, max_size=6).map(
    lambda rows: distinct(rows, lambda row: row.id, lambda row: (row.key, row.is_current))
)
MEMORIES = st.lists(s.memories, max_size=6).map(
    lambda rows: distinct(
        [row for row in rows if row.id],
        lambda row: row.id,
        lambda row: (row.title_key, row.project_id),
        lambda row: (row.slug, row.project_id),
        lambda row: row.content_key or row.id,
    )
)
SYNAPSES = st.lists(s.synapses, max_size=8, unique_by=lambda row: row.key)
ENDS = ["a", "b", "c", "d", "é'x"]


@EXAMPLES
@given(entities=ENTITIES, relations=RELATIONS, evidence=st.lists(s.evidence(s.ids), max_size=5), where=s.entity_filters)
def test_entities(
    shared: Caller,
    entities: list[Entity],
    relations: list[Relation],
    evidence: list[Evidence],
    where: EntityFilter,
) -> None:
    ids = {row.id for row in entities}
    linked = [row for row in relations if {row.source_id, row.target_id} <= ids]
    supported = [item for item in evidence if item.subject_id in ids]
    degrees = Counter(end for row in linked if row.is_current for end in {row.source_id, row.target_id})

    def sessions(id_: str) -> frozenset[str]:
        found = (item.provenance.session for item in supported if item.subject_id == id_)
        return frozenset(session for session in found if session)

    meant = {
        row.id for row in entities if where.matches(row, relation_count=degrees[row.id], sessions=sessions(row.id))
    }

    def work(tx: WriteTransaction) -> None:
        tx.entities.put(entities)
        tx.relations.put(linked)
        tx.entities.add_evidence(supported)
        for order in EntityOrder:
            assert {row.id for row in tx.entities.page(where, order, ALL)} == meant
        assert [row.id for row in tx.entities.page_by_id(where, None, ALL)] == sorted(meant)
        assert tx.entities.count(where) == len(meant)
        named = {row.id for row in entities if name_key(row.name) == "lemon" or row.properties.get("note") == "lemon"}
        assert {hit.ref for hit in tx.entities.search(query("lemon"), where, ALL)} == named & meant
        alike = {row.id for row in tx.entities.find_similar_names("lemon", where, ALL)}
        assert named & meant <= alike <= meant

    undone(shared, work)


@EXAMPLES
@given(relations=RELATIONS, where=s.relation_filters, near=st.sets(s.ids), far=st.sets(s.ids))
def test_relations(
    shared: Caller, relations: list[Relation], where: RelationFilter, near: set[str], far: set[str]
) -> None:
    meant = sorted((row for row in relations if where.matches(row)), key=lambda row: row.id)

    def leads_on(row: Relation) -> bool:
        ends = [row.other_end(end) for end in (row.source_id, row.target_id) if end in near]
        return bool(ends) and not set(ends) & far

    def work(tx: WriteTransaction) -> None:
        tx.entities.put([entity(id_) for id_ in ENDS])
        tx.relations.put(relations)
        assert list(tx.relations.page(where, None, ALL)) == meant
        assert tx.relations.count(where) == len(meant)
        assert sum(tx.relations.count_by_type(where).values()) == len(meant)
        mean = sum(row.weight for row in meant) / len(meant) if meant else 0.0
        assert tx.relations.mean_weight(where) == pytest.approx(mean)
        by_type = [row for row in meant if row.source_id in near]
        by_type.sort(key=lambda row: (row.source_id, type_key(row.type), row.id))
        assert list(tx.relations.find_from(near, None, where)) == by_type
        strongest = sorted(meant, key=strongest_first)
        inside = [row for row in strongest if {row.source_id, row.target_id} <= near]
        assert list(tx.relations.between(near, where, ALL)) == inside
        onward = [row for row in strongest if leads_on(row)]
        assert list(tx.relations.neighbours(near, where, exclude=far, limit=ALL)) == onward
        assert list(tx.relations.neighbours(near, where, exclude=far, limit=1)) == onward[:1]

    undone(shared, work)


@EXAMPLES
@given(memories=MEMORIES, where=s.memory_filters)
def test_memories(shared: Caller, memories: list[Memory], where: MemoryFilter) -> None:
    meant = {row.id for row in memories if where.matches(row)}

    def work(tx: WriteTransaction) -> None:
        tx.memories.add(memories)
        for order in MemoryOrder:
            assert {row.id for row in tx.memories.page(where, order, ALL)} == meant
        assert tx.memories.count(where) == len(meant)
        assert tx.memories.count_by("layer", where) == Counter(row.layer for row in memories if row.id in meant)
        told = {row.id for row in memories if "lemon" in {row.title, *row.tags} or "lemon" in row.content.split(" ")}
        assert {hit.ref for hit in tx.memories.search(query("lemon"), where, ALL)} == told & meant

    undone(shared, work)


@EXAMPLES
@given(memories=MEMORIES, now=s.instants, since=s.instants, after=st.integers(0, 6), limit=st.integers(1, 6))
def test_expired_memories(
    shared: Caller, memories: list[Memory], now: datetime, since: datetime, after: int, limit: int
) -> None:
    meant = sorted(row.id for row in memories if row.id > after and has_expired(row, now, since))

    def work(tx: WriteTransaction) -> None:
        tx.memories.add(memories)
        assert list(tx.memories.page_expired(now, since, after, limit)) == meant[:limit]

    undone(shared, work)


@EXAMPLES
@given(synapses=SYNAPSES, where=s.synapse_filters, near=st.sets(s.memory_ids), far=st.sets(s.memory_ids))
def test_synapses(shared: Caller, synapses: list[Synapse], where: SynapseFilter, near: set[int], far: set[int]) -> None:
    def is_meant(row: Synapse) -> bool:
        leaves, enters = row.source_id in near, row.target_id in near
        ends = {row.target_id} if leaves else set()
        ends |= {row.source_id} if enters else set()
        way = {Direction.OUT: leaves, Direction.IN: enters, Direction.BOTH: leaves or enters}[where.direction]
        return where.matches(row) and way and not ends & far

    meant = sorted((row for row in synapses if is_meant(row)), key=heaviest_first)

    def work(tx: WriteTransaction) -> None:
        tx.memories.add([memory(f"m{id_}", id_) for id_ in range(1, 7)])
        tx.synapses.put(synapses)
        assert list(tx.synapses.of_memories(near, where, exclude=far, limit=ALL)) == meant
        assert list(tx.synapses.of_memories(near, where, exclude=far, limit=2)) == meant[:2]

    undone(shared, work)
