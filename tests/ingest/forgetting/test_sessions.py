"""A session that is forgotten: gone from the store and all around it, and it does not come back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.entities import Evidence, EvidenceKind, Provenance, SourceType
from graph_memory.domain.forgetting import Reach
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.relations import Relation
from graph_memory.domain.statements import Batch, EntityStatement, RelationStatement
from tests.ingest.transcript_files import START

if TYPE_CHECKING:
    from graph_memory.ports.store import WriteTransaction
from tests.ingest.forgetting.person import PLAIN, SECRET, Person, two_sessions


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
