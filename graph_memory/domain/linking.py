"""Links between memories: which are made, how heavy they are, and which give way."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from graph_memory.domain.memories import MAX_SYNAPSE_WEIGHT, ConnectionType, Synapse, SynapseKey
from graph_memory.domain.queries import TextHit

MAX_NEIGHBOURS = 5
"""Automatic links a text makes."""
MAX_LINKS = 50
"""Synapses of all kinds that leave a memory, and as many that enter it."""
WIKILINK_WEIGHT = 1.0
WIKILINK_AGAIN = 0.5
AUTO_AGAIN = 0.2
STRUCTURE_WEIGHT = 1.0
"""Of `parent_child` and `sequence`."""
_LEAST_OF_BEST = 0.5
_SCORE_SHARE = 10.0
_AUTO_WEIGHTS = (0.2, 1.5)
_STILL_THE_SAME = 0.5
_WORD = re.compile(r"[^\W_]+")


class Neighbour(NamedTuple):
    """A memory that speaks of the same, and how heavy a link to it is."""

    memory_id: int
    weight: float


def choose_neighbours(hits: Iterable[TextHit[int]]) -> Sequence[Neighbour]:
    """Choose the memories that a text is linked to by itself: at most five, each with half the best score or more.

    The weight is a tenth of the score, within 0.2 and 1.5. Ties by id.
    """
    ranked = sorted(hits, key=lambda hit: (-abs(hit.score), hit.ref))[:MAX_NEIGHBOURS]
    least = abs(ranked[0].score) * _LEAST_OF_BEST if ranked else 0.0
    return [Neighbour(hit.ref, auto_weight(hit.score)) for hit in ranked if abs(hit.score) >= least and hit.score]


def auto_weight(score: float) -> float:
    """Return the weight of a new automatic link between texts that match with this score."""
    lightest, heaviest = _AUTO_WEIGHTS
    return min(max(abs(score) / _SCORE_SHARE, lightest), heaviest)


def wikilink_weight(times: int) -> float:
    """Return the weight of a link that a text has `times` times."""
    return min(WIKILINK_WEIGHT + WIKILINK_AGAIN * (times - 1), MAX_SYNAPSE_WEIGHT)


def new_synapse(key: SynapseKey, weight: float, now: datetime) -> Synapse:
    """Make a synapse."""
    return Synapse(key.source_id, key.target_id, key.connection_type, weight, created_at=now, updated_at=now)


def strengthened(synapse: Synapse, settled_weight: float, by: float, now: datetime) -> Synapse:
    """Add to a synapse, up to 5; `settled_weight` is its weight with the decay applied that is due."""
    weight = min(settled_weight + by, MAX_SYNAPSE_WEIGHT)
    return replace(synapse, weight=weight, updated_at=now, decayed_at=now)


def is_rewritten(old: str, new: str) -> bool:
    """Tell whether a new text says something else: it shares less than half of all words with the old one."""
    before, after = set(_WORD.findall(old.casefold())), set(_WORD.findall(new.casefold()))
    return len(before & after) < _STILL_THE_SAME * len(before | after)


class CrowdedSide(NamedTuple):
    """The links that leave (else enter) a memory: how many are too many, and the lightest automatic ones."""

    memory_id: int
    is_outgoing: bool
    excess: int
    lightest: Sequence[Synapse]

    def has(self, key: SynapseKey) -> bool:
        """Tell whether a link is on this side."""
        return self.memory_id == (key.source_id if self.is_outgoing else key.target_id)


def plan_drops(sides: Iterable[CrowdedSide]) -> Sequence[SynapseKey]:
    """Choose what gives way so that no side has more than 50: its lightest automatic links, and nothing else.

    A side that is crowded by other links stays so. A link that gives way on one side makes room on its other one.
    """
    dropped: dict[SynapseKey, None] = {}
    for side in sides:
        excess = side.excess - sum(side.has(key) for key in dropped)
        keys = [synapse.key for synapse in side.lightest if synapse.key not in dropped]
        dropped.update(dict.fromkeys(keys[: max(excess, 0)]))
    return list(dropped)


def structure_synapses(pairs: Iterable[tuple[int, int]], kind: ConnectionType, now: datetime) -> Sequence[Synapse]:
    """Make the synapses of a document's parts or a conversation's turns: each pair is its source and target."""
    return [new_synapse(SynapseKey(source, target, kind), STRUCTURE_WEIGHT, now) for source, target in pairs]
