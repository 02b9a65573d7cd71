"""The graph family of a backup, joined with what is there by the rules of evidence."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from graph_memory.domain.decay import decayed
from graph_memory.domain.entities import Alias, Entity, Evidence, Provenance
from graph_memory.domain.names import suffixed_entity_slug
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.relations import Relation, RelationKey, relation_id
from graph_memory.domain.supersession import plan_supersession, true_since
from graph_memory.domain.weights import folded
from graph_memory.ports.store import WriteTransaction
from graph_memory.services.statements import ALL_VERSIONS


class GraphImport:
    """Puts entities, relations and their evidence back; ids change only where something else has them.

    Evidence that is there already is not added again. A weight that gets new evidence is folded anew, and stays
    where it is the larger one.
    """

    def __init__(self, tx: WriteTransaction, policy: GraphPolicy, memory_id: Callable[[int], int | None]) -> None:
        self._tx, self._policy, self._memory_id = tx, policy, memory_id
        self._entity_ids: dict[str, str] = {}
        self._relation_ids: dict[str, str] = {}
        self._fresh_entities: set[str] = set()
        self._fresh_relations: set[str] = set()
        self._own_relations: set[str] = set()
        """Versions that rows of the file were already found to tell of, or became."""
        self.added: Counter[str] = Counter()
        self.joined: Counter[str] = Counter()

    def entity_id(self, exported: str) -> str:
        """Return the id that an exported entity has here."""
        return self._entity_ids.get(exported, exported)

    def entities(self, rows: Sequence[Entity]) -> None:
        """Add entities, or join them with those of the same type and name."""
        known = self._tx.entities.find_for_update({it.key for it in rows})
        options = {option for it in rows for option in (it.id, suffixed_entity_slug(it.type, it.name))}
        taken = set(self._tx.entities.find(options))
        put: list[Entity] = []
        for row in rows:
            same = known.get(row.key)
            if same is None:
                free = row.id if row.id not in taken else suffixed_entity_slug(row.type, row.name)
                taken.add(free)
                self._fresh_entities.add(free)
                put.append(replace(row, id=free))
            else:
                free = same.id
                put.append(_joined_entity(same, row))
            self._entity_ids[row.id] = free
            (self.added if same is None else self.joined)["entity"] += 1
        self._tx.entities.put(put)

    def aliases(self, rows: Sequence[Alias]) -> None:
        """Add other names."""
        self._tx.entities.put_aliases([replace(it, entity_id=self.entity_id(it.entity_id)) for it in rows])
        self.added["alias"] += len(rows)

    def entity_evidence(self, rows: Sequence[Evidence]) -> None:
        """Add contributions to entities that are not there, and fold the confidence of those that were joined."""
        moved = [self._moved(it, self.entity_id(it.subject_id)) for it in rows]
        fresh = _missing(moved, self._tx.entities.evidence({it.subject_id for it in moved} - self._fresh_entities))
        self._tx.entities.add_evidence(fresh)
        self.added["entity_evidence"] += len(fresh)
        changed = {it.subject_id for it in fresh} - self._fresh_entities
        evidence = self._tx.entities.evidence(changed)
        refolded = []
        for entity in self._tx.entities.find(changed).values():
            rate = 1.0 if entity.is_exempt_from_decay else self._policy.decay.rate_of(entity.type)
            here = (entity.confidence, entity.decayed_at or entity.created_at)
            value, at = _stronger(here, folded(_in_time(evidence[entity.id]), rate), rate)
            refolded.append(replace(entity, confidence=value, decayed_at=at))
        self._tx.entities.put(refolded)

    def relations(self, rows: Sequence[Relation]) -> None:
        """Add versions of relations; one with the same ends, type and start is the same version."""
        moved = [self._moved_relation(it) for it in rows]
        versions = {key: list(found) for key, found in self._tx.relations.versions({it.key for it in moved}).items()}
        taken = set(self._tx.relations.find({it.id for it in moved}))
        put: dict[str, Relation] = {}
        pairs = list(zip(rows, moved, strict=True))
        pairs.sort(key=lambda it: not any(_is_copy(here, it[1]) for here in versions.get(it[1].key, ())))
        for exported, row in pairs:
            group = versions.setdefault(row.key, [])
            same = self._same_version(exported, row, group)
            if same is None:
                same = replace(row, id=_free_relation_id(row, taken, len(group)))
                taken.add(same.id)
                self.added["relation"] += 1
                group.append(same)
                put.update({it.id: it for it in self._placed(same, put)})
            else:
                self.joined["relation"] += 1
                put[same.id] = _joined_relation(put.get(same.id, same), row)
            self._own_relations.add(same.id)
            self._relation_ids[exported.id] = same.id
        self._tx.relations.put(list(put.values()))

    def _same_version(self, exported: Relation, row: Relation, group: Sequence[Relation]) -> Relation | None:
        """Find the version here that a row tells of; no two rows of one file tell of the same."""
        free = [it for it in group if it.id not in self._own_relations and _is_same_version(it, row)]
        return min(free, key=lambda it: (not _is_copy(it, row), it.id != exported.id, it.id), default=None)

    def _placed(self, row: Relation, put: Mapping[str, Relation]) -> list[Relation]:
        """Return a new version with what it ends, or ended by what came later; rows of one file don't end each other.

        `put` are the rows of this page, which are not stored yet.
        """
        self._fresh_relations.add(row.id)
        if not row.is_current or row.key.type_key not in self._policy.single_valued:
            return [row]
        found = self._tx.relations.find_from({row.source_id}, {row.key.type_key}, ALL_VERSIONS)
        rivals = [put.get(it.id, it) for it in found if it.id not in self._own_relations]
        plan = plan_supersession(row.key, true_since(row), rivals)
        return [replace(row, invalid_at=plan.invalid_at), *plan.closed]

    def relation_evidence(self, rows: Sequence[Evidence]) -> None:
        """Add contributions to relations that are not there, and fold the weight of those that were joined."""
        moved = [self._moved(it, self._relation_ids.get(it.subject_id, it.subject_id)) for it in rows]
        fresh = _missing(moved, self._tx.relations.evidence({it.subject_id for it in moved} - self._fresh_relations))
        self._tx.relations.add_evidence(fresh)
        self.added["relation_evidence"] += len(fresh)
        changed = {it.subject_id for it in fresh} - self._fresh_relations
        evidence = self._tx.relations.evidence(changed)
        rate = self._policy.decay.relation_rate
        refolded = []
        for relation in self._tx.relations.find(changed).values():
            here = (relation.weight, relation.decayed_at or relation.last_confirmed)
            value, at = _stronger(here, folded(_in_time(evidence[relation.id]), rate), rate)
            refolded.append(replace(relation, weight=value, decayed_at=at))
        self._tx.relations.put(refolded)

    def _moved(self, piece: Evidence, subject_id: str) -> Evidence:
        return replace(piece, subject_id=subject_id, provenance=self._moved_provenance(piece.provenance))

    def _moved_relation(self, row: Relation) -> Relation:
        return replace(
            row,
            source_id=self.entity_id(row.source_id),
            target_id=self.entity_id(row.target_id),
            provenance=self._moved_provenance(row.provenance),
        )

    def _moved_provenance(self, provenance: Provenance) -> Provenance:
        exported = provenance.memory_id
        return provenance if exported is None else replace(provenance, memory_id=self._memory_id(exported))


def _joined_entity(here: Entity, row: Entity) -> Entity:
    """Join two accounts of one entity: what is here wins where both say something."""
    return replace(
        here,
        created_at=min(here.created_at, row.created_at),
        decayed_at=here.decayed_at or (here.created_at if row.created_at < here.created_at else None),
        last_seen=max(here.last_seen, row.last_seen),
        mention_count=max(here.mention_count, row.mention_count),
        properties={**row.properties, **here.properties},
        source_file=here.source_file or row.source_file,
    )


def _joined_relation(here: Relation, row: Relation) -> Relation:
    """Join two accounts of one version: one that says it ended is believed."""
    return replace(
        here,
        invalid_at=here.invalid_at or row.invalid_at,
        last_confirmed=max(here.last_confirmed, row.last_confirmed),
        decayed_at=here.decayed_at or (here.last_confirmed if row.last_confirmed > here.last_confirmed else None),
        properties={**row.properties, **here.properties},
    )


def _stronger(here: tuple[float, datetime], anew: tuple[float, datetime] | None, rate: float) -> tuple[float, datetime]:
    """Return the larger of two values, each with the instant it stands for, as they are at the later of the two."""
    if anew is None:
        return here
    at = max(here[1], anew[1])
    return anew if decayed(anew[0], rate, anew[1], at) > decayed(here[0], rate, here[1], at) else here


def _is_same_version(here: Relation, row: Relation) -> bool:
    if here.is_current and row.is_current:
        return True
    return true_since(here) == true_since(row)


def _is_copy(here: Relation, row: Relation) -> bool:
    """Tell whether two accounts of one relation say the same of its time: the one was made of the other."""
    return (here.valid_at, here.ingested_at, here.invalid_at) == (row.valid_at, row.ingested_at, row.invalid_at)


def _free_relation_id(row: Relation, taken: set[str], version: int) -> str:
    free = row.id
    while free in taken:
        free = relation_id(RelationKey(*row.key), version)
        version += 1
    return free


def _missing(rows: Iterable[Evidence], known: Mapping[str, Sequence[Evidence]]) -> list[Evidence]:
    """Return the contributions that are not known; several equal ones are several contributions."""
    left = Counter(_identity(piece) for found in known.values() for piece in found)
    fresh = []
    for piece in rows:
        if left[_identity(piece)] > 0:
            left[_identity(piece)] -= 1
        else:
            fresh.append(piece)
    return fresh


def _identity(piece: Evidence) -> Evidence:
    """Return a contribution without what differs from store to store, the memory's number, and what older ones lack."""
    return replace(piece, provenance=replace(piece.provenance, memory_id=None), properties={})


def _in_time(evidence: Iterable[Evidence]) -> list[Evidence]:
    return sorted(evidence, key=lambda it: it.at)
