"""Writing to the graph: state, confirm, correct, delete."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from graph_memory.domain.audit import audit_event
from graph_memory.domain.decay import decayed
from graph_memory.domain.entities import Entity, EntityKey, Evidence, EvidenceKind, JsonValue, Provenance, SourceType
from graph_memory.domain.errors import Ambiguous, InvalidRequest, NotFound
from graph_memory.domain.names import name_key, type_key
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import Principal
from graph_memory.domain.redaction import redact
from graph_memory.domain.relations import Relation, RelationKey
from graph_memory.domain.statements import Batch
from graph_memory.domain.weights import changed
from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction
from graph_memory.services.links import authors_that_name, leave_open
from graph_memory.services.statements import BatchOutcome, apply_batch

SESSION_TYPE_KEY = "session"
CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A relation before and after it was confirmed or corrected; `is_pruned`: it no longer counts as current."""

    previous_weight: float
    relation: Relation
    is_pruned: bool = False


@dataclass(frozen=True, slots=True)
class Deletion:
    """An entity that was deleted, with the number of relations, of any version, that went with it."""

    entity: Entity
    relations_removed: int


class Relate:
    """Changes what the graph says, one transaction a call."""

    def __init__(self, store: Store, clock: Callable[[], datetime], policy: GraphPolicy) -> None:
        self._store, self._clock, self._policy = store, clock, policy

    def relate(self, principal: Principal, batch: Batch) -> BatchOutcome:
        """Store a batch, atomically; where it names a known session, in the project of that session.

        Raises:
            InvalidRequest: something in it can't be used; nothing is stored.
        """
        if not batch.entities and not batch.relations:
            msg = "the batch is empty; give entities, relations or both"
            raise InvalidRequest(msg, argument="batch")
        now = self._clock()

        def work(tx: WriteTransaction) -> BatchOutcome:
            placed = batch if batch.project is not None else replace(batch, project=_project_of(tx, batch.provenance))
            return apply_batch(tx, placed, now, self._policy)

        return self._store.write(principal, work)

    def boost(
        self, principal: Principal, source: str, relation: str, target: str, *, amount: float | None, reason: str | None
    ) -> WeightChange:
        """Add `amount` (default 0.15) to a current relation's weight, up to 1, and confirm it.

        Raises:
            NotFound: no such current relation.
            InvalidRequest: the amount is negative.
        """
        size = self._policy.weights.boost_on_confirm if amount is None else amount
        return self._change(principal, (source, relation, target), EvidenceKind.BOOST, size, reason)

    def weaken(
        self, principal: Principal, source: str, relation: str, target: str, *, amount: float | None, reason: str | None
    ) -> WeightChange:
        """Take `amount` (default 0.3) from a current relation's weight; at or under the threshold it stops holding.

        `last_confirmed` stays as it is.

        Raises:
            NotFound: no such current relation.
            InvalidRequest: the amount is negative.
        """
        size = self._policy.weights.weaken_on_correct if amount is None else amount
        return self._change(principal, (source, relation, target), EvidenceKind.WEAKEN, size, reason)

    def _change(
        self, principal: Principal, names: tuple[str, str, str], kind: EvidenceKind, amount: float, reason: str | None
    ) -> WeightChange:
        if not 0.0 <= amount <= 1.0:
            msg = f"amount: {amount} is not within 0 and 1"
            raise InvalidRequest(msg, argument="amount")
        now = self._clock()
        return self._store.write(principal, lambda tx: self._apply_change(tx, names, kind, amount, reason, now))

    def _apply_change(
        self,
        tx: WriteTransaction,
        names: tuple[str, str, str],
        kind: EvidenceKind,
        amount: float,
        reason: str | None,
        now: datetime,
    ) -> WeightChange:
        found = find_relation(tx, *names)
        ends = tx.entities.find({found.source_id, found.target_id})
        tx.entities.find_for_update({it.key for it in ends.values()})
        relation = tx.relations.find({found.id})[found.id]
        due = decayed(
            relation.weight, self._policy.decay.relation_rate, relation.decayed_at or relation.last_confirmed, now
        )
        weight = changed(due, kind, amount)
        is_pruned = kind is EvidenceKind.WEAKEN and weight <= self._policy.decay.prune_edge_threshold
        after = replace(
            relation,
            weight=weight,
            decayed_at=now,
            last_confirmed=relation.last_confirmed if kind is EvidenceKind.WEAKEN else now,
            invalid_at=now if is_pruned else None,
        )
        tx.relations.put([after])
        text = None if reason is None else redact(reason).text
        piece = Evidence(relation.id, kind, amount, now, Provenance(SourceType.MANUAL), text)
        tx.relations.add_evidence([piece])
        tx.upkeep.add_audit([audit_event("edge_modified", now, {"relation_id": relation.id, "weight": weight})])
        return WeightChange(due, after, is_pruned)

    def delete(self, principal: Principal, entity_id: str, reason: str | None) -> Deletion | None:
        """Delete an entity with all its relations, of every version; `None` when there is none with that id."""
        now = self._clock()

        def work(tx: WriteTransaction) -> Deletion | None:
            entity = tx.entities.find({entity_id}).get(entity_id)
            if entity is None:
                return None
            tx.entities.find_for_update({entity.key})
            authors = authors_that_name(tx, {entity_id})
            removed = tx.relations.delete_of_entities({entity_id})
            tx.entities.delete({entity_id})
            leave_open(tx, authors)
            data: dict[str, JsonValue] = {
                "entity_id": entity_id,
                "relations": removed,
                "has_reason": bool(reason and reason.strip()),
            }
            tx.upkeep.add_audit([audit_event("entity_deleted", now, data)])
            return Deletion(entity, removed)

        return self._store.write(principal, work)

    def resolve(self, principal: Principal, node_a: str, node_b: str, keep: str) -> Relation:
        """Close the open contradiction between two entities, named or by id, in favour of `keep`, one of the two.

        Raises:
            NotFound: no open contradiction joins them.
            InvalidRequest: `keep` is neither of them.
        """
        now = self._clock()

        def work(tx: WriteTransaction) -> Relation:
            open_ones = _contradictions(tx, node_a, node_b)
            if not open_ones:
                raise NotFound(
                    f"no open contradiction joins {node_a!r} and {node_b!r}; graph_query shows what does, and "
                    "graph_relate states one with relation CONTRADICTS"
                )
            ends = {it for relation in open_ones for it in (relation.source_id, relation.target_id)}
            kept = sorted(_named(tx, keep) & ends)
            if len(kept) != 1:
                raise InvalidRequest(f"keep: {keep!r} is neither {node_a!r} nor {node_b!r}", argument="resolves.keep")
            closed = [
                replace(it, invalid_at=now, properties={**it.properties, "resolved": True, "kept": kept[0]})
                for it in open_ones
            ]
            tx.relations.put(closed)
            tx.upkeep.add_audit(
                [audit_event("edge_modified", now, {"relation_id": it.id, "kept": kept[0]}) for it in closed]
            )
            return closed[0]

        return self._store.write(principal, work)


