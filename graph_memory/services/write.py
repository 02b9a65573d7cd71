"""Adding memories: check, redact, store, link; all of it in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from graph_memory.domain.audit import audit_event
from graph_memory.domain.drafts import MemoryDraft, PreparedDraft, prepare_draft
from graph_memory.domain.errors import Conflict
from graph_memory.domain.ledger import AuditEvent
from graph_memory.domain.linking import choose_neighbours, new_synapse, structure_synapses
from graph_memory.domain.memories import ConnectionType, Memory, Mention, Synapse, SynapseKey
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.names import memory_slug, name_key, short_hash, suffixed_memory_slug
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import Principal
from graph_memory.domain.queries import TextHit
from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction
from graph_memory.services.links import (
    AmbiguousLink,
    ForeignLink,
    TextLinks,
    answer_open_links,
    count_targets,
    make_room,
    resolve_texts,
    write_again,
)
from graph_memory.services.mentioning import count_mentions
from graph_memory.services.neighbours import find_alike

_LONG_SUFFIX = 16


@dataclass(frozen=True, slots=True)
class Added:
    """What adding a memory came to.

    `is_known`: its content key was stored before, under `id`, and nothing was done. `wikilinks_resolved` counts the
    memories its text links to, `auto_links_created` the automatic links that found room. `mentions` are the ids of
    entities its links name. `links_answered` counts links of other memories that waited for it.
    """

    id: int
    slug: str
    title: str
    wikilinks_resolved: int = 0
    broken_wikilinks: tuple[str, ...] = ()
    ambiguous_wikilinks: tuple[AmbiguousLink, ...] = ()
    foreign_wikilinks: tuple[ForeignLink, ...] = ()
    auto_links_created: int = 0
    mentions: tuple[str, ...] = ()
    links_answered: int = 0
    expires_at: datetime | None = None
    warnings: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    is_known: bool = False


class MemoryWrite:
    """Writes memories, one transaction a call."""

    def __init__(
        self, store: Store, clock: Callable[[], datetime], policy: MemoryPolicy, graph_policy: GraphPolicy
    ) -> None:
        self._store, self._clock, self._policy, self._graph_policy = store, clock, policy, graph_policy

    def add(self, principal: Principal, draft: MemoryDraft) -> Added:
        """Add a memory; see `add_memory`. The entities that its links name gain by that.

        Raises:
            InvalidRequest: an argument can't be used.
            Conflict: the title is taken in the project; the id of the memory that has it is named.
        """
        now = self._clock()

        def work(tx: WriteTransaction) -> Added:
            added = add_memory(tx, draft, now, self._policy)
            count_mentions(tx, [Mention(added.id, it, now) for it in added.mentions], now, self._graph_policy)
            return added

        return self._store.write(principal, work)


def add_memory(tx: WriteTransaction, draft: MemoryDraft, now: datetime, policy: MemoryPolicy) -> Added:
    """Add one memory with its tags and links.

    Raises:
        InvalidRequest: an argument can't be used.
        Conflict: the title is taken in the project; `existing_id` is the memory that has it.
    """
    return add_memories(tx, [draft], now, policy)[0]


def add_memories(
    tx: WriteTransaction,
    drafts: Sequence[MemoryDraft],
    now: datetime,
    policy: MemoryPolicy,
    *,
    links_within: bool = True,
) -> Sequence[Added]:
    """Add memories in this order, and answer in it; all or none.

    The whole set costs few round trips more than one memory. Its texts find each other's titles in wikilinks; whether
    automatic links join them as well is `links_within` (no for the parts of one document, which speak of the same by
    nature). A draft whose content key is stored is answered with `is_known`.

    Raises:
        InvalidRequest: an argument of a draft can't be used.
        Conflict: a title is taken in its project.
    """
    prepared = [prepare_draft(draft, now, policy) for draft in drafts]
    known = _known(tx, prepared)
    fresh = _without_repeats(prepared, known)
    named = _name(tx, fresh)
    stored, alike = _store(tx, named, links_within=links_within)
    linked = _link(tx, stored, alike, now, policy)
    added = [_added(memory, draft, links) for (memory, draft), links in zip(stored, linked, strict=True)]
    tx.upkeep.add_audit([event for one in added for event in _events(one, now)])
    by_key = {memory.content_key: one for (memory, _), one in zip(stored, added, strict=True)}
    answers = iter(added)
    is_fresh = {id(draft) for draft in fresh}
    return [
        next(answers) if id(draft) in is_fresh else _already(draft.memory.content_key, known, by_key)
        for draft in prepared
    ]


def add_parts(tx: WriteTransaction, parent_id: int, part_ids: Sequence[int], now: datetime) -> None:
    """Join the parts of a document to their parent, and each to the next one."""
    children = structure_synapses([(parent_id, part) for part in part_ids], ConnectionType.PARENT_CHILD, now)
    tx.synapses.put([*children, *_sequence(part_ids, now)])


def add_sequence(tx: WriteTransaction, memory_ids: Sequence[int], now: datetime) -> None:
    """Join neighbouring memories of a conversation, each to the next one; repeated ids are one place."""
    tx.synapses.put(_sequence(memory_ids, now))


def _sequence(ids: Sequence[int], now: datetime) -> Sequence[Synapse]:
    pairs = [(a, b) for a, b in pairwise(ids) if a != b]
    return structure_synapses(pairs, ConnectionType.SEQUENCE, now)


def _known(tx: ReadTransaction, prepared: Sequence[PreparedDraft]) -> Mapping[str, Memory]:
    keys = {draft.memory.content_key for draft in prepared if draft.memory.content_key is not None}
    return tx.memories.find_by_content_key(keys) if keys else {}


def _without_repeats(prepared: Sequence[PreparedDraft], known: Mapping[str, Memory]) -> Sequence[PreparedDraft]:
    """List the drafts that are to be stored: the first of each content key that isn't."""
    seen = set[str]()
    fresh = []
    for draft in prepared:
        key = draft.memory.content_key
        if key is None or (key not in known and key not in seen):
            fresh.append(draft)
        seen.update({key} if key is not None else set())
    return fresh


