"""Changing a section of the settings file: the rest stays as somebody wrote it."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.config.editing import change_section, edited
from graph_memory.domain.errors import ConfigError
from graph_memory.home import Home

WRITTEN = """{
    "limits":   {"cpu_share": 0.50,
        "memory_mb": 600},
    "exclude": {"projects": ["a"], "mine": 1},
    "jobs": { }
}
"""


def with_project(name: str) -> Any:  # noqa: ANN401 - a change
    return lambda section: {**section, "projects": [*section.get("projects", []), name]}


@pytest.mark.spec("exclude.keeps-the-file")
def test_all_but_the_section_stays_byte_for_byte() -> None:
    text = edited(WRITTEN, "exclude", with_project("b"))
    assert text is not None
    before, after = WRITTEN.split('{"projects": ["a"], "mine": 1}')
    assert text.startswith(before)
    assert text.endswith(after)
    assert json.loads(text)["exclude"] == {"projects": ["a", "b"], "mine": 1}


def test_a_section_that_is_new_is_put_last() -> None:
    text = edited('{\n  "log": {"level": "debug"}\n}\n', "exclude", with_project("b"))
    assert text is not None
    assert text.startswith('{\n  "log": {"level": "debug"},\n  "exclude": {')
    assert json.loads(text)["exclude"] == {"projects": ["b"]}


@pytest.mark.parametrize("text", ["", "  \n", "{}", "{ }\n", "\ufeff{}"])
def test_an_empty_file_gets_the_section(text: str) -> None:
    after = edited(text, "exclude", with_project("b"))
    assert after is not None
    assert json.loads(after.lstrip("\ufeff")) == {"exclude": {"projects": ["b"]}}
    assert after.startswith("\ufeff") == text.startswith("\ufeff")


def test_no_change_is_no_writing() -> None:
    assert edited(WRITTEN, "exclude", lambda section: section) is None


@pytest.mark.spec("exclude.keeps-the-file")
@pytest.mark.parametrize("text", ['{"exclude": ', "[]", "3", '{"exclude": []}', "{'a': 1}", '{"a": 1} x'])
def test_what_is_not_understood_is_not_touched(tmp_path: Path, text: str) -> None:
    home = Home(tmp_path)
    home.config_file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="mend it first"):
        change_section(home, "exclude", with_project("b"))
    assert home.config_file.read_text(encoding="utf-8") == text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda it: st.lists(it) | st.dictionaries(st.text(), it)
)


@given(
    st.dictionaries(st.text(), json_values).filter(lambda it: isinstance(it.get("exclude", {}), dict)),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.booleans(),
)
def test_any_settings_keep_their_values_and_order(settings: dict[str, Any], indent: Any, is_ascii: bool) -> None:  # noqa: ANN401
    text = json.dumps(settings, indent=indent, ensure_ascii=is_ascii)
    after = edited(text, "exclude", lambda section: {**section, "projects": ["ü"]})
    if after is None:
        assert settings["exclude"]["projects"] == ["ü"]
        return
    read = json.loads(after)
    assert list(read) == list(dict.fromkeys([*settings, "exclude"]))
    assert read["exclude"] == {**settings.get("exclude", {}), "projects": ["ü"]}
    assert {**read, "exclude": None} == {**settings, "exclude": None}


def test_a_link_stays_one_and_permissions_stay(tmp_path: Path) -> None:
    home, real = Home(tmp_path / "home"), tmp_path / "dotfiles" / "memory.json"
    home.path.mkdir()
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    real.chmod(0o640)
    home.config_file.symlink_to(real)
    assert change_section(home, "exclude", with_project("b"))
    assert home.config_file.is_symlink()
    assert json.loads(real.read_bytes()) == {"exclude": {"projects": ["b"]}}
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_new_file_is_private(tmp_path: Path) -> None:
    home = Home(tmp_path)
    change_section(home, "exclude", with_project("b"))
    assert home.config_file.stat().st_mode & 0o777 == 0o600
    assert [it.name for it in tmp_path.iterdir() if it.name.endswith(".tmp")] == []


def test_of_many_that_change_it_at_once_none_is_lost(tmp_path: Path) -> None:
    home, names = Home(tmp_path), [f"p{number}" for number in range(12)]
    threads = [threading.Thread(target=change_section, args=(home, "exclude", with_project(it))) for it in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(json.loads(home.config_file.read_bytes())["exclude"]["projects"]) == sorted(names)
