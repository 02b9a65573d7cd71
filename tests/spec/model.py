"""What a requirement is, and what makes a set of them sound."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

READABLE_ID = re.compile(r"[a-z0-9_]+(?:-[a-z0-9_]+)*(?:\.[a-z0-9_]+(?:-[a-z0-9_]+)*)+")


class Document(StrEnum):
    """Where a rule was first written down."""

    SEED_GRAPH = "seed-graph"
    SEED_MEMORY = "seed-memory"
    RULING = "ruling"
    DESIGN = "design"


class Status(StrEnum):
    """What is asked of the tests: a proof now, nothing yet, or nothing ever."""

    REQUIRED = "required"
    DEFERRED = "deferred"
    DIVERGED = "diverged"


class Theme(StrEnum):
    """The later work that delivers what is deferred now."""

    GRAPH_FAMILY = "graph-family"
    MEMORY_FAMILY = "memory-family"
    ACTIVATION = "activation"
    SEARCH = "search"
    SQL = "sql"
    NEO4J = "neo4j"
    REMOTE = "remote"
    SERVICE = "service"
    BENCH = "bench"


@dataclass(frozen=True, slots=True)
class Source:
    """A section of one of the documents."""

    document: Document
    section: str

    @property
    def label(self) -> str:
        """Return document and section as one text."""
        return f"{self.document}: {self.section}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One behaviour that a test can prove.

    `reason` is empty for what is required, a `Theme` for what is deferred, and the why and what instead for what
    diverges from its source.
    """

    id: str
    source: Source
    behaviour: str
    status: Status
    reason: str = ""

    @property
    def subject(self) -> str:
        """Return the tool or concern that the id begins with."""
        return self.id.partition(".")[0]


def seed_graph(section: str) -> Source:
    """Name a section of the graph family's document."""
    return Source(Document.SEED_GRAPH, section)


def seed_memory(section: str) -> Source:
    """Name a section of the memory family's document."""
    return Source(Document.SEED_MEMORY, section)


def ruling(section: str) -> Source:
    """Name a section of the rulings on both."""
    return Source(Document.RULING, section)


def design(section: str) -> Source:
    """Name a section of the design."""
    return Source(Document.DESIGN, section)


def required(spec_id: str, source: Source, behaviour: str) -> Requirement:
    """State what at least one test must prove."""
    return Requirement(spec_id, source, behaviour, Status.REQUIRED)


def deferred(spec_id: str, source: Source, behaviour: str, theme: Theme) -> Requirement:
    """State what a later theme delivers; no test names it before it is moved to required."""
    return Requirement(spec_id, source, behaviour, Status.DEFERRED, theme)


def diverged(spec_id: str, source: Source, behaviour: str, reason: str) -> Requirement:
    """State what a document asks for and the product does otherwise, and why."""
    return Requirement(spec_id, source, behaviour, Status.DIVERGED, reason)


def find_faults(requirements: Iterable[Requirement]) -> list[str]:
    """Say what is unsound: ids and texts given twice, ids unreadable, texts unfinished, reasons that don't fit."""
    requirements = tuple(requirements)
    ids = Counter(requirement.id for requirement in requirements)
    behaviours = Counter((requirement.subject, requirement.behaviour) for requirement in requirements)
    faults = [f"{spec_id}: given {count} times" for spec_id, count in ids.items() if count > 1]
    faults += [f"{subject}: {count} times: {text}" for (subject, text), count in behaviours.items() if count > 1]
    for requirement in requirements:
        faults += [f"{requirement.id}: {fault}" for fault in _faults_of(requirement)]
    return faults


def _faults_of(requirement: Requirement) -> Iterable[str]:
    if not READABLE_ID.fullmatch(requirement.id):
        yield "an id is dotted words of lower-case letters, digits, hyphens and underscores"
    if not requirement.source.section:
        yield "its source names no section"
    if not requirement.behaviour.endswith("."):
        yield "its behaviour is no sentence"
    match requirement.status:
        case Status.REQUIRED if requirement.reason:
            yield "what is required needs no reason"
        case Status.DEFERRED if requirement.reason not in set(Theme):
            yield f"deferred to no known theme: {requirement.reason!r}"
        case Status.DIVERGED if not requirement.reason.endswith("."):
            yield "a divergence needs its reason, as a sentence"