def _already(key: str | None, known: Mapping[str, Memory], batch: Mapping[str | None, Added]) -> Added:
    if key is None or key not in known:
        return replace(batch[key], is_known=True)
    memory = known[key]
    return Added(memory.id, memory.slug, memory.title, expires_at=memory.expires_at, is_known=True)


def _name(tx: ReadTransaction, drafts: Sequence[PreparedDraft]) -> Sequence[tuple[Memory, PreparedDraft]]:
    """Give each draft a title and a slug that are free in its project."""
    named = {}
    for project in dict.fromkeys(draft.memory.project_id for draft in drafts):
        mine = [draft for draft in drafts if draft.memory.project_id == project]
        titles = {title for draft in mine for title in draft.titles}
        by_title = {it.title_key: it for it in tx.memories.find_by_title({name_key(it) for it in titles}, project)}
        slugs = {slug for title in titles for slug in slugs_of(title)}
        taken = {memory.slug for memory in tx.memories.find_by_slug(slugs, project)}
        for draft in mine:
            title = _free_title(draft, by_title)
            slug = next(slug for slug in slugs_of(title) if slug not in taken)
            memory = replace(draft.memory, title=title, slug=slug)
            by_title[memory.title_key] = memory
            taken.add(slug)
            named[id(draft)] = memory
    return [(named[id(draft)], draft) for draft in drafts]


def slugs_of(title: str) -> Sequence[str]:
    """List the slugs that a title may have, best first; the last is its own by the length of its hash."""
    return (
        memory_slug(title),
        suffixed_memory_slug(title),
        f"{memory_slug(title)}-{short_hash(name_key(title), _LONG_SUFFIX)}",
    )


def _free_title(draft: PreparedDraft, by_title: Mapping[str, Memory]) -> str:
    for title in draft.titles:
        if name_key(title) not in by_title:
            return title
    holder = by_title[name_key(draft.titles[0])]
    raise title_conflict(holder, is_same=holder.content == draft.memory.content)


def title_conflict(holder: Memory, *, is_same: bool) -> Conflict:
    """Make the error for a title that another memory of the project has."""
    what = "and this very text: it is already known" if is_same else "in this project"
    text = f"title: memory {holder.id} has this title {what}; memory_get shows it, or choose another title"
    return Conflict(text, existing_id=holder.id or None)


