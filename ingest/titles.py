"""Titles that are free in their project."""

from collections.abc import Sequence

from graph_memory.domain.names import name_key, short_hash
from graph_memory.ports.store import ReadTransaction


def free_title(tx: ReadTransaction, titles: Sequence[str], key: str, project_id: str, memory_id: int) -> str:
    """Return the first title that no other memory of the project has, else the wanted one with a hash of `key`."""
    candidates = [*titles, f"{titles[0]} ({short_hash(key)})"]
    holders = tx.memories.find_by_title({name_key(it) for it in candidates}, project_id)
    taken = {it.title_key for it in holders if it.id != memory_id}
    return next((it for it in candidates if name_key(it) not in taken), f"{titles[0]} ({key})")
