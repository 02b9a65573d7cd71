"""Backups of what was forgotten, and a forgetting that was cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_memory.domain.backups import ImportMode
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.statements import Batch, EntityStatement
from tests.ingest.forgetting.person import SECRET, Person, two_sessions


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
