"""memory_search, memory_get, memory_recent, memory_overview, and reading tools that come later."""

from tests.spec.model import Requirement, Theme, deferred, required, ruling, seed_memory

ARGS = ruling("The memory family: arguments")
RULING = ruling("Rulings on the memory family")
OTHERWISE = ruling("Where nothing else is said")
STALE = seed_memory("memory_stale")

REQUIREMENTS: tuple[Requirement, ...] = (
    # search
    required(
        "memory_search.finds",
        ARGS,
        "`memory_search` finds memories by words of title, content and tags; the reply is {memories, count}.",
    ),
    required("memory_search.project_id", ARGS, "`project_id` narrows to that project and `_global`."),
    required("memory_search.category", ARGS, "`category` narrows to that category."),
    required("memory_search.layer", ARGS, "`layer` narrows to that layer."),
    required("memory_search.status", ARGS, "Only active memories are searched by default; `status` selects others."),
    required("memory_search.limit", ARGS, "`limit` is 20 by default; above 100 it is taken as 100, with a warning."),
    required(
        "memory_search.rank",
        OTHERWISE,
        "The rank is (negated bm25) * importance + 0.5 * boost, best first; `rank` is in the reply.",
    ),
    required(
        "memory_search.boost-counts",
        ARGS,
        "Of two equal texts the boosted one comes first, by half its boost in rank.",
    ),
    required("memory_search.importance-counts", ARGS, "Of two equal texts the more important one comes first."),
    required("memory_search.snippet", ARGS, "Each hit has a `snippet` of its text around the words found."),
    required("memory_search.empty", OTHERWISE, "An empty or blank query returns nothing, without an error."),
    required(
        "memory_search.plain-text",
        RULING,
        "No query text gives a syntax error: `C++`, `POL-358`, `C:\\repo`, `don't`, `foo:bar`, a lone quote or "
        "bracket, `*`, `AND`, 10 kB of text.",
    ),
    required(
        "memory_search.plain-text.finds",
        RULING,
        "A memory that holds such a token (`POL-358`, `v2.1.39`, `C:\\repo`) is found by it and comes first.",
    ),
    required(
        "memory_search.operators",
        RULING,
        "A query that parses as phrases in quotes and upper-case AND, OR, NOT is run with those operators.",
    ),
    required(
        "memory_search.operators.else-words",
        RULING,
        "When it does not parse (`sqlite AND`), the words are searched as words.",
    ),
    required(
        "memory_search.any-script",
        RULING,
        "Words of any script are found, those of scripts without spaces too.",
    ),
    required(
        "memory_search.huge-text",
        RULING,
        "Searching and cutting snippets in notes of hundreds of kilobytes of one repeated word takes time in "
        "proportion to their size.",
    ),
    required("memory_search.no-access", ARGS, "A search counts as no access of what it finds."),
    # get
    required("memory_get.fields", ARGS, "`memory_get` returns all fields of the memory and its tags."),
    required("memory_get.counts-access", ARGS, "Each get raises `access_count` by one and sets `accessed_at`."),
    required(
        "memory_get.counts-synapse-access",
        ARGS,
        "The memory's synapses are counted as accessed along with it.",
    ),
    required(
        "memory_get.include_synapses",
        ARGS,
        "`include_synapses` (false) adds its synapses, in and out, each with type, weight and the other end.",
    ),
    required("memory_get.missing", OTHERWISE, "A missing id is an error that says what to call instead."),
    # recent
    required("memory_recent.order", ARGS, "`memory_recent` lists the newest first as {memories, count}; ties by id."),
    required(
        "memory_recent.filters",
        ARGS,
        "It narrows by project_id (with `_global`), category, layer and lifecycle.",
    ),
    required("memory_recent.limit", ARGS, "`limit` is 20 by default; above 100 it is taken as 100, with a warning."),
    # overview
    required("memory_overview.total", ARGS, "`memory_overview` has `total`, the number of memories."),
    required("memory_overview.breakdowns", ARGS, "by_status, by_layer, by_category and by_project each count them."),
    required("memory_overview.recent", ARGS, "It lists the five most recent memories."),
    required("memory_overview.total_synapses", ARGS, "`total_synapses` counts the synapses."),
    # later
    deferred(
        "memory_prime.budget",
        ARGS,
        "`memory_prime(project, max_tokens 4096 up to 16384, include_archived false)` fills the budget by importance "
        "* (1 + boost), then lifecycle, then newest, and tells budget used, entries and what was dropped and why.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_projects.result",
        ARGS,
        "`memory_projects` gives name, count and latest of each project.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_categories.result",
        ARGS,
        "`memory_categories` gives name, count and latest of each category.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_changes.since",
        ARGS,
        "`memory_changes(since, project_id, limit 50 up to 200)` lists what changed since an instant, invalid ones "
        "left out.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_stats.result",
        ARGS,
        "Counts by status, layer, lifecycle and category; boosted, average confidence, never accessed, synapses by "
        "type, tags, decay-matrix rows.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_stale.arguments",
        STALE,
        "days (30), project_id, lifecycle list, layer list, limit (50, at most 500): what was not accessed for that "
        "long.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_stale.never_accessed",
        STALE,
        "Each row has `never_accessed`; those never accessed come first.",
        Theme.MEMORY_FAMILY,
    ),
    # sql
    deferred("sql_query.arguments", ARGS, "`sql_query(database memory, query, params)` answers rows.", Theme.SQL),
    deferred(
        "sql_query.read-only",
        RULING,
        "The engine refuses any write, ATTACH, changing PRAGMA, extension and second statement; a query ends after "
        "five seconds and its rows are bounded.",
        Theme.SQL,
    ),
    deferred(
        "sql_execute.result",
        ARGS,
        "`sql_execute(database, statement, params)` answers changes and last_insert_rowid.",
        Theme.SQL,
    ),
    deferred(
        "sql_execute.guarded",
        RULING,
        "Rows of the memory tables may be changed, in one transaction; DDL, ATTACH, and writing to audit, job or "
        "tenant tables are refused.",
        Theme.SQL,
    ),
    deferred(
        "sql_introspect.result",
        ARGS,
        "`sql_introspect(database)` lists type, name, tbl_name and sql.",
        Theme.SQL,
    ),
    deferred("list_databases.result", ARGS, "`list_databases` lists `memory`.", Theme.SQL),
    deferred(
        "sql.on-neo4j",
        RULING,
        "With memories on Neo4j, `sql_query` and `sql_execute` refuse and name `graph_cypher` as the tool to use.",
        Theme.NEO4J,
    ),
)
