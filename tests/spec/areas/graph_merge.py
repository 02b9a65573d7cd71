"""Merging and unmerging, merge suggestions, history and forgetting."""

from tests.spec.model import Requirement, Theme, deferred, diverged, required, ruling, seed_graph

UNMERGE = seed_graph("graph_unmerge")
SUGGEST = seed_graph("graph_merge_suggestions")
SUGGEST_RULING = ruling("Rulings on the graph family: graph_merge_suggestions")
MERGE_RULING = ruling("Rulings on the graph family: graph_merge")
OWN = ruling("Rulings on the graph family: Our own tools")
COUNT = ruling("Rulings on the graph family: Count")
OTHERWISE = ruling("Where nothing else is said")

REQUIREMENTS: tuple[Requirement, ...] = (
    # merge
    deferred(
        "graph_merge.arguments",
        OWN,
        "`graph_merge(source_id, target_id, reason, dry_run=false)` answers merge_id, moved, consolidated and dropped.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_merge.relations",
        MERGE_RULING,
        "Relations of the source become the target's; doubles are consolidated.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_merge.properties",
        MERGE_RULING,
        "The target's properties win; the source's others are kept under `merged_properties`.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_merge.alias",
        MERGE_RULING,
        "The source's name becomes an alias by which the target is found.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_merge.provenance",
        MERGE_RULING,
        "Provenance and memory mentions move along.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_merge.inverse",
        MERGE_RULING,
        "The inverse of the merge is stored under its `merge_id`.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_unmerge.exact",
        MERGE_RULING,
        "`graph_unmerge(merge_id)` restores the exact state before the merge.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_unmerge.written-since",
        MERGE_RULING,
        "What was written since a merge stays where it is and is listed by the unmerge.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_unmerge.split",
        UNMERGE,
        "With the seed's arguments a new entity of the given name and type is made and the relations of "
        "`edges_to_move` go to it with weight and properties.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_unmerge.edge-identity",
        UNMERGE,
        "A relation to move is named by other_entity_id, relation_type and direction (in, out); if several match, all"
        " move.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_unmerge.result",
        UNMERGE,
        "The reply has `original` (id, name, remaining_edges), `new_entity` (id, name, moved_edges) and "
        "`audit_logged`.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_unmerge.merge-audit",
        UNMERGE,
        "Each split is logged in the home's `logs/merge-audit.jsonl`.",
        Theme.GRAPH_FAMILY,
    ),
    diverged(
        "graph_unmerge.merge-audit-path",
        UNMERGE,
        "The merge audit lies under `~/.claude/graph-memory/logs`.",
        "The seed names two home folders; all of ours lies under one (graph_unmerge.merge-audit).",
    ),
    # merge suggestions
    required(
        "graph_merge_suggestions.score",
        SUGGEST_RULING,
        "score = w.embedding * embedding similarity + w.neighbor_jaccard * weighted Jaccard + w.name * token Jaccard,"
        " by default 0.4, 0.4 and 0.2.",
    ),
    diverged(
        "graph_merge_suggestions.sample-numbers",
        SUGGEST,
        "The sample's signals 0.97, 0.50, 0.85 give 0.92.",
        "They don't satisfy the seed's own formula, which rules (graph_merge_suggestions.score).",
    ),
    required(
        "graph_merge_suggestions.hub-weight",
        SUGGEST,
        "A shared neighbour of degree n counts 1 / (1 + ln n): 1.0 at 1, 0.59 at 2, 0.38 at 5, 0.30 at 10, 0.20 at "
        "50, 0.18 at 100.",
    ),
    required(
        "graph_merge_suggestions.same-type",
        SUGGEST,
        "No pair of different types is ever suggested.",
    ),
    required(
        "graph_merge_suggestions.missing-embedding",
        SUGGEST_RULING,
        "Without an embedding that signal is left out and the other weights are renormalised.",
    ),
    required(
        "graph_merge_suggestions.scope",
        SUGGEST,
        "`entity_id`, `entity_type` or neither scope the search; at most 200 seeds, ten neighbours each.",
    ),
    deferred(
        "graph_merge_suggestions.min_score",
        SUGGEST,
        "`min_score` (0.8) and `min_embedding_similarity` (0.85) bound what is suggested; `limit` is 20, at most 100.",
        Theme.GRAPH_FAMILY,
    ),
    required(
        "graph_merge_suggestions.threshold_used",
        SUGGEST_RULING,
        "`threshold_used` is the threshold that was applied.",
    ),
    required(
        "graph_merge_suggestions.pairs-once",
        SUGGEST,
        "Each pair is listed once, the smaller id first, best score first.",
    ),
    required(
        "graph_merge_suggestions.result",
        SUGGEST,
        "Each suggestion has entity_a, entity_b (id, name, type, edge_count), score, signals with shared_neighbors, "
        "and recommended_action; beside them total_pairs_evaluated and scope.",
    ),
    required(
        "graph_merge_suggestions.audit",
        SUGGEST,
        "With `log_to_audit` (true) each suggested pair is one `merge_flagged` event.",
    ),
    required(
        "graph_merge_suggestions.read-only",
        SUGGEST_RULING,
        "The graph itself is not changed.",
    ),
    # history and forgetting
    deferred(
        "graph_history.versions",
        OWN,
        "`graph_history` by entity_id or by from_name, relation and to_name gives every version with provenance, "
        "merges and decay; `limit` 50, `offset` 0.",
        Theme.GRAPH_FAMILY,
    ),
    required(
        "graph_forget.sources",
        OWN,
        "`graph_forget` takes source_session, source_file, entity_id, memory_id, project or before and after, with "
        "mode (preview) and reason.",
    ),
    required(
        "graph_forget.preview-first",
        COUNT,
        "Without `mode: execute` it is a preview that erases nothing.",
    ),
    required(
        "graph_forget.everywhere",
        OWN,
        "Erased content is found in no store page, index, write-ahead log, archive, inbox folder, log, changelog or "
        "backup of ours.",
    ),
    required(
        "graph_forget.recomputes",
        OWN,
        "What others also support keeps a weight recomputed from the evidence that remains.",
    ),
    required(
        "graph_forget.tombstone",
        OWN,
        "A tombstone with the content key keeps a rescan from learning it again.",
    ),
    required(
        "graph_forget.audit",
        OWN,
        "One audit line without the content tells of the erasure.",
    ),
    required(
        "graph_forget.source-time",
        OTHERWISE,
        "Dates mean the time of the source, not of learning.",
    ),
)
