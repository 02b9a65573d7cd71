"""Forgetting what was learned: it is gone from the store and all around it, and does not come back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.files.audit_log import AuditLog
from graph_memory.adapters.files.backup_folder import BackupFolder
from graph_memory.adapters.reference import ReferenceStore
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.backups import BackupRow, ImportMode
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.entities import Evidence, EvidenceKind, Provenance, SourceType
from graph_memory.domain.forgetting import Reach
from graph_memory.domain.ledger import CLOUD_SOURCE, IngestState
from graph_memory.domain.memories import MemoryFilter
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.domain.relations import Relation
from graph_memory.domain.statements import Batch, EntityStatement, RelationStatement
from graph_memory.domain.time_spans import TimeSpan
from graph_memory.services.audit import Audit
from graph_memory.services.backup import Backup, every_row
from graph_memory.services.forget import Forget
from graph_memory.services.relate import Relate
from graph_memory.services.restore import Restore
from graph_memory.services.write import MemoryWrite
from ingest.archiving import TranscriptArchiver
from ingest.forgotten_files import HomeCopies
from tests.ingest.learners import Learner
from tests.ingest.transcript_files import START, Transcript
from tests.traces import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graph_memory.ports.store import Store, WriteTransaction
    from graph_memory.services.forget import Forgetting
    from tests.ingest.conftest import Place

SECRET, PLAIN = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"
WORDS = ("quokka", "zygomorph", "xylophon", "tangelo")


class Person:
    """Somebody with a home, who learns, backs up, archives and forgets."""

    def __init__(self, store: Store, place: Place) -> None:
        self.store, self.place, self.learner = store, place, Learner(store, place)
        self.backups = BackupFolder(place.home.backups)
        self.audit = Audit(store, place.clock, AuditLog(place.home.dream_audit, max_bytes=1_000_000, keep=3))
        self.copies = HomeCopies(place.home, self.audit.mask)
        policy = GraphPolicy()
        self.backup = Backup(store, place.clock, self.backups, policy)
        self.restore = Restore(store, place.clock, self.backups, policy)
        self.relate = Relate(store, place.clock, policy)
        self.write = MemoryWrite(store, place.clock, MemoryPolicy(), policy)
        self.forget = Forget(store, place.clock, policy, self.backups, self.copies)

    def transcript(self, session: str = SECRET, folder: str = "-nowhere-app", cwd: str = "/nowhere/app") -> Transcript:
        file = self.place.ingest.projects_dirs[0] / folder / f"{session}.jsonl"
        return Transcript(file, session, cwd)

    def archive(self) -> None:
        TranscriptArchiver(self.store, LOCAL_ADMIN, self.place.home, self.learner.settings, pause=lambda _: None).run()

    def keep_all(self) -> str:
        """Learn, archive, write the audit and back up; return the backup."""
        self.learner.learn()
        self.archive()
        self.audit.drain(LOCAL_ADMIN)
        self.place.clock.wait(1)
        return self.backup.export(LOCAL_ADMIN, keep=99).file.path

    def forgets(self, **reach: object) -> Forgetting:
        self.place.clock.wait(1)
        done = self.forget.execute(LOCAL_ADMIN, Reach(**reach))  # type: ignore[arg-type]
        assert done.problems == ()
        self.audit.drain(LOCAL_ADMIN)
        return done

    def rows(self) -> list[BackupRow]:
        return self.store.read(LOCAL_ADMIN, lambda tx: list(every_row(tx)))

    def traces(self, words: tuple[str, ...] = WORDS) -> object:
        """Return where words are still found: in files, or in rows of a store without files."""
        rows = [it for it in self.rows() if any(word in repr(it).casefold() for word in words)]
        return words_in(self.place.home.path, words) or rows


@pytest.fixture(params=["reference", "sqlite"])
def store(request: pytest.FixtureRequest, place: Place) -> Iterator[Store]:
    opened: Store = ReferenceStore() if request.param == "reference" else SqliteStore(place.home.database)
    yield opened
    opened.close()


@pytest.fixture
def person(store: Store, place: Place) -> Person:
    return Person(store, place)


def two_sessions(person: Person) -> None:
    """Let a secret session and a plain one be had, which share a tag."""
    secret = person.transcript()
    secret.say("The quokka plan uses src/zygomorph.py and #shared, see https://tangelo.example/x")
    secret.answer("Xylophones are noted.")
    secret.say("And once more about the quokka")
    plain = person.transcript(PLAIN)
    plain.say("Ordinary talk about src/plain.py and #shared")
    plain.answer("Fine.")


# ------------------------------------------------------------------------------------------------------------ sessions


@pytest.mark.spec("graph_forget.everywhere", "graph_forget.tombstone")
def test_a_forgotten_session_is_found_nowhere_and_stays_forgotten(person: Person) -> None:
    two_sessions(person)
    backup = person.keep_all()
    assert person.traces()
    done = person.forgets(source_session=SECRET)
    assert (done.memories, done.copies.archive, done.backups) == (2, 1, 1)
    assert not person.traces()
    for _ in range(2):
        person.learner.restart()
        person.learner.learn()
        person.archive()
        person.restore.import_file(LOCAL_ADMIN, backup, dry_run=False)
        assert not person.traces()
    assert [it.session_id for it in person.learner.memories()] == [PLAIN]


@pytest.mark.spec("graph_forget.preview-first")
def test_a_preview_says_what_would_go_and_takes_nothing(person: Person) -> None:
    two_sessions(person)
    person.keep_all()
    before, files = person.rows(), person.place.files(person.place.home.path)
    preview = person.forget.preview(LOCAL_ADMIN, Reach(source_session=SECRET))
    assert (person.rows(), person.place.files(person.place.home.path)) == (before, files)
    assert any("quokka" in it for it in preview.examples)
    done = person.forgets(source_session=SECRET)
    assert replace(done, is_executed=False, examples=preview.examples, copies=preview.copies) == preview


@pytest.mark.spec("graph_forget.tombstone", "forget.goes-on")
@pytest.mark.parametrize("is_read", [True, False])
def test_what_is_said_later_in_a_forgotten_session_is_not_learned(person: Person, *, is_read: bool) -> None:
    secret = person.transcript()
    if is_read:
        secret.say("A quokka")
        person.learner.learn()
    person.forgets(source_session=SECRET)
    secret.say("About the quokka again")
    person.learner.learn()
    fork = person.transcript(PLAIN)
    fork.say("About the quokka again", at=(START + timedelta(minutes=2 if is_read else 1)).isoformat())
    fork.say("Something else")
    person.learner.learn()
    person.archive()
    assert [it.content for it in person.learner.memories()] == ["Something else"]
    assert not person.traces()


def test_a_session_that_grows_while_it_is_forgotten_is_not_learned_further(person: Person) -> None:
    secret = person.transcript()
    secret.say("A quokka")
    person.learner.learn()  # the learner holds the open turn now
    person.forgets(source_session=SECRET)
    secret.answer("About a xylophone")
    secret.say("And a tangelo")
    person.learner.learn()
    assert not person.learner.memories(every=True)
    assert not person.traces()


@pytest.mark.spec("graph_forget.recomputes")
def test_what_another_session_supports_too_is_as_it_left_it(person: Person) -> None:
    two_sessions(person)
    person.learner.learn()
    before = person.learner.entity("tag", "shared")
    person.forgets(source_session=SECRET)
    after = person.learner.entity("tag", "shared")
    assert after.mention_count == before.mention_count - 1
    assert after.confidence < before.confidence
    assert {name for _, name in person.learner.entities()} == {"app", PLAIN, "src/plain.py", "shared"}


def test_a_project_goes_with_the_last_that_was_said_in_it(person: Person) -> None:
    person.transcript(cwd="/nowhere/quokka").say("One")
    person.transcript(PLAIN, cwd="/nowhere/app").say("Two")
    backup = person.keep_all()
    person.forgets(source_session=SECRET)
    person.restore.import_file(LOCAL_ADMIN, backup, dry_run=False)
    assert {name for kind, name in person.learner.entities() if kind == "Project"} == {"app"}


@pytest.mark.spec("graph_forget.recomputes")
def test_what_a_session_stated_is_taken_back(person: Person) -> None:
    for session, weight, note in ((SECRET, 0.9, "a quokka"), (PLAIN, 0.6, "plain")):
        person.place.clock.wait(60)
        statement = RelationStatement("Ada", "USES", "Loom", weight, {"how": note}, evidence=f"heard of {note}")
        entities = (
            EntityStatement("Ada", "Person", {"note": note}),
            EntityStatement("Loom", "Concept"),
            *([EntityStatement("Zygomorph", "Concept")] if session == SECRET else []),
        )
        person.relate.relate(
            LOCAL_ADMIN, Batch(entities, (statement,), Provenance(SourceType.CONVERSATION, session=session))
        )
    person.keep_all()
    person.forgets(source_session=SECRET)
    (left,) = person.learner.relations()
    assert (left.weight, left.properties) == (0.6, {"how": "plain"})
    assert person.learner.entity("person", "ada").properties == {"note": "plain"}
    assert left.ingested_at == left.last_confirmed
    assert not person.traces()


def test_a_fact_that_a_forgotten_one_had_replaced_holds_again(person: Person) -> None:
    for session, where, since in ((PLAIN, "Acme", 2020), (SECRET, "Quokka Inc", 2025)):
        batch = Batch(
            (EntityStatement("Ada", "Person"), EntityStatement(where, "Organization")),
            (RelationStatement("Ada", "WORKS_AT", where, valid_at=datetime(since, 1, 1, tzinfo=UTC)),),
            Provenance(SourceType.CONVERSATION, session=session),
        )
        person.relate.relate(LOCAL_ADMIN, batch)
    backup = person.keep_all()
    person.forgets(source_session=SECRET)
    assert list(person.backups.rows(person.keep_all())) == list(person.backups.rows(backup))
    person.restore.import_file(LOCAL_ADMIN, backup, dry_run=False)
    (left,) = person.learner.relations()
    assert person.learner.entity("organization", "acme").id == left.target_id
    assert not person.traces()


def test_what_only_a_relation_of_another_source_holds_keeps_its_name(person: Person) -> None:
    secret, plain = (Provenance(SourceType.CONVERSATION, session=it) for it in (SECRET, PLAIN))
    made = Batch((EntityStatement("Loom", "Concept", {"note": "a quokka"}),), (), secret)
    person.relate.relate(LOCAL_ADMIN, made)
    person.relate.relate(LOCAL_ADMIN, Batch((EntityStatement("Ada", "Person"),), (), plain))
    now = person.place.clock()

    def hold(tx: WriteTransaction) -> None:
        tx.relations.put([Relation("r-1", "ada", "MENTIONS", "loom", 0.3, now, now, provenance=plain)])
        tx.relations.add_evidence([Evidence("r-1", EvidenceKind.EXPLICIT, 0.3, now, plain)])

    person.store.write(LOCAL_ADMIN, hold)
    backup = person.keep_all()
    person.forgets(source_session=SECRET)
    assert person.learner.entity("concept", "loom").properties == {}
    new = person.backup.export(LOCAL_ADMIN, keep=99).file.path
    assert list(person.backups.rows(backup)) == list(person.backups.rows(new))


# ---------------------------------------------------------------------------------------------------------- everything


@pytest.mark.spec("graph_forget.everywhere")
def test_a_rewritten_backup_is_one_that_is_made_now(person: Person) -> None:
    two_sessions(person)
    person.place.drop("note.md", "# A note\n\nOf #shared things and [[Ordinary]].")
    old = person.keep_all()
    person.forgets(source_session=SECRET)
    new = person.backup.export(LOCAL_ADMIN, keep=99).file.path
    assert list(person.backups.rows(old)) == list(person.backups.rows(new))


@pytest.mark.spec("forget.restored")
@pytest.mark.parametrize("mode", list(ImportMode))
def test_a_backup_from_elsewhere_brings_nothing_forgotten_back(person: Person, mode: ImportMode) -> None:
    two_sessions(person)
    person.place.drop("quokka.md", "# Quokka\n\nA note about the tangelo, of #shared.")
    backup = person.place.home.path.parent / "elsewhere.jsonl"
    backup.write_bytes(Path(person.keep_all()).read_bytes())
    person.forgets(source_session=SECRET)
    person.forgets(source_file="quokka.md")
    left = person.learner.everything()
    imported = person.restore.import_file(LOCAL_ADMIN, str(backup), mode=mode, dry_run=False)
    assert imported.forgotten == 3
    assert not person.traces()
    assert person.learner.everything() == left


def test_what_is_stated_after_a_forgetting_comes_back_from_a_backup(person: Person) -> None:
    person.relate.relate(LOCAL_ADMIN, Batch((EntityStatement("Quokka", "Concept"),)))
    person.forgets(entity_id="quokka")
    person.place.clock.wait(60)
    person.relate.relate(LOCAL_ADMIN, Batch((EntityStatement("Quokka", "Concept"),)))
    backup = person.keep_all()
    person.forgets(source_session="another")  # rewrites the backup
    person.restore.import_file(LOCAL_ADMIN, backup, mode=ImportMode.REPLACE, dry_run=False)
    assert set(person.learner.entities()) == {("Concept", "Quokka")}


def test_a_backup_that_nobody_can_read_goes(person: Person) -> None:
    two_sessions(person)
    whole = person.backups._find(person.keep_all())
    whole.write_bytes(whole.read_bytes()[:-200])
    stranger = whole.with_name("somebody.jsonl")
    stranger.write_text('{"their": "own"}\n')
    done = person.forgets(source_session=SECRET)
    assert (done.unreadable_backups, done.backups) == (1, 0)
    assert not whole.exists()
    assert stranger.exists()


@pytest.mark.spec("graph_forget.audit")
def test_the_audit_has_a_line_without_the_content(person: Person) -> None:
    two_sessions(person)
    person.keep_all()
    assert "quokka" not in person.place.home.dream_audit.read_text()
    assert "zygomorph" in person.place.home.dream_audit.read_text()  # an entity's id is made of its name
    person.forgets(source_session=SECRET)
    lines = [json.loads(it) for it in person.place.home.dream_audit.read_text().splitlines()]
    (line,) = [it for it in lines if it["event"] == "forgotten"]
    assert line["data"]["reach"] == "source_session"
    assert line["data"]["memories"] == 2
    assert not person.traces()


@pytest.mark.spec("forget.interrupted")
def test_a_forgetting_that_was_cut_off_is_finished_later(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    two_sessions(person)
    person.keep_all()

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(person.backups, "rewrite", die)
        with pytest.raises(KeyboardInterrupt):
            person.forgets(source_session=SECRET)
    assert person.forget.is_unfinished()
    assert person.traces()
    assert person.forget.finish(LOCAL_ADMIN) == ()
    assert not person.forget.is_unfinished()
    assert not person.traces()


def test_one_that_was_cut_off_before_the_rows_went_is_done_again(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_sessions(person)
    person.keep_all()
    with monkeypatch.context() as patch:
        patch.setattr("graph_memory.services.forget.apply_erasure", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            person.forgets(source_session=SECRET)
    assert person.learner.memories()
    person.forgets(source_session=SECRET)
    assert not person.traces()


def test_a_backup_that_was_begun_before_ends_without_what_went_meanwhile(person: Person) -> None:
    two_sessions(person)
    person.learner.learn()
    before = person.rows()
    real = person.backups.write

    def write(rows: object, **how: object) -> object:
        assert rows is not None
        return real(iter(before), **how)  # type: ignore[arg-type] # as a reader of the old state would

    person.forgets(source_session=SECRET)
    person.backups.write = write  # type: ignore[assignment,method-assign]
    person.backup.export(LOCAL_ADMIN)
    assert not person.traces()


def test_forgetting_again_or_what_nobody_knows_changes_nothing(person: Person) -> None:
    two_sessions(person)
    person.keep_all()
    person.forgets(source_session=SECRET)
    rows = person.rows()
    again = person.forgets(source_session=SECRET)
    assert (again.is_found, again.memories) == (False, 0)
    for reach in ({"memory_id": 999}, {"entity_id": "nobody"}, {"source_file": "no.md"}):
        assert not person.forgets(**reach).is_found
    assert [it for it in person.rows() if "Tombstone" not in repr(it)] == [
        it for it in rows if "Tombstone" not in repr(it)
    ]


# ----------------------------------------------------------------------------------------------------- files and notes


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


# -------------------------------------------------------------------------------------------- projects, dates, entities


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
    assert person.learner.titles() == ["Plain talk", "Plain"]
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


# -------------------------------------------------------------------------------------------------- others, the cloud


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
