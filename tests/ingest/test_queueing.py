"""The queue as clients see it."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.errors import InvalidRequest, NotFound
from graph_memory.domain.ledger import CLOUD_SOURCE, IngestState, Tombstone
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from ingest.identity import content_key
from ingest.inbox import Inbox
from ingest.queueing import IngestQueue

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.domain.entities import JsonValue
    from graph_memory.domain.ledger import IngestItem
    from graph_memory.ports.store import Store
    from tests.ingest.places import Place

GUEST = Principal("guest")


@pytest.fixture
def queue(store: Store, place: Place) -> IngestQueue:
    return IngestQueue(store, place.home, place.ingest, place.clock)


def items(store: Store) -> list[IngestItem]:
    return [
        item
        for state in IngestState
        for item in store.read(LOCAL_ADMIN, lambda tx, it=state: tx.ledger.page_items(it, 100))  # type: ignore[misc]
    ]


def finish(store: Store, place: Place, path: str, state: IngestState, reason: str | None = None) -> None:
    """Do to a waiting document what a worker would, but for learning it."""
    inbox = Inbox(place.home)
    found = next(it for it in inbox.pending() if it.path == path)
    claim = inbox.claim(found)
    assert claim is not None
    key = content_key(claim.file.read_bytes())
    if state is IngestState.FAILED:
        inbox.fail(claim, key, reason or "")
    else:
        inbox.complete(claim, key)
    inbox.close()
    (item,) = [it for it in items(store) if it.content_key == key and it.path == path]
    from dataclasses import replace

    done = replace(item, state=state, reason=reason)
    store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_items([done]))


@pytest.mark.spec("graph_ingest.queue.file_path", "graph_ingest.queue.result")
def test_a_file_is_copied_and_stays_as_it_is(queue: IngestQueue, place: Place, user: Path) -> None:
    file = user / "notes.md"
    file.write_bytes(b"# A note\r\n")
    queued = queue.queue_file(LOCAL_ADMIN, str(file))
    assert queued.destination == place.home.pending / "notes.md"
    assert queued.destination.read_bytes() == file.read_bytes() == b"# A note\r\n"
    assert stat.S_IMODE(queued.destination.stat().st_mode) == 0o600
    assert (queued.file, queued.is_known, queued.is_meta_written) == ("notes.md", False, False)
    assert place.files(place.home.pending) == ["notes.md"]


@pytest.mark.spec("graph_ingest.queue.missing-file")
def test_a_file_that_is_not_there_is_refused_by_name(queue: IngestQueue, place: Place, user: Path) -> None:
    with pytest.raises(NotFound, match=r"absent\.md"):
        queue.queue_file(LOCAL_ADMIN, str(user / "absent.md"))
    with pytest.raises(InvalidRequest, match="user"):
        queue.queue_file(LOCAL_ADMIN, str(user))
    assert place.files(place.home.pending) == []


@pytest.mark.parametrize("where", ["outside", "hidden", "link out", "credentials", "pipe"])
def test_files_that_no_client_may_name_are_refused(
    queue: IngestQueue, place: Place, user: Path, tmp_path: Path, where: str
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    hidden = user / ".ssh" / "key.md"
    hidden.parent.mkdir()
    hidden.write_text("secret")
    (user / "link.md").symlink_to(outside)
    place.home.credentials_file.write_text("NEO4J_PASSWORD=x")
    os.mkfifo(user / "pipe.md")
    named = {
        "outside": outside,
        "hidden": hidden,
        "link out": user / "link.md",
        "credentials": place.home.credentials_file,
        "pipe": user / "pipe.md",
    }
    with pytest.raises(InvalidRequest) as refusal:
        queue.queue_file(LOCAL_ADMIN, str(named[where]))
    assert refusal.value.argument == "file_path"
    assert place.files(place.home.pending) == []


def test_transcripts_and_files_of_the_home_may_be_named(queue: IngestQueue, place: Place) -> None:
    transcript = place.ingest.projects_dirs[0] / "-app" / "notes.txt"
    transcript.parent.mkdir()
    transcript.write_text("in a hidden folder that is open")
    changelog = place.home.logs / "2026-04-05.md"
    changelog.write_text("what happened")
    assert queue.queue_file(LOCAL_ADMIN, str(transcript)).file == "notes.txt"
    assert queue.queue_file(LOCAL_ADMIN, str(changelog)).file == "2026-04-05.md"


@pytest.mark.spec("graph_ingest.queue.content", "graph_ingest.queue.meta_written")
def test_content_is_written_under_its_name_with_its_sidecar(queue: IngestQueue, place: Place) -> None:
    queued = queue.queue_content(LOCAL_ADMIN, "# Nöte", "nöte.md", {"author": "Ada", "colour": "red"})
    assert queued.is_meta_written
    assert (place.home.pending / "nöte.md").read_text(encoding="utf-8") == "# Nöte"
    sidecar = json.loads((place.home.pending / "nöte.md.meta.json").read_text())
    assert sidecar == {"author": "Ada", "colour": "red"}


@pytest.mark.spec("graph_ingest.content.max-size")
def test_inline_content_is_bounded_in_bytes(queue: IngestQueue) -> None:
    fits = "é" * (2_097_152 // 2)
    assert not queue.queue_content(LOCAL_ADMIN, fits, "fits.txt").is_known
    with pytest.raises(InvalidRequest, match="2097152"):
        queue.queue_content(LOCAL_ADMIN, fits + "x", "more.txt")


@pytest.mark.spec("graph_ingest.content.plain-basename")
@pytest.mark.parametrize(
    "name",
    ["a/n.md", "a\\n.md", "../n.md", "..", ".n.md", "n\0.md", "", " n.md", "n\n.md", "n" * 300 + ".md", "\ud800.md"],
)
def test_names_that_are_no_plain_base_names_are_refused(queue: IngestQueue, place: Place, name: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        queue.queue_content(LOCAL_ADMIN, "text", name)
    assert refusal.value.argument == "file_name"
    assert place.files(place.home.pending) == []


@pytest.mark.spec("graph_ingest.content.extensions")
@pytest.mark.parametrize("name", ["n.html", "n", "n.exe", "n.md.png", "n.md.meta.json"])
def test_names_must_end_as_the_three_kinds_do(queue: IngestQueue, name: str) -> None:
    with pytest.raises(InvalidRequest, match=r"\.md, \.txt, \.json"):
        queue.queue_content(LOCAL_ADMIN, "text", name)


def test_content_that_is_no_unicode_is_refused(queue: IngestQueue) -> None:
    with pytest.raises(InvalidRequest, match="content"):
        queue.queue_content(LOCAL_ADMIN, "half \ud800", "n.md")


@pytest.mark.spec("graph_ingest.queue.no-overwrite")
def test_another_document_under_a_waiting_name_overwrites_nothing(queue: IngestQueue, place: Place, user: Path) -> None:
    (user / "a").mkdir()
    (user / "b").mkdir()
    (user / "a" / "n.md").write_text("one")
    (user / "b" / "n.md").write_text("two")
    queued = [
        queue.queue_file(LOCAL_ADMIN, str(user / "a" / "n.md")),
        queue.queue_file(LOCAL_ADMIN, str(user / "b" / "n.md")),
        queue.queue_content(LOCAL_ADMIN, "three", "n.md"),
    ]
    assert len({it.file for it in queued}) == 3
    assert sorted((place.home.pending / it.file).read_text() for it in queued) == ["one", "three", "two"]


def test_copies_from_two_places_stay_two_documents_when_the_first_is_learned(
    queue: IngestQueue, store: Store, place: Place, user: Path
) -> None:
    for folder in ("a", "b"):
        (user / folder).mkdir()
        (user / folder / "n.md").write_text(folder)
    first = queue.queue_file(LOCAL_ADMIN, str(user / "a" / "n.md"))
    finish(store, place, "n.md", IngestState.COMPLETED)
    second = queue.queue_file(LOCAL_ADMIN, str(user / "b" / "n.md"))
    assert second.file != first.file
    finish(store, place, second.file, IngestState.COMPLETED)
    for folder, queued in (("a", first), ("b", second)):
        (user / folder / "n.md").write_text(f"{folder}, changed")
        assert queue.queue_file(LOCAL_ADMIN, str(user / folder / "n.md")).file == queued.file


@pytest.mark.spec("graph_ingest.queue.already-known", "inbox.key-raw-bytes")
def test_bytes_that_wait_or_were_learned_are_already_known(queue: IngestQueue, store: Store, place: Place) -> None:
    first = queue.queue_content(LOCAL_ADMIN, "text", "n.md")
    again = queue.queue_content(LOCAL_ADMIN, "text", "n.md")
    other = queue.queue_content(LOCAL_ADMIN, "text", "other.md")
    assert [it.is_known for it in (first, again, other)] == [False, True, True]
    assert {it.item_id for it in (first, again, other)} == {first.item_id}
    assert place.files(place.home.pending) == ["n.md"]
    finish(store, place, "n.md", IngestState.COMPLETED)
    assert queue.queue_content(LOCAL_ADMIN, "text", "third.md").is_known
    assert not queue.queue_content(LOCAL_ADMIN, "text\n", "third.md").is_known


def test_what_was_forgotten_for_good_is_not_queued(queue: IngestQueue, store: Store, place: Place) -> None:
    key = content_key(b"text")
    store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_tombstones([Tombstone(key, "wrong", place.clock())]))
    with pytest.raises(InvalidRequest, match="forgotten for good"):
        queue.queue_content(LOCAL_ADMIN, "text", "n.md")


@pytest.mark.spec("graph_ingest.meta.known-keys", "graph_ingest.meta.unknown-kept", "redaction.sidecar")
def test_metadata_is_kept_without_its_secrets(queue: IngestQueue, store: Store, place: Place) -> None:
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    meta: dict[str, JsonValue] = {
        "source": "wiki",
        "author": "Ada",
        "date": "2026-04-05",
        "topic_hints": ["graphs"],
        "weight_override": 0.6,
        "session_id": "s1",
        "through": "2026-04-05T10:00:00Z",
        "last_event_id": "e1",
        "more": {"deep": [f"token {secret}"]},
    }
    queue.queue_content(LOCAL_ADMIN, "text", "n.md", meta)
    (item,) = items(store)
    expected = {**meta, "more": {"deep": ["token [redacted:github-token]"]}}
    kept = dict(item.meta)
    assert secret not in json.dumps(kept)
    assert {name: value for name, value in kept.items() if name != "more"} == {
        name: value for name, value in expected.items() if name != "more"
    }
    assert secret not in (place.home.pending / "n.md.meta.json").read_text()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("through", "yesterday"),
        ("date", 5),
        ("weight_override", "heavy"),
        ("weight_override", True),
        ("topic_hints", [1]),
        ("source", ["a"]),
    ],
)
def test_metadata_that_cannot_be_used_is_refused_by_key(queue: IngestQueue, key: str, value: JsonValue) -> None:
    with pytest.raises(InvalidRequest, match=key):
        queue.queue_content(LOCAL_ADMIN, "text", "n.md", {key: value})


@pytest.mark.spec(
    "graph_ingest.status.states",
    "graph_ingest.status.counts",
    "graph_ingest.status.failed-reason",
    "graph_ingest.status.pending-fields",
)
def test_status_has_all_four_states_and_counts_all(queue: IngestQueue, store: Store, place: Place) -> None:
    for name in ("failed.md", "done.md", "waiting.md"):
        queue.queue_content(LOCAL_ADMIN, name, name)
    finish(store, place, "failed.md", IngestState.FAILED, "is no text")
    finish(store, place, "done.md", IngestState.COMPLETED)
    place.drop("by hand.md", "dropped")
    status = queue.status(LOCAL_ADMIN, limit=1)
    assert len(status.pending) == 1
    assert status.counts == {
        IngestState.PENDING: 2,
        IngestState.PROCESSING: 0,
        IngestState.COMPLETED: 1,
        IngestState.FAILED: 1,
    }
    assert [it.path for it in status.completed] == ["done.md"]
    assert [(it.path, it.reason) for it in status.failed] == [("failed.md", "is no text")]
    waiting = {it.file: it for it in queue.status(LOCAL_ADMIN).pending}
    assert waiting.keys() == {"by hand.md", "waiting.md"}
    assert waiting["waiting.md"].size == len("waiting.md")


@pytest.mark.spec("graph_ingest.failed.requeue")
def test_failed_documents_can_be_queued_again(queue: IngestQueue, store: Store, place: Place) -> None:
    queued = queue.queue_content(LOCAL_ADMIN, "text", "n.md", {"author": "Ada"})
    finish(store, place, "n.md", IngestState.FAILED, "no luck")
    assert place.files(place.home.failed) == ["n.md", "n.md.meta.json", "n.md.reason.txt"]
    (again,) = queue.retry(LOCAL_ADMIN, [queued.item_id])
    assert (again.state, again.reason) == (IngestState.PENDING, None)
    assert place.files(place.home.pending) == ["n.md", "n.md.meta.json"]
    assert place.files(place.home.failed) == []
    with pytest.raises(NotFound):
        queue.retry(LOCAL_ADMIN, [queued.item_id])
    finish(store, place, "n.md", IngestState.FAILED, "no luck")
    assert len(queue.retry(LOCAL_ADMIN)) == 1
    assert queue.retry(LOCAL_ADMIN) == []


@pytest.mark.spec("graph_ingest.failed.requeue")
def test_sending_failed_content_again_queues_it_again(queue: IngestQueue, store: Store, place: Place) -> None:
    queue.queue_content(LOCAL_ADMIN, "text", "n.md")
    finish(store, place, "n.md", IngestState.FAILED, "no luck")
    assert not queue.queue_content(LOCAL_ADMIN, "text", "n.md").is_known
    (item,) = items(store)
    assert item.state is IngestState.PENDING


def test_only_the_admin_tenant_queues(queue: IngestQueue, store: Store, place: Place, user: Path) -> None:
    (user / "n.md").write_text("text")
    with pytest.raises(InvalidRequest, match="admin"):
        queue.queue_file(GUEST, str(user / "n.md"))
    with pytest.raises(InvalidRequest, match="admin"):
        queue.queue_content(GUEST, "text", "n.md")
    with pytest.raises(InvalidRequest, match="admin"):
        queue.retry(GUEST)
    place.drop("n.md", "text")
    assert queue.status(GUEST).pending == ()


def cloud(through: str, event: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"source": CLOUD_SOURCE, "session_id": "s1", "through": through, "last_event_id": event, **more}


@pytest.mark.spec("session_cursors.newest", "session_cursors.only-cloud", "session_cursors.by-instant")
def test_session_cursors_name_the_newest_instant_of_each_session(queue: IngestQueue) -> None:
    queue.queue_content(LOCAL_ADMIN, "a", "a.md", cloud("2026-04-05T10:00:00+02:00", "e1"))
    queue.queue_content(LOCAL_ADMIN, "b", "b.md", cloud("2026-04-05T09:00:00.5Z", "e2"))
    queue.queue_content(LOCAL_ADMIN, "c", "c.md", {**cloud("2027-01-01T00:00:00Z", "e3"), "source": "other"})
    (cursor,) = queue.status(LOCAL_ADMIN).session_cursors.values()
    assert (cursor.through, cursor.last_event_id, cursor.file) == ("2026-04-05T09:00:00.5Z", "e2", "b.md")


@pytest.mark.spec("session_cursors.states", "session_cursors.not-failed")
def test_known_content_moves_a_cursor_and_failed_content_moves_it_back(
    queue: IngestQueue, store: Store, place: Place
) -> None:
    queue.queue_content(LOCAL_ADMIN, "a", "a.md", cloud("2026-04-05T10:00:00Z", "e1"))
    finish(store, place, "a.md", IngestState.COMPLETED)
    queue.queue_content(LOCAL_ADMIN, "a", "b.md", cloud("2026-04-05T11:00:00Z", "e2"))
    assert queue.status(LOCAL_ADMIN).session_cursors["s1"].last_event_id == "e2"
    queue.queue_content(LOCAL_ADMIN, "c", "c.md", cloud("2026-04-05T12:00:00Z", "e3"))
    assert queue.status(LOCAL_ADMIN).session_cursors["s1"].last_event_id == "e3"
    finish(store, place, "c.md", IngestState.FAILED, "no luck")
    status = queue.status(LOCAL_ADMIN)
    assert status.session_cursors["s1"].last_event_id == "e2"
    assert [it.reason for it in status.failed] == ["no luck"]


@pytest.mark.spec("session_cursors.in-store")
def test_session_cursors_outlive_the_files(queue: IngestQueue, store: Store, place: Place) -> None:
    queue.queue_content(LOCAL_ADMIN, "a", "a.md", cloud("2026-04-05T10:00:00Z", "e1"))
    finish(store, place, "a.md", IngestState.COMPLETED)
    (place.home.completed / "a.md").unlink()
    (place.home.completed / "a.md.meta.json").unlink()
    assert queue.status(LOCAL_ADMIN).session_cursors["s1"].through == "2026-04-05T10:00:00Z"
