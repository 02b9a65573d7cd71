"""Instants in a store: aware, in UTC, to the microsecond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.ledger import AuditEvent, MergeRecord, Tombstone, TranscriptCursor
from graph_memory.domain.memories import MemoryVersion, Mention
from graph_memory.ports.graph_rows import Faded
from graph_memory.ports.memory_rows import FadedSynapse
from tests.contract.dumps import dump
from tests.contract.primitives import LINK
from tests.contract.samples import NOW, entity, evidence, item, memory, populate, relation, run, synapse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graph_memory.ports.store import WriteTransaction
    from tests.contract.stores import Caller

WRITES: dict[str, Callable[[WriteTransaction, datetime], object]] = {
    "entity": lambda tx, at: tx.entities.put([entity("new", created_at=at, last_seen=at, decayed_at=at)]),
    "entity, faded": lambda tx, at: tx.entities.fade([Faded("ada", 0.5, 0.25, at)]),
    "evidence": lambda tx, at: tx.entities.add_evidence([evidence("ada", at)]),
    "evidence for a relation": lambda tx, at: tx.relations.add_evidence([evidence("r-now", at)]),
    "relation": lambda tx, at: tx.relations.put(
        [relation("ada", "ada", ingested_at=at, last_confirmed=at, valid_at=at, invalid_at=at, decayed_at=at)]
    ),
    "relation, faded": lambda tx, at: tx.relations.fade([Faded("r-now", 0.5, 0.25, at)]),
    "memory": lambda tx, at: tx.memories.add(
        [memory("New", created_at=at, updated_at=at, accessed_at=at, expires_at=at)]
    ),
    "memory, touched": lambda tx, at: tx.memories.touch([1], at),
    "mention": lambda tx, at: tx.memories.add_mentions([Mention(2, "ada", at)]),
    "version": lambda tx, at: tx.memories.add_versions([MemoryVersion(1, "Was", "was", at)]),
    "synapse": lambda tx, at: tx.synapses.put(
        [synapse(1, 1, created_at=at, updated_at=at, decayed_at=at, accessed_at=at)]
    ),
    "synapse, touched": lambda tx, at: tx.synapses.touch([LINK], at),
    "synapse, faded": lambda tx, at: tx.synapses.fade([FadedSynapse(LINK, 1.0, 0.5, at)]),
    "document": lambda tx, at: tx.ledger.put_items([item("new", queued_at=at, updated_at=at)]),
    "cursor": lambda tx, at: tx.ledger.put_transcript_cursors([TranscriptCursor("/new", "", 0, 0, at)]),
    "tombstone": lambda tx, at: tx.ledger.put_tombstones([Tombstone("new", "why", at)]),
    "run": lambda tx, at: tx.upkeep.put_run(replace(run("new", at), ended_at=at)),
    "merge": lambda tx, at: tx.upkeep.put_merges([MergeRecord("new", "a", "b", at)]),
    "audit": lambda tx, at: tx.upkeep.add_audit([AuditEvent("new", "event", at)]),
}


def instants_in(value: object) -> Iterator[datetime]:
    """Walk a dump for every instant in it."""
    if isinstance(value, datetime):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from instants_in(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from instants_in(part)
    elif is_dataclass(value):
        for part in fields(value):
            yield from instants_in(getattr(value, part.name))


@pytest.mark.spec("time.store.aware-utc")
@pytest.mark.parametrize("name", sorted(WRITES))
def test_a_naive_instant_is_not_stored(alice: Caller, name: str) -> None:
    alice.write(populate)
    before = alice.read(dump)
    with pytest.raises(TypeError):
        alice.write(lambda tx: WRITES[name](tx, datetime(2026, 4, 1)))  # noqa: DTZ001 - naive is the point
    assert alice.read(dump) == before


@pytest.mark.spec("time.store.aware-utc")
@pytest.mark.parametrize("name", sorted(WRITES))
def test_an_instant_comes_back_as_the_same_moment_in_utc(alice: Caller, name: str) -> None:
    at = datetime(2026, 4, 1, 9, 30, 0, 1, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    alice.write(populate)
    alice.write(lambda tx: WRITES[name](tx, at))
    found = list(instants_in(alice.read(dump)))
    assert at in found
    assert {one.utcoffset() for one in found} == {timedelta(0)}
    assert NOW in found
