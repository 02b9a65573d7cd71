"""A fresh store of each kind for every test, and two tenants of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.stores import OPENERS, Caller, caller

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from graph_memory.ports.store import Store


@pytest.fixture(params=sorted(OPENERS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = OPENERS[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def alice(store: Store) -> Caller:
    return caller(store, "alice")


@pytest.fixture
def bob(store: Store) -> Caller:
    """Another tenant of the same store."""
    return caller(store, "bob")
