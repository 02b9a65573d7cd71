"""The tool that shows entities which may be one."""

from collections.abc import Callable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from graph_memory.bootstrap import Services
from graph_memory.domain.entities import Entity
from graph_memory.domain.merge_scores import (
    MAX_SUGGESTIONS,
    MIN_EMBEDDING_SIMILARITY,
    MIN_SCORE,
    SignalWeights,
)
from graph_memory.domain.principal import Principal
from graph_memory.services.merge_suggestions import MergeQuestion, Suggestion
from mcp_server.graph.shapes import NodeRef, node_ref
from mcp_server.wire import clamp, clamp_int, number

WITHOUT_VECTORS = "Meaning was not compared: this version has no vectors. Scores rest on names and neighbours alone."


class WeightsArgument(TypedDict, total=False):
    """How much each signal counts."""

    embedding: float
    neighbor_jaccard: float
    name: float


class CountedNode(NodeRef):
    """An entity with its number of relations."""

    edge_count: int


class SharedNeighborRow(TypedDict):
    """What both are linked to."""

    id: str
    relation: str
    degree: int
    weight: float


class SignalsRow(TypedDict):
    """What speaks for it."""

    embedding_similarity: float | None
    name_similarity: float
    neighbor_jaccard: float
    shared_neighbors: list[SharedNeighborRow]


class SuggestionRow(TypedDict):
    """Two entities that may be one."""

    entity_a: CountedNode
    entity_b: CountedNode
    score: float
    signals: SignalsRow
    recommended_action: Literal["review"]


ScopeRow = TypedDict("ScopeRow", {"entity_id": NotRequired[str], "entity_type": NotRequired[str], "global": bool})


class MergeSuggestionsReply(TypedDict):
    """Pairs, best first."""

    suggestions: list[SuggestionRow]
    total_pairs_evaluated: int
    threshold_used: float
    scope: ScopeRow
    warnings: NotRequired[list[str]]
    truncated: NotRequired[bool]
    hint: NotRequired[str]


class GraphDuplicates:
    """Reads what may be there twice."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def graph_merge_suggestions(
        self,
        caller: Principal,
        entity_id: Annotated[str | None, Field(description="only this one's doubles")] = None,
        entity_type: Annotated[str | None, Field(description="only of this type")] = None,
        min_score: Annotated[float, Field(description="0..1")] = MIN_SCORE,
        min_embedding_similarity: Annotated[float, Field(description="0..1")] = MIN_EMBEDDING_SIMILARITY,
        limit: Annotated[int, Field(description="at most 100")] = 20,
        weights: Annotated[WeightsArgument | None, Field(description="default 0.4, 0.4, 0.2")] = None,
        log_to_audit: bool = True,
    ) -> MergeSuggestionsReply:
        """Call when one thing seems to be in the graph twice, or after learning much: pairs of entities of one type
        that may be the same, with what speaks for it. Changes nothing: show the pairs to the user; graph_query tells
        more of one."""
        warnings: list[str] = []
        threshold = clamp(min_score, 0, 1, "min_score", warnings)
        clamp(min_embedding_similarity, 0, 1, "min_embedding_similarity", warnings)
        question = MergeQuestion(
            entity_id=entity_id,
            entity_type=entity_type,
            min_score=threshold,
            limit=clamp_int(limit, 1, MAX_SUGGESTIONS, "limit", warnings),
            weights=SignalWeights(**(weights or {})),
            is_audited=log_to_audit,
        )
        found = self._services().merge_suggestions.suggest(caller, question)
        return {
            "suggestions": [_row(it) for it in found.suggestions],
            "total_pairs_evaluated": found.evaluated,
            "threshold_used": threshold,
            "scope": _scope(entity_id, entity_type),
            "warnings": [*warnings, WITHOUT_VECTORS],
        }


def _scope(entity_id: str | None, entity_type: str | None) -> ScopeRow:
    scope: ScopeRow = {"global": entity_id is None and entity_type is None}
    if entity_id is not None:
        scope["entity_id"] = entity_id
    if entity_type is not None:
        scope["entity_type"] = entity_type
    return scope


def _row(suggestion: Suggestion) -> SuggestionRow:
    signals = suggestion.signals
    return {
        "entity_a": _counted(suggestion.first, suggestion.first_edges),
        "entity_b": _counted(suggestion.second, suggestion.second_edges),
        "score": number(suggestion.score),
        "signals": {
            "embedding_similarity": None if signals.embedding is None else number(signals.embedding),
            "name_similarity": number(signals.name),
            "neighbor_jaccard": number(signals.neighbours),
            "shared_neighbors": [
                {"id": it.id, "relation": it.relation, "degree": it.degree, "weight": number(it.weight)}
                for it in suggestion.shared
            ],
        },
        "recommended_action": "review",
    }


def _counted(entity: Entity, edges: int) -> CountedNode:
    return {**node_ref(entity), "edge_count": edges}
