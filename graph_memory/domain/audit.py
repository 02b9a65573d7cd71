"""Events that the audit keeps."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from graph_memory.domain.entities import JsonValue
from graph_memory.domain.instants import to_wire
from graph_memory.domain.ledger import AuditEvent

SEED_EVENTS = frozenset(
    {
        "run_start",
        "run_end",
        "transcript_start",
        "transcript_end",
        "transcript_skipped",
        "entity_created",
        "edge_created",
        "edge_modified",
        "merge_flagged",
        "contradiction_found",
        "ingest_start",
        "ingest_end",
        "decay_applied",
        "format_warning",
        "error",
    }
)
OWN_EVENTS = frozenset(
    {
        "entity_deleted",
        "edge_superseded",
        "memory_added",
        "memory_updated",
        "memory_archived",
        "memory_decay_applied",
        "ingest_queued",
        "ingest_failed",
        "redacted",
        "exported",
        "imported",
        "forgotten",
    }
)
EVENTS = SEED_EVENTS | OWN_EVENTS


def audit_event(
    event: str, at: datetime, data: Mapping[str, JsonValue] = MappingProxyType({}), *, salt: str = ""
) -> AuditEvent:
    """Make an event whose id depends on what it says, when, and `salt`: a repeat of the same work has the same id."""
    text = "\0".join((event, to_wire(at), salt, repr(sorted(data.items()))))
    return AuditEvent(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest(), event, at, data)
