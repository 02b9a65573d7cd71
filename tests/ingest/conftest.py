"""A home, both stores, a clock that is moved by hand, and files as people drop them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.reference import ReferenceStore
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.config.settings import Ingest
from graph_memory.home import Home
from tests.ingest.learners import Learner
from tests.ingest.places import Clock, Place
from tests.ingest.session_learner import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graph_memory.ports.store import Store


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def place(tmp_path: Path, clock: Clock) -> Place:
    home = Home(tmp_path / "graph-memory")
    home.ensure()
    user = tmp_path / "user"
    projects = user / ".claude" / "projects"
    projects.mkdir(parents=True)
    return Place(home, Ingest(projects_dirs=(projects,), allowed_dirs=(user,)), clock)


@pytest.fixture
def user(tmp_path: Path, place: Place) -> Path:
    """The user's own folder."""
    return tmp_path / "user"


@pytest.fixture(params=["reference", "reference-twice", "sqlite"])
def store(request: pytest.FixtureRequest, place: Place) -> Iterator[Store]:
    opened: Store
    if request.param == "sqlite":
        opened = SqliteStore(place.home.database)
    else:
        opened = ReferenceStore(runs=2 if request.param == "reference-twice" else 1)
    yield opened
    opened.close()


@pytest.fixture
def learner(store: Store, place: Place) -> Learner:
    return Learner(store, place)


@pytest.fixture
def session(store: Store, place: Place) -> Session:
    return Session(store, place)
