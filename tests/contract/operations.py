"""Random operations: calls of primitives, to be made in several stores alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from graph_memory.domain.entities import EntityKey, EntityOrder
from graph_memory.domain.ledger import AuditEvent, MergeRecord, Tombstone, VectorOwner
from graph_memory.domain.memories import DecayRate, Layer, MemoryOrder, MemoryVersion, Mention, OpenLink
from graph_memory.domain.names import name_key, type_key
from graph_memory.domain.relations import RelationKey
from graph_memory.ports.graph_rows import Faded
from graph_memory.ports.memory_rows import FadedSynapse
from tests.contract import strategies as s
from tests.contract.samples import ALL

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from graph_memory.domain.entities import Alias, EntityFilter, Evidence
    from graph_memory.domain.memories import Memory, MemoryFilter
    from graph_memory.domain.queries import TextQuery
    from graph_memory.ports.store import WriteTransaction


@dataclass(frozen=True)
class Operation:
    """Something to do within a transaction; its answer is in a form that can be compared."""

    name: str
    arguments: tuple[Any, ...]
    work: Callable[..., object]

    def __call__(self, tx: WriteTransaction) -> object:
        return self.work(tx, *self.arguments)

    def __repr__(self) -> str:
        return f"{self.name}{self.arguments!r}"


Drawn = st.SearchStrategy[Any]


def call(name: str, *arguments: Drawn, **named: Drawn) -> st.SearchStrategy[Operation]:
    """Draw a call of a primitive: `family.primitive`, its arguments, and those that are given by name."""
    family, primitive = name.split(".")

    def work(tx: WriteTransaction, by_place: tuple[object, ...], by_name: dict[str, object]) -> object:
        return comparable(getattr(getattr(tx, family), primitive)(*by_place, **by_name))

    drawn = st.tuples(st.tuples(*arguments), st.fixed_dictionaries(dict(named)))
    return st.builds(Operation, name=st.just(name), arguments=drawn, work=st.just(work))


def special(work: Callable[..., object], *arguments: Drawn) -> st.SearchStrategy[Operation]:
    """Draw a call of one of the functions below."""
    return st.builds(Operation, name=st.just(work.__name__), arguments=st.tuples(*arguments), work=st.just(work))


def comparable(answer: object) -> object:
    """Turn lists of any kind into lists, and mappings of any kind into dicts."""
    if isinstance(answer, dict):
        return {key: comparable(value) for key, value in answer.items()}
    if isinstance(answer, list) or type(answer) is tuple:
        return [comparable(value) for value in answer]
    return answer


def search_entities(tx: WriteTransaction, query: TextQuery, where: EntityFilter) -> object:
    """What is found; scores are each engine's own."""
    return sorted(hit.ref for hit in tx.entities.search(query, where, ALL))


def search_memories(tx: WriteTransaction, query: TextQuery, where: MemoryFilter) -> object:
    """What is found; scores are each engine's own."""
    return sorted(hit.ref for hit in tx.memories.search(query, where, ALL))


def support_entities(tx: WriteTransaction, evidence: list[Evidence]) -> None:
    """Add evidence for those that there are; nothing is said of others."""
    tx.entities.add_evidence([item for item in evidence if tx.entities.find([item.subject_id])])


def support_relations(tx: WriteTransaction, evidence: list[Evidence]) -> None:
    """Add evidence for those that there are; nothing is said of others."""
    tx.relations.add_evidence([item for item in evidence if tx.relations.find([item.subject_id])])


def replace_support(tx: WriteTransaction, ids: list[str], evidence: list[Evidence]) -> None:
    """Replace the evidence of entities and relations by some of these; nothing is said of those that there aren't."""
    for writer in (tx.entities, tx.relations):
        known = writer.find(ids)
        writer.put_evidence({id_: [item for item in evidence if item.subject_id == id_] for id_ in known})


