"""All requirements, by area. A new area is listed here or it is not part of the manifest."""

from collections.abc import Mapping

from tests.spec.areas import (
    config,
    deciding,
    graph_batch,
    graph_change,
    graph_insight,
    graph_merge,
    graph_query,
    graph_relate,
    graph_search,
    graph_upkeep,
    ingest_documents,
    ingest_queue,
    ingest_transcripts,
    instants,
    jobs,
    keeping,
    memory_decay,
    memory_links,
    memory_read,
    memory_write,
    names,
    performance,
    service,
    storage,
    tools_access,
    tools_results,
    watching,
)
from tests.spec.model import Requirement

AREAS: Mapping[str, tuple[Requirement, ...]] = {
    "names": names.REQUIREMENTS,
    "instants": instants.REQUIREMENTS,
    "storage": storage.REQUIREMENTS,
    "tools_results": tools_results.REQUIREMENTS,
    "tools_access": tools_access.REQUIREMENTS,
    "config": config.REQUIREMENTS,
    "graph_query": graph_query.REQUIREMENTS,
    "graph_relate": graph_relate.REQUIREMENTS,
    "graph_batch": graph_batch.REQUIREMENTS,
    "graph_change": graph_change.REQUIREMENTS,
    "graph_upkeep": graph_upkeep.REQUIREMENTS,
    "graph_merge": graph_merge.REQUIREMENTS,
    "graph_insight": graph_insight.REQUIREMENTS,
    "graph_search": graph_search.REQUIREMENTS,
    "ingest_queue": ingest_queue.REQUIREMENTS,
    "ingest_documents": ingest_documents.REQUIREMENTS,
    "ingest_transcripts": ingest_transcripts.REQUIREMENTS,
    "jobs": jobs.REQUIREMENTS,
    "deciding": deciding.REQUIREMENTS,
    "keeping": keeping.REQUIREMENTS,
    "memory_write": memory_write.REQUIREMENTS,
    "memory_read": memory_read.REQUIREMENTS,
    "memory_links": memory_links.REQUIREMENTS,
    "memory_decay": memory_decay.REQUIREMENTS,
    "performance": performance.REQUIREMENTS,
    "service": service.REQUIREMENTS,
    "watching": watching.REQUIREMENTS,
}

REQUIREMENTS: tuple[Requirement, ...] = tuple(requirement for area in AREAS.values() for requirement in area)

BY_ID: Mapping[str, Requirement] = {requirement.id: requirement for requirement in REQUIREMENTS}
