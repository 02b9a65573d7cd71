"""Rows to put into a store: short to write, settled in every field that a test does not speak of."""

# ruff: noqa: ANN401 - the fields a test sets are checked by the dataclass they go into
from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from graph_memory.domain.entities import Alias, Entity, EntityFilter, Evidence, EvidenceKind, Provenance
from graph_memory.domain.ledger import (
    CLOUD_SOURCE,
    AuditEvent,
    IngestItem,
    IngestState,
    JobRun,
    MergeRecord,
    RunStatus,
    Tombstone,
    TranscriptCursor,
    Vector,
    VectorOwner,
)
from graph_memory.domain.memories import (
    ConnectionType,
    DecayRate,
    Layer,
    Memory,
    MemoryFilter,
    MemoryVersion,
    Mention,
    OpenLink,
    Synapse,
    SynapseFilter,
)
from graph_memory.domain.names import memory_slug, name_key
from graph_memory.domain.queries import Clause, Operator, Term, TextQuery
from graph_memory.domain.relations import Relation, RelationFilter, RelationKey, relation_id

if TYPE_CHECKING:
    from graph_memory.ports.store import WriteTransaction

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
ALL = 1_000_000
"""A limit beyond anything a test stores."""
ANY_ENTITY = EntityFilter()
ANY_RELATION = RelationFilter(current_only=False)
CURRENT = RelationFilter()
ANY_MEMORY = MemoryFilter(statuses=None)
ANY_SYNAPSE = SynapseFilter()
ODD_TEXTS = [
    "Ünïcödé",
    "東京タワー",
    "مرحبا",
    "नमस्ते",
    "👩‍👩‍👧 family",
    "o'Brien; drop table entities --",
    'back`quote "quoted" $(x) %s {0} \\ /',
    "line\nbreak\ttab",
    "\u202eright to left",
    "\U0010ffff",
]


def day(number: float) -> datetime:
    """Return an instant so many days after the first."""
    return NOW + timedelta(days=number)


def entity(id_: str, type_: str = "Concept", name: str | None = None, **others: Any) -> Entity:
    settled: dict[str, Any] = {"confidence": 0.5, "created_at": NOW, "last_seen": NOW}
    return Entity(id_, type_, id_ if name is None else name, **{**settled, **others})


def relation(source: str, target: str, type_: str = "USES", version: int = 0, **others: Any) -> Relation:
    settled: dict[str, Any] = {"weight": 0.5, "ingested_at": NOW, "last_confirmed": NOW}
    settled["id"] = relation_id(RelationKey(source, name_key(type_), target), version)
    return Relation(source_id=source, type=type_, target_id=target, **{**settled, **others})


def evidence(subject: str, at: datetime = NOW, amount: float = 0.5, **provenance: Any) -> Evidence:
    return Evidence(subject, EvidenceKind.EXPLICIT, amount, at, Provenance(**provenance))


def memory(title: str, id_: int = 0, content: str = "", **others: Any) -> Memory:
    settled: dict[str, Any] = {"slug": memory_slug(title), "category": "note", "created_at": NOW, "updated_at": NOW}
    return Memory(title=title, id=id_, content=content, **{**settled, **others})


def synapse(
    source: int, target: int, weight: float = 1.0, type_: ConnectionType = ConnectionType.WIKILINK, **others: Any
) -> Synapse:
    settled: dict[str, Any] = {"created_at": NOW, "updated_at": NOW}
    return Synapse(source, target, type_, weight, **{**settled, **others})


def item(id_: str, state: IngestState = IngestState.PENDING, **others: Any) -> IngestItem:
    settled: dict[str, Any] = {
        "content_key": f"content of {id_}",
        "path": f"notes/{id_}.md",
        "size": 10,
        "queued_at": NOW,
        "updated_at": NOW,
    }
    return IngestItem(id_, state=state, **{**settled, **others})


def cloud_item(id_: str, session: str, through: str, **others: Any) -> IngestItem:
    meta = {"source": CLOUD_SOURCE, "session_id": session, "through": through, "last_event_id": f"event of {id_}"}
    return item(id_, **{"meta": meta, **others})


