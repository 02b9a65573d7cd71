"""What people mean by a name that is not exactly any: folders of projects, and spelling slips."""

from pathlib import PurePosixPath, PureWindowsPath

from graph_memory.domain.entities import Entity, EntityFilter
from graph_memory.domain.names import name_key
from graph_memory.ports.store import ReadTransaction

CANDIDATES = 50
CLOSE_ENOUGH = 80.0
"""How alike, in per cent, a name must be to be taken for another."""


def path_name(path: str) -> str:
    """Return the last part of a folder's path, however it is written; of a plain name, the name."""
    pure = PureWindowsPath(path) if "\\" in path else PurePosixPath(path)
    return pure.name or path


def similar_entities(tx: ReadTransaction, name: str, where: EntityFilter) -> list[Entity]:
    """Find entities whose name, or an alias, is `name` but for slips of spelling; most alike first, ties by id."""
    from rapidfuzz import fuzz  # here, since only a name that nothing answers to needs it

    candidates = tx.entities.find_similar_names(name, where, CANDIDATES)
    aliases = tx.entities.aliases([it.id for it in candidates])
    key = name_key(name)

    def likeness(entity: Entity) -> float:
        keys = [name_key(entity.name), *(it.name_key for it in aliases.get(entity.id, ()))]
        return max(fuzz.ratio(key, it) for it in keys)

    alike = [(likeness(it), it) for it in candidates]
    return [it for score, it in sorted(alike, key=lambda pair: (-pair[0], pair[1].id)) if score >= CLOSE_ENOUGH]


def likeness(first: str, second: str) -> float:
    """Return how alike two names are, 0–1: normalised Indel similarity (`rapidfuzz.fuzz.ratio`) of their keys."""
    from rapidfuzz import fuzz  # here, since only upkeep needs it

    return fuzz.ratio(name_key(first), name_key(second)) / 100.0
