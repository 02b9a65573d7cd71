"""When a newer fact replaces an older one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graph_memory.domain.names import type_key
from graph_memory.domain.relations import Relation, RelationKey

SINGLE_VALUED = ("WORKS_AT", "REPORTS_TO", "HOSTED_ON", "LIVES_IN", "HAS_STATUS")
"""Relation types of which a source has one current target."""


def single_valued_keys(more: Iterable[str] = ()) -> frozenset[str]:
    """Return the keys of the single-valued types: those of the vocabulary and `more`."""
    return frozenset(type_key(name) for name in (*SINGLE_VALUED, *more))


def true_since(relation: Relation) -> datetime:
    """Return since when a relation holds, as far as is known: `valid_at`, else when it was learned."""
    return relation.valid_at or relation.ingested_at


@dataclass(frozen=True, slots=True)
class Supersession:
    """What a new fact does to those it competes with.

    `invalid_at` is when the new fact itself had already stopped (`None`: it is current); `closed` are the competitors
    that it ends.
    """

    invalid_at: datetime | None
    closed: tuple[Relation, ...]


def plan_supersession(key: RelationKey, since: datetime, competitors: Sequence[Relation]) -> Supersession:
    """Decide by the order of time which fact is current.

    `competitors` are all versions, with another target, of a relation that has one current target, or those a caller
    says are superseded. A newer fact ends the current ones at `since`; an older one, arriving late, is stored as ended
    by the first competitor that came after it.
    """
    others = [it for it in competitors if it.key != key]
    later = sorted(true_since(it) for it in others if true_since(it) > since)
    if later:
        return Supersession(later[0], ())
    return Supersession(None, tuple(replace(it, invalid_at=since) for it in others if it.is_current))
