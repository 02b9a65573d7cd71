"""What the store promises: concurrency, atomicity, evidence, the shape of memories and their links."""

from tests.spec.model import Requirement, Theme, deferred, diverged, required, ruling, seed_graph, seed_memory

CONC = seed_graph("Concurrency")
SCHEMA = seed_memory("Schema")
LOCKED = seed_memory("Locked decisions")
MEMARGS = ruling("The memory family: arguments")
MEMRULES = ruling("Rulings on the memory family")
OTHERWISE = ruling("Where nothing else is said")
OUT = seed_memory("Out of scope")

REQUIREMENTS: tuple[Requirement, ...] = (
    required(
        "storage.concurrent.processes",
        CONC,
        "Several processes (servers, the daemon) open one store at once; all their writes are there in the end.",
    ),
    required(
        "storage.concurrent.readers",
        CONC,
        "A reader is not blocked by a running write transaction and sees the state before it.",
    ),
    required(
        "storage.concurrent.writers",
        CONC,
        "Two writers of one row are put in order by the store; neither update is lost.",
    ),
    required(
        "storage.concurrent.no-lock-files",
        CONC,
        "Store access needs no lock file of ours: a process that died leaves nothing behind that keeps others out.",
    ),
    required("storage.atomic.crash", CONC, "A process killed inside a transaction leaves none of it."),
    required(
        "storage.atomic.failure",
        CONC,
        "An error inside a transaction undoes all of it, for every kind of row.",
    ),
    required(
        "storage.tags.rows",
        LOCKED,
        "Tags are rows of memory and tag, never JSON in the memory; a memory's tags go with it when it is deleted.",
    ),
    required("storage.tags.unique", SCHEMA, "One tag stands on a memory at most once."),
    required(
        "storage.memory.fields",
        SCHEMA,
        "A memory has id, layer, title, slug, content, project_id, category, lifecycle, status, confidence, boost, "
        "summary, session_id, source, created_at, updated_at, accessed_at, access_count, importance_score and "
        "expires_at.",
    ),
    deferred(
        "storage.memory.refresh_strategy",
        SCHEMA,
        "The memory table as SQL shows it has a `refresh_strategy` column.",
        Theme.SQL,
    ),
    required(
        "storage.memory.integer-id",
        LOCKED,
        "A memory's id is an integer given by the store, rising, and never used again after a deletion.",
    ),
    required(
        "storage.memory.category-free",
        MEMARGS,
        "`category` takes any text; the eleven suggested ones (decision, handoff, finding, issue, preference, note, "
        "context, todo, commitment, open_question, trigger) are not enforced.",
    ),
    required(
        "storage.memory.layer-values",
        MEMARGS,
        "`layer` is working, episodic, procedural, semantic or partner; anything else is refused with the list.",
    ),
    required(
        "storage.memory.lifecycle-values",
        MEMARGS,
        "`lifecycle` is permanent, milestone or ephemeral; anything else is refused with the list.",
    ),
    required(
        "storage.memory.status-values",
        MEMARGS,
        "`status` is active, superseded, archived or invalid; anything else is refused with the list.",
    ),
    required(
        "storage.memory.source-values",
        MEMARGS,
        "`source` is session, import, manual or derived; anything else is refused with the list.",
    ),
    required(
        "storage.memory.title-unique",
        MEMRULES,
        "Titles are unique per project; two projects may hold the same one.",
    ),
    required(
        "storage.memory.slug-unique",
        MEMRULES,
        "Slugs are unique per project; a second title with the same slug (`C`, `C++`) gets a suffix.",
    ),
    required(
        "storage.memory.slug-unicode",
        MEMRULES,
        "A slug keeps letters and digits of any script in lower case and turns the rest into hyphens: `日本語 2` → "
        "`日本語-2`.",
    ),
    required(
        "storage.memory.slug-fallback",
        MEMRULES,
        "A title without any letter or digit gets the slug `memory-` and a short hash.",
    ),
    required(
        "storage.memory.slug-suffix-from-hash",
        OTHERWISE,
        "Suffixes of slugs and titles are hashes of the key, no counters: the same inserts in two stores give the "
        "same slugs.",
    ),
    required(
        "storage.synapse.types",
        MEMARGS,
        "A synapse's type is wikilink, bm25_auto, parent_child or sequence; `mention` leads from a memory to an "
        "entity.",
    ),
    required(
        "storage.synapse.weight-range",
        SCHEMA,
        "A synapse weighs between 0.0 and 5.0, whatever is added to it.",
    ),
    required("storage.synapse.access-count", LOCKED, "Memories and synapses each keep a count of their accesses."),
    required(
        "storage.synapse.no-duplicate",
        SCHEMA,
        "Between two memories there is one synapse per direction and type.",
    ),
    required(
        "storage.mention.own-rows",
        OTHERWISE,
        "Mentions are kept apart from synapses: they have rows of their own, memory to entity.",
    ),
    required(
        "storage.fts.in-step",
        SCHEMA,
        "A memory is found by its words as soon as its write has been answered and by none of its old words after a "
        "change; no separate indexing step exists.",
    ),
    required("storage.fts.stemming", SCHEMA, "Full text compares stems: `running` finds a memory that says `run`."),
    diverged(
        "storage.fts.prefix-index",
        SCHEMA,
        "The full-text table keeps indexes of two- and three-letter prefixes.",
        "An index is not behaviour; measured, it costs a third more space and results do not depend on it.",
    ),
    required("storage.project.global", MEMARGS, "A filter by `project_id` always includes memories of `_global`."),
    diverged(
        "storage.history.versions",
        OUT,
        "Old versions of an entry are not kept; only superseding is offered.",
        "The text that a changed document replaces is kept in history (document.changed-keeps-history).",
    ),
    diverged(
        "storage.cwd-project",
        OUT,
        "Working folder and project are not bound to each other.",
        "A transcript's project follows from its `cwd` (transcripts.project.git-root).",
    ),
    diverged(
        "storage.backend.better-sqlite3",
        SCHEMA,
        "Memories lie in a SQLite database of their own under better-sqlite3.",
        "One store holds graph and memories, on SQLite by apsw or on Neo4j.",
    ),
)
