"""All of learning, as a user would break it: cut off anywhere, files that come and go."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.errors import StoreBusy, Unavailable
from graph_memory.domain.ledger import IngestState
from graph_memory.domain.memories import ConnectionType
from graph_memory.domain.principal import LOCAL_ADMIN
from ingest.identity import content_key
from ingest.inbox import Inbox
from ingest.learning import DocumentLearner

if TYPE_CHECKING:
    from tests.ingest.learners import Learner
    from tests.ingest.places import Place


TEXT = "# Note\n\n#tag in src/app/main.py"


class Killed(BaseException):
    """The process ends here: nothing that follows is done."""


def kill_at(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, *, after: bool) -> None:
    """Let a call end the process, before or after it is done; what would tidy up is not done either."""
    real = getattr(owner, name)

    def killed(self: object, *arguments: object, **named: object) -> object:
        if after:
            real(self, *arguments, **named)
        raise Killed

    monkeypatch.setattr(owner, name, killed)
    monkeypatch.setattr(Inbox, "give_back", lambda *_: None)


STEPS: list[tuple[type, str, bool]] = [
    (Inbox, "claim", True),
    (DocumentLearner, "_begin", False),
    (DocumentLearner, "_prepared", False),
    (DocumentLearner, "_store_whole", False),
    (DocumentLearner, "_store_whole", True),
    (Inbox, "complete", False),
    (Inbox, "complete", True),
]


@pytest.mark.spec("inbox.crash", "inbox.idempotent-write")
@pytest.mark.parametrize(("owner", "name", "after"), STEPS, ids=[f"{name}-{after}" for _, name, after in STEPS])
def test_a_kill_at_any_step_leaves_a_document_learned_once(
    learner: Learner, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, *, after: bool
) -> None:
    learner.place.drop("a/n.md", TEXT)
    learner.place.drop("a/n.md.meta.json", '{"author": "Ada"}')
    with monkeypatch.context() as patch:
        kill_at(patch, owner, name, after=after)
        with pytest.raises(Killed):
            learner.learn()
    lock = learner.pipeline._inbox._lock
    if lock is not None:
        os.close(lock)  # as the system does for a process that is gone
    learner.pipeline = learner.new_pipeline()
    learner.learn()
    assert learner.titles() == ["Note"]
    assert learner.states() == {"a/n.md": "completed"}
    assert learner.mentioned_by("a/n.md").keys() == {"tag", "src/app/main.py", "Ada"}
    assert {it.mention_count for it in learner.entities().values()} == {1}
    assert learner.place.files(learner.place.home.processing) == []
    assert learner.place.files(learner.place.home.pending) == []
    assert learner.place.files(learner.place.home.completed) == ["a/n.md", "a/n.md.meta.json"]


def test_a_failed_document_is_set_aside_also_after_a_kill(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    learner.place.drop("n.md", "")
    with monkeypatch.context() as patch:
        kill_at(patch, Inbox, "fail", after=False)
        with pytest.raises(Killed):
            learner.learn()
    learner.restart()
    learner.learn()
    assert learner.states() == {"n.md": "failed"}
    assert learner.place.files(learner.place.home.failed) == ["n.md", "n.md.reason.txt"]


@pytest.mark.parametrize("error", [StoreBusy("busy"), Unavailable("down")])
def test_a_document_stays_pending_while_the_store_cannot_take_it(
    learner: Learner, monkeypatch: pytest.MonkeyPatch, error: Unavailable
) -> None:
    def refuse(*_: object) -> None:
        raise error

    learner.place.drop("n.md", TEXT)
    learner.pipeline.scan()
    learner.place.clock.wait(1)
    (work,) = learner.pipeline.scan().works
    for step in ("write", "write"):
        with monkeypatch.context() as patch:
            patch.setattr(learner.store, step, refuse)
            with pytest.raises(type(error)):
                learner.pipeline.run(work)
        assert learner.place.files(learner.place.home.pending) == ["n.md"]
        assert learner.items() == []
    learner.learn()
    assert learner.titles() == ["Note"]


def test_a_defect_in_learning_sets_the_document_aside_with_its_trace(
    learner: Learner, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    learner.place.drop("n.md", TEXT)
    with monkeypatch.context() as patch:
        patch.setattr("ingest.learning.store_document", broken)
        (done,) = learner.learn()
    assert done.item is not None
    assert done.item.state is IngestState.FAILED
    assert done.reason is not None
    assert "e-" in done.reason
    assert "document_failed" in caplog.text
    assert learner.place.files(learner.place.home.pending) == []
    assert learner.memories() == []


@pytest.mark.spec("inbox.stable")
def test_situation_8_a_slow_copy_is_learned_once_and_whole(learner: Learner, place: Place) -> None:
    pieces = [f"piece {number} " + "x" * 5_000 + "\n\n" for number in range(20)]
    file = place.home.pending / "big.md"
    for piece in pieces:
        with file.open("a") as stream:
            stream.write(piece)
        assert learner.pipeline.scan().works == ()
        place.clock.wait(0.9)
    scan = learner.pipeline.scan()
    assert scan.works == ()
    assert scan.look_again_in == pytest.approx(0.1)
    place.clock.wait(1)
    (work,) = learner.pipeline.scan().works
    learner.pipeline.run(work)
    place.clock.wait(2)
    place.drop("big.md.meta.json", '{"author": "Ada"}')
    learner.learn()
    parent, *chunks = learner.memories()
    assert "".join(it.content for it in chunks) == "".join(pieces)
    assert learner.states() == {"big.md": "completed"}
    assert "Ada" in learner.mentions(parent.title)


def test_a_sidecar_that_is_still_written_is_waited_for(learner: Learner, place: Place) -> None:
    place.drop("n.md", "text")
    learner.pipeline.scan()
    place.clock.wait(0.8)
    place.drop("n.md.meta.json", '{"author"')
    learner.pipeline.scan()
    place.clock.wait(0.8)
    assert learner.pipeline.scan().works == ()
    place.drop("n.md.meta.json", '{"author": "Ada"}')
    assert learner.pipeline.scan().works == ()
    place.clock.wait(1)
    (work,) = learner.pipeline.scan().works
    assert learner.pipeline.run(work).warnings == ()
    assert learner.mentions("n") == {"Ada"}


def test_a_document_that_is_written_to_while_it_is_learned_is_learned_again(
    learner: Learner, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.drop("n.md", "half ")
    real = DocumentLearner.learn
    written: list[Path] = []

    def learn(self: DocumentLearner, principal: object, raw: object) -> object:
        if not written:
            (file,) = [it for it in place.home.processing.rglob("n.md") if it.is_file()]
            with file.open("a") as stream:
                stream.write("and whole")
            written.append(file)
        return real(self, principal, raw)  # type: ignore[arg-type]

    monkeypatch.setattr(DocumentLearner, "learn", learn)
    learner.learn()
    assert [it.content for it in learner.memories()] == ["half and whole"]


@pytest.mark.parametrize("way", ["moved in", "replaced", "renamed", "gone", "folder"])
def test_situation_9_files_that_come_and_go(learner: Learner, place: Place, way: str) -> None:
    pending = place.home.pending
    if way == "moved in":
        place.drop("note.tmp", "text")
        learner.learn()
        (pending / "note.tmp").rename(pending / "note.md")
    elif way == "replaced":
        place.drop("note.md", "old")
        learner.pipeline.scan()
        place.drop("other.tmp", "text").replace(pending / "note.md")
    else:
        place.drop("first.md", "text")
        learner.pipeline.scan()
        place.clock.wait(1)
        (work,) = learner.pipeline.scan().works
        if way == "folder":
            (pending / "first.md").unlink()
            (pending / "first.md").mkdir()
            place.drop("first.md/note.md", "text")
        elif way == "gone":
            (pending / "first.md").unlink()
            place.drop("note.md", "text")
        else:
            (pending / "first.md").rename(pending / "note.md")
        learner.pipeline.run(work)
    learner.learn()
    assert [it.content for it in learner.memories()] == ["text"]
    names = {Path(it.path).name for it in learner.items(IngestState.COMPLETED)}
    assert names == {"note.md"}
    assert not learner.items(IngestState.PENDING)
    assert not learner.items(IngestState.PROCESSING)


@pytest.mark.parametrize("slices", [0, 1, 3])
def test_a_huge_document_is_stored_in_slices_and_still_once(
    learner: Learner, place: Place, monkeypatch: pytest.MonkeyPatch, slices: int
) -> None:
    monkeypatch.setattr("ingest.learning.CHUNKS_AT_ONCE", 3)
    texts = [
        "# Huge\n\n" + "\n\n".join(f"## {version} {n}\n\n" + f"w{n} " * 400 for n in range(12)) for version in "ab"
    ]
    for text in texts:
        place.drop("huge.md", text)
        real, calls = DocumentLearner._stage_slice, iter(range(100))

        def staged(self: DocumentLearner, *arguments: object, real: object = real, **named: object) -> object:
            if next(calls) == slices:  # noqa: B023 - called within this turn alone
                raise Killed
            return real(self, *arguments, **named)  # type: ignore[operator]

        if slices:
            with monkeypatch.context() as patch:
                patch.setattr(DocumentLearner, "_stage_slice", staged)
                patch.setattr(Inbox, "give_back", lambda *_: None)
                with pytest.raises(Killed):
                    learner.learn()
            learner.restart()
        learner.learn()
        parent, *chunks = sorted(learner.memories(), key=lambda it: it.title != "Huge")
        (item,) = [it for it in learner.items() if it.content_key == content_key(text.encode())]
        by_id = {it.id: it for it in chunks}
        assert item.memory_ids[0] == parent.id
        assert set(item.memory_ids[1:]) == set(by_id)
        assert "".join(by_id[it].content for it in item.memory_ids[1:]) == text
        titles = [by_id[it].title for it in item.memory_ids[1:]]
        assert set(pairwise(titles)) <= set(learner.links(ConnectionType.SEQUENCE))
        children = {b for a, b in learner.links(ConnectionType.PARENT_CHILD) if a == "Huge"}
        assert children == set(titles)


def test_what_waits_in_the_ledger_and_nowhere_else_is_let_go(learner: Learner, place: Place) -> None:
    from ingest.queueing import IngestQueue

    queue = IngestQueue(learner.store, place.home, place.ingest, place.clock)
    queued = queue.queue_content(LOCAL_ADMIN, "text", "n.md")
    assert queued.destination is not None
    queued.destination.unlink()
    learner.learn()
    assert learner.states() == {"n.md": "pending"}  # somebody may be about to write it
    place.clock.wait(3_600)
    learner.learn()
    assert learner.states() == {}


def test_situation_12_sent_again_dropped_twice_restarted(learner: Learner, place: Place) -> None:
    from ingest.queueing import IngestQueue

    queue = IngestQueue(learner.store, place.home, place.ingest, place.clock)
    answers = [queue.queue_content(LOCAL_ADMIN, TEXT, "n.md").is_known for _ in range(3)]
    assert answers == [False, True, True]
    place.drop("copy.md", TEXT)
    place.drop("deep/copy.md", TEXT)
    learner.pipeline.scan()
    place.clock.wait(1)
    learner.pipeline.run(learner.pipeline.scan().works[0])
    learner.restart()
    learner.learn()
    assert learner.titles() == ["Note"]
    assert queue.queue_content(LOCAL_ADMIN, TEXT, "n.md").is_known
    assert set(learner.states().values()) == {"completed"}


def test_the_audit_tells_of_each_document_in_numbers(learner: Learner) -> None:
    learner.drop("secret plans.md", "Pineapple #fruit")
    learner.drop("empty.md", "")
    start = learner.events("ingest_start")[0]
    (end,), (failed,) = learner.events("ingest_end"), learner.events("ingest_failed")
    assert start["item_id"] == end["item_id"]
    assert (end["memories"], end["entities"], end["relations"]) == (1, 2, 1)
    assert "bytes" in failed
    told = json.dumps([start, end, failed])
    assert "ineapple" not in told
    assert "plans" not in told


def test_a_piece_has_the_same_name_when_it_is_found_again(learner: Learner, place: Place) -> None:
    place.drop("n.md", "text")
    learner.pipeline.scan()
    place.clock.wait(1)
    first, second = learner.pipeline.scan(), learner.pipeline.scan()
    assert [it.name for it in first.works] == [it.name for it in second.works] == ["document:n.md"]
