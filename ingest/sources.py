"""The entities that mentions start from: sessions and documents, and the projects they belong to.

They are made once and then left as they are: their own texts don't make them any more certain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from graph_memory.domain.entities import Entity, EntityKey, JsonValue, Provenance, SourceType
from graph_memory.domain.memories import GLOBAL_PROJECT
from graph_memory.domain.names import MAX_NAME, clean_name, name_key, short_hash, type_key
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.redaction import redact
from graph_memory.domain.statements import Batch, EntityStatement, cleaned_properties
from graph_memory.ports.store import ReadTransaction, WriteTransaction
from graph_memory.services.statements import apply_batch
from ingest.mentions import relate_mentions
from ingest.projects import ProjectFolder

DOCUMENT_TYPE = "Document"
SESSION_TYPE = "Session"
PROJECT_TYPE = "Project"
_PATH_HASH = 12
_LONGEST_PROJECT = 180


@dataclass(frozen=True, slots=True)
class ProjectRef:
    """A project as memories and entities name it; `entity_id` is `None` for `_global`."""

    project_id: str = GLOBAL_PROJECT
    entity_id: str | None = None


NO_PROJECT = ProjectRef()


def put_project(tx: WriteTransaction, folder: ProjectFolder, now: datetime, policy: GraphPolicy) -> ProjectRef:
    """Find or make the project of a folder.

    Its id is the folder's name; where a project of another folder has that, a hash of the path is added.
    """
    place = _place(tx, folder)
    entity = _put(tx, place.entity, PROJECT_TYPE, place.project_id, {"path": place.root}, now, policy)
    return ProjectRef(place.project_id, entity.id)


def find_project_id(tx: ReadTransaction, folder: ProjectFolder) -> str:
    """Return the id that the project of a folder has, or would get."""
    return _place(tx, folder).project_id


class _Place(NamedTuple):
    """What a folder's project is called, and the entity that has the name."""

    project_id: str
    root: str
    entity: Entity | None


def _place(tx: ReadTransaction, folder: ProjectFolder) -> _Place:
    root = redact(folder.root).text
    name = clean_name(redact(folder.name).text[:_LONGEST_PROJECT])
    apart = f"{name}-{short_hash(root)}"
    found = _find(tx, PROJECT_TYPE, name, apart)
    own = next((it for it in (apart, name) if it in found and found[it].properties.get("path") == root), None)
    if own is None:
        own = apart if name in found and "path" in found[name].properties else name
    return _Place(own, root, found.get(own))


def put_session(
    tx: WriteTransaction,
    session_id: str,
    project: ProjectRef,
    provenance: Provenance,
    now: datetime,
    policy: GraphPolicy,
) -> str:
    """Find or make the entity of a session; a new one mentions its project. Return its id."""
    name = session_entity_name(session_id)
    known = _find(tx, SESSION_TYPE, name).get(name)
    if known is not None:
        return known.id
    properties: dict[str, JsonValue] = {}
    if project.entity_id is not None:
        properties["project"] = project.entity_id
    session = _put(tx, None, SESSION_TYPE, name, properties, now, policy, provenance)
    if project.entity_id is not None:
        relate_mentions(tx, session.id, [project.entity_id], None, provenance, now, policy)
    return session.id


def put_document(
    tx: WriteTransaction,
    path: str,
    properties: Mapping[str, JsonValue],
    provenance: Provenance,
    now: datetime,
    policy: GraphPolicy,
) -> str:
    """Find or make the entity of a document, with what is known of it now; return its id."""
    name = document_entity_name(path)
    known = _find(tx, DOCUMENT_TYPE, name).get(name)
    return _put(tx, known, DOCUMENT_TYPE, name, {"path": path, **properties}, now, policy, provenance).id


def document_entity_name(path: str) -> str:
    """Return the name of a document's entity: its path, which tells it from others of its title."""
    return _short(redact(path).text)


def session_entity_name(session_id: str) -> str:
    """Return the name of a session's entity: its id."""
    return _short(redact(session_id).text)


def _short(name: str) -> str:
    """Return a name that can be stored: of one that is too long, the end with a hash."""
    cleaned = " ".join(name.split())
    if len(cleaned) <= MAX_NAME:
        return clean_name(cleaned)
    return clean_name(f"{short_hash(name, _PATH_HASH)}…{cleaned[-MAX_NAME + _PATH_HASH + 1 :]}")


def _find(tx: ReadTransaction, type_name: str, *names: str) -> Mapping[str, Entity]:
    keys = {name: EntityKey(type_key(type_name), name_key(name)) for name in names}
    found = tx.entities.find_by_key(set(keys.values()))
    return {name: found[key] for name, key in keys.items() if key in found}


def _put(
    tx: WriteTransaction,
    known: Entity | None,
    type_name: str,
    name: str,
    properties: Mapping[str, JsonValue],
    now: datetime,
    policy: GraphPolicy,
    provenance: Provenance | None = None,
) -> Entity:
    if known is not None:
        cleaned = cleaned_properties(properties, argument="properties")
        changed = replace(known, properties={**known.properties, **cleaned})
        if changed != known:
            tx.entities.put([changed])
        return changed
    source = provenance or Provenance(SourceType.CONVERSATION)
    statement = EntityStatement(name, type_name, properties, source_file=source.file)
    outcome = apply_batch(tx, Batch((statement,), provenance=source), now, policy)
    return outcome.stated_entities[0].entity
