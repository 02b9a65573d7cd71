"""Rows of the memory family. Answers with an order name it; mappings leave out what was not found."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from graph_memory.domain.memories import (
    ConnectionType,
    DecayRate,
    Memory,
    MemoryFilter,
    MemoryOrder,
    MemoryVersion,
    Mention,
    OpenLink,
    Synapse,
    SynapseFilter,
    SynapseKey,
)
from graph_memory.domain.queries import TextHit, TextQuery


class FadingSynapse(NamedTuple):
    """What decay needs of a synapse; `since` is `decayed_at`, else `updated_at`."""

    key: SynapseKey
    source_layer: str
    target_layer: str
    weight: float
    since: datetime
    touched_at: datetime
    """The later of `updated_at` and `accessed_at`."""
    cycle_access_count: int


class FadedSynapse(NamedTuple):
    """A decayed weight, to be written only where the row still has `old`; resets its count of accesses."""

    key: SynapseKey
    old: float
    new: float
    until: datetime


class Degree(NamedTuple):
    """How many synapses, of all kinds, leave and enter a memory."""

    outgoing: int
    incoming: int


class MemoryReader(Protocol):
    """Find memories."""

    def find(self, ids: Collection[int]) -> Mapping[int, Memory]:
        """Find memories by id, tags included."""

    def find_by_content_key(self, keys: Collection[str]) -> Mapping[str, Memory]:
        """Find memories by the key under which ingest knows them."""

    def find_by_title(self, title_keys: Collection[str], project_id: str | None = None) -> Sequence[Memory]:
        """List memories, of any status, with one of these title keys; of one project exactly, or of all; by id."""

    def find_by_slug(self, slugs: Collection[str], project_id: str | None = None) -> Sequence[Memory]:
        """List memories, of any status, with one of these slugs; of one project exactly, or of all; by id."""

    def search(self, query: TextQuery, where: MemoryFilter, limit: int) -> Sequence[TextHit[int]]:
        """Find memories whose title, content or tags match `query.strict`, filled up by `query.loose`; best first.

        What `strict` finds comes before what only `loose` finds. Titles count for more than text. A word in any
        inflection matches; scripts without spaces match by runs of characters.
        """

    def rare_terms(self, text: str, limit: int) -> Sequence[str]:
        """Return the most informative words of `text`: as the index sees them, rarest in the tenant first.

        Words so common that they tell nothing (the store keeps that set, renewed by `WriteTransaction`) are left out,
        ties are broken by the word; words that no memory holds are left out. They are fit to be used in a `Term`.
        """

    def page(self, where: MemoryFilter, order: MemoryOrder, limit: int, offset: int = 0) -> Sequence[Memory]:
        """List memories, tags included."""

    def page_expired(self, now: datetime, unchanged_since: datetime, after: int, limit: int) -> Sequence[int]:
        """List, by id from the first past `after`, the active memories that have had their time.

        Those are the ones whose `expires_at` is `now` or before, and the ephemeral ones without it that last changed at
        `unchanged_since` or before: what `expiry.has_expired` says.
        """

    def count(self, where: MemoryFilter) -> int:
        """Count memories."""

    def count_by(self, field: str, where: MemoryFilter) -> Mapping[str, int]:
        """Count memories by `status`, `layer`, `lifecycle`, `category` or `project_id`."""

    def mentions_of_memories(self, memory_ids: Collection[int]) -> Sequence[Mention]:
        """List the mentions made by these memories, by memory id, then entity id."""

    def mentions_of_entities(self, entity_ids: Collection[str], limit: int) -> Sequence[Mention]:
        """List the mentions of these entities, newest memory first, at most `limit` for each entity."""

    def open_links(self, memory_ids: Collection[int]) -> Sequence[OpenLink]:
        """List the unresolved links of these memories, by memory id, then target key."""

    def find_open_links(self, target_keys: Collection[str]) -> Sequence[OpenLink]:
        """List the unresolved links to these targets, by target key, then memory id."""

    def versions(self, memory_ids: Collection[int]) -> Sequence[MemoryVersion]:
        """List the texts these memories had before, by memory id, then oldest first."""


class MemoryWriter(MemoryReader, Protocol):
    """Change memories."""

    def add(self, memories: Sequence[Memory]) -> Sequence[int]:
        """Add memories and return their ids, in this order; a memory with an id other than 0 keeps it.

        Ids count up within a tenant. What hangs on a memory that is absent is a conflict too.

        Raises:
            Conflict: a title or slug is taken in its project, or a content key or id in the tenant.
        """

    def put(self, memories: Collection[Memory]) -> None:
        """Replace memories with the same ids, tags included.

        Raises:
            Conflict: a title or slug is taken in its project.
            NotFound: no memory has that id.
        """

    def delete(self, ids: Collection[int]) -> int:
        """Remove memories with their tags, synapses, mentions, open links, versions and vectors."""

    def touch(self, ids: Collection[int], at: datetime) -> None:
        """Count one access of each at `at`; nothing else changes."""

    def set_tags(self, memory_id: int, tags: Collection[str]) -> None:
        """Replace the tags of a memory."""

    def add_mentions(self, mentions: Collection[Mention]) -> int:
        """Add mentions; those that are there stay as they are. Return how many are new."""

    def delete_mentions(self, memory_ids: Collection[int]) -> int:
        """Remove the mentions made by these memories."""

    def put_open_links(self, links: Collection[OpenLink]) -> None:
        """Add unresolved links, or replace those of the same memory and target key."""

    def delete_open_links(self, links: Collection[OpenLink]) -> int:
        """Remove unresolved links, by memory and target key."""

    def add_versions(self, versions: Collection[MemoryVersion]) -> None:
        """Keep earlier texts."""

    def put_versions(self, versions: Mapping[int, Sequence[MemoryVersion]]) -> None:
        """Replace the earlier texts of these memories, all of them, by what is left."""

    def renew_common_terms(self) -> int:
        """Make the set of words that tell nothing anew from what is stored; return its size.

        Until the first time, no word is left out. Engines that keep such a set themselves return 0.
        """


class SynapseReader(Protocol):
    """Find synapses."""

    def find(self, keys: Collection[SynapseKey]) -> Mapping[SynapseKey, Synapse]:
        """Find synapses by key."""

    def of_memories(
        self, memory_ids: Collection[int], where: SynapseFilter, *, exclude: Collection[int] = (), limit: int
    ) -> Sequence[Synapse]:
        """List synapses that leave or enter `memory_ids` and whose other end is not in `exclude`; heaviest first.

        Ties by key. A synapse between two of `memory_ids` is listed once, unless one of its ends is excluded.
        """

    def degrees(self, memory_ids: Collection[int]) -> Mapping[int, Degree]:
        """Count the synapses of each memory; memories without any have 0 and 0."""

    def lightest(
        self, memory_id: int, *, outgoing: bool, connection_type: ConnectionType, limit: int
    ) -> Sequence[Synapse]:
        """List the lightest synapses of one type that leave (else enter) a memory; lightest first, ties by key."""

    def count_by_type(self) -> Mapping[str, int]:
        """Count synapses by connection type."""

    def page(self, after: SynapseKey | None, limit: int) -> Sequence[Synapse]:
        """List synapses by key, from the first past `after`."""

    def decay_rates(self) -> Sequence[DecayRate]:
        """List the rows of the decay matrix, by source layer, target layer, type."""


class SynapseWriter(SynapseReader, Protocol):
    """Change synapses."""

    def put(self, synapses: Collection[Synapse]) -> None:
        """Add synapses or replace those with the same key.

        Raises:
            Conflict: an end does not exist.
        """

    def delete(self, keys: Collection[SynapseKey]) -> int:
        """Remove synapses."""

    def touch(self, keys: Collection[SynapseKey], at: datetime) -> None:
        """Count one access of each at `at`; nothing else changes."""

    def put_decay_rates(self, rates: Collection[DecayRate]) -> None:
        """Add rows of the decay matrix or replace those of the same layers and type."""

    def delete_decay_rates(self) -> int:
        """Remove all rows of the decay matrix, so that the built-in rates hold."""

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingSynapse], str | None]:
        """Read a slice of all synapses in the store's own order, and where the next begins (`None`: no more)."""

    def fade(self, faded: Iterable[FadedSynapse]) -> int:
        """Set `weight` and `decayed_at`, and `cycle_access_count` to 0, where the row is still as it was read."""
