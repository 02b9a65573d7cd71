"""graph_relate with one relation: evidence, weights, supersession, contradictions."""

from tests.spec.model import Requirement, diverged, required, ruling, seed_graph

RELATE = seed_graph("graph_relate")
KIND = ruling("Rulings on the graph family: graph_relate, explicit or mention")
WEIGHTS = ruling("Rulings on the graph family: Weights where none is given")
SUPERSEDE = ruling("Rulings on the graph family: Supersession")
OTHERWISE = ruling("Where nothing else is said")
OWN = ruling("Rulings on the graph family: Our own tools")
PATTERNS = seed_graph("Design Patterns")

REQUIREMENTS: tuple[Requirement, ...] = (
    # one relation
    required(
        "graph_relate.creates-relation",
        RELATE,
        "A new pair and relation answers `action: created` with `edge` {from, to, type, weight}.",
    ),
    required(
        "graph_relate.strengthens",
        RELATE,
        "A relation that exists answers `action: strengthened`; no second one is stored.",
    ),
    required(
        "graph_relate.creates-entities",
        RELATE,
        "Missing ends are made; `created_entities` lists the names that were made and is empty when none were.",
    ),
    required(
        "graph_relate.atomic",
        RELATE,
        "Entities and relation are written in one transaction: when anything is refused, nothing of the call is "
        "stored.",
    ),
    required(
        "graph_relate.idempotent-hint",
        RELATE,
        "The tool is annotated `idempotentHint: true`, and it is neither read-only nor destructive.",
    ),
    required("graph_relate.idempotent", RELATE, "The same explicit call twice leaves the weight as after the first."),
    required(
        "graph_relate.type-omitted",
        OTHERWISE,
        "An end without a type is an existing entity of any type with that name.",
    ),
    required(
        "graph_relate.type-new",
        OTHERWISE,
        "An end with a type under which the name does not exist makes a new entity, even if another type has that "
        "name.",
    ),
    required(
        "graph_relate.properties",
        RELATE,
        "`properties` are stored on the relation and come back in `graph_query`.",
    ),
    required(
        "graph_relate.properties.shallow-merge",
        OTHERWISE,
        "Properties given again are merged by top-level key: given keys replace, others stay.",
    ),
    required(
        "graph_relate.properties.nested",
        OTHERWISE,
        "Nested property values are kept and come back as they were given.",
    ),
    required(
        "graph_relate.properties.reserved",
        RELATE,
        "A property named like an own field (`id`, `tenant_id`, `confidence`) can never change that field.",
    ),
    required(
        "graph_relate.from_properties",
        OWN,
        "`from_properties` and `to_properties` are merged into the properties of the two ends.",
    ),
    required("graph_relate.pinned", OWN, "`pinned: true` among an end's properties exempts that entity from decay."),
    required("graph_relate.evidence", RELATE, "`evidence` is stored with the contribution it supports."),
    required("graph_relate.valid_at", RELATE, "`valid_at` given is stored on the relation."),
    required(
        "graph_relate.source_session",
        RELATE,
        "`source_session`, `source_transcript` and `source_type` are stored as the contribution's provenance and "
        "shown by `graph_query`.",
    ),
    # explicit or mention
    required(
        "graph_relate.explicit-max",
        KIND,
        "With `source_type` conversation, document or manual the weight becomes the larger of the stored and the "
        "given one: 0.8 then 0.5 stays 0.8, 0.5 then 0.8 is 0.8.",
    ),
    required("graph_relate.explicit-by-default", KIND, "Without `source_type` the evidence is explicit."),
    required(
        "graph_relate.mention-adds",
        KIND,
        "`source_type: mention` on a stored relation adds `weights.boost_on_mention` (0.05), whatever weight was "
        "given.",
    ),
    required("graph_relate.mention-at-most-one", KIND, "Mentions never raise a weight above 1."),
    required("graph_relate.mention-first", OTHERWISE, "A relation that begins with a mention weighs 0.3."),
    diverged(
        "graph_relate.sample-065",
        RELATE,
        "Relating again at 0.5 may answer 0.65.",
        "A sample and not a rule; explicit evidence takes the maximum (graph_relate.explicit-max).",
    ),
    diverged(
        "graph_relate.default-weight-05",
        RELATE,
        "A single call without a weight means 0.5.",
        "The weight depends on the kind of evidence (weights.default.conversation and its neighbours).",
    ),
    required(
        "graph_relate.weight.clamped",
        PATTERNS,
        "A weight out of 0 to 1 is clamped and warned of, single and batch: 7 is stored as 1.0, -3 as 0.0.",
    ),
    required(
        "graph_relate.weight.as-asked",
        RELATE,
        "Superseding does not alter the new relation's weight: what was asked for is stored.",
    ),
    # weights where none is given
    required(
        "weights.default.conversation",
        WEIGHTS,
        "Without a weight, `source_type: conversation` starts a relation at `weights.explicit_statement` (0.7).",
    ),
    required(
        "weights.default.manual",
        WEIGHTS,
        "Without a weight, `source_type: manual` starts a relation at `weights.explicit_statement` (0.7).",
    ),
    required(
        "weights.default.absent-source",
        WEIGHTS,
        "Without weight and `source_type` a relation starts as a statement: `weights.explicit_statement` (0.7).",
    ),
    required(
        "weights.default.document",
        WEIGHTS,
        "Without a weight, `source_type: document` starts a relation at `weights.from_memory_file` (0.5).",
    ),
    required(
        "weights.default.inferred",
        WEIGHTS,
        "What extraction infers by itself starts at `weights.inferred` (0.3).",
    ),
    required(
        "weights.new-entity-confidence",
        WEIGHTS,
        "A new entity's confidence starts by the same table: 0.7, 0.5 or 0.3 by kind of evidence.",
    ),
    required("weights.from-config", WEIGHTS, "Configured weights take the place of these defaults in every write."),
    required(
        "weights.project-boost.end",
        WEIGHTS,
        "A relation learned while working in a project (known by `cwd`) gets `weights.project_context_boost` (0.10) "
        "on top when the project is its source or target.",
    ),
    required(
        "weights.project-boost.one-hop",
        WEIGHTS,
        "The same holds for a project one hop from one of its ends; two hops away nothing is added.",
    ),
    required(
        "weights.project-boost.once",
        WEIGHTS,
        "The project addition is made once per relation, however often it is learned again.",
    ),
    # supersession
    required(
        "supersession.single-valued.built-in",
        SUPERSEDE,
        "`WORKS_AT`, `REPORTS_TO`, `HOSTED_ON`, `LIVES_IN` and `HAS_STATUS` have one current target per source.",
    ),
    required(
        "supersession.single-valued.config",
        SUPERSEDE,
        "Types in `relations.single_valued` behave the same, compared by the type's key.",
    ),
    required(
        "supersession.closes-old",
        SUPERSEDE,
        "When a single-valued relation gets another target, the earlier one ends: its `invalid_at` is the `valid_at` "
        "of the newcomer.",
    ),
    required(
        "supersession.closes-old-now",
        SUPERSEDE,
        "When the newcomer has no `valid_at`, the earlier relation ends at the moment of the call.",
    ),
    required(
        "supersession.many-valued",
        SUPERSEDE,
        "Every other type keeps all its targets: a fourth `USES_TECH` leaves the three others current.",
    ),
    diverged(
        "supersession.every-type",
        RELATE,
        "A new target of any relation type ends the earlier ones.",
        "On a system that did, true facts died by a newer one of the same type; only single-valued types replace "
        "(supersession.many-valued).",
    ),
    required(
        "supersession.named",
        SUPERSEDE,
        "`supersedes: [names]` ends exactly those relations of a many-valued type, from the new one's `valid_at` on, "
        "or from now.",
    ),
    required(
        "supersession.late-arrival",
        SUPERSEDE,
        "A single-valued fact that was true before the current one (earlier `valid_at`) is stored with an "
        "`invalid_at`, that of the current one's beginning; the current one is not touched.",
    ),
    required("supersession.no-contradiction", SUPERSEDE, "Superseding makes no `CONTRADICTS` relation."),
    required("supersession.batch-too", SUPERSEDE, "Relations of a batch supersede by the same rules as single ones."),
    # contradictions
    required(
        "contradiction.stored",
        RELATE,
        "`CONTRADICTS` relates two entities whose conflict nobody has resolved; both stay current.",
    ),
    required(
        "contradiction.resolves",
        SUPERSEDE,
        "`resolves: {node_a, node_b, keep}` closes the contradiction between the two: it no longer counts among the "
        "unresolved ones in `graph_stats`.",
    ),
)
