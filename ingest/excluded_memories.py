"""How much is stored from what a person excludes."""

from os.path import normpath
from pathlib import Path, PurePath

from graph_memory.domain.entities import EntityFilter, EntityOrder
from graph_memory.domain.memories import MemoryFilter
from graph_memory.domain.names import type_key
from graph_memory.ports.store import ReadTransaction
from ingest.sources import PROJECT_TYPE

_PAGE = 1_000


def count_of_project(tx: ReadTransaction, project_id: str) -> int:
    """Count the memories of a project, of any status."""
    return tx.memories.count(MemoryFilter(project_id=project_id, is_project_exact=True, statuses=None))


def count_of_session(tx: ReadTransaction, session_id: str) -> int:
    """Count the memories of a session, of any status."""
    return tx.memories.count(MemoryFilter(session_id=session_id, statuses=None))


def count_of_folder(tx: ReadTransaction, folder: Path) -> int:
    """Count the memories of the projects that lie in a folder; of a project around it, nobody knows which are its."""
    return sum(count_of_project(tx, it) for it in projects_in(tx, folder))


def projects_in(tx: ReadTransaction, folder: Path) -> list[str]:
    """List the ids of the projects whose folder is this one or lies in it."""
    top, where, found = PurePath(normpath(folder)), EntityFilter(type_keys=frozenset({type_key(PROJECT_TYPE)})), []
    offset = 0
    while page := tx.entities.page(where, EntityOrder.ID, _PAGE, offset):
        offset += len(page)
        for project in page:
            path = project.properties.get("path")
            if isinstance(path, str) and PurePath(path).is_relative_to(top):
                found.append(project.name)
    return found