def run(job: str, started_at: datetime = NOW, status: RunStatus = RunStatus.SUCCEEDED, **others: Any) -> JobRun:
    return JobRun(job, started_at, status, **others)


def vector(owner: VectorOwner, owner_id: str, model_id: str = "model", values: bytes = b"\0\0\x80?") -> Vector:
    return Vector(owner, owner_id, model_id, values)


def query(*words: str, operator: Operator = Operator.AND, loose: bool = False, is_prefix: bool = False) -> TextQuery:
    """Ask for words: all of them (or as `operator` says) strictly; any of them loosely only if `loose`."""
    terms = tuple(Term(word, is_prefix=is_prefix) for word in words)
    return TextQuery(" ".join(words), Clause(operator, terms), Clause(Operator.OR, terms) if loose else None)


def populate(tx: WriteTransaction) -> None:
    """Store at least one row of every kind; `tests.contract.primitives` knows them by their ids."""
    _populate_graph(tx)
    _populate_memories(tx)
    _populate_ledger(tx)
    _populate_upkeep(tx)


def _populate_graph(tx: WriteTransaction) -> None:
    tx.entities.put(
        [
            entity("ada", "Person", "Ada Lovelace", properties={"role": "mathematician"}),
            entity("engine", "Project", "Analytical Engine"),
            entity("lonely", "Concept", "Lonely"),
        ]
    )
    tx.entities.put_aliases([Alias("ada", "Countess")])
    tx.entities.add_evidence([evidence("ada", session="s1"), evidence("engine", file="notes.md")])
    old = relation("ada", "engine", "WORKS_ON", 0, id="r-old", invalid_at=day(1))
    tx.relations.put([old, relation("ada", "engine", "WORKS_ON", 1, id="r-now", ingested_at=day(1))])
    tx.relations.put([relation("engine", "ada", "USES", id="r-back", weight=0.25)])
    tx.relations.add_evidence([evidence("r-now", session="s1"), evidence("r-old", session="s0")])


def _populate_memories(tx: WriteTransaction) -> None:
    tx.memories.add(
        [
            memory("First note", 1, "about the engine", content_key="c1", tags=("cards",)),
            memory("Second note", 2, "about bernoulli", layer=Layer.SEMANTIC, expires_at=day(2)),
        ]
    )
    tx.memories.add_mentions([Mention(1, "ada", NOW)])
    tx.memories.put_open_links([OpenLink(1, "Nowhere yet")])
    tx.memories.add_versions([MemoryVersion(1, "First draft", "scribbles", NOW)])
    tx.synapses.put([synapse(1, 2), synapse(2, 1, 0.5, ConnectionType.SEQUENCE)])
    tx.synapses.put_decay_rates([DecayRate(Layer.EPISODIC, "*", ConnectionType.WIKILINK, 0.9)])


def _populate_ledger(tx: WriteTransaction) -> None:
    tx.ledger.put_items([item("i1"), cloud_item("i2", "cloud", "2026-03-01T00:00:00Z", state=IngestState.COMPLETED)])
    tx.ledger.put_transcript_cursors([TranscriptCursor("/t/a.jsonl", "print", 10, 20, NOW, "s1", {"turn": 1})])
    tx.ledger.add_learned({"k1": 1})
    tx.ledger.put_tombstones([Tombstone("dead", "asked for", NOW)])


def _populate_upkeep(tx: WriteTransaction) -> None:
    tx.upkeep.put_run(run("decay", NOW))
    tx.upkeep.put_run(run("decay", day(1), RunStatus.FAILED, error="no"))
    tx.upkeep.put_merges([MergeRecord("m1", "ada", "engine", NOW, {"aliases": ["Countess"]})])
    tx.upkeep.put_vectors([vector(VectorOwner.ENTITY, "ada"), vector(VectorOwner.MEMORY, "1")])
    tx.upkeep.add_audit([AuditEvent("e1", "entity_added", NOW, {"id": "ada"})])
