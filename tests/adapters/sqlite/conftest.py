"""A store in a file of its own, and its first tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.sqlite.store import SqliteStore
from tests.contract.stores import Caller, caller

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path)
    yield opened
    opened.close()


@pytest.fixture
def alice(store: SqliteStore) -> Caller:
    return caller(store, "alice")