def name_entities(tx: WriteTransaction, aliases: list[Alias]) -> None:
    """Add aliases of those that there are; nothing is said of others."""
    tx.entities.put_aliases([alias for alias in aliases if tx.entities.find([alias.entity_id])])


def mention(tx: WriteTransaction, mentions: list[Mention]) -> object:
    """Add mentions of those that there are; nothing is said of others."""
    known = [one for one in mentions if tx.entities.find([one.entity_id]) and tx.memories.find([one.memory_id])]
    return tx.memories.add_mentions(known)


def leave_open(tx: WriteTransaction, links: list[OpenLink]) -> None:
    """Add open links of the memories that there are; nothing is said of others."""
    tx.memories.put_open_links([link for link in links if tx.memories.find([link.memory_id])])


def keep_versions(tx: WriteTransaction, versions: list[MemoryVersion]) -> None:
    """Add versions of the memories that there are; nothing is said of others."""
    tx.memories.add_versions([version for version in versions if tx.memories.find([version.memory_id])])


def replace_versions(tx: WriteTransaction, ids: list[int], versions: list[MemoryVersion]) -> None:
    """Replace the versions of memories by some of these; nothing is said of those that there aren't."""
    known = tx.memories.find(ids)
    tx.memories.put_versions({id_: [it for it in versions if it.memory_id == id_] for id_ in known})


def tag(tx: WriteTransaction, memory_id: int, tags: list[str]) -> None:
    """Tag a memory if there is one; nothing is said of others."""
    if tx.memories.find([memory_id]):
        tx.memories.set_tags(memory_id, tags)


def replace_memory(tx: WriteTransaction, memory: Memory) -> None:
    """Replace a memory."""
    tx.memories.put([memory])


def fade_entities(tx: WriteTransaction, limit: int, until: datetime) -> object:
    """Scan all in slices and halve them; slices are in each store's own order."""
    seen, after = [], None
    while True:
        rows, after = tx.entities.scan_fading(after, limit)
        faded = tx.entities.fade([Faded(row.id, row.confidence, row.confidence / 2, until) for row in rows])
        seen += [(row, faded if limit == ALL else None) for row in rows]
        if after is None:
            return sorted(seen)


def fade_relations(tx: WriteTransaction, limit: int, until: datetime) -> object:
    """Scan all in slices and halve them; slices are in each store's own order."""
    seen, after = [], None
    while True:
        rows, after = tx.relations.scan_fading(after, limit)
        faded = tx.relations.fade([Faded(row.id, row.weight, row.weight / 2, until) for row in rows])
        seen += [(row, faded if limit == ALL else None) for row in rows]
        if after is None:
            return sorted(seen)


def fade_synapses(tx: WriteTransaction, limit: int, until: datetime) -> object:
    """Scan all in slices and halve them; slices are in each store's own order."""
    seen, after = [], None
    while True:
        rows, after = tx.synapses.scan_fading(after, limit)
        faded = tx.synapses.fade([FadedSynapse(row.key, row.weight, row.weight / 2, until) for row in rows])
        seen += [(row, faded if limit == ALL else None) for row in rows]
        if after is None:
            return sorted(seen)


def listed(of: st.SearchStrategy[Any], by: Callable[[Any], object] | None = None) -> st.SearchStrategy[list[Any]]:
    """Draw some; no two with the same identity, since nothing is said of a batch that contradicts itself."""
    return st.lists(of, max_size=4, unique_by=by)


def few(of: Drawn) -> st.SearchStrategy[list[Any]]:
    """Draw one or two: what is deleted at random must not empty the stores."""
    return st.lists(of, min_size=1, max_size=2)


