"""Tools for notes: write, find, open, look around."""

from collections.abc import Callable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from graph_memory.bootstrap import Services
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.memories import Layer, Lifecycle, MemoryFilter, Status
from graph_memory.domain.names import clean_name
from graph_memory.domain.principal import Principal
from mcp_server.memory.shapes import (
    MemoryDetail,
    MemoryRow,
    memory_detail,
    memory_row,
    synapse_row,
)
from mcp_server.wire import instant, number

LayerName = Literal["working", "episodic", "procedural", "semantic", "partner"]
LifecycleName = Literal["permanent", "milestone", "ephemeral"]
StatusName = Literal["active", "superseded", "archived", "invalid"]
SourceName = Literal["session", "import", "manual", "derived"]
ProjectFilter = Annotated[str | None, Field(description="this project and _global")]
Limit = Annotated[int, Field(ge=1, description="up to 100")]
Offset = Annotated[int, Field(ge=0)]


class AmbiguousRow(TypedDict):
    """A link that may mean several things."""

    target: str
    candidates: list[str]


class ForeignRow(TypedDict):
    """A link that only another project's memory answers."""

    target: str
    memory_id: int
    project_id: str


class AddReply(TypedDict):
    """What adding a memory came to."""

    id: int
    slug: str
    wikilinks_resolved: int
    broken_wikilinks: list[str]
    auto_links_created: int
    ambiguous_wikilinks: NotRequired[list[AmbiguousRow]]
    other_project_wikilinks: NotRequired[list[ForeignRow]]
    mentions: NotRequired[list[str]]
    links_answered: NotRequired[int]
    expires_at: NotRequired[str | None]
    redacted: NotRequired[dict[str, int]]
    warnings: NotRequired[list[str]]
    truncated: NotRequired[bool]
    hint: NotRequired[str]


class MemoriesReply(TypedDict):
    """Memories, in order."""

    memories: list[MemoryRow]
    count: int
    next_offset: NotRequired[int]
    warnings: NotRequired[list[str]]
    truncated: NotRequired[bool]


class OverviewReply(TypedDict):
    """What there is."""

    total: int
    by_status: dict[str, int]
    by_layer: dict[str, int]
    by_category: dict[str, int]
    by_project: dict[str, int]
    recent: list[MemoryRow]
    total_synapses: int
    truncated: NotRequired[bool]
    hint: NotRequired[str]


