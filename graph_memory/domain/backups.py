"""What a backup holds: every row of a tenant, in an order in which it can be put back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from graph_memory.domain.entities import Alias, Entity, Evidence
from graph_memory.domain.ledger import IngestItem, MergeRecord, Tombstone, TranscriptCursor
from graph_memory.domain.memories import (
    MAX_SYNAPSE_WEIGHT,
    DecayRate,
    Memory,
    MemoryVersion,
    Mention,
    OpenLink,
    Synapse,
)
from graph_memory.domain.relations import Relation

FORMAT = "graph-memory-export"
VERSION = 1


@dataclass(frozen=True, slots=True)
class EntityEvidence:
    """A contribution to an entity."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class RelationEvidence:
    """A contribution to a version of a relation."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Learned:
    """A content key that is known, and the memory it went into."""

    key: str
    memory_id: int


BackupRow: TypeAlias = (
    Memory
    | MemoryVersion
    | Entity
    | Alias
    | EntityEvidence
    | Relation
    | RelationEvidence
    | MergeRecord
    | Synapse
    | Mention
    | OpenLink
    | DecayRate
    | IngestItem
    | Learned
    | TranscriptCursor
    | Tombstone
)

ROW_KINDS: Mapping[str, type[BackupRow]] = {
    "memory": Memory,
    "memory_version": MemoryVersion,
    "entity": Entity,
    "alias": Alias,
    "entity_evidence": EntityEvidence,
    "relation": Relation,
    "relation_evidence": RelationEvidence,
    "merge": MergeRecord,
    "synapse": Synapse,
    "mention": Mention,
    "open_link": OpenLink,
    "decay_rate": DecayRate,
    "ingest_item": IngestItem,
    "learned": Learned,
    "transcript_cursor": TranscriptCursor,
    "tombstone": Tombstone,
}
"""Kinds of rows by their name in the file, in the order in which they stand there: what a row points at comes first."""


class StoredRow(Protocol):
    """A row as it stands in a backup, decoded no further than it is asked for; `number` is its line."""

    @property
    def number(self) -> int:
        """Its line in the file."""

    @property
    def kind(self) -> str:
        """Its kind, one of `ROW_KINDS`."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """What it says, as JSON; integers of more than 64 bits may have lost digits."""

    @property
    def row(self) -> BackupRow:
        """What it is.

        Raises:
            InvalidRequest: it is no row.
        """


def is_in_range(row: BackupRow) -> bool:
    """Tell whether the strengths that a row has are such as can be: 0–1, of a synapse 0–5."""
    match row:
        case Entity() | Memory():
            return 0.0 <= row.confidence <= 1.0
        case Relation():
            return 0.0 <= row.weight <= 1.0
        case Synapse():
            return 0.0 <= row.weight <= MAX_SYNAPSE_WEIGHT
        case _:
            return True


class ImportMode(StrEnum):
    """How a backup meets what is there."""

    MERGE = "merge"
    """What is known is joined by the rules of evidence; the rest is added."""
    REPLACE = "replace"
    """What is there goes, except what was forgotten for good."""


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A backup on disk: `size` in bytes, rows by kind, and the hash over its body (SHA-256, hexadecimal)."""

    path: str
    size: int
    exported_at: datetime
    counts: Mapping[str, int]
    sha256: str
