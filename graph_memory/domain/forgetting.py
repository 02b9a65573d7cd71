"""Forgetting one source: what a reach means, and what is left of a graph that others support too."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TypeAlias

from graph_memory.domain.entities import Entity, Evidence, EvidenceKind, JsonValue
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.relations import Relation
from graph_memory.domain.supersession import true_since
from graph_memory.domain.time_spans import TimeSpan
from graph_memory.domain.weights import folded

Support: TypeAlias = Mapping[str, Sequence[Evidence]]
"""Evidence by what it supports, in order of `at`."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What is to be forgotten: all that came from one source. `dates` are the source's own time, not that of learning.

    Exactly one part is given: `checked` sees to that.
    """

    source_session: str | None = None
    source_file: str | None = None
    entity_id: str | None = None
    memory_id: int | None = None
    project: str | None = None
    dates: TimeSpan | None = None

    @property
    def kind(self) -> str:
        """The name of the part that is given."""
        return next((it.name for it in fields(self) if getattr(self, it.name) is not None), "")

    def checked(self) -> "Reach":
        """Return it, if exactly one part is given and says something.

        Raises:
            InvalidRequest: none is, or several are, or it is empty.
        """
        given = [it.name for it in fields(self) if getattr(self, it.name) is not None]
        names = "source_session, source_file, entity_id, memory_id, project, or before with after"
        if len(given) != 1:
            text = f"{', '.join(given)} are given together" if given else "nothing to forget is named"
            raise InvalidRequest(f"{text}; give exactly one of {names}", argument=(given or [""])[0])
        value = getattr(self, given[0])
        if isinstance(value, str) and not value.strip():
            raise InvalidRequest(f"{given[0]}: is empty", argument=given[0])
        return self


def reach_of_dates(after: datetime | None, before: datetime | None) -> TimeSpan | None:
    """Make a stretch of time of its ends, the first in it, the last not; `None` where neither is given.

    Raises:
        InvalidRequest: one is missing, or they are the wrong way round.
    """
    if after is None and before is None:
        return None
    if after is None or before is None:
        missing = "after" if after is None else "before"
        raise InvalidRequest(f"{missing}: is missing; a stretch of time has two ends", argument=missing)
    if before <= after:
        raise InvalidRequest("before: is not later than after", argument="before")
    return TimeSpan(after, before)


@dataclass(frozen=True, slots=True)
class ErasedSource:
    """What is to be erased beside the store: documents, turns by their keys, whole sessions, a project.

    `paths` are those of documents that were learned or failed, `documents` their sizes by content key; `file` is one
    that was named, whatever waits there now. `names` are the names and ids of entities that go.
    """

    paths: frozenset[str] = frozenset()
    file: str | None = None
    documents: Mapping[str, int] = field(default_factory=dict)
    turns: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    project: str | None = None
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CopyCounts:
    """How many files beside the store hold what is forgotten: of the inbox, of the archive; and lines of the audit."""

    inbox: int = 0
    archive: int = 0
    audit: int = 0

    def plus(self, other: "CopyCounts") -> "CopyCounts":
        """Add what another pass found."""
        return CopyCounts(self.inbox + other.inbox, self.archive + other.archive, self.audit + other.audit)


@dataclass(frozen=True, slots=True)
class Affected:
    """The rows that a forgetting may change, with all evidence for them.

    `rivals` are the versions that leave the same entities by the same types as the relations. `hollow` are entities to
    be removed unless something else holds them; `doomed` those that are forgotten themselves, with all their relations.
    `held` are entities that something that stays still names.
    """

    entities: Mapping[str, Entity]
    entity_evidence: Support
    relations: Mapping[str, Relation]
    relation_evidence: Support
    rivals: Sequence[Relation] = ()
    doomed: frozenset[str] = frozenset()
    hollow: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GraphLoss:
    """What forgetting does to the graph: rows that change with the evidence that is left for them, and ids that go."""

    entities: Mapping[str, Entity] = field(default_factory=dict)
    entity_evidence: Support = field(default_factory=dict)
    relations: Mapping[str, Relation] = field(default_factory=dict)
    relation_evidence: Support = field(default_factory=dict)
    gone_entities: frozenset[str] = frozenset()
    gone_relations: frozenset[str] = frozenset()

    @property
    def touched_entities(self) -> frozenset[str]:
        """The ids of the entities that go or change."""
        return self.gone_entities.union(self.entities)


def plan_loss(affected: Affected, is_lost: Callable[[Evidence], bool], policy: GraphPolicy) -> GraphLoss:
    """Decide what becomes of rows that lose evidence.

    Weights and confidences are folded anew from what is left. A relation without any goes; an entity without any goes
    too, unless a relation that stays, or whatever `held` knows of, still ends at it: then only its name is left.
    """
    relations, relation_evidence, gone_relations = _relations_left(affected, is_lost, policy)
    ends = {
        end for it in affected.relations.values() if it.id not in gone_relations for end in (it.source_id, it.target_id)
    }
    held = (affected.held | ends) - affected.doomed
    entities: dict[str, Entity] = {}
    entity_evidence: dict[str, Sequence[Evidence]] = {}
    gone_entities = set(affected.doomed)
    for id_, entity in affected.entities.items():
        pieces = affected.entity_evidence.get(id_, ())
        lost = [it for it in pieces if is_lost(it)]
        kept = [it for it in pieces if not is_lost(it)]
        if id_ in affected.doomed:
            continue
        is_empty = id_ in affected.hollow or (lost and not kept)
        if is_empty and id_ not in held:
            gone_entities.add(id_)
        elif lost:
            entities[id_], entity_evidence[id_] = entity_left(entity, kept, lost, policy), kept
    for it in _reopened(affected.rivals, gone_relations, relations, policy.single_valued):
        relations[it.id] = it
    return GraphLoss(
        entities, entity_evidence, relations, relation_evidence, frozenset(gone_entities), frozenset(gone_relations)
    )


def _relations_left(
    affected: Affected, is_lost: Callable[[Evidence], bool], policy: GraphPolicy
) -> tuple[dict[str, Relation], dict[str, Sequence[Evidence]], set[str]]:
    left: dict[str, Relation] = {}
    evidence: dict[str, Sequence[Evidence]] = {}
    gone = set[str]()
    for id_, relation in affected.relations.items():
        pieces = affected.relation_evidence.get(id_, ())
        lost = [it for it in pieces if is_lost(it)]
        kept = [it for it in pieces if not is_lost(it)]
        if affected.doomed & {relation.source_id, relation.target_id} or (lost and not kept):
            gone.add(id_)
        elif lost:
            left[id_], evidence[id_] = relation_left(relation, kept, lost, policy), kept
    return left, evidence, gone


def entity_left(entity: Entity, kept: Sequence[Evidence], lost: Sequence[Evidence], policy: GraphPolicy) -> Entity:
    """Return an entity as the evidence that is left makes it; without any, its name with the confidence it had."""
    files = [it.provenance.file for it in kept if it.provenance.file is not None]
    is_file_lost = entity.source_file not in files and entity.source_file in {it.provenance.file for it in lost}
    left = replace(
        entity,
        properties=properties_left(entity.properties, kept, lost),
        source_file=next(iter(files), None) if is_file_lost else entity.source_file,
        mention_count=max(entity.mention_count - len(lost), 0),
    )
    state = folded(kept, 1.0 if left.is_exempt_from_decay else policy.decay.rate_of(left.type))
    if state is None:
        return left
    first, last = min(it.at for it in kept), max(it.at for it in kept)
    return replace(
        left,
        confidence=state[0],
        decayed_at=state[1],
        created_at=max(entity.created_at, first) if _is_first(lost, first) else entity.created_at,
        last_seen=min(entity.last_seen, last) if _is_last(lost, last) else entity.last_seen,
    )


def relation_left(
    relation: Relation, kept: Sequence[Evidence], lost: Sequence[Evidence], policy: GraphPolicy
) -> Relation:
    """Return a version of a relation as the evidence that is left makes it; there is some."""
    state = folded(kept, policy.decay.relation_rate)
    assert state is not None
    first = min(it.at for it in kept)
    confirming = [it for it in kept if it.kind is not EvidenceKind.WEAKEN] or kept[:1]
    stating = [it for it in kept if it.kind in (EvidenceKind.EXPLICIT, EvidenceKind.MENTION)] or kept[:1]
    was_ended = any(it.kind is EvidenceKind.WEAKEN and it.at == relation.invalid_at for it in lost)
    return replace(
        relation,
        weight=state[0],
        decayed_at=state[1],
        last_confirmed=confirming[-1].at,
        ingested_at=max(relation.ingested_at, first) if _is_first(lost, first) else relation.ingested_at,
        invalid_at=None if was_ended else relation.invalid_at,
        properties=properties_left(relation.properties, kept, lost),
        provenance=stating[-1].provenance,
    )


def properties_left(
    properties: Mapping[str, JsonValue], kept: Iterable[Evidence], lost: Iterable[Evidence]
) -> Mapping[str, JsonValue]:
    """Return properties without what only the lost evidence stated; what others state of the same name counts again."""
    left = dict(properties)
    stated: dict[str, JsonValue] = {}
    for piece in kept:
        stated.update(piece.properties)
    for name in {name for piece in lost for name in piece.properties}:
        value = stated.get(name)
        if value is None:
            left.pop(name, None)
        else:
            left[name] = value
    return left


def _is_first(lost: Iterable[Evidence], first: datetime) -> bool:
    return any(it.at < first for it in lost)


def _is_last(lost: Iterable[Evidence], last: datetime) -> bool:
    return any(it.at > last for it in lost)


def _reopened(
    rivals: Iterable[Relation], gone: Collection[str], changed: Mapping[str, Relation], single_valued: Collection[str]
) -> list[Relation]:
    """Return the versions that only what goes had ended: they hold again, or until the next that came after them."""
    groups: defaultdict[tuple[str, str], list[Relation]] = defaultdict(list)
    for it in rivals:
        groups[it.key[:2]].append(changed.get(it.id, it))
    reopened = []
    for (_, type_key), group in groups.items():
        ends = {true_since(it) for it in group if it.id in gone}
        left = [it for it in group if it.id not in gone]
        current = {it.key for it in left if it.is_current}
        for version in sorted((it for it in left if it.invalid_at in ends), key=lambda it: (true_since(it), it.id)):
            later = [
                true_since(it)
                for it in left
                if it.key != version.key and true_since(it) > true_since(version) and type_key in single_valued
            ]
            until = min(later, default=None)
            if until is None and version.key in current:
                continue
            if until is None:
                current.add(version.key)
            reopened.append(replace(version, invalid_at=until))
    return reopened
