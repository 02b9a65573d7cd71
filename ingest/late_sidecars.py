"""What a sidecar says of a document that was learned already: it changes what the document became."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from graph_memory.domain.audit import audit_event
from graph_memory.domain.drafts import MAX_LABEL
from graph_memory.domain.entities import Evidence, EvidenceKind, JsonValue, Provenance, SourceType
from graph_memory.domain.ledger import IngestItem
from graph_memory.domain.memories import GLOBAL_PROJECT, Memory
from graph_memory.ports.graph_rows import EvidenceFilter
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from graph_memory.services.links import claim_names
from graph_memory.services.rewrite import put_memory_text
from ingest.mentions import Naming, mention, read_names
from ingest.name_index import NameIndex
from ingest.policies import Policies
from ingest.prepared import with_context
from ingest.sidecars import Sidecar, joined
from ingest.sources import put_document
from ingest.titles import free_title


def is_current(tx: ReadTransaction, item: IngestItem) -> bool:
    """Tell whether a document is what its path holds now, and its memory has that content."""
    latest = tx.ledger.find_items_by_path({item.path}).get(item.path, ())[:1]
    memory = tx.memories.find_by_content_key({item.content_key}).get(item.content_key)
    is_latest = bool(latest) and latest[0].id == item.id
    return is_latest and memory is not None and item.memory_ids[:1] == (memory.id,)


def apply_sidecar(
    tx: WriteTransaction, item: IngestItem, sidecar: Sidecar, now: datetime, policies: Policies, index: NameIndex
) -> IngestItem:
    """Apply a sidecar to a learned document and return what the ledger has of it now.

    A document that shares its memory with the one that made it changes nothing but its own metadata.
    """
    meta = joined(item.meta, sidecar.values)
    if meta == item.meta:
        return item
    changed = replace(item, meta=meta, updated_at=now)
    found = tx.memories.find(item.memory_ids)
    memories = [found[it] for it in item.memory_ids if it in found]
    if memories and memories[0].source_file == item.path:
        changed = _Late(tx, changed, Sidecar(meta), now, policies, index).apply(memories)
    tx.ledger.put_items([changed])
    return changed


class _Late:
    """Changes what one document became."""

    def __init__(
        self,
        tx: WriteTransaction,
        item: IngestItem,
        sidecar: Sidecar,
        now: datetime,
        policies: Policies,
        index: NameIndex,
    ) -> None:
        self._tx, self._item, self._sidecar, self._now, self._policies = tx, item, sidecar, now, policies
        self._index = index
        self._provenance = Provenance(SourceType.DOCUMENT, session=sidecar.session_id, file=item.path)

    def apply(self, memories: Sequence[Memory]) -> IngestItem:
        """Change memories, entities and relations as the sidecar says."""
        changed = [self._place(it) for it in memories]
        whole = changed[0]
        if whole.project_id != memories[0].project_id:
            claim_names(self._tx, whole, whole.title, self._now, self._policies.memory)
        counted = {it.entity_id for it in self._tx.memories.mentions_of_memories({whole.id})}
        source = put_document(
            self._tx, self._item.path, self._properties(whole), self._provenance, self._now, self._policies.graph
        )
        said = read_names("", self._index, hints=self._sidecar.topic_hints, authors=self._sidecar.authors)
        naming = Naming(
            whole.id,
            source,
            with_context(said, whole.project_id, whole.session_id),
            self._provenance,
            counted_ids=counted,
            weight=self._sidecar.weight,
        )
        named = mention(self._tx, naming, self._now, self._policies.graph)
        self._index.note(named.created)
        all_named = counted | named.entity_ids
        if self._sidecar.weight is not None:
            self._weigh(whole.id, source, self._sidecar.weight)
        event = audit_event("memory_updated", self._now, {"memory_id": whole.id, "item_id": self._item.id})
        self._tx.upkeep.add_audit([event])
        return replace(self._item, entity_count=len(all_named) + 1, relation_count=len(all_named))

    def _place(self, memory: Memory) -> Memory:
        """Give a memory the project, session and date that the sidecar names."""
        project = (self._sidecar.project_id or memory.project_id or GLOBAL_PROJECT)[:MAX_LABEL]
        placed = replace(
            memory,
            project_id=project,
            session_id=self._sidecar.session_id or memory.session_id,
            created_at=self._sidecar.written_at or memory.created_at,
        )
        if placed == memory:
            return memory
        title = free_title(self._tx, (memory.title,), memory.content_key or memory.title, project, memory.id)
        return put_memory_text(self._tx, placed, title, memory.content, self._now, self._policies.memory).memory

    def _properties(self, memory: Memory) -> Mapping[str, JsonValue]:
        values: dict[str, JsonValue] = {"title": memory.title, "memory_id": memory.id, "source": self._sidecar.source}
        if self._sidecar.written_at is not None:
            values["date"] = self._sidecar.written_at.isoformat()
        return {name: value for name, value in values.items() if value is not None}

    def _weigh(self, memory_id: int, source: str, weight: float) -> None:
        """Give the relations of the document the weight that the sidecar wants for them."""
        touched = self._tx.relations.delete_evidence(EvidenceFilter(memory_id=memory_id))
        found = self._tx.relations.find(touched)
        mine = [it for it in found.values() if it.source_id == source and it.is_current]
        provenance = replace(self._provenance, source_type=SourceType.MENTION, memory_id=memory_id)
        self._tx.relations.put(
            [replace(it, weight=weight, decayed_at=self._now, last_confirmed=self._now) for it in mine]
        )
        self._tx.relations.add_evidence(
            [Evidence(it.id, EvidenceKind.EXPLICIT, weight, self._now, provenance) for it in mine]
        )