def _contradictions(tx: ReadTransaction, node_a: str, node_b: str) -> list[Relation]:
    first, second = _named(tx, node_a), _named(tx, node_b)
    keys = {RelationKey(*pair) for a in first for b in second for pair in ((a, CONTRADICTS, b), (b, CONTRADICTS, a))}
    return sorted(tx.relations.find_current(keys).values(), key=lambda it: it.id)


def _project_of(tx: ReadTransaction, provenance: Provenance) -> str | None:
    if provenance.session is None:
        return None
    key = EntityKey(SESSION_TYPE_KEY, name_key(provenance.session))
    session = tx.entities.find_by_key({key}).get(key)
    project = None if session is None else session.properties.get("project")
    if not isinstance(project, str) or project not in tx.entities.find({project}):
        return None
    return project


def find_relation(tx: ReadTransaction, source: str, relation: str, target: str) -> Relation:
    """Find the current relation between two entities, by their names, aliases or ids.

    Raises:
        NotFound: there is none; the text says to use graph_relate.
        Ambiguous: the names fit several current relations.
    """
    sources, targets = _named(tx, source), _named(tx, target)
    keys = {RelationKey(a, type_key(relation), b) for a in sources for b in targets}
    found = sorted(tx.relations.find_current(keys).values(), key=lambda it: it.id)
    if not found:
        msg = f"no current relation {source!r} {relation} {target!r}; state it with graph_relate"
        raise NotFound(msg)
    if len(found) > 1:
        listed = tuple(f"{it.source_id} {it.type} {it.target_id}" for it in found)
        msg = f"several relations fit: {', '.join(listed)}; give ids instead of names"
        raise Ambiguous(msg, argument="from_name", candidates=listed)
    return found[0]


def _named(tx: ReadTransaction, name: str) -> set[str]:
    by_id = tx.entities.find({name})
    if by_id:
        return set(by_id)
    return {it.id for it in tx.entities.find_by_name({name_key(name)}).get(name_key(name), ())}
