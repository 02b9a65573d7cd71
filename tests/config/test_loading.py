import json
import os
from collections.abc import Callable
from datetime import time
from pathlib import Path

import pytest

from graph_memory.config import ConfigProblem, LoadedConfig, Settings, describe_config, load_config
from graph_memory.domain.errors import ConfigError

Load = Callable[..., LoadedConfig]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load the settings of a home that has this `config.json` (a value, or raw text), in this environment."""

    def load_with(config: object = None, /, **environ: str) -> LoadedConfig:
        home = tmp_path / "memory"
        home.mkdir(mode=0o700, exist_ok=True)
        if config is not None:
            raw = config if isinstance(config, str) else json.dumps(config)
            (home / "config.json").write_text(raw, encoding="utf-8")
        return load_config({"HOME": str(tmp_path), **environ}, home)

    return load_with


def only(problems: tuple[ConfigProblem, ...]) -> ConfigProblem:
    (problem,) = problems
    return problem


def test_a_home_without_a_file_has_the_defaults_and_no_problems(load: Load, tmp_path: Path) -> None:
    loaded = load()
    assert loaded.problems == ()
    assert loaded.settings.weights == Settings().weights
    assert loaded.settings.jobs == Settings().jobs
    assert loaded.settings.ingest.projects_dirs == (tmp_path / ".claude" / "projects",)
    assert loaded.settings.ingest.allowed_dirs == (tmp_path,)
    assert loaded.settings.store.kind == "sqlite"
    assert loaded.sources == {}


def test_loading_writes_nothing(tmp_path: Path) -> None:
    load_config({"HOME": str(tmp_path)})
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_merged_key_by_key_over_the_defaults(load: Load) -> None:
    settings = load({"decay": {"rates": {"Person": 0.9, "Ship": 0.8}, "edge_rate": 0.99}}).settings
    assert settings.decay.rates["Person"] == 0.9
    assert settings.decay.rates["Ship"] == 0.8
    assert settings.decay.rates["Project"] == 0.995
    assert settings.decay.edge_rate == 0.99
    assert settings.decay.prune_node_threshold == 0.1


def test_a_key_of_a_table_is_known_in_any_case(load: Load) -> None:
    rates = load({"decay": {"rates": {"person": 0.9}}}).settings.decay.rates
    assert rates["Person"] == 0.9
    assert "person" not in rates


def test_a_job_keeps_what_the_file_does_not_say_about_it(load: Load) -> None:
    job = load({"jobs": {"memory_decay": {"at": "05:15"}}}).settings.jobs.memory_decay
    assert (job.at, job.day, job.enabled) == (time(5, 15), "sunday", True)


def test_the_environment_goes_before_the_file(load: Load) -> None:
    loaded = load({"query": {"default_limit": 30}}, GRAPH_MEMORY_QUERY__DEFAULT_LIMIT="40")
    assert loaded.settings.query.default_limit == 40
    assert loaded.sources["query.default_limit"] == "GRAPH_MEMORY_QUERY__DEFAULT_LIMIT"


def test_an_empty_variable_counts_as_absent(load: Load) -> None:
    loaded = load(GRAPH_MEMORY_QUERY__DEFAULT_LIMIT="", NEO4J_URI="", GRAPH_MEMORY_STORE="")
    assert loaded.settings.query.default_limit == 20
    assert loaded.settings.store.kind == "sqlite"
    assert loaded.problems == ()


@pytest.mark.parametrize(("written", "used"), [(1.5, 1.0), (-1, 0.0), (1e300, 1.0), ("0.4", 0.4), (1, 1.0)], ids=repr)
def test_a_number_is_clamped_to_its_bounds(load: Load, written: object, used: float) -> None:
    loaded = load({"weights": {"inferred": written}})
    assert loaded.settings.weights.inferred == used
    assert bool(loaded.problems) == (written not in ("0.4", 1))


@pytest.mark.parametrize(
    "written", ["much", True, None, [], {}, "nan", "inf", "1" * 400], ids=lambda value: repr(value)[:12]
)
def test_what_is_no_number_leaves_the_default_and_is_reported(load: Load, written: object) -> None:
    loaded = load({"weights": {"inferred": written}})
    assert loaded.settings.weights.inferred == 0.3
    problem = only(loaded.problems)
    assert (problem.setting, problem.source) == ("weights.inferred", "config.json")
    assert "0.3 is used" in problem.message


@pytest.mark.parametrize(
    ("section", "key", "written"),
    [
        ("query", "default_limit", 2.5),
        ("ingest", "polling", "perhaps"),
        ("log", "level", "loud"),
        ("neo4j", "uri", 7),
        ("neo4j", "user", ""),
        ("mcp", "tools", []),
        ("mcp", "tools", 3),
        ("mcp", "tools", ["sing"]),
        ("store", "kind", "mysql"),
    ],
)
def test_a_value_of_another_kind_leaves_the_default(load: Load, section: str, key: str, written: object) -> None:
    loaded = load({section: {key: written}})
    assert getattr(getattr(loaded.settings, section), key) == getattr(getattr(Settings(), section), key)
    assert {problem.setting for problem in loaded.problems} == {f"{section}.{key}"}


@pytest.mark.parametrize("written", ["25:00", "5", "03:00Z", "noon", 3], ids=repr)
def test_what_is_no_local_time_leaves_the_default(load: Load, written: object) -> None:
    loaded = load({"jobs": {"decay": {"at": written}}})
    assert loaded.settings.jobs.decay.at == time(3, 0)
    assert "'03:00' is used" in only(loaded.problems).message


@pytest.mark.parametrize(
    ("config", "nearest"),
    [
        ({"weights": {"infered": 0.2}}, "weights.inferred"),
        ({"wieghts": {"inferred": 0.2}}, "weights"),
        ({"default_limit": 9}, "query.default_limit"),
        ({"jobs": {"decay": {"hour": 3}}}, None),
    ],
)
def test_an_unknown_setting_is_reported_with_the_nearest(load: Load, config: object, nearest: str | None) -> None:
    loaded = load(config)
    assert loaded.settings.weights == Settings().weights
    message = only(loaded.problems).message
    assert message == (f"no such setting; did you mean {nearest}?" if nearest else "no such setting")


@pytest.mark.parametrize("raw", ["{", "[]", "7", '"text"', "null", '{"a": NaN}', "\x00", "{}}"], ids=repr)
def test_a_broken_file_is_reported_and_the_defaults_hold(load: Load, raw: str) -> None:
    loaded = load(raw)
    assert loaded.settings.weights == Settings().weights
    assert only(loaded.problems).source == "config.json"


def test_a_broken_file_is_reported_with_the_place(load: Load) -> None:
    assert "line 2, column" in only(load('{"weights":\n {"inferred": }}').problems).message


def test_an_empty_file_says_nothing(load: Load) -> None:
    assert load("").problems == ()


def test_a_byte_order_mark_is_ignored(load: Load) -> None:
    assert load('\ufeff{"query": {"default_limit": 7}}').settings.query.default_limit == 7


def test_a_file_that_is_a_folder_is_reported(load: Load, tmp_path: Path) -> None:
    (tmp_path / "memory" / "config.json").mkdir(parents=True)
    assert "can't be read" in only(load().problems).message


@pytest.mark.parametrize("section", ["weights", "jobs"])
def test_a_section_that_is_no_object_is_ignored(load: Load, section: str) -> None:
    loaded = load({section: 3, "query": {"default_limit": 9}})
    assert only(loaded.problems).setting == section
    assert loaded.settings.query.default_limit == 9


def test_a_secret_in_the_file_is_refused_and_not_repeated(load: Load) -> None:
    loaded = load({"neo4j": {"password": "hunter2"}})
    problem = only(loaded.problems)
    assert "credentials.env" in problem.message
    assert "hunter2" not in str(problem)
    assert loaded.credentials.neo4j_password is None


def test_lists_in_the_environment_are_separated_like_path(load: Load, tmp_path: Path) -> None:
    loaded = load(
        CLAUDE_PROJECTS_DIR=os.pathsep.join(["~/one", "$HOME/two", "/three/../four", ""]),
        GRAPH_MEMORY_RELATIONS__SINGLE_VALUED=os.pathsep.join(["OWNED_BY", "LED_BY", "OWNED_BY"]),
    )
    assert loaded.settings.ingest.projects_dirs == (tmp_path / "one", tmp_path / "two", Path("/four"))
    assert loaded.settings.relations.single_valued == ("OWNED_BY", "LED_BY")


def test_the_wrong_part_of_a_list_is_left_out_and_reported(load: Load, tmp_path: Path) -> None:
    loaded = load({"exclude": {"folders": ["~/a", "$NOT_SET_ANYWHERE/b", 3]}, "mcp": {"tools": ["SQL", "sing"]}})
    assert loaded.settings.exclude.folders == (tmp_path / "a",)
    assert loaded.settings.mcp.tools == ("sql",)
    assert len(loaded.problems) == 3


def test_relative_folders_in_the_file_lie_in_the_home(load: Load, tmp_path: Path) -> None:
    loaded = load({"exclude": {"folders": ["private"]}})
    assert loaded.settings.exclude.folders == (tmp_path / "memory" / "private",)


def test_claude_code_may_keep_its_transcripts_elsewhere(load: Load, tmp_path: Path) -> None:
    moved = load(CLAUDE_CONFIG_DIR="~/elsewhere")
    assert moved.settings.ingest.projects_dirs == (tmp_path / "elsewhere" / "projects",)
    both = load(CLAUDE_CONFIG_DIR="~/elsewhere", CLAUDE_PROJECTS_DIR="/here")
    assert both.settings.ingest.projects_dirs == (Path("/here"),)


def test_any_setting_can_come_from_the_environment(load: Load) -> None:
    loaded = load(
        GRAPH_MEMORY_JOBS__DECAY__AT="06:30",
        GRAPH_MEMORY_DECAY__RATES__PERSON="0.9",
        GRAPH_MEMORY_INGEST__POLLING="yes",
        GRAPH_MEMORY_LIMITS__MEMORY_MB="700",
    )
    assert loaded.problems == ()
    assert loaded.settings.jobs.decay.at == time(6, 30)
    assert loaded.settings.decay.rates["Person"] == 0.9
    assert loaded.settings.ingest.polling is True
    assert loaded.settings.limits.memory_mb == 700


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("GRAPH_MEMORY_WEIGHTS__INFERED", "weights.inferred"),
        ("GRAPH_MEMORY_HOEM", "GRAPH_MEMORY_HOME"),
        ("GRAPH_MEMORY_DECAY_EDGE_RATE", "GRAPH_MEMORY_DECAY__EDGE_RATE"),
    ],
)
def test_an_unknown_variable_of_ours_is_reported_with_the_nearest(load: Load, name: str, nearest: str) -> None:
    assert f"did you mean {nearest}?" in only(load(**{name: "0.5"}).problems).message


def test_variables_of_others_are_no_concern(load: Load) -> None:
    assert load(NEO4J_HOME="/opt/neo4j", CLAUDE_CODE_ENTRYPOINT="cli").problems == ()


def test_an_address_that_others_use_keeps_nobody_from_a_memory(load: Load) -> None:
    loaded = load(NEO4J_URI="bolt://db:7687")
    loaded.require_usable_store()
    assert "the address is not used" in only(loaded.problems).message
    assert load(NEO4J_URI="bolt://db:7687", GRAPH_MEMORY_STORE="sqlite").problems == ()
    wrong = load(NEO4J_URI="bolt://db:7687", GRAPH_MEMORY_STORE="mysql")
    assert (wrong.settings.store.kind, len(wrong.problems)) == ("sqlite", 2)


def test_a_store_that_is_not_there_is_the_one_fatal_case(load: Load) -> None:
    with pytest.raises(ConfigError, match="SQLite alone"):
        load(GRAPH_MEMORY_STORE="Neo4j", NEO4J_PASSWORD="hunter2").require_usable_store()
    load().require_usable_store()


def test_the_home_is_found_by_argument_then_environment_then_default(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "GRAPH_MEMORY_HOME": "~/deep/$NAME", "NAME": "er"}
    assert load_config(environ, tmp_path / "x").home.path == tmp_path / "x"
    assert load_config(environ).home.path == tmp_path / "deep" / "er"
    assert load_config({"HOME": str(tmp_path)}).home.path == tmp_path / "graph-memory"


def test_a_home_that_can_not_be_understood_is_reported(tmp_path: Path) -> None:
    loaded = load_config({"HOME": str(tmp_path), "GRAPH_MEMORY_HOME": "$NOT_SET_ANYWHERE/memory"})
    assert loaded.home.path == tmp_path / "graph-memory"
    assert only(loaded.problems).message == "$NOT_SET_ANYWHERE is not set; ~/graph-memory is used"


def test_the_view_tells_each_value_with_its_source_and_no_secret(load: Load) -> None:
    loaded = load({"query": {"default_limit": 30}}, NEO4J_URI="bolt://me:hunter2@db", NEO4J_PASSWORD="hunter2")
    view = describe_config(loaded)
    assert view["settings"]["query.default_limit"] == {"value": 30, "default": 20, "source": "config.json"}
    assert view["settings"]["jobs.decay.at"] == {"value": "03:00", "default": "03:00", "source": "default"}
    assert view["settings"]["neo4j.uri"]["source"] == "NEO4J_URI"
    assert view["credentials"] == {"neo4j_password": "set"}
    assert "hunter2" not in json.dumps(view)
