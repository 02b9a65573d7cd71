"""The names at hand: all that a store's entities have, and those alone that may stand in a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_memory.adapters.reference import ReferenceStore
from graph_memory.domain.entities import Alias, Entity
from graph_memory.domain.names import name_key
from graph_memory.domain.principal import LOCAL_ADMIN
from ingest.known_names import longest_matches
from ingest.name_index import NameIndex, is_findable
from tests.ingest.places import Clock

if TYPE_CHECKING:
    from graph_memory.ports.store import Store


def put(store: Store, clock: Clock, *names: str) -> None:
    now = clock()
    entities = [Entity(f"id-{name_key(it)}", "Concept", it, 0.5, now, now) for it in names]
    store.write(LOCAL_ADMIN, lambda tx: tx.entities.put(entities))


@pytest.fixture
def index(store: Store, clock: Clock) -> NameIndex:
    return NameIndex(store, LOCAL_ADMIN, clock, clock.monotonic)


def test_names_and_aliases_of_stored_entities_are_found(store: Store, clock: Clock, index: NameIndex) -> None:
    put(store, clock, "Project X", "C++", ".NET", "日本語", "Straße", "a/b.py")
    store.write(LOCAL_ADMIN, lambda tx: tx.entities.put_aliases([Alias("id-c++", "See Plus Plus")]))
    index.refresh()
    text = "We write PROJECT  X\nin c++, .net and see plus plus; 彼は日本語を STRASSE a/b.py"
    assert index.candidates(text) == {"project x", "c++", ".net", "日本語", "strasse", "a/b.py", "see plus plus"}
    assert index.candidates("nothing of it") == frozenset()


def test_what_others_add_is_taken_in_a_second_later(store: Store, clock: Clock, index: NameIndex) -> None:
    index.refresh()
    put(store, clock, "Postgres")
    index.refresh()
    assert index.candidates("postgres") == frozenset()
    clock.wait(1.0)
    index.refresh()
    assert index.candidates("postgres") == {"postgres"}


def test_its_version_tells_of_new_entities_alone(store: Store, clock: Clock, index: NameIndex) -> None:
    versions = []
    for names in ((), ("Postgres",), ("Postgres",), (), ("Neo4j",)):
        put(store, clock, *names)
        clock.wait(1.0)
        index.refresh()
        versions.append(index.version)
    assert versions[0] < versions[1] == versions[2] == versions[3] < versions[4]


def test_entities_with_old_dates_are_noticed_and_deleted_ones_forgotten(
    store: Store, clock: Clock, index: NameIndex
) -> None:
    put(store, clock, "New")
    old = Clock(at=clock.at.replace(year=2020))
    index.refresh()
    clock.wait(86_400)
    index.refresh()
    put(store, old, "Old")
    store.write(LOCAL_ADMIN, lambda tx: tx.entities.delete(["id-new"]))
    put(store, old, "Older")
    clock.wait(1)
    index.refresh()
    assert index.candidates("new old older") == {"old", "older"}


def test_names_that_nobody_writes_are_left_out() -> None:
    assert is_findable("one two three four five")
    assert not is_findable("one two three four five six")
    assert not is_findable("x" * 201)


LETTERS = st.sampled_from(["a", "b", "c+", "日", "本", "한국", "어", "é", "_", "-", ".", " ", "  ", "1", "ß", "X"])
WRITTEN = st.lists(LETTERS, min_size=1, max_size=8).map("".join)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(WRITTEN, max_size=8), text=st.lists(WRITTEN, max_size=5).map("".join))
def test_it_misses_no_name_that_stands_in_a_text(names: list[str], text: str) -> None:
    clock = Clock()
    index = NameIndex(ReferenceStore(), LOCAL_ADMIN, clock, clock.monotonic)
    index.note(names)
    keys = {key for it in names if is_findable(key := name_key(it)) and any(letter.isalnum() for letter in key)}
    standing = set(longest_matches(text, keys))
    assert standing <= index.candidates(text)
