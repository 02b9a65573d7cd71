"""What a look finds, in which order, and how far back."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from ingest.work import WorkKind
from tests.ingest.transcript_files import Transcript

if TYPE_CHECKING:
    from tests.ingest.learners import Learner
    from tests.ingest.places import Place


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
    assert [it.file.stem for it in learner.pipeline.scan({chats[1].file, chats[2].file}).works] == ["b", "c"]
    # What was found stays until it is done, and what has waited longest comes first.
    assert [it.file.stem for it in learner.pipeline.scan(()).works] == ["b", "c"]
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
