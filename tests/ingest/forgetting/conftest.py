"""Both stores, and a person at each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.reference import ReferenceStore
from graph_memory.adapters.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graph_memory.ports.store import Store
    from tests.ingest.places import Place
from tests.ingest.forgetting.person import Person


@pytest.fixture(params=["reference", "sqlite"])
def store(request: pytest.FixtureRequest, place: Place) -> Iterator[Store]:
    opened: Store = ReferenceStore() if request.param == "reference" else SqliteStore(place.home.database)
    yield opened
    opened.close()


@pytest.fixture
def person(store: Store, place: Place) -> Person:
    return Person(store, place)
