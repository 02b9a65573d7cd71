"""An erasure as it was planned, applied: rows go, others change, tombstones are left."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from graph_memory.domain.entities import JsonValue
from graph_memory.domain.forgetting import GraphLoss
from graph_memory.domain.ledger import VectorOwner
from graph_memory.domain.memories import ConnectionType, Memory, SynapseFilter
from graph_memory.domain.tombstones import stub_of
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from graph_memory.services.erasure import Erasure
from graph_memory.services.links import authors_that_name, leave_open

PAGE = 1_000
MASK = "forgotten"
"""What stands where something was taken out."""
_ALL = 1_000_000_000


def apply_erasure(tx: WriteTransaction, erasure: Erasure, now: datetime) -> None:
    """Take out what a plan covers, and leave its tombstones; nothing of the text is left in any row."""
    loss = erasure.loss
    tx.ledger.put_tombstones(erasure.tombstones)
    linking = _linking(tx, erasure)
    tx.memories.delete(erasure.memories.keys())
    _apply_loss(tx, loss)
    leave_open(tx, linking)
    tx.ledger.delete_learned(erasure.memories.keys())
    tx.ledger.delete_items({it.id for it in erasure.items})
    stubs = (stub_of(replace(it, updated_at=now)) for it in erasure.items)
    tx.ledger.put_items([it for it in stubs if it is not None])
    _clean_upkeep(tx, erasure)
    if erasure.memories:
        tx.memories.renew_common_terms()


def _apply_loss(tx: WriteTransaction, loss: GraphLoss) -> None:
    tx.relations.delete(loss.gone_relations)
    tx.relations.put(list(loss.relations.values()))
    tx.relations.put_evidence(loss.relation_evidence)
    tx.entities.put(list(loss.entities.values()))
    tx.entities.put_evidence(loss.entity_evidence)
    tx.upkeep.delete_vectors(VectorOwner.ENTITY, loss.entities.keys())
    tx.entities.delete(loss.gone_entities)


def _linking(tx: ReadTransaction, erasure: Erasure) -> Sequence[Memory]:
    """Find the memories that stay and link to memories or entities that go."""
    ids = erasure.memories.keys()
    where = SynapseFilter(frozenset({ConnectionType.WIKILINK}))
    found = tx.synapses.of_memories(ids, where, exclude=ids, limit=_ALL) if ids else ()
    sources = {it.source_id for it in found if it.target_id in ids}
    authors = {it.id: it for it in authors_that_name(tx, erasure.loss.gone_entities) if it.id not in ids}
    return [it for _, it in sorted({**authors, **tx.memories.find(sources)}.items())]


def _clean_upkeep(tx: WriteTransaction, erasure: Erasure) -> None:
    """Remove what upkeep keeps of it: inverses of merges, reasons of failed runs, ids that wait for the audit."""
    touched = erasure.loss.touched_entities
    if not (touched or erasure.memories or erasure.items):
        return
    after: str | None = None
    while page := tx.upkeep.page_merges(after, PAGE):
        after = page[-1].id
        tx.upkeep.delete_merges({it.id for it in page if {it.source_id, it.target_id} & touched})
    words = _telling_words(erasure)
    for job in tx.upkeep.last_runs():
        for run in tx.upkeep.runs(job, PAGE):
            is_telling = run.error is not None and any(it in run.error for it in words)
            error = MASK if is_telling else run.error
            left = replace(run, error=error, result=masked(run.result, words))
            if left != run:
                tx.upkeep.put_run(left)
    _mask_outbox(tx, words)


def _telling_words(erasure: Erasure) -> frozenset[str]:
    """Return the names by which runs of jobs and the audit may tell of what goes."""
    titles = (it.title for it in erasure.memories.values())
    return erasure.names.union(titles, (it.path for it in erasure.items))


def _mask_outbox(tx: WriteTransaction, words: Collection[str]) -> None:
    """Take what is made of names out of the events that the audit has yet to write."""
    events = tx.upkeep.page_audit(_ALL) if words else ()
    pairs = [(it, replace(it, data=masked(it.data, words))) for it in events]
    changed = [(before, after) for before, after in pairs if before != after]
    tx.upkeep.delete_audit([before.id for before, _ in changed])
    tx.upkeep.add_audit([after for _, after in changed])


def masked(data: Mapping[str, JsonValue], words: Collection[str]) -> dict[str, JsonValue]:
    """Return figures without these words, whole texts that is; of a list, what has one of them goes."""
    return {name: _masked(value, words) for name, value in data.items()}


def _masked(value: JsonValue, words: Collection[str]) -> JsonValue:
    if isinstance(value, str):
        return MASK if value in words else value
    if isinstance(value, dict):
        return masked(value, words)
    if isinstance(value, list):
        pairs = ((it, _masked(it, words)) for it in value)
        return [left for it, left in pairs if it == left]
    return value
