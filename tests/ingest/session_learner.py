"""A transcript that is learned into a store, and what is in there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_memory.config.settings import Exclude
from graph_memory.domain.entities import EntityFilter, EntityKey, EntityOrder
from graph_memory.domain.memories import (
    ConnectionType,
    MemoryFilter,
    MemoryOrder,
    SynapseFilter,
)
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.relations import RelationFilter
from ingest.exclusions import Exclusions
from ingest.name_index import NameIndex
from ingest.policies import Policies
from ingest.sessions import TranscriptLearner
from tests.ingest.transcript_files import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from graph_memory.domain.entities import Entity
    from graph_memory.domain.memories import Memory
    from graph_memory.domain.relations import Relation
    from graph_memory.ports.store import Store
    from ingest.sessions import TranscriptOutcome
    from tests.ingest.places import Place


class Session:
    """A transcript, the store it is learned into, and what is in there."""

    def __init__(self, store: Store, place: Place, exclude: Exclude | None = None) -> None:
        self.store, self.place, self.exclude = store, place, exclude or Exclude()
        self.transcript = Transcript(
            place.ingest.projects_dirs[0] / "-app" / "11111111-0000-4000-8000-000000000001.jsonl"
        )
        self.learner = self.new_learner()

    def new_learner(self) -> TranscriptLearner:
        exclusions: Callable[[], Exclusions] = lambda: Exclusions(self.exclude, self.place.home)  # noqa: E731
        index = NameIndex(self.store, LOCAL_ADMIN, self.place.clock, self.place.clock.monotonic)
        return TranscriptLearner(self.store, self.place.clock, Policies(), index, exclusions)

    def restart(self) -> None:
        """Go on as a new process would."""
        self.learner = self.new_learner()

    def learn(self, file: Path | None = None) -> TranscriptOutcome:
        return self.learner.learn(LOCAL_ADMIN, file or self.transcript.file)

    def memories(self) -> Sequence[Memory]:
        where = MemoryFilter(statuses=None)
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.memories.page(where, MemoryOrder.ID, 10_000))

    def contents(self) -> list[str]:
        return [it.content for it in self.memories()]

    def sequence(self) -> list[tuple[str, str]]:
        """List the joined turns, by title."""
        titles = {it.id: it.title for it in self.memories()}
        where = SynapseFilter(frozenset({ConnectionType.SEQUENCE}))
        found = self.store.read(LOCAL_ADMIN, lambda tx: tx.synapses.of_memories(titles, where, limit=10_000))
        return sorted((titles[it.source_id], titles[it.target_id]) for it in found)

    def entities(self, type_key: str | None = None) -> Sequence[Entity]:
        where = EntityFilter(type_keys=None if type_key is None else frozenset({type_key}))
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.entities.page(where, EntityOrder.ID, 1_000))

    def entity(self, type_key: str, name_key: str) -> Entity:
        key = EntityKey(type_key, name_key)
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.entities.find_by_key({key}))[key]

    def relations(self) -> Sequence[Relation]:
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.relations.page(RelationFilter(), None, 1_000))

    def events(self, name: str) -> list[dict[str, object]]:
        found = self.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.page_audit(10_000))
        return [dict(it.data) for it in found if it.event == name]
