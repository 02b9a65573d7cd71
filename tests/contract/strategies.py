"""Random rows, filters and operations. Pools are small, so that rows meet: same ids, same keys, equal weights."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from graph_memory.domain.entities import (
    Alias,
    Entity,
    EntityFilter,
    Evidence,
    EvidenceKind,
    Provenance,
    SourceType,
)
from graph_memory.domain.ledger import (
    IngestState,
    JobRun,
    RunStatus,
    TranscriptCursor,
    Vector,
    VectorOwner,
)
from graph_memory.domain.memories import (
    ConnectionType,
    Direction,
    Layer,
    Lifecycle,
    Memory,
    MemoryFilter,
    Status,
    Synapse,
    SynapseFilter,
    SynapseKey,
)
from graph_memory.domain.names import memory_slug, name_key, type_key
from graph_memory.domain.queries import Clause, Operator, Term, TextQuery
from graph_memory.domain.relations import Relation, RelationFilter
from graph_memory.ports.graph_rows import EvidenceFilter, EvidenceSources
from tests.contract.samples import ALL, cloud_item, day, item

# ----------------------------------------------------------------------------------------------------------- values

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
names = texts.filter(lambda text: bool(name_key(text)))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)
objects = st.dictionaries(texts, json_values, max_size=2)
weights = st.sampled_from([0.0, 0.1, 0.1 + 0.2, 0.3, 0.5, 1.0])
instants = st.builds(lambda number, micros: day(number + micros / 86_400e6), st.integers(-2, 3), st.integers(0, 1))
maybe_instants = st.none() | instants
ids = st.sampled_from(["a", "b", "c", "d", "é'x"])
relation_ids = st.sampled_from(["r1", "r2", "r3", "r4", "r5", "r6"])
memory_ids = st.integers(1, 6)
entity_types = st.sampled_from(["Person", "PERSON", "Side Project", "side_project", "型"])
relation_types = st.sampled_from(["USES", "uses", "WORKS_ON", "works on"])
sessions = st.sampled_from(["s1", "s2", "s3"])
limits = st.sampled_from([0, 1, 2, ALL])
words = st.sampled_from(["lemon", "orbit", "kiwi"])
"""Words that every stemmer leaves as they are."""
sentences = st.lists(words, max_size=4).map(" ".join)
provenances = st.builds(
    Provenance,
    source_type=st.sampled_from(SourceType),
    session=st.none() | sessions,
    transcript=st.none() | texts,
    file=st.none() | st.sampled_from(["f1", "f2"]),
    memory_id=st.none() | memory_ids,
)

# ------------------------------------------------------------------------------------------------------------- rows

entities = st.builds(
    Entity,
    id=ids,
    type=entity_types,
    name=names | words | st.sampled_from(["Ada", "ADA ", "Straße", "STRASSE"]),
    confidence=weights,
    created_at=instants,
    last_seen=instants,
    decayed_at=maybe_instants,
    mention_count=st.integers(0, 2**40),
    properties=objects | st.just({"pinned": True}) | st.just({"note": "kiwi"}),
    source_file=st.none() | texts,
)
aliases = st.builds(Alias, entity_id=ids, name=names | words)
relations = st.builds(
    Relation,
    id=relation_ids,
    source_id=ids,
    type=relation_types,
    target_id=ids,
    weight=weights,
    ingested_at=instants,
    last_confirmed=instants,
    valid_at=maybe_instants,
    invalid_at=maybe_instants,
    decayed_at=maybe_instants,
    properties=objects,
    provenance=provenances,
)


def evidence(subjects: st.SearchStrategy[str]) -> st.SearchStrategy[Evidence]:
    """Draw a contribution to one of the subjects."""
    return st.builds(
        Evidence,
        subject_id=subjects,
        kind=st.sampled_from(EvidenceKind),
        amount=weights,
        at=instants,
        provenance=provenances,
        text=st.none() | texts,
        properties=st.just({}) | st.dictionaries(names, json_values, max_size=2),
    )


def _memory(title: str, **others: Any) -> Memory:  # noqa: ANN401 - checked by the dataclass
    return Memory(title=title, slug=memory_slug(title), **others)


memories = st.builds(
    _memory,
    title=names | words | st.sampled_from(["Note", "NOTE", "Other note"]),
    id=st.just(0) | memory_ids,
    content=sentences | texts,
    category=st.sampled_from(["note", "décision"]),
    created_at=instants,
    updated_at=instants,
    project_id=st.sampled_from(["_global", "p", "q"]),
    layer=st.sampled_from(Layer),
    lifecycle=st.sampled_from(Lifecycle),
    status=st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.ARCHIVED, Status.INVALID]),
    summary=st.none() | texts,
    tags=st.lists(texts | words, max_size=2, unique=True).map(tuple),
    session_id=st.none() | sessions,
    confidence=weights,
    boost=st.floats(-10, 10),
    accessed_at=maybe_instants,
    access_count=st.integers(0, 3),
    expires_at=maybe_instants,
    content_key=st.none() | st.sampled_from(["k1", "k2", "k3", "k4", "k5", "k6"]),
    source_file=st.none() | st.sampled_from(["f1", "f2"]),
    is_abandoned=st.booleans(),
)
connection_types = st.sampled_from(ConnectionType)
synapse_keys = st.builds(SynapseKey, memory_ids, memory_ids, connection_types)
synapses = st.builds(
    Synapse,
    source_id=memory_ids,
    target_id=memory_ids,
    connection_type=connection_types,
    weight=weights,
    created_at=instants,
    updated_at=instants,
    decayed_at=maybe_instants,
    accessed_at=maybe_instants,
    access_count=st.integers(0, 3),
    cycle_access_count=st.integers(0, 3),
)
items = st.one_of(
    st.builds(
        lambda id_, state, path, key, at, meta: item(
            id_, state, path=path, content_key=key, queued_at=at, updated_at=at, meta=meta
        ),
        ids,
        st.sampled_from(IngestState),
        st.sampled_from(["p1", "p2"]),
        st.sampled_from(["k1", "k2"]),
        instants,
        objects,
    ),
    # Every document has an instant of its own: which of two equally new cursors counts is not said.
    st.builds(
        lambda id_, state, session, hour: cloud_item(
            id_, session, f"2026-03-01T{hour:02}:{ord(id_[0]) % 60:02}:00Z", state=state
        ),
        ids,
        st.sampled_from(IngestState),
        sessions,
        st.integers(0, 23),
    ),
)
cursors = st.builds(
    TranscriptCursor,
    path=ids,
    fingerprint=texts,
    offset=st.integers(0, 2**40),
    size=st.integers(0, 2**40),
    updated_at=instants,
    session_id=st.none() | sessions,
    state=objects,
)
runs = st.builds(
    JobRun,
    job=st.sampled_from(["decay", "export"]),
    started_at=instants,
    status=st.sampled_from(RunStatus),
    ended_at=maybe_instants,
    result=objects,
    error=st.none() | texts,
)
vectors = st.builds(
    Vector,
    owner=st.sampled_from(VectorOwner),
    owner_id=ids | memory_ids.map(str),
    model_id=st.sampled_from(["m1", "m2"]),
    values=st.binary(min_size=4, max_size=4),
)

# ---------------------------------------------------------------------------------------------------------- filters

entity_filters = st.builds(
    EntityFilter,
    ids=st.none() | st.frozensets(ids, max_size=4),
    type_keys=st.none() | st.frozensets(entity_types.map(type_key), max_size=2),
    min_confidence=weights,
    seen_before=maybe_instants,
    created_since=maybe_instants,
    is_orphan=st.none() | st.booleans(),
    session=st.none() | sessions,
)
relation_filters = st.builds(
    RelationFilter,
    type_keys=st.none() | st.frozensets(relation_types.map(type_key), max_size=2),
    min_weight=weights,
    current_only=st.booleans(),
    max_weight=st.none() | weights,
)
memory_filters = st.builds(
    MemoryFilter,
    project_id=st.none() | st.sampled_from(["_global", "p", "q", "none"]),
    is_project_exact=st.booleans(),
    category=st.none() | st.sampled_from(["note", "décision", "none"]),
    layers=st.none() | st.frozensets(st.sampled_from(Layer), max_size=3),
    lifecycles=st.none() | st.frozensets(st.sampled_from(Lifecycle), max_size=2),
    statuses=st.none() | st.frozensets(st.sampled_from(Status), max_size=3),
    session_id=st.none() | sessions,
    source_file=st.none() | st.sampled_from(["f1", "f2"]),
    updated_since=maybe_instants,
    created_since=maybe_instants,
    created_before=maybe_instants,
)
synapse_filters = st.builds(
    SynapseFilter,
    connection_types=st.none() | st.frozensets(connection_types, max_size=2),
    min_weight=weights,
    direction=st.sampled_from(Direction),
)
evidence_filters = st.builds(
    EvidenceFilter,
    session=st.none() | sessions,
    file=st.none() | st.sampled_from(["f1", "f2"]),
    memory_id=st.none() | memory_ids,
    since=maybe_instants,
    before=maybe_instants,
).filter(lambda where: where != EvidenceFilter())
evidence_sources = st.builds(
    EvidenceSources,
    sessions=st.lists(sessions, max_size=2),
    files=st.lists(st.sampled_from(["f1", "f2"]), max_size=1),
    memory_ids=st.lists(memory_ids, max_size=2),
    since=maybe_instants,
    before=maybe_instants,
)


def _query(asked: list[str], operator: Operator, *, is_loose: bool) -> TextQuery:
    terms = tuple(Term(word) for word in asked)
    return TextQuery(" ".join(asked), Clause(operator, terms), Clause(Operator.OR, terms) if is_loose else None)


queries = st.builds(
    _query, st.lists(words, min_size=1, max_size=2, unique=True), st.sampled_from(Operator), is_loose=st.booleans()
)
