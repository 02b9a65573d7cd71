"""What the wikilinks of texts lead to, and links that waited for a memory or an entity to come.

These read and write in the transaction of whoever stores the texts; a set of texts costs as many round trips as one.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from graph_memory.domain.entities import Entity
from graph_memory.domain.link_targets import (
    MAX_CLAIMS,
    Claim,
    ClaimKind,
    LinkIndex,
    Resolution,
    arrival_keys,
    claims_of,
    link_target,
    possible_claims,
    spellings,
    target_id,
)
from graph_memory.domain.linking import (
    MAX_LINKS,
    WIKILINK_AGAIN,
    CrowdedSide,
    new_synapse,
    plan_drops,
    strengthened,
    wikilink_weight,
)
from graph_memory.domain.memories import (
    ConnectionType,
    Direction,
    Memory,
    Mention,
    OpenLink,
    Synapse,
    SynapseFilter,
    SynapseKey,
)
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.names import name_key, slugify
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.wikilinks import find_wikilinks
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from graph_memory.services.mentioning import count_mentions
from graph_memory.services.settling import settled_weights

_ALL_MENTIONS = 1_000_000_000
_ALL_LINKS = 10_000
"""More than a memory has that people link to."""


@dataclass(frozen=True, slots=True)
class AmbiguousLink:
    """A link that may mean several memories, or several entities, equally well; none was chosen."""

    target: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeignLink:
    """A link that only a memory of another project answers."""

    target: str
    memory_id: int
    project_id: str


@dataclass(frozen=True, slots=True)
class TextLinks:
    """What the wikilinks of one text lead to; links that differ in spelling alone are one."""

    times: Mapping[int, int]
    """How often each memory is linked to, in the order of the text; the memory itself is left out."""
    foreign: tuple[ForeignLink, ...] = ()
    broken: tuple[str, ...] = ()
    ambiguous: tuple[AmbiguousLink, ...] = ()
    entity_ids: tuple[str, ...] = ()

    def open_links(self, memory_id: int) -> Sequence[OpenLink]:
        """List the links that stay open."""
        waiting = [OpenLink(memory_id, target) for target in self.broken]
        return waiting + [OpenLink(memory_id, link.target, is_ambiguous=True) for link in self.ambiguous]


def count_targets(text: str) -> Mapping[str, int]:
    """Count the distinct targets of a text's wikilinks, each in its first spelling, in order."""
    if "[[" not in text:
        return {}
    spelled: dict[str, str] = {}
    counts: dict[str, int] = {}
    for link in find_wikilinks(text):
        key = name_key(link.target)
        if key:
            spelled.setdefault(key, link.target.strip())
            counts[key] = counts.get(key, 0) + 1
    return {spelled[key]: count for key, count in counts.items()}


def resolve_texts(tx: ReadTransaction, texts: Sequence[tuple[Memory, Mapping[str, int]]]) -> Sequence[TextLinks]:
    """Find what the links of texts lead to: memories, else the one entity of that name."""
    targets = dict.fromkeys(target for _, counts in texts for target in counts)
    if not targets:
        return [TextLinks({}) for _ in texts]
    memories, index = _index(tx, targets, {memory.project_id for memory, _ in texts})
    resolved = [{target: index.resolve(target, memory.project_id) for target in counts} for memory, counts in texts]
    unanswered = {
        name_key(target)
        for links in resolved
        for target, found in links.items()
        if found.memory_id is None and not found.candidates
    }
    entities = tx.entities.find_by_name(unanswered) if unanswered else {}
    return [
        _links_of(memory.id, counts, links, memories, entities)
        for (memory, counts), links in zip(texts, resolved, strict=True)
    ]


def _links_of(
    memory_id: int,
    counts: Mapping[str, int],
    links: Mapping[str, Resolution],
    memories: Mapping[int, Memory],
    entities: Mapping[str, Sequence[Entity]],
) -> TextLinks:
    times: dict[int, int] = {}
    foreign, broken, ambiguous, mentioned = list[ForeignLink](), list[str](), list[AmbiguousLink](), list[str]()
    for target, found in links.items():
        named = entities.get(name_key(target), ())
        if found.memory_id is not None:
            if found.memory_id != memory_id:
                add_times(times, found.memory_id, counts[target])
            if found.is_foreign:
                foreign.append(ForeignLink(target, found.memory_id, memories[found.memory_id].project_id))
        elif found.candidates:
            ambiguous.append(AmbiguousLink(target, tuple(map(str, found.candidates))))
        elif len(named) == 1:
            mentioned.append(named[0].id)
        elif named:
            ambiguous.append(AmbiguousLink(target, tuple(entity.id for entity in named)))
        else:
            broken.append(target)
    return TextLinks(times, tuple(foreign), tuple(broken), tuple(ambiguous), tuple(dict.fromkeys(mentioned)))


