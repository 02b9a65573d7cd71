"""Which home a command works on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from graph_memory.adapters.sqlite.migrations import Migrated
    from graph_memory.bootstrap import Services
    from graph_memory.config import LoadedConfig


@dataclass(slots=True)
class Place:
    """The home that was named on the command line; the environment's, or the default one, where none was."""

    home: Path | None = None

    def load(self) -> LoadedConfig:
        """Load the settings; what is wrong with them is left to the caller."""
        from graph_memory.config import load_config

        return load_config(os.environ, self.home)

    def load_warning(self) -> LoadedConfig:
        """Load the settings, and say on stderr that something is wrong with them, if so."""
        from cli.terminal import warn

        config = self.load()
        if config.problems:
            count = len(config.problems)
            warn(f"{count} setting{'s' * (count > 1)} not as written; `graph-memory config check` says which")
        return config

    @contextmanager
    def services(self, *, is_reading: bool = False) -> Iterator[Services]:
        """Open the home's services; one who only reads makes no home where there is none.

        Raises:
            NotFound: there is no memory yet, and the caller only reads.
            ConfigError: the home can't be used.
            Unavailable: the store can't be opened now.
        """
        from graph_memory.bootstrap import open_services

        config = self.load_warning()
        if is_reading:
            require_memory(config)
        else:
            config.home.ensure()
        with open_services(config, on_upgrade=_say_upgraded) as services:
            yield services


def _say_upgraded(migrated: Migrated) -> None:
    from cli.terminal import note

    copy = "" if migrated.copy is None else f"; {migrated.copy} is a copy of it as it was"
    note(f"The database was upgraded from version {migrated.before} to {migrated.version}{copy}.")


def require_memory(config: LoadedConfig) -> None:
    """Raise `NotFound` where nothing was ever learned in a home."""
    from graph_memory.domain.errors import NotFound

    if config.settings.store.kind == "sqlite" and not config.home.database.exists():
        raise NotFound(
            f"there is no memory in {config.home.path} yet: `graph-memory run` learns from your sessions, "
            "`graph-memory ingest FILE` from a file"
        )


def place_of(context: typer.Context) -> Place:
    """Return the place that the command line names."""
    place = context.find_object(Place)
    return Place() if place is None else place
