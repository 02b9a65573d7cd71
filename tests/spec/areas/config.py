"""Settings and their defaults, and what happens when they are wrong."""

from tests.spec.model import Requirement, Theme, deferred, diverged, required, ruling, seed_graph, seed_memory

SEED = seed_graph("Configuration Resilience")
WEIGHTS = ruling("Rulings on the graph family: Weights where none is given")
PRUNE = ruling("Rulings on the graph family: graph_prune")
SUPERSEDE = ruling("Rulings on the graph family: Supersession")
OTHERWISE = ruling("Where nothing else is said")
SIMILAR = ruling("Rulings on the graph family: Similarity thresholds")
MEMRULES = ruling("Rulings on the memory family")
MEMCONF = seed_memory("Configuration")
PROJECT = seed_memory("Project context")
CONN = seed_graph("Connection Management")

REQUIREMENTS: tuple[Requirement, ...] = (
    # loading
    required("config.file.optional", SEED, "Without `config.json` everything runs on built-in defaults."),
    required(
        "config.file.corrupt",
        SEED,
        "A `config.json` that is no JSON object leaves all defaults in force, with a logged warning; nothing crashes.",
    ),
    required("config.file.missing-keys", SEED, "Keys that the file leaves out have their defaults."),
    required(
        "config.file.missing-warns",
        SEED,
        "A missing configuration file is logged as a warning and is no failure.",
    ),
    required(
        "config.deep-merge",
        SEED,
        "The file is merged deeply: setting `weights.inferred` alone changes nothing else in `weights`.",
    ),
    required(
        "config.invalid.clamped",
        SEED,
        "A number out of its range (a weight of 1.7) is clamped into it and reported as a warning.",
    ),
    required(
        "config.invalid.wrong-type",
        SEED,
        "A value that can't be read as its setting's type is replaced by the default and reported as a warning.",
    ),
    required(
        "config.environment.lists",
        OTHERWISE,
        "A list in an environment variable is separated as `PATH` is on the platform (`:` on Linux and macOS).",
    ),
    diverged(
        "config.home.one-for-both",
        MEMCONF,
        "The memory database lies in a folder of its own set by `MEM_GRAPH_DIR`, by default "
        "`~/.local/share/mem-graph`.",
        "Graph and memories share one store in one home folder, `GRAPH_MEMORY_HOME`.",
    ),
    diverged(
        "config.home.tilde",
        MEMCONF,
        "A `~` in the configured folder is taken literally.",
        "`~` and variables are expanded wherever a path is set; a folder named `~` surprises everybody.",
    ),
    required(
        "config.home.user-global",
        PROJECT,
        "One database serves all projects of a user, wherever the client is started.",
    ),
    deferred(
        "config.neo4j.from-environment",
        SEED,
        "`NEO4J_URI` (default `bolt://localhost:7687`), `NEO4J_USER` (default `neo4j`) and `NEO4J_PASSWORD` come from"
        " the environment, the password from nowhere else.",
        Theme.NEO4J,
    ),
    deferred(
        "config.neo4j.password-required",
        SEED,
        "The Neo4j store without a password fails with that reason; no fallback exists.",
        Theme.NEO4J,
    ),
    deferred(
        "config.neo4j.one-pooled-driver",
        CONN,
        "A process keeps one pooled driver for its lifetime.",
        Theme.NEO4J,
    ),
    deferred(
        "config.neo4j.managed-transactions",
        CONN,
        "Reads run as managed read transactions and writes as managed write transactions, both retried on transient "
        "failures.",
        Theme.NEO4J,
    ),
    # defaults
    required("config.default.weights.explicit_statement", SEED, "`weights.explicit_statement` is 0.7 by default."),
    required("config.default.weights.inferred", SEED, "`weights.inferred` is 0.3 by default."),
    required("config.default.weights.from_memory_file", SEED, "`weights.from_memory_file` is 0.5 by default."),
    required("config.default.weights.boost_on_confirm", SEED, "`weights.boost_on_confirm` is 0.15 by default."),
    required("config.default.weights.boost_on_mention", SEED, "`weights.boost_on_mention` is 0.05 by default."),
    required("config.default.weights.weaken_on_correct", SEED, "`weights.weaken_on_correct` is 0.3 by default."),
    required(
        "config.default.weights.project_context_boost",
        SEED,
        "`weights.project_context_boost` is 0.10 by default.",
    ),
    required(
        "config.default.decay.rates",
        SEED,
        "`decay.rates` by day: Person 0.998, Project 0.995, Preference 0.999, Concept 0.999, Decision 0.997, Fact "
        "0.996, Event 0.993, Object 0.996.",
    ),
    required("config.default.decay.other-types", WEIGHTS, "A type without a rate of its own decays at 0.996 a day."),
    required("config.default.decay.edge_rate", SEED, "`decay.edge_rate` is 0.997 a day by default."),
    required("config.default.decay.prune_node_threshold", SEED, "`decay.prune_node_threshold` is 0.1 by default."),
    required("config.default.decay.prune_edge_threshold", SEED, "`decay.prune_edge_threshold` is 0.05 by default."),
    required("config.default.decay.prune_orphan_days", PRUNE, "`decay.prune_orphan_days` is 30 by default."),
    required(
        "config.default.query.default_max_hops",
        SEED,
        "`query.default_max_hops` is 2 by default and is what `graph_query` uses when none is given.",
    ),
    required(
        "config.default.query.default_min_weight",
        SEED,
        "`query.default_min_weight` is 0.3 by default and is what `graph_query` uses when none is given.",
    ),
    required(
        "config.default.query.default_limit",
        SEED,
        "`query.default_limit` is 20 by default and is what `graph_query` uses when none is given.",
    ),
    required("config.default.query.cypher_timeout_ms", SEED, "`query.cypher_timeout_ms` is 5,000 by default."),
    required("config.default.affinity.hop_1_multiplier", SEED, "`affinity.hop_1_multiplier` is 1.3 by default."),
    required("config.default.affinity.hop_2_multiplier", SEED, "`affinity.hop_2_multiplier` is 1.15 by default."),
    required(
        "config.default.relations.single_valued",
        SUPERSEDE,
        "`relations.single_valued` adds relation types to the built-in single-valued ones; it is empty by default and"
        " takes none away.",
    ),
    required("config.default.memory.ephemeral_days", MEMRULES, "`memory.ephemeral_days` is 14 by default."),
    deferred(
        "config.default.similarity-per-model",
        SIMILAR,
        "Each embedding model has similarity thresholds of its own, measured for it.",
        Theme.SEARCH,
    ),
    # ceilings
    required(
        "config.ceiling.daemon-memory",
        OTHERWISE,
        "The daemon's memory ceiling is 600 MB by default; past it, work waits rather than the limit being passed "
        "over.",
    ),
    required("config.ceiling.backlog-cpu", OTHERWISE, "Backlog work takes half a core by default."),
    required("config.ceiling.items-per-minute", OTHERWISE, "Ingest takes at most 600 items a minute by default."),
    required("config.ceiling.logs", OTHERWISE, "Logs are rotated at 10 MB and five files are kept."),
    required("config.ceiling.audit", OTHERWISE, "The audit is rotated at 50 MB and ten files are kept."),
    required("config.ceiling.completed", OTHERWISE, "Files in `completed/` are removed after 30 days."),
    required("config.ceiling.failed", OTHERWISE, "Files in `failed/` are removed after 90 days."),
    required("config.ceiling.changelogs", OTHERWISE, "Changelogs are removed after a year."),
    required(
        "config.ceiling.back-off",
        OTHERWISE,
        "A failing part is tried again after one minute, then two, doubling to at most one hour.",
    ),
    required("config.ceiling.archive", OTHERWISE, "The transcript archive stays under 2 GB by default."),
)