def _store(
    tx: WriteTransaction, named: Sequence[tuple[Memory, PreparedDraft]], *, links_within: bool
) -> tuple[Sequence[tuple[Memory, PreparedDraft]], Sequence[Sequence[TextHit[int]]]]:
    """Store memories and find what each is like among those stored before it."""
    stored, alike = [], []
    for part in [[one] for one in named] if links_within else [named]:
        alike.extend([find_alike(tx, memory) if draft.is_auto_linked else () for memory, draft in part])
        ids = tx.memories.add([memory for memory, _ in part])
        stored.extend([(replace(memory, id=id_), draft) for (memory, draft), id_ in zip(part, ids, strict=True)])
    return stored, alike


@dataclass(frozen=True, slots=True)
class _Linked:
    """The links of one new memory."""

    text: TextLinks
    automatic: int
    answered: int


def _link(
    tx: WriteTransaction,
    stored: Sequence[tuple[Memory, PreparedDraft]],
    alike: Sequence[Sequence[TextHit[int]]],
    now: datetime,
    policy: MemoryPolicy,
) -> Sequence[_Linked]:
    memories = [memory for memory, _ in stored]
    if not memories:
        return ()
    answered = answer_open_links(tx, memories, now, policy)
    links = resolve_texts(tx, [(memory, count_targets(memory.content)) for memory in memories])
    written = write_again(tx, {it.id: found.times for it, found in zip(memories, links, strict=True)}, now, policy)
    automatic = [
        new_synapse(SynapseKey(memory.id, near.memory_id, ConnectionType.BM25_AUTO), near.weight, now)
        for memory, hits in zip(memories, alike, strict=True)
        for near in choose_neighbours(hits)
    ]
    put_links(tx, memories, links, now)
    synapses = [*answered, *written, *automatic]
    if synapses:
        tx.synapses.put(synapses)
        dropped = set(make_room(tx, {end for it in synapses for end in (it.source_id, it.target_id)}))
        automatic = [synapse for synapse in automatic if synapse.key not in dropped]
    return [
        _Linked(
            found,
            sum(synapse.source_id == memory.id for synapse in automatic),
            sum(synapse.target_id == memory.id for synapse in answered),
        )
        for memory, found in zip(memories, links, strict=True)
    ]


def put_links(tx: WriteTransaction, memories: Sequence[Memory], links: Sequence[TextLinks], now: datetime) -> None:
    """Keep what the links of texts lead to besides memories: open links and mentions of entities."""
    pairs = list(zip(memories, links, strict=True))
    waiting = [link for memory, found in pairs for link in found.open_links(memory.id)]
    if waiting:
        tx.memories.put_open_links(waiting)
    mentions = [Mention(memory.id, entity, now) for memory, found in pairs for entity in found.entity_ids]
    if mentions:
        tx.memories.add_mentions(mentions)


def _added(memory: Memory, draft: PreparedDraft, links: _Linked) -> Added:
    return Added(
        id=memory.id,
        slug=memory.slug,
        title=memory.title,
        wikilinks_resolved=len(links.text.times),
        broken_wikilinks=links.text.broken,
        ambiguous_wikilinks=links.text.ambiguous,
        foreign_wikilinks=links.text.foreign,
        auto_links_created=links.automatic,
        mentions=links.text.entity_ids,
        links_answered=links.answered,
        expires_at=memory.expires_at,
        warnings=draft.warnings,
        redactions=draft.redactions,
    )


def _events(added: Added, now: datetime) -> Sequence[AuditEvent]:
    counts = {"wikilinks": added.wikilinks_resolved, "auto_links": added.auto_links_created}
    event = audit_event("memory_added", now, {"memory_id": added.id, **counts})
    return [event, *redaction_events(added.id, added.redactions, now)]


def redaction_events(memory_id: int, redactions: Mapping[str, int], now: datetime) -> Sequence[AuditEvent]:
    """Make the event that tells how many secrets a text had; none where it had none."""
    return [audit_event("redacted", now, {"memory_id": memory_id, **redactions})] if redactions else []
