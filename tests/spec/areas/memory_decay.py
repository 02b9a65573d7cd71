"""Fading of synapses, which the memory_decay job applies; and spreading activation, which comes later."""

from tests.spec.model import Requirement, Theme, deferred, diverged, required, ruling, seed_memory

RULING = ruling("Rulings on the memory family")
ARGS = ruling("The memory family: arguments")
PURPOSE = seed_memory("Purpose")
ACTIVATE = seed_memory("memory_activate")
LOCKED = seed_memory("Locked decisions")

REQUIREMENTS: tuple[Requirement, ...] = (
    # decay
    required(
        "memory_decay.by-layers-and-type",
        RULING,
        "A synapse's rate depends on the layers of its two ends and on its type.",
    ),
    required(
        "memory_decay.specific-first",
        RULING,
        "A matrix row naming both layers is preferred to one with the wildcard.",
    ),
    required(
        "memory_decay.both-orders",
        RULING,
        "The matrix is symmetric: layers (a, b) and (b, a) find the same row.",
    ),
    required("memory_decay.default-rate", RULING, "A pair without any row decays at 0.85 per cycle."),
    required(
        "memory_decay.matrix.rows",
        RULING,
        "The matrix has 20 rows: ten pairs of layers, for wikilink and bm25_auto each.",
    ),
    required(
        "memory_decay.matrix.procedural",
        RULING,
        "wikilink/bm25_auto: procedural-procedural .995/.98, procedural-semantic .99/.94, procedural-episodic "
        ".97/.92, procedural-partner .99/.96.",
    ),
    required(
        "memory_decay.matrix.semantic",
        RULING,
        "wikilink/bm25_auto: semantic-semantic .99/.93, semantic with any other .95/.85.",
    ),
    required(
        "memory_decay.matrix.episodic",
        RULING,
        "wikilink/bm25_auto: episodic-episodic .95/.88, episodic-working .80/.60.",
    ),
    required("memory_decay.matrix.working", RULING, "wikilink/bm25_auto: working-working .70/.40."),
    required("memory_decay.matrix.partner", RULING, "wikilink/bm25_auto: partner-partner .999/.97."),
    required(
        "memory_decay.untouched-only",
        RULING,
        "Only synapses untouched for `decay_days` decay; an access or a write starts the time anew.",
    ),
    required(
        "memory_decay.idempotent-in-time",
        RULING,
        "The rate is per cycle of `decay_days` and applied for the time since decay was last applied: many runs equal"
        " one, a second run at once changes nothing.",
    ),
    required(
        "memory_decay.access.over-ten",
        RULING,
        "More than ten accesses in the current cycle hold the rate at 0.99 per cycle or above.",
    ),
    required(
        "memory_decay.access.over-three",
        RULING,
        "More than three accesses in the current cycle hold the rate at 0.97 per cycle or above.",
    ),
    required(
        "memory_decay.access.larger-wins",
        RULING,
        "The access rate applies only where it exceeds the matrix's: access slows fading and never hastens it.",
    ),
    required("memory_decay.exempt-types", RULING, "`sequence`, `mention` and `parent_child` do not decay."),
    required(
        "memory_decay.prunes-auto",
        RULING,
        "Decay removes a `bm25_auto` synapse once it has lowered it under `prune_floor`.",
    ),
    required(
        "memory_decay.prune-only-decayed",
        RULING,
        "A `bm25_auto` synapse that was made weaker than `prune_floor` and has not decayed since is kept.",
    ),
    required(
        "memory_decay.keeps-linked",
        RULING,
        "Synapses of any other type come to rest at `prune_floor` instead and are kept.",
    ),
    required("memory_decay.defaults", ARGS, "`decay_days` is 7 and `prune_floor` 0.1 by default."),
    required("memory_decay.figures", ARGS, "A run counts decayed, pruned and access_exempted synapses."),
    deferred(
        "memory_decay.tool",
        ARGS,
        "The tool `memory_decay(decay_days, prune_floor)` runs it at once and answers the three counts.",
        Theme.MEMORY_FAMILY,
    ),
    diverged(
        "memory_decay.access-exempts",
        PURPOSE,
        "Links in use are exempt from decay altogether.",
        "Access slows decay and does not stop it (memory_decay.access.over-ten, memory_decay.access.over-three).",
    ),
    # activation
    deferred(
        "memory_activate.arguments",
        ARGS,
        "query, max_hop_depth (2, at most 5), min_synapse_weight (0.3), limit_cap (20, at most 100), land_on_layers "
        "(all but working), pass_through_layers (semantic), project_id.",
        Theme.ACTIVATION,
    ),
    deferred(
        "memory_activate.start",
        RULING,
        "A start node has five times its normalised text score.",
        Theme.ACTIVATION,
    ),
    deferred(
        "memory_activate.attenuation",
        RULING,
        "Crossing a synapse of weight w scales by w / (1 + w), then by the importance of where it leads; distance "
        "never raises relevance.",
        Theme.ACTIVATION,
    ),
    deferred(
        "memory_activate.best-path",
        RULING,
        "Of several ways to a node, the one that gives most counts.",
        Theme.ACTIVATION,
    ),
    deferred(
        "memory_activate.landing",
        RULING,
        "Only nodes of `land_on_layers` are returned, start nodes included.",
        Theme.ACTIVATION,
    ),
    deferred("memory_activate.walls", RULING, "Nodes of neither list are not walked through.", Theme.ACTIVATION),
    diverged(
        "memory_activate.path-check",
        ACTIVATE,
        "A node counts as reachable when any ancestor on its path lies in a pass-through layer.",
        "Each node is judged by its own layer (memory_activate.landing, memory_activate.walls).",
    ),
    deferred("memory_activate.entities", RULING, "Entities count as semantic.", Theme.ACTIVATION),
    deferred("memory_activate.project", RULING, "Given a project, no hop leaves it and `_global`.", Theme.ACTIVATION),
    deferred(
        "memory_activate.bounds",
        RULING,
        "At most 500 nodes survive each hop, and one query follows 20,000 links at most.",
        Theme.ACTIVATION,
    ),
    deferred(
        "memory_activate.active-only",
        RULING,
        "Only active memories are returned or crossed.",
        Theme.ACTIVATION,
    ),
    deferred(
        "memory_activate.path",
        RULING,
        "Each result shows the path and synapses by which it was reached.",
        Theme.ACTIVATION,
    ),
    deferred("memory_activate.cycles", LOCKED, "Cycles neither repeat a node nor feed activation.", Theme.ACTIVATION),
)
