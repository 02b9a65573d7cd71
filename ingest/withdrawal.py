"""Taking back what a memory contributed, as if it had never named what it names."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from graph_memory.domain.entities import Entity, Evidence
from graph_memory.domain.memories import Mention
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.relations import Relation, RelationKey
from graph_memory.domain.weights import folded
from graph_memory.ports.graph_rows import EvidenceFilter
from graph_memory.ports.store import WriteTransaction
from ingest.mentions import MENTIONS_KEY


def withdraw_mentions(
    tx: WriteTransaction, memory_id: int, source_id: str, entity_ids: Collection[str], policy: GraphPolicy
) -> None:
    """Take back that a memory names these entities: the mentions, and its share in them and in its source's relations.

    What others support too is folded from their evidence. Relations and entities that nothing supports go.
    """
    mentions = tx.memories.mentions_of_memories({memory_id})
    kept = [it for it in mentions if it.entity_id not in entity_ids]
    doomed = {it.entity_id for it in mentions} - {it.entity_id for it in kept}
    if not doomed:
        return
    tx.memories.delete_mentions({memory_id})
    if kept:
        tx.memories.add_mentions([Mention(memory_id, it.entity_id, it.created_at) for it in kept])
    kept_ids = {it.entity_id for it in kept}
    _withdraw_relations(tx, memory_id, [RelationKey(source_id, MENTIONS_KEY, it) for it in kept_ids], policy)
    _withdraw_entities(tx, memory_id, kept_ids, policy)


def _withdraw_relations(
    tx: WriteTransaction, memory_id: int, kept: Collection[RelationKey], policy: GraphPolicy
) -> None:
    kept_ids = {it.id for versions in tx.relations.versions(kept).values() for it in versions} if kept else set()
    restored = _of_memory(memory_id, tx.relations.evidence(kept_ids).values()) if kept_ids else []
    touched = tx.relations.delete_evidence(EvidenceFilter(memory_id=memory_id))
    tx.relations.add_evidence(restored)
    lost = tx.relations.find(set(touched) - kept_ids)
    evidence = tx.relations.evidence(lost.keys())
    tx.relations.put([_refolded(it, evidence[id_], policy) for id_, it in lost.items() if evidence.get(id_)])
    tx.relations.delete([id_ for id_ in lost if not evidence.get(id_)])


def _withdraw_entities(tx: WriteTransaction, memory_id: int, kept_ids: Collection[str], policy: GraphPolicy) -> None:
    restored = _of_memory(memory_id, tx.entities.evidence(kept_ids).values()) if kept_ids else []
    touched = tx.entities.delete_evidence(EvidenceFilter(memory_id=memory_id))
    tx.entities.add_evidence(restored)
    lost = tx.entities.find(set(touched) - set(kept_ids))
    evidence = tx.entities.evidence(lost.keys())
    tx.entities.put([_less(it, evidence[id_], policy) for id_, it in lost.items() if evidence.get(id_)])
    alone = [id_ for id_ in lost if not evidence.get(id_)]
    if alone:
        named = {it.entity_id for it in tx.memories.mentions_of_entities(alone, 1)}
        related = {id_ for id_, degree in tx.entities.degrees(alone).items() if degree}
        free = [id_ for id_ in alone if id_ not in named | related]
        tx.relations.delete_of_entities(free)
        tx.entities.delete(free)


def _of_memory(memory_id: int, evidence: Collection[Sequence[Evidence]]) -> list[Evidence]:
    return [piece for pieces in evidence for piece in pieces if piece.provenance.memory_id == memory_id]


def _refolded(relation: Relation, evidence: Sequence[Evidence], policy: GraphPolicy) -> Relation:
    state = folded(evidence, policy.decay.relation_rate)
    assert state is not None
    return replace(relation, weight=state[0], decayed_at=state[1], last_confirmed=state[1])


def _less(entity: Entity, evidence: Sequence[Evidence], policy: GraphPolicy) -> Entity:
    rate = 1.0 if entity.is_exempt_from_decay else policy.decay.rate_of(entity.type)
    state = folded(evidence, rate)
    assert state is not None
    return replace(entity, confidence=state[0], decayed_at=state[1], mention_count=max(entity.mention_count - 1, 0))
