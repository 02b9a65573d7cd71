"""What is not learned of a transcript."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from graph_memory.config.settings import Exclude
from graph_memory.domain.ledger import Tombstone
from graph_memory.domain.principal import LOCAL_ADMIN
from ingest.transcripts.keys import turn_key
from tests.ingest.transcript_files import START

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.ports.store import Store
    from tests.ingest.places import Place
from tests.ingest.session_learner import Session


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


def test_audit_holds_numbers_and_ids_and_no_words(session: Session) -> None:
    session.transcript.say("Pineapple in src/pineapple/core.py")
    session.learn()
    found = session.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.page_audit(1_000))
    assert "ineapple" not in json.dumps([dict(it.data) for it in found if it.event != "entity_created"])
