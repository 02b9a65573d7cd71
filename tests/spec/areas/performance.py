"""Latencies the seed aims at: measured in bench/, never asserted by a test."""

from tests.spec.model import Requirement, Theme, deferred, ruling, seed_graph

SEED = seed_graph("Performance Targets")
MEM = ruling("Rulings on the memory family")

REQUIREMENTS: tuple[Requirement, ...] = (
    deferred("performance.graph_query", SEED, "`graph_query` over two hops answers in under 100 ms.", Theme.BENCH),
    deferred("performance.graph_relate", SEED, "`graph_relate` answers in under 50 ms.", Theme.BENCH),
    deferred("performance.graph_boost", SEED, "`graph_boost` and `graph_weaken` answer in under 30 ms.", Theme.BENCH),
    deferred(
        "performance.graph_entities",
        SEED,
        "`graph_entities` with a search answers in under 100 ms.",
        Theme.BENCH,
    ),
    deferred(
        "performance.graph_contradictions",
        SEED,
        "`graph_contradictions` answers in under 200 ms.",
        Theme.BENCH,
    ),
    deferred("performance.graph_cypher", SEED, "`graph_cypher` ends within five seconds.", Theme.BENCH),
    deferred("performance.graph_decay", SEED, "`graph_decay` of the full graph takes under 2 s.", Theme.BENCH),
    deferred("performance.graph_ingest-queue", SEED, "Queueing answers in under 100 ms.", Theme.BENCH),
    deferred("performance.graph_ingest-status", SEED, "Queue status answers in under 50 ms.", Theme.BENCH),
    deferred("performance.graph_prune-preview", SEED, "A prune preview answers in under 200 ms.", Theme.BENCH),
    deferred("performance.graph_prune-execute", SEED, "A prune takes under 500 ms.", Theme.BENCH),
    deferred("performance.graph_unmerge", SEED, "`graph_unmerge` answers in under 200 ms.", Theme.BENCH),
    deferred(
        "performance.graph_merge_suggestions",
        SEED,
        "Suggestions for one entity answer in under 500 ms; type-wide or global ones in 10 to 20 s.",
        Theme.BENCH,
    ),
    deferred("performance.graph_stats", SEED, "`graph_stats` answers in under 150 ms.", Theme.BENCH),
    deferred(
        "performance.autolink",
        MEM,
        "Auto-linking a new memory costs milliseconds at 100,000 memories.",
        Theme.BENCH,
    ),
)
