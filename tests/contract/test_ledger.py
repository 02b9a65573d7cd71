"""Documents, cursors, content keys and tombstones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.ledger import IngestState, SessionCursor, Tombstone, TranscriptCursor
from tests.contract.samples import ALL, NOW, ODD_TEXTS, cloud_item, day, item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph_memory.domain.ledger import IngestItem
    from graph_memory.ports.store import ReadTransaction
    from tests.contract.stores import Caller

PENDING, PROCESSING, COMPLETED, FAILED = (
    IngestState.PENDING,
    IngestState.PROCESSING,
    IngestState.COMPLETED,
    IngestState.FAILED,
)


def stored(alice: Caller, *items: IngestItem) -> None:
    alice.write(lambda tx: tx.ledger.put_items(items))


def ids(items: Sequence[IngestItem]) -> list[str]:
    return [one.id for one in items]


def test_every_field_of_a_document_comes_back_as_it_was_put(alice: Caller) -> None:
    whole = item(
        "whole",
        FAILED,
        content_key="k",
        path="sub/é name.md",
        size=2**40,
        queued_at=day(-2),
        updated_at=day(-1),
        meta={"tags": ["a", {"b": None}], "é": 1.5, "big": 10**30},
        reason="it is broken",
        memory_ids=(3, 1, 2**40),
        entity_count=4,
        relation_count=5,
    )
    stored(alice, whole)
    assert alice.read(lambda tx: tx.ledger.find_items(["whole", "none"])) == {"whole": whole}


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_serves_in_a_document(alice: Caller, text: str) -> None:
    odd = item(text, path=text, content_key=text, reason=text, meta={text: text})
    stored(alice, odd)

    def check(tx: ReadTransaction) -> None:
        assert tx.ledger.find_items([text]) == {text: odd}
        assert list(tx.ledger.find_items_by_path([text])[text]) == [odd]
        assert list(tx.ledger.find_items_by_content([text])[text]) == [odd]

    alice.read(check)


def test_documents_are_found_by_content_those_that_failed_last(alice: Caller) -> None:
    stored(
        alice,
        item("a", FAILED, content_key="k"),
        item("c", PENDING, content_key="k"),
        item("b", COMPLETED, content_key="k"),
        item("d", FAILED, content_key="l"),
    )
    found = alice.read(lambda tx: tx.ledger.find_items_by_content(["k", "l", "none"]))
    assert {key: ids(items) for key, items in found.items()} == {"k": ["b", "c", "a"], "l": ["d"]}


def test_documents_are_found_by_path_the_newest_first(alice: Caller) -> None:
    stored(
        alice,
        item("a", path="p", queued_at=day(1)),
        item("b", path="p", queued_at=day(3)),
        item("c", path="p", queued_at=day(2), updated_at=day(9)),
        item("d", path="q"),
    )
    found = alice.read(lambda tx: tx.ledger.find_items_by_path(["p", "q", "none"]))
    assert {path: ids(items) for path, items in found.items()} == {"p": ["b", "c", "a"], "q": ["d"]}


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (PENDING, ["z", "a", "b", "m"]),
        (PROCESSING, ["z", "a", "b", "m"]),
        (COMPLETED, ["m", "a", "b", "z"]),
        (FAILED, ["m", "a", "b", "z"]),
    ],
)
def test_waiting_documents_are_listed_oldest_first_finished_ones_newest_first(
    alice: Caller, state: IngestState, expected: list[str]
) -> None:
    others = set(IngestState) - {state}
    queued = {"b": day(1), "a": day(1), "z": day(0), "m": day(2)}
    stored(alice, *(item(id_, state, queued_at=at, updated_at=at) for id_, at in queued.items()))
    stored(alice, *(item(f"other {other}", other) for other in others))
    pages = alice.read(lambda tx: [tx.ledger.page_items(state, 3, offset) for offset in (0, 3, 6)])
    assert [ids(part) for part in pages] == [expected[:3], expected[3:], []]


def test_documents_are_counted_in_every_state(alice: Caller) -> None:
    none = {PENDING: 0, PROCESSING: 0, COMPLETED: 0, FAILED: 0}
    assert alice.read(lambda tx: tx.ledger.count_items()) == none
    stored(alice, item("a"), item("b"), item("c", FAILED))
    assert alice.read(lambda tx: tx.ledger.count_items()) == {**none, PENDING: 2, FAILED: 1}


def test_put_replaces_a_document(alice: Caller) -> None:
    stored(alice, item("a"), item("b"))
    stored(alice, item("a", COMPLETED, memory_ids=(1,)))
    assert alice.read(lambda tx: tx.ledger.count_items())[PENDING] == 1
    assert alice.read(lambda tx: tx.ledger.find_items(["a"])) == {"a": item("a", COMPLETED, memory_ids=(1,))}


def test_the_session_cursor_is_the_newest_as_an_instant(alice: Caller) -> None:
    stored(
        alice,
        cloud_item("a", "s1", "2026-03-01T12:00:00Z"),
        cloud_item("b", "s1", "2026-03-01T13:30:00+02:00"),
        cloud_item("c", "s1", "2026-03-01T09:00:00.5-04:00", state=COMPLETED),
        cloud_item("d", "s1", "2027-01-01T00:00:00Z", state=FAILED),
        cloud_item("e", "s2", "2026-02-01T00:00:00Z"),
        item("f", meta={"session_id": "s3", "through": "2026-03-01T12:00:00Z"}),
    )
    found = alice.read(lambda tx: tx.ledger.session_cursors())
    assert found == {
        "s1": SessionCursor("s1", "2026-03-01T09:00:00.5-04:00", "event of c", "notes/c.md"),
        "s2": SessionCursor("s2", "2026-02-01T00:00:00Z", "event of e", "notes/e.md"),
    }


def test_session_cursors_follow_their_documents(alice: Caller) -> None:
    later = cloud_item("b", "s", "2026-03-02T00:00:00Z")
    stored(alice, cloud_item("a", "s", "2026-03-01T00:00:00Z"), later)

    def through() -> list[str]:
        return [cursor.through for cursor in alice.read(lambda tx: tx.ledger.session_cursors()).values()]

    assert through() == ["2026-03-02T00:00:00Z"]
    stored(alice, replace(later, state=FAILED))
    assert through() == ["2026-03-01T00:00:00Z"]
    assert alice.write(lambda tx: tx.ledger.delete_items(["a", "none"])) == 1
    assert through() == []


def test_transcript_cursors_come_back_whole_by_path_or_all(alice: Caller) -> None:
    one = TranscriptCursor("/t/é.jsonl", "print", 2**40, 2**41, day(1), "session", {"turn": [1, None], "n": 10**30})
    other = TranscriptCursor("/t/b.jsonl", "", 0, 0, NOW)
    alice.write(lambda tx: tx.ledger.put_transcript_cursors([replace(one, offset=1), other]))
    alice.write(lambda tx: tx.ledger.put_transcript_cursors([one]))
    assert alice.read(lambda tx: tx.ledger.transcript_cursors()) == {one.path: one, other.path: other}
    assert alice.read(lambda tx: tx.ledger.transcript_cursors([one.path, "none"])) == {one.path: one}
    assert alice.write(lambda tx: tx.ledger.delete_transcript_cursors([other.path, "none"])) == 1
    assert set(alice.read(lambda tx: tx.ledger.transcript_cursors())) == {one.path}


def test_a_known_content_key_keeps_its_memory(alice: Caller) -> None:
    alice.write(lambda tx: tx.ledger.add_learned({"b": 2, "a": 1}))
    alice.write(lambda tx: tx.ledger.add_learned({"a": 9, "c": 1}))
    assert alice.read(lambda tx: tx.ledger.find_learned(["a", "b", "c", "none"])) == {"a": 1, "b": 2, "c": 1}
    assert list(alice.read(lambda tx: tx.ledger.page_learned(None, 2))) == [("a", 1), ("b", 2)]
    assert list(alice.read(lambda tx: tx.ledger.page_learned("b", 2))) == [("c", 1)]
    assert list(alice.read(lambda tx: tx.ledger.page_learned("", 1))) == [("a", 1)]
    assert alice.read(lambda tx: tx.ledger.find_learned_of([1, 99])) == {"a": 1, "c": 1}
    assert alice.write(lambda tx: tx.ledger.delete_learned([1, 99])) == 2
    assert list(alice.read(lambda tx: tx.ledger.page_learned(None, ALL))) == [("b", 2)]


def test_tombstones_are_found_and_listed_by_content_key(alice: Caller) -> None:
    stones = {key: Tombstone(key, f"reason {key}", day(number)) for number, key in enumerate("cab")}
    alice.write(lambda tx: tx.ledger.put_tombstones(stones.values()))
    assert alice.read(lambda tx: tx.ledger.tombstones(["a", "none"])) == {"a": stones["a"]}
    assert list(alice.read(lambda tx: tx.ledger.page_tombstones(None, 2))) == [stones["a"], stones["b"]]
    assert list(alice.read(lambda tx: tx.ledger.page_tombstones("aa", 2))) == [stones["b"], stones["c"]]


def test_a_listing_begins_with_the_empty_key(alice: Caller) -> None:
    empty, other = Tombstone("", "asked for", day(0)), Tombstone("a", "asked for", day(0))
    alice.write(lambda tx: tx.ledger.put_tombstones([other, empty]))
    alice.write(lambda tx: tx.ledger.add_learned({"": 1, "a": 2}))
    assert list(alice.read(lambda tx: tx.ledger.page_tombstones(None, ALL))) == [empty, other]
    assert list(alice.read(lambda tx: tx.ledger.page_tombstones("", ALL))) == [other]
    assert list(alice.read(lambda tx: tx.ledger.page_learned(None, ALL))) == [("", 1), ("a", 2)]
