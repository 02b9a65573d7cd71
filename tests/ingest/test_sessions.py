"""Transcripts in the store: turns once each, wherever reading stopped, whatever a session repeats."""

from __future__ import annotations

import json
import os
import shutil
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.config.settings import Exclude
from graph_memory.domain.entities import EntityFilter, EntityKey, EntityOrder
from graph_memory.domain.errors import NotFound, Unavailable
from graph_memory.domain.ledger import Tombstone
from graph_memory.domain.memories import (
    ConnectionType,
    Layer,
    Lifecycle,
    MemoryFilter,
    MemoryOrder,
    Source,
    SynapseFilter,
)
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.relations import RelationFilter
from ingest.exclusions import Exclusions
from ingest.name_index import NameIndex
from ingest.policies import Policies
from ingest.sessions import TranscriptLearner
from ingest.transcripts.keys import turn_key
from tests.ingest.transcript_files import START, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from graph_memory.domain.entities import Entity
    from graph_memory.domain.memories import Memory
    from graph_memory.domain.relations import Relation
    from graph_memory.ports.store import Store
    from ingest.sessions import TranscriptOutcome
    from tests.ingest.conftest import Place


class Session:
    """A transcript, the store it is learned into, and what is in there."""

    def __init__(self, store: Store, place: Place, exclude: Exclude | None = None) -> None:
        self.store, self.place, self.exclude = store, place, exclude or Exclude()
        self.transcript = Transcript(
            place.ingest.projects_dirs[0] / "-app" / "11111111-0000-4000-8000-000000000001.jsonl"
        )
        self.learner = self.new_learner()

    def new_learner(self) -> TranscriptLearner:
        exclusions: Callable[[], Exclusions] = lambda: Exclusions(self.exclude, self.place.home)  # noqa: E731
        index = NameIndex(self.store, LOCAL_ADMIN, self.place.clock, self.place.clock.monotonic)
        return TranscriptLearner(self.store, self.place.clock, Policies(), index, exclusions)

    def restart(self) -> None:
        """Go on as a new process would."""
        self.learner = self.new_learner()

    def learn(self, file: Path | None = None) -> TranscriptOutcome:
        return self.learner.learn(LOCAL_ADMIN, file or self.transcript.file)

    def memories(self) -> Sequence[Memory]:
        where = MemoryFilter(statuses=None)
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.memories.page(where, MemoryOrder.ID, 10_000))

    def contents(self) -> list[str]:
        return [it.content for it in self.memories()]

    def sequence(self) -> list[tuple[str, str]]:
        """List the joined turns, by title."""
        titles = {it.id: it.title for it in self.memories()}
        where = SynapseFilter(frozenset({ConnectionType.SEQUENCE}))
        found = self.store.read(LOCAL_ADMIN, lambda tx: tx.synapses.of_memories(titles, where, limit=10_000))
        return sorted((titles[it.source_id], titles[it.target_id]) for it in found)

    def entities(self, type_key: str | None = None) -> Sequence[Entity]:
        where = EntityFilter(type_keys=None if type_key is None else frozenset({type_key}))
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.entities.page(where, EntityOrder.ID, 1_000))

    def entity(self, type_key: str, name_key: str) -> Entity:
        key = EntityKey(type_key, name_key)
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.entities.find_by_key({key}))[key]

    def relations(self) -> Sequence[Relation]:
        return self.store.read(LOCAL_ADMIN, lambda tx: tx.relations.page(RelationFilter(), None, 1_000))

    def events(self, name: str) -> list[dict[str, object]]:
        found = self.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.page_audit(10_000))
        return [dict(it.data) for it in found if it.event == name]


@pytest.fixture
def session(store: Store, place: Place) -> Session:
    return Session(store, place)


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


@pytest.mark.spec("redaction.ingest")
def test_secrets_of_a_transcript_are_nowhere(session: Session, place: Place) -> None:
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    chat = session.transcript
    chat.say(f"Use {secret}")
    chat.answer(f"I call https://sqlite.org/?t={secret} in {secret}/x/y.py")
    session.learn()
    assert all(secret not in content for content in session.contents())
    assert "[redacted:" in session.contents()[0]
    assert all(secret not in f"{it.name} {it.properties}" for it in session.entities())
    assert session.events("redacted")
    if place.home.database.exists():
        session.store.close()
        for file in place.home.path.glob("memory.db*"):
            assert secret.encode() not in file.read_bytes()


@pytest.mark.parametrize("kind", ["sidechain", "own prompt", "meta"])
def test_what_no_person_said_is_not_learned(session: Session, kind: str) -> None:
    chat = session.transcript
    if kind == "sidechain":
        chat.say("Explore", isSidechain=True)
        chat.answer("Explored", isSidechain=True)
    elif kind == "own prompt":
        chat.say("<graph-memory>\nExtract facts from: remember Postgres\n</graph-memory>")
    else:
        chat.say("Caveat", isMeta=True)
    session.learn()
    assert session.memories() == []


def test_sessions_in_the_product_s_own_folder_never_grow_the_store(session: Session, place: Place) -> None:
    chat = session.transcript
    chat.cwd = str(place.home.path / "work")
    for number in range(5):
        chat.say(f"Extract: {number}")
        chat.answer("Nothing new")
        assert session.learn().skipped == {"own_session": 1}
        assert session.memories() == []
        assert session.entities() == []
    assert len(session.events("transcript_skipped")) == 1


@pytest.mark.parametrize("by", ["project", "folder", "session", "file", "file above"])
def test_what_a_person_excludes_is_not_learned(store: Store, place: Place, user: Path, by: str) -> None:
    folder = user / "app" / "part"
    (folder / ".git").mkdir(parents=True)
    session_id = "11111111-0000-4000-8000-000000000001"
    exclude = {
        "project": Exclude(projects=("part",)),
        "folder": Exclude(folders=(user / "app",)),
        "session": Exclude(sessions=(session_id,)),
    }.get(by, Exclude())
    if by.startswith("file"):
        (folder if by == "file" else user / "app").joinpath(".no-memory").touch()
    session = Session(store, place, exclude)
    session.transcript.cwd = str(folder)
    session.transcript.say("Secret plan")
    outcome = session.learn()
    assert session.memories() == []
    assert session.entities() == []
    assert outcome.counts.excluded + sum(outcome.skipped.values()) == 1
    session.transcript.cwd = str(user / "other")
    session.transcript.session_id = "another"
    session.transcript.say("Open plan")
    session.learn()
    assert session.contents() == ["Open plan"]


def test_forgotten_turns_and_parts_never_come_back(session: Session) -> None:
    chat = session.transcript
    at = "2026-04-06T10:00:00Z"
    chat.say("Forget me", at=at)
    chat.answer("Forgotten")
    chat.say("Keep me")
    key = turn_key("Forget me", START.replace(hour=10))
    session.store.write(
        LOCAL_ADMIN, lambda tx: tx.ledger.put_tombstones([Tombstone(key, "asked", session.place.clock())])
    )
    assert session.learn().counts.forgotten == 1
    assert session.contents() == ["Keep me"]


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


def test_audit_holds_numbers_and_ids_and_no_words(session: Session) -> None:
    session.transcript.say("Pineapple in src/pineapple/core.py")
    session.learn()
    found = session.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.page_audit(1_000))
    assert "ineapple" not in json.dumps([dict(it.data) for it in found if it.event != "entity_created"])


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
