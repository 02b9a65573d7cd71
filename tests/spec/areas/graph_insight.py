"""graph_stats, graph_validate, graph_communities, graph_audit, graph_export and graph_import."""

from tests.spec.model import Requirement, required, ruling, seed_graph

STATS = seed_graph("graph_stats")
STATS_RULING = ruling("Rulings on the graph family: graph_stats")
OTHERWISE = ruling("Where nothing else is said")
VALIDATE = seed_graph("graph_validate")
VALIDATE_RULING = ruling("Rulings on the graph family: graph_validate")
COMMUNITIES = seed_graph("graph_communities")
COMMUNITIES_RULING = ruling("Rulings on the graph family: graph_communities")
AUDIT = seed_graph("graph_audit")
AUDIT_RULING = ruling("Rulings on the graph family: graph_audit")
OWN = ruling("Rulings on the graph family: Our own tools")
EXPORT = seed_graph("graph_export")
COUNT = ruling("Rulings on the graph family: Count")

REQUIREMENTS: tuple[Requirement, ...] = (
    # stats
    required("graph_stats.no-arguments", STATS, "The tool takes no argument."),
    required("graph_stats.schema_version", STATS, "`schema_version` is the text `1`."),
    required("graph_stats.nodes", STATS, "`nodes` has `total` and `by_type`, whose numbers add up to the total."),
    required("graph_stats.edges", STATS, "`edges` has `total` and `by_type` of relations."),
    required("graph_stats.avg_weight", STATS, "`health.avg_weight` is the mean weight of current relations."),
    required(
        "graph_stats.orphaned_nodes",
        STATS,
        "`health.orphaned_nodes` counts entities without a current relation.",
    ),
    required(
        "graph_stats.unresolved_contradictions",
        STATS,
        "`health.unresolved_contradictions` counts open `CONTRADICTS` relations.",
    ),
    required("graph_stats.stale_nodes", OTHERWISE, "`health.stale_nodes` counts entities not seen for 30 days."),
    required(
        "graph_stats.last_dream_run",
        STATS_RULING,
        "`health.last_dream_run` tells when the latest maintenance night finished, null before the first.",
    ),
    required(
        "graph_stats.pending_ingest_docs",
        STATS,
        "`health.pending_ingest_docs` counts documents waiting in the inbox.",
    ),
    required(
        "graph_stats.total_ingested_docs",
        STATS,
        "`health.total_ingested_docs` counts documents ingested so far; cleaning `completed/` does not lower it.",
    ),
    required(
        "graph_stats.jobs",
        STATS_RULING,
        "`health` has for every job its last run, that run's result and the next run.",
    ),
    required("graph_stats.queue", STATS_RULING, "`health` has the number of inbox entries in each state."),
    required("graph_stats.store", STATS_RULING, "`health` names the store in use and its version."),
    required("graph_stats.embedder", STATS_RULING, "`health` names the embedder in use, or that there is none."),
    required(
        "graph_stats.degraded",
        STATS_RULING,
        "`health` lists degraded parts, each with its reason; a healthy system lists none.",
    ),
    required("graph_stats.budget", STATS_RULING, "`health` shows how much of the ingest budget is used."),
    # validate
    required(
        "graph_validate.generic_name",
        VALIDATE,
        "Names that say nothing (`project`, `user`, `data`) are reported as `generic_name`.",
    ),
    required(
        "graph_validate.reference_language",
        VALIDATE,
        "Names that point instead of naming (`the project`, `this file`) are reported as `reference_language`.",
    ),
    required(
        "graph_validate.orphan",
        VALIDATE,
        "An entity without relations and of low confidence is reported as `orphan`.",
    ),
    required(
        "graph_validate.low-confidence",
        OTHERWISE,
        "Low confidence is under 0.3: an orphan at 0.3 is not reported.",
    ),
    required(
        "graph_validate.near_duplicate",
        VALIDATE,
        "Two entities of one type with almost the same name are reported as `near_duplicate`, once per pair.",
    ),
    required("graph_validate.several-types", VALIDATE_RULING, "One name under several types is reported."),
    required("graph_validate.dangling-alias", VALIDATE_RULING, "An alias whose entity is gone is reported."),
    required(
        "graph_validate.fields",
        VALIDATE,
        "Each issue has severity (high, medium, low), type, entity_id, entity_name and description.",
    ),
    required("graph_validate.order", VALIDATE, "Issues come by severity, high first, then in a stable order."),
    required("graph_validate.issue_count", VALIDATE, "`issue_count` counts the issues found."),
    required(
        "graph_validate.source_session",
        VALIDATE,
        "`source_session` narrows the scan to entities that this session created.",
    ),
    required("graph_validate.max_issues", VALIDATE, "`max_issues` (50) bounds the list."),
    # communities
    required(
        "graph_communities.bfs",
        COMMUNITIES_RULING,
        "`method: bfs` is the default: greedy growth from seeds over relations of enough weight.",
    ),
    required(
        "graph_communities.louvain",
        COMMUNITIES_RULING,
        "`method: louvain` is offered too; another method is refused with the two.",
    ),
    required(
        "graph_communities.weight_threshold",
        COMMUNITIES,
        "Relations under `weight_threshold` (0.4) join nothing.",
    ),
    required(
        "graph_communities.max_communities",
        COMMUNITIES,
        "At most `max_communities` (10) are returned, largest first.",
    ),
    required(
        "graph_communities.max_hops",
        COMMUNITIES,
        "A `bfs` community reaches `max_hops` (3) from its seed and no farther.",
    ),
    required("graph_communities.max_hops.cap", COMMUNITIES, "`max_hops` above 4 is taken as 4, with a warning."),
    required("graph_communities.min_size", COMMUNITIES, "Groups smaller than `min_size` (2) are left out."),
    required("graph_communities.current-only", COMMUNITIES, "Superseded relations join nothing."),
    required(
        "graph_communities.deterministic",
        COMMUNITIES_RULING,
        "Equal graphs give equal communities by either method; ties are broken by id.",
    ),
    required(
        "graph_communities.fields",
        COMMUNITIES,
        "Each has id (from 1), seed_name, member_count, dominant_type and members (id, name, type).",
    ),
    required(
        "graph_communities.coverage",
        COMMUNITIES,
        "`total_members` counts the members of all, and `coverage_pct` is their share of all entities in percent.",
    ),
    # audit
    required(
        "graph_audit.appends",
        AUDIT,
        "A call appends one JSON line to `logs/dream-audit.jsonl` of the home, with event, data and timestamp.",
    ),
    required("graph_audit.result", AUDIT, "The reply is `logged: true` and the `timestamp` of the line."),
    required(
        "graph_audit.seed-events",
        AUDIT,
        "Accepted are run_start, run_end, transcript_start, transcript_end, transcript_skipped, entity_created, "
        "edge_created, edge_modified, merge_flagged, contradiction_found, ingest_start, ingest_end, decay_applied, "
        "format_warning and error.",
    ),
    required("graph_audit.own-events", AUDIT_RULING, "Each event that the product itself writes is accepted too."),
    required(
        "graph_audit.unknown-event",
        AUDIT_RULING,
        "An unknown event is refused with the list of known ones; nothing is appended.",
    ),
    required("graph_audit.data-optional", AUDIT, "`data` may be left out or hold any JSON object."),
    required(
        "graph_audit.not-lost",
        AUDIT,
        "Lines of concurrent writers are whole, and none is lost; a repeat after a crash is visible by its id.",
    ),
    required(
        "audit.ids-only",
        OWN,
        "What the product itself writes to audit, logs and changelogs holds ids and figures, no names and no stored "
        "text.",
    ),
    # export
    required(
        "graph_export.file",
        EXPORT,
        "A file named by its UTC timestamp (`2026-05-06T12-00-00.jsonl`) is written to `backups/` of the home, one "
        "JSON object per line.",
    ),
    required(
        "graph_export.complete",
        EXPORT,
        "The file holds every entity and relation, superseded ones and provenance too.",
    ),
    required(
        "graph_export.label",
        EXPORT,
        "`label` is added to the file's name; characters that don't belong in a file name can't leave the folder.",
    ),
    required(
        "graph_export.keep",
        EXPORT,
        "After writing, the oldest backups beyond `keep` (14) are removed, never the new one.",
    ),
    required(
        "graph_export.labelled-kept",
        OTHERWISE,
        "Labelled exports neither count for `keep` nor are removed by it.",
    ),
    required(
        "graph_export.result",
        EXPORT,
        "The reply has `backup_file` (absolute), `node_count`, `edge_count`, `size_bytes`, `pruned` and `retained`, "
        "all true of the file and folder.",
    ),
    required(
        "graph_export.atomic-file",
        EXPORT,
        "An export that fails or is killed leaves no file that passes for a backup, and removes no old one.",
    ),
    required("graph_export.no-vectors", OTHERWISE, "An export holds no vectors unless they are asked for."),
    required(
        "graph_export.instants-in-header",
        OTHERWISE,
        "The moment of export stands in the header alone: two exports of one unchanged store are equal but for their "
        "first line.",
    ),
    # import
    required(
        "graph_import.restores",
        COUNT,
        "Importing an export into an empty store gives the same graph: a new export of it has an equal body.",
    ),
    required(
        "graph_import.dry-run-default",
        OWN,
        "`dry_run` is true by default: the reply says what would happen and nothing changes.",
    ),
    required(
        "graph_import.merge",
        OWN,
        "`mode: merge` (the default) keeps what is there and adds the file's content.",
    ),
    required(
        "graph_import.merge.evidence",
        OTHERWISE,
        "A merging import follows the rules of evidence: larger weights win, nothing is weakened, importing twice "
        "equals importing once.",
    ),
    required("graph_import.replace", OWN, "`mode: replace` leaves exactly what the file holds."),
    required(
        "graph_import.all-or-nothing",
        OWN,
        "A file that is damaged or of an unknown version is refused with the line, and nothing changes.",
    ),
    required("graph_import.tenant", OWN, "An import writes into the caller's tenant, whatever the file says."),
)
