"""Clusters of entities, from their current relations."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

MAX_HOPS = 4


class CommunityMethod(StrEnum):
    """How clusters are found."""

    BFS = "bfs"
    """Greedy: from the best linked entity outwards, each entity once."""
    LOUVAIN = "louvain"
    """Modularity, weighted (Blondel et al. 2008)."""


@dataclass(frozen=True, slots=True)
class Community:
    """A cluster: `seed` is the member it grew from, or the best linked one; `members` are by closeness, then id."""

    seed: str
    members: tuple[str, ...]


def _adjacency(links: Iterable[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    near: dict[str, dict[str, float]] = {}
    for source, target, weight in links:
        if source != target:
            for a, b in ((source, target), (target, source)):
                ends = near.setdefault(a, {})
                ends[b] = max(weight, ends.get(b, 0.0))
    return near


def _by_strength(near: Mapping[str, Mapping[str, float]]) -> list[str]:
    return sorted(near, key=lambda it: (-len(near[it]), -sum(near[it].values()), it))


def bfs_communities(links: Iterable[tuple[str, str, float]], *, max_hops: int, min_size: int) -> list[Community]:
    """Grow clusters greedily: the entity with the most links first, `max_hops` steps around, each entity once.

    Ties by id. Returned largest first, ties by seed.
    """
    near = _adjacency(links)
    taken: set[str] = set()
    found = []
    for seed in _by_strength(near):
        if seed in taken:
            continue
        members = _reach(seed, near, taken, max_hops)
        taken.update(members)
        if len(members) >= min_size:
            found.append(Community(seed, tuple(members)))
    return sorted(found, key=lambda it: (-len(it.members), it.seed))


def _reach(seed: str, near: Mapping[str, Mapping[str, float]], taken: set[str], max_hops: int) -> list[str]:
    members, queue, seen = [seed], deque([(seed, 0)]), {seed}
    while queue:
        current, hop = queue.popleft()
        if hop == max_hops:
            continue
        for other in sorted(near[current], key=lambda it: (-near[current][it], it)):
            if other not in seen and other not in taken:
                seen.add(other)
                members.append(other)
                queue.append((other, hop + 1))
    return members


def louvain_communities(links: Iterable[tuple[str, str, float]], *, min_size: int) -> list[Community]:
    """Find clusters by modularity with networkx; nodes in order of id and a fixed seed: equal graphs give equal ones.

    Returned largest first, ties by seed.
    """
    import networkx as nx  # here, since only this needs its 60 ms

    near = _adjacency(links)
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(sorted(near))
    for source in sorted(near):
        for target in sorted(near[source]):
            if source < target:
                graph.add_edge(source, target, weight=near[source][target])
    clusters: Sequence[set[str]] = nx.community.louvain_communities(graph, weight="weight", seed=0)
    rank = {member: position for position, member in enumerate(_by_strength(near))}
    ordered = [tuple(sorted(cluster, key=rank.__getitem__)) for cluster in clusters if len(cluster) >= min_size]
    found = [Community(members[0], members) for members in ordered]
    return sorted(found, key=lambda it: (-len(it.members), it.seed))


def dominant(types: Iterable[str]) -> str:
    """Return the most frequent type, ties by name; empty without any."""
    counted = Counter(types)
    return min(counted, key=lambda it: (-counted[it], it)) if counted else ""
