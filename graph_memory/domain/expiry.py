"""When a memory has had its time, and what becomes of it."""

from dataclasses import replace
from datetime import datetime, timedelta

from graph_memory.domain.instants import EPOCH
from graph_memory.domain.memories import Lifecycle, Memory, Status
from graph_memory.domain.memory_policy import MemoryPolicy


def unchanged_since(now: datetime, policy: MemoryPolicy) -> datetime:
    """Return when an ephemeral memory without an expiry of its own must have changed last to have had its time."""
    span = timedelta(days=policy.ephemeral_days)
    return now - span if now - EPOCH > span else EPOCH


def has_expired(memory: Memory, now: datetime, since: datetime) -> bool:
    """Tell whether an active memory has had its time; `since` is what `unchanged_since` returns.

    An expiry of its own rules, whatever the lifecycle. Without one an ephemeral memory is counted from its last change,
    so that one made ephemeral late is not gone the night after.
    """
    if memory.status is not Status.ACTIVE:
        return False
    if memory.expires_at is not None:
        return memory.expires_at <= now
    return memory.lifecycle is Lifecycle.EPHEMERAL and memory.updated_at <= since


def archived(memory: Memory, now: datetime) -> Memory:
    """Return a memory as it is once archived: out of searches and walks, but kept and found by its id."""
    return replace(memory, status=Status.ARCHIVED, updated_at=max(memory.updated_at, now))
