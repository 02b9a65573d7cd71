"""What a piece of evidence does to an entity or a relation, in one place: the decay that is due comes first."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from graph_memory.domain.audit import audit_event
from graph_memory.domain.decay import decayed
from graph_memory.domain.entities import Entity, Evidence, EvidenceKind, Provenance, SourceType
from graph_memory.domain.ledger import AuditEvent
from graph_memory.domain.memories import Mention
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.relations import Relation
from graph_memory.domain.weights import changed
from graph_memory.ports.store import WriteTransaction


def count_mentions(tx: WriteTransaction, mentions: Collection[Mention], now: datetime, policy: GraphPolicy) -> None:
    """Let mentions that are new support their entities: confidence, when and how often they were seen, evidence."""
    if not mentions:
        return
    ids = {it.entity_id for it in mentions}
    entities = {it.id: it for it in tx.entities.find_for_update((), ids).values()}
    amount = policy.weights.boost_on_mention
    evidence = []
    for mention in mentions:
        if mention.entity_id in entities:
            seen = supported_entity(entities[mention.entity_id], EvidenceKind.MENTION, amount, now, policy)
            entities[mention.entity_id] = seen
            provenance = Provenance(SourceType.MENTION, memory_id=mention.memory_id)
            evidence.append(Evidence(mention.entity_id, EvidenceKind.MENTION, amount, now, provenance))
    tx.entities.put(list(entities.values()))
    tx.entities.add_evidence(evidence)


def supported_entity(entity: Entity, kind: EvidenceKind, amount: float, now: datetime, policy: GraphPolicy) -> Entity:
    """Return an entity after one more piece of evidence."""
    confidence = entity.confidence
    if not entity.is_exempt_from_decay:
        rate = policy.decay.rate_of(entity.type)
        confidence = decayed(confidence, rate, entity.decayed_at or entity.created_at, now)
    return replace(
        entity,
        confidence=changed(confidence, kind, amount),
        decayed_at=now,
        last_seen=max(entity.last_seen, now),
        mention_count=entity.mention_count + 1,
    )


def supported_relation(
    relation: Relation, kind: EvidenceKind, amount: float, now: datetime, policy: GraphPolicy
) -> Relation:
    """Return a relation after one more piece of evidence; a correction does not confirm it."""
    return replace(
        relation,
        weight=changed(due_weight(relation, now, policy), kind, amount),
        decayed_at=now,
        last_confirmed=relation.last_confirmed if kind is EvidenceKind.WEAKEN else now,
    )


def due_weight(relation: Relation, now: datetime, policy: GraphPolicy) -> float:
    """Return what a relation weighs now."""
    return decayed(relation.weight, policy.decay.relation_rate, relation.decayed_at or relation.last_confirmed, now)


def relation_event(event: str, relation: Relation, now: datetime) -> AuditEvent:
    """Return what the audit must know of a change of a relation: its id and weight."""
    return audit_event(event, now, {"relation_id": relation.id, "weight": relation.weight})
