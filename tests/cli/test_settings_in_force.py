"""Settings as the command shows them: defaults, merged with what was written."""

import os
from pathlib import Path
from typing import Any

import pytest

from graph_memory.config import describe_config, load_config
from graph_memory.home import Home
from tests.cli.conftest import Run

DEFAULTS = [
    pytest.param(
        "weights.explicit_statement", 0.7, marks=pytest.mark.spec("config.default.weights.explicit_statement")
    ),
    pytest.param("weights.inferred", 0.3, marks=pytest.mark.spec("config.default.weights.inferred")),
    pytest.param("weights.from_memory_file", 0.5, marks=pytest.mark.spec("config.default.weights.from_memory_file")),
    pytest.param("weights.boost_on_confirm", 0.15, marks=pytest.mark.spec("config.default.weights.boost_on_confirm")),
    pytest.param("weights.boost_on_mention", 0.05, marks=pytest.mark.spec("config.default.weights.boost_on_mention")),
    pytest.param("weights.weaken_on_correct", 0.3, marks=pytest.mark.spec("config.default.weights.weaken_on_correct")),
    pytest.param(
        "weights.project_context_boost", 0.1, marks=pytest.mark.spec("config.default.weights.project_context_boost")
    ),
    pytest.param("decay.prune_orphan_days", 30.0, marks=pytest.mark.spec("config.default.decay.prune_orphan_days")),
    pytest.param("query.cypher_timeout_ms", 5_000, marks=pytest.mark.spec("config.default.query.cypher_timeout_ms")),
    pytest.param("memory.ephemeral_days", 14.0, marks=pytest.mark.spec("config.default.memory.ephemeral_days")),
]


def shown(home: Path) -> dict[str, Any]:
    """Return every setting with its value, as `config show --json` has it."""
    described = describe_config(load_config(os.environ, home))["settings"]
    return {name: it["value"] for name, it in described.items()}


@pytest.mark.parametrize(("setting", "value"), DEFAULTS)
def test_defaults_are_those_of_the_contract(tmp_path: Path, setting: str, value: object) -> None:
    assert shown(tmp_path)[setting] == value


@pytest.mark.spec("config.file.missing-keys", "config.deep-merge")
def test_one_setting_of_a_section_changes_no_other(tmp_path: Path) -> None:
    before = shown(tmp_path)
    (tmp_path / "config.json").write_text('{"weights": {"inferred": 0.4}}')
    after = shown(tmp_path)
    assert {name for name, value in after.items() if before[name] != value} == {"weights.inferred"}


@pytest.mark.spec("config.environment.lists")
def test_a_list_in_the_environment_is_separated_like_path(run: Run, tmp_path: Path) -> None:
    folders = [str(tmp_path / "one"), str(tmp_path / "two")]
    told = run("config", "show", "--json", CLAUDE_PROJECTS_DIR=os.pathsep.join(folders)).json
    assert told["settings"]["ingest.projects_dirs"]["value"] == folders


@pytest.mark.spec("config.home.user-global")
def test_one_memory_serves_a_user_wherever_the_command_is_started(run: Run, used_home: Path) -> None:
    assert run("search", "postgres", "--json").json["count"] == 1
    elsewhere = run("--home", used_home, "search", "postgres", "--json")
    assert elsewhere.json["count"] == 1
    assert load_config(os.environ).home == Home(used_home)
