"""What tombstones say of rows, without holding a word of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from graph_memory.domain.entities import Entity, Evidence, EvidenceKind, Provenance
from graph_memory.domain.ledger import CLOUD_SOURCE, IngestItem, IngestState, Tombstone
from graph_memory.domain.memories import Memory, MemoryVersion
from graph_memory.domain.time_spans import TimeSpan
from graph_memory.domain.tombstones import (
    Forgotten,
    Grave,
    dates_grave,
    entity_grave,
    grave_key,
    memory_graves,
    stub_of,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=1)
NOTE = Memory("Title", "title", "text", "note", NOON, NOON, id=7, project_id="p", session_id="s", source_file="f")
PIECE = Evidence("x", EvidenceKind.EXPLICIT, 0.5, NOON, Provenance(session="s", file="f"))


def told(*keys: str) -> Forgotten:
    return Forgotten.told_by([Tombstone(it, "why", NOON) for it in keys])


@pytest.mark.parametrize(
    "key",
    [
        grave_key(Grave.SESSION, "s"),
        grave_key(Grave.SESSION_UNTIL, "s"),
        grave_key(Grave.FILE_UNTIL, "f"),
        grave_key(Grave.PROJECT_UNTIL, "p"),
        dates_grave(TimeSpan(NOON, LATER)),
        *memory_graves(NOTE),
    ],
)
def test_a_memory_is_forgotten_by_any_of_its_sources_as_it_was_then(key: str) -> None:
    assert told(key).has_memory(NOTE)
    assert not told(key).has_memory(replace(NOTE, updated_at=LATER))
    assert not told(grave_key(Grave.SESSION, "other")).has_memory(NOTE)


def test_a_content_key_is_forgotten_for_ever() -> None:
    assert told("key").has_memory(replace(NOTE, content_key="key", updated_at=LATER))
    assert not told("key").has_memory(NOTE)


def test_a_memory_is_known_by_a_text_that_it_had_before() -> None:
    stones = told(*memory_graves(NOTE, [MemoryVersion(7, "Title", "an older text", NOON)]))
    moved = replace(NOTE, id=8, created_at=NOON - timedelta(days=1))
    assert stones.has_memory(replace(moved, content="an older text"))
    assert not stones.has_memory(replace(moved, content="another text"))


@pytest.mark.parametrize("key", [grave_key(Grave.SESSION, "s"), grave_key(Grave.FILE_UNTIL, "f")])
def test_evidence_is_forgotten_as_it_was_then(key: str) -> None:
    assert told(key).has_evidence(PIECE, ())
    assert not told(key).has_evidence(replace(PIECE, at=LATER), ())


def test_evidence_goes_with_the_memory_that_made_it() -> None:
    made = replace(PIECE, provenance=Provenance(memory_id=7))
    assert Forgotten().has_evidence(made, {7})
    assert not Forgotten().has_evidence(made, {8})


def test_dates_mean_what_was_said_then_and_not_what_was_read_then() -> None:
    stones = told(dates_grave(TimeSpan(NOON, LATER)))
    assert stones.has_evidence(replace(PIECE, provenance=Provenance(session="s")), ())
    assert not stones.has_evidence(PIECE, ())
    assert stones.has_turn("s", "p", NOON)
    assert not stones.has_turn("s", "p", LATER)


def test_a_session_that_was_named_is_not_learned_any_more_a_project_only_as_it_was_then() -> None:
    assert told(grave_key(Grave.SESSION, "s")).has_turn("s", "p", LATER)
    for grave, name in ((Grave.SESSION_UNTIL, "s"), (Grave.PROJECT_UNTIL, "p")):
        assert told(grave_key(grave, name)).has_turn("s", "p", NOON)
        assert told(grave_key(grave, name)).has_turn("s", "p", None)
        assert not told(grave_key(grave, name)).has_turn("s", "p", LATER)


def test_an_entity_that_was_made_again_is_another_one() -> None:
    one = Entity("x", "Person", "Ada", 0.5, NOON, NOON)
    assert told(entity_grave(one.key)).has_entity(one)
    assert not told(entity_grave(one.key)).has_entity(replace(one, created_at=LATER))
    assert not told(entity_grave(one.key)).has_entity(one, Grave.ENTITY_UNTIL)


def test_no_word_stands_in_a_key() -> None:
    keys = [*memory_graves(NOTE), grave_key(Grave.PROJECT_UNTIL, "orchid"), grave_key(Grave.FILE_UNTIL, "orchid.md")]
    assert not any("orchid" in it or "title" in it.casefold() for it in keys)


def test_of_a_cloud_document_only_how_far_it_took_its_session_stays() -> None:
    meta = {"source": CLOUD_SOURCE, "session_id": "s", "through": "2026-01-01T00:00:00Z", "author": "Orchid"}
    item = IngestItem("d-1", "key", "orchid.md", IngestState.COMPLETED, 3, NOON, NOON, meta, memory_ids=(1,))
    stub = stub_of(item)
    assert stub is not None
    assert stub.session_cursor is not None
    assert "rchid" not in repr(stub)
    assert stub_of(stub) == stub
    assert stub_of(replace(item, meta={})) is None
