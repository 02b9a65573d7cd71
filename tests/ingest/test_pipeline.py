"""All of learning, as a user would break it: cut off anywhere, twice at once, files that come and go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.errors import StoreBusy, Unavailable
from graph_memory.domain.ledger import IngestState
from graph_memory.domain.memories import ConnectionType
from graph_memory.domain.principal import LOCAL_ADMIN
from ingest.identity import content_key
from ingest.inbox import Inbox
from ingest.learning import DocumentLearner
from ingest.work import WorkKind
from tests.ingest.learners import Learner
from tests.ingest.transcript_files import Transcript

if TYPE_CHECKING:
    from graph_memory.home import Home
    from graph_memory.ports.store import Store
    from tests.ingest.conftest import Place

ROOT = Path(__file__).resolve().parents[2]
TEXT = "# Note\n\n#tag in src/app/main.py"


@pytest.fixture
def learner(store: Store, place: Place) -> Learner:
    return Learner(store, place)


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


def test_what_happens_now_goes_before_what_lay_there(learner: Learner, place: Place) -> None:
    projects = place.ingest.projects_dirs[0] / "-app"
    now = place.clock.at
    for name, age in (("old", timedelta(days=5)), ("older", timedelta(days=30)), ("live", timedelta(minutes=1))):
        chat = Transcript(projects / f"{name}.jsonl", session_id=name)
        chat.say(f"Prompt of {name}")
        stamp = (now - age).timestamp()
        os.utime(chat.file, (stamp, stamp))
    scan = learner.pipeline.scan()
    assert [(it.file.stem, it.is_backlog) for it in scan.works] == [("live", False), ("old", True), ("older", True)]


@pytest.mark.spec("transcripts.first-run.ninety-days", "transcripts.first-run.by-mtime")
def test_the_first_run_reads_back_ninety_days_by_modification_time(learner: Learner, place: Place) -> None:
    projects = place.ingest.projects_dirs[0] / "-app"
    begun = place.clock.at
    for days in (1, 89, 91):
        chat = Transcript(projects / f"{days}.jsonl", session_id=str(days))
        chat.say(f"Prompt of {days}", at="2020-01-01T00:00:00Z")
        stamp = (begun - timedelta(days=days)).timestamp()
        os.utime(chat.file, (stamp, stamp))
    assert [it.file.stem for it in learner.pipeline.scan().works] == ["1", "89"]
    place.clock.wait(86_400 * 30)  # the bound stays where it was
    learner.restart()
    assert [it.file.stem for it in learner.pipeline.scan().works] == ["1", "89"]
    learner.learn()
    late = Transcript(projects / "91.jsonl", session_id="91")
    late.say("And on")
    learner.learn()
    assert {it.session_id for it in learner.memories()} == {"1", "89", "91"}


def test_how_far_back_may_be_decided(learner: Learner, place: Place) -> None:
    projects = place.ingest.projects_dirs[0] / "-app"
    for days in (1, 200):
        chat = Transcript(projects / f"{days}.jsonl", session_id=str(days))
        chat.say("Prompt")
        stamp = (place.clock.at - timedelta(days=days)).timestamp()
        os.utime(chat.file, (stamp, stamp))
    learner.pipeline.set_since(place.clock.at - timedelta(hours=1))
    assert [it.file.stem for it in learner.pipeline.scan().works] == []
    learner.pipeline.set_since(place.clock.at - timedelta(days=365))
    assert [it.file.stem for it in learner.pipeline.scan().works] == ["1", "200"]


def test_transcripts_that_did_not_grow_are_not_read_again(learner: Learner, place: Place) -> None:
    projects = place.ingest.projects_dirs[0] / "-app"
    chat = Transcript(projects / "s.jsonl", session_id="s")
    chat.say("Prompt")
    agent = Transcript(projects / "s" / "subagents" / "agent-1.jsonl", session_id="s")
    agent.say("Agent")
    empty = projects / "empty.jsonl"
    empty.touch()
    learner.learn()
    assert learner.pipeline.scan().works == ()
    learner.restart()
    assert learner.pipeline.scan().works == ()
    chat.say("More")
    (work,) = learner.pipeline.scan().works
    assert (work.kind, work.file) == (WorkKind.TRANSCRIPT, chat.file)
    learner.learn()
    assert [it.content for it in learner.memories()] == ["Prompt", "More"]


@pytest.mark.spec("bounds.only-changed")
def test_only_files_that_changed_are_looked_at_where_somebody_knows_them(learner: Learner, place: Place) -> None:
    projects = place.ingest.projects_dirs[0] / "-app"
    chats = [Transcript(projects / f"{name}.jsonl", session_id=name) for name in ("a", "b", "c")]
    for chat in chats[:2]:
        chat.say("Prompt")
    learner.learn()
    for chat in chats:
        chat.say("More")
    assert learner.pipeline.scan({projects / "elsewhere.md"}).works == ()
    assert [it.file.stem for it in learner.pipeline.scan({chats[1].file, chats[2].file}).works] == ["c", "b"]
    assert [it.file.stem for it in learner.pipeline.scan(()).works] == [
        "c",
        "b",
    ]  # what was found stays until it is done
    for work in learner.pipeline.scan(()).works:
        learner.pipeline.run(work)
    assert learner.pipeline.scan(()).works == ()
    chats[0].file.unlink()
    assert learner.pipeline.scan({chats[0].file}).works == ()
    assert learner.pipeline.scan().works == ()


@pytest.mark.parametrize(
    "name", ["note.jsonl", "-app/agent-1.jsonl", "-app/s/subagents/s.jsonl", "-app/folder.jsonl/x"]
)
def test_a_file_that_a_full_look_would_not_list_is_not_found_by_name_either(
    learner: Learner, place: Place, name: str
) -> None:
    file = place.ingest.projects_dirs[0] / name
    Transcript(file).say("Prompt")
    assert learner.pipeline.scan({file, file.parent}).works == ()


def test_a_transcript_that_is_gone_is_not_found_again(learner: Learner, place: Place) -> None:
    chat = Transcript(place.ingest.projects_dirs[0] / "-app" / "s.jsonl")
    chat.say("Prompt")
    (work,) = learner.pipeline.scan().works
    chat.file.unlink()
    learner.pipeline.run(work)
    assert learner.pipeline.scan(()).works == ()


@pytest.mark.spec("bounds.turns")
def test_notes_and_sessions_are_learned_by_turns(learner: Learner, place: Place) -> None:
    for number in range(4):
        Transcript(place.ingest.projects_dirs[0] / "-app" / f"{number}.jsonl", session_id=f"s{number}").say("Prompt")
    for number in range(2):
        (place.home.pending / f"{number}.md").write_text("A note", encoding="utf-8")
    learner.pipeline.scan()
    place.clock.wait(1.0)
    kinds = [it.kind for it in learner.pipeline.scan().works]
    document, transcript = WorkKind.DOCUMENT, WorkKind.TRANSCRIPT
    assert kinds == [document, transcript, document, transcript, transcript, transcript]


def test_an_old_session_that_was_left_in_the_middle_is_no_news_after_a_restart(learner: Learner, place: Place) -> None:
    chat = Transcript(place.ingest.projects_dirs[0] / "-app" / "s.jsonl")
    chat.say("Prompt")
    learner.learn()
    chat.say("More, while nobody looked")
    old = (place.clock.at - timedelta(days=1)).timestamp()
    os.utime(chat.file, (old, old))
    learner.restart()
    assert [(it.file, it.is_backlog) for it in learner.pipeline.scan().works] == [(chat.file, True)]


def test_a_transcript_that_vanishes_is_no_failure(learner: Learner, place: Place) -> None:
    chat = Transcript(place.ingest.projects_dirs[0] / "-app" / "s.jsonl")
    chat.say("Prompt")
    (work,) = learner.pipeline.scan().works
    chat.file.unlink()
    done = learner.pipeline.run(work)
    assert (done.items, done.failed) == (0, 0)


def test_a_projects_folder_that_is_not_there_is_reported(learner: Learner, place: Place) -> None:
    place.ingest.projects_dirs[0].rmdir()
    scan = learner.pipeline.scan()
    assert scan.works == ()
    assert len(scan.unreadable) == 1


def test_two_threads_on_one_home_learn_each_document_once(place: Place) -> None:
    for number in range(40):
        place.drop(f"{number}.md", f"Document {number} about #tag and #{'even' if number % 2 else 'odd'}")
        place.drop(f"copy/{number}.md", f"Document {number} about #tag and #{'even' if number % 2 else 'odd'}")
    chat = Transcript(place.ingest.projects_dirs[0] / "-app" / "s.jsonl")
    for number in range(50):
        chat.say(f"Prompt {number}")
    store = SqliteStore(place.home.database)
    errors: list[BaseException] = []

    def work() -> None:
        learner = Learner(store, replace_clock(place))
        try:
            learner.learn()
        except BaseException as error:  # noqa: BLE001 - told to the test
            errors.append(error)
        learner.pipeline.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    learner = Learner(store, place)
    learner.learn()
    assert errors == []
    assert len(learner.memories()) == 90
    assert learner.entity("tag", "tag").mention_count == 40
    assert learner.entity("tag", "odd").mention_count == 20
    assert {it.state for it in learner.items()} == {IngestState.COMPLETED}
    assert place.files(place.home.processing) == []
    store.close()


def replace_clock(place: Place) -> Place:
    """Give a worker a clock of its own."""
    return replace(place, clock=replace(place.clock))


WORKER = """
import json, sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.config.settings import Ingest, Settings
from graph_memory.home import Home
from ingest.pipeline import IngestPipeline
from ingest.policies import Policies