def _candidates(tx: ReadTransaction, targets: Iterable[str]) -> Mapping[int, Memory]:
    """Read every memory that one of the targets may mean."""
    keys, ids = set[str](), set[int]()
    for target in targets:
        keys.update(spelling.key for spelling in spellings(target))
        if (id_ := target_id(target)) is not None:
            ids.add(id_)
    slugs = {key for key in keys if slugify(key) == key}
    found = dict(tx.memories.find(ids)) if ids else {}
    found.update((memory.id, memory) for memory in tx.memories.find_by_title(keys))
    if slugs:
        found.update((memory.id, memory) for memory in tx.memories.find_by_slug(slugs))
    return found


def _index(
    tx: ReadTransaction, targets: Collection[str], project_ids: Collection[str]
) -> tuple[Mapping[int, Memory], LinkIndex]:
    """Read every memory that one of the targets may mean in these projects."""
    memories = dict(_candidates(tx, targets))
    claims = _find_claims(tx, possible_claims(targets, project_ids))
    unread = {id_ for ids in claims.values() for id_ in ids} - memories.keys()
    if unread:
        memories.update(tx.memories.find(unread))
    return memories, LinkIndex(map(link_target, memories.values()), claims)


def _find_claims(tx: ReadTransaction, claims: Collection[Claim]) -> Mapping[Claim, Sequence[int]]:
    found: dict[Claim, list[int]] = {}
    open_ones = list(claims)
    for place in range(MAX_CLAIMS):
        keys = {claim.learned_key(place): claim for claim in open_ones}
        known = tx.ledger.find_learned(keys) if keys else {}
        for key, memory_id in known.items():
            found.setdefault(keys[key], []).append(memory_id)
        open_ones = [keys[key] for key in known]
    return found


def claim_names(tx: WriteTransaction, memory: Memory, wanted_title: str, now: datetime, policy: MemoryPolicy) -> None:
    """Let a memory be meant by the title that it wanted, where another one has that, and by the name of its file.

    For whoever stores documents, after they are stored. Links that waited for such a name are answered; links to
    another memory by a title that is now shared are taken back, since nobody can tell which one is meant.
    """
    claims = claims_of(link_target(memory), wanted_title)
    titled = [Claim(kind, memory.project_id, memory.title_key) for kind in ClaimKind]
    known = _find_claims(tx, {*claims, *titled})
    new = [it for it in claims if memory.id not in known.get(it, ()) and len(known.get(it, ())) < MAX_CLAIMS]
    if new:
        tx.ledger.add_learned({claim.learned_key(len(known.get(claim, ()))): memory.id for claim in new})
    rivals = {id_ for ids in known.values() for id_ in ids}
    if new:
        rivals.update(it.id for it in tx.memories.find_by_title({it.name_key for it in new}, memory.project_id))
    _take_back(tx, rivals - {memory.id})
    if not new:
        return
    synapses = answer_open_links(tx, [memory], now, policy)
    if synapses:
        tx.synapses.put(synapses)
        make_room(tx, {end for it in synapses for end in (it.source_id, it.target_id)})


def _take_back(tx: WriteTransaction, targets: Collection[int]) -> None:
    """Take back the links to these memories that their texts' links no longer mean, and keep them open."""
    if not targets:
        return
    where = SynapseFilter(frozenset({ConnectionType.WIKILINK}), direction=Direction.IN)
    incoming = tx.synapses.of_memories(targets, where, limit=_ALL_LINKS)
    authors = list(tx.memories.find({it.source_id for it in incoming}).values())
    texts = [(it, count_targets(it.content)) for it in authors]
    links = {author.id: found for author, found in zip(authors, resolve_texts(tx, texts), strict=True)}
    gone = [it.key for it in incoming if it.target_id in targets and it.target_id not in links[it.source_id].times]
    if gone:
        tx.synapses.delete(gone)
    unanswered = [it for author in authors for it in links[author.id].open_links(author.id)]
    if unanswered:
        tx.memories.put_open_links(unanswered)


