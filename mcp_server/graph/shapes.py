"""The graph as it stands on the wire: nodes, edges, and the replies they are part of."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from graph_memory.domain.entities import Entity
from graph_memory.domain.relations import Relation
from graph_memory.services.recall import WeighedRelation
from mcp_server.wire import instant, number

Edge = TypedDict("Edge", {"from": str, "to": str, "type": str, "weight": float})
EdgeDetail = TypedDict(
    "EdgeDetail",
    {
        "from": str,
        "to": str,
        "type": str,
        "weight": float,
        "effective_weight": float,
        "properties": dict[str, Any],
        "valid_at": str | None,
        "invalid_at": str | None,
        "ingested_at": str,
        "last_confirmed": str,
        "source_session": str | None,
        "source_transcript": str | None,
        "source_file": str | None,
        "source_type": str,
    },
)


class NodeRef(TypedDict):
    """An entity by name."""

    id: str
    name: str
    type: str


class Node(NodeRef):
    """An entity; how much is said of it depends on what was asked."""

    confidence: NotRequired[float]
    properties: NotRequired[dict[str, Any]]
    last_seen: NotRequired[str]
    source_file: NotRequired[str | None]


def node_ref(entity: Entity) -> NodeRef:
    """Name an entity."""
    return {"id": entity.id, "name": entity.name, "type": entity.type}


def bare_node(entity: Entity) -> Node:
    """Name an entity, as a node."""
    return {"id": entity.id, "name": entity.name, "type": entity.type}


def brief_node(entity: Entity) -> Node:
    """Say of an entity what a listing needs."""
    return {"id": entity.id, "name": entity.name, "type": entity.type, "confidence": number(entity.confidence)}


def full_node(entity: Entity) -> Node:
    """Say all of an entity."""
    return {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "confidence": number(entity.confidence),
        "properties": {**entity.properties, "mention_count": entity.mention_count},
        "last_seen": instant(entity.last_seen) or "",
        "source_file": entity.source_file,
    }


def edge(relation: Relation) -> Edge:
    """Name a relation, with its weight."""
    return {
        "from": relation.source_id,
        "to": relation.target_id,
        "type": relation.type,
        "weight": number(relation.weight),
    }


def edge_detail(weighed: WeighedRelation) -> EdgeDetail:
    """Say all of a relation."""
    relation = weighed.relation
    provenance = relation.provenance
    return {
        "from": relation.source_id,
        "to": relation.target_id,
        "type": relation.type,
        "weight": number(relation.weight),
        "effective_weight": number(weighed.effective_weight),
        "properties": dict(relation.properties),
        "valid_at": instant(relation.valid_at),
        "invalid_at": instant(relation.invalid_at),
        "ingested_at": instant(relation.ingested_at) or "",
        "last_confirmed": instant(relation.last_confirmed) or "",
        "source_session": provenance.session,
        "source_transcript": provenance.transcript,
        "source_file": provenance.file,
        "source_type": provenance.source_type.value,
    }
