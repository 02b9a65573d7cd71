"""Settings: defaults, then `config.json`, then the environment. Only composition roots load them."""

from graph_memory.config.credentials import Credentials
from graph_memory.config.loading import LoadedConfig, describe_config, load_config
from graph_memory.config.overlay import ConfigProblem
from graph_memory.config.settings import Settings

__all__ = ["ConfigProblem", "Credentials", "LoadedConfig", "Settings", "describe_config", "load_config"]
