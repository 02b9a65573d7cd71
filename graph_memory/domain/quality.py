"""What is wrong with a graph's names: judged by the entity alone, or in pairs."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph_memory.domain.entities import Entity
from graph_memory.domain.names import name_key, type_key

LOW_CONFIDENCE = 0.3
STALE_DAYS = 30
NEAR_DUPLICATE = 0.9
"""How alike two names of one type must be, in 0–1, to be reported."""
WINDOW = 5
"""How many of the next names, in order of letters, one is compared with."""
ALIAS_TYPE_KEY = "alias"
ALIAS_RELATION_KEY = "alias_of"
_DIGITS = re.compile(r"\d+")

_GENERIC = frozenset(
    "app application api backend bug client code config data database developer document error example feature file "
    "fix folder frontend function idea issue item library meeting message misc module note notes object package page "
    "person problem project script server service session something stuff system task team test thing tool unknown "
    "update user website work n/a none null tbd todo untitled".split()
)
_REFERENCE = re.compile(
    r"^(?:the|this|that|these|those|my|our|your|his|her|their|its|a|an|some|such)\s+\S"
    r"|^(?:it|this|that|they|he|she|we|you|i)$"
)


class Severity(StrEnum):
    """How much an issue spoils answers; listed from high to low."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class IssueType(StrEnum):
    """What may be wrong."""

    GENERIC_NAME = "generic_name"
    REFERENCE_LANGUAGE = "reference_language"
    ORPHAN = "orphan"
    NEAR_DUPLICATE = "near_duplicate"
    SEVERAL_TYPES = "several_types"
    DANGLING_ALIAS = "dangling_alias"


_SEVERITY = {
    IssueType.REFERENCE_LANGUAGE: Severity.HIGH,
    IssueType.DANGLING_ALIAS: Severity.HIGH,
    IssueType.GENERIC_NAME: Severity.MEDIUM,
    IssueType.NEAR_DUPLICATE: Severity.MEDIUM,
    IssueType.SEVERAL_TYPES: Severity.MEDIUM,
    IssueType.ORPHAN: Severity.LOW,
}
_RANK = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Issue:
    """Something to look at; `related_ids` are the other entities it is about."""

    type: IssueType
    entity_id: str
    entity_name: str
    description: str
    related_ids: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """How much it matters."""
        return _SEVERITY[self.type]

    @property
    def priority(self) -> tuple[int, str, str, tuple[str, ...]]:
        """Order of a listing: by severity, then type, then entity."""
        return (_RANK[self.severity], self.type, self.entity_id, self.related_ids)


def name_issues(entity: Entity) -> list[Issue]:
    """Find what is wrong with one entity's name."""
    key = name_key(entity.name)
    found = []
    if _REFERENCE.match(key):
        text = f"Name looks like a reference: {entity.name!r}"
        found.append(Issue(IssueType.REFERENCE_LANGUAGE, entity.id, entity.name, text))
    elif key in _GENERIC:
        text = f"Name is too general to tell things apart: {entity.name!r}"
        found.append(Issue(IssueType.GENERIC_NAME, entity.id, entity.name, text))
    return found


def is_weak_orphan(entity: Entity, relation_count: int) -> bool:
    """Tell whether nothing holds an entity: no current relation, and little confidence."""
    return relation_count == 0 and entity.confidence < LOW_CONFIDENCE


def orphan_issue(entity: Entity) -> Issue:
    """Report an entity that nothing holds."""
    text = f"No current relation, and a confidence of {entity.confidence:.2f}"
    return Issue(IssueType.ORPHAN, entity.id, entity.name, text)


def several_types_issues(entities: Sequence[Entity]) -> list[Issue]:
    """Find names that stand under several types; one issue a name, at its first id."""
    by_name: dict[str, list[Entity]] = {}
    for entity in entities:
        by_name.setdefault(name_key(entity.name), []).append(entity)
    found = []
    for same in by_name.values():
        ordered = sorted(same, key=lambda it: it.id)
        if len({type_key(it.type) for it in ordered}) > 1:
            text = "One name under several types: " + ", ".join(sorted(it.type for it in ordered))
            others = tuple(it.id for it in ordered[1:])
            found.append(Issue(IssueType.SEVERAL_TYPES, ordered[0].id, ordered[0].name, text, others))
    return found


def alias_issues(entities: Iterable[Entity], leading: Collection[str]) -> list[Issue]:
    """Find entities of type Alias that lead nowhere; `leading` are the ids of those that lead somewhere."""
    return [
        Issue(IssueType.DANGLING_ALIAS, it.id, it.name, f"Alias of an entity that is gone: {it.name!r}")
        for it in entities
        if type_key(it.type) == ALIAS_TYPE_KEY and it.id not in leading
    ]


def near_duplicate_issues(entities: Iterable[Entity], likeness: Callable[[str, str], float]) -> list[Issue]:
    """Find pairs of one type whose names are nearly the same; `likeness` of two names is 0-1.

    Sorted neighbourhood (Hernández and Stolfo 1995): names are compared with the next few in order of their letters,
    read forwards and backwards, so that the work grows with the number of names and not with its square.
    """
    found: dict[tuple[str, str], Issue] = {}
    by_type: dict[str, list[Entity]] = {}
    for entity in entities:
        by_type.setdefault(type_key(entity.type), []).append(entity)
    for same in by_type.values():
        for direction in (1, -1):
            ordered = sorted(same, key=lambda it: (name_key(it.name)[::direction], it.id))
            for position, entity in enumerate(ordered):
                for other in ordered[position + 1 : position + 1 + WINDOW]:
                    score = likeness(entity.name, other.name)
                    if score >= NEAR_DUPLICATE and not _differ_in_digits(entity.name, other.name):
                        issue = _near_duplicate(entity, other, score)
                        found[issue.entity_id, issue.related_ids[0]] = issue
    return list(found.values())


def _differ_in_digits(first: str, second: str) -> bool:
    """Tell whether two names differ in their numbers: `Python 3.11` and `Python 3.12` are two things."""
    return _DIGITS.findall(first) != _DIGITS.findall(second)


def _near_duplicate(first: Entity, second: Entity, likeness: float) -> Issue:
    a, b = sorted((first, second), key=lambda it: it.id)
    text = f"Nearly the same name as {b.name!r} ({likeness:.0%} alike)"
    return Issue(IssueType.NEAR_DUPLICATE, a.id, a.name, text, (b.id,))
