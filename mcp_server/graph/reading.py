"""Tools that read the graph."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypeVar, cast

from pydantic import Field
from typing_extensions import TypedDict

from graph_memory.bootstrap import Services
from graph_memory.config.settings import Settings
from graph_memory.domain.communities import MAX_HOPS as COMMUNITY_HOPS
from graph_memory.domain.communities import CommunityMethod
from graph_memory.domain.entities import EntityOrder
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.ledger import IngestState, JobRun
from graph_memory.domain.principal import Principal
from graph_memory.home import Home
from graph_memory.presence import SILENT, DaemonState, find_state, is_held
from graph_memory.services.recall import MAX_ENTITIES, MAX_HOPS, MAX_NODES, GraphQuestion, Subgraph
from ingest.queueing import IngestQueue
from mcp_server.graph.shapes import (
    EdgeDetail,
    Node,
    NodeRef,
    bare_node,
    brief_node,
    edge_detail,
    full_node,
    node_ref,
)
from mcp_server.wire import clamp, clamp_int, instant, number

ContextLevel = Literal["minimal", "full", "relations-only"]
MAX_ISSUES = 500
MAX_COMMUNITIES = 100


class QueryReply(TypedDict):
    """An answer of graph_query."""

    found: bool
    nodes: list[Node]
    edges: NotRequired[list[EdgeDetail]]
    edge_count: NotRequired[int]
    source_files: NotRequired[list[str]]
    inexact: NotRequired[list[str]]
    unknown: NotRequired[list[str]]
    warnings: NotRequired[list[str]]
    truncated: NotRequired[bool]
    hint: NotRequired[str]


class EntityRow(NodeRef):
    """An entity in the catalogue."""

    confidence: float
    edge_count: int
    last_seen: str
    source_file: str | None


class EntitiesReply(TypedDict):
    """A page of the catalogue."""

    entities: list[EntityRow]
    total: int
    warnings: NotRequired[list[str]]
    truncated: NotRequired[bool]
    next_offset: NotRequired[int]


class IssueRow(TypedDict):
    """Something to look at."""

    severity: str
    type: str
    entity_id: str
    entity_name: str
    description: str
    related_ids: list[str]


class ValidateReply(TypedDict):
    """Issues, most serious first."""

    issues: list[IssueRow]
    issue_count: int
    warnings: NotRequired[list[str]]
    truncated: NotRequired[bool]
    next_offset: NotRequired[int]


class CommunityRow(TypedDict):
    """A community with its members."""

    id: int
    seed_name: str
    member_count: int
    dominant_type: str
    members: list[NodeRef]


class CommunitiesReply(TypedDict):
    """Communities, largest first."""

    communities: list[CommunityRow]
    total_members: int
    coverage_pct: float
    warnings: NotRequired[list[str]]
    truncated: NotRequired[bool]
    hint: NotRequired[str]


class Counted(TypedDict):
    """How many there are, and of which types."""

    total: int
    by_type: dict[str, int]


class StatsReply(TypedDict):
    """How the graph is doing."""

    schema_version: str
    nodes: Counted
    edges: Counted
    memories: int
    health: dict[str, Any]
    truncated: NotRequired[bool]
    hint: NotRequired[str]


ReplyT = TypeVar("ReplyT", QueryReply, EntitiesReply, ValidateReply, CommunitiesReply)


class GraphReading:
    """Questions to the graph."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def graph_query(
        self,
        caller: Principal,
        entities: Annotated[list[str], Field(description="names to start from")],
        entity_types: Annotated[list[str] | None, Field(description="return only these types")] = None,
        max_hops: Annotated[int | None, Field(ge=0, description="1-4, default 2")] = None,
        min_weight: Annotated[float | None, Field(description="0-1, default 0.3")] = None,
        limit: Annotated[int | None, Field(ge=1, description="nodes, up to 500, default 20")] = None,
        project_context: Annotated[str | None, Field(description="folder or name of the project at hand")] = None,
        context_level: ContextLevel = "full",
        current_only: Annotated[bool, Field(description="false: superseded facts too")] = True,
    ) -> QueryReply:
        """Call when the user names people, projects, technologies or decisions and you need how they relate. Returns
        the entities around the names, most relevant first, with weighted relations and where they were learned; names
        are found despite case and small typos (`inexact`), `unknown` lists those nothing answers to. For words in notes
        use memory_search; to browse, graph_entities.
        """
        services = self._services()
        defaults = services.settings.query
        warnings: list[str] = []
        if not entities:
            raise InvalidRequest("entities: is empty; give at least one name", argument="entities")
        question = GraphQuestion(
            entities=tuple(entities),
            entity_types=tuple(entity_types or ()),
            max_hops=clamp_int(
                defaults.default_max_hops if max_hops is None else max_hops, 0, MAX_HOPS, "max_hops", warnings
            ),
            min_weight=clamp(
                defaults.default_min_weight if min_weight is None else min_weight, 0, 1, "min_weight", warnings
            ),
            limit=clamp_int(defaults.default_limit if limit is None else limit, 1, MAX_NODES, "limit", warnings),
            project_context=project_context,
            current_only=current_only,
        )
        answer = services.recall.query(caller, question)
        if project_context and answer.project_id is None:
            warnings.append(f"project_context: no project is called {project_context!r}; nothing was ranked by it")
        return _query_reply(answer, context_level, warnings)

    def graph_entities(
        self,
        caller: Principal,
        search: Annotated[str | None, Field(description="words of the name; empty: all")] = None,
        type: Annotated[str | None, Field(description="entity type")] = None,  # noqa: A002 - the seed's name
        min_confidence: Annotated[float, Field(description="0-1")] = 0.0,
        sort_by: Annotated[
            Literal["confidence", "last_seen", "name"] | None, Field(description="default: relevance, else confidence")
        ] = None,
        limit: Annotated[int, Field(ge=1, description="up to 500")] = 20,
        offset: Annotated[int, Field(ge=0)] = 0,
    ) -> EntitiesReply:
        """Call to browse or search the catalogue of entities: what is known of a type, or what a name is called here.
        Returns id, name, type, confidence, number of relations, last_seen. For relations use graph_query.
        """
        warnings: list[str] = []
        page = self._services().recall.entities(
            caller,
            search=search if search and search.strip() else None,
            entity_type=type,
            min_confidence=clamp(min_confidence, 0, 1, "min_confidence", warnings),
            sort_by=None if sort_by is None else EntityOrder(sort_by),
            limit=clamp_int(limit, 1, MAX_ENTITIES, "limit", warnings),
            offset=offset,
        )
        rows: list[EntityRow] = [
            {
                **node_ref(it),
                "confidence": number(it.confidence),
                "edge_count": page.relation_counts.get(it.id, 0),
                "last_seen": instant(it.last_seen) or "",
                "source_file": it.source_file,
            }
            for it in page.entities
        ]
        reply: EntitiesReply = {"entities": rows, "total": page.total}
        if offset + len(rows) < page.total:
            reply["next_offset"] = offset + len(rows)
        return _warned(reply, warnings)

    def graph_validate(
        self,
        caller: Principal,
        source_session: Annotated[str | None, Field(description="only entities learned in this session")] = None,
        max_issues: Annotated[int, Field(ge=1)] = 50,
        offset: Annotated[int, Field(ge=0)] = 0,
    ) -> ValidateReply:
        """Call after much was learned, or when answers look odd: finds generic names, references like 'the project',
        weak orphans, near duplicates, one name under several types and dangling aliases, most serious first. Changes
        nothing; mend with graph_relate or graph_delete.
        """
        warnings: list[str] = []
        most = clamp_int(max_issues, 1, MAX_ISSUES, "max_issues", warnings)
        page = self._services().upkeep.validate(caller, session=source_session, max_issues=most, offset=offset)
        rows: list[IssueRow] = [
            {
                "severity": it.severity.value,
                "type": it.type.value,
                "entity_id": it.entity_id,
                "entity_name": it.entity_name,
                "description": it.description,
                "related_ids": list(it.related_ids),
            }
            for it in page.issues
        ]
        reply: ValidateReply = {"issues": rows, "issue_count": page.total}
        if offset + len(rows) < page.total:
            reply["next_offset"] = offset + len(rows)
        return _warned(reply, warnings)

    def graph_communities(
        self,
        caller: Principal,
        weight_threshold: Annotated[float, Field(description="0-1")] = 0.4,
        max_communities: Annotated[int, Field(ge=1)] = 10,
        max_hops: Annotated[int, Field(ge=1, description="of bfs, up to 4")] = 3,
        min_size: Annotated[int, Field(ge=1)] = 2,
        method: Literal["bfs", "louvain"] = "bfs",
    ) -> CommunitiesReply:
        """Call to see the main areas of the graph: clusters of entities over current relations, largest first, with
        their members. For what lies around one name use graph_query.
        """
        warnings: list[str] = []
        found = self._services().upkeep.communities(
            caller,
            weight_threshold=clamp(weight_threshold, 0, 1, "weight_threshold", warnings),
            max_communities=clamp_int(max_communities, 1, MAX_COMMUNITIES, "max_communities", warnings),
            max_hops=clamp_int(max_hops, 1, COMMUNITY_HOPS, "max_hops", warnings),
            min_size=min_size,
            method=CommunityMethod(method),
        )
        rows: list[CommunityRow] = [
            {
                "id": it.id,
                "seed_name": it.seed.name,
                "member_count": len(it.members),
                "dominant_type": it.dominant_type,
                "members": [node_ref(member) for member in it.members],
            }
            for it in found.communities
        ]
        coverage = round(found.coverage * 100, 1)
        reply: CommunitiesReply = {
            "communities": rows,
            "total_members": found.total_members,
            "coverage_pct": coverage,
        }
        return _warned(reply, warnings)

    def graph_stats(self, caller: Principal) -> StatsReply:
        """Call to see how the memory is doing: counts by type, orphans, stale entities, open contradictions, the ingest
        queue, each job's last run, result and next run, the store and its version, budget used, what is degraded and
        why.
        """
        services = self._services()
        stats = services.insight.stats(caller)
        queue = IngestQueue(services.store, services.home, services.settings.ingest, services.clock)
        counts = queue.status(caller, limit=1).counts
        daemon = find_state(services.home)
        return {
            "schema_version": str(stats.store.schema_version),
            "nodes": {"total": stats.entities, "by_type": dict(stats.entities_by_type)},
            "edges": {"total": stats.relations, "by_type": dict(stats.relations_by_type)},
            "memories": stats.memories,
            "health": {
                "avg_weight": number(stats.mean_weight),
                "orphaned_nodes": stats.orphans,
                "unresolved_contradictions": stats.unresolved_contradictions,
                "stale_nodes": stats.stale,
                "last_dream_run": None if stats.last_night is None else instant(stats.last_night.ended_at),
                "pending_ingest_docs": counts[IngestState.PENDING] + counts[IngestState.PROCESSING],
                "total_ingested_docs": counts[IngestState.COMPLETED],
                "queue": {state.value: counts[state] for state in IngestState},
                "jobs": _jobs(stats.last_runs, services.next_runs()),
                "store": {"kind": stats.store.kind, "version": stats.store.engine_version},
                "embedder": services.embedder(),
                "vectors": dict(stats.vectors),
                "budget": _budget(daemon, services.settings),
                "degraded": _unique(services.degraded(), _daemon_problems(daemon, services.home)),
            },
        }


