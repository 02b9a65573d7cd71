"""The services of the memory family over a fresh store of each kind, with a clock that a test turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.reference import ReferenceStore
from tests.contract.stores import OPENERS
from tests.services.memories.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from graph_memory.ports.store import Store

KINDS = [*sorted(OPENERS), "reference that runs all work twice"]


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = OPENERS[request.param](tmp_path) if request.param in OPENERS else ReferenceStore(runs=2)
    yield opened
    opened.close()


@pytest.fixture
def desk(store: Store) -> Desk:
    return Desk(store)
