"""Rows of evidence: contributions to entities or to relations, kept alike in two tables."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from graph_memory.adapters.sqlite.rows import (
    from_json,
    instant,
    listed,
    micros,
    provenance,
    provenance_columns,
    to_json,
)
from graph_memory.adapters.sqlite.session import Session, Value, composed
from graph_memory.domain.entities import Evidence, EvidenceKind
from graph_memory.domain.errors import Conflict
from graph_memory.domain.instants import to_micros
from graph_memory.ports.graph_rows import EvidenceFilter, EvidenceSources


class EvidenceRows:
    """The evidence for rows of one table, `subjects`."""

    def __init__(self, evidence: str, subjects: str) -> None:
        parts = {"evidence": evidence, "subjects": subjects}
        self._subjects = subjects
        self._find = composed(_FIND, **parts)
        self._keys = composed(_KEYS, **parts)
        self._add = composed(_ADD, **parts)
        self._losers = composed(_LOSERS, **parts, where="$where")
        self._delete = composed(_DELETE, **parts, where="$where")
        self._supported = composed(_SUPPORTED, **parts)
        self._clear = composed(_CLEAR, **parts)

    def find(self, session: Session, ids: Collection[str]) -> Mapping[str, Sequence[Evidence]]:
        """List the evidence for each subject, by `at`, then as added."""
        found: defaultdict[str, list[Evidence]] = defaultdict(list)
        for row in session.rows(self._find, (listed(ids), session.tenant)):
            id_, kind, amount, at, text, stated, *source = row
            properties = {} if stated is None else from_json(stated)
            piece = Evidence(id_, EvidenceKind(kind), amount, instant(at), provenance(*source), text, properties)
            found[id_].append(piece)
        return dict(found)

    def add(self, session: Session, evidence: Collection[Evidence]) -> None:
        """Add contributions in this order.

        Raises:
            Conflict: there is no such subject.
        """
        ids = {item.subject_id for item in evidence}
        keys: dict[str, int] = dict(session.rows(self._keys, (listed(ids), session.tenant)))
        if missing := ids - keys.keys():
            raise Conflict(f"evidence needs its subject {min(missing)}")
        session.run_many(self._add, [self._row(session.tenant, keys[item.subject_id], item) for item in evidence])

    def delete(self, session: Session, where: EvidenceFilter) -> Sequence[str]:
        """Remove contributions and return the ids of those that lost some, in order.

        Raises:
            ValueError: the filter is empty, which would mean all there is.
        """
        conditions, values = _translated(where)
        if not conditions:
            raise ValueError("an evidence filter needs at least one part")
        meant = " and ".join(conditions)
        values["tenant"] = session.tenant
        losers = [id_ for (id_,) in session.rows(composed(self._losers, where=meant), values)]
        session.run(composed(self._delete, where=meant), values)
        return losers

    def supported(self, session: Session, sources: EvidenceSources) -> Sequence[str]:
        """List the subjects that have evidence from any of these sources, in order."""
        values: dict[str, Value] = {
            "tenant": session.tenant,
            "sessions": listed(sources.sessions),
            "files": listed(sources.files),
            "memory_ids": listed(sources.memory_ids),
            "since": micros(sources.since),
            "before": micros(sources.before),
        }
        return [id_ for (id_,) in session.rows(self._supported, values)]

    def replace(self, session: Session, evidence: Mapping[str, Sequence[Evidence]]) -> None:
        """Replace the evidence for these subjects.

        Raises:
            Conflict: there is no such subject.
        """
        session.run(self._clear, (listed(evidence.keys()), session.tenant))
        self.add(session, [item for items in evidence.values() for item in items])

    @staticmethod
    def _row(tenant: int, subject: int, item: Evidence) -> tuple[Value, ...]:
        source = provenance_columns(item.provenance)
        stated = to_json(item.properties) if item.properties else None
        return (tenant, subject, item.kind.value, item.amount, to_micros(item.at), item.text, stated, *source)


def _translated(where: EvidenceFilter) -> tuple[list[str], dict[str, Value]]:
    parts: tuple[tuple[str, Value, str], ...] = (
        ("session", where.session, "evidence.session = :session"),
        ("file", where.file, "evidence.file = :file"),
        ("memory_id", where.memory_id, "evidence.memory_id = :memory_id"),
        ("since", micros(where.since), "evidence.at >= :since"),
        ("before", micros(where.before), "evidence.at < :before"),
    )
    given = [(name, value, condition) for name, value, condition in parts if value is not None]
    return [condition for _, _, condition in given], {name: value for name, value, _ in given}


_FIND = """
    select subjects.id, evidence.kind, evidence.amount, evidence.at, evidence.text, evidence.properties,
        evidence.source_type, evidence.session, evidence.transcript, evidence.file, evidence.memory_id
    from json_each(?) as wanted
    cross join $subjects as subjects on subjects.tenant = ? and subjects.id = wanted.value
    cross join $evidence as evidence on evidence.subject = subjects.pk
    order by evidence.at, evidence.pk
"""
_KEYS = """
    select subjects.id, subjects.pk
    from json_each(?) as wanted cross join $subjects as subjects on subjects.tenant = ? and subjects.id = wanted.value
"""
_ADD = """
    insert into $evidence (
        tenant, subject, kind, amount, at, text, properties, source_type, session, transcript, file, memory_id
    ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LOSERS = """
    select distinct subjects.id from $evidence as evidence join $subjects as subjects on subjects.pk = evidence.subject
    where evidence.tenant = :tenant and $where
    order by subjects.id
"""
_SUPPORTED = """
    select subjects.id from (
        select evidence.subject from json_each(:sessions) as wanted cross join $evidence as evidence
        on evidence.tenant = :tenant and evidence.session = wanted.value
        union
        select evidence.subject from json_each(:files) as wanted cross join $evidence as evidence
        on evidence.tenant = :tenant and evidence.file = wanted.value
        union
        select evidence.subject from json_each(:memory_ids) as wanted cross join $evidence as evidence
        on evidence.tenant = :tenant and evidence.memory_id = wanted.value
        union
        select evidence.subject from $evidence as evidence
        where :since is not null and evidence.tenant = :tenant and evidence.at >= :since and evidence.at < :before
    ) as found join $subjects as subjects on subjects.pk = found.subject
    order by subjects.id
"""
_CLEAR = """
    delete from $evidence where subject in (
        select subjects.pk from json_each(?) as wanted
        cross join $subjects as subjects on subjects.tenant = ? and subjects.id = wanted.value
    )
"""
_DELETE = "delete from $evidence as evidence where evidence.tenant = :tenant and $where"

ENTITY_EVIDENCE = EvidenceRows("entity_evidence", "entities")
RELATION_EVIDENCE = EvidenceRows("relation_evidence", "relations")
