"""The tools of one home, over its store."""

import os
import threading
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

from graph_memory.bootstrap import Services, build_services, open_store
from graph_memory.config import LoadedConfig, load_config
from graph_memory.domain.errors import GraphMemoryError
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.log import configure_logging, get_logger
from mcp_server.catalogue import Family, ToolSpec
from mcp_server.tools import every_tool


class LocalToolbox:
    """The tools of one home; the store is opened when the first tool needs it, and again after a failure."""

    def __init__(self, config: LoadedConfig, families: Collection[Family] | None = None) -> None:
        self._config = config
        self._families = config.settings.mcp.tools if families is None else families
        self._lock = threading.Lock()
        self._services: Services | None = None

    @cached_property
    def _specs(self) -> Mapping[str, ToolSpec]:
        return {it.name: it for it in every_tool(self.services) if it.family in self._families}

    def specs(self) -> Mapping[str, ToolSpec]:
        """Return the tools of the chosen families by name, without opening the store."""
        return self._specs

    def limit(self) -> int:
        """Return how many bytes a reply may have."""
        return self._config.settings.limits.max_reply_bytes

    def services(self) -> Services:
        """Return the services, opening the store where that has not happened.

        Raises:
            ConfigError: the home can't be used; every call says so until that is mended.
            Unavailable: the store can't be opened now; the next call tries again.
        """
        with self._lock:
            if self._services is None:
                self._services = build_services(self._config, open_store(self._config))
            return self._services

    def close(self) -> None:
        """Write what the audit has yet to write, and close the store, if it was opened."""
        with self._lock:
            services, self._services = self._services, None
        if services is not None:
            try:
                services.audit.drain(LOCAL_ADMIN)
            except GraphMemoryError as error:
                get_logger("mcp_server").warning("audit_waits", reason=type(error).__name__)
            finally:
                services.store.close()


def local_toolbox(home: Path | None, families: Collection[Family] | None) -> LocalToolbox:
    """Load the settings of a home and return its tools; what is wrong with the settings goes to the log."""
    config = load_config(os.environ, home)
    configure_logging(level=config.settings.log.level)
    for problem in config.problems:
        get_logger("mcp_server").warning("config_problem", setting=problem.setting, reason=problem.message)
    return LocalToolbox(config, families)
