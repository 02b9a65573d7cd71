"""Rows of the graph family. Answers with an order name it; mappings leave out what was not found."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from graph_memory.domain.entities import Alias, Entity, EntityFilter, EntityKey, EntityOrder, Evidence
from graph_memory.domain.queries import TextHit, TextQuery
from graph_memory.domain.relations import Relation, RelationFilter, RelationKey


class FadingEntity(NamedTuple):
    """What decay needs of an entity; `since` is `decayed_at`, else `created_at`.

    In microseconds (`instants.to_micros`): to make instants of a whole graph takes longer than to let it fade.
    """

    id: str
    type: str
    name: str
    confidence: float
    since: int
    is_exempt: bool


class FadingRelation(NamedTuple):
    """What decay needs of a relation; `since` is `decayed_at`, else `last_confirmed`, in microseconds as above."""

    id: str
    weight: float
    since: int


class Link(NamedTuple):
    """What the shape of a graph is made of: a current relation without what it says."""

    source_id: str
    target_id: str
    weight: float


class Faded(NamedTuple):
    """A decayed value, to be written only where the row still has `old` and has not decayed past `until`."""

    id: str
    old: float
    new: float
    until: datetime


class EvidenceFilter(NamedTuple):
    """Which evidence is meant: all given parts must hold; at least one is given."""

    session: str | None = None
    file: str | None = None
    memory_id: int | None = None
    since: datetime | None = None
    before: datetime | None = None


class EvidenceSources(NamedTuple):
    """Where evidence may come from: any given part suffices; `since` and `before`, which it is not, go together."""

    sessions: Collection[str] = ()
    files: Collection[str] = ()
    memory_ids: Collection[int] = ()
    since: datetime | None = None
    before: datetime | None = None


class EntityReader(Protocol):
    """Find entities."""

    def find(self, ids: Collection[str]) -> Mapping[str, Entity]:
        """Find entities by id."""

    def find_by_key(self, keys: Collection[EntityKey]) -> Mapping[EntityKey, Entity]:
        """Find entities by type and name."""

    def find_by_name(self, name_keys: Collection[str]) -> Mapping[str, Sequence[Entity]]:
        """Find entities of any type whose name, or an alias, has one of these keys; each list by id."""

    def search(self, query: TextQuery, where: EntityFilter, limit: int) -> Sequence[TextHit[str]]:
        """Find entities whose name, alias or texts match `query.strict`, else `query.loose`; best first."""

    def find_similar_names(self, name: str, where: EntityFilter, limit: int) -> Sequence[Entity]:
        """Find entities whose names or aliases share most of their letters' runs of three with `name`.

        Candidates only: the caller decides which are close enough. For names under three characters it may be empty.
        """

    def page(self, where: EntityFilter, order: EntityOrder, limit: int, offset: int = 0) -> Sequence[Entity]:
        """List entities: confidence and last_seen falling, name (by its key) and id rising; ties by id rising."""

    def page_by_id(self, where: EntityFilter, after: str | None, limit: int) -> Sequence[Entity]:
        """List entities by id, from the first past `after`: how all of them are read, however many there are."""

    def count(self, where: EntityFilter) -> int:
        """Count the entities that `where` means."""

    def count_by_type(self) -> Mapping[str, int]:
        """Count entities by the display name of their type."""

    def degrees(self, ids: Collection[str]) -> Mapping[str, int]:
        """Count each entity's current relations, a loop once; entities without any have 0."""

    def aliases(self, ids: Collection[str]) -> Mapping[str, Sequence[Alias]]:
        """List each entity's aliases, by name key."""

    def type_spelling(self, type_keys: Collection[str]) -> Mapping[str, str]:
        """Find the display spelling in use for entity types: that of the entity first stored with each."""

    def evidence(self, ids: Collection[str]) -> Mapping[str, Sequence[Evidence]]:
        """List the evidence for each entity, by `at`, then as added."""

    def find_supported(self, sources: EvidenceSources) -> Sequence[str]:
        """Find the entities that have evidence from any of these sources, by id."""


