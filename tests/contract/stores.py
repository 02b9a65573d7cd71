"""The stores that the suite runs over. Each is imported only when it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from graph_memory.domain.principal import Principal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graph_memory.ports.store import ReadTransaction, Store, WriteTransaction

T = TypeVar("T")


def reference(_folder: Path) -> Store:
    from graph_memory.adapters.reference import ReferenceStore

    return ReferenceStore()


def reference_rerun(_folder: Path) -> Store:
    from graph_memory.adapters.reference import ReferenceStore

    return ReferenceStore(runs=2)


def sqlite(folder: Path) -> Store:
    from graph_memory.adapters.sqlite.store import SqliteStore

    return SqliteStore(folder / "memory.db")


OPENERS: dict[str, Callable[[Path], Store]] = {"reference": reference, "sqlite": sqlite}


@dataclass(frozen=True)
class Caller:
    """A store as one tenant sees it."""

    store: Store
    principal: Principal

    def read(self, work: Callable[[ReadTransaction], T]) -> T:
        return self.store.read(self.principal, work)

    def write(self, work: Callable[[WriteTransaction], T]) -> T:
        return self.store.write(self.principal, work)


def caller(store: Store, tenant: str) -> Caller:
    return Caller(store, Principal(tenant))
