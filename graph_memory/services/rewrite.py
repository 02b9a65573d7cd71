"""Changing a stored memory: its earlier text is kept, its links follow the new one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from graph_memory.domain.audit import audit_event
from graph_memory.domain.drafts import Redactor, clean_content, clean_summary, clean_tags, clean_title
from graph_memory.domain.errors import NotFound
from graph_memory.domain.link_targets import link_target
from graph_memory.domain.linking import AUTO_AGAIN, choose_neighbours, is_rewritten, new_synapse, strengthened
from graph_memory.domain.memories import (
    ConnectionType,
    Direction,
    Memory,
    MemoryVersion,
    Mention,
    Synapse,
    SynapseFilter,
    SynapseKey,
)
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.queries import TextHit
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from graph_memory.services.links import (
    AmbiguousLink,
    TextLinks,
    answer_open_links,
    count_targets,
    make_room,
    resolve_texts,
    write_again,
)
from graph_memory.services.neighbours import find_alike
from graph_memory.services.settling import settled_weights
from graph_memory.services.write import redaction_events, slugs_of, title_conflict

_ALL_LINKS = 10_000
"""More than a memory has: what people link to has no bound of ours."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What changing a memory came to; where nothing differed `is_changed` is false and the rest is as it was."""

    memory: Memory
    is_changed: bool = True
    wikilinks_resolved: int = 0
    broken_wikilinks: tuple[str, ...] = ()
    ambiguous_wikilinks: tuple[AmbiguousLink, ...] = ()
    wikilinks_dropped: int = 0
    auto_links_created: int = 0
    auto_links_dropped: int = 0
    mentions: tuple[str, ...] = ()
    links_answered: int = 0
    redactions: Mapping[str, int] = field(default_factory=dict)


def put_memory_text(
    tx: WriteTransaction,
    memory: Memory,
    new_title: str,
    new_content: str,
    now: datetime,
    policy: MemoryPolicy,
    *,
    is_growth: bool = False,
    is_auto_linked: bool = True,
) -> Rewritten:
    """Give a stored memory a title and a text; its other fields become those of `memory` as it is passed.

    The earlier text is kept as a version. Wikilinks that are gone from the text go, new ones come, those that stay
    weigh what they did, and 0.5 more for each time they are written more often. Automatic links are found anew: what
    is found again weighs 0.2 more, what isn't goes. A new title answers links that waited for it. With the same title
    and text nothing is linked again, however often it is saved.

    `is_growth` says the new text continues the old one, as a turn does while it is written: no version is kept and
    what is found again isn't strengthened.

    Raises:
        NotFound: the memory is not stored.
        InvalidRequest: the title or the text is empty.
        Conflict: another memory of the project has the title.
    """
    before = tx.memories.find({memory.id}).get(memory.id)
    if before is None:
        raise no_memory(memory.id)
    redactor = Redactor()
    after = replace(
        memory,
        title=clean_title(new_title, redactor),
        content=clean_content(new_content, redactor),
        summary=clean_summary(memory.summary, redactor),
        tags=clean_tags(memory.tags, redactor),
        updated_at=now,
    )
    after = replace(after, slug=_slug(tx, before, after))
    if after == replace(before, updated_at=now):
        return Rewritten(before, is_changed=False)
    is_linked_again = (before.content, before.project_id) != (after.content, after.project_id)
    alike = find_alike(tx, after) if is_linked_again and is_auto_linked else ()
    if not is_growth and (before.title, before.content) != (after.title, after.content):
        tx.memories.add_versions([MemoryVersion(before.id, before.title, before.content, now)])
    tx.memories.put([after])
    changes = _Changes(tx, before, after, now, policy)
    if link_target(before) != link_target(after):
        changes.answer()
    if is_linked_again:
        changes.relink_text()
        changes.relink_alike(alike, is_growth=is_growth)
    result = replace(changes.apply(), redactions=redactor.counts)
    event = audit_event("memory_updated", now, {"memory_id": after.id, "wikilinks": result.wikilinks_resolved})
    tx.upkeep.add_audit([event, *redaction_events(after.id, result.redactions, now)])
    return result


def no_memory(memory_id: int) -> NotFound:
    """Make the error for an id that no memory has."""
    return NotFound(f"id: there is no memory {memory_id}; find one with memory_search or memory_recent")


def _slug(tx: ReadTransaction, before: Memory, after: Memory) -> str:
    """Return the slug of the new title, the old one where it still fits."""
    if (before.title_key, before.project_id) == (after.title_key, after.project_id):
        return before.slug
    for holder in tx.memories.find_by_title({after.title_key}, after.project_id):
        if holder.id != after.id:
            raise title_conflict(holder, is_same=holder.content == after.content)
    slugs = slugs_of(after.title)
    taken = {holder.slug for holder in tx.memories.find_by_slug(slugs, after.project_id) if holder.id != after.id}
    free = [slug for slug in slugs if slug not in taken]
    return before.slug if before.slug in free else free[0]


