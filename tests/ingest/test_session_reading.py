"""Reading a transcript: to the same end wherever it stopped."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.errors import NotFound, Unavailable
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.ingest.transcript_files import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.ports.store import Store
    from tests.ingest.places import Place
from tests.ingest.session_learner import Session


@pytest.mark.spec("transcripts.cursor.resumes")
@pytest.mark.parametrize("restarts", [False, True])
def test_reading_line_by_line_comes_to_the_same_as_reading_at_once(
    session: Session, place: Place, store: Store, *, restarts: bool
) -> None:
    chat = session.transcript
    chat.cwd = "/nowhere/line"
    for number in range(5):
        chat.say(f"Prompt {number} about src/app/part{number}.py and Neo4j")
        chat.answer(f"See https://sqlite.org/{number}")
        chat.work(20)
        chat.answer(f"pip install thing{number}")
    text = chat.file.read_bytes()
    whole = chat.file.with_name("22222222-0000-4000-8000-000000000002.jsonl")
    chat.file.write_bytes(b"")
    for line in text.splitlines(keepends=True):
        with chat.file.open("ab") as stream:
            stream.write(line)
        session.learn()
        if restarts:
            session.restart()
    by_line = ([it.content for it in session.memories()], session.sequence(), _graph(session))
    other = Session(_other_store(), place)
    whole.write_bytes(text)
    other.learn(whole)
    assert by_line == ([it.content for it in other.memories()], other.sequence(), _graph(other))


def _other_store() -> Store:
    from graph_memory.adapters.reference import ReferenceStore

    return ReferenceStore()


def _graph(session: Session) -> list[object]:
    entities = sorted((it.type, it.name, round(it.confidence, 6)) for it in session.entities())
    relations = sorted((it.source_id, it.type, it.target_id, round(it.weight, 6)) for it in session.relations())
    return [entities, relations]


@pytest.mark.spec("transcripts.cursor.half-line")
def test_a_half_written_line_is_read_once_it_is_whole(session: Session) -> None:
    chat = session.transcript
    chat.say("First")
    chat.say("Second")
    text = chat.file.read_bytes()
    for end in range(text.index(b"Second") - 40, len(text) + 1):
        chat.file.write_bytes(text[:end])
        session.learn()
        assert session.contents()[:1] == ["First"]
    assert session.contents() == ["First", "Second"]


@pytest.mark.spec("transcripts.cursor.replaced")
@pytest.mark.parametrize("how", ["truncated", "replaced", "moved away and back", "longer"])
def test_a_file_that_is_another_one_is_read_anew_without_doubles(session: Session, how: str) -> None:
    chat = session.transcript
    for number in range(4):
        chat.say(f"Prompt {number}")
        chat.answer(f"Answer {number}")
    session.learn()
    before = session.memories()
    text = chat.file.read_bytes()
    lines = text.splitlines(keepends=True)
    added = []
    if how == "truncated":
        chat.file.write_bytes(b"".join(lines[:3]))
    elif how == "moved away and back":
        chat.file.rename(chat.file.with_suffix(".away"))
        with pytest.raises(NotFound):
            session.learn()
        chat.file.with_suffix(".away").rename(chat.file)
    else:
        other = Transcript(chat.file.with_suffix(".new"), session_id="other", minutes=chat.minutes)
        other.say("Something else")
        added = ["Something else"]
        rest = text if how == "longer" else b"".join(lines[2:4])
        chat.file.write_bytes(other.file.read_bytes() + rest)
    session.learn()
    assert session.contents()[:4] == [it.content for it in before]
    assert session.contents()[4:] == added


def test_broken_lines_are_counted_and_the_rest_is_learned(session: Session) -> None:
    chat = session.transcript
    chat.say("Before")
    with chat.file.open("ab") as stream:
        stream.write(b'{"type": "user", "message": {"cont\n42\n\x00\x00\x00\n')
    chat.write({"type": "brand-new", "sessionId": chat.session_id})
    chat.say("After")
    session.learn()
    assert session.contents() == ["Before", "After"]
    (warning,) = session.events("format_warning")
    assert warning["unknown type 'brand-new'"] == 1
    (start,) = session.events("transcript_start")
    (end,) = session.events("transcript_end")
    assert start == {"session_id": chat.session_id}
    assert end["added"] == 2


def test_a_store_that_is_busy_moves_no_cursor(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = session.transcript
    for number in range(30):
        chat.say(f"Prompt {number}")
    real, calls = session.store.write, iter(range(100))

    def busy(principal: object, work: object) -> object:
        if next(calls) == 1:
            raise Unavailable("busy")
        return real(principal, work)  # type: ignore[arg-type]

    monkeypatch.setattr(session.store, "write", busy)
    with pytest.raises(Unavailable):
        session.learn()
    session.learn()
    assert session.contents() == [f"Prompt {number}" for number in range(30)]
    assert len(session.sequence()) == 29


def test_it_can_be_stopped_between_two_transactions_and_goes_on(session: Session) -> None:
    chat = session.transcript
    for number in range(30):
        chat.say(f"Prompt {number}")
        chat.work(100_000)
    outcome = session.learner.learn(LOCAL_ADMIN, chat.file, should_stop=lambda: True)
    assert not outcome.is_finished
    assert 0 < len(session.memories()) < 30
    session.restart()
    assert session.learn().is_finished
    assert session.contents() == [f"Prompt {number}" for number in range(30)]


def test_a_turn_of_many_megabytes_is_whole(session: Session) -> None:
    chat = session.transcript
    chat.say("Begin")
    for number in range(12):
        chat.work(1_000_000)
        chat.answer(f"Step {number}")
    session.learn()
    (memory,) = session.memories()
    assert memory.content == "Begin\n\n---\n\n" + "\n\n".join(f"Step {number}" for number in range(12))


@pytest.mark.spec("transcripts.cursor.resumes")
def test_all_sample_transcripts_are_learned_once(session: Session, shared_cases: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(shared_cases / "transcripts", folder, copy_function=shutil.copyfile)
    files = sorted(folder.rglob("*.jsonl"))
    assert len(files) > 40
    for file in files:
        session.learn(file)
    once = (session.memories(), session.sequence(), _graph(session))
    assert len(once[0]) > 40
    session.restart()
    for file in reversed(files):
        outcome = session.learn(file)
        assert not outcome.counts.has_changes
    for file in files:
        os.utime(file)
        file.write_bytes(file.read_bytes() + b"\n")
        assert not session.learn(file).counts.has_changes
    assert (session.memories(), session.sequence(), _graph(session)) == once


@pytest.mark.spec("transcripts.turn.resumed")
def test_the_same_session_copied_under_another_name_adds_nothing(session: Session, tmp_path: Path) -> None:
    chat = session.transcript
    for number in range(3):
        chat.say(f"Prompt {number}")
        chat.answer(f"Answer {number}")
    session.learn()
    once = session.memories()
    copy = tmp_path / "elsewhere" / "copy.jsonl"
    copy.parent.mkdir()
    shutil.copyfile(chat.file, copy)
    assert session.learn(copy).counts.known == 3
    assert session.memories() == once


def test_a_session_that_never_ends_does_not_grow_in_memory(tmp_path: Path, place: Place) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    session, most = Session(store, place), 0
    for number in range(10):
        for part in range(60):
            session.transcript.say(f"question {number} {part}?")
        session.learn()
        session.transcript.answer(f"answer {number}")
        session.learn()
        kept = [builder for _, builder in session.learner._live.values()]
        most = max([most, *(len(builder.state()["tree"]["stretches"]) for builder in kept)])
        assert not any(builder.is_overgrown for builder in kept)
    assert most > 200
    assert len(session.memories()) == 600
    assert all(f"answer {number}" in it for number, it in enumerate(session.contents()[59::60]))
    store.close()