def _query_reply(answer: Subgraph, level: ContextLevel, warnings: list[str]) -> QueryReply:
    reply: QueryReply = {"found": bool(answer.nodes), "nodes": []}
    if level == "minimal":
        reply["nodes"] = [brief_node(it) for it in answer.nodes]
        reply["edge_count"] = len(answer.relations)
    else:
        is_full = level == "full"
        reply["nodes"] = [full_node(it) if is_full else bare_node(it) for it in answer.nodes]
        reply["edges"] = [edge_detail(it) for it in answer.relations]
        if is_full:
            files = dict.fromkeys(it.source_file for it in answer.nodes if it.source_file is not None)
            reply["source_files"] = list(files)
    if answer.inexact:
        reply["inexact"] = list(answer.inexact)
    if answer.unknown:
        reply["unknown"] = list(answer.unknown)
    return _warned(reply, warnings)


def _jobs(last: Mapping[str, JobRun], following: Mapping[str, datetime | None]) -> dict[str, dict[str, Any]]:
    return {name: _job(last.get(name), following.get(name)) for name in sorted({*last, *following})}


def _job(run: JobRun | None, next_at: datetime | None) -> dict[str, Any]:
    return {
        "started_at": run and instant(run.started_at),
        "ended_at": run and instant(run.ended_at),
        "status": run and run.status.value,
        "result": {} if run is None else dict(run.figures),
        "error": run and run.error,
        "next": instant(next_at),
    }


def _budget(daemon: DaemonState | None, settings: Settings) -> dict[str, Any]:
    """Tell what learning takes of what it may take; nothing where no daemon runs."""
    if daemon is not None and daemon.budget:
        return {name: dict(part) for name, part in daemon.budget.items()}
    limits = settings.limits
    used = (0, 0.0, 0) if daemon is None else (daemon.memory_mb, daemon.cpu_share, daemon.items_last_minute)
    return {
        "memory_mb": {"used": used[0], "limit": limits.memory_mb},
        "cpu_share": {"used": number(used[1]), "limit": limits.cpu_share},
        "items_per_minute": {"used": used[2], "limit": settings.ingest.items_per_minute},
    }


def _daemon_problems(daemon: DaemonState | None, home: Home) -> Sequence[str]:
    if daemon is not None:
        return daemon.problems
    return (SILENT,) if is_held(home) else ()


def _unique(*lists: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(it for part in lists for it in part))


def _warned(reply: ReplyT, warnings: list[str]) -> ReplyT:
    if warnings:
        cast("dict[str, Any]", reply)["warnings"] = warnings
    return reply
