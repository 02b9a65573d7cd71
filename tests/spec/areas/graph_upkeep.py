"""graph_decay and graph_prune."""

from tests.spec.model import Requirement, Theme, deferred, diverged, required, ruling, seed_graph

DECAY = seed_graph("graph_decay")
DECAY_RULING = ruling("Rulings on the graph family: graph_decay")
PRUNE = seed_graph("graph_prune")
PRUNE_RULING = ruling("Rulings on the graph family: graph_prune")
COUNT = ruling("Rulings on the graph family: Count")

REQUIREMENTS: tuple[Requirement, ...] = (
    # decay
    required(
        "graph_decay.formula",
        DECAY_RULING,
        "A decayed value is value * rate ^ (days since `decayed_at`), and `decayed_at` becomes the run's moment.",
    ),
    required("graph_decay.first-time", DECAY_RULING, "A row never decayed counts its days from when it was made."),
    required("graph_decay.fractional-days", DECAY_RULING, "Days are fractional: six hours decay a quarter of a day."),
    required(
        "graph_decay.thirty-runs",
        DECAY_RULING,
        "Thirty runs a day apart give what one run after thirty days gives, to 1e-9: Project 0.86 of what it was, not"
        " 0.10.",
    ),
    required("graph_decay.twice-at-once", DECAY_RULING, "A second run at the same moment changes nothing."),
    required(
        "graph_decay.rates-by-type",
        DECAY,
        "An entity's confidence decays at its type's rate, a relation's weight at `decay.edge_rate`.",
    ),
    required("graph_decay.floor", DECAY, "Decay stops at 0.01."),
    required(
        "graph_decay.floor-never-raises",
        DECAY_RULING,
        "A value already under 0.01 stays as it is; the floor does not lift it.",
    ),
    required("graph_decay.exempt-pinned", DECAY_RULING, "An entity with `pinned: true` does not decay."),
    required(
        "graph_decay.exempt-rule",
        DECAY_RULING,
        "A Preference with `subtype: rule` does not decay; one without does.",
    ),
    required(
        "graph_decay.slices",
        DECAY_RULING,
        "A run over a large graph commits in slices; other writers get through between them.",
    ),
    required(
        "graph_decay.crash",
        DECAY_RULING,
        "After a crash in the middle each row is decayed or not, and a run afterwards gives exactly what one "
        "transaction would have.",
    ),
    diverged(
        "graph_decay.single-transaction",
        DECAY,
        "All of a run is one transaction, or nothing is decayed.",
        "One transaction over the whole graph makes every client wait; idempotence in time gives the same result "
        "(graph_decay.crash).",
    ),
    diverged(
        "graph_decay.whole-age",
        DECAY,
        "Each run multiplies by the rate to the power of all days since last seen.",
        "Nightly runs then compound (thirty nights leave 0.10 instead of 0.86); elapsed time since `decayed_at` "
        "counts (graph_decay.thirty-runs).",
    ),
    diverged(
        "graph_decay.only-after-a-day",
        DECAY,
        "Only rows not seen for a whole day are decayed, by whole days.",
        "Fractional days since `decayed_at` give the same result however often the job runs "
        "(graph_decay.fractional-days).",
    ),
    required(
        "graph_decay.dry_run",
        DECAY,
        "`dry_run: true` reports what would change and changes nothing; the default is false.",
    ),
    required(
        "graph_decay.result",
        DECAY,
        "The reply has `nodes_decayed`, `edges_decayed`, `nodes_flagged_for_pruning`, `edges_below_threshold` and "
        "`details`.",
    ),
    required(
        "graph_decay.flagged",
        DECAY,
        "`nodes_flagged_for_pruning` and `edges_below_threshold` count the rows that end under the configured "
        "thresholds (0.1 and 0.05).",
    ),
    required(
        "graph_decay.details",
        DECAY,
        "Each of `details` has type, name, old_confidence and new_confidence; the list is bounded.",
    ),
    required("graph_decay.deletes-nothing", DECAY_RULING, "Decay deletes nothing and marks nothing invalid."),
    required("graph_decay.tenant", COUNT, "A run decays the caller's tenant alone."),
    # prune
    deferred(
        "graph_prune.preview-default",
        PRUNE,
        "Without `mode` it is a preview and changes nothing.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_prune.node_threshold",
        PRUNE_RULING,
        "Nodes under `node_threshold` (0.1) without any relation above `edge_threshold` are listed.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_prune.edge_threshold",
        PRUNE_RULING,
        "Relations under `edge_threshold` (0.05) are listed.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_prune.include_orphans",
        PRUNE,
        "With `include_orphans` (true) nodes without relations last seen more than `max_age_days` ago are listed "
        "whatever their confidence.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_prune.max_age_days",
        PRUNE_RULING,
        "`max_age_days` is 30 unless given (`decay.prune_orphan_days`).",
        Theme.GRAPH_FAMILY,
    ),
    diverged(
        "graph_prune.max_age_days-90",
        PRUNE,
        "`max_age_days` is 90 in the sample input.",
        "The seed's own text says 30 from the configuration, and the ruling confirms it (graph_prune.max_age_days).",
    ),
    deferred(
        "graph_prune.thresholds-from-config",
        PRUNE,
        "Both thresholds come from the configuration unless given.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_prune.preview-result",
        PRUNE,
        "A preview gives `nodes_to_prune` (id, type, name, confidence, last_seen, edge_count), `edges_to_prune` "
        "(from, to, type, weight), `node_count` and `edge_count`.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_prune.execute-equals-preview",
        PRUNE_RULING,
        "What `execute` deletes is, item for item, what a preview of that moment with those arguments shows.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_prune.execute-result",
        PRUNE,
        "`execute` answers mode `executed`, `nodes_pruned`, `edges_pruned` and `details` (deleted_node and "
        "deleted_edge items).",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_prune.one-transaction",
        PRUNE,
        "Relations go first, then nodes, in one transaction.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_prune.backup",
        PRUNE_RULING,
        "`execute` first writes a backup of what it deletes that can be restored, and returns the file.",
        Theme.GRAPH_FAMILY,
    ),
    deferred("graph_prune.aliases", PRUNE, "Aliases of pruned entities go too.", Theme.GRAPH_FAMILY),
    deferred("graph_prune.destructive", PRUNE, "The tool is annotated `destructiveHint: true`.", Theme.GRAPH_FAMILY),
    deferred(
        "graph_prune.ask-first",
        PRUNE,
        "The tool's description tells the model to confirm with the user before `execute`.",
        Theme.GRAPH_FAMILY,
    ),
)
