"""What every test gets: a home of its own, settled hypothesis, and the cases that stand beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.spec.plugin"]

# No example database and no deadline: a run depends on neither the last one nor the load of the machine.
settings.register_profile("default", database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

SHARED = Path(__file__).resolve().parents[2] / "shared"

OURS = ("GRAPH_MEMORY_", "NEO4J_", "CLAUDE_")


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """The folder of cases beside the checkout; without it the test is skipped by name."""
    return _beside("cases")


@pytest.fixture(scope="session")
def shared_bench() -> Path:
    """The folder of retrieval data beside the checkout; without it the test is skipped by name."""
    return _beside("bench")


def _beside(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"../shared/{name} is absent")
    return folder


@pytest.fixture(autouse=True)
def own_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees the settings or the home folder of whoever runs it; the folder returned is its home."""
    for name in os.environ:
        if name.startswith(OURS):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GRAPH_MEMORY_HOME", str(home / "graph-memory"))
    return home
