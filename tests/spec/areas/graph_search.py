"""graph_search, graph_reembed, graph_build_context, graph_cypher and vectors at creation: later work."""

from tests.spec.model import Requirement, Theme, deferred, diverged, ruling, seed_graph

SEARCH = seed_graph("graph_search")
SEARCH_RULING = ruling("Rulings on the graph family: graph_search")
REEMBED = seed_graph("graph_reembed")
CREATION = ruling("Rulings on the graph family: Embedding at creation")
SIMILAR = ruling("Rulings on the graph family: Similarity thresholds")
CONTEXT = seed_graph("graph_build_context")
CYPHER = seed_graph("graph_cypher")
CYPHER_RULING = ruling("Rulings on the graph family: graph_cypher")

REQUIREMENTS: tuple[Requirement, ...] = (
    deferred("graph_search.required", SEARCH, "`query` is required and is looked for by meaning.", Theme.SEARCH),
    deferred("graph_search.top_k", SEARCH, "At most `top_k` (10) seeds come back, most similar first.", Theme.SEARCH),
    deferred(
        "graph_search.min_similarity",
        SEARCH,
        "Seeds less similar than `min_similarity` (0.5) are left out.",
        Theme.SEARCH,
    ),
    deferred(
        "graph_search.given-threshold",
        SIMILAR,
        "A threshold in the call is applied unchanged, whichever model's default differs.",
        Theme.SEARCH,
    ),
    deferred("graph_search.entity_types", SEARCH, "`entity_types` narrows the seeds to those types.", Theme.SEARCH),
    deferred(
        "graph_search.expand",
        SEARCH,
        "With `expand` (true) nodes and relations around the seeds come along, over relations of at least "
        "`expand_min_weight` (0.3).",
        Theme.SEARCH,
    ),
    deferred(
        "graph_search.fields",
        SEARCH,
        "`seeds` have id, name, type and similarity; `expansion` has nodes (id, name, type) and edges (from, to, "
        "type, weight).",
        Theme.SEARCH,
    ),
    deferred(
        "graph_search.text-fallback",
        SEARCH_RULING,
        "With no vectors to search, full text answers, marked `mode: text` and warned of; a missing model is never an"
        " error.",
        Theme.SEARCH,
    ),
    diverged(
        "graph_search.bundled-model",
        SEARCH,
        "The query is embedded by a local bge-small-en model.",
        "The default is a smaller model that comes in a package and needs no download; the named one is an option.",
    ),
    deferred(
        "graph_reembed.missing-only",
        REEMBED,
        "Without `force` only missing embeddings are made; running again does nothing.",
        Theme.SEARCH,
    ),
    deferred(
        "graph_reembed.force",
        REEMBED,
        "`force: true` (false by default) embeds everything anew.",
        Theme.SEARCH,
    ),
    deferred("graph_reembed.result", REEMBED, "The reply counts `embedded`, `skipped` and `errors`.", Theme.SEARCH),
    deferred(
        "graph_reembed.after-merge",
        REEMBED,
        "A merge leaves the target without an embedding until the next run.",
        Theme.SEARCH,
    ),
    deferred("graph_reembed.after-import", REEMBED, "Imported entities wait for an embedding.", Theme.SEARCH),
    deferred(
        "graph_reembed.other-model",
        REEMBED,
        "Vectors of another model are never compared with those of the current one.",
        Theme.SEARCH,
    ),
    deferred(
        "graph_reembed.tenant",
        REEMBED,
        "The admin tenant's call covers all tenants, others' calls their own.",
        Theme.SEARCH,
    ),
    deferred(
        "embed_pending.within-two-seconds",
        CREATION,
        "With the daemon running, a new entity or memory is findable by meaning two seconds after its write at the "
        "latest; the newest are embedded first.",
        Theme.SEARCH,
    ),
    deferred(
        "embed_pending.without-daemon",
        CREATION,
        "With no daemon, a background thread of the server embeds by the light engine where that is installed; "
        "otherwise rows wait.",
        Theme.SEARCH,
    ),
    deferred(
        "embed_pending.equals-reembed",
        CREATION,
        "A run of the job `embed_pending` has the same effect as `graph_reembed` with `force` off.",
        Theme.SEARCH,
    ),
    deferred(
        "graph_build_context.arguments",
        CONTEXT,
        "All of topic, project_cwd, recent_days (7), hub_count (5), include_contradictions (true) and max_recent (15)"
        " are optional.",
        Theme.SEARCH,
    ),
    deferred(
        "graph_build_context.result",
        CONTEXT,
        "One object has stats, pending work, last run, recent_entities, top_hubs, contradictions when asked, and "
        "topic_neighbourhood when a topic is given.",
        Theme.SEARCH,
    ),
    deferred(
        "graph_cypher.result",
        CYPHER,
        "The reply has `cypher`, `results`, `result_count` and `execution_time_ms`.",
        Theme.GRAPH_FAMILY,
    ),
    deferred("graph_cypher.params", CYPHER, "`params` are bound, never pasted.", Theme.GRAPH_FAMILY),
    deferred(
        "graph_cypher.read-only",
        CYPHER_RULING,
        "The engine itself refuses every write, however it is written; words like Create in strings are no reason to "
        "refuse.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_cypher.five-seconds",
        CYPHER_RULING,
        "A query ends after five seconds with an error that suggests a narrower question.",
        Theme.GRAPH_FAMILY,
    ),
    deferred("graph_cypher.rows", CYPHER_RULING, "At most 1,000 rows come back.", Theme.GRAPH_FAMILY),
    deferred("graph_cypher.not-retried", CYPHER_RULING, "A query is never run a second time by itself.", Theme.NEO4J),
    diverged(
        "graph_cypher.execute-read",
        CYPHER,
        "The driver's managed read transaction is the only guard, retried when transient.",
        "It retries out-of-memory for half a minute and lets LOAD CSV read files; one explicit transaction after a "
        "look at the plan is used (graph_cypher.not-retried, graph_cypher.no-files).",
    ),
    deferred(
        "graph_cypher.no-files",
        CYPHER_RULING,
        "Neither store runs `LOAD CSV` or a procedure that is not on the list; the decision comes from the plan or "
        "from parsing, so that such words in strings and comments pass.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_cypher.snapshot",
        CYPHER_RULING,
        "On the embedded store queries see a copy in memory of the caller's tenant only, and can't reach the stored "
        "data.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "graph_cypher.same-names",
        CYPHER_RULING,
        "A query written for one store finds the same labels, relation types and properties on the other.",
        Theme.NEO4J,
    ),
)
