"""A desk to write memories at: the services over one store, and short ways to say what a test needs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.entities import Entity
from graph_memory.domain.memories import ConnectionType, Memory, MemoryFilter, Synapse, SynapseFilter
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.names import entity_slug
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.services.network import MemoryDecay
from graph_memory.services.orient import Orient
from graph_memory.services.rewrite import Rewritten, put_memory_text
from graph_memory.services.search import MemorySearch
from graph_memory.services.write import Added, MemoryWrite, add_memories

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction

T = TypeVar("T")

START = datetime(2026, 4, 5, 9, tzinfo=UTC)
POLICY = MemoryPolicy()


class Desk:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.now = START
        self.pauses: list[float] = []
        self.writer = MemoryWrite(store, self.clock, POLICY, GraphPolicy())
        self.searcher = MemorySearch(store, self.clock)
        self.orient = Orient(store)
        self.decay = MemoryDecay(store, self.clock, POLICY, self.pauses.append)

    def clock(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += timedelta(days=days)

    def read(self, work: Callable[[ReadTransaction], T]) -> T:
        return self.store.read(LOCAL_ADMIN, work)

    def write(self, work: Callable[[WriteTransaction], T]) -> T:
        return self.store.write(LOCAL_ADMIN, work)

    def add(self, title: str, content: str | None = None, project: str = "alpha", **rest: Any) -> Added:  # noqa: ANN401
        """Add a note; one without a text of its own isn't linked by what it says."""
        draft = MemoryDraft(title, content or "Nothing.", "note", project, is_auto_linked=content is not None)
        draft = replace(draft, **rest)
        return self.writer.add(LOCAL_ADMIN, draft)

    def add_all(self, *drafts: MemoryDraft, links_within: bool = True) -> Sequence[Added]:
        return self.write(lambda tx: add_memories(tx, drafts, self.now, POLICY, links_within=links_within))

    def rewrite(self, memory_id: int, content: str | None = None, title: str | None = None, **rest: bool) -> Rewritten:
        memory = self.memory(memory_id)

        def work(tx: WriteTransaction) -> Rewritten:
            new_title = memory.title if title is None else title
            new_content = memory.content if content is None else content
            return put_memory_text(tx, memory, new_title, new_content, self.now, POLICY, **rest)

        return self.write(work)

    def memory(self, memory_id: int) -> Memory:
        return self.read(lambda tx: tx.memories.find({memory_id}))[memory_id]

    def put(self, memory: Memory) -> None:
        self.write(lambda tx: tx.memories.put([memory]))

    def count(self) -> int:
        return self.read(lambda tx: tx.memories.count(MemoryFilter(statuses=None)))

    def link(
        self, source: int, target: int, weight: float = 1.0, kind: ConnectionType = ConnectionType.WIKILINK
    ) -> None:
        synapse = Synapse(source, target, kind, weight, created_at=self.now, updated_at=self.now)
        self.write(lambda tx: tx.synapses.put([synapse]))

    def synapses(self, memory_id: int, kind: ConnectionType | None = None) -> list[Synapse]:
        where = SynapseFilter(None if kind is None else frozenset({kind}))
        found = self.read(lambda tx: tx.synapses.of_memories({memory_id}, where, limit=1_000))
        return sorted(found, key=lambda synapse: synapse.key)

    def wikilinks(self, memory_id: int) -> dict[int, float]:
        """The weights of the wikilinks that leave a memory, by target."""
        found = self.synapses(memory_id, ConnectionType.WIKILINK)
        return {it.target_id: it.weight for it in found if it.source_id == memory_id}

    def automatic(self, memory_id: int) -> dict[int, float]:
        """The weights of the automatic links that leave a memory, by target."""
        found = self.synapses(memory_id, ConnectionType.BM25_AUTO)
        return {it.target_id: it.weight for it in found if it.source_id == memory_id}

    def open_links(self, memory_id: int) -> list[str]:
        return [link.target for link in self.read(lambda tx: tx.memories.open_links({memory_id}))]

    def mentions(self, memory_id: int) -> list[str]:
        return [it.entity_id for it in self.read(lambda tx: tx.memories.mentions_of_memories({memory_id}))]

    def add_entity(self, name: str, type_: str = "Object") -> Entity:
        id_ = f"{entity_slug(name)}-{type_.lower()}"
        entity = Entity(id_, type_, name, 0.5, created_at=self.now, last_seen=self.now)
        self.write(lambda tx: tx.entities.put([entity]))
        return entity

    def found(self, query: str, where: MemoryFilter | None = None, limit: int = 20) -> list[str]:
        """The titles that a search finds, in order."""
        page = self.searcher.search(LOCAL_ADMIN, query, where or MemoryFilter(), limit=limit)
        return [it.memory.title for it in page.found]
