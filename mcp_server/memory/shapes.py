"""Memories as they stand on the wire."""

from typing import NotRequired

from typing_extensions import TypedDict

from graph_memory.domain.memories import Memory
from graph_memory.services.search import LinkedMemory
from mcp_server.wire import instant, number


class MemoryRow(TypedDict):
    """A memory in a listing."""

    id: int
    title: str
    slug: str
    category: str
    layer: str
    project_id: str
    lifecycle: str
    status: str
    summary: str | None
    tags: list[str]
    importance_score: float
    boost: float
    created_at: str
    updated_at: str
    rank: NotRequired[float]
    snippet: NotRequired[str]
    content: NotRequired[str]


class SynapseRow(TypedDict):
    """A link of a memory, seen from it."""

    direction: str
    connection_type: str
    weight: float
    other_id: int
    other_title: str
    access_count: int


class MemoryDetail(MemoryRow):
    """A memory, whole; its links where they were asked for."""

    synapses: NotRequired[list[SynapseRow]]
    synapse_count: NotRequired[int]
    truncated: NotRequired[bool]
    hint: NotRequired[str]

    source: str
    source_file: str | None
    session_id: str | None
    confidence: float
    accessed_at: str | None
    access_count: int
    expires_at: str | None
    abandoned: bool


def memory_row(memory: Memory) -> MemoryRow:
    """Say of a memory what a listing needs."""
    return {
        "id": memory.id,
        "title": memory.title,
        "slug": memory.slug,
        "category": memory.category,
        "layer": memory.layer.value,
        "project_id": memory.project_id,
        "lifecycle": memory.lifecycle.value,
        "status": memory.status.value,
        "summary": memory.summary,
        "tags": list(memory.tags),
        "importance_score": number(memory.importance_score),
        "boost": number(memory.boost),
        "created_at": instant(memory.created_at) or "",
        "updated_at": instant(memory.updated_at) or "",
    }


def memory_detail(memory: Memory) -> MemoryDetail:
    """Say all of a memory."""
    row = memory_row(memory)
    return {
        "id": row["id"],
        "title": row["title"],
        "slug": row["slug"],
        "category": row["category"],
        "layer": row["layer"],
        "project_id": row["project_id"],
        "lifecycle": row["lifecycle"],
        "status": row["status"],
        "summary": row["summary"],
        "tags": row["tags"],
        "importance_score": row["importance_score"],
        "boost": row["boost"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "content": memory.content,
        "source": memory.source.value,
        "source_file": memory.source_file,
        "session_id": memory.session_id,
        "confidence": number(memory.confidence),
        "accessed_at": instant(memory.accessed_at),
        "access_count": memory.access_count,
        "expires_at": instant(memory.expires_at),
        "abandoned": memory.is_abandoned,
    }


def synapse_row(linked: LinkedMemory) -> SynapseRow:
    """Say of a link what it leads to, and why."""
    synapse = linked.synapse
    return {
        "direction": "in" if synapse.source_id == linked.other_id else "out",
        "connection_type": synapse.connection_type.value,
        "weight": number(synapse.weight),
        "other_id": linked.other_id,
        "other_title": linked.other_title,
        "access_count": synapse.access_count,
    }
