"""Documents that are bad, hostile, secret or forgotten."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.ledger import CLOUD_SOURCE, IngestState, Tombstone
from graph_memory.domain.memories import ConnectionType
from graph_memory.domain.principal import LOCAL_ADMIN
from ingest.identity import content_key
from ingest.queueing import IngestQueue

if TYPE_CHECKING:
    from tests.ingest.learners import Learner
    from tests.ingest.places import Place


@pytest.mark.spec("redaction.ingest", "redaction.sidecar")
def test_secrets_of_a_document_are_in_nothing_of_ours(learner: Learner, place: Place) -> None:
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    pem = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7\n" * 400 + "-----END RSA PRIVATE KEY-----"
    place.drop("n.md.meta.json", json.dumps({"author": f"Ada {secret}", "note": secret}))
    learner.drop("n.md", f"# Key {secret}\n\nsee {secret}/src/main.py\n\n{pem}\n\npassword = 'hunter2hunter2'\n")
    found = json.dumps(
        [
            [(it.title, it.content, it.summary) for it in learner.memories()],
            [(kind, name, dict(it.properties)) for (kind, name), it in learner.entities().items()],
            [dict(it.meta) for it in learner.items()],
        ]
    )
    assert secret not in found
    assert "MIIEowIBAAKCAQEA7" not in found
    assert "hunter2hunter2" not in found
    (event,) = learner.events("redacted")
    assert sum(it for name, it in event.items() if name != "memory_id" and isinstance(it, int)) >= 3
    if place.home.database.exists():
        learner.store.close()
        for file in place.home.path.glob("memory.db*"):
            data = file.read_bytes()
            assert secret.encode() not in data
            assert b"MIIEowIBAAKCAQEA7" not in data


BAD = {
    "binary.md": b"\x89PNG\r\n\x1a\n\x00\x00\x00" * 50,
    "empty.md": b"",
    "blank.md": b" \n\t\n",
    "picture.png": b"\x89PNG",
    "no-ending": b"text",
    "cut.json": b"\x00\x01\x02",
}


@pytest.mark.spec("inbox.one-bad-file", "document.format.other", "graph_ingest.status.failed-reason")
def test_bad_files_are_set_aside_each_with_its_reason(learner: Learner, place: Place) -> None:
    for name, data in BAD.items():
        place.drop(name, data)
    (place.home.pending / "link.md").symlink_to("/etc/passwd")
    (place.home.pending / "large.md").write_bytes(b"")
    with (place.home.pending / "large.md").open("r+b") as stream:
        stream.truncate(place.ingest.max_file_bytes + 1)
    for number in range(20):
        place.drop(f"good {number}.md", f"good text {number}")
    learner.learn()
    assert len(learner.memories()) == 20
    failed = {it.path: it.reason for it in learner.items(IngestState.FAILED)}
    assert failed.keys() == {*BAD, "link.md", "large.md"}
    assert all(failed.values())
    for name, reason in failed.items():
        assert (place.home.failed / f"{name}.reason.txt").read_text().strip() == reason
    assert place.files(place.home.processing) == []
    assert place.files(place.home.pending) == []


@pytest.mark.parametrize(
    "name", ["a\nb.md", "'; drop table memories; --.md", "[[x]].md", "$(rm -rf).md", "\u202egpj.md", "n" * 250 + ".md"]
)
def test_hostile_names_are_names(learner: Learner, name: str) -> None:
    (done,) = learner.drop(name, "text")
    assert done.failed == 0
    (memory,) = learner.memories()
    assert memory.content == "text"


def test_names_in_bytes_that_are_no_unicode_are_learned(learner: Learner, place: Place) -> None:
    import os

    (place.home.pending / os.fsdecode(b"caf\xe9.md")).write_text("text")
    learner.learn()
    assert [it.content for it in learner.memories()] == ["text"]


def test_composed_and_decomposed_names_are_one_document(learner: Learner) -> None:
    learner.drop("Cafe\u0301.md", "first")
    learner.drop("Caf\xe9.md", "second")
    (memory,) = learner.memories()
    assert memory.content == "second"
    assert len([1 for kind, _ in learner.entities() if kind == "Document"]) == 1


@pytest.mark.spec("document.front-matter.broken")
def test_broken_front_matter_stops_nothing(learner: Learner) -> None:
    for number, front in enumerate(["title: a: b", "\ttabbed: x", "[unclosed", "- a\n- b"]):
        learner.drop(f"n{number}.md", f"---\n{front}\n---\nbody number {number}\n")
    assert len(learner.memories()) == 4
    assert all(f"body number {number}" in it.content for number, it in enumerate(learner.memories()))


def test_situation_13_a_list_of_links_and_bad_files_among_a_hundred(learner: Learner, place: Place) -> None:
    for number in range(97):
        place.drop(f"note {number}.md", f"Text {number}")
    place.drop("list.md", '---\nrelated: ["[[note 1]]","[[note 2]]"]\n---\nList')
    place.drop("broken.md", "---\ntitle: [a\n---\nBroken")
    place.drop("picture.md", BAD["binary.md"])
    learner.learn()
    assert len(learner.memories()) == 99
    assert [it.path for it in learner.items(IngestState.FAILED)] == ["picture.md"]
    assert set(learner.links(ConnectionType.WIKILINK)) == {("list", "note 1"), ("list", "note 2")}


def test_forgotten_content_is_not_learned_again(learner: Learner, place: Place) -> None:
    key = content_key(b"text")
    learner.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_tombstones([Tombstone(key, "asked", place.clock())]))
    (done,) = learner.drop("n.md", "text")
    assert done.reason is not None
    assert "forgotten" in done.reason
    assert learner.memories() == []


@pytest.mark.spec("session_cursors.not-failed")
def test_a_known_document_fails_with_the_first_of_its_content(learner: Learner, place: Place) -> None:
    queue = IngestQueue(learner.store, place.home, place.ingest, place.clock)
    meta = {"source": CLOUD_SOURCE, "session_id": "s1", "last_event_id": "e"}
    queue.queue_content(LOCAL_ADMIN, " ", "a.md", {**meta, "through": "2026-01-01T00:00:00Z"})
    queue.queue_content(LOCAL_ADMIN, " ", "b.md", {**meta, "through": "2026-01-02T00:00:00Z"})
    assert queue.status(LOCAL_ADMIN).session_cursors["s1"].file == "b.md"
    learner.learn()
    assert queue.status(LOCAL_ADMIN).session_cursors == {}
    assert learner.states() == {"a.md": "failed", "b.md": "failed"}


def test_a_failed_document_that_is_mended_is_learned(learner: Learner, place: Place) -> None:
    learner.drop("n.md", "")
    assert learner.states() == {"n.md": "failed"}
    learner.drop("n.md", "mended")
    assert [it.content for it in learner.memories()] == ["mended"]


@pytest.mark.spec("graph_ingest.failed.requeue", "graph_ingest.status.completed-fields")
def test_a_failed_document_is_taken_up_again_when_it_is_queued_again(
    learner: Learner, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graph_memory.domain.errors import IngestError

    def refuse(*_: object) -> None:
        raise IngestError("no reader today")

    with monkeypatch.context() as patch:
        patch.setattr("ingest.learning.read_document", refuse)
        learner.drop("n.md", "text with #tag")
    queue = IngestQueue(learner.store, place.home, place.ingest, place.clock)
    (failed,) = queue.status(LOCAL_ADMIN).failed
    assert failed.reason == "no reader today"
    queue.retry(LOCAL_ADMIN, [failed.id])
    learner.learn()
    (done,) = queue.status(LOCAL_ADMIN).completed
    assert (done.id, done.entity_count, done.relation_count) == (failed.id, 2, 1)
    assert done.updated_at > failed.updated_at


@pytest.mark.spec("document.format.json", "document.format.html", "document.format.srt", "document.format.txt")
def test_other_kinds_are_text_too(learner: Learner, place: Place) -> None:
    place.drop("a.json", '{"title": "Plan", "steps": ["measure twice"]}')
    place.drop("b.html", "<html><body><h1>Page</h1><script>var x</script><p>seen text</p></body></html>")
    place.drop("c.srt", "1\n00:00:01,000 --> 00:00:02,000\nspoken words\n")
    place.drop("d.txt", "plain words")
    learner.learn()
    texts = {it.source_file: it.content for it in learner.memories()}
    assert "measure twice" in texts["a.json"]
    assert "seen text" in texts["b.html"]
    assert "var x" not in texts["b.html"]
    assert texts["c.srt"].strip() == "spoken words"
    assert texts["d.txt"] == "plain words"
