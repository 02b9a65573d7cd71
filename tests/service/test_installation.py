"""What a service is told of this installation."""

import os
import sys
from pathlib import Path

import pytest

from daemon.service.installation import Installation, installation_of
from daemon.service.systemd_unit import systemd_unit
from graph_memory.config import load_config
from graph_memory.domain.errors import ConfigError


def described() -> Installation:
    return installation_of(load_config(os.environ), os.environ)


def test_the_default_home_has_the_plain_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert described().name == "graph-memory", "the home of tests is the default one of their HOME"
    assert described().environment == {}


def test_another_home_has_a_service_of_its_own_which_is_told_its_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = set()
    for folder in (tmp_path / "a", tmp_path / "b"):
        monkeypatch.setenv("GRAPH_MEMORY_HOME", str(folder))
        names.add(described().name)
        assert described().environment["GRAPH_MEMORY_HOME"] == str(folder)
    assert len(names) == 2
    assert all(it.startswith("graph-memory-") for it in names)


def test_the_command_is_the_one_of_this_environment() -> None:
    command = described().command
    assert command == (str(Path(sys.executable).with_name("graph-memory")), "run")


@pytest.mark.spec("service.environment")
def test_settings_of_the_environment_are_carried_over_with_whole_paths(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", "projects")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "~/claude")
    monkeypatch.setenv("GRAPH_MEMORY_LOG__LEVEL", "debug")
    monkeypatch.setenv("UNRELATED", "x")
    assert described().environment == {
        "CLAUDE_PROJECTS_DIR": str(tmp_path / "projects"),
        "CLAUDE_CONFIG_DIR": str(Path.home() / "claude"),
        "GRAPH_MEMORY_LOG__LEVEL": "debug",
    }


@pytest.mark.spec("service.environment")
def test_secrets_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "correct-horse-battery")
    monkeypatch.setenv("NEO4J_URI", "bolt://neo4j:correct-horse-battery@db.example:7687")
    installation = described()
    assert installation.left_out == ("NEO4J_URI",)
    assert "correct-horse" not in systemd_unit(installation, ())


def test_what_no_file_can_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPH_MEMORY_HOME", "/tmp/two\nlines")
    with pytest.raises(ConfigError, match="control characters"):
        described()


def test_a_neo4j_store_has_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not described().needs_network
    monkeypatch.setenv("GRAPH_MEMORY_STORE", "neo4j")
    assert described().needs_network
