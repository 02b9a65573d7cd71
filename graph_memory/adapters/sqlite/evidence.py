"""Rows of evidence: contributions to entities or to relations, kept alike in two tables."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from graph_memory.adapters.sqlite.rows import instant, listed, micros, provenance, provenance_columns
from graph_memory.adapters.sqlite.session import Session, Value, composed
from graph_memory.domain.entities import Evidence, EvidenceKind
from graph_memory.domain.errors import Conflict
from graph_memory.domain.instants import to_micros
from graph_memory.ports.graph_rows import EvidenceFilter


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

    def find(self, session: Session, ids: Collection[str]) -> Mapping[str, Sequence[Evidence]]:
        """List the evidence for each subject, by `at`, then as added."""
        found: defaultdict[str, list[Evidence]] = defaultdict(list)
        for row in session.rows(self._find, (listed(ids), session.tenant)):
            id_, kind, amount, at, text, *source = row
            found[id_].append(Evidence(id_, EvidenceKind(kind), amount, instant(at), provenance(*source), text))
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

    @staticmethod
    def _row(tenant: int, subject: int, item: Evidence) -> tuple[Value, ...]:
        source = provenance_columns(item.provenance)
        return (tenant, subject, item.kind.value, item.amount, to_micros(item.at), item.text, *source)


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
    select subjects.id, evidence.kind, evidence.amount, evidence.at, evidence.text, evidence.source_type,
        evidence.session, evidence.transcript, evidence.file, evidence.memory_id
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
    insert into $evidence (tenant, subject, kind, amount, at, text, source_type, session, transcript, file, memory_id)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LOSERS = """
    select distinct subjects.id from $evidence as evidence join $subjects as subjects on subjects.pk = evidence.subject
    where evidence.tenant = :tenant and $where
    order by subjects.id
"""
_DELETE = "delete from $evidence as evidence where evidence.tenant = :tenant and $where"

ENTITY_EVIDENCE = EvidenceRows("entity_evidence", "entities")
RELATION_EVIDENCE = EvidenceRows("relation_evidence", "relations")
