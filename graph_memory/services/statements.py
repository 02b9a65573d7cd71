"""Statements become rows here: the tools, the command line and ingest all come through `apply_batch`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from graph_memory.domain.audit import audit_event
from graph_memory.domain.decay import decayed
from graph_memory.domain.entities import Entity, Evidence, EvidenceKind, JsonValue, SourceType
from graph_memory.domain.ledger import AuditEvent
from graph_memory.domain.names import clean_type, name_key, relation_type_spelling, type_key
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.redaction import redact
from graph_memory.domain.relations import Relation, RelationFilter, RelationKey, relation_id
from graph_memory.domain.statements import Batch, RelationStatement, cleaned_properties, merged_properties
from graph_memory.domain.supersession import plan_supersession, true_since
from graph_memory.domain.weights import changed, clamped
from graph_memory.ports.store import WriteTransaction
from graph_memory.services.links import answer_with_entities
from graph_memory.services.resolution import EntityResolver, apply_entities

ALL_VERSIONS = RelationFilter(current_only=False)


class Action(StrEnum):
    """What became of something stated."""

    CREATED = "created"
    STRENGTHENED = "strengthened"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class RelationOutcome:
    """A relation as it stands after a statement, and what the statement did to it."""

    relation: Relation
    action: Action


@dataclass(frozen=True, slots=True)
class EntityOutcome:
    """An entity as it stands after a batch, and what the batch did to it."""

    entity: Entity
    action: Action


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What a batch did.

    `entities` are all it was about, by id; `stated_entities` and `relations` what its items became, in its order;
    `superseded` the relations it ended.
    """

    entities: Mapping[str, Entity]
    created_entities: tuple[str, ...]
    merged_entities: tuple[str, ...]
    stated_entities: tuple[EntityOutcome, ...]
    relations: tuple[RelationOutcome, ...]
    superseded: tuple[Relation, ...]
    warnings: tuple[str, ...]


def apply_batch(tx: WriteTransaction, batch: Batch, now: datetime, policy: GraphPolicy) -> BatchOutcome:
    """Store what a batch states: entities first, then relations with their evidence; all or nothing.

    Explicit statements keep the larger weight, mentions add a little; what replaces an older fact is decided by the
    order of time. The decay that is due is applied before a value changes.

    Raises:
        InvalidRequest: a name, type or property can't be used, or a relation's end is unknown.
        Ambiguous: a name without a type has several entities.
    """
    resolver = EntityResolver(tx, batch, now, policy)
    resolved = resolver.resolve()
    apply_entities(tx, resolved)
    ledger = _Versions(tx, batch, resolver, now, policy)
    outcomes = tuple(ledger.state(it) for it in batch.relations)
    ledger.store()
    created, entities = set(resolved.created), resolved.changed
    if created and answer_with_entities(tx, [entities[it] for it in resolved.created], now, policy):
        entities = {**entities, **tx.entities.find(created)}
    events = [audit_event("entity_created", now, {"entity_id": it}) for it in resolved.created]
    tx.upkeep.add_audit(events + ledger.events())
    return BatchOutcome(
        entities=entities,
        created_entities=resolved.created,
        merged_entities=resolved.merged,
        stated_entities=tuple(
            EntityOutcome(entities[it], Action.CREATED if it in created else Action.MERGED) for it in resolved.stated
        ),
        relations=outcomes,
        superseded=tuple(ledger.closed.values()),
        warnings=tuple(ledger.warnings),
    )


