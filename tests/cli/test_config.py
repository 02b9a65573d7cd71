"""`graph-memory config`."""

from pathlib import Path

import pytest

from daemon.exits import Exit
from tests.cli.conftest import Run


@pytest.fixture
def settings(home: Path) -> Path:
    home.mkdir()
    return home / "config.json"


@pytest.mark.spec("config.file.optional")
def test_without_a_file_all_is_in_order_and_nothing_is_made(run: Run, home: Path) -> None:
    done = run("config", "check")
    assert (done.status, done.out) == (Exit.OK, "The settings are in order.\n")
    assert not home.exists()


def test_every_setting_is_shown_with_its_source(run: Run, settings: Path) -> None:
    settings.write_text('{"decay": {"edge_rate": 0.9}}')
    done = run("config", "show", GRAPH_MEMORY_LIMITS__MEMORY_MB="300")
    assert "decay.edge_rate = 0.9   (config.json)\n" in done.out
    assert "limits.memory_mb = 300   (GRAPH_MEMORY_LIMITS__MEMORY_MB)\n" in done.out
    assert "decay.default_rate = 0.996\n" in done.out


def test_only_what_differs_can_be_shown(run: Run, settings: Path) -> None:
    settings.write_text('{"decay": {"edge_rate": 0.9}}')
    assert set(run("config", "show", "--changed", "--json").json["settings"]) == {"decay.edge_rate"}


@pytest.mark.spec("config.invalid.clamped", "config.invalid.wrong-type")
def test_what_was_not_taken_as_written_is_told_and_ends_with_one(run: Run, settings: Path) -> None:
    settings.write_text('{"weights": {"inferred": 1.7, "explicit_statement": "much"}, "wieghts": {}}')
    done = run("config", "check")
    assert done.status == Exit.FAILED
    assert done.out == ""
    for part in ("weights.inferred", "weights.explicit_statement", "did you mean weights?"):
        assert part in done.err
    assert len(run("config", "check", "--json").json["problems"]) == 3


@pytest.mark.spec("config.file.corrupt")
def test_a_file_that_is_no_json_is_told(run: Run, settings: Path) -> None:
    settings.write_text("{ not json")
    done = run("config", "check")
    assert done.status == Exit.FAILED
    assert "it is not JSON" in done.err


def test_a_store_that_is_not_there_is_fatal(run: Run) -> None:
    done = run("config", "check", GRAPH_MEMORY_STORE="neo4j")
    assert done.status == Exit.CONFIG
    assert "SQLite alone" in done.err


def test_secrets_are_never_shown(run: Run) -> None:
    for words in (["config", "show"], ["config", "show", "--json"], ["config", "check"], ["doctor"]):
        done = run(*words, NEO4J_PASSWORD="hunter2-and-more")
        assert "hunter2" not in done.out + done.err
