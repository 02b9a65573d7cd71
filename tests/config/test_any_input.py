"""Whatever a file or a variable holds, loading ends with settings within their bounds."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from graph_memory.config import Settings, load_config
from graph_memory.config.leaves import Range, split, walk

PATHS = [leaf.path for leaf in walk(Settings())]

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


def nested(path: str, value: object) -> object:
    for part in reversed(path.split(".")):
        value = {part: value}
    return value


def assert_within_bounds(settings: Settings) -> None:
    for leaf in walk(settings):
        for rule in split(leaf.annotation)[1]:
            if isinstance(rule, Range):
                assert isinstance(leaf.value, int | float)
                assert rule.low <= leaf.value <= rule.high, leaf.path


@given(path=st.sampled_from(PATHS), value=values)
def test_any_value_of_any_setting_in_the_file_is_taken_or_reported(path: str, value: object) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "config.json").write_text(json.dumps(nested(path, value)), encoding="utf-8")
        loaded = load_config({"HOME": folder}, home)
    assert_within_bounds(loaded.settings)
    assert all(problem.setting.startswith(path) for problem in loaded.problems)
    changed = {leaf.path for leaf in walk(loaded.settings)} & set(loaded.sources)
    assert changed <= {path, "store.kind"}


@given(path=st.sampled_from(PATHS), text=st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20))
def test_any_text_of_any_variable_is_taken_or_reported(path: str, text: str) -> None:
    name = "GRAPH_MEMORY_" + path.upper().replace(".", "__")
    with TemporaryDirectory() as folder:
        loaded = load_config({"HOME": folder, name: text}, Path(folder))
    assert_within_bounds(loaded.settings)


@given(values)
def test_any_file_at_all_can_be_loaded(value: object) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "config.json").write_text(json.dumps(value), encoding="utf-8")
        loaded = load_config({"HOME": folder}, home)
    assert_within_bounds(loaded.settings)