class _Changes:
    """The synapses that come and go with a new text, gathered and then written at once."""

    def __init__(
        self, tx: WriteTransaction, before: Memory, after: Memory, now: datetime, policy: MemoryPolicy
    ) -> None:
        self._tx, self._before, self._after, self._now, self._policy = tx, before, after, now, policy
        self._put: dict[SynapseKey, Synapse] = {}
        self._gone: dict[SynapseKey, None] = {}
        self._new_automatic = set[SynapseKey]()
        self._answered = 0
        self._links = TextLinks({})

    def answer(self) -> None:
        """Answer the links that waited for the new title."""
        answered = answer_open_links(self._tx, [self._after], self._now, self._policy)
        self._put.update((synapse.key, synapse) for synapse in answered)
        self._answered = sum(synapse.target_id == self._after.id for synapse in answered)

    def relink_text(self) -> None:
        """Take out the wikilinks that are gone from the text and put in those that are new."""
        texts = [(it, count_targets(it.content)) for it in (self._before, self._after)]
        old, new = resolve_texts(self._tx, texts)
        self._links = new
        existing = {it.target_id: it.key for it in self._of(ConnectionType.WIKILINK, Direction.OUT)}
        stale = [key for target, key in existing.items() if target in old.times and target not in new.times]
        self._gone.update(dict.fromkeys(stale))
        # A link that is there counts what is written more often; one that isn't counts what is written.
        more = {
            target: count - (old.times.get(target, 0) if target in existing else 0)
            for target, count in new.times.items()
        }
        growing = {target: count for target, count in more.items() if count > 0}
        written = write_again(self._tx, {self._after.id: growing}, self._now, self._policy)
        self._put.update((synapse.key, synapse) for synapse in written)
        self._wait_for(new)
        self._mention(old, new)

    def relink_alike(self, hits: Sequence[TextHit[int]], *, is_growth: bool) -> None:
        """Take out the automatic links that the new text doesn't bear out and put in those it makes."""
        existing = {it.key: it for it in self._of(ConnectionType.BM25_AUTO, Direction.OUT)}
        weights = settled_weights(self._tx, existing.values(), self._now, self._policy)
        chosen = {
            SynapseKey(self._after.id, near.memory_id, ConnectionType.BM25_AUTO): near.weight
            for near in choose_neighbours(hits)
        }
        for key, weight in chosen.items():
            if key not in existing:
                self._new_automatic.add(key)
                self._put[key] = new_synapse(key, weight, self._now)
            elif not is_growth:
                self._put[key] = strengthened(existing[key], weights[key], AUTO_AGAIN, self._now)
        self._gone.update(dict.fromkeys(key for key in existing if key not in chosen))
        has_moved = self._before.project_id != self._after.project_id
        if has_moved or is_rewritten(self._before.content, self._after.content):
            # Others found the old text alike; what they would find now is known only as far as it finds them.
            found = {hit.ref for hit in hits}
            incoming = self._of(ConnectionType.BM25_AUTO, Direction.IN)
            self._gone.update(dict.fromkeys(it.key for it in incoming if it.source_id not in found))

    def apply(self) -> Rewritten:
        """Write what was gathered and tell what it came to."""
        dropped = set[SynapseKey]()
        if self._gone:
            self._tx.synapses.delete(self._gone.keys())
        if self._put:
            self._tx.synapses.put(self._put.values())
            ends = {end for key in self._put for end in (key.source_id, key.target_id)}
            dropped.update(make_room(self._tx, ends))
        return Rewritten(
            memory=self._after,
            wikilinks_resolved=len(self._links.times),
            broken_wikilinks=self._links.broken,
            ambiguous_wikilinks=self._links.ambiguous,
            wikilinks_dropped=sum(key.connection_type is ConnectionType.WIKILINK for key in self._gone),
            auto_links_created=len(self._new_automatic - dropped),
            auto_links_dropped=sum(key.connection_type is ConnectionType.BM25_AUTO for key in self._gone),
            mentions=self._links.entity_ids,
            links_answered=self._answered,
        )

    def _of(self, connection_type: ConnectionType, direction: Direction) -> Sequence[Synapse]:
        where = SynapseFilter(frozenset({connection_type}), direction=direction)
        return self._tx.synapses.of_memories({self._after.id}, where, limit=_ALL_LINKS)

    def _wait_for(self, links: TextLinks) -> None:
        """Keep the links that nothing answers, and no others."""
        wanted = {link.target_key: link for link in links.open_links(self._after.id)}
        waiting = {link.target_key: link for link in self._tx.memories.open_links({self._after.id})}
        if gone := [link for key, link in waiting.items() if key not in wanted]:
            self._tx.memories.delete_open_links(gone)
        if new := [link for key, link in wanted.items() if waiting.get(key) != link]:
            self._tx.memories.put_open_links(new)

    def _mention(self, old: TextLinks, new: TextLinks) -> None:
        """Drop the mentions that only links made which are gone; those that the text itself made stay."""
        gone = set(old.entity_ids) - set(new.entity_ids)
        mentions = [Mention(self._after.id, entity, self._now) for entity in new.entity_ids]
        if gone:
            made = self._tx.memories.mentions_of_memories({self._after.id})
            mentions = [it for it in made if it.entity_id not in gone] + mentions
            self._tx.memories.delete_mentions({self._after.id})
        if mentions:
            self._tx.memories.add_mentions(mentions)
