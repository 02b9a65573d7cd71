"""The values that hold where nobody set any."""

from pathlib import Path

import pytest

from graph_memory.config import load_config

DEFAULTS = {
    "weights.explicit_statement": 0.7,
    "weights.inferred": 0.3,
    "weights.from_memory_file": 0.5,
    "weights.boost_on_confirm": 0.15,
    "weights.boost_on_mention": 0.05,
    "weights.weaken_on_correct": 0.3,
    "weights.project_context_boost": 0.10,
    "decay.prune_orphan_days": 30,
    "query.cypher_timeout_ms": 5_000,
    "memory.ephemeral_days": 14,
}


@pytest.mark.spec(
    "config.default.weights.explicit_statement",
    "config.default.weights.inferred",
    "config.default.weights.from_memory_file",
    "config.default.weights.boost_on_confirm",
    "config.default.weights.boost_on_mention",
    "config.default.weights.weaken_on_correct",
    "config.default.weights.project_context_boost",
    "config.default.decay.prune_orphan_days",
    "config.default.query.cypher_timeout_ms",
    "config.default.memory.ephemeral_days",
)
@pytest.mark.parametrize("setting", list(DEFAULTS))
def test_a_setting_that_nobody_set_has_its_default(tmp_path: Path, setting: str) -> None:
    loaded = load_config({"HOME": str(tmp_path)}, tmp_path / "home")
    section, name = setting.split(".")
    assert getattr(getattr(loaded.settings, section), name) == DEFAULTS[setting]
    assert loaded.problems == ()
