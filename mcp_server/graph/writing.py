"""Tools that change the graph."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from graph_memory.bootstrap import Services
from graph_memory.domain.entities import JsonValue, Provenance, SourceType
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.principal import Principal
from graph_memory.domain.relations import Relation
from graph_memory.domain.statements import NO_PROPERTIES, Batch, EntityStatement, RelationStatement
from graph_memory.services.relate import WeightChange
from graph_memory.services.statements import Action, BatchOutcome
from mcp_server.graph.shapes import Edge, NodeRef, edge, node_ref
from mcp_server.wire import clamp, instant, number, read_instant

Source = Literal["conversation", "document", "manual", "mention", "inferred"]
Properties = dict[str, Any]


class BatchEntity(BaseModel):
    """An entity of a batch."""

    model_config = ConfigDict(extra="forbid")
    name: str
    type: str | None = None
    localId: str | None = None  # noqa: N815 - the seed's name
    properties: Properties | None = None


class BatchRelation(BaseModel):
    """A relation of a batch."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, populate_by_name=True)
    source: Annotated[str, Field(alias="from", description="localId or known name")]
    target: Annotated[str, Field(alias="to", description="localId or known name")]
    relation: str
    weight: float | None = None
    properties: Properties | None = None
    evidence: str | None = None
    valid_at: str | None = None
    supersedes: list[str] | None = None


class Resolving(BaseModel):
    """A contradiction that is closed."""

    model_config = ConfigDict(extra="forbid")
    node_a: str
    node_b: str
    keep: str


class BatchArgument(BaseModel):
    """Statements that hold together or not at all."""

    model_config = ConfigDict(extra="forbid")
    entities: list[BatchEntity] = Field(default_factory=list, max_length=1_000)
    relations: list[BatchRelation] = Field(default_factory=list, max_length=3_000)
    source_session: str | None = None
    source_transcript: str | None = None
    source_type: Source | None = None


class RelateReply(TypedDict):
    """What graph_relate did: `action`, `edge` and `created_entities` of one statement, or the counts of a batch."""

    action: NotRequired[str]
    edge: NotRequired[Edge]
    created_entities: NotRequired[list[str]]
    entities_created: NotRequired[int]
    entities_merged: NotRequired[int]
    edges_created: NotRequired[int]
    edges_strengthened: NotRequired[int]
    details: NotRequired[list[dict[str, Any]]]
    superseded: NotRequired[list[Edge]]
    warnings: NotRequired[list[str]]
    truncated: NotRequired[bool]
    hint: NotRequired[str]


class WeightReply(TypedDict):
    """A weight before and after."""

    previous_weight: float
    new_weight: float
    edge: Edge
    pruned: NotRequired[bool]
    warnings: NotRequired[list[str]]


class DeleteReply(TypedDict):
    """What was deleted."""

    found: bool
    deleted: bool
    entity: NotRequired[NodeRef]
    edges_removed: NotRequired[int]
    hint: NotRequired[str]


