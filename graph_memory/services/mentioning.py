"""Counting that a memory mentions an entity: what a mention does to the entity, in one place."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from graph_memory.domain.decay import decayed
from graph_memory.domain.entities import Entity, Evidence, EvidenceKind, Provenance, SourceType
from graph_memory.domain.memories import Mention
from graph_memory.domain.policy import GraphPolicy
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
            seen = supported(entities[mention.entity_id], EvidenceKind.MENTION, amount, now, policy)
            entities[mention.entity_id] = seen
            provenance = Provenance(SourceType.MENTION, memory_id=mention.memory_id)
            evidence.append(Evidence(mention.entity_id, EvidenceKind.MENTION, amount, now, provenance))
    tx.entities.put(list(entities.values()))
    tx.entities.add_evidence(evidence)


def supported(entity: Entity, kind: EvidenceKind, amount: float, now: datetime, policy: GraphPolicy) -> Entity:
    """Return an entity after one more piece of evidence; the decay that is due comes first."""
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
