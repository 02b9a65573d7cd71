"""Evidence is kept alike for entities and relations: per subject, as added."""

from collections.abc import Collection, Container, Mapping, Sequence

from graph_memory.adapters.reference.rows import stored
from graph_memory.domain.entities import Evidence
from graph_memory.domain.errors import Conflict
from graph_memory.ports.graph_rows import EvidenceFilter, EvidenceSources

BySubject = Mapping[str, tuple[Evidence, ...]]


def evidence_by_time(kept: BySubject, ids: Collection[str]) -> dict[str, Sequence[Evidence]]:
    """List what is kept for these subjects, by `at`, then as added."""
    return {id_: sorted(kept[id_], key=lambda item: item.at) for id_ in ids if id_ in kept}


def with_evidence(
    kept: BySubject, added: Collection[Evidence], subjects: Container[str]
) -> dict[str, tuple[Evidence, ...]]:
    """Return what is kept with contributions at the end.

    Raises:
        Conflict: there is no such subject.
    """
    result = dict(kept)
    for item in added:
        if item.subject_id not in subjects:
            raise Conflict(f"evidence needs its subject {item.subject_id}")
        result[item.subject_id] = (*result.get(item.subject_id, ()), stored(item))
    return result


def without_evidence(kept: BySubject, where: EvidenceFilter) -> tuple[dict[str, tuple[Evidence, ...]], list[str]]:
    """Return what is kept without the contributions that are meant, and who lost some, in order.

    Raises:
        ValueError: the filter is empty, which would mean all there is.
    """
    if where == EvidenceFilter():
        raise ValueError("an evidence filter needs at least one part")
    left = {id_: tuple(item for item in items if not _is_meant(item, where)) for id_, items in kept.items()}
    losers = sorted(id_ for id_, items in left.items() if len(items) < len(kept[id_]))
    return {id_: items for id_, items in left.items() if items}, losers


def supported(kept: BySubject, sources: EvidenceSources) -> list[str]:
    """List the subjects that have evidence from any of these sources, in order."""
    return sorted(id_ for id_, items in kept.items() if any(_is_from(item, sources) for item in items))


def replaced(
    kept: BySubject, evidence: Mapping[str, Sequence[Evidence]], subjects: Container[str]
) -> dict[str, tuple[Evidence, ...]]:
    """Return what is kept with other evidence for some subjects.

    Raises:
        Conflict: there is no such subject.
    """
    left = {id_: items for id_, items in kept.items() if id_ not in evidence}
    return with_evidence(left, [item for items in evidence.values() for item in items], subjects)


def _is_from(item: Evidence, sources: EvidenceSources) -> bool:
    source = item.provenance
    return (
        source.session in sources.sessions
        or source.file in sources.files
        or source.memory_id in sources.memory_ids
        or (sources.since is not None and sources.before is not None and sources.since <= item.at < sources.before)
    )


def _is_meant(item: Evidence, where: EvidenceFilter) -> bool:
    source = item.provenance
    return (
        (where.session is None or source.session == where.session)
        and (where.file is None or source.file == where.file)
        and (where.memory_id is None or source.memory_id == where.memory_id)
        and (where.since is None or item.at >= where.since)
        and (where.before is None or item.at < where.before)
    )
