"""What a wikilink means: which of the candidates is its target.

An id comes before a title, a title before a slug; the memory's own project before `_global`, `_global` before others,
where only a single match counts. A target may be written as a path, with the extension of its file.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graph_memory.domain.memories import GLOBAL_PROJECT, Memory
from graph_memory.domain.names import name_key

_EXTENSION = ".md"
_MAX_ID = 2**63 - 1
_MAX_PARTS = 8


class LinkTarget(NamedTuple):
    """What resolving needs to know of a memory."""

    memory_id: int
    project_id: str
    title_key: str
    slug: str
    path_key: str
    """The key of its file's path without the extension; empty where it came from no file."""


def link_target(memory: Memory) -> LinkTarget:
    """Reduce a memory to what resolving needs."""
    path = _without_extension(name_key((memory.source_file or "").replace("\\", "/")))
    return LinkTarget(memory.id, memory.project_id, memory.title_key, memory.slug, path)


class Spelling(NamedTuple):
    """A key under which a target may be stored; where `path_key` isn't empty the candidate's file must end with it."""

    key: str
    path_key: str = ""


def spellings(target: str) -> Sequence[Spelling]:
    """List what a target may mean, nearest to what is written first: `a/b.md` is that title, `a/b`, `b (a)`, b in a."""
    written = name_key(target)
    plain = _without_extension(written)
    path = "/".join(part for part in plain.split("/") if part not in {"", ".", ".."})
    found = [Spelling(written), Spelling(plain)]
    if path != plain or "/" in path:
        folder, _, name = path.rpartition("/")
        found.append(Spelling(path))
        found.extend([Spelling(f"{name} ({folder})")] if folder else [])
        found.append(Spelling(name, path))
    return list(dict.fromkeys(spelling for spelling in found if spelling.key))


def target_id(target: str) -> int | None:
    """Return the id that a target is written as, or `None`."""
    text = target.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= _MAX_ID else None  # noqa: PLR2004


def arrival_keys(target: LinkTarget) -> Collection[str]:
    """List the keys under which links may wait for a memory: its id, title, slug, and the ends of its file's path."""
    parts = target.path_key.split("/") if target.path_key else []
    ends = ["/".join(parts[-count:]) for count in range(1, min(len(parts), _MAX_PARTS) + 1)]
    names = [target.title_key, target.slug, *ends]
    return {str(target.memory_id), *names, *(name + _EXTENSION for name in names)}


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a link means: a memory, or several that it may mean equally well, or nothing."""

    memory_id: int | None = None
    is_foreign: bool = False
    """The memory is of another project."""
    candidates: tuple[int, ...] = ()
    """The memories of other projects that a guess was refused between."""


class LinkIndex:
    """The memories that links may mean, looked up by id, title and slug."""

    def __init__(self, candidates: Iterable[LinkTarget]) -> None:
        self._by_id: dict[int, LinkTarget] = {}
        self._by_key: defaultdict[str, set[LinkTarget]] = defaultdict(set)
        for candidate in candidates:
            self._by_id[candidate.memory_id] = candidate
            self._by_key[candidate.title_key].add(candidate)
            self._by_key[candidate.slug].add(candidate)

    def resolve(self, target: str, project_id: str) -> Resolution:
        """Find the target of a link that is written in a memory of `project_id`."""
        id_, names = target_id(target), spellings(target)
        found = {candidate for spelling in names for candidate in self._by_key.get(spelling.key, ())}
        if id_ is not None and id_ in self._by_id:
            found.add(self._by_id[id_])
        known = sorted(found)
        for scope in (project_id, GLOBAL_PROJECT):
            near = [candidate for candidate in known if candidate.project_id == scope]
            for matches in _by_nearness(near, id_, names):
                if matches:
                    return Resolution(matches[0])
        far = [candidate for candidate in known if candidate.project_id not in {project_id, GLOBAL_PROJECT}]
        for matches in _by_nearness(far, id_, names):
            if len(matches) == 1:
                return Resolution(matches[0], is_foreign=True)
            if matches:
                return Resolution(candidates=tuple(matches))
        return Resolution()


def _by_nearness(known: Sequence[LinkTarget], id_: int | None, names: Sequence[Spelling]) -> Iterator[list[int]]:
    """Yield the memories that match by id, then by title, then by slug, for each spelling."""
    yield [candidate.memory_id for candidate in known if candidate.memory_id == id_]
    for key, path in names:
        fitting = [candidate for candidate in known if _lies_at(candidate, path)]
        yield [candidate.memory_id for candidate in fitting if candidate.title_key == key]
        yield [candidate.memory_id for candidate in fitting if candidate.slug == key]


def _lies_at(candidate: LinkTarget, path: str) -> bool:
    """Tell whether a candidate may be meant by a path; what came from no file lies nowhere, so any path may mean it."""
    return not path or not candidate.path_key or f"/{candidate.path_key}".endswith(f"/{path}")


def _without_extension(path: str) -> str:
    return path.removesuffix(_EXTENSION)
