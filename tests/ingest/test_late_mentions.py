"""Entities that come after the memories that name them: the order of learning is none."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_memory.adapters.reference import ReferenceStore
from graph_memory.domain.entities import Provenance, SourceType
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.statements import Batch, EntityStatement
from graph_memory.home import Home
from graph_memory.services.statements import apply_batch
from ingest.known_names import longest_matches
from ingest.mentions import READ_CHARS
from tests.ingest.learners import Learner
from tests.ingest.places import Clock, Place
from tests.ingest.transcript_files import Transcript

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path


def know(learner: Learner, name: str, type_name: str = "Concept") -> None:
    batch = Batch((EntityStatement(name, type_name),), provenance=Provenance(SourceType.MANUAL))
    learner.store.write(LOCAL_ADMIN, lambda tx: apply_batch(tx, batch, learner.place.clock(), GraphPolicy()))


@pytest.mark.spec("extraction.late-mentions")
def test_an_entity_that_comes_later_is_mentioned_by_older_memories(learner: Learner) -> None:
    learner.drop("n.md", "We moved everything to Postgres, [[Ada Lovelace]] said; postgresql is something else.")
    chat = Transcript(learner.place.ingest.projects_dirs[0] / "-app" / "s.jsonl", session_id="s")
    chat.say("Does Postgres do that?")
    learner.learn()
    know(learner, "Postgres")
    know(learner, "Ada Lovelace", "Person")
    know(learner, "Oracle")
    learner.learn_late()
    assert learner.mentions("n") == {"Postgres", "Ada Lovelace"}
    assert learner.mentioned_by("n.md") == dict.fromkeys(("Postgres", "Ada Lovelace"), pytest.approx(0.3))
    assert learner.mentioned_by("s")["Postgres"] == pytest.approx(0.3)
    assert learner.entity("concept", "postgres").confidence == pytest.approx(0.8)
    assert learner.entity("person", "ada lovelace").confidence == pytest.approx(0.75)
    assert learner.entity("concept", "oracle").confidence == pytest.approx(0.7)


def test_looking_again_changes_nothing(learner: Learner) -> None:
    learner.drop("n.md", "Postgres and #postgres and Project X")
    for name in ("Postgres", "Project X", "Project"):
        know(learner, name)
    learner.learn_late()
    once = learner.everything()
    for _ in range(3):
        learner.place.clock.wait(10)
        learner.learn_late()
        learner.restart()
    assert learner.everything() == once
    learner.place.clock.wait(3_600)
    know(learner, "Postgres", "Service")
    learner.learn_late()
    source = learner.entity("document", "n.md").id
    assert len([it for it in learner.relations() if it.source_id == source]) == 4


def test_a_longer_name_that_comes_later_takes_the_place_of_the_shorter(learner: Learner) -> None:
    know(learner, "Project X")
    learner.drop("a.md", "About Project X Beta alone.")
    learner.drop("b.md", "About Project X Beta and Project X.")
    learner.drop("c.md", "About [[Project X]] Beta.")
    assert learner.mentions("a") == {"Project X"}
    know(learner, "Project X Beta")
    learner.learn_late()
    assert learner.mentions("a") == {"Project X Beta"}
    assert learner.mentions("b") == {"Project X Beta", "Project X"}
    assert learner.mentioned_by("a.md") == {"Project X Beta": pytest.approx(0.3)}
    assert learner.entity("concept", "project x").confidence == pytest.approx(0.7 + 2 * 0.05)


def test_chunks_of_a_long_document_are_joined_too(learner: Learner) -> None:
    text = "# Long\n\n" + "\n\n".join(
        f"## Part {number}\n\n" + ("Postgres. " if number == 5 else "") + f"filler{number} " * 150
        for number in range(10)
    )
    learner.drop("long.md", text)
    know(learner, "Postgres")
    learner.learn_late()
    naming = [it.title for it in learner.memories() if learner.mentions(it.title)]
    assert naming == ["Long", "Long – Part 5"]
    assert learner.entity("concept", "postgres").confidence == pytest.approx(0.75)


@pytest.mark.spec("extraction.order-free", "extraction.deterministic")
def test_documents_in_any_order_leave_the_same(tmp_path: Path) -> None:
    documents = {
        "a.md": "#python for src/app/main.py",
        "b.md": "We like Python; src/app/main.py is fine, and so is the app.",
        "c.md": "---\nauthor: App\n---\nIn python main.py of the src/app folder",
        "d.md": "app python https://sqlite.org/app",
    }
    outcomes = []
    for number, order in enumerate(permutations(documents)):
        learner = _learner(tmp_path / str(number))
        for path in order:
            learner.drop(path, documents[path])
        learner.learn_late()
        outcomes.append(_outcome(learner))
    assert all(it == outcomes[0] for it in outcomes)


WORDS = st.sampled_from(["red", "blue", "#red", "#blue", "src/red/blue.py", "red blue", "[[red]]", "and"])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=2, max_size=4, unique=True))
def test_any_two_orders_leave_the_same(tmp_path: Path, texts: list[str]) -> None:
    outcomes = []
    for number, order in enumerate((texts, texts[::-1])):
        learner = _learner(tmp_path / f"{number}-{abs(hash(tuple(texts)))}")
        for text in order:
            learner.drop(f"{texts.index(text)}.md", f"{text} {texts.index(text)}")
        learner.learn_late()
        outcomes.append(_outcome(learner))
    assert outcomes[0] == outcomes[1]


def _learner(folder: Path) -> Learner:
    from graph_memory.config.settings import Ingest

    home = Home(folder / "home")
    home.ensure()
    return Learner(ReferenceStore(), Place(home, Ingest(projects_dirs=(folder / "projects",)), Clock()))


def _outcome(learner: Learner) -> object:
    names = {it.id: (it.type, it.name) for it in learner.entities().values()}
    # A few seconds of decay lie between them.
    relations = {(names[it.source_id], names[it.target_id], round(it.weight, 5)) for it in learner.relations()}
    entities = {key: (round(it.confidence, 5), it.mention_count) for key, it in learner.entities().items()}
    mentions = {it.source_file: learner.mentions(it.title) for it in learner.memories()}
    return relations, entities, mentions


def test_a_long_document_is_read_again_once_and_only_as_far_as_it_is_read_for_names(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    paragraph = "The harbour of Tidewater was busy, as Postgres was, on every day of that long year.\n\n"
    learner.drop("long.txt", paragraph * 12_000)  # a million characters
    reads: list[int] = []

    def counted(text: str, names: Collection[str]) -> Sequence[str]:
        reads.append(len(text))
        return longest_matches(text, names)

    monkeypatch.setattr("ingest.late_mentions.longest_matches", counted)
    know(learner, "Postgres")
    know(learner, "Tidewater")
    learner.learn_late()
    assert learner.mentioned_by("long.txt") == dict.fromkeys(("Postgres", "Tidewater"), pytest.approx(0.3))
    assert len(reads) < 20
    assert max(reads) <= READ_CHARS
    assert sum(it.content.count("harbour") for it in learner.memories()) >= 12_000


def test_a_step_that_is_called_away_goes_on_where_it_was(learner: Learner) -> None:
    for number in range(12):
        learner.drop(f"{number}.md", f"Note {number} is about Postgres.")
    know(learner, "Postgres")
    steps = 0
    while not learner.pipeline.link_late_mentions(should_stop=lambda: True).is_done:
        steps += 1
        assert steps < 30
    assert steps >= 10
    assert all(learner.mentions(str(number)) == {"Postgres"} for number in range(12))
    assert learner.entity("concept", "postgres").mention_count == 13