home, projects = Home(Path(sys.argv[1])), Path(sys.argv[2])
settings = replace(Settings(), ingest=Ingest(projects_dirs=(projects,), stable_seconds=0.1))
store = SqliteStore(home.database)
pipeline = IngestPipeline(store, home, settings, lambda: datetime.now(UTC), Policies())
print("ready", flush=True)
sys.stdin.readline()
while True:
    scan = pipeline.scan()
    for work in scan.works:
        print("begin", work.name, flush=True)
        pipeline.run(work)
        print("end", work.name, flush=True)
    if not scan.works and scan.look_again_in is None:
        break
pipeline.close()
print("done", flush=True)
"""


def start_worker(home: Home, projects: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(home.path), str(projects)]
    worker = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n", worker.stderr and worker.stderr.read()
    return worker


def release(*workers: subprocess.Popen[str]) -> None:
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()


def prepare_home(place: Place, count: int) -> None:
    for number in range(count):
        place.drop(f"{number}.md", f"# Title {number}\n\nDocument {number} about #tag. " + "word " * 300)
    for name in ("s", "t"):
        chat = Transcript(place.ingest.projects_dirs[0] / "-app" / f"{name}.jsonl", session_id=name)
        for number in range(60):
            chat.say(f"Prompt {number} of {name} about #tag")
            chat.answer("Yes")


def check_home(place: Place, count: int) -> None:
    store = SqliteStore(place.home.database)
    learner = Learner(store, place)
    assert len(learner.memories()) == count + 120
    assert learner.entity("tag", "tag").mention_count == count + 120
    assert set(learner.states().values()) == {"completed"}
    assert len(learner.states()) == count
    for folder in (place.home.processing, place.home.pending, place.home.failed):
        assert place.files(folder) == []
    once = learner.everything()
    learner.learn()
    assert learner.everything() == once
    assert store.integrity_problems() == ()
    store.close()


@pytest.mark.spec("inbox.crash")
def test_two_processes_on_one_home_learn_everything_once(place: Place) -> None:
    prepare_home(place, 30)
    SqliteStore(place.home.database).close()
    workers = [start_worker(place.home, place.ingest.projects_dirs[0]) for _ in range(2)]
    release(*workers)
    for worker in workers:
        out, errors = worker.communicate(timeout=100)
        assert worker.returncode == 0, errors
        assert out.endswith("done\n")
    check_home(place, 30)


@pytest.mark.spec("inbox.crash", "transcripts.cursor.resumes")
def test_processes_killed_at_any_moment_lose_and_double_nothing(place: Place) -> None:
    prepare_home(place, 12)
    SqliteStore(place.home.database).close()
    for lines in (1, 2, 5, 9, 13):
        worker = start_worker(place.home, place.ingest.projects_dirs[0])
        release(worker)
        assert worker.stdout is not None
        for _ in range(lines):
            if worker.stdout.readline() in {"done\n", ""}:
                break
        time.sleep(0.003 * lines)  # somewhere in the middle of a piece; wherever that is
        worker.kill()
        worker.communicate(timeout=30)
    last = start_worker(place.home, place.ingest.projects_dirs[0])
    release(last)
    out, errors = last.communicate(timeout=100)
    assert last.returncode == 0, errors
    assert out.endswith("done\n")
    check_home(place, 12)


def test_situation_3_a_store_held_by_another_process_makes_learning_wait(place: Place) -> None:
    import apsw

    store = SqliteStore(place.home.database, deadline=0.2)
    learner = Learner(store, place)
    place.drop("n.md", TEXT)
    learner.pipeline.scan()
    place.clock.wait(1)
    (work,) = learner.pipeline.scan().works
    holder = apsw.Connection(str(place.home.database))
    holder.execute("begin immediate")
    with pytest.raises(StoreBusy):
        learner.pipeline.run(work)
    assert learner.place.files(place.home.pending) == ["n.md"]
    holder.execute("rollback")
    holder.close()
    learner.learn()
    assert learner.titles() == ["Note"]
    store.close()


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
