"""Relations and their versions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from graph_memory.adapters.sqlite import relation_rows as statements
from graph_memory.adapters.sqlite.evidence import RELATION_EVIDENCE
from graph_memory.adapters.sqlite.filters import relations_that
from graph_memory.adapters.sqlite.rows import beyond, fading_rows, listed
from graph_memory.adapters.sqlite.session import Row, Session, Value, composed
from graph_memory.domain.entities import Evidence
from graph_memory.domain.errors import Conflict
from graph_memory.domain.relations import Relation, RelationFilter, RelationKey
from graph_memory.ports.graph_rows import EvidenceFilter, EvidenceSources, Faded, FadingRelation, Link


class SqliteRelationReader:
    """Find relations; see `RelationReader`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, ids: Collection[str]) -> Mapping[str, Relation]:
        """Find versions by id."""
        rows = self._session.rows(statements.FIND, (listed(ids), self._session.tenant))
        return {row[0]: statements.read_relation(row) for row in rows}

    def find_current(self, keys: Collection[RelationKey]) -> Mapping[RelationKey, Relation]:
        """Find the current version of each key."""
        return {relation.key: relation for relation in self._of_keys(statements.CURRENT, keys)}

    def find_from(
        self, source_ids: Collection[str], type_keys: Collection[str] | None, where: RelationFilter
    ) -> Sequence[Relation]:
        """List the relations that leave entities, by source id, type key, id."""
        condition = relations_that(where)
        values: dict[str, Value] = {
            "sources": listed(set(source_ids)),
            "tenant": self._session.tenant,
            **condition.values,
        }
        if type_keys is not None:
            values["types"] = listed(type_keys)
        types = "true" if type_keys is None else statements.OF_TYPES
        return self._relations(composed(statements.FIND_FROM, types=types, where=condition.sql), values)

    def versions(self, keys: Collection[RelationKey]) -> Mapping[RelationKey, Sequence[Relation]]:
        """List every version of each key, by `ingested_at`, then id."""
        found: defaultdict[RelationKey, list[Relation]] = defaultdict(list)
        for relation in self._of_keys(statements.ALL, keys):
            found[relation.key].append(relation)
        return dict(found)

    def neighbours(
        self, ids: Collection[str], where: RelationFilter, *, exclude: Collection[str] = (), limit: int
    ) -> Sequence[Relation]:
        """List relations at `ids` whose other end is not excluded; strongest first."""
        condition = relations_that(where)
        within = statements.NONE_WITHIN if set(ids) <= set(exclude) else statements.WITHIN
        values = {
            "ids": listed(set(ids)),
            "exclude": listed(exclude),
            "tenant": self._session.tenant,
            "limit": limit,
            **condition.values,
        }
        return self._relations(composed(statements.NEIGHBOURS, where=condition.sql, **within), values)

    def between(self, ids: Collection[str], where: RelationFilter, limit: int) -> Sequence[Relation]:
        """List relations that have both ends in `ids`; strongest first."""
        condition = relations_that(where)
        values = {"ids": listed(set(ids)), "tenant": self._session.tenant, "limit": limit, **condition.values}
        return self._relations(composed(statements.BETWEEN, where=condition.sql), values)

    def page(self, where: RelationFilter, after: str | None, limit: int) -> Sequence[Relation]:
        """List relations by id, from the first past `after`."""
        condition = relations_that(where)
        compare, start = beyond(after)
        values = {"tenant": self._session.tenant, "after": start, "limit": limit, **condition.values}
        return self._relations(composed(statements.PAGE, where=condition.sql, is_beyond=compare), values)

    def scan_links(self, after: str | None, limit: int) -> tuple[Sequence[Link], str | None]:
        """Read a slice of all current relations, as they were stored."""
        rows = self._session.rows(statements.SCAN_LINKS, (int(after or 0), self._session.tenant, limit + 1))
        part = [Link(source, target, weight) for _, source, target, weight in rows[:limit]]
        return part, str(rows[limit - 1][0]) if len(rows) > limit else None

    def count(self, where: RelationFilter) -> int:
        """Count relations."""
        return int(self._aggregate(statements.COUNT, where)[0][0])

    def count_by_type(self, where: RelationFilter) -> Mapping[str, int]:
        """Count relations by type, under the spelling that `type_spelling` finds."""
        counts: dict[str, int] = dict(self._aggregate(statements.TYPES, where))
        spelling = self.type_spelling(counts)
        return {spelling[key]: count for key, count in counts.items()}

    def mean_weight(self, where: RelationFilter) -> float:
        """Return the mean weight, 0 where there are none."""
        return float(self._aggregate(statements.MEAN, where)[0][0] or 0.0)

    def type_spelling(self, type_keys: Collection[str]) -> Mapping[str, str]:
        """Find the spelling of the relation first stored with each type."""
        values: dict[str, Value] = {"keys": listed(type_keys), "tenant": self._session.tenant}
        return dict(self._session.rows(statements.TYPE_SPELLING, values))

    def evidence(self, ids: Collection[str]) -> Mapping[str, Sequence[Evidence]]:
        """List evidence; versions without any are left out."""
        return RELATION_EVIDENCE.find(self._session, set(ids))

    def find_supported(self, sources: EvidenceSources) -> Sequence[str]:
        """Find versions that have evidence from any of these sources."""
        return RELATION_EVIDENCE.supported(self._session, sources)

    def _of_keys(self, statement: str, keys: Collection[RelationKey]) -> Sequence[Relation]:
        values: dict[str, Value] = {"keys": listed([list(key) for key in set(keys)]), "tenant": self._session.tenant}
        return self._relations(statement, values)

    def _relations(self, statement: str, values: Mapping[str, Value]) -> Sequence[Relation]:
        return [statements.read_relation(row) for row in self._session.rows(statement, values)]

    def _aggregate(self, template: str, where: RelationFilter) -> list[Row]:
        condition = relations_that(where)
        values = {"tenant": self._session.tenant, **condition.values}
        return self._session.rows(composed(template, where=condition.sql), values)


