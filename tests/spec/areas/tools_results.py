"""What holds for the reply of every tool: shape, bounds, errors, arguments, warnings."""

from tests.spec.model import Requirement, Theme, deferred, diverged, required, ruling, seed_graph

ALL = ruling("All tools")
ERRORS = seed_graph("Error Handling")
PATTERNS = seed_graph("Design Patterns")

REQUIREMENTS: tuple[Requirement, ...] = (
    # shape
    required(
        "tools.result.one-object",
        ALL,
        "Every tool answers with exactly one JSON object, never a bare array or scalar.",
    ),
    required(
        "tools.result.structured",
        ALL,
        "The object is in `structuredContent`, and every tool declares an output schema that it satisfies.",
    ),
    required(
        "tools.result.text-block",
        ALL,
        "The reply also holds one text block whose JSON equals `structuredContent`.",
    ),
    required(
        "tools.result.lists-wrapped",
        ALL,
        "A result that is a list at heart comes as an object with the list under a plural noun and its `count` "
        "(`{memories: […], count: 3}`).",
    ),
    # bounds
    required(
        "tools.bounds.every-list",
        ALL,
        "No list in any reply is unbounded: each has a limit of its own or falls under the reply's byte limit.",
    ),
    required(
        "tools.bounds.max-reply-bytes",
        ALL,
        "No reply is larger than `limits.max_reply_bytes`, 262,144 by default, whatever the store holds.",
    ),
    required(
        "tools.bounds.item-boundary",
        ALL,
        "A reply that would be too large loses whole items from its tail; what remains is valid and complete per item.",
    ),
    required(
        "tools.bounds.truncated",
        ALL,
        "A shortened reply has `truncated: true`; one that is whole does not claim it.",
    ),
    required(
        "tools.bounds.hint",
        ALL,
        "A shortened reply of a tool without `offset` holds a hint how to ask for less.",
    ),
    required(
        "tools.offset.graph_entities",
        ALL,
        "`graph_entities` takes `offset` (0); cut short it gives `next_offset`, and paging by it yields every item "
        "once.",
    ),
    required(
        "tools.offset.graph_validate",
        ALL,
        "`graph_validate` takes `offset` (0); cut short it gives `next_offset`, and paging by it yields every issue "
        "once.",
    ),
    required(
        "tools.offset.graph_read_transcript",
        ALL,
        "`graph_read_transcript` cut short by bytes gives the `next_offset` of the first message left out.",
    ),
    required(
        "tools.offset.memory_search",
        ALL,
        "`memory_search` takes `offset` (0); cut short it gives `next_offset`, and paging by it yields every hit once.",
    ),
    required(
        "tools.offset.memory_recent",
        ALL,
        "`memory_recent` takes `offset` (0); cut short it gives `next_offset`, and paging by it yields every memory "
        "once.",
    ),
    deferred(
        "tools.offset.graph_contradictions",
        ALL,
        "`graph_contradictions` takes `offset` (0) and gives `next_offset` when cut short.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "tools.offset.graph_history",
        ALL,
        "`graph_history` takes `offset` (0) and gives `next_offset` when cut short.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "tools.offset.memory_changes",
        ALL,
        "`memory_changes` takes `offset` (0) and gives `next_offset` when cut short.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "tools.offset.memory_stale",
        ALL,
        "`memory_stale` takes `offset` (0) and gives `next_offset` when cut short.",
        Theme.MEMORY_FAMILY,
    ),
    # annotations
    required(
        "tools.annotations.complete",
        ALL,
        "Every listed tool states `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint`, none left "
        "out.",
    ),
    required("tools.annotations.closed-world", ALL, "`openWorldHint` is false on every tool."),
    required(
        "tools.annotations.access-counters",
        ALL,
        "A tool that changes nothing but access counters (`memory_get`) is `readOnlyHint: true`.",
    ),
    required(
        "tools.annotations.truthful",
        PATTERNS,
        "`readOnlyHint` is true on exactly the tools that change nothing a client can see (counters aside), so that a"
        " model can call them speculatively.",
    ),
    required(
        "tools.annotations.destructive",
        PATTERNS,
        "`destructiveHint` is true on the tools that delete or overwrite stored facts (`graph_delete`, "
        "`graph_import`) and false on those that only add or strengthen.",
    ),
    # arguments
    required(
        "tools.arguments.unknown-refused",
        ALL,
        "An argument a tool does not know is refused by name, and nothing is written.",
    ),
    required(
        "tools.arguments.nearest-suggested",
        ALL,
        "The refusal of an unknown argument names the nearest one the tool does know (`project` → `project_id`).",
    ),
    required(
        "tools.arguments.clamped-warns",
        ALL,
        "A number out of a range that the documents say is clamped is clamped, and `warnings` states the argument, "
        "what was given and what was used.",
    ),
    required(
        "tools.arguments.choice-refused",
        ALL,
        "A value outside an argument's fixed list (`context_level`, `sort_by`, `source_type`, `layer`, `mode` …) is "
        "refused with the list; nothing is written.",
    ),
    required("tools.arguments.missing-refused", ALL, "A missing required argument is refused by name."),
    required(
        "tools.weight.clamped",
        ERRORS,
        "A weight given above 1 is used as 1.0 and one below 0 as 0.0, each with a warning, never an error.",
    ),
    # not found and errors
    required(
        "tools.not-found.normal",
        ALL,
        "Where the documents say so, a missing thing is an ordinary result with `found: false`, not an error.",
    ),
    required(
        "tools.not-found.entity",
        ERRORS,
        "Reading or deleting an entity that is not there gives an empty result with `found: false`.",
    ),
    required(
        "tools.not-found.advice",
        ALL,
        "Where a missing thing is an error, its text names the tool to call instead.",
    ),
    required(
        "tools.errors.mendable",
        ALL,
        "An error the client can mend is a tool error (`isError`) whose text states what was wrong, in which "
        "argument, and what to do.",
    ),
    required(
        "tools.errors.unexpected-id",
        ALL,
        "An unexpected failure answers with an id, and the log line of that failure has the same id.",
    ),
    required(
        "tools.errors.no-internals",
        ALL,
        "Neither stack traces nor paths from outside the data folder appear in any error text.",
    ),
    required(
        "tools.errors.store-unavailable",
        ERRORS,
        "When the store can't be reached, every tool answers with an error saying that the graph is unavailable and "
        "what to check, and the server keeps running.",
    ),
    diverged(
        "tools.errors.docker-hint",
        ERRORS,
        "An unreachable database is answered with a question about the Docker container.",
        "Docker is one of several ways to run a store here; the error names the store and what to check for it "
        "(tools.errors.store-unavailable).",
    ),
    deferred(
        "tools.errors.neo4j-retry",
        ERRORS,
        "A transient failure of a Neo4j write transaction is retried without the client noticing.",
        Theme.NEO4J,
    ),
    deferred(
        "tools.errors.neo4j-unavailable",
        ERRORS,
        "With Neo4j down, tools answer `graph unavailable` with what to check, and nothing but JSON-RPC reaches "
        "stdout.",
        Theme.NEO4J,
    ),
    # stored text
    required(
        "tools.stored-text.with-source",
        ALL,
        "Stored notes and transcript text come back as values of fields, with their source beside them.",
    ),
    required(
        "tools.stored-text.not-instructions",
        ALL,
        "No stored text ever enters the server's `instructions`, a tool description or an error's advice.",
    ),
    # durability
    required(
        "tools.durable.before-answer",
        ALL,
        "A write that was answered is there after the process is killed (`kill -9`) right behind the answer.",
    ),
    required(
        "tools.durable.full-sync",
        ALL,
        "The embedded store runs with `synchronous=FULL` on every connection that writes.",
    ),
    required(
        "tools.durable.no-false-ok",
        ALL,
        "Work that was dropped or timed out is never answered as done: many concurrent writers each get success with "
        "the row stored, or an error with nothing stored.",
    ),
)
