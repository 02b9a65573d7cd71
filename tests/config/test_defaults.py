"""What holds where nothing is set; what each of these does is proved where it is used."""

from operator import attrgetter

from pytest import mark, param  # noqa: PT013 - twenty of each

from graph_memory.config.settings import Settings


@mark.parametrize(
    ("setting", "value"),
    [
        param("weights.explicit_statement", 0.7, marks=mark.spec("config.default.weights.explicit_statement")),
        param("weights.inferred", 0.3, marks=mark.spec("config.default.weights.inferred")),
        param("weights.from_memory_file", 0.5, marks=mark.spec("config.default.weights.from_memory_file")),
        param("weights.boost_on_confirm", 0.15, marks=mark.spec("config.default.weights.boost_on_confirm")),
        param("weights.boost_on_mention", 0.05, marks=mark.spec("config.default.weights.boost_on_mention")),
        param("weights.weaken_on_correct", 0.3, marks=mark.spec("config.default.weights.weaken_on_correct")),
        param("weights.project_context_boost", 0.10, marks=mark.spec("config.default.weights.project_context_boost")),
        param("decay.default_rate", 0.996, marks=mark.spec("config.default.decay.other-types")),
        param("decay.edge_rate", 0.997, marks=mark.spec("config.default.decay.edge_rate")),
        param("decay.prune_node_threshold", 0.1, marks=mark.spec("config.default.decay.prune_node_threshold")),
        param("decay.prune_edge_threshold", 0.05, marks=mark.spec("config.default.decay.prune_edge_threshold")),
        param("decay.prune_orphan_days", 30, marks=mark.spec("config.default.decay.prune_orphan_days")),
        param("query.default_max_hops", 2, marks=mark.spec("config.default.query.default_max_hops")),
        param("query.default_min_weight", 0.3, marks=mark.spec("config.default.query.default_min_weight")),
        param("query.default_limit", 20, marks=mark.spec("config.default.query.default_limit")),
        param("query.cypher_timeout_ms", 5_000, marks=mark.spec("config.default.query.cypher_timeout_ms")),
        param("affinity.hop_1_multiplier", 1.3, marks=mark.spec("config.default.affinity.hop_1_multiplier")),
        param("affinity.hop_2_multiplier", 1.15, marks=mark.spec("config.default.affinity.hop_2_multiplier")),
        param("relations.single_valued", (), marks=mark.spec("config.default.relations.single_valued")),
        param("memory.ephemeral_days", 14, marks=mark.spec("config.default.memory.ephemeral_days")),
    ],
)
def test_a_setting_has_its_documented_default(setting: str, value: object) -> None:
    assert attrgetter(setting)(Settings()) == value