slices = st.sampled_from([1, 2, ALL])
entity_keys = st.builds(EntityKey, s.entity_types.map(type_key), st.sampled_from(["ada", "strasse", "lemon"]))
relation_keys = st.builds(RelationKey, s.ids, s.relation_types.map(type_key), s.ids)
title_keys = st.sampled_from(["note", "other note", "lemon"])
versions = st.builds(MemoryVersion, s.memory_ids, s.texts, s.texts, s.instants)
open_links = st.builds(OpenLink, s.memory_ids, s.names | s.words, is_ambiguous=st.booleans())
decay_rates = st.builds(
    DecayRate, st.sampled_from(Layer), st.sampled_from(["*", "semantic"]), s.connection_types, s.weights
)
mentions = st.builds(Mention, s.memory_ids, s.ids, s.instants)
projects = st.none() | st.sampled_from(["_global", "p"])

entity_operations = st.one_of(
    call("entities.put", listed(s.entities, lambda entity: entity.id)),
    call("entities.put", listed(s.entities, lambda entity: entity.id)),
    special(name_entities, listed(s.aliases, lambda alias: (alias.entity_id, alias.name_key))),
    call("entities.delete_aliases", listed(s.aliases)),
    call("entities.delete", few(s.ids)),
    special(support_entities, listed(s.evidence(s.ids))),
    special(support_entities, listed(s.evidence(s.ids))),
    call("entities.put", listed(s.entities, lambda entity: entity.id)),
    call("entities.delete_evidence", s.evidence_filters),
    call("entities.find_supported", s.evidence_sources),
    special(replace_support, few(s.ids | s.relation_ids), listed(s.evidence(s.ids | s.relation_ids))),
    special(fade_entities, slices, s.instants),
    call("entities.fade", listed(st.builds(Faded, s.ids, s.weights, s.weights, s.instants), lambda faded: faded.id)),
    call("entities.find_for_update", listed(entity_keys), listed(s.ids)),
    call("entities.find_by_key", listed(entity_keys)),
    call("entities.find_by_name", listed(st.sampled_from(["ada", "strasse", "lemon", "orbit"]))),
    special(search_entities, s.queries, s.entity_filters),
    call("entities.page", s.entity_filters, st.sampled_from(EntityOrder), s.limits, st.integers(0, 2)),
    call("entities.count", s.entity_filters),
)
relation_operations = st.one_of(
    call("relations.put", listed(s.relations, lambda relation: relation.id)),
    call("relations.put", listed(s.relations, lambda relation: relation.id)),
    call("relations.delete", few(s.relation_ids)),
    call("relations.delete_of_entities", few(s.ids)),
    special(support_relations, listed(s.evidence(s.relation_ids))),
    special(support_relations, listed(s.evidence(s.relation_ids))),
    call("relations.put", listed(s.relations, lambda relation: relation.id)),
    call("relations.delete_evidence", s.evidence_filters),
    call("relations.find_supported", s.evidence_sources),
    special(fade_relations, slices, s.instants),
    call("relations.find_from", listed(s.ids), st.none() | listed(s.relation_types.map(type_key)), s.relation_filters),
    call("relations.versions", listed(relation_keys)),
    call("relations.neighbours", listed(s.ids), s.relation_filters, exclude=listed(s.ids), limit=s.limits),
    call("relations.between", listed(s.ids), s.relation_filters, s.limits),
    call("relations.page", s.relation_filters, st.none() | s.relation_ids, s.limits),
    call("relations.count", s.relation_filters),
    call("relations.count_by_type", s.relation_filters),
)
memory_operations = st.one_of(
    call("memories.add", listed(s.memories)),
    call("memories.add", listed(s.memories)),
    special(replace_memory, s.memories),
    call("memories.delete", few(s.memory_ids)),
    call("memories.touch", listed(s.memory_ids), s.instants),
    call("memories.add", listed(s.memories)),
    special(tag, s.memory_ids, st.lists(s.texts | s.words, max_size=2, unique=True)),
    special(mention, listed(mentions, lambda mention: (mention.memory_id, mention.entity_id))),
    call("memories.delete_mentions", few(s.memory_ids)),
    special(leave_open, listed(open_links, lambda link: (link.memory_id, link.target_key))),
    call("memories.delete_open_links", listed(open_links)),
    special(keep_versions, listed(versions)),
    special(replace_versions, few(s.memory_ids), listed(versions)),
    call("memories.find_by_content_key", listed(st.sampled_from(["k1", "k2"]))),
    call("memories.find_by_title", listed(title_keys), projects),
    call("memories.find_by_slug", listed(st.sampled_from(["note", "other-note", "lemon"])), projects),
    special(search_memories, s.queries, s.memory_filters),
    call("memories.rare_terms", s.sentences, s.limits),
    call("memories.page", s.memory_filters, st.sampled_from(MemoryOrder), s.limits, st.integers(0, 2)),
    call("memories.count", s.memory_filters),
    call(
        "memories.count_by",
        st.sampled_from(["status", "layer", "lifecycle", "category", "project_id"]),
        s.memory_filters,
    ),
    call("memories.find_open_links", listed(s.words.map(name_key))),
)
synapse_operations = st.one_of(
    call("synapses.put", listed(s.synapses, lambda synapse: synapse.key)),
    call("synapses.put", listed(s.synapses, lambda synapse: synapse.key)),
    call("synapses.delete", few(s.synapse_keys)),
    call("synapses.touch", listed(s.synapse_keys), s.instants),
    call(
        "synapses.put_decay_rates",
        listed(
            decay_rates,
            lambda rate: (rate.source_layer, rate.target_layer, rate.connection_type),
        ),
    ),
    call("synapses.delete_decay_rates"),
    special(fade_synapses, slices, s.instants),
    call("synapses.of_memories", listed(s.memory_ids), s.synapse_filters, exclude=listed(s.memory_ids), limit=s.limits),
    call(
        "synapses.lightest",
        s.memory_ids,
        outgoing=st.booleans(),
        connection_type=s.connection_types,
        limit=s.limits,
    ),
    call("synapses.page", st.none() | s.synapse_keys, s.limits),
)
ledger_operations = st.one_of(
    call("ledger.put_items", listed(s.items, lambda item: item.id)),
    call("ledger.delete_items", few(s.ids)),
    call("ledger.find_items_by_content", listed(st.sampled_from(["k1", "k2"]))),
    call("ledger.put_transcript_cursors", listed(s.cursors, lambda cursor: cursor.path)),
    call("ledger.delete_transcript_cursors", few(s.ids)),
    call("ledger.add_learned", st.dictionaries(s.names, s.memory_ids, max_size=3)),
    call("ledger.delete_learned", few(s.memory_ids)),
    call("ledger.find_learned_of", few(s.memory_ids)),
    call(
        "ledger.put_tombstones",
        listed(st.builds(Tombstone, s.names, s.texts, s.instants), lambda stone: stone.content_key),
    ),
)
upkeep_operations = st.one_of(
    call("upkeep.put_run", s.runs),
    call("upkeep.delete_runs", st.sampled_from(["decay", "export"]), st.integers(0, 2)),
    call("upkeep.last_success", st.sampled_from(["decay", "export"])),
    call(
        "upkeep.put_merges",
        listed(st.builds(MergeRecord, s.ids, s.ids, s.ids, s.instants, s.objects), lambda merge: merge.id),
    ),
    call("upkeep.delete_merges", few(s.ids)),
    call(
        "upkeep.put_vectors",
        listed(s.vectors, lambda vector: (vector.owner, vector.owner_id, vector.model_id)),
    ),
    call("upkeep.delete_vectors", st.sampled_from(VectorOwner), few(s.ids)),
    call(
        "upkeep.add_audit",
        listed(st.builds(AuditEvent, st.uuids().map(str), s.texts, s.instants, s.objects), lambda event: event.id),
    ),
)
operations = st.one_of(
    entity_operations,
    entity_operations,
    relation_operations,
    relation_operations,
    memory_operations,
    memory_operations,
    synapse_operations,
    ledger_operations,
    upkeep_operations,
)
