"""Relations, their versions, and the evidence for them."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from graph_memory.adapters.reference.evidence import (
    evidence_by_time,
    replaced,
    supported,
    with_evidence,
    without_evidence,
)
from graph_memory.adapters.reference.rows import Rows, detached, stored
from graph_memory.domain.entities import Evidence
from graph_memory.domain.errors import Conflict
from graph_memory.domain.instants import to_micros
from graph_memory.domain.names import type_key
from graph_memory.domain.relations import Relation, RelationFilter, RelationKey, strongest_first
from graph_memory.ports.graph_rows import EvidenceFilter, EvidenceSources, Faded, FadingRelation, Link


class ReferenceRelationReader:
    """Find relations; see `RelationReader`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self, ids: Collection[str]) -> Mapping[str, Relation]:
        """Find versions by id."""
        return {id_: detached(self._rows.relations[id_]) for id_ in ids if id_ in self._rows.relations}

    def find_current(self, keys: Collection[RelationKey]) -> Mapping[RelationKey, Relation]:
        """Find the current version of each key."""
        ids = {key: self._rows.current_ids[key] for key in keys if key in self._rows.current_ids}
        return {key: detached(self._rows.relations[id_]) for key, id_ in ids.items()}

    def find_from(
        self, source_ids: Collection[str], type_keys: Collection[str] | None, where: RelationFilter
    ) -> Sequence[Relation]:
        """List the relations that leave entities, by source id, type key, id."""
        sources, types = set(source_ids), None if type_keys is None else set(type_keys)
        found = [
            relation
            for relation in self._matching(where)
            if relation.source_id in sources and (types is None or relation.key.type_key in types)
        ]
        found.sort(key=lambda relation: (relation.source_id, relation.key.type_key, relation.id))
        return [detached(relation) for relation in found]

    def versions(self, keys: Collection[RelationKey]) -> Mapping[RelationKey, Sequence[Relation]]:
        """List every version of each key, by `ingested_at`, then id."""
        wanted, found = set(keys), defaultdict[RelationKey, list[Relation]](list)
        for relation in sorted(self._rows.relations.values(), key=lambda version: (version.ingested_at, version.id)):
            if relation.key in wanted:
                found[relation.key].append(detached(relation))
        return dict(found)

    def neighbours(
        self, ids: Collection[str], where: RelationFilter, *, exclude: Collection[str] = (), limit: int
    ) -> Sequence[Relation]:
        """List relations at `ids` whose other end is not excluded; strongest first."""
        near, excluded = set(ids), set(exclude)
        found = [relation for relation in self._matching(where) if _leads_on(relation, near, excluded)]
        return [detached(relation) for relation in sorted(found, key=strongest_first)[:limit]]

    def between(self, ids: Collection[str], where: RelationFilter, limit: int) -> Sequence[Relation]:
        """List relations that have both ends in `ids`; strongest first."""
        ends = set(ids)
        found = [relation for relation in self._matching(where) if {relation.source_id, relation.target_id} <= ends]
        return [detached(relation) for relation in sorted(found, key=strongest_first)[:limit]]

    def page(self, where: RelationFilter, after: str | None, limit: int) -> Sequence[Relation]:
        """List relations by id, from the first past `after`."""
        found = [relation for relation in self._matching(where) if after is None or relation.id > after]
        return [detached(relation) for relation in sorted(found, key=lambda relation: relation.id)[:limit]]

    def scan_links(self, after: str | None, limit: int) -> tuple[Sequence[Link], str | None]:
        """Read a slice of all current relations, by id."""
        found = self.page(RelationFilter(), after, limit + 1)
        part = [Link(it.source_id, it.target_id, it.weight) for it in found[:limit]]
        return part, found[limit - 1].id if len(found) > limit else None

    def count(self, where: RelationFilter) -> int:
        """Count relations."""
        return len(self._matching(where))

    def count_by_type(self, where: RelationFilter) -> Mapping[str, int]:
        """Count relations by type, under the spelling that `type_spelling` finds."""
        counts = Counter(relation.key.type_key for relation in self._matching(where))
        spelling = self.type_spelling(counts)
        return {spelling[key]: count for key, count in counts.items()}

    def mean_weight(self, where: RelationFilter) -> float:
        """Return the mean weight, 0 where there are none."""
        weights = [relation.weight for relation in self._matching(where)]
        return math.fsum(weights) / len(weights) if weights else 0.0

    def type_spelling(self, type_keys: Collection[str]) -> Mapping[str, str]:
        """Find the spelling of the relation first stored with each type."""
        wanted, spelling = set(type_keys), dict[str, str]()
        for relation in self._rows.relations.values():
            if (key := type_key(relation.type)) in wanted:
                spelling.setdefault(key, relation.type)
        return spelling

    def evidence(self, ids: Collection[str]) -> Mapping[str, Sequence[Evidence]]:
        """List evidence; versions without any are left out."""
        return evidence_by_time(self._rows.relation_evidence, ids)

    def find_supported(self, sources: EvidenceSources) -> Sequence[str]:
        """Find versions that have evidence from any of these sources."""
        return supported(self._rows.relation_evidence, sources)

    def _matching(self, where: RelationFilter) -> list[Relation]:
        return [relation for relation in self._rows.relations.values() if where.matches(relation)]


