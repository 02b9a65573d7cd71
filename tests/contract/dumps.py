"""All that a tenant has, read through the ports, in a form that can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from graph_memory.domain.entities import EntityOrder
from graph_memory.domain.ledger import IngestState, VectorOwner
from graph_memory.domain.memories import MemoryOrder
from tests.contract.samples import ALL, ANY_ENTITY, ANY_MEMORY, ANY_RELATION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graph_memory.ports.store import ReadTransaction

KeyT = TypeVar("KeyT")
RowT = TypeVar("RowT")
Dump = dict[str, object]


def dump(tx: ReadTransaction) -> Dump:
    """Read every row of the tenant. Mappings are turned into plain dicts; the order of sequences is kept."""
    return {**_graph(tx), **_memories(tx), **_ledger(tx), **_upkeep(tx)}


def _graph(tx: ReadTransaction) -> Dump:
    entities = tx.entities.page(ANY_ENTITY, EntityOrder.ID, ALL)
    relations = tx.relations.page(ANY_RELATION, None, ALL)
    entity_ids, relation_ids = [entity.id for entity in entities], [relation.id for relation in relations]
    return {
        "entities": list(entities),
        "entities by type": dict(tx.entities.count_by_type()),
        "aliases": lists(tx.entities.aliases(entity_ids)),
        "entity evidence": lists(tx.entities.evidence(entity_ids)),
        "degrees": dict(tx.entities.degrees(entity_ids)),
        "entity types": dict(tx.entities.type_spelling({entity.key.type_key for entity in entities})),
        "relations": list(relations),
        "relations by type": dict(tx.relations.count_by_type(ANY_RELATION)),
        "relation evidence": lists(tx.relations.evidence(relation_ids)),
        "current": dict(tx.relations.find_current({relation.key for relation in relations})),
        "versions": lists(tx.relations.versions({relation.key for relation in relations})),
        "relation types": dict(tx.relations.type_spelling({relation.key.type_key for relation in relations})),
    }


def _memories(tx: ReadTransaction) -> Dump:
    memories = tx.memories.page(ANY_MEMORY, MemoryOrder.ID, ALL)
    ids = [memory.id for memory in memories]
    return {
        "memories": list(memories),
        "mentions": list(tx.memories.mentions_of_memories(ids)),
        "open links": list(tx.memories.open_links(ids)),
        "memory versions": list(tx.memories.versions(ids)),
        "synapses": list(tx.synapses.page(None, ALL)),
        "synapses by type": dict(tx.synapses.count_by_type()),
        "synapse degrees": dict(tx.synapses.degrees(ids)),
        "decay rates": list(tx.synapses.decay_rates()),
    }


def _ledger(tx: ReadTransaction) -> Dump:
    return {
        "items": {state: list(tx.ledger.page_items(state, ALL)) for state in IngestState},
        "session cursors": dict(tx.ledger.session_cursors()),
        "transcript cursors": dict(tx.ledger.transcript_cursors()),
        "learned": list(tx.ledger.page_learned(None, ALL)),
        "tombstones": list(tx.ledger.page_tombstones(None, ALL)),
    }


def _upkeep(tx: ReadTransaction) -> Dump:
    owners = {
        VectorOwner.ENTITY: [entity.id for entity in tx.entities.page(ANY_ENTITY, EntityOrder.ID, ALL)],
        VectorOwner.MEMORY: [str(memory.id) for memory in tx.memories.page(ANY_MEMORY, MemoryOrder.ID, ALL)],
    }
    models = dict(tx.upkeep.count_vectors())
    return {
        "runs": {job: list(tx.upkeep.runs(job, ALL)) for job in tx.upkeep.last_runs()},
        "merges": list(tx.upkeep.page_merges(None, ALL)),
        "vectors by model": models,
        "vectors": {
            (owner, model): dict(tx.upkeep.vectors(owner, ids, model))
            for owner, ids in owners.items()
            for model in models
        },
        "audit": list(tx.upkeep.page_audit(ALL)),
    }


def lists(found: Mapping[KeyT, Sequence[RowT]]) -> dict[KeyT, list[RowT]]:
    """Turn the sequences of a mapping into lists, so that a tuple and a list of the same rows are equal."""
    return {key: list(rows) for key, rows in found.items()}
