"""Tools that keep the graph: decay, backups, audit."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from graph_memory.bootstrap import Services
from graph_memory.domain.backups import ImportMode
from graph_memory.domain.principal import Principal
from ingest.allowed_paths import allowed_paths
from mcp_server.wire import instant, number


class FadedRow(TypedDict):
    """An entity whose confidence fell."""

    id: str
    type: str
    name: str
    old_confidence: float
    new_confidence: float


class DecayReply(TypedDict):
    """What decay did, or would do."""

    dry_run: bool
    nodes_decayed: int
    edges_decayed: int
    nodes_flagged_for_pruning: int
    edges_below_threshold: int
    details: list[FadedRow]
    truncated: NotRequired[bool]
    hint: NotRequired[str]


class ExportReply(TypedDict):
    """A backup that was written."""

    backup_file: str
    node_count: int
    edge_count: int
    memory_count: int
    size_bytes: int
    sha256: str
    pruned: int
    retained: int


class ImportReply(TypedDict):
    """What an import did, or would do; rows by kind."""

    dry_run: bool
    mode: str
    file: str
    exported_at: str | None
    added: dict[str, int]
    joined: dict[str, int]
    removed: dict[str, int]
    forgotten: int


class AuditReply(TypedDict):
    """That an event is in the audit."""

    logged: bool
    timestamp: str | None
    id: str


class GraphUpkeep:
    """Maintenance."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def graph_decay(self, caller: Principal, dry_run: bool = False) -> DecayReply:
        """Call only in maintenance, which also runs every night: lets confidences and weights fall by the time that has
        passed. Running it twice changes nothing more. dry_run shows what would fall."""
        report = self._services().upkeep.decay(caller, dry_run=dry_run)
        return {
            "dry_run": dry_run,
            "nodes_decayed": report.nodes_decayed,
            "edges_decayed": report.edges_decayed,
            "nodes_flagged_for_pruning": report.nodes_flagged_for_pruning,
            "edges_below_threshold": report.edges_below_threshold,
            "details": [
                {
                    "id": it.id,
                    "type": it.type,
                    "name": it.name,
                    "old_confidence": number(it.old_confidence),
                    "new_confidence": number(it.new_confidence),
                }
                for it in report.details
            ],
        }

    def graph_export(
        self,
        caller: Principal,
        keep: Annotated[int | None, Field(ge=1, description="nightly backups kept, default 14")] = None,
        label: Annotated[str | None, Field(description="part of the file name; labelled ones are kept")] = None,
    ) -> ExportReply:
        """Call before anything risky, like a bulk import: writes all notes and the whole graph to a file in the
        backups folder and returns its path. graph_import brings it back."""
        services = self._services()
        kept = services.settings.export.keep if keep is None else keep
        exported = services.backup.export(caller, keep=kept, label=label)
        counts = exported.file.counts
        return {
            "backup_file": exported.file.path,
            "node_count": counts.get("entity", 0),
            "edge_count": counts.get("relation", 0),
            "memory_count": counts.get("memory", 0),
            "size_bytes": exported.file.size,
            "sha256": exported.file.sha256,
            "pruned": exported.retention.pruned,
            "retained": exported.retention.retained,
        }

    def graph_import(
        self,
        caller: Principal,
        file: Annotated[str, Field(description="a file of graph_export: its name in the backups folder, or a path")],
        mode: Annotated[
            Literal["merge", "replace"], Field(description="replace removes what is there first")
        ] = "merge",
        dry_run: Annotated[bool, Field(description="false: do it")] = True,
    ) -> ImportReply:
        """Call to restore a backup of graph_export. By default a dry run that tells what would be added; show that to
        the user before dry_run=false. Checks the file whole, and puts back all of it or nothing."""
        services = self._services()
        paths = allowed_paths(services.home, services.settings.ingest)
        path = paths.resolve(file, argument="file", start=services.home.backups)
        done = services.restore.import_file(caller, str(path), mode=ImportMode(mode), dry_run=dry_run)
        return {
            "dry_run": done.is_dry_run,
            "mode": done.mode.value,
            "file": done.file.path,
            "exported_at": instant(done.file.exported_at),
            "added": dict(done.added),
            "joined": dict(done.joined),
            "removed": dict(done.removed),
            "forgotten": done.forgotten,
        }

    def graph_audit(
        self,
        caller: Principal,
        event: Annotated[str, Field(description="run_start, run_end, transcript_start, ingest_end, error, ...")],
        data: Annotated[dict[str, Any] | None, Field(description="ids and figures, no texts")] = None,
    ) -> AuditReply:
        """Call at checkpoints of your own maintenance runs, never in normal conversation: appends an event to the audit
        log. An unknown event is refused with the list of known ones."""
        noted = self._services().audit.log(caller, event, data or {})
        return {"logged": True, "timestamp": instant(noted.at), "id": noted.id}