class MemoryTools:
    """Notes."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def memory_add(
        self,
        caller: Principal,
        category: Annotated[
            str,
            Field(
                description="decision, handoff, finding, issue, preference, note, context, todo, commitment, "
                "open_question, trigger, or your own"
            ),
        ],
        title: Annotated[str, Field(description="unique in its project")],
        content: Annotated[str, Field(description="Markdown; [[Title]] links to another note or entity")],
        layer: LayerName = "episodic",
        project_id: str = "_global",
        summary: str | None = None,
        tags: list[str] | None = None,
        lifecycle: LifecycleName = "milestone",
        confidence: Annotated[float, Field(description="0-1")] = 1.0,
        importance_score: float = 1.0,
        session_id: str | None = None,
        source: SourceName = "session",
        expires_at: Annotated[str | None, Field(description="ISO-8601")] = None,
    ) -> AddReply:
        """Call to remember one fact, decision, preference or finding for later sessions. Returns its id, which of its
        [[links]] were resolved, and how many automatic links to similar notes were made. A title that its project
        already has is refused with the id of that note. For typed facts between named things use graph_relate."""
        draft = MemoryDraft(
            title=title,
            content=content,
            category=category,
            project_id=project_id,
            layer=layer,
            lifecycle=lifecycle,
            source=source,
            summary=summary,
            tags=tuple(tags or ()),
            confidence=confidence,
            importance_score=importance_score,
            session_id=session_id,
            expires_at=expires_at,
        )
        added = self._services().memory_write.add(caller, draft)
        reply: AddReply = {
            "id": added.id,
            "slug": added.slug,
            "wikilinks_resolved": added.wikilinks_resolved,
            "broken_wikilinks": list(added.broken_wikilinks),
            "auto_links_created": added.auto_links_created,
        }
        if added.ambiguous_wikilinks:
            reply["ambiguous_wikilinks"] = [
                {"target": it.target, "candidates": list(it.candidates)} for it in added.ambiguous_wikilinks
            ]
        if added.foreign_wikilinks:
            reply["other_project_wikilinks"] = [
                {"target": it.target, "memory_id": it.memory_id, "project_id": it.project_id}
                for it in added.foreign_wikilinks
            ]
        if added.mentions:
            reply["mentions"] = list(added.mentions)
        if added.links_answered:
            reply["links_answered"] = added.links_answered
        if added.expires_at is not None:
            reply["expires_at"] = instant(added.expires_at)
        if added.redactions:
            reply["redacted"] = dict(added.redactions)
        if added.warnings:
            reply["warnings"] = list(added.warnings)
        return reply

    def memory_search(
        self,
        caller: Principal,
        query: Annotated[str, Field(description='plain words; "phrases" and AND, OR, NOT work')],
        project_id: ProjectFilter = None,
        category: str | None = None,
        layer: LayerName | None = None,
        status: StatusName = "active",
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> MemoriesReply:
        """Call first when something may have been said, decided or noted before: finds notes and conversation turns by
        their words, best first, each with a snippet. Any text works. Open a hit with memory_get; for the newest use
        memory_recent; for how named things relate graph_query."""
        where = MemoryFilter(
            project_id=_label(project_id, "project_id"),
            category=_label(category, "category"),
            layers=None if layer is None else frozenset({Layer(layer)}),
            statuses=frozenset({Status(status)}),
        )
        page = self._services().memory_search.search(caller, query, where, limit=limit, offset=offset)
        rows: list[MemoryRow] = [
            {**memory_row(it.memory), "rank": number(it.rank), "snippet": it.snippet} for it in page.found
        ]
        return _listed(rows, page.next_offset, page.warnings)

    def memory_recent(
        self,
        caller: Principal,
        project_id: ProjectFilter = None,
        category: str | None = None,
        layer: LayerName | None = None,
        lifecycle: LifecycleName | None = None,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> MemoriesReply:
        """Call to see the newest active notes, of a project, category, layer or lifecycle. For words use
        memory_search."""
        where = MemoryFilter(
            project_id=_label(project_id, "project_id"),
            category=_label(category, "category"),
            layers=None if layer is None else frozenset({Layer(layer)}),
            lifecycles=None if lifecycle is None else frozenset({Lifecycle(lifecycle)}),
        )
        page = self._services().memory_search.recent(caller, where, limit=limit, offset=offset)
        return _listed([memory_row(it) for it in page.memories], page.next_offset, page.warnings)

    def memory_get(
        self,
        caller: Principal,
        id: int,  # noqa: A002 - the seed's name
        include_synapses: Annotated[bool, Field(description="its links too, heaviest first")] = False,
    ) -> MemoryDetail:
        """Call to read a note whole, with its tags and, when asked, its links. Counts as an access. Ids come from
        memory_search and memory_recent."""
        opened = self._services().memory_search.get(caller, id, include_synapses=include_synapses)
        reply = memory_detail(opened.memory)
        if include_synapses:
            reply["synapses"] = [synapse_row(it) for it in opened.synapses]
            reply["synapse_count"] = opened.synapse_count
        return reply

    def memory_overview(self, caller: Principal) -> OverviewReply:
        """Call to see what is remembered at all: counts by status, layer, category and project, and the five newest
        notes."""
        overview = self._services().orient.overview(caller)
        return {
            "total": overview.total,
            "by_status": dict(overview.by_status),
            "by_layer": dict(overview.by_layer),
            "by_category": dict(overview.by_category),
            "by_project": dict(overview.by_project),
            "recent": [memory_row(it) for it in overview.recent],
            "total_synapses": overview.total_synapses,
        }


def _listed(rows: list[MemoryRow], next_offset: int | None, warnings: tuple[str, ...]) -> MemoriesReply:
    reply: MemoriesReply = {"memories": rows, "count": len(rows)}
    if next_offset is not None:
        reply["next_offset"] = next_offset
    if warnings:
        reply["warnings"] = list(warnings)
    return reply


def _label(text: str | None, argument: str) -> str | None:
    """Return what a filter asks for as it is stored; a blank one asks for nothing."""
    return None if text is None or not text.strip() else clean_name(text, argument=argument)
