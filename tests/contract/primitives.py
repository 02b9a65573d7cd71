"""Every primitive of every port, called so that it finds or changes something of what `samples.populate` stores.

`EMPTY_…` are the same primitives called with empty collections. Tests walk these tables; one of them checks that no
primitive is missing here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_memory.domain.entities import Alias, EntityKey, EntityOrder
from graph_memory.domain.ledger import AuditEvent, IngestState, MergeRecord, Tombstone, TranscriptCursor, VectorOwner
from graph_memory.domain.memories import (
    ConnectionType,
    DecayRate,
    MemoryOrder,
    MemoryVersion,
    Mention,
    OpenLink,
    SynapseKey,
)
from graph_memory.domain.relations import RelationKey
from graph_memory.ports.graph_rows import EvidenceFilter, EvidenceSources, Faded
from graph_memory.ports.memory_rows import FadedSynapse
from tests.contract.samples import (
    ALL,
    ANY_ENTITY,
    ANY_MEMORY,
    ANY_RELATION,
    ANY_SYNAPSE,
    CURRENT,
    day,
    entity,
    evidence,
    item,
    memory,
    query,
    relation,
    run,
    synapse,
    vector,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from graph_memory.ports.store import ReadTransaction, WriteTransaction

    Read = Callable[[ReadTransaction], object]
    Write = Callable[[WriteTransaction], object]

ADA = EntityKey("person", "ada lovelace")
WORKS_ON = RelationKey("ada", "works_on", "engine")
LINK = SynapseKey(1, 2, ConnectionType.WIKILINK)

READS: dict[str, Read] = {
    "entities.find": lambda tx: tx.entities.find(["ada", "nobody"]),
    "entities.find_by_key": lambda tx: tx.entities.find_by_key([ADA]),
    "entities.find_by_name": lambda tx: tx.entities.find_by_name(["ada lovelace", "countess"]),
    "entities.search": lambda tx: tx.entities.search(query("lovelace"), ANY_ENTITY, ALL),
    "entities.find_similar_names": lambda tx: tx.entities.find_similar_names("Ada Lovelance", ANY_ENTITY, ALL),
    "entities.page": lambda tx: tx.entities.page(ANY_ENTITY, EntityOrder.NAME, ALL),
    "entities.page_by_id": lambda tx: tx.entities.page_by_id(ANY_ENTITY, None, ALL),
    "entities.count": lambda tx: tx.entities.count(ANY_ENTITY),
    "entities.count_by_type": lambda tx: tx.entities.count_by_type(),
    "entities.degrees": lambda tx: tx.entities.degrees(["ada"]),
    "entities.aliases": lambda tx: tx.entities.aliases(["ada"]),
    "entities.type_spelling": lambda tx: tx.entities.type_spelling(["person"]),
    "entities.evidence": lambda tx: tx.entities.evidence(["ada"]),
    "relations.find": lambda tx: tx.relations.find(["r-now", "r-old", "r-none"]),
    "relations.find_current": lambda tx: tx.relations.find_current([WORKS_ON]),
    "relations.find_from": lambda tx: tx.relations.find_from(["ada"], None, ANY_RELATION),
    "relations.versions": lambda tx: tx.relations.versions([WORKS_ON]),
    "relations.neighbours": lambda tx: tx.relations.neighbours(["ada"], CURRENT, limit=ALL),
    "relations.between": lambda tx: tx.relations.between(["ada", "engine"], CURRENT, ALL),
    "relations.scan_links": lambda tx: tx.relations.scan_links(None, ALL),
    "relations.page": lambda tx: tx.relations.page(ANY_RELATION, None, ALL),
    "relations.count": lambda tx: tx.relations.count(ANY_RELATION),
    "relations.count_by_type": lambda tx: tx.relations.count_by_type(ANY_RELATION),
    "relations.mean_weight": lambda tx: tx.relations.mean_weight(ANY_RELATION),
    "relations.type_spelling": lambda tx: tx.relations.type_spelling(["works_on"]),
    "relations.evidence": lambda tx: tx.relations.evidence(["r-now"]),
    "entities.find_supported": lambda tx: tx.entities.find_supported(EvidenceSources(sessions=["s1"])),
    "relations.find_supported": lambda tx: tx.relations.find_supported(EvidenceSources(sessions=["s1"])),
    "memories.find": lambda tx: tx.memories.find([1, 2]),
    "memories.find_by_content_key": lambda tx: tx.memories.find_by_content_key(["c1"]),
    "memories.find_by_title": lambda tx: tx.memories.find_by_title(["first note"]),
    "memories.find_by_slug": lambda tx: tx.memories.find_by_slug(["first-note"]),
    "memories.search": lambda tx: tx.memories.search(query("bernoulli"), ANY_MEMORY, ALL),
    "memories.rare_terms": lambda tx: tx.memories.rare_terms("bernoulli", ALL),
    "memories.page": lambda tx: tx.memories.page(ANY_MEMORY, MemoryOrder.ID, ALL),
    "memories.page_expired": lambda tx: tx.memories.page_expired(day(99), day(-99), 0, ALL),
    "memories.count": lambda tx: tx.memories.count(ANY_MEMORY),
    "memories.count_by": lambda tx: tx.memories.count_by("layer", ANY_MEMORY),
    "memories.mentions_of_memories": lambda tx: tx.memories.mentions_of_memories([1]),
    "memories.mentions_of_entities": lambda tx: tx.memories.mentions_of_entities(["ada"], ALL),
    "memories.open_links": lambda tx: tx.memories.open_links([1]),
    "memories.find_open_links": lambda tx: tx.memories.find_open_links(["nowhere yet"]),
    "memories.versions": lambda tx: tx.memories.versions([1]),
    "synapses.find": lambda tx: tx.synapses.find([LINK]),
    "synapses.of_memories": lambda tx: tx.synapses.of_memories([1], ANY_SYNAPSE, limit=ALL),
    "synapses.degrees": lambda tx: tx.synapses.degrees([1]),
    "synapses.lightest": lambda tx: tx.synapses.lightest(
        1, outgoing=True, connection_type=ConnectionType.WIKILINK, limit=ALL
    ),
    "synapses.count_by_type": lambda tx: tx.synapses.count_by_type(),
    "synapses.page": lambda tx: tx.synapses.page(None, ALL),
    "synapses.decay_rates": lambda tx: tx.synapses.decay_rates(),
    "ledger.find_items": lambda tx: tx.ledger.find_items(["i1"]),
    "ledger.find_items_by_content": lambda tx: tx.ledger.find_items_by_content(["content of i1"]),
    "ledger.find_items_by_path": lambda tx: tx.ledger.find_items_by_path(["notes/i1.md"]),
    "ledger.page_items": lambda tx: tx.ledger.page_items(IngestState.PENDING, ALL),
    "ledger.count_items": lambda tx: tx.ledger.count_items(),
    "ledger.session_cursors": lambda tx: tx.ledger.session_cursors(),
    "ledger.transcript_cursors": lambda tx: tx.ledger.transcript_cursors(),
    "ledger.find_learned": lambda tx: tx.ledger.find_learned(["k1"]),
    "ledger.find_learned_of": lambda tx: tx.ledger.find_learned_of([1]),
    "ledger.page_learned": lambda tx: tx.ledger.page_learned(None, ALL),
    "ledger.tombstones": lambda tx: tx.ledger.tombstones(["dead"]),
    "ledger.page_tombstones": lambda tx: tx.ledger.page_tombstones(None, ALL),
    "upkeep.last_runs": lambda tx: tx.upkeep.last_runs(),
    "upkeep.last_success": lambda tx: tx.upkeep.last_success("decay"),
    "upkeep.runs": lambda tx: tx.upkeep.runs("decay", ALL),
    "upkeep.merges": lambda tx: tx.upkeep.merges(["m1"]),
    "upkeep.page_merges": lambda tx: tx.upkeep.page_merges(None, ALL),
    "upkeep.vectors": lambda tx: tx.upkeep.vectors(VectorOwner.ENTITY, ["ada"], "model"),
    "upkeep.count_vectors": lambda tx: tx.upkeep.count_vectors(),
    "upkeep.page_audit": lambda tx: tx.upkeep.page_audit(ALL),
}

WRITERS_READS: dict[str, Write] = {
    "entities.find_for_update": lambda tx: tx.entities.find_for_update([ADA], ["engine"]),
    "entities.scan_fading": lambda tx: tx.entities.scan_fading(None, ALL),
    "relations.scan_fading": lambda tx: tx.relations.scan_fading(None, ALL),
    "synapses.scan_fading": lambda tx: tx.synapses.scan_fading(None, ALL),
}
"""Reads that only a write may do."""

PUTS: dict[str, Write] = {
    "entities.put": lambda tx: tx.entities.put([entity("new"), entity("ada", "Person", "Ada Lovelace", confidence=1)]),
    "entities.put_aliases": lambda tx: tx.entities.put_aliases([Alias("ada", "Augusta"), Alias("ada", "COUNTESS")]),
    "relations.put": lambda tx: tx.relations.put([relation("engine", "engine"), relation("ada", "ada", "KNOWS_ABOUT")]),
    "entities.put_evidence": lambda tx: tx.entities.put_evidence({"ada": [evidence("ada", day(1))], "engine": []}),
    "relations.put_evidence": lambda tx: tx.relations.put_evidence({"r-now": [evidence("r-now", day(1))]}),
    "memories.put_versions": lambda tx: tx.memories.put_versions(
        {1: [MemoryVersion(1, "Draft", "other", day(1))], 2: []}
    ),
    "memories.put": lambda tx: tx.memories.put([memory("First note, again", 1, "other text", tags=("x", "y"))]),
    "memories.set_tags": lambda tx: tx.memories.set_tags(1, ["a", "b"]),
    "memories.put_open_links": lambda tx: tx.memories.put_open_links(
        [OpenLink(1, "Nowhere  YET", is_ambiguous=True), OpenLink(2, "Elsewhere")]
    ),
    "synapses.put": lambda tx: tx.synapses.put([synapse(1, 2, 2.0), synapse(1, 2, 3.0, ConnectionType.BM25_AUTO)]),
    "synapses.put_decay_rates": lambda tx: tx.synapses.put_decay_rates(
        [DecayRate("semantic", "*", ConnectionType.WIKILINK, 0.5)]
    ),
    "ledger.put_items": lambda tx: tx.ledger.put_items([item("i1", IngestState.FAILED, reason="broken"), item("i3")]),
    "ledger.put_transcript_cursors": lambda tx: tx.ledger.put_transcript_cursors(
        [TranscriptCursor("/t/a.jsonl", "print", 20, 20, day(1)), TranscriptCursor("/t/b.jsonl", "other", 0, 0, day(1))]
    ),
    "ledger.add_learned": lambda tx: tx.ledger.add_learned({"k1": 2, "k2": 2}),
    "ledger.put_tombstones": lambda tx: tx.ledger.put_tombstones([Tombstone("deader", "asked for", day(1))]),
    "upkeep.put_run": lambda tx: tx.upkeep.put_run(run("export", day(2))),
    "upkeep.put_merges": lambda tx: tx.upkeep.put_merges([MergeRecord("m2", "a", "b", day(1))]),
    "upkeep.put_vectors": lambda tx: tx.upkeep.put_vectors([vector(VectorOwner.ENTITY, "ada", values=b"\0\0\0\0")]),
}
"""Changes that leave the same behind when they are done once more."""

DELETES: dict[str, Write] = {
    "entities.delete_aliases": lambda tx: tx.entities.delete_aliases([Alias("ada", "COUNTESS")]),
    "entities.delete": lambda tx: tx.entities.delete(["lonely", "nobody"]),
    "entities.delete_evidence": lambda tx: tx.entities.delete_evidence(EvidenceFilter(session="s1")),
    "relations.delete": lambda tx: tx.relations.delete(["r-now", "r-none"]),
    "relations.delete_of_entities": lambda tx: tx.relations.delete_of_entities(["ada"]),
    "relations.delete_evidence": lambda tx: tx.relations.delete_evidence(EvidenceFilter(session="s1")),
    "memories.delete": lambda tx: tx.memories.delete([1, 99]),
    "memories.delete_mentions": lambda tx: tx.memories.delete_mentions([1]),
    "memories.delete_open_links": lambda tx: tx.memories.delete_open_links([OpenLink(1, "NOWHERE yet")]),
    "synapses.delete_decay_rates": lambda tx: tx.synapses.delete_decay_rates(),
    "synapses.delete": lambda tx: tx.synapses.delete([LINK]),
    "ledger.delete_items": lambda tx: tx.ledger.delete_items(["i1", "i2"]),
    "ledger.delete_transcript_cursors": lambda tx: tx.ledger.delete_transcript_cursors(["/t/a.jsonl"]),
    "ledger.delete_learned": lambda tx: tx.ledger.delete_learned([1]),
    "upkeep.delete_runs": lambda tx: tx.upkeep.delete_runs("decay", 1),
    "upkeep.delete_merges": lambda tx: tx.upkeep.delete_merges(["m1"]),
    "upkeep.delete_vectors": lambda tx: tx.upkeep.delete_vectors(VectorOwner.ENTITY, ["ada"]),
    "upkeep.delete_audit": lambda tx: tx.upkeep.delete_audit(["e1"]),
}
"""Changes that tell what they removed, and remove nothing when they are done once more."""

OTHER_WRITES: dict[str, Write] = {
    "entities.add_evidence": lambda tx: tx.entities.add_evidence([evidence("ada", day(-1)), evidence("ada", day(1))]),
    "entities.fade": lambda tx: tx.entities.fade([Faded("ada", 0.5, 0.25, day(1))]),
    "relations.add_evidence": lambda tx: tx.relations.add_evidence([evidence("r-now", day(1))]),
    "relations.fade": lambda tx: tx.relations.fade([Faded("r-now", 0.5, 0.25, day(1))]),
    "memories.add": lambda tx: tx.memories.add([memory("Third note"), memory("Fourth note", 77)]),
    "memories.touch": lambda tx: tx.memories.touch([1, 99], day(1)),
    "memories.add_mentions": lambda tx: tx.memories.add_mentions(
        [Mention(1, "ada", day(1)), Mention(2, "ada", day(1))]
    ),
    "memories.add_versions": lambda tx: tx.memories.add_versions([MemoryVersion(1, "Draft", "more scribbles", day(1))]),
    "synapses.touch": lambda tx: tx.synapses.touch([LINK], day(1)),
    "synapses.fade": lambda tx: tx.synapses.fade([FadedSynapse(LINK, 1.0, 0.5, day(1))]),
    "upkeep.add_audit": lambda tx: tx.upkeep.add_audit([AuditEvent("e2", "decay", day(1), {"count": 3})]),
}

UNSEEN: dict[str, Write] = {"memories.renew_common_terms": lambda tx: tx.memories.renew_common_terms()}
"""Changes that no dump shows."""

CHANGES: dict[str, Write] = {**PUTS, **DELETES, **OTHER_WRITES}

EMPTY_READS: dict[str, Read] = {
    "entities.find": lambda tx: tx.entities.find([]),
    "entities.find_by_key": lambda tx: tx.entities.find_by_key([]),
    "entities.find_by_name": lambda tx: tx.entities.find_by_name([]),
    "entities.degrees": lambda tx: tx.entities.degrees([]),
    "entities.aliases": lambda tx: tx.entities.aliases([]),
    "entities.type_spelling": lambda tx: tx.entities.type_spelling([]),
    "entities.evidence": lambda tx: tx.entities.evidence([]),
    "entities.find_supported": lambda tx: tx.entities.find_supported(EvidenceSources()),
    "relations.find": lambda tx: tx.relations.find([]),
    "relations.find_current": lambda tx: tx.relations.find_current([]),
    "relations.find_from": lambda tx: tx.relations.find_from([], None, ANY_RELATION),
    "relations.find_from, of no type": lambda tx: tx.relations.find_from(["ada"], [], ANY_RELATION),
    "relations.versions": lambda tx: tx.relations.versions([]),
    "relations.neighbours": lambda tx: tx.relations.neighbours([], ANY_RELATION, limit=ALL),
    "relations.between": lambda tx: tx.relations.between([], ANY_RELATION, ALL),
    "relations.type_spelling": lambda tx: tx.relations.type_spelling([]),
    "relations.evidence": lambda tx: tx.relations.evidence([]),
    "relations.find_supported": lambda tx: tx.relations.find_supported(EvidenceSources()),
    "memories.find": lambda tx: tx.memories.find([]),
    "memories.find_by_content_key": lambda tx: tx.memories.find_by_content_key([]),
    "memories.find_by_title": lambda tx: tx.memories.find_by_title([]),
    "memories.find_by_slug": lambda tx: tx.memories.find_by_slug([]),
    "memories.mentions_of_memories": lambda tx: tx.memories.mentions_of_memories([]),
    "memories.mentions_of_entities": lambda tx: tx.memories.mentions_of_entities([], ALL),
    "memories.open_links": lambda tx: tx.memories.open_links([]),
    "memories.find_open_links": lambda tx: tx.memories.find_open_links([]),
    "memories.versions": lambda tx: tx.memories.versions([]),
    "synapses.find": lambda tx: tx.synapses.find([]),
    "synapses.of_memories": lambda tx: tx.synapses.of_memories([], ANY_SYNAPSE, limit=ALL),
    "synapses.degrees": lambda tx: tx.synapses.degrees([]),
    "ledger.find_items": lambda tx: tx.ledger.find_items([]),
    "ledger.find_items_by_content": lambda tx: tx.ledger.find_items_by_content([]),
    "ledger.find_items_by_path": lambda tx: tx.ledger.find_items_by_path([]),
    "ledger.transcript_cursors": lambda tx: tx.ledger.transcript_cursors([]),
    "ledger.find_learned": lambda tx: tx.ledger.find_learned([]),
    "ledger.find_learned_of": lambda tx: tx.ledger.find_learned_of([]),
    "ledger.tombstones": lambda tx: tx.ledger.tombstones([]),
    "upkeep.last_runs": lambda tx: tx.upkeep.last_runs([]),
    "upkeep.merges": lambda tx: tx.upkeep.merges([]),
    "upkeep.vectors": lambda tx: tx.upkeep.vectors(VectorOwner.ENTITY, [], "model"),
}

EMPTY_WRITES: dict[str, Write] = {
    "entities.find_for_update": lambda tx: tx.entities.find_for_update([]),
    "entities.put": lambda tx: tx.entities.put([]),
    "entities.put_aliases": lambda tx: tx.entities.put_aliases([]),
    "entities.delete_aliases": lambda tx: tx.entities.delete_aliases([]),
    "entities.delete": lambda tx: tx.entities.delete([]),
    "entities.add_evidence": lambda tx: tx.entities.add_evidence([]),
    "entities.put_evidence": lambda tx: tx.entities.put_evidence({}),
    "entities.fade": lambda tx: tx.entities.fade([]),
    "relations.put": lambda tx: tx.relations.put([]),
    "relations.delete": lambda tx: tx.relations.delete([]),
    "relations.delete_of_entities": lambda tx: tx.relations.delete_of_entities([]),
    "relations.add_evidence": lambda tx: tx.relations.add_evidence([]),
    "relations.put_evidence": lambda tx: tx.relations.put_evidence({}),
    "relations.fade": lambda tx: tx.relations.fade([]),
    "memories.add": lambda tx: tx.memories.add([]),
    "memories.put": lambda tx: tx.memories.put([]),
    "memories.delete": lambda tx: tx.memories.delete([]),
    "memories.touch": lambda tx: tx.memories.touch([], day(1)),
    "memories.add_mentions": lambda tx: tx.memories.add_mentions([]),
    "memories.delete_mentions": lambda tx: tx.memories.delete_mentions([]),
    "memories.put_open_links": lambda tx: tx.memories.put_open_links([]),
    "memories.delete_open_links": lambda tx: tx.memories.delete_open_links([]),
    "memories.add_versions": lambda tx: tx.memories.add_versions([]),
    "memories.put_versions": lambda tx: tx.memories.put_versions({}),
    "synapses.put": lambda tx: tx.synapses.put([]),
    "synapses.delete": lambda tx: tx.synapses.delete([]),
    "synapses.touch": lambda tx: tx.synapses.touch([], day(1)),
    "synapses.put_decay_rates": lambda tx: tx.synapses.put_decay_rates([]),
    "synapses.fade": lambda tx: tx.synapses.fade([]),
    "ledger.put_items": lambda tx: tx.ledger.put_items([]),
    "ledger.delete_items": lambda tx: tx.ledger.delete_items([]),
    "ledger.put_transcript_cursors": lambda tx: tx.ledger.put_transcript_cursors([]),
    "ledger.delete_transcript_cursors": lambda tx: tx.ledger.delete_transcript_cursors([]),
    "ledger.add_learned": lambda tx: tx.ledger.add_learned({}),
    "ledger.delete_learned": lambda tx: tx.ledger.delete_learned([]),
    "ledger.put_tombstones": lambda tx: tx.ledger.put_tombstones([]),
    "upkeep.put_merges": lambda tx: tx.upkeep.put_merges([]),
    "upkeep.delete_merges": lambda tx: tx.upkeep.delete_merges([]),
    "upkeep.put_vectors": lambda tx: tx.upkeep.put_vectors([]),
    "upkeep.delete_vectors": lambda tx: tx.upkeep.delete_vectors(VectorOwner.ENTITY, []),
    "upkeep.add_audit": lambda tx: tx.upkeep.add_audit([]),
    "upkeep.delete_audit": lambda tx: tx.upkeep.delete_audit([]),
}
