"""Every tool of the server, by family, with what clients may know of each."""

from collections.abc import Callable, Sequence

from graph_memory.bootstrap import Services
from mcp_server.catalogue import Paging, ToolSpec
from mcp_server.graph.documents import GraphDocuments
from mcp_server.graph.duplicates import GraphDuplicates
from mcp_server.graph.forgetting import GraphForgetting
from mcp_server.graph.reading import GraphReading
from mcp_server.graph.upkeep import GraphUpkeep
from mcp_server.graph.writing import GraphWriting
from mcp_server.memory.forgetting import MemoryForgetting
from mcp_server.memory.tools import MemoryTools


def every_tool(services: Callable[[], Services]) -> Sequence[ToolSpec]:
    """List all tools; `services` is asked when one is called."""
    reading, writing = GraphReading(services), GraphWriting(services)
    upkeep, documents, memory = GraphUpkeep(services), GraphDocuments(services), MemoryTools(services)
    pages = (Paging("memories", has_offset=True, count="count"),)
    subgraph = (Paging("edges"), Paging("nodes"), Paging("source_files"), Paging("unknown"))
    counts = (Paging("nodes.by_type"), Paging("edges.by_type"), Paging("health.jobs"))
    queue = (Paging("recently_completed"), Paging("failed"), Paging("pending"), Paging("processing"))
    return (
        ToolSpec(reading.graph_query, "graph", is_read_only=True, paging=subgraph),
        ToolSpec(reading.graph_entities, "graph", is_read_only=True, paging=(Paging("entities", has_offset=True),)),
        ToolSpec(writing.graph_relate, "graph", is_idempotent=True, paging=(Paging("details"), Paging("warnings"))),
        ToolSpec(writing.graph_boost, "graph"),
        ToolSpec(writing.graph_weaken, "graph"),
        ToolSpec(writing.graph_delete, "graph", is_destructive=True, is_idempotent=True),
        ToolSpec(reading.graph_stats, "graph", is_read_only=True, paging=counts),
        ToolSpec(reading.graph_validate, "graph", is_read_only=True, paging=(Paging("issues", has_offset=True),)),
        ToolSpec(reading.graph_communities, "graph", is_read_only=True, paging=(Paging("communities"),)),
        ToolSpec(
            GraphDuplicates(services).graph_merge_suggestions,
            "graph",
            is_read_only=True,
            paging=(Paging("suggestions"),),
        ),
        ToolSpec(upkeep.graph_decay, "graph", is_idempotent=True, paging=(Paging("details"),)),
        ToolSpec(upkeep.graph_export, "graph", is_admin_only=True),
        ToolSpec(upkeep.graph_import, "graph", is_destructive=True, is_idempotent=True, is_admin_only=True),
        ToolSpec(
            GraphForgetting(services).graph_forget,
            "graph",
            is_destructive=True,
            is_idempotent=True,
            is_admin_only=True,
            paging=(Paging("examples"),),
        ),
        ToolSpec(upkeep.graph_audit, "graph"),
        ToolSpec(
            documents.graph_ingest,
            "graph",
            is_idempotent=True,
            paging=(*queue, Paging("session_cursors")),
        ),
        ToolSpec(
            documents.graph_read_transcript,
            "graph",
            is_read_only=True,
            is_admin_only=True,
            paging=(Paging("messages", has_offset=True),),
        ),
        ToolSpec(memory.memory_add, "memory"),
        ToolSpec(memory.memory_search, "memory", is_read_only=True, paging=pages),
        ToolSpec(memory.memory_get, "memory", is_read_only=True, paging=(Paging("synapses"), Paging("content"))),
        ToolSpec(memory.memory_recent, "memory", is_read_only=True, paging=pages),
        ToolSpec(MemoryForgetting(services).memory_forget, "memory", is_destructive=True, is_idempotent=True),
        ToolSpec(memory.memory_overview, "memory", is_read_only=True, paging=(Paging("recent"), Paging("by_category"))),
    )
