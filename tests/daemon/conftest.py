"""A home with services over a store in memory, and a clock that the test sets."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.bootstrap import Services, build_services
from graph_memory.config import load_config
from graph_memory.home import Home


@dataclass
class Clock:
    """An instant that stays until it is moved."""

    at: datetime = field(default_factory=lambda: datetime(2026, 1, 15, 12, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def services(tmp_path: Path, clock: Clock) -> Iterator[Services]:
    config = load_config({}, tmp_path / "home")
    config.home.ensure()
    store = ReferenceStore()
    yield build_services(config, store, clock=clock, pause=lambda _: None)
    store.close()


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "projects"
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", str(folder))
    monkeypatch.setenv("GRAPH_MEMORY_INGEST__RESCAN_SECONDS", "1")
    return folder


@pytest.fixture
def home(projects: Path) -> Home:
    return load_config(os.environ).home
