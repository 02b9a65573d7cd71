"""What a person keeps from being learned, beside projects, folders and sessions of transcripts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from graph_memory.config.settings import Exclude
from graph_memory.domain.ledger import IngestState
from graph_memory.domain.time_spans import TimeSpan
from ingest.exclusions import Exclusions, Reason
from tests.ingest.learners import Learner
from tests.ingest.session_learner import Session
from tests.ingest.transcript_files import START

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.ports.store import Store
    from tests.ingest.places import Place


@pytest.mark.spec("exclude.obeyed")
def test_what_was_said_in_an_excluded_time_is_never_learned(store: Store, place: Place) -> None:
    span = TimeSpan(START + timedelta(minutes=2), START + timedelta(minutes=3))
    session = Session(store, place, Exclude(times=(str(span),)))
    for text in ("Before it", "In it", "After it"):
        session.transcript.say(text)
    assert session.learn().skipped == {"excluded_time": 1}
    assert session.contents() == ["Before it", "After it"]


@pytest.mark.spec("exclude.obeyed")
@pytest.mark.parametrize("meta", ['{"project_id": "diary"}', '{"session_id": "s-1"}'])
def test_a_document_that_says_it_is_of_something_excluded_is_dealt_with_and_not_learned(
    store: Store, place: Place, meta: str
) -> None:
    learner = Learner(store, place, Exclude(projects=("diary",), sessions=("s-1",)))
    learner.drop("a.md.meta.json", meta)
    [done] = [it for it in learner.drop("a.md", "# Dear diary\n\nNobody may know.") if it.item is not None]
    assert (done.items, done.failed) == (0, 0)
    assert "not learned" in done.warnings[0]
    assert learner.memories(every=True) == []
    [item] = learner.items()
    assert item.state is IngestState.COMPLETED
    assert item.reason in {Reason.PROJECT, Reason.SESSION}
    assert "diary" not in str(learner.events("ingest_end"))


def test_it_is_learned_once_nothing_keeps_it_out_any_more(store: Store, place: Place) -> None:
    learner = Learner(store, place, Exclude(projects=("diary",)))
    text = "---\nproject: diary\n---\n# Dear diary\n\nEverybody may know."
    learner.drop("a.md", text)
    assert learner.titles() == []
    learner.pipeline.close()
    learner = Learner(store, place)
    learner.drop("a.md", text)
    assert learner.titles() == ["Dear diary"]


def test_a_folder_is_known_by_the_way_it_is_written_and_without_its_links(place: Place, user: Path) -> None:
    real, link = user / "real", user / "link"
    (real / "part").mkdir(parents=True)
    link.symlink_to(real)
    for excluded in (real, link):
        exclusions = Exclusions(Exclude(folders=(excluded,)), place.home)
        for cwd in (real / "part", link / "part"):
            assert exclusions.of_folder(str(cwd)) is Reason.FOLDER
        assert exclusions.of_folder(str(user / "realm")) is None


@pytest.mark.spec("exclude.mark")
def test_a_mark_that_is_put_or_taken_away_is_seen_with_the_next_piece_of_work(session_in: Session, user: Path) -> None:
    mark = user / "app" / ".no-memory"
    mark.touch()
    session_in.transcript.say("Not this")
    session_in.learn()
    mark.unlink()
    session_in.transcript.say("But this")
    session_in.learn()
    mark.touch()
    session_in.transcript.say("And not this")
    session_in.learn()
    assert session_in.contents() == ["But this"]


@pytest.fixture
def session_in(store: Store, place: Place, user: Path) -> Session:
    (user / "app").mkdir(parents=True)
    session = Session(store, place)
    session.transcript.cwd = str(user / "app")
    return session