class GraphWriting:
    """Statements, confirmations, corrections."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def graph_relate(
        self,
        caller: Principal,
        from_name: str | None = None,
        from_type: Annotated[
            str | None, Field(description="Person, Project, Concept, Decision, ... or your own")
        ] = None,
        to_name: str | None = None,
        to_type: str | None = None,
        relation: Annotated[str | None, Field(description="WORKS_ON, USES_TECH, PREFERS, ... or your own")] = None,
        weight: Annotated[float | None, Field(description="0-1; default by source_type")] = None,
        properties: Annotated[Properties | None, Field(description="of the relation")] = None,
        from_properties: Properties | None = None,
        to_properties: Properties | None = None,
        evidence: Annotated[str | None, Field(description="the words that support it")] = None,
        valid_at: Annotated[str | None, Field(description="ISO-8601: since when it is true")] = None,
        supersedes: Annotated[list[str] | None, Field(description="targets that no longer hold")] = None,
        source_session: str | None = None,
        source_transcript: str | None = None,
        source_type: Annotated[
            Source | None, Field(description="mention adds 0.05, others keep the larger weight")
        ] = None,
        resolves: Annotated[
            Resolving | None, Field(description="instead of all others: close a CONTRADICTS between two entities")
        ] = None,
        batch: Annotated[
            BatchArgument | None, Field(description="instead of all others: many at once, atomically")
        ] = None,
    ) -> RelateReply:
        """Call to record how two things relate, or to state it again: entities are created when new, a relation known
        already is strengthened, and of WORKS_AT, REPORTS_TO, HOSTED_ON, LIVES_IN and HAS_STATUS a newer target ends the
        older. Returns what was created or strengthened. For several facts use batch; for a confirmation graph_boost;
        for prose memory_add.
        """
        warnings: list[str] = []
        ends = (from_name, from_type, from_properties, to_name, to_type, to_properties)
        rest = (relation, weight, properties, evidence, valid_at, supersedes)
        source = (source_session, source_transcript, source_type)
        if (batch or resolves) and sum(it is not None for it in (batch, resolves, *ends, *rest, *source)) > 1:
            raise InvalidRequest("batch and resolves each leave no other argument", argument="batch")
        if resolves is not None:
            closed = self._services().relate.resolve(caller, resolves.node_a, resolves.node_b, resolves.keep)
            return {"action": "resolved", "edge": edge(closed), "created_entities": []}
        if batch is not None:
            outcome = self._services().relate.relate(caller, _batch(batch, warnings))
            return _batch_reply(outcome, warnings)
        for argument, value in (("from_name", from_name), ("to_name", to_name), ("relation", relation)):
            if value is None:
                raise InvalidRequest(
                    f"{argument}: is missing; give from_name, relation, to_name, or batch", argument=argument
                )
        statement = RelationStatement(
            source="from",
            target="to",
            type=relation or "",
            weight=_weight(weight, "weight", warnings),
            properties=_properties(properties),
            evidence=evidence,
            valid_at=read_instant(valid_at, "valid_at", warnings),
            supersedes=tuple(supersedes or ()),
        )
        stated = (
            EntityStatement(from_name or "", from_type, _properties(from_properties), "from", where="from_"),
            EntityStatement(to_name or "", to_type, _properties(to_properties), "to", where="to_"),
        )
        provenance = _provenance(source_type, source_session, source_transcript)
        outcome = self._services().relate.relate(caller, Batch(stated, (statement,), provenance))
        return _single_reply(outcome, warnings)

    def graph_boost(
        self,
        caller: Principal,
        from_name: str,
        to_name: str,
        relation: str,
        amount: Annotated[float | None, Field(ge=0, description="default 0.15")] = None,
        reason: str | None = None,
    ) -> WeightReply:
        """Call when the user confirms a recalled relation. Returns the weight before and after; fails, pointing to
        graph_relate, when no such current relation is known.
        """
        warnings: list[str] = []
        size = None if amount is None else clamp(amount, 0, 1, "amount", warnings)
        change = self._services().relate.boost(caller, from_name, relation, to_name, amount=size, reason=reason)
        return _weight_reply(change, warnings, with_pruned=False)

    def graph_weaken(
        self,
        caller: Principal,
        from_name: str,
        to_name: str,
        relation: str,
        amount: Annotated[float | None, Field(ge=0, description="default 0.3")] = None,
        reason: str | None = None,
    ) -> WeightReply:
        """Call when the user corrects a recalled relation. Returns the weight before and after; `pruned` tells that it
        fell so low that it no longer counts as current. State the right fact with graph_relate.
        """
        warnings: list[str] = []
        size = None if amount is None else clamp(amount, 0, 1, "amount", warnings)
        change = self._services().relate.weaken(caller, from_name, relation, to_name, amount=size, reason=reason)
        return _weight_reply(change, warnings, with_pruned=True)

    def graph_delete(
        self, caller: Principal, entity_id: str, reason: Annotated[str | None, Field(description="why")] = None
    ) -> DeleteReply:
        """Call only when an entity is plainly wrong or a test artefact, and after the user confirmed it: deletes
        it with all its relations. For a fact that is no longer true use graph_weaken or graph_relate instead.
        """
        deletion = self._services().relate.delete(caller, entity_id, reason)
        if deletion is None:
            return {"found": False, "deleted": False, "hint": "graph_entities finds ids by name"}
        return {
            "found": True,
            "deleted": True,
            "entity": node_ref(deletion.entity),
            "edges_removed": deletion.relations_removed,
        }


def _weight(value: float | None, argument: str, warnings: list[str]) -> float | None:
    return None if value is None else clamp(value, 0, 1, argument, warnings)


def _properties(given: Properties | None) -> Mapping[str, JsonValue]:
    return NO_PROPERTIES if given is None else given


def _provenance(source: Source | None, session: str | None, transcript: str | None) -> Provenance:
    kind = SourceType.MANUAL if source is None else SourceType(source)
    return Provenance(kind, session, transcript)


def _batch(given: BatchArgument, warnings: list[str]) -> Batch:
    entities = tuple(
        EntityStatement(it.name, it.type, _properties(it.properties), it.localId, where=f"batch.entities.{n}.")
        for n, it in enumerate(given.entities)
    )
    relations = tuple(_statement(it, f"batch.relations.{n}.", warnings) for n, it in enumerate(given.relations))
    provenance = _provenance(given.source_type, given.source_session, given.source_transcript)
    return Batch(entities, relations, provenance)


def _statement(given: BatchRelation, where: str, warnings: list[str]) -> RelationStatement:
    valid_at: datetime | None = read_instant(given.valid_at, f"{where}valid_at", warnings)
    return RelationStatement(
        source=given.source,
        target=given.target,
        type=given.relation,
        weight=_weight(given.weight, f"{where}weight", warnings),
        properties=_properties(given.properties),
        evidence=given.evidence,
        valid_at=valid_at,
        supersedes=tuple(given.supersedes or ()),
        where=where,
    )


def _single_reply(outcome: BatchOutcome, warnings: Sequence[str]) -> RelateReply:
    [stated] = outcome.relations
    names = [outcome.entities[it].name for it in outcome.created_entities]
    reply: RelateReply = {
        "action": stated.action.value,
        "edge": edge(stated.relation),
        "created_entities": names,
    }
    return _finished(reply, outcome, warnings)


def _batch_reply(outcome: BatchOutcome, warnings: Sequence[str]) -> RelateReply:
    details: list[dict[str, Any]] = [
        {"entity": it.entity.name, "action": it.action.value} for it in outcome.stated_entities
    ]
    for stated in outcome.relations:
        source, target = (outcome.entities[it].name for it in (stated.relation.source_id, stated.relation.target_id))
        name = f"{source}→{stated.relation.type}→{target}"
        details.append({"edge": name, "action": stated.action.value, "weight": number(stated.relation.weight)})
    created = sum(it.action is Action.CREATED for it in outcome.relations)
    reply: RelateReply = {
        "entities_created": len(outcome.created_entities),
        "entities_merged": len(outcome.merged_entities),
        "edges_created": created,
        "edges_strengthened": len(outcome.relations) - created,
        "details": details,
    }
    return _finished(reply, outcome, warnings)


def _finished(reply: RelateReply, outcome: BatchOutcome, warnings: Sequence[str]) -> RelateReply:
    past = [it.relation for it in outcome.relations if not it.relation.is_current]
    warnings = [*warnings, *(_stored_as_past(it) for it in past)]
    if outcome.superseded:
        reply["superseded"] = [edge(it) for it in outcome.superseded]
    if warnings or outcome.warnings:
        reply["warnings"] = [*warnings, *outcome.warnings]
    return reply


def _stored_as_past(relation: Relation) -> str:
    """Say that what was stated is no longer true, since something newer is known."""
    ended = instant(relation.invalid_at)
    return f"{relation.source_id} {relation.type} {relation.target_id}: stored as past, ended {ended} by a newer fact"


def _weight_reply(change: WeightChange, warnings: list[str], *, with_pruned: bool) -> WeightReply:
    reply: WeightReply = {
        "previous_weight": number(change.previous_weight),
        "new_weight": number(change.relation.weight),
        "edge": edge(change.relation),
    }
    if with_pruned:
        reply["pruned"] = change.is_pruned
    if warnings:
        reply["warnings"] = warnings
    return reply
