"""A pipeline over a store, and what is in there afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graph_memory.config.settings import Exclude, Settings
from graph_memory.domain.entities import EntityFilter, EntityKey, EntityOrder
from graph_memory.domain.ledger import IngestState
from graph_memory.domain.memories import ConnectionType, MemoryFilter, MemoryOrder, Status, SynapseFilter
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.relations import RelationFilter
from ingest.pipeline import IngestPipeline
from ingest.policies import Policies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph_memory.domain.entities import Entity
    from graph_memory.domain.ledger import IngestItem
    from graph_memory.domain.memories import Memory
    from graph_memory.domain.relations import Relation
    from graph_memory.ports.store import Store
    from ingest.work import WorkDone
    from tests.ingest.places import Place


class Learner:
    """Learns what is dropped, and looks at what came of it."""

    def __init__(self, store: Store, place: Place, exclude: Exclude | None = None) -> None:
        self.store, self.place = store, place
        self.settings = replace(Settings(), ingest=place.ingest, exclude=exclude or Exclude())
        self.pipeline = self.new_pipeline()

    def new_pipeline(self) -> IngestPipeline:
        return IngestPipeline(
            self.store,
            self.place.home,
            self.settings,
            self.place.clock,
            Policies(),
            monotonic=self.place.clock.monotonic,
        )

    def restart(self) -> None:
        """Go on as a new process would, the old one having ended properly."""
        self.pipeline.close()
        self.pipeline = self.new_pipeline()

    def learn(self) -> list[WorkDone]:
        """Wait until all is stable, and do all there is to do."""
        done: list[WorkDone] = []
        for _ in range(10):
            self.pipeline.scan()
            self.place.clock.wait(1.0)
            works = self.pipeline.scan().works
            if not works:
                return done
            done += [self.pipeline.run(work) for work in works]
        raise AssertionError("there is always more to do")

    def learn_late(self) -> None:
        """Let older memories find the entities that came after them."""
        self.place.clock.wait(1.0)
        while not self.pipeline.link_late_mentions(limit=7).is_done:
            pass

    def drop(self, path: str, content: str | bytes) -> list[WorkDone]:
        """Drop a file and learn it."""
        self.place.drop(path, content)
        return self.learn()

    def memories(self, *, every: bool = False) -> Sequence[Memory]:
        where = MemoryFilter(statuses=None if every else frozenset({Status.ACTIVE}))
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.memories.page(where, MemoryOrder.ID, 100_000))

    def memory(self, title: str) -> Memory:
        (found,) = [it for it in self.memories() if it.title == title]
        return found

    def titles(self) -> list[str]:
        return [it.title for it in self.memories()]

    def items(self, state: IngestState | None = None) -> list[IngestItem]:
        states = list(IngestState) if state is None else [state]
        return [
            item
            for one in states
            for item in self.store.read(LOCAL_ADMIN, lambda tx, it=one: tx.ledger.page_items(it, 10_000))  # type: ignore[misc]
        ]

    def states(self) -> dict[str, str]:
        return {it.path: it.state.value for it in self.items()}

    def links(self, kind: ConnectionType) -> dict[tuple[str, str], float]:
        """List synapses of one kind, by titles."""
        titles = {it.id: it.title for it in self.memories(every=True)}
        where = SynapseFilter(frozenset({kind}))
        found = self.store.read(LOCAL_ADMIN, lambda tx: tx.synapses.of_memories(titles, where, limit=1_000_000))
        return {(titles[it.source_id], titles[it.target_id]): it.weight for it in found}

    def entities(self) -> dict[tuple[str, str], Entity]:
        found = self.store.read(LOCAL_ADMIN, lambda tx: tx.entities.page(EntityFilter(), EntityOrder.ID, 100_000))
        return {(it.type, it.name): it for it in found}

    def entity(self, type_key: str, name_key: str) -> Entity:
        key = EntityKey(type_key, name_key)
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.entities.find_by_key({key}))[key]

    def relations(self, *, current: bool = True) -> Sequence[Relation]:
        where = RelationFilter(current_only=current)
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.relations.page(where, None, 100_000))

    def mentions(self, title: str) -> set[str]:
        """List the names of the entities that a memory mentions."""
        id_ = self.memory(title).id
        found = self.store.read(LOCAL_ADMIN, lambda tx: tx.memories.mentions_of_memories({id_}))
        ids = {it.entity_id for it in found}
        return {it.name for it in self.store.read(LOCAL_ADMIN, lambda tx: tx.entities.find(ids)).values()}

    def mentioned_by(self, path: str) -> dict[str, float]:
        """List what a document mentions in the graph, with the weights."""
        names = {it.id: it.name for it in self.entities().values()}
        return {names[it.target_id]: it.weight for it in self.relations() if names[it.source_id] == path}

    def events(self, name: str) -> list[dict[str, object]]:
        found = self.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.page_audit(100_000))
        return [dict(it.data) for it in found if it.event == name]

    def everything(self) -> object:
        """Return all that must not change when the same is learned again."""
        return (
            [(it.id, it.title, it.content, it.status) for it in self.memories(every=True)],
            [self.links(kind) for kind in ConnectionType],
            sorted((it.id, it.confidence, it.mention_count) for it in self.entities().values()),
            sorted((it.id, it.weight, it.invalid_at) for it in self.relations(current=False)),
        )