def answer_open_links(
    tx: WriteTransaction, arrived: Collection[Memory], now: datetime, policy: MemoryPolicy
) -> Sequence[Synapse]:
    """Close the links that waited for these memories and return their synapses, to be put.

    A link that several memories of other projects may answer goes on waiting.
    """
    keys = {key for memory in arrived for key in arrival_keys(link_target(memory))}
    waiting = tx.memories.find_open_links(keys)
    if not waiting:
        return ()
    authors = tx.memories.find({link.memory_id for link in waiting})
    _, index = _index(tx, {link.target for link in waiting}, {it.project_id for it in authors.values()})
    closed = list[OpenLink]()
    times: dict[int, dict[int, int]] = {}
    for author_id, links in groupby(sorted(waiting, key=lambda link: link.memory_id), lambda link: link.memory_id):
        author = authors[author_id]
        for link in links:
            target = index.resolve(link.target, author.project_id).memory_id
            if target is not None:
                closed.append(link)
                add_times(times.setdefault(author_id, {}), target, _times_written(author.content, link.target_key))
    tx.memories.delete_open_links(closed)
    return write_again(tx, times, now, policy)


def write_again(
    tx: ReadTransaction, times: Mapping[int, Mapping[int, int]], now: datetime, policy: MemoryPolicy
) -> Sequence[Synapse]:
    """Return the synapses of links that memories have so many times more; a link to oneself makes none.

    A new link weighs 1, each further time it is written adds 0.5 to what it weighs now, up to 5.
    """
    counts = {
        SynapseKey(source, target, ConnectionType.WIKILINK): count
        for source, targets in times.items()
        for target, count in targets.items()
        if source != target
    }
    existing = tx.synapses.find(counts) if counts else {}
    weights = settled_weights(tx, existing.values(), now, policy)
    return [
        strengthened(existing[key], weights[key], WIKILINK_AGAIN * count, now)
        if key in existing
        else new_synapse(key, wikilink_weight(count), now)
        for key, count in counts.items()
    ]


def _times_written(text: str, target_key: str) -> int:
    """Count the links to a target in a text; the text is only read as Markdown where it seems to have several."""
    spaced = r"\s+".join(map(re.escape, target_key.split()))
    if len(re.findall(rf"\[\[\s*{spaced}", text.casefold())) == 1:
        return 1
    counts = {name_key(target): count for target, count in count_targets(text).items()}
    return counts.get(target_key, 1)


def add_times(times: dict[int, int], memory_id: int, count: int) -> None:
    """Count further links to a memory."""
    times[memory_id] = times.get(memory_id, 0) + count


def answer_with_entities(tx: WriteTransaction, entities: Collection[Entity], now: datetime, policy: GraphPolicy) -> int:
    """Turn links that waited for something with the name of one of these entities into mentions; return how many.

    A name that several entities have answers nothing. Mentions by memories that ingest made are counted when their text
    is read again for all that is new in it.
    """
    waiting = tx.memories.find_open_links({name_key(entity.name) for entity in entities})
    if not waiting:
        return 0
    named = tx.entities.find_by_name({link.target_key for link in waiting})
    closed = [link for link in waiting if not link.is_ambiguous and len(named.get(link.target_key, ())) == 1]
    mentions = [Mention(it.memory_id, named[it.target_key][0].id, now) for it in closed]
    tx.memories.add_mentions(mentions)
    authors = tx.memories.find({it.memory_id for it in mentions})
    count_mentions(tx, [it for it in mentions if authors[it.memory_id].content_key is None], now, policy)
    return tx.memories.delete_open_links(closed)


def authors_that_name(tx: ReadTransaction, entity_ids: Collection[str]) -> Sequence[Memory]:
    """Find the memories that mention these entities, by id."""
    mentions = tx.memories.mentions_of_entities(entity_ids, _ALL_MENTIONS) if entity_ids else ()
    return [it for _, it in sorted(tx.memories.find({it.memory_id for it in mentions}).items())]


def leave_open(tx: WriteTransaction, memories: Sequence[Memory]) -> None:
    """Let the links of these memories that nothing answers any more wait for something of that name.

    For whoever deletes what they led to, behind that.
    """
    links = resolve_texts(tx, [(it, count_targets(it.content)) for it in memories])
    waiting = [link for memory, found in zip(memories, links, strict=True) for link in found.open_links(memory.id)]
    if waiting:
        tx.memories.put_open_links(waiting)


def make_room(tx: WriteTransaction, memory_ids: Collection[int]) -> Sequence[SynapseKey]:
    """Let the lightest automatic links give way where more than 50 leave or enter a memory; return what went."""
    sides = []
    for memory_id, degree in sorted(tx.synapses.degrees(memory_ids).items()):
        for is_outgoing, count in ((True, degree.outgoing), (False, degree.incoming)):
            if count > MAX_LINKS:
                excess = count - MAX_LINKS
                automatic = tx.synapses.lightest(
                    memory_id, outgoing=is_outgoing, connection_type=ConnectionType.BM25_AUTO, limit=excess
                )
                sides.append(CrowdedSide(memory_id, is_outgoing, excess, automatic))
    dropped = plan_drops(sides)
    if dropped:
        tx.synapses.delete(dropped)
    return dropped
