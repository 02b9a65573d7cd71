"""graph_boost, graph_weaken, graph_delete, graph_contradictions."""

from tests.spec.model import Requirement, Theme, deferred, diverged, required, ruling, seed_graph

BOOST = seed_graph("graph_boost")
WEAKEN = seed_graph("graph_weaken")
WEAKEN_RULING = ruling("Rulings on the graph family: graph_weaken")
OTHERWISE = ruling("Where nothing else is said")
ERRORS = seed_graph("Error Handling")
DELETE = seed_graph("graph_delete")
CONTRA = seed_graph("graph_contradictions")

REQUIREMENTS: tuple[Requirement, ...] = (
    # boost
    required("graph_boost.adds", BOOST, "The relation's weight grows by `amount`: 0.6 with 0.15 becomes 0.75."),
    required("graph_boost.default", OTHERWISE, "Without `amount` 0.15 is added (`weights.boost_on_confirm`)."),
    required("graph_boost.at-most-one", ERRORS, "A boost that would pass 1 ends at 1.0."),
    required("graph_boost.negative-refused", OTHERWISE, "A negative `amount` is refused and changes nothing."),
    required("graph_boost.refreshes", OTHERWISE, "A boost sets `last_confirmed` to the moment of the call."),
    required(
        "graph_boost.result",
        BOOST,
        "The reply has `previous_weight`, `new_weight` and `edge` {from, to, type}.",
    ),
    required("graph_boost.reason", BOOST, "`reason` is kept with the contribution."),
    required("graph_boost.missing", ERRORS, "A relation that is not there is an error that suggests `graph_relate`."),
    # weaken
    required("graph_weaken.subtracts", WEAKEN, "The relation's weight falls by `amount`: 0.7 with 0.2 becomes 0.5."),
    required(
        "graph_weaken.default",
        WEAKEN_RULING,
        "Without `amount` 0.3 is taken off (`weights.weaken_on_correct`).",
    ),
    diverged(
        "graph_weaken.default-02",
        WEAKEN,
        "Without an amount 0.2 is taken off.",
        "A sample value; the configured 0.3 rules (graph_weaken.default).",
    ),
    required("graph_weaken.at-least-zero", ERRORS, "A weakening that would pass 0 ends at 0.0."),
    required("graph_weaken.negative-refused", OTHERWISE, "A negative `amount` is refused and changes nothing."),
    required(
        "graph_weaken.result",
        WEAKEN,
        "The reply has `previous_weight`, `new_weight`, `edge` {from, to, type} and `pruned`.",
    ),
    required(
        "graph_weaken.pruned",
        WEAKEN_RULING,
        "At or below `decay.prune_edge_threshold` (0.05) `pruned` is true and the relation gets an `invalid_at`; "
        "above it `pruned` is false and it stays current.",
    ),
    required(
        "graph_weaken.not-deleted",
        WEAKEN_RULING,
        "A relation pruned by weakening is still stored: `graph_query` with `current_only: false` shows it.",
    ),
    required("graph_weaken.no-refresh", WEAKEN_RULING, "Weakening leaves `last_confirmed` as it was."),
    required("graph_weaken.reason", WEAKEN, "`reason` is kept with the contribution."),
    required(
        "graph_weaken.missing",
        ERRORS,
        "A relation that is not there is an error that suggests `graph_relate`.",
    ),
    # delete
    required(
        "graph_delete.removes",
        DELETE,
        "The entity with that id and all its relations, superseded ones too, are gone from every tool.",
    ),
    required(
        "graph_delete.result",
        DELETE,
        "The reply has `deleted: true`, `entity` {id, name, type} and `edges_removed`, the number of relations "
        "removed.",
    ),
    required("graph_delete.neighbours-stay", DELETE, "The entities at the other ends stay."),
    required("graph_delete.missing", ERRORS, "An unknown id gives `found: false` and `deleted: false`, no error."),
    required("graph_delete.destructive", DELETE, "The tool is annotated `destructiveHint: true`."),
    required("graph_delete.reason", DELETE, "`reason` may be given or left out; the deletion is the same."),
    required(
        "graph_delete.ask-first",
        DELETE,
        "The tool's description tells the model to confirm with the user before calling.",
    ),
    # contradictions
    deferred(
        "graph_contradictions.lists",
        CONTRA,
        "Unresolved contradictions are listed, between nodes of any type, with a `count`.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_contradictions.fields",
        CONTRA,
        "Each has `node_a` and `node_b` (id, type, content), `description`, `detected_date` and `resolved`.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_contradictions.include_resolved",
        CONTRA,
        "`include_resolved` (false) also lists resolved ones, marked `resolved: true`.",
        Theme.GRAPH_FAMILY,
    ),
)
