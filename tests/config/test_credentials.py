import os
from pathlib import Path

import pytest

from graph_memory.config import Credentials, LoadedConfig, load_config


def load(tmp_path: Path, content: str | bytes, *, mode: int = 0o600, **environ: str) -> LoadedConfig:
    file = tmp_path / "credentials.env"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    file.chmod(mode)
    return load_config({"HOME": str(tmp_path), **environ}, tmp_path)


def test_a_password_shows_in_no_representation(tmp_path: Path) -> None:
    loaded = load(tmp_path, "NEO4J_PASSWORD=hunter2")
    assert loaded.credentials.neo4j_password == "hunter2"
    assert "hunter2" not in f"{loaded!r} {loaded.credentials!r} {loaded.credentials}"


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    assert load(tmp_path, "NEO4J_PASSWORD=a", NEO4J_PASSWORD="b").credentials.neo4j_password == "b"


def test_the_file_may_hold_the_address_and_settings_as_well(tmp_path: Path) -> None:
    loaded = load(tmp_path, "# the shared one\nexport NEO4J_URI=bolt://db\n\nGRAPH_MEMORY_LOG__LEVEL='debug'\n")
    assert [it.setting for it in loaded.problems] == ["neo4j.uri"]
    assert loaded.settings.log.level == "debug"
    assert loaded.sources["neo4j.uri"] == "credentials.env: NEO4J_URI"


@pytest.mark.parametrize(
    ("written", "password"),
    [
        ("pa#ss w0rd", "pa#ss w0rd"),
        ('"quoted "', "quoted "),
        ("'a=b'", "a=b"),
        ('"half', '"half'),
        ('"', '"'),
        ("  spaced  ", "spaced"),
        ("", None),
    ],
)
def test_a_value_is_all_that_follows_the_sign(tmp_path: Path, written: str, password: str | None) -> None:
    assert load(tmp_path, f"NEO4J_PASSWORD={written}\n").credentials.neo4j_password == password


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o666])
def test_a_file_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    loaded = load(tmp_path, "NEO4J_PASSWORD=hunter2", mode=mode)
    assert loaded.credentials == Credentials()
    (problem,) = loaded.problems
    assert f"{mode:04o}" in problem.message
    assert "hunter2" not in str(problem)


@pytest.mark.parametrize("content", ["hunter2", "=hunter2", b"NEO4J_PASSWORD=\xff\xfehunter2"], ids=repr)
def test_a_file_of_another_form_is_ignored_without_repeating_it(tmp_path: Path, content: str | bytes) -> None:
    loaded = load(tmp_path, content)
    assert loaded.credentials == Credentials()
    (problem,) = loaded.problems
    assert "hunter2" not in str(problem)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "credentials.env"
    file.write_text("NEO4J_PASSWORD=hunter2")
    file.chmod(0o600)
    os.chown(file, 12345, -1)
    loaded = load_config({"HOME": str(tmp_path)}, tmp_path)
    assert loaded.credentials == Credentials()
    assert "another user" in loaded.problems[0].message


def test_a_folder_of_that_name_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "credentials.env").mkdir()
    loaded = load_config({"HOME": str(tmp_path)}, tmp_path)
    assert loaded.credentials == Credentials()
    assert len(loaded.problems) == 1


def test_a_variable_that_means_nothing_is_named_without_its_value(tmp_path: Path) -> None:
    (problem,) = load(tmp_path, "AWS_SECRET=hunter2").problems
    assert problem.setting == "AWS_SECRET"
    assert "hunter2" not in str(problem)


def test_the_file_can_not_move_the_home_it_lies_in(tmp_path: Path) -> None:
    assert load(tmp_path, "GRAPH_MEMORY_HOME=/elsewhere").home.path == tmp_path
