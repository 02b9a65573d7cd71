"""graph_query and graph_entities: finding by name, walking outwards, listing."""

from tests.spec.model import Requirement, diverged, required, ruling, seed_graph

QUERY = seed_graph("graph_query")
RULING = ruling("Rulings on the graph family: graph_query")
OTHERWISE = ruling("Where nothing else is said")
ENTITIES = seed_graph("graph_entities")
ERRORS = seed_graph("Error Handling")

REQUIREMENTS: tuple[Requirement, ...] = (
    # arguments
    required(
        "graph_query.entities.several",
        QUERY,
        "`entities` takes several names, and the answer is the union of what lies around each.",
    ),
    required(
        "graph_query.max_hops.default",
        QUERY,
        "Without `max_hops` nodes up to two hops away are returned and none at three.",
    ),
    required(
        "graph_query.max_hops.respected",
        QUERY,
        "No node farther than `max_hops` from every start is returned.",
    ),
    required("graph_query.max_hops.cap", RULING, "`max_hops` above 4 is taken as 4, with a warning."),
    required(
        "graph_query.min_weight.default",
        QUERY,
        "Without `min_weight` relations lighter than 0.3 are neither returned nor walked.",
    ),
    required(
        "graph_query.min_weight.inclusive",
        QUERY,
        "A relation that weighs exactly `min_weight` is walked; one below it is not, on any hop.",
    ),
    required("graph_query.limit.default", QUERY, "Without `limit` at most 20 nodes are returned."),
    required(
        "graph_query.limit.counts-nodes",
        RULING,
        "`limit` counts nodes, not relations; every returned relation joins two returned nodes.",
    ),
    required("graph_query.limit.cap", RULING, "`limit` above 500 is taken as 500, with a warning."),
    required(
        "graph_query.entity_types.filters-result",
        OTHERWISE,
        "`entity_types` filters which nodes are returned; starts of other types are still found and walked from.",
    ),
    required(
        "graph_query.current_only.default",
        QUERY,
        "By default no relation with an `invalid_at` is returned or walked.",
    ),
    required(
        "graph_query.current_only.false",
        QUERY,
        "`current_only: false` also returns superseded relations, with their `invalid_at`.",
    ),
    # context levels
    required("graph_query.context_level.default", QUERY, "Without `context_level` the answer is that of `full`."),
    required("graph_query.minimal.nodes", QUERY, "`minimal` gives each node exactly id, name, type and confidence."),
    required(
        "graph_query.minimal.edge_count",
        QUERY,
        "`minimal` gives `edge_count`, the number of relations in the subgraph, and no `edges` list and no source "
        "files.",
    ),
    required(
        "graph_query.full.nodes",
        QUERY,
        "`full` gives each node id, type, name, properties, confidence and source_file.",
    ),
    required(
        "graph_query.full.mention_count",
        OTHERWISE,
        "A node's full properties hold `mention_count`, how often it has been mentioned.",
    ),
    required(
        "graph_query.full.edges",
        QUERY,
        "`full` gives each relation from, to, type, weight, effective_weight, properties, valid_at, invalid_at, "
        "source_session and source_type, where from and to are public ids.",
    ),
    required(
        "graph_query.full.source_files",
        QUERY,
        "`full` lists under `source_files` every file that the returned nodes came from, each once.",
    ),
    required(
        "graph_query.relations-only.nodes",
        QUERY,
        "`relations-only` gives each node exactly id, name and type.",
    ),
    required(
        "graph_query.relations-only.edges",
        QUERY,
        "`relations-only` gives every relation with all the fields it has in `full`.",
    ),
    required("graph_query.paths.resolved", QUERY, "File paths in a reply are absolute and resolved; no `~` in them."),
    diverged(
        "graph_query.paths.windows",
        QUERY,
        "Paths in replies are resolved Windows paths.",
        "The product runs on Linux and macOS; paths are those of the machine it runs on, absolute and resolved.",
    ),
    # matching
    required(
        "graph_query.match.full-text",
        QUERY,
        "A start name is looked up by full text: one word of a longer name finds it.",
    ),
    required("graph_query.match.typo", RULING, "A small typing error (`Postgers`) still finds the entity."),
    required(
        "graph_query.match.exact-first",
        QUERY,
        "Where a name matches one entity exactly, its neighbourhood comes first, before those that merely resemble it.",
    ),
    required(
        "graph_query.match.plain-text",
        QUERY,
        "Any text is a valid name to look for (`C:\\repo\\src`, `a/b`, `C++`, `(`, `*`, `foo:bar`, `AND`, empty, 10 "
        "kB): never a syntax error.",
    ),
    required("graph_query.match.alias", QUERY, "An entity is also found by its aliases."),
    required(
        "graph_query.not-found",
        ERRORS,
        "Names that match nothing give empty `nodes` and `edges` and `found: false`.",
    ),
    # walking
    required("graph_query.walk.both-directions", QUERY, "The walk follows relations from source to target and back."),
    required(
        "graph_query.walk.strongest-first",
        RULING,
        "Where the limit cuts, at every hop the strongest relations are kept and the weaker left out.",
    ),
    required(
        "graph_query.walk.hub",
        RULING,
        "A hub with thousands of neighbours does not fill the answer alone: second-hop nodes over new strong "
        "relations still appear.",
    ),
    required(
        "graph_query.walk.deduplicated",
        QUERY,
        "A node or relation reached by several paths or from several starts is returned once.",
    ),
    required(
        "graph_query.order.ties-by-id",
        RULING,
        "Equal ranks are ordered by id, so that equal stores give equal answers.",
    ),
    # project context
    required(
        "graph_query.project_context.by-path",
        RULING,
        "`project_context` finds the Project by its directory path.",
    ),
    required("graph_query.project_context.by-name", RULING, "`project_context` finds the Project by its name."),
    required(
        "graph_query.project_context.one-hop",
        RULING,
        "What lies one hop from the active project has `effective_weight` = weight * 1.3.",
    ),
    required(
        "graph_query.project_context.two-hops",
        RULING,
        "What lies two hops from the active project has `effective_weight` = weight * 1.15; farther, the weight "
        "itself.",
    ),
    required("graph_query.project_context.itself", OTHERWISE, "The project itself counts as one hop away."),
    required(
        "graph_query.project_context.unclamped",
        OTHERWISE,
        "The multiplied weight is not cut at 1: 0.9 one hop away is 1.17.",
    ),
    required(
        "graph_query.project_context.order",
        QUERY,
        "With a project the results are sorted by effective weight, strongest first.",
    ),
    required("graph_query.project_context.absent", QUERY, "Without a project `effective_weight` equals `weight`."),
    required(
        "graph_query.affinity.from-config",
        RULING,
        "The multipliers are those of `affinity.hop_1_multiplier` and `affinity.hop_2_multiplier`.",
    ),
    # annotations
    # graph_entities
    required(
        "graph_entities.search",
        ENTITIES,
        "`search` narrows to entities whose name matches by full text; without it all are listed.",
    ),
    required("graph_entities.type", ENTITIES, "`type` narrows to entities of that type, compared by the type's key."),
    required("graph_entities.min_confidence", ENTITIES, "`min_confidence` (0.0) leaves out entities below it."),
    required("graph_entities.sort.confidence", OTHERWISE, "Without `sort_by` the most confident come first."),
    required("graph_entities.sort.last_seen", ENTITIES, "`sort_by: last_seen` puts the latest seen first."),
    required("graph_entities.sort.name", ENTITIES, "`sort_by: name` sorts by name, ascending."),
    required("graph_entities.limit.default", ENTITIES, "Without `limit` at most 20 are listed."),
    required("graph_entities.limit.cap", OTHERWISE, "`limit` above 500 is taken as 500, with a warning."),
    required(
        "graph_entities.fields",
        ENTITIES,
        "Each entity has id, type, name, confidence, edge_count, last_seen and source_file.",
    ),
    required(
        "graph_entities.edge_count",
        ENTITIES,
        "`edge_count` counts the entity's current relations in both directions.",
    ),
    required("graph_entities.total", ENTITIES, "`total` counts all that match, whatever `limit` shows."),
)