class SqliteRelationWriter(SqliteRelationReader):
    """Change relations; see `RelationWriter`."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._scanned: dict[str, int] = {}
        """Keys in the file of the slice read last, which is what is faded next."""

    def put(self, relations: Collection[Relation]) -> None:
        """Add or replace versions, superseded ones first; none of them on a conflict.

        Raises:
            Conflict: a key would have two current versions, or an end does not exist.
        """
        session = self._session
        latest = {relation.id: relation for relation in relations}
        ends = {end for relation in latest.values() for end in (relation.source_id, relation.target_id)}
        keys: dict[str, int] = dict(session.rows(statements.ENTITY_KEYS, (listed(ends), session.tenant)))
        if missing := ends - keys.keys():
            raise Conflict(f"a relation needs its end {min(missing)}")
        if self._check_current(latest, keys):
            session.run(statements.PARK, (session.tenant, listed(latest)))
        ordered = sorted(latest.values(), key=lambda version: version.is_current)
        session.run_many(
            statements.PUT, [statements.columns_of(relation, session.tenant, keys) for relation in ordered]
        )

    def delete(self, ids: Collection[str]) -> int:
        """Remove versions with their evidence."""
        return self._session.run(statements.DELETE, (self._session.tenant, listed(ids)))

    def delete_of_entities(self, entity_ids: Collection[str]) -> int:
        """Remove every version at these entities, with their evidence."""
        return self._session.run(statements.DELETE_OF_ENTITIES, (listed(entity_ids), self._session.tenant))

    def add_evidence(self, evidence: Collection[Evidence]) -> None:
        """Add contributions.

        Raises:
            Conflict: there is no such version.
        """
        RELATION_EVIDENCE.add(self._session, evidence)

    def delete_evidence(self, where: EvidenceFilter) -> Sequence[str]:
        """Remove contributions; return the ids of the versions that lost some."""
        return RELATION_EVIDENCE.delete(self._session, where)

    def put_evidence(self, evidence: Mapping[str, Sequence[Evidence]]) -> None:
        """Replace the evidence for these versions."""
        RELATION_EVIDENCE.replace(self._session, evidence)

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingRelation], str | None]:
        """Read a slice of all current relations, as they were stored."""
        rows = self._session.rows(statements.SCAN, (int(after or 0), self._session.tenant, limit + 1))
        part = [FadingRelation(id_, weight, since) for _, id_, weight, since in rows[:limit]]
        self._scanned = {row[1]: row[0] for row in rows}
        return part, str(rows[limit - 1][0]) if len(rows) > limit else None

    def fade(self, faded: Iterable[Faded]) -> int:
        """Write decayed weights where they still apply."""
        unknown: list[Faded] = []
        count = self._session.run_many(statements.FADE, fading_rows(faded, self._scanned, unknown))
        if unknown:
            keys = self._keys({value.id for value in unknown})
            count += self._session.run_many(statements.FADE, fading_rows(unknown, keys, []))
        return count

    def _keys(self, ids: Collection[str]) -> dict[str, int]:
        return dict(self._session.rows(statements.KEYS, (listed(ids), self._session.tenant)))

    def _check_current(self, latest: Mapping[str, Relation], ends: Mapping[str, int]) -> bool:
        """Refuse a second current version of a key; tell whether one of the batch has to make way for another."""
        current: dict[RelationKey, str] = {}
        for relation in latest.values():
            if relation.is_current and (other := current.setdefault(relation.key, relation.id)) != relation.id:
                raise Conflict(f"{other} and {relation.id} would both be current", existing_id=other)
        keys = list(current)
        wanted = listed([[ends[key.source_id], key.type_key, ends[key.target_id]] for key in keys])
        must_make_way = False
        for place, holder in self._session.rows(statements.HOLDERS, (wanted,)):
            newcomer = current[keys[place]]
            if holder != newcomer and (holder not in latest):
                raise Conflict(f"{newcomer} can't be current beside {holder}", existing_id=holder)
            must_make_way = must_make_way or (holder != newcomer and latest[holder].is_current)
        return must_make_way
