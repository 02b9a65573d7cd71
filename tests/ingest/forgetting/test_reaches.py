"""Forgetting by document, note, project, dates, entity and cloud session."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.forgetting import Reach
from graph_memory.domain.ledger import CLOUD_SOURCE, IngestState
from graph_memory.domain.memories import MemoryFilter
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.domain.statements import Batch, EntityStatement, RelationStatement
from graph_memory.domain.time_spans import TimeSpan
from tests.ingest.forgetting.person import PLAIN, SECRET, Person, two_sessions


@pytest.mark.parametrize("path", ["quokka.md", "zygomorph/deep/note.md"])
def test_a_forgotten_document_is_found_nowhere_and_never_learned_again(person: Person, path: str) -> None:
    text = "# Quokka\n\nAll about the tangelo, see [[Other]] and #xylophon.\n"
    person.place.drop(path, text)
    person.place.drop(f"{path}.meta.json", '{"author": "Xylophon Quokka"}')
    person.place.drop("other.md", "# Other\n\nNot a word of it.\n")
    person.keep_all()
    done = person.forgets(source_file=path)
    assert (done.memories, done.documents, done.copies.inbox) == (1, 1, 1)
    assert not person.traces()
    assert [it.path for it in person.learner.items()] == ["other.md"]
    (failed,) = person.learner.drop("again.md", text)
    assert failed.reason is not None
    assert "forgotten for good" in failed.reason
    assert person.learner.titles() == ["Other"]


def test_all_texts_that_a_file_ever_had_are_forgotten(person: Person) -> None:
    first, second = "# Note\n\nAbout the quokka.\n", "# Note\n\nAbout the tangelo.\n"
    person.learner.drop("note.md", first)
    person.learner.drop("note.md", second)
    person.keep_all()
    assert person.forgets(source_file="note.md").documents == 2
    assert not person.traces()
    for text in (first, second):
        (failed,) = person.learner.drop("note.md", text)
        assert failed.failed
    person.learner.drop("note.md", "# Note\n\nWithout it.\n")
    assert person.learner.titles() == ["Note"]


def test_a_document_that_waits_or_failed_is_forgotten_too(person: Person) -> None:
    person.learner.drop("quokka.pdf", b"%PDF-1.4 tangelo")
    assert person.learner.items(IngestState.FAILED)
    person.place.drop("waits.md", "# Quokka\n")
    for path in ("quokka.pdf", "waits.md"):
        person.forgets(source_file=path)
    assert not person.traces()
    assert not person.learner.items()
    assert all(it.failed for it in person.learner.drop("waits.md", "# Quokka\n"))


def test_a_long_document_goes_whole_also_by_one_of_its_parts(person: Person) -> None:
    text = "# Quokka\n\n" + "\n\n".join(f"## Part {n}\n\n" + "The tangelo. " * 90 for n in range(9))
    person.learner.drop("long.md", text)
    parts = person.learner.memories()
    assert len(parts) > 5
    assert person.forgets(memory_id=parts[-1].id).memories == len(parts)
    assert not person.traces()


def test_a_forgotten_transcript_is_a_forgotten_session(person: Person) -> None:
    two_sessions(person)
    person.keep_all()
    person.forgets(source_file=str(person.transcript().file.resolve()))
    person.transcript().say("The quokka again")
    person.learner.learn()
    person.archive()
    assert not person.traces()


@pytest.mark.spec("memory_forget.short-form")
def test_one_note_is_forgotten_with_its_texts_of_before(person: Person) -> None:
    note = MemoryDraft(title="Quokka", content="A zygomorph, see [[Loom]].", category="note", session_id=SECRET)
    id_ = person.write.add(LOCAL_ADMIN, note).id
    person.write.add(
        LOCAL_ADMIN, MemoryDraft(title="Other", content="See [[Plain]].", category="note", session_id=SECRET)
    )
    backup = person.keep_all()
    assert person.forgets(memory_id=id_).memories == 1
    person.restore.import_file(LOCAL_ADMIN, backup, dry_run=False)
    assert person.learner.titles() == ["Other"]
    assert not person.traces()


def test_a_turn_is_forgotten_alone_and_not_read_again(person: Person) -> None:
    secret = person.transcript()
    secret.say("A quokka")
    secret.answer("A xylophone")
    secret.say("Something plain")
    person.keep_all()
    turn = next(it for it in person.learner.memories() if "quokka" in it.content)
    person.forgets(memory_id=turn.id)
    secret.file.write_bytes(secret.file.read_bytes())
    fork = person.transcript(PLAIN)
    fork.file.write_bytes(secret.file.read_bytes().replace(SECRET.encode(), PLAIN.encode()))
    person.learner.learn()
    person.archive()
    assert [it.content for it in person.learner.memories()] == ["Something plain"]
    assert not person.traces()


def test_a_link_to_what_is_gone_waits_for_another_of_the_name(person: Person) -> None:
    target = person.write.add(LOCAL_ADMIN, MemoryDraft(title="Plan", content="Quokka.", category="note")).id
    source = person.write.add(LOCAL_ADMIN, MemoryDraft(title="Source", content="See [[Plan]].", category="note")).id
    person.forgets(memory_id=target)
    (waiting,) = person.store.read(LOCAL_ADMIN, lambda tx: tx.memories.open_links({source}))
    assert waiting.target == "Plan"
    again = person.write.add(LOCAL_ADMIN, MemoryDraft(title="Plan", content="Another.", category="note"))
    assert again.links_answered == 1


def test_a_link_to_an_entity_that_is_gone_waits_too(person: Person) -> None:
    person.relate.relate(LOCAL_ADMIN, Batch((EntityStatement("Ada", "Person"),)))
    source = person.write.add(LOCAL_ADMIN, MemoryDraft(title="Source", content="See [[Ada]].", category="note")).id
    person.forgets(entity_id="ada")
    (waiting,) = person.store.read(LOCAL_ADMIN, lambda tx: tx.memories.open_links({source}))
    assert waiting.target == "Ada"


@pytest.mark.spec("forget.goes-on")
def test_a_project_is_forgotten_as_it_was_and_may_begin_anew(person: Person) -> None:
    secret = person.transcript(cwd="/nowhere/quokka")
    secret.say("The zygomorph")
    person.transcript(PLAIN).say("Plain talk")
    person.place.drop("a.md", "---\nproject: quokka\n---\n# Tangelo\n")
    person.place.drop("b.md", "# Plain\n")
    backup = person.keep_all()
    unread = person.transcript("cccccccc-0000-4000-8000-000000000003", cwd="/nowhere/quokka")
    unread.say("A xylophone, said before")
    done = person.forgets(project="quokka")
    assert (done.memories, done.documents) == (2, 1)
    person.learner.learn()
    person.archive()
    person.restore.import_file(LOCAL_ADMIN, backup, dry_run=False)
    assert not [it for it in person.learner.memories(every=True) if it.project_id == "quokka"]
    assert {name for kind, name in person.learner.entities() if kind == "Project"} == {"app"}
    assert sorted(person.learner.titles()) == ["Plain", "Plain talk"]
    secret.say("Begun anew", at=(person.place.clock.at + timedelta(hours=1)).isoformat())
    person.learner.learn()
    assert "Begun anew" in person.learner.titles()


@pytest.mark.spec("graph_forget.source-time")
def test_dates_mean_when_it_was_said(person: Person) -> None:
    talk = person.transcript()
    talk.say("Before", at="2026-04-06T09:00:00Z")
    talk.say("The quokka", at="2026-04-06T10:00:00Z")
    talk.say("After", at="2026-04-06T11:00:00Z")
    backup = person.keep_all()
    unread = person.transcript(PLAIN)
    unread.say("A zygomorph", at="2026-04-06T10:30:00Z")
    since, until = (datetime(2026, 4, 6, hour, tzinfo=UTC) for hour in (10, 11))
    assert person.forgets(dates=TimeSpan(since, until)).memories == 1
    person.learner.learn()
    person.archive()
    person.restore.import_file(LOCAL_ADMIN, backup, dry_run=False)
    assert person.learner.titles() == ["Before", "After"]
    assert not person.traces()


def test_what_was_stated_then_goes_with_the_dates(person: Person) -> None:
    began = person.place.clock.at
    person.relate.relate(LOCAL_ADMIN, Batch((EntityStatement("Quokka", "Concept"),)))
    person.place.clock.wait(3_600)
    person.relate.relate(LOCAL_ADMIN, Batch((EntityStatement("Plain", "Concept"),)))
    backup = person.keep_all()
    person.forgets(dates=TimeSpan(began, began + timedelta(minutes=1)))
    person.restore.import_file(LOCAL_ADMIN, backup, dry_run=False)
    assert set(person.learner.entities()) == {("Concept", "Plain")}
    assert not person.traces()


def test_an_entity_is_forgotten_with_its_relations_and_texts_do_not_bring_it_back(person: Person) -> None:
    person.transcript().say("See src/zygomorph.py")
    person.learner.learn()
    person.relate.relate(
        LOCAL_ADMIN,
        Batch(
            (EntityStatement("Ada", "Person"), EntityStatement("src/zygomorph.py")),
            (RelationStatement("Ada", "WROTE", "src/zygomorph.py"),),
        ),
    )
    backup = person.keep_all()
    (id_,) = [it.id for (kind, name), it in person.learner.entities().items() if name == "src/zygomorph.py"]
    done = person.forgets(entity_id=id_)
    assert done.entities == 1
    assert done.relations >= 1
    assert done.named_in == 1
    person.transcript(PLAIN).say("Look at src/zygomorph.py and src/other.py")
    person.learner.learn()
    person.learner.learn_late()
    person.restore.import_file(LOCAL_ADMIN, backup, dry_run=False)
    names = {name for _, name in person.learner.entities()}
    assert "src/other.py" in names
    assert "src/zygomorph.py" not in names


def test_a_cloud_session_is_not_sent_again_and_not_learned_further(person: Person) -> None:
    meta = {"source": CLOUD_SOURCE, "session_id": SECRET, "through": "2026-04-06T10:00:00Z", "last_event_id": "e1"}
    person.place.drop("quokka-1.md", "# Human\n\nThe tangelo.\n")
    person.place.drop("quokka-1.md.meta.json", json.dumps(meta))
    person.keep_all()
    done = person.forgets(source_session=SECRET)
    assert (done.memories, done.copies.inbox) == (1, 1)
    cursor = person.store.read(LOCAL_ADMIN, lambda tx: tx.ledger.session_cursors())[SECRET]
    assert cursor.through == "2026-04-06T10:00:00Z"
    assert not person.traces()
    person.place.drop("quokka-2.md", "# Human\n\nMore of the tangelo.\n")
    person.place.drop("quokka-2.md.meta.json", json.dumps({**meta, "through": "2026-04-06T11:00:00Z"}))
    person.learner.learn()
    assert not person.traces()
    cursor = person.store.read(LOCAL_ADMIN, lambda tx: tx.ledger.session_cursors())[SECRET]
    assert cursor.through == "2026-04-06T11:00:00Z"


def test_another_tenant_keeps_all_it_has(person: Person) -> None:
    other = Principal("other")
    note = MemoryDraft(title="Quokka", content="Theirs.", category="note", session_id=SECRET)
    for who in (LOCAL_ADMIN, other):
        person.write.add(who, note)
    person.forgets(source_session=SECRET)
    assert not person.learner.memories()
    assert person.store.read(other, lambda tx: tx.memories.count(MemoryFilter())) == 1
    done = person.forget.execute(other, Reach(source_session=SECRET))
    assert (done.memories, done.backups) == (1, 0)
