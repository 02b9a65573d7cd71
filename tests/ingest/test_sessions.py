"""Transcripts in the store: turns once each, whatever a session repeats."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.memories import (
    Layer,
    Lifecycle,
    Source,
)
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.ingest.transcript_files import START, Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ingest.session_learner import Session


@pytest.mark.spec("transcripts.turn.extent", "transcripts.memory.defaults")
def test_a_prompt_and_all_that_answers_it_are_one_memory(session: Session) -> None:
    chat = session.transcript
    chat.say("# Why does the build fail?\nIt is red since noon.")
    chat.answer("I look.")
    chat.work(10)
    chat.answer("A dependency moved.")
    chat.say("Fix it")
    session.learn()
    first, second = session.memories()
    assert first.title == "Why does the build fail?"
    assert first.content == "# Why does the build fail?\nIt is red since noon.\n\n---\n\nI look.\n\nA dependency moved."
    assert (second.title, second.content) == ("Fix it", "Fix it")
    assert (first.layer, first.category, first.lifecycle, first.source) == (
        Layer.EPISODIC,
        "context",
        Lifecycle.MILESTONE,
        Source.IMPORT,
    )
    assert first.session_id == chat.session_id
    assert first.source_file == str(chat.file)
    assert (first.created_at - START).total_seconds() == 60


@pytest.mark.spec("transcripts.turn.at-once", "transcripts.turn.grows", "transcripts.turn.assistant-key")
@pytest.mark.parametrize("restarts", [False, True])
def test_a_turn_is_there_at_once_and_grows_while_it_is_answered(session: Session, *, restarts: bool) -> None:
    chat = session.transcript
    expected = "Write a parser"
    chat.say(expected)
    for number in range(4):
        session.learn()
        if restarts:
            session.restart()
        assert session.contents() == [expected]
        chat.answer(f"Step {number}")
        expected += ("\n\n---\n\n" if number == 0 else "\n\n") + f"Step {number}"
    session.learn()
    (memory,) = session.memories()
    assert memory.content == expected
    assert session.store.read(LOCAL_ADMIN, lambda tx: tx.memories.versions([memory.id])) == []


@pytest.mark.spec("transcripts.turn.resumed", "transcripts.turn.key")
def test_a_resumed_session_that_repeats_turns_under_new_ids_adds_nothing(session: Session, shared_cases: Path) -> None:
    folder = shared_cases / "transcripts" / "derived" / "resume_duplicates_history"
    original, resumed = folder / "original.jsonl", next(it for it in folder.iterdir() if it.name != "original.jsonl")
    session.learn(original)
    known = session.memories()
    outcome = session.learn(resumed)
    assert session.memories()[: len(known)] == known
    prompts = [it.content.split("\n\n---")[0] for it in session.memories()]
    assert len(prompts) == len(set(prompts))
    assert outcome.counts.added == len(session.memories()) - len(known)
    assert outcome.counts.added <= 1  # what was said after resuming


def test_a_fork_goes_on_from_the_turn_it_shares(session: Session) -> None:
    chat = session.transcript
    chat.say("Shared", at="2026-04-06T10:00:00Z")
    chat.answer("Yes", message_id="m1")
    session.learn()
    fork = Transcript(chat.file.with_name("fork.jsonl"), session_id="fork")
    fork.say("Shared", at="2026-04-06T10:00:00Z")
    fork.answer("Yes", message_id="m1")
    fork.say("Then something else")
    session.learn(fork.file)
    assert session.contents() == ["Shared\n\n---\n\nYes", "Then something else"]
    assert session.sequence() == [("Shared", "Then something else")]


@pytest.mark.spec("transcripts.turn.abandoned")
def test_what_a_rewind_left_behind_is_marked_and_kept(session: Session) -> None:
    chat = session.transcript
    chat.say("Begin")
    start = chat.parent
    chat.say("Wrong way")
    chat.answer("Going wrong")
    session.learn()
    assert [it.is_abandoned for it in session.memories()] == [False, False]
    chat.parent = start
    chat.say("Right way")
    session.learn()
    marked = {it.title: it.is_abandoned for it in session.memories()}
    assert marked == {"Begin": False, "Wrong way": True, "Right way": False}
    assert session.sequence() == [("Begin", "Right way"), ("Begin", "Wrong way")]


@pytest.mark.spec("transcripts.queued.human", "transcripts.queued.repeated")
@pytest.mark.parametrize("restarts", [False, True])
def test_text_typed_meanwhile_is_one_memory_also_when_it_is_repeated(session: Session, *, restarts: bool) -> None:
    chat = session.transcript
    chat.say("Begin")
    chat.write(
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "timestamp": "2026-04-06T12:00:00Z",
            "sessionId": chat.session_id,
            "content": "And mind pkg/thing.py",
        }
    )
    session.learn()
    assert session.contents() == ["Begin", "And mind pkg/thing.py"]
    if restarts:
        session.restart()
    chat.answer("Begun")
    chat.say("And mind pkg/thing.py")
    session.learn()
    assert sorted(it.content for it in session.memories()) == ["And mind pkg/thing.py", "Begin\n\n---\n\nBegun"]
    mentioned = session.entity("file", "pkg/thing.py")
    assert mentioned.confidence == pytest.approx(0.3)
    assert mentioned.mention_count == 1


@pytest.mark.spec("transcripts.sequence")
def test_neighbouring_turns_are_joined_across_batches_and_restarts(session: Session) -> None:
    chat = session.transcript
    for number in range(45):
        chat.say(f"Prompt {number:02}")
        chat.answer("Done")
        if number in {10, 30}:
            session.learn()
            session.restart()
    session.learn()
    names = [f"Prompt {number:02}" for number in range(45)]
    assert session.sequence() == list(pairwise(names))


@pytest.mark.spec("transcripts.session-entity", "transcripts.project-entity", "extraction.relation-mentions")
def test_session_and_project_are_entities_and_mentions_start_from_the_session(session: Session) -> None:
    chat = session.transcript
    chat.say("Look at src/app/main.py")
    session.learn()
    project = session.entity("project", "app")
    assert project.properties["path"] == "/nowhere/app"
    me = session.entity("session", chat.session_id)
    assert me.properties["project"] == project.id
    path = session.entity("file", "src/app/main.py")
    found = {(it.source_id, it.type, it.target_id): it.weight for it in session.relations()}
    assert found == {
        (me.id, "MENTIONS", project.id): pytest.approx(0.3),
        (me.id, "MENTIONS", path.id): pytest.approx(0.3),
    }
    (memory,) = session.memories()
    assert memory.project_id == "app"
    mentions = session.store.read(LOCAL_ADMIN, lambda tx: tx.memories.mentions_of_memories({memory.id}))
    assert [it.entity_id for it in mentions] == [path.id]


@pytest.mark.spec("extraction.one-boost")
def test_a_turn_boosts_what_it_names_once_however_often_it_is_read(session: Session) -> None:
    chat = session.transcript
    chat.say("src/a/b.py and src/a/b.py")
    for number in range(3):
        chat.answer(f"Step {number} in src/a/b.py")
        session.learn()
        session.restart()
    entity = session.entity("file", "src/a/b.py")
    assert entity.confidence == pytest.approx(0.3)
    assert entity.mention_count == 1
    chat.say("Once more src/a/b.py")
    session.learn()
    again = session.entity("file", "src/a/b.py")
    assert again.confidence == pytest.approx(0.35)
    assert again.mention_count == 2
    assert session.entity("session", chat.session_id).mention_count == 1


@pytest.mark.spec("transcripts.turn.broken-chain")
def test_broken_chains_lose_no_message(session: Session) -> None:
    chat = session.transcript
    for number, parent in enumerate((None, "never-written", "u2", "u1")):
        chat.parent = parent
        chat.say(f"Prompt {number}", uuid=f"u{number}")
    session.learn()
    assert sorted(session.contents()) == [f"Prompt {number}" for number in range(4)]


def test_titles_that_are_taken_get_their_day(session: Session) -> None:
    chat = session.transcript
    for day in ("05", "06", "06"):
        chat.say("continue", at=f"2026-04-{day}T10:00:00Z")
        chat.answer(f"On {day}")
    chat.say("continue", at="2026-04-06T11:30:00Z")
    session.learn()
    titles = [it.title for it in session.memories()]
    assert titles == ["continue", "continue (2026-04-06)", "continue (2026-04-06 11:30)"]
