"""Turns as memories: one for each prompt with its answer, which grows while the assistant writes."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.entities import Provenance, SourceType
from graph_memory.domain.ledger import Tombstone
from graph_memory.domain.linking import structure_synapses
from graph_memory.domain.memories import GLOBAL_PROJECT, ConnectionType, Memory, Source
from graph_memory.domain.tombstones import source_graves
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from graph_memory.services.forgotten_rows import find_forgotten
from graph_memory.services.rewrite import put_memory_text
from graph_memory.services.write import add_memories
from ingest.documents.markdown import inline_tags
from ingest.mentions import Naming, mention, read_names
from ingest.name_index import NameIndex
from ingest.policies import Policies
from ingest.projects import ProjectFolder
from ingest.sources import NO_PROJECT, ProjectRef, find_project_id, put_project, put_session, session_entity_name
from ingest.transcripts.turns import Turn, TurnPart
from ingest.withdrawal import withdraw_mentions

CATEGORY = "context"
_OF_FORGOTTEN = "of a forgotten source"
_TITLE_CHARS = 80
_BETWEEN = "\n\n---\n\n"
_MARKUP = re.compile(r"^[\s#>*\-–—=+`~|]+|[\s`*]+$")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """A turn with the project folder of its working directory, if it has one."""

    turn: Turn
    folder: ProjectFolder | None


@dataclass(frozen=True, slots=True)
class TurnChanges:
    """What is to be stored: turns in order of the conversation, and keys of those dropped, left or taken up again."""

    turns: Sequence[PlacedTurn] = ()
    withdrawn: Sequence[str] = ()
    abandoned: Sequence[str] = ()
    revived: Sequence[str] = ()


@dataclass(slots=True)
class TurnCounts:
    """What storing turns came to."""

    added: int = 0
    grown: int = 0
    known: int = 0
    forgotten: int = 0
    excluded: int = 0
    withdrawn: int = 0
    entities: int = 0
    relations: int = 0
    redacted: int = 0

    @property
    def has_changes(self) -> bool:
        """Tell whether anything was stored or dropped."""
        return bool(self.added or self.grown or self.withdrawn)

    def add(self, other: "TurnCounts") -> None:
        """Add the counts of another part."""
        for name, count in other.as_json().items():
            setattr(self, name, getattr(self, name) + count)

    def as_json(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


@dataclass(slots=True)
class _Work:
    """One batch of turns within a transaction."""

    tx: WriteTransaction
    transcript: str
    now: datetime
    policies: Policies
    index: NameIndex
    counts: TurnCounts = field(default_factory=TurnCounts)
    ids: dict[str, int] = field(default_factory=dict)
    projects: dict[str, ProjectRef] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)


def store_turns(
    tx: WriteTransaction,
    changes: TurnChanges,
    transcript: str,
    now: datetime,
    policies: Policies,
    index: NameIndex,
    is_excluded: Callable[[str], object],
) -> TurnCounts:
    """Store what a reading of a transcript changed; what is known already adds nothing.

    `transcript` is the file's resolved path; `is_excluded` tells which project ids are not learned.
    """
    work = _Work(tx, transcript, now, policies, index)
    work.ids.update(tx.ledger.find_learned(_keys(changes)))
    _withdraw(work, changes.withdrawn)
    placed = _without_forgotten(work, _without_excluded(work, changes.turns, is_excluded))
    new = [it for it in placed if it.turn.key not in work.ids]
    old = [it for it in placed if it.turn.key in work.ids]
    for named in (*_add(work, new), *_grow(work, old)):
        _mention(work, named)
    _mark(work, changes)
    return work.counts


def turn_title(prompt: str) -> str:
    """Return the first line of a prompt that says something, cut at a word."""
    lines = (_MARKUP.sub("", line) for line in prompt.splitlines())
    line = next((" ".join(it.split()) for it in lines if _WORD.search(it)), "") or "Prompt without words"
    if len(line) <= _TITLE_CHARS:
        return line
    cut = line[: _TITLE_CHARS - 1]
    at_word = cut.rsplit(" ", 1)[0] if " " in cut[_TITLE_CHARS // 2 :] else cut
    return at_word.rstrip(" ,;:.") + "…"


def _keys(changes: TurnChanges) -> set[str]:
    keys = {*changes.withdrawn, *changes.abandoned, *changes.revived}
    for placed in changes.turns:
        keys.add(placed.turn.key)
        keys.update(part.key for part in placed.turn.parts)
        if placed.turn.previous_key is not None:
            keys.add(placed.turn.previous_key)
    return keys


def _withdraw(work: _Work, keys: Iterable[str]) -> None:
    """Drop the memories of queued texts that a later line repeated."""
    ids = {work.ids.pop(key) for key in keys if key in work.ids}
    if not ids:
        return
    for id_ in sorted(ids):
        named = {it.entity_id for it in work.tx.memories.mentions_of_memories({id_})}
        withdraw_mentions(work.tx, id_, "", named, work.policies.graph)
    work.tx.ledger.delete_learned(ids)
    work.counts.withdrawn += work.tx.memories.delete(ids)


def _without_forgotten(work: _Work, turns: Sequence[PlacedTurn]) -> Sequence[PlacedTurn]:
    """Leave out what was forgotten; what is of a forgotten source and was not known yet is noted as forgotten too."""
    if not turns:
        return turns
    folders = {it.folder for it in turns if it.folder is not None}
    projects = {it: find_project_id(work.tx, it) for it in folders}
    placed = [(it, GLOBAL_PROJECT if it.folder is None else projects[it.folder]) for it in turns]
    keys = {key for it in turns for key in _keys_of(it.turn)}
    keys.update(key for it, project in placed for key in source_graves(it.turn.session_id, project))
    forgotten = find_forgotten(work.tx, keys)
    if not forgotten:
        return turns
    kept, newly = [], []
    for it, project in placed:
        turn = it.turn
        if forgotten.has_turn(turn.session_id, project, turn.timestamp):
            newly += [key for key in _keys_of(turn) if not forgotten.has_key(key)]
        elif not forgotten.has_key(turn.key):
            parts = tuple(part for part in turn.parts if not forgotten.has_key(part.key))
            kept.append(replace(it, turn=replace(turn, parts=parts)))
    work.tx.ledger.put_tombstones([Tombstone(key, _OF_FORGOTTEN, work.now) for key in newly])
    work.counts.forgotten += len(turns) - len(kept)
    return kept


def _keys_of(turn: Turn) -> Sequence[str]:
    return [turn.key, *(part.key for part in turn.parts)]


def _without_excluded(
    work: _Work, turns: Sequence[PlacedTurn], is_excluded: Callable[[str], object]
) -> Sequence[PlacedTurn]:
    folders = {it.folder for it in turns if it.folder is not None}
    excluded = {it for it in folders if is_excluded(find_project_id(work.tx, it))}
    kept = [it for it in turns if it.folder not in excluded]
    work.counts.excluded += len(turns) - len(kept)
    return kept


def _project(work: _Work, folder: ProjectFolder | None) -> ProjectRef:
    if folder is None:
        return NO_PROJECT
    if folder.root not in work.projects:
        project = work.projects[folder.root] = put_project(work.tx, folder, work.now, work.policies.graph)
        work.index.note([project.project_id])
    return work.projects[folder.root]


class _Named(NamedTuple):
    """A stored turn whose names are to be looked for; `counted` were before, `linked` its wikilinks lead to."""

    memory: Memory
    placed: PlacedTurn
    counted: frozenset[str]
    linked: Sequence[str]


def _add(work: _Work, turns: Sequence[PlacedTurn]) -> Sequence[_Named]:
    """Add the memories of new turns, each joined to the one before it."""
    if not turns:
        return ()
    fresh = [_fresh_parts(work, it.turn) for it in turns]
    drafts = [_draft(it.turn, parts, _project(work, it.folder), work) for it, parts in zip(turns, fresh, strict=True)]
    added = add_memories(work.tx, drafts, work.now, work.policies.memory)
    learned: dict[str, int] = {}
    pairs = []
    for placed, parts, one in zip(turns, fresh, added, strict=True):
        turn = placed.turn
        learned[turn.key] = one.id
        learned.update((part.key, one.id) for part in parts)
        previous = work.ids.get(turn.previous_key) if turn.previous_key is not None else None
        work.ids[turn.key] = one.id
        if previous is not None and not one.is_known:
            pairs.append((previous, one.id))
        work.counts.added += not one.is_known
        work.counts.redacted += sum(one.redactions.values())
    work.tx.ledger.add_learned(learned)
    work.ids.update(learned)
    there = work.tx.memories.find({first for first, _ in pairs}) if pairs else {}
    joined = [pair for pair in pairs if pair[0] in there]
    work.tx.synapses.put(structure_synapses(joined, ConnectionType.SEQUENCE, work.now))
    memories = work.tx.memories.find({one.id for one in added})
    return [
        _Named(memories[one.id], placed, frozenset(), one.mentions)
        for placed, one in zip(turns, added, strict=True)
        if not one.is_known
    ]


def _fresh_parts(work: _Work, turn: Turn) -> tuple[TurnPart, ...]:
    """Return the parts of a turn that no memory has."""
    return tuple(part for part in turn.parts if part.key not in work.ids)


def _draft(turn: Turn, parts: Sequence[TurnPart], project: ProjectRef, work: _Work) -> MemoryDraft:
    title = turn_title(turn.prompt)
    day = (
        []
        if turn.timestamp is None
        else [f"{title} ({turn.timestamp:%Y-%m-%d})", f"{title} ({turn.timestamp:%Y-%m-%d %H:%M})"]
    )
    return MemoryDraft(
        title=title,
        content=_content(turn.prompt, parts),
        category=CATEGORY,
        project_id=project.project_id,
        source=Source.IMPORT,
        session_id=turn.session_id,
        created_at=turn.timestamp,
        content_key=turn.key,
        source_file=work.transcript,
        is_abandoned=turn.is_abandoned,
        other_titles=day,
    )


def _content(prompt: str, parts: Sequence[TurnPart]) -> str:
    answer = "\n\n".join(part.text for part in parts)
    return f"{prompt}{_BETWEEN}{answer}" if answer else prompt


def _grow(work: _Work, turns: Sequence[PlacedTurn]) -> Sequence[_Named]:
    """Add to known turns what the assistant has written since."""
    growing = [(it, parts) for it in turns if (parts := _fresh_parts(work, it.turn))]
    work.counts.known += len(turns) - len(growing)
    if not growing:
        return ()
    memories = work.tx.memories.find({work.ids[it.turn.key] for it, _ in growing})
    counted = _mentions(work.tx, memories)
    grown = []
    for placed, parts in growing:
        memory = memories.get(work.ids[placed.turn.key])
        if memory is None:
            continue
        more = "\n\n".join(part.text for part in parts)
        between = "\n\n" if _BETWEEN in memory.content else _BETWEEN
        text = f"{memory.content}{between}{more}"
        written = put_memory_text(work.tx, memory, memory.title, text, work.now, work.policies.memory, is_growth=True)
        work.tx.ledger.add_learned({part.key: memory.id for part in parts})
        work.ids.update((part.key, memory.id) for part in parts)
        work.counts.grown += 1
        work.counts.redacted += sum(written.redactions.values())
        grown.append(_Named(written.memory, placed, counted.get(memory.id, frozenset()), written.mentions))
    return grown


def _mentions(tx: ReadTransaction, memories: Mapping[int, Memory]) -> Mapping[int, frozenset[str]]:
    found: dict[int, set[str]] = {}
    for one in tx.memories.mentions_of_memories(memories.keys()):
        found.setdefault(one.memory_id, set()).add(one.entity_id)
    return {id_: frozenset(entities) for id_, entities in found.items()}


def _mention(work: _Work, turn: _Named) -> None:
    """Join what a turn names to it and to its session."""
    session = turn.placed.turn.session_id or ""
    provenance = Provenance(SourceType.CONVERSATION, session, transcript=work.transcript)
    if session not in work.sessions:
        project = _project(work, turn.placed.folder)
        work.sessions[session] = put_session(work.tx, session, project, provenance, work.now, work.policies.graph)
        work.index.note([session_entity_name(session)])
    root = None if turn.placed.folder is None else turn.placed.folder.root
    naming = Naming(
        turn.memory.id,
        work.sessions[session],
        read_names(turn.memory.content, work.index, tags=inline_tags(turn.memory.content), root=root),
        provenance,
        linked_ids=turn.linked,
        counted_ids=turn.counted,
    )
    named = mention(work.tx, naming, work.now, work.policies.graph)
    work.index.note(named.created)
    work.counts.entities += len(named.created)
    work.counts.relations += named.relations_created


def _mark(work: _Work, changes: TurnChanges) -> None:
    """Mark what a rewind left, and what was taken up again."""
    flags = dict.fromkeys(changes.abandoned, True) | dict.fromkeys(changes.revived, False)
    flags.update((it.turn.key, it.turn.is_abandoned) for it in changes.turns)
    wanted = {work.ids[key]: flag for key, flag in flags.items() if key in work.ids}
    memories = work.tx.memories.find(wanted.keys())
    changed = [replace(it, is_abandoned=wanted[it.id]) for it in memories.values() if it.is_abandoned != wanted[it.id]]
    if changed:
        work.tx.memories.put(changed)