class ReferenceRelationWriter(ReferenceRelationReader):
    """Change relations; see `RelationWriter`."""

    def put(self, relations: Collection[Relation]) -> None:
        """Add or replace versions, superseded ones first; none of them on a conflict.

        Raises:
            Conflict: a key would have two current versions, or an end does not exist.
        """
        rows, new = self._rows, {relation.id: relation for relation in relations}
        ends = {end for relation in new.values() for end in (relation.source_id, relation.target_id)}
        if missing := ends - rows.entities.keys():
            raise Conflict(f"a relation needs its end {min(missing)}")
        current = {key: id_ for key, id_ in rows.current_ids.items() if id_ not in new}
        for relation in new.values():
            if relation.is_current and (holder := current.setdefault(relation.key, relation.id)) != relation.id:
                raise Conflict(f"{relation.key} is current as {holder}", existing_id=holder)
        rows.current_ids = current
        superseded_first = sorted(new.values(), key=lambda version: version.is_current)
        rows.relations.update({relation.id: stored(relation) for relation in superseded_first})

    def delete(self, ids: Collection[str]) -> int:
        """Remove versions with their evidence."""
        doomed = set(ids) & self._rows.relations.keys()
        for id_ in doomed:
            relation = self._rows.relations.pop(id_)
            if relation.is_current:
                del self._rows.current_ids[relation.key]
            self._rows.relation_evidence.pop(id_, None)
        return len(doomed)

    def delete_of_entities(self, entity_ids: Collection[str]) -> int:
        """Remove every version at these entities, with their evidence."""
        ends = set(entity_ids)
        relations = self._rows.relations.values()
        return self.delete([relation.id for relation in relations if {relation.source_id, relation.target_id} & ends])

    def add_evidence(self, evidence: Collection[Evidence]) -> None:
        """Add contributions.

        Raises:
            Conflict: there is no such version.
        """
        self._rows.relation_evidence = with_evidence(self._rows.relation_evidence, evidence, self._rows.relations)

    def delete_evidence(self, where: EvidenceFilter) -> Sequence[str]:
        """Remove contributions; return the ids of the versions that lost some."""
        self._rows.relation_evidence, losers = without_evidence(self._rows.relation_evidence, where)
        return losers

    def put_evidence(self, evidence: Mapping[str, Sequence[Evidence]]) -> None:
        """Replace the evidence for these versions."""
        self._rows.relation_evidence = replaced(self._rows.relation_evidence, evidence, self._rows.relations)

    def scan_fading(self, after: str | None, limit: int) -> tuple[Sequence[FadingRelation], str | None]:
        """Read a slice of all current relations, by id."""
        ids = sorted(id_ for id_ in self._rows.current_ids.values() if after is None or id_ > after)
        current = [self._rows.relations[id_] for id_ in ids]
        part = [
            FadingRelation(relation.id, relation.weight, to_micros(relation.decayed_at or relation.last_confirmed))
            for relation in current[:limit]
        ]
        return part, part[-1].id if len(current) > limit else None

    def fade(self, faded: Iterable[Faded]) -> int:
        """Write decayed weights where they still apply."""
        count = 0
        for value in faded:
            relation = self._rows.relations.get(value.id)
            if relation is None or relation.weight != value.old:
                continue
            if relation.decayed_at is None or relation.decayed_at <= value.until:
                faded_relation = replace(relation, weight=value.new, decayed_at=value.until)
                self._rows.relations[relation.id] = stored(faded_relation)
                count += 1
        return count


def _leads_on(relation: Relation, near: set[str], excluded: set[str]) -> bool:
    """Tell whether a relation leads from `near` to ends that are all wanted; one within `near` leads to both."""
    far = {relation.other_end(end) for end in (relation.source_id, relation.target_id) if end in near}
    return bool(far) and not far & excluded
