"""graph_relate with a batch."""

from tests.spec.model import Requirement, required, ruling, seed_graph

RELATE = seed_graph("graph_relate")
BATCH = ruling("Rulings on the graph family: Batch")
OWN = ruling("Rulings on the graph family: Our own tools")
ERRORS = seed_graph("Error Handling")

REQUIREMENTS: tuple[Requirement, ...] = (
    required(
        "graph_batch.entities",
        RELATE,
        "A batch stores each of its `entities` with name, type and properties, also those that no relation uses.",
    ),
    required(
        "graph_batch.local-ids",
        RELATE,
        "`from` and `to` of a relation may be the `localId` of an entity of the same batch.",
    ),
    required(
        "graph_batch.local-id-first",
        BATCH,
        "An end is looked up among the batch's local ids first and only then among entity names.",
    ),
    required(
        "graph_batch.existing-names",
        RELATE,
        "An end that is no local id may be the name of an entity already stored.",
    ),
    required("graph_batch.batch-names", BATCH, "An end may also be the name of an entity of the same batch."),
    required(
        "graph_batch.unknown-end",
        BATCH,
        "An end that is neither local id nor entity name fails the whole batch, and the error names it.",
    ),
    required(
        "graph_batch.all-or-nothing",
        BATCH,
        "Any refused item leaves nothing of the batch stored: no entity, no relation, no property; other readers see "
        "none of a batch or all of it.",
    ),
    required(
        "graph_batch.provenance",
        RELATE,
        "The batch's `source_session`, `source_transcript` and `source_type` are on every relation it wrote.",
    ),
    required(
        "graph_batch.weight-rules",
        RELATE,
        "Weights in a batch follow the single call's rules: maximum for explicit evidence, addition for mentions, the"
        " same defaults.",
    ),
    required("graph_batch.evidence", OWN, "A batch relation may carry `evidence`, stored with its contribution."),
    required(
        "graph_batch.properties",
        RELATE,
        "A batch relation may carry `properties` and `valid_at`, with the single call's meaning.",
    ),
    required(
        "graph_batch.entity-exists",
        ERRORS,
        "An entity that is already stored is merged: action `merged`, its properties merged, its confidence raised to"
        " the larger.",
    ),
    required(
        "graph_batch.same-entity-twice",
        ERRORS,
        "Two items of one batch with the same key and type are one entity.",
    ),
    required(
        "graph_batch.counts",
        RELATE,
        "The reply counts `entities_created`, `entities_merged`, `edges_created` and `edges_strengthened`, truthfully.",
    ),
    required(
        "graph_batch.details",
        RELATE,
        "`details` has one item per entity ({entity, action}) and per relation ({edge, action, weight}), in the order"
        " given.",
    ),
    required(
        "graph_batch.edge-label",
        RELATE,
        "In `details` a relation is written as `source→TYPE→target` with display names.",
    ),
    required(
        "graph_batch.repeat",
        RELATE,
        "The same batch sent twice creates nothing the second time: entities merged, relations strengthened, weights "
        "as they were.",
    ),
)
