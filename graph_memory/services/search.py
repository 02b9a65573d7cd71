"""Finding memories by text, by age and by id."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.link_targets import LinkIndex, link_target, target_id
from graph_memory.domain.memories import Memory, MemoryFilter, MemoryOrder, Synapse, SynapseFilter
from graph_memory.domain.names import name_key, slugify
from graph_memory.domain.principal import Principal
from graph_memory.domain.queries import TextHit, TextQuery
from graph_memory.domain.ranking import Candidate, best_first
from graph_memory.domain.snippets import make_snippet
from graph_memory.domain.text_queries import parse_query, written_literally
from graph_memory.domain.wikilinks import find_wikilinks, render_wikilinks
from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction
from graph_memory.services.rewrite import no_memory

MAX_LIMIT = 100
BLOCK = 100
"""Hits are ranked in blocks of so many, so that a page doesn't depend on how far the caller reads."""
SHOWN_SYNAPSES = 100
COUNTED_SYNAPSES = 1_000
"""Synapses of a memory that an access of it counts for, the heaviest."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that a text was found in; `rank` orders, larger is better. Links in the texts are shown by title."""

    memory: Memory
    rank: float
    snippet: str


@dataclass(frozen=True, slots=True)
class FoundPage:
    """Some of the memories found, best first; `next_offset` is where the rest begins, `None` without one."""

    found: tuple[Found, ...]
    next_offset: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Some memories of a listing, links shown by title; `next_offset` is where the rest begins, `None` without one."""

    memories: tuple[Memory, ...]
    next_offset: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkedMemory:
    """A synapse with the title of the memory at its other end."""

    synapse: Synapse
    other_id: int
    other_title: str


@dataclass(frozen=True, slots=True)
class OpenedMemory:
    """A memory, links in its text shown by title; `synapses` are the heaviest, where they were asked for.

    Counts of accesses are those after this one. `synapse_count` is up to a thousand.
    """

    memory: Memory
    synapses: tuple[LinkedMemory, ...] = ()
    synapse_count: int = 0


class MemorySearch:
    """Finds memories; only `get` changes anything, and only counts of accesses."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock

    def search(
        self, principal: Principal, query: str, where: MemoryFilter, *, limit: int = 20, offset: int = 0
    ) -> FoundPage:
        """Find memories by a text as people type it; never fails for the text, and an empty one finds nothing.

        What has all the words, or satisfies the operators, comes before what has some. Within each the order is that
        of `best_first`, in blocks of a hundred hits. More than 100 at a time aren't given, with a warning.

        Raises:
            InvalidRequest: `limit` is under 1, or `offset` is negative.
        """
        size, warnings = _page_size(limit, offset)
        parsed = parse_query(query)
        if parsed.strict is None:
            return FoundPage((), warnings=warnings)
        page = self._store.read(principal, lambda tx: _search(tx, parsed, where, size, offset))
        return replace(page, warnings=warnings)

    def recent(self, principal: Principal, where: MemoryFilter, *, limit: int = 20, offset: int = 0) -> MemoryPage:
        """List memories, newest first; more than 100 at a time aren't given, with a warning.

        Raises:
            InvalidRequest: `limit` is under 1, or `offset` is negative.
        """
        size, warnings = _page_size(limit, offset)

        def work(tx: ReadTransaction) -> MemoryPage:
            page = tx.memories.page(where, MemoryOrder.NEWEST, size + 1, offset)
            shown = tuple(show_links(tx, page[:size]))
            return MemoryPage(shown, offset + size if len(page) > size else None, warnings)

        return self._store.read(principal, work)

    def get(self, principal: Principal, memory_id: int, *, include_synapses: bool = False) -> OpenedMemory:
        """Open a memory, which counts as an access of it and of its synapses.

        Raises:
            NotFound: no memory has that id; the text says how to find one.
        """
        now = self._clock()
        return self._store.write(principal, lambda tx: _open(tx, memory_id, now, shows_synapses=include_synapses))


def _page_size(limit: int, offset: int) -> tuple[int, tuple[str, ...]]:
    if limit < 1:
        raise InvalidRequest(f"limit: {limit} is under 1", argument="limit")
    if offset < 0:
        raise InvalidRequest(f"offset: {offset} is negative", argument="offset")
    if limit <= MAX_LIMIT:
        return limit, ()
    return MAX_LIMIT, (f"limit: {limit} is over {MAX_LIMIT} and was taken as {MAX_LIMIT}",)


