"""Scrubbing what is stored: secrets go from every text, and what hangs together stays together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.reference import ReferenceStore
from graph_memory.domain.entities import Alias, EntityFilter, Evidence
from graph_memory.domain.ledger import IngestState, MergeRecord, VectorOwner
from graph_memory.domain.memories import MemoryFilter, MemoryOrder, MemoryVersion, Mention, OpenLink
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.relations import RelationFilter
from graph_memory.services.scrub import SLICE, Scrub, Scrubbed
from tests.contract.dumps import dump
from tests.contract.samples import NOW, day, entity, evidence, item, memory, populate, query, relation, synapse, vector
from tests.contract.stores import OPENERS
from tests.domain.planted_secrets import SHAPED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction

KEY, TOKEN = SHAPED["AWS access key"], SHAPED["GitHub personal"]


@pytest.fixture(params=[*sorted(OPENERS), "reference that runs all work twice"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = OPENERS[request.param](tmp_path) if request.param in OPENERS else ReferenceStore(runs=2)
    yield opened
    opened.close()


def scrub(store: Store, *, dry_run: bool = False) -> Scrubbed:
    return Scrub(store, lambda: day(9), lambda _: None).scrub(LOCAL_ADMIN, dry_run=dry_run)


def everything(store: Store) -> str:
    """Return all there is, as one text."""
    return repr(store.read(LOCAL_ADMIN, dump))


def plant(tx: WriteTransaction) -> None:
    """Store secrets in every place that holds texts, as if they had come before there was a rule for them."""
    tx.memories.add(
        [
            memory(f"Deploy with {KEY}", 1, f"The key is {KEY}.", summary=f"{KEY} deploys", tags=("ops", KEY)),
            memory("Harmless", 2, "Nothing to see."),
        ]
    )
    tx.memories.add_versions([MemoryVersion(2, "Harmless", f"It was {TOKEN} once", NOW)])
    tx.memories.put_open_links([OpenLink(1, f"Key {KEY}"), OpenLink(1, "Deploy")])
    tx.synapses.put([synapse(2, 1)])
    tx.entities.put(
        [
            entity("ada", "Person", "Ada", properties={"note": f"uses {TOKEN}", "nested": [{"key": KEY}]}),
            entity(KEY.lower(), "Concept", KEY),
            entity("plain", "Concept", "Plain"),
        ]
    )
    tx.entities.put_aliases([Alias("ada", TOKEN), Alias("ada", "Countess"), Alias(KEY.lower(), "The key")])
    tx.entities.add_evidence([_said("ada", f"Ada said {TOKEN}"), _said("plain", "No secret")])
    used = relation("ada", KEY.lower(), "USES", properties={"how": f"with {KEY}"})
    before = relation("ada", KEY.lower(), "USES", 1, ingested_at=day(-1), invalid_at=day(1))
    tx.relations.put([used, before, relation("ada", "plain")])
    tx.relations.add_evidence([_said(used.id, f"She put {KEY} in")])
    tx.memories.add_mentions([Mention(1, KEY.lower(), NOW), Mention(2, "plain", NOW)])
    failed = item("i1", IngestState.FAILED, reason=f"no such bucket {KEY}", meta={"title": TOKEN})
    tx.ledger.put_items([failed])
    tx.upkeep.put_merges([MergeRecord("m1", "a", "b", NOW, {"name": KEY})])
    tx.upkeep.put_vectors([vector(VectorOwner.MEMORY, "1"), vector(VectorOwner.MEMORY, "2")])


def _said(subject: str, text: str) -> Evidence:
    return replace(evidence(subject), text=text)


@pytest.mark.spec("scrub.everywhere")
def test_no_secret_is_left_anywhere_and_what_it_stood_in_is(store: Store) -> None:
    store.write(LOCAL_ADMIN, plant)
    done = scrub(store)
    left = everything(store)
    for secret in (KEY, TOKEN, KEY.lower(), TOKEN.lower()):
        assert secret not in left
    for kept in ("Nothing to see", "Countess", "The key", "She put [redacted:aws", "no such bucket [redacted:aws"):
        assert kept in left
    assert set(done.secrets) == {"aws-access-key", "github"}
    assert {name: count for name, count in done.rows.items() if count} == {
        "memories": 1,
        "versions": 1,
        "entities": 2,
        "evidence": 2,
        "relations": 1,
        "documents": 1,
        "merges": 1,
    }


@pytest.mark.spec("scrub.counted-first")
def test_a_dry_run_counts_the_same_and_changes_nothing(store: Store) -> None:
    store.write(LOCAL_ADMIN, plant)
    before = everything(store)
    counted = scrub(store, dry_run=True)
    assert everything(store) == before
    done = scrub(store)
    assert counted.secrets == done.secrets
    assert counted.rows == done.rows
    again = scrub(store)
    assert again.count == 0


def test_where_there_is_nothing_to_take_out_nothing_is_written(store: Store) -> None:
    store.write(LOCAL_ADMIN, populate)
    before = everything(store)
    assert scrub(store).count == 0
    assert everything(store) == before


def test_searches_follow(store: Store) -> None:
    store.write(LOCAL_ADMIN, plant)
    assert _found(store, KEY) == [1]
    scrub(store)
    assert _found(store, KEY) == []
    assert _found(store, "deploy") == [1]


def _found(store: Store, word: str) -> list[int]:
    where = MemoryFilter(statuses=None)
    hits = store.read(LOCAL_ADMIN, lambda tx: tx.memories.search(query(word.lower()), where, 10))
    return [it.ref for it in hits]


def test_an_entity_that_was_called_like_a_secret_gets_another_name_and_keeps_its_own(store: Store) -> None:
    store.write(LOCAL_ADMIN, plant)
    scrub(store)

    def look(tx: ReadTransaction) -> None:
        [renamed] = [it for it in tx.entities.page_by_id(EntityFilter(), None, 10) if "redacted" in it.name]
        assert renamed.name.startswith("[redacted:aws")
        assert {it.name for it in tx.entities.aliases({renamed.id})[renamed.id]} == {"The key"}
        relations = tx.relations.neighbours({renamed.id}, RelationFilter(current_only=False), limit=10)
        assert {(it.source_id, it.is_current) for it in relations} == {("ada", True), ("ada", False)}
        current = next(it for it in relations if it.is_current)
        assert tx.relations.evidence({current.id})[current.id][0].text is not None
        [mention] = tx.memories.mentions_of_entities({renamed.id}, 10)
        assert mention.memory_id == 1

    store.read(LOCAL_ADMIN, look)


def test_two_that_are_called_alike_afterwards_are_told_apart(store: Store) -> None:
    def double(tx: WriteTransaction) -> None:
        keys = [SHAPED["AWS access key"], SHAPED["AWS access key"][:-1] + "Z"]
        tx.entities.put([entity(it.lower(), "Concept", it) for it in keys])
        tx.memories.add([memory(it, number, it) for number, it in enumerate(keys, 1)])

    store.write(LOCAL_ADMIN, double)
    scrub(store)

    def look(tx: ReadTransaction) -> tuple[set[str], set[str], set[str]]:
        entities = tx.entities.page_by_id(EntityFilter(), None, 10)
        memories = tx.memories.page(MemoryFilter(statuses=None), MemoryOrder.ID, 10)
        return {it.name for it in entities}, {it.title for it in memories}, {it.slug for it in memories}

    for names in store.read(LOCAL_ADMIN, look):
        assert len(names) == 2
        assert all("redacted" in it and "AKIA" not in it.upper() for it in names)


def test_vectors_of_what_changed_are_made_anew(store: Store) -> None:
    store.write(LOCAL_ADMIN, plant)
    scrub(store)
    left = store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.vectors(VectorOwner.MEMORY, {"1", "2"}, "model"))
    assert set(left) <= {"2"}
    assert "1" not in left


@pytest.mark.spec("scrub.audited")
def test_it_is_audited_in_numbers_and_ids(store: Store) -> None:
    store.write(LOCAL_ADMIN, plant)
    scrub(store)
    events = store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.page_audit(1_000))
    [end] = [it for it in events if it.event == "run_end"]
    assert end.data["job"] == "scrub"
    assert isinstance(end.data["result"], Mapping)
    assert end.data["result"]["memories"] == 1
    assert {"memory_id", "aws-access-key"} <= next(it.data for it in events if "memory_id" in it.data).keys()


def test_more_than_a_slice_of_everything_is_looked_at(store: Store) -> None:
    many = SLICE + 7

    def fill(tx: WriteTransaction) -> None:
        tx.memories.add([memory(f"Note {number}", number, f"{number}") for number in range(1, many)])
        tx.memories.add([memory("Last", many, f"Here: {KEY}")])
        tx.entities.put([entity(f"e{number:05}") for number in range(many)])
        tx.entities.put([entity("zz", properties={"key": KEY})])
        tx.relations.put([relation(f"e{number:05}", "zz") for number in range(many)])
        tx.ledger.put_items([item(f"i{number:05}", meta={"n": number}) for number in range(many)])
        tx.ledger.put_items([item("last", IngestState.COMPLETED, reason=f"{KEY}")])

    store.write(LOCAL_ADMIN, fill)
    done = scrub(store)
    assert done.rows["memories"] == done.rows["entities"] == done.rows["documents"] == 1
    assert done.looked_at >= 4 * many
    assert KEY not in everything(store)
