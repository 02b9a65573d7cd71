"""Scheduled work that is there now: decay, memory_decay, export, validate, communities; and what comes later."""

from tests.spec.model import Requirement, Theme, deferred, design, diverged, required, ruling, seed_graph, seed_memory

STATS = ruling("Rulings on the graph family: graph_stats")
DECAY = ruling("Rulings on the graph family: graph_decay")
LOCKED = seed_memory("Locked decisions")
OTHERWISE = ruling("Where nothing else is said")
VALIDATE = seed_graph("graph_validate")
COMMUNITIES = seed_graph("graph_communities")
AUDIT = seed_graph("graph_audit")
MEMRULES = ruling("Rulings on the memory family")
DAEMON = design("The daemon")
CREATION = ruling("Rulings on the graph family: Embedding at creation")
GRAPHDECAY = seed_graph("graph_decay")

REQUIREMENTS: tuple[Requirement, ...] = (
    required(
        "jobs.decay",
        GRAPHDECAY,
        "The maintenance night decays the graph of every tenant, with the result of `graph_decay`.",
    ),
    required("jobs.memory_decay", LOCKED, "Synapses decay on schedule without anybody calling a tool."),
    required("jobs.export", OTHERWISE, "A nightly export is made and counts for `keep`."),
    required("jobs.validate", VALIDATE, "A scheduled validation keeps its issues for status and tools."),
    required("jobs.communities", COMMUNITIES, "Scheduled clustering keeps its communities for status and tools."),
    required(
        "jobs.recorded",
        STATS,
        "Every run's start, end, result and figures are kept in the store and shown by `graph_stats` and the status.",
    ),
    required(
        "jobs.last_dream_run",
        STATS,
        "A finished maintenance night moves `last_dream_run` to its end; a failed one does not.",
    ),
    required(
        "jobs.failure-isolated",
        OTHERWISE,
        "A job that fails backs off, shows in `graph_stats` as degraded with its reason, and stops no other.",
    ),
    required("jobs.slices", DECAY, "Decay under way lets clients' writes through."),
    required("jobs.audited", AUDIT, "Each run is audited from `run_start` to `run_end` with its figures."),
    diverged(
        "jobs.cron",
        LOCKED,
        "Decay runs when an outside cron calls the tool.",
        "The daemon schedules it (jobs.memory_decay); the tool remains for callers who want it now.",
    ),
    required(
        "jobs.expire",
        MEMRULES,
        "Memories whose `expires_at` has passed are archived by the maintenance job.",
    ),
    required(
        "jobs.expire.ephemeral",
        MEMRULES,
        "Ephemeral memories without `expires_at` expire after `memory.ephemeral_days` (14).",
    ),
    required(
        "jobs.catch-up",
        DAEMON,
        "A job that was due while the machine slept or the daemon stood still runs within 60 s of waking, once.",
    ),
    required(
        "jobs.once-a-day",
        DAEMON,
        "A job runs once a local day whatever the clock does: changed, set back, wrong by a year, in another zone.",
    ),
    required(
        "jobs.back-off.shown",
        DAEMON,
        "When a job that failed is tried again is shown as its next run, in the status and in `graph_stats`.",
    ),
    required(
        "jobs.changelog",
        DAEMON,
        "A day's changelog tells its problems first, then each job with its figures and what was learned; no text.",
    ),
    required(
        "jobs.merge_suggestions",
        DAEMON,
        "A scheduled look for entities that may be one keeps its pairs, which `graph_merge_suggestions` weighs anew.",
    ),
    deferred("jobs.embed_pending", CREATION, "Pending embeddings are made as work comes.", Theme.SEARCH),
)
