"""What is stored, as today's rules of redaction would have it: from a row to the same row without its secrets.

Paths, ids of sessions and content keys say where something came from; they stay as they are, since a source that is
called otherwise could be neither found nor forgotten.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from graph_memory.domain.entities import Alias, Entity, Evidence, JsonValue
from graph_memory.domain.ledger import IngestItem, MergeRecord
from graph_memory.domain.memories import Memory, MemoryVersion
from graph_memory.domain.redaction import redact
from graph_memory.domain.relations import Relation


@dataclass(slots=True)
class Scrubber:
    """Takes secrets out of rows; `counts` is how many of each kind it found, and never holds any text."""

    counts: Counter[str] = field(default_factory=Counter)

    def text(self, text: str) -> str:
        """Return a text without secrets, the same object where it has none."""
        redacted = redact(text)
        self.counts.update(redacted.counts)
        return redacted.text

    def json(self, value: JsonValue) -> JsonValue:
        """Return a JSON value without secrets in its texts and names."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(name): self.json(it) for name, it in value.items()}
        if isinstance(value, list):
            return [self.json(it) for it in value]
        return value

    def mapping(self, value: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        """Return properties without secrets."""
        return {self.text(name): self.json(it) for name, it in value.items()}

    def memory(self, memory: Memory) -> Memory:
        """Return a memory without secrets; its slug is still that of the old title."""
        return replace(
            memory,
            title=self.text(memory.title),
            content=self.text(memory.content),
            summary=None if memory.summary is None else self.text(memory.summary),
            tags=self.names(memory.tags),
        )

    def version(self, version: MemoryVersion) -> MemoryVersion:
        """Return an earlier text without secrets."""
        return replace(version, title=self.text(version.title), content=self.text(version.content))

    def entity(self, entity: Entity) -> Entity:
        """Return an entity without secrets; its id is still that of the old name."""
        return replace(entity, name=self.text(entity.name), properties=self.mapping(entity.properties))

    def alias(self, alias: Alias) -> Alias:
        """Return another name without secrets."""
        return replace(alias, name=self.text(alias.name))

    def relation(self, relation: Relation) -> Relation:
        """Return a version of a relation without secrets."""
        return replace(relation, properties=self.mapping(relation.properties))

    def evidence(self, evidence: Evidence) -> Evidence:
        """Return a contribution without secrets."""
        text = None if evidence.text is None else self.text(evidence.text)
        return replace(evidence, text=text, properties=self.mapping(evidence.properties))

    def item(self, item: IngestItem) -> IngestItem:
        """Return what the ledger knows of a document without secrets."""
        reason = None if item.reason is None else self.text(item.reason)
        return replace(item, meta=self.mapping(item.meta), reason=reason)

    def merge(self, merge: MergeRecord) -> MergeRecord:
        """Return what undoes a merge without secrets."""
        return replace(merge, inverse=self.mapping(merge.inverse))

    def names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return names without secrets, each once."""
        return tuple(dict.fromkeys(self.text(it) for it in names))