def _search(tx: ReadTransaction, query: TextQuery, where: MemoryFilter, limit: int, offset: int) -> FoundPage:
    end = offset + limit + 1
    wanted = -(-end // BLOCK) * BLOCK
    ranked = list[tuple[Memory, Candidate]]()
    for hits in _tiers(tx, query, where, wanted):
        for start in range(0, len(hits), BLOCK):
            if len(ranked) < end:
                ranked.extend(_ranked(tx, query, hits[start : start + BLOCK]))
    page = ranked[offset : offset + limit]
    shown = show_links(tx, [memory for memory, _ in page])
    found = [
        Found(memory, hit.rank, make_snippet(memory.content, query))
        for memory, (_, hit) in zip(shown, page, strict=True)
    ]
    return FoundPage(tuple(found), offset + limit if len(ranked) > offset + limit else None)


def _tiers(tx: ReadTransaction, query: TextQuery, where: MemoryFilter, wanted: int) -> Iterator[Sequence[TextHit[int]]]:
    """Yield the hits of the strict reading, then, where these are few, those of the loose one that are new."""
    strict = tx.memories.search(replace(query, loose=None), where, wanted)
    yield strict
    if len(strict) < wanted and query.loose is not None and query.loose != query.strict:
        seen = {hit.ref for hit in strict}
        # As a loose query: the store leaves out words that nearly every text has.
        loose = tx.memories.search(replace(query, strict=None), where, wanted)
        yield [hit for hit in loose if hit.ref not in seen]


def _ranked(tx: ReadTransaction, query: TextQuery, hits: Sequence[TextHit[int]]) -> Sequence[tuple[Memory, Candidate]]:
    memories = tx.memories.find({hit.ref for hit in hits})
    literals, title_key = written_literally(query), name_key(query.text.strip(' "[]'))
    candidates = [
        Candidate(
            hit.ref,
            hit.score,
            it.importance_score,
            it.boost,
            is_literal=_has_all(it, literals),
            is_title=it.title_key == title_key,
        )
        for hit in hits
        if (it := memories.get(hit.ref)) is not None
    ]
    return [(memories[hit.memory_id], hit) for hit in best_first(candidates)]


def _has_all(memory: Memory, literals: Sequence[str]) -> bool:
    if not literals:
        return True
    text = "\n".join((memory.title, memory.content, *memory.tags)).casefold()
    return all(literal in text for literal in literals)


def _open(tx: WriteTransaction, memory_id: int, now: datetime, *, shows_synapses: bool) -> OpenedMemory:
    memory = tx.memories.find({memory_id}).get(memory_id)
    if memory is None:
        raise no_memory(memory_id)
    synapses = tx.synapses.of_memories({memory_id}, SynapseFilter(), limit=COUNTED_SYNAPSES)
    tx.memories.touch({memory_id}, now)
    if synapses:
        tx.synapses.touch({synapse.key for synapse in synapses}, now)
    (shown,) = show_links(tx, [memory])
    opened = replace(shown, accessed_at=now, access_count=memory.access_count + 1)
    linked = _linked(tx, memory_id, synapses[:SHOWN_SYNAPSES]) if shows_synapses else ()
    return OpenedMemory(opened, linked, len(synapses))


def _linked(tx: ReadTransaction, memory_id: int, synapses: Sequence[Synapse]) -> tuple[LinkedMemory, ...]:
    others = {it.key: it.target_id if it.source_id == memory_id else it.source_id for it in synapses}
    titles = {it.id: it.title for it in tx.memories.find(set(others.values())).values()}
    return tuple(LinkedMemory(it, others[it.key], titles[others[it.key]]) for it in synapses)


def show_links(tx: ReadTransaction, memories: Sequence[Memory]) -> Sequence[Memory]:
    """Return memories with links by id or slug shown by their target's title; what is stored stays as written."""
    targets = {it.id: _opaque_targets(it.content) for it in memories}
    wanted = {target for found in targets.values() for target in found}
    if not wanted:
        return memories
    keys = {name_key(target) for target in wanted}
    ids = {id_ for target in wanted if (id_ := target_id(target)) is not None}
    known = dict(tx.memories.find(ids)) if ids else {}
    known.update((it.id, it) for it in tx.memories.find_by_title(keys))
    known.update((it.id, it) for it in tx.memories.find_by_slug(keys))
    index = LinkIndex(map(link_target, known.values()))
    shown = []
    for memory in memories:
        resolved = {target: index.resolve(target, memory.project_id).memory_id for target in targets[memory.id]}
        titles = {target: known[id_].title for target, id_ in resolved.items() if id_ is not None}
        shown.append(replace(memory, content=render_wikilinks(memory.content, titles)) if titles else memory)
    return shown


def _opaque_targets(text: str) -> set[str]:
    """List the targets that may be ids or slugs: what a reader can't take for a title."""
    if "[[" not in text:
        return set()
    targets = {link.target for link in find_wikilinks(text)}
    return {target for target in targets if slugify(target) == target}