class _Versions:
    """The versions of the relations that a batch is about, kept in step while it is applied."""

    def __init__(
        self, tx: WriteTransaction, batch: Batch, resolver: EntityResolver, now: datetime, policy: GraphPolicy
    ) -> None:
        self._tx, self._batch, self._resolver, self._now, self._policy = tx, batch, resolver, now, policy
        self._changed: dict[str, Relation] = {}
        self._created: dict[str, None] = {}
        self._evidence: list[Evidence] = []
        self.closed: dict[str, Relation] = {}
        self.warnings: list[str] = []
        self._keys = [self._key(it) for it in batch.relations]
        self._next = iter(self._keys)
        self._load()

    def _key(self, statement: RelationStatement) -> RelationKey:
        clean_type(statement.type, argument=f"{statement.where}relation")
        return RelationKey(
            self._resolver.end(statement.source), type_key(statement.type), self._resolver.end(statement.target)
        )

    def _load(self) -> None:
        self._versions = {key: list(found) for key, found in self._tx.relations.versions(set(self._keys)).items()}
        self._siblings: dict[tuple[str, str], list[Relation]] = {}
        competing = {
            key
            for key, it in zip(self._keys, self._batch.relations, strict=True)
            if it.supersedes or key.type_key in self._policy.single_valued
        }
        if competing:
            sources, types = {it.source_id for it in competing}, {it.type_key for it in competing}
            for relation in self._tx.relations.find_from(sources, types, ALL_VERSIONS):
                self._siblings.setdefault(relation.key[:2], []).append(relation)
        self._spelling = dict(self._tx.relations.type_spelling({key.type_key for key in self._keys}))
        self._near_project = self._find_near_project()

    def _find_near_project(self) -> frozenset[str]:
        """Return the ends that are the project, or one hop from it."""
        project = self._batch.project
        if project is None:
            return frozenset()
        ends = {end for key in self._keys for end in (key.source_id, key.target_id)}
        near = self._tx.relations.between({project, *ends}, RelationFilter(), limit=len(ends) * 20 + 20)
        return frozenset({project} | {it.other_end(project) for it in near if project in (it.source_id, it.target_id)})

    def state(self, statement: RelationStatement) -> RelationOutcome:
        """Apply one statement to the versions at hand."""
        key = next(self._next)
        versions = self._versions.setdefault(key, [])
        competitors = self._competitors(key, statement)
        since = statement.valid_at or self._now
        plan = plan_supersession(key, since, competitors)
        current = next((it for it in versions if it.is_current), None)
        if plan.invalid_at is not None:
            known = next((it for it in versions if true_since(it) == since), None)
            if known is not None and not known.is_current:
                return self._strengthen(known, statement)
        elif current is not None:
            self._close(plan.closed)
            return self._strengthen(current, statement)
        self._close(plan.closed)
        return self._create(key, statement, plan.invalid_at)

    def _competitors(self, key: RelationKey, statement: RelationStatement) -> Sequence[Relation]:
        siblings = self._siblings.get(key[:2], [])
        if key.type_key in self._policy.single_valued:
            return siblings
        if not statement.supersedes:
            return ()
        wanted = {name_key(it) for it in statement.supersedes}
        targets = self._tx.entities.find({it.target_id for it in siblings})
        named = [it for it in siblings if it.is_current and self._is_named(targets[it.target_id], wanted)]
        found = {name for it in named for name in (it.target_id, name_key(targets[it.target_id].name))}
        source = self._resolver.name_of(key.source_id)
        self.warnings.extend(
            f"{statement.where}supersedes: no current {statement.type} from {source!r} to {it!r}"
            for it in statement.supersedes
            if name_key(it) not in found
        )
        return named

    @staticmethod
    def _is_named(entity: Entity, wanted: set[str]) -> bool:
        return entity.id in wanted or name_key(entity.name) in wanted

    def _close(self, closed: Sequence[Relation]) -> None:
        for relation in closed:
            self._keep(relation)
            self.closed[relation.id] = relation

    def _create(self, key: RelationKey, statement: RelationStatement, invalid_at: datetime | None) -> RelationOutcome:
        versions = self._versions[key]
        weight = self._stated_weight(key, statement)
        relation = Relation(
            id=self._free_id(key, len(versions)),
            source_id=key.source_id,
            type=self._spell(statement.type),
            target_id=key.target_id,
            weight=weight,
            ingested_at=self._now,
            last_confirmed=self._now,
            valid_at=statement.valid_at,
            invalid_at=invalid_at,
            decayed_at=self._now,
            properties=merged_properties({}, _properties_of(statement)),
            provenance=self._batch.provenance,
        )
        self._created[relation.id] = None
        self._note(relation.id, EvidenceKind.EXPLICIT, weight, statement)
        self._keep(relation)
        return RelationOutcome(relation, Action.CREATED)

    def _free_id(self, key: RelationKey, version: int) -> str:
        taken = self._tx.relations.find({relation_id(key, version)})
        while taken or relation_id(key, version) in self._changed:
            version += 1
            taken = self._tx.relations.find({relation_id(key, version)})
        return relation_id(key, version)

    def _spell(self, stated: str) -> str:
        spelled = relation_type_spelling(clean_type(stated, argument="relation"))
        known = self._spelling.setdefault(type_key(spelled), spelled)
        return spelled if spelled != stated else known

    def _stated_weight(self, key: RelationKey, statement: RelationStatement) -> float:
        if statement.weight is not None:
            return clamped(statement.weight)
        weights = self._policy.weights
        initial = weights.initial(self._batch.provenance.source_type)
        is_near = key.source_id in self._near_project or key.target_id in self._near_project
        return clamped(initial + weights.project_context_boost) if is_near else initial

    def _strengthen(self, relation: Relation, statement: RelationStatement) -> RelationOutcome:
        if self._batch.provenance.source_type is SourceType.MENTION:
            kind, amount = EvidenceKind.MENTION, self._policy.weights.boost_on_mention
        else:
            kind, amount = EvidenceKind.EXPLICIT, self._stated_weight(relation.key, statement)
        due = decayed(
            relation.weight, self._policy.decay.relation_rate, relation.decayed_at or relation.last_confirmed, self._now
        )
        stronger = replace(
            relation,
            weight=changed(due, kind, amount),
            decayed_at=self._now,
            last_confirmed=self._now,
            valid_at=statement.valid_at or relation.valid_at,
            properties=merged_properties(relation.properties, _properties_of(statement)),
            provenance=self._batch.provenance,
        )
        self._note(relation.id, kind, amount, statement)
        self._keep(stronger)
        return RelationOutcome(stronger, Action.STRENGTHENED)

    def _note(self, subject: str, kind: EvidenceKind, amount: float, statement: RelationStatement) -> None:
        text = None if statement.evidence is None else redact(statement.evidence).text
        stated = _properties_of(statement)
        self._evidence.append(Evidence(subject, kind, amount, self._now, self._batch.provenance, text, stated))

    def _keep(self, relation: Relation) -> None:
        self._changed[relation.id] = relation
        for group in (
            self._versions.setdefault(relation.key, []),
            self._siblings.setdefault(relation.key[:2], []),
        ):
            group[:] = [it for it in group if it.id != relation.id] + [relation]

    def store(self) -> None:
        """Write what changed."""
        self._tx.relations.put(list(self._changed.values()))
        self._tx.relations.add_evidence(self._evidence)

    def events(self) -> list[AuditEvent]:
        """Return what the audit must know of: ids and weights."""
        events = []
        for relation in self._changed.values():
            if relation.id in self.closed:
                name = "edge_superseded"
            else:
                name = "edge_created" if relation.id in self._created else "edge_modified"
            events.append(audit_event(name, self._now, {"relation_id": relation.id, "weight": relation.weight}))
        return events


def _properties_of(statement: RelationStatement) -> Mapping[str, JsonValue]:
    return cleaned_properties(statement.properties, argument=f"{statement.where}properties")
