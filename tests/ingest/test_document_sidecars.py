"""What sidecars say of documents, early and late."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.ledger import IngestState
from graph_memory.domain.memories import ConnectionType

if TYPE_CHECKING:
    from tests.ingest.learners import Learner


LONG = "# Long\n\nIntroduction.\n\n" + "\n\n".join(
    f"## Part {number}\n\n" + " ".join(f"word{number}x{it}" for it in range(150)) for number in range(12)
)


@pytest.mark.spec("sidecar.date")
def test_the_date_is_the_time_of_source(learner: Learner) -> None:
    learner.place.drop("n.md.meta.json", '{"date": "2024-02-03"}')
    learner.drop("n.md", "---\ndate: 2020-01-01\n---\ntext")
    learner.drop("m.md", "---\ndate: 2020-01-01\n---\nother")
    assert {it.title: it.created_at.date().isoformat() for it in learner.memories()} == {
        "n": "2024-02-03",
        "m": "2020-01-01",
    }


@pytest.mark.spec("sidecar.late")
def test_a_late_sidecar_changes_what_its_document_became(learner: Learner) -> None:
    learner.drop("a/n.md", "#tag in src/app/main.py")
    (before,) = learner.memories()
    meta = {
        "author": "Ada Lovelace",
        "topic_hints": ["engines"],
        "project_id": "alpha",
        "date": "2024-02-03",
        "weight_override": 0.1,
        "session_id": "s9",
        "colour": "red",
    }
    learner.drop("a/n.md.meta.json", json.dumps(meta))
    (after,) = learner.memories()
    assert (after.id, after.content) == (before.id, before.content)
    assert (after.project_id, after.created_at.year, after.session_id) == ("alpha", 2024, "s9")
    named = {"tag", "src/app/main.py", "Ada Lovelace", "engines", "alpha", "s9"}
    assert learner.mentioned_by("a/n.md") == dict.fromkeys(named, pytest.approx(0.1))
    (item,) = learner.items()
    assert item.meta["colour"] == "red"
    assert learner.place.files(learner.place.home.completed) == ["a/n.md", "a/n.md.meta.json"]
    assert learner.entity("tag", "tag").confidence == pytest.approx(0.3)
    once = learner.everything()
    learner.drop("a/n.md.meta.json", json.dumps(meta))
    learner.drop("a/n.md", "#tag in src/app/main.py")
    assert learner.everything() == once


def test_a_late_sidecar_of_a_long_document_moves_all_its_chunks(learner: Learner) -> None:
    learner.drop("long.md", LONG)
    learner.drop("long.md.meta.json", '{"project_id": "alpha"}')
    assert {it.project_id for it in learner.memories()} == {"alpha"}
    assert len(learner.links(ConnectionType.SEQUENCE)) == len(learner.memories()) - 2


@pytest.mark.spec("sidecar.broken", "sidecar.not-a-document")
@pytest.mark.parametrize("text", ["{broken", "[1]", '{"date": "soon", "author": "Ada"}', ""])
def test_a_broken_sidecar_stops_nothing_and_is_reported(learner: Learner, text: str) -> None:
    learner.place.drop("n.md.meta.json", text)
    (done,) = learner.drop("n.md", "text")
    assert done.warnings
    (item,) = learner.items()
    assert item.state is IngestState.COMPLETED
    assert item.meta["sidecar_problems"]
    assert item.meta.get("author") == ("Ada" if "Ada" in text else None)


def test_a_sidecar_without_a_document_waits_and_is_then_set_aside(learner: Learner) -> None:
    learner.drop("n.md.meta.json", "{}")
    assert learner.place.files(learner.place.home.pending) == ["n.md.meta.json"]
    learner.place.clock.wait(3_600)
    learner.learn()
    assert "n.md.meta.json.reason.txt" in learner.place.files(learner.place.home.failed)
    assert learner.memories() == []
