"""Taking back what a memory contributed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.entities import Provenance, SourceType
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.statements import Batch, EntityStatement
from graph_memory.services.statements import apply_batch
from ingest.withdrawal import withdraw_mentions
from tests.ingest.learners import Learner

if TYPE_CHECKING:
    from graph_memory.domain.entities import JsonValue
    from graph_memory.ports.store import Store
    from tests.ingest.places import Place


@pytest.mark.parametrize(
    ("type_name", "properties", "left"),
    [
        ("Preference", {"subtype": "rule"}, 0.75),
        ("Concept", {"pinned": True}, 0.75),
        ("Concept", {}, 0.7 * 0.999**900 + 0.05),
    ],
)
def test_what_never_fades_does_not_fade_by_taking_a_mention_back(
    store: Store, place: Place, type_name: str, properties: dict[str, JsonValue], left: float
) -> None:
    learner = Learner(store, place)

    def state(kind: SourceType) -> None:
        batch = Batch((EntityStatement("Tabs", type_name, properties),), provenance=Provenance(kind))
        store.write(LOCAL_ADMIN, lambda tx: apply_batch(tx, batch, place.clock(), GraphPolicy()))

    state(SourceType.MANUAL)
    place.clock.wait(900 * 86_400.0)
    state(SourceType.MENTION)
    learner.drop("n.md", "We talked about [[Tabs]].")
    tabs, source = learner.entity(type_name.lower(), "tabs"), learner.entity("document", "n.md")
    assert tabs.mention_count == 3
    assert tabs.confidence == pytest.approx(left + 0.05, abs=1e-4)
    note = learner.memory("n").id
    store.write(LOCAL_ADMIN, lambda tx: withdraw_mentions(tx, note, source.id, {tabs.id}, GraphPolicy()))
    after = learner.entity(type_name.lower(), "tabs")
    assert after.mention_count == 2
    assert after.confidence == pytest.approx(left, abs=1e-4)


def test_the_path_of_a_document_is_redacted_in_every_version(store: Store, place: Place) -> None:
    learner = Learner(store, place)
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4"
    for text in ("The first text.", "Another text.", "A third one."):
        learner.drop(f"notes/{token}.md", text)
        documents = [it for (kind, _), it in learner.entities().items() if kind == "Document"]
        assert documents
        assert not any(token in str(it.properties) or token in it.name for it in documents)