class EntityWriter(EntityReader, Protocol):
    """Change entities."""

    def find_for_update(self, keys: Collection[EntityKey], ids: Collection[str] = ()) -> Mapping[EntityKey, Entity]:
        """Find entities by key or id and keep others from changing them until the transaction ends.

        Locks are taken in one statement, in the order of the keys, so that writers can't deadlock.
        """

    def put(self, entities: Collection[Entity]) -> None:
        """Add entities or replace those with the same id.

        Raises:
            Conflict: another entity of the tenant has the same key.
        """

    def put_aliases(self, aliases: Collection[Alias]) -> None:
        """Add aliases; one that is there stays as it is."""

    def delete_aliases(self, aliases: Collection[Alias]) -> int:
        """Remove these aliases, by entity and name key."""

    def delete(self, ids: Collection[str]) -> int:
        """Remove entities with their aliases, evidence, mentions and vectors.

        Raises:
            Conflict: a relation, of any version, still ends at one of them.
        """

    def add_evidence(self, evidence: Collection[Evidence]) -> None:
        """Add contributions to entities, in this order."""

    def delete_evidence(self, where: EvidenceFilter) -> Sequence[str]:
        """Remove contributions and return the ids of the entities that lost some, in order."""

    def put_evidence(self, evidence: Mapping[str, Sequence[Evidence]]) -> None:
        """Replace the evidence for these entities, all of it, by what is left."""

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingEntity], str | None]:
        """Read a slice of all entities in the store's own order, and where the next begins (`None`: no more)."""

    def fade(self, faded: Iterable[Faded]) -> int:
        """Set `confidence` and `decayed_at` where the row is still as it was read; return how many were."""


class RelationReader(Protocol):
    """Find relations."""

    def find(self, ids: Collection[str]) -> Mapping[str, Relation]:
        """Find versions by id."""

    def find_current(self, keys: Collection[RelationKey]) -> Mapping[RelationKey, Relation]:
        """Find the current version of each key."""

    def find_from(
        self, source_ids: Collection[str], type_keys: Collection[str] | None, where: RelationFilter
    ) -> Sequence[Relation]:
        """List the relations that leave these entities, of these types (`None`: all), by source id, type key, id."""

    def versions(self, keys: Collection[RelationKey]) -> Mapping[RelationKey, Sequence[Relation]]:
        """List every version of each key, by `ingested_at`, then id."""

    def neighbours(
        self, ids: Collection[str], where: RelationFilter, *, exclude: Collection[str] = (), limit: int
    ) -> Sequence[Relation]:
        """List relations that leave or enter `ids` and whose other end is not in `exclude`; strongest first.

        Ties by id. At most `limit`, so that a hub can't flood a hop: entities already seen go into `exclude`, else
        their own relations come back as the strongest of the next hop. A relation between two of `ids` is listed once,
        unless one of its ends is excluded.
        """

    def between(self, ids: Collection[str], where: RelationFilter, limit: int) -> Sequence[Relation]:
        """List relations that have both ends in `ids`; strongest first, ties by id."""

    def page(self, where: RelationFilter, after: str | None, limit: int) -> Sequence[Relation]:
        """List relations by id, from the first past `after`."""

    def scan_links(self, after: str | None, limit: int) -> tuple[Sequence[Link], str | None]:
        """Read a slice of current relations in the store's order, and where the next begins (`None`: no more)."""

    def count(self, where: RelationFilter) -> int:
        """Count relations."""

    def count_by_type(self, where: RelationFilter) -> Mapping[str, int]:
        """Count relations by the display name of their type."""

    def mean_weight(self, where: RelationFilter) -> float:
        """Return the mean weight, 0 where there are none."""

    def type_spelling(self, type_keys: Collection[str]) -> Mapping[str, str]:
        """Find the display spelling in use for relation types: that of the relation first stored with each."""

    def evidence(self, ids: Collection[str]) -> Mapping[str, Sequence[Evidence]]:
        """List the evidence for each version, by `at`, then as added."""

    def find_supported(self, sources: EvidenceSources) -> Sequence[str]:
        """Find the versions that have evidence from any of these sources, by id."""


class RelationWriter(RelationReader, Protocol):
    """Change relations."""

    def put(self, relations: Collection[Relation]) -> None:
        """Add versions or replace those with the same id; superseded ones first, so that a key moves in one call.

        What counts is how the rows stand in the end, not their order.

        Raises:
            Conflict: a key would have two current versions, or an end does not exist.
        """

    def delete(self, ids: Collection[str]) -> int:
        """Remove versions with their evidence."""

    def delete_of_entities(self, entity_ids: Collection[str]) -> int:
        """Remove every version that leaves or enters these entities, with their evidence."""

    def add_evidence(self, evidence: Collection[Evidence]) -> None:
        """Add contributions to relations, in this order."""

    def delete_evidence(self, where: EvidenceFilter) -> Sequence[str]:
        """Remove contributions and return the ids of the versions that lost some, in order."""

    def put_evidence(self, evidence: Mapping[str, Sequence[Evidence]]) -> None:
        """Replace the evidence for these versions, all of it, by what is left."""

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingRelation], str | None]:
        """Read a slice of current relations in the store's order, and where the next begins (`None`: no more)."""

    def fade(self, faded: Iterable[Faded]) -> int:
        """Set `weight` and `decayed_at` where the row is still as it was read; return how many were."""
