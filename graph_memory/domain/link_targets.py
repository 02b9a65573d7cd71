"""What a wikilink means: which of the candidates is its target.

An id comes before a title, a title before a slug; the memory's own project before `_global`, `_global` before others,
where only a single match counts. A target may be written as a path, with the extension of its file.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from graph_memory.domain.memories import GLOBAL_PROJECT, Memory
from graph_memory.domain.names import name_key, short_hash

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


class ClaimKind(StrEnum):
    """Why a memory may be meant by a name that is not its title."""

    TITLE = "title"
    """It would be called so, had another memory not been first: the name alone means neither of them."""
    FILE = "file"
    """Its file is called so: it is meant where no title and no slug is."""


class Claim(NamedTuple):
    """A name in a project that memories may be meant by besides their titles."""

    kind: ClaimKind
    project_id: str
    name_key: str

    def learned_key(self, place: int) -> str:
        """Return the key under which the ledger knows the `place`-th memory, from 0, that has this claim."""
        return "name-" + short_hash(f"{self.kind}\0{self.project_id}\0{self.name_key}\0{place}", _CLAIM_LENGTH)


MAX_CLAIMS = 4
"""Memories that are remembered for one claim: any second one makes it ambiguous."""
_CLAIM_LENGTH = 28
_NO_CLAIMS: Mapping[Claim, Sequence[int]] = MappingProxyType({})


def claims_of(target: LinkTarget, wanted_title: str) -> Sequence[Claim]:
    """List the names that a memory may be meant by besides its title: the one it wanted, and that of its file."""
    claims = []
    wanted = name_key(wanted_title)
    if wanted != target.title_key:
        claims.append(Claim(ClaimKind.TITLE, target.project_id, wanted))
    file_name = _file_name(target)
    if file_name and file_name not in {target.title_key, wanted}:
        claims.append(Claim(ClaimKind.FILE, target.project_id, file_name))
    return claims


def possible_claims(targets: Iterable[str], project_ids: Iterable[str]) -> Collection[Claim]:
    """List the claims that links to these targets, written in these projects, may ask for."""
    keys = {spelling.key for target in targets for spelling in spellings(target)}
    scopes = {*project_ids, GLOBAL_PROJECT}
    return {Claim(kind, scope, key) for kind in ClaimKind for scope in scopes for key in keys}


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
        found.extend([Spelling(f"{name} ({folder})", path)] if folder else [])
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
    """The memories that links may mean, looked up by id, title and slug; and by `claims`, whose ids are among them."""

    def __init__(self, candidates: Iterable[LinkTarget], claims: Mapping[Claim, Sequence[int]] = _NO_CLAIMS) -> None:
        self._by_id: dict[int, LinkTarget] = {}
        self._by_key: defaultdict[str, set[LinkTarget]] = defaultdict(set)
        self._claims = claims
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
        for scope in dict.fromkeys((project_id, GLOBAL_PROJECT)):
            near = [candidate for candidate in known if candidate.project_id == scope]
            resolution = self._resolve_near(near, id_, names, scope)
            if resolution is not None:
                return resolution
        far = [candidate for candidate in known if candidate.project_id not in {project_id, GLOBAL_PROJECT}]
        for _, matches in _by_nearness(far, id_, names):
            if len(matches) == 1:
                return Resolution(matches[0], is_foreign=True)
            if matches:
                return Resolution(candidates=tuple(matches))
        return Resolution()

    def _resolve_near(
        self, near: Sequence[LinkTarget], id_: int | None, names: Sequence[Spelling], scope: str
    ) -> Resolution | None:
        """Resolve in one project: by id, title and slug, then by the names of files."""
        for spelling, matches in _by_nearness(near, id_, names):
            if matches:
                rivals = () if spelling is None else self._rivals(self._by_id[matches[0]], near, scope, spelling)
                return _resolution((matches[0], *rivals))
        for kind in ClaimKind:
            for spelling in names:
                claimants = tuple(self._claimants(kind, scope, spelling))
                if claimants:
                    return _resolution(claimants)
        return None

    def _rivals(self, match: LinkTarget, near: Sequence[LinkTarget], scope: str, spelling: Spelling) -> Iterator[int]:
        """Yield what else a spelling may mean that fits a title: of a path, all files that end with it.

        Where the title is the name of the file, other files of that name are meant as well.
        """
        named = Spelling(spelling.path_key.rpartition("/")[2] or spelling.key, spelling.path_key)
        yield from self._claimants(ClaimKind.TITLE, scope, named)
        if _file_name(match) == named.key:
            yield from self._claimants(ClaimKind.FILE, scope, named)
        if named.path_key:
            for candidate in near:
                if candidate.title_key == named.key and candidate.path_key and _lies_at(candidate, named.path_key):
                    yield candidate.memory_id

    def _claimants(self, kind: ClaimKind, scope: str, spelling: Spelling) -> Iterator[int]:
        for memory_id in self._claims.get(Claim(kind, scope, spelling.key), ()):
            candidate = self._by_id.get(memory_id)
            if candidate is not None and candidate.project_id == scope and _lies_at(candidate, spelling.path_key):
                yield memory_id


def _resolution(meant: Iterable[int]) -> Resolution:
    ids = tuple(dict.fromkeys(meant))
    return Resolution(ids[0]) if len(ids) == 1 else Resolution(candidates=ids)


def _by_nearness(
    known: Sequence[LinkTarget], id_: int | None, names: Sequence[Spelling]
) -> Iterator[tuple[Spelling | None, list[int]]]:
    """Yield the memories that match by id, then by title, then by slug, for each spelling."""
    yield None, [candidate.memory_id for candidate in known if candidate.memory_id == id_]
    for spelling in names:
        fitting = [candidate for candidate in known if _lies_at(candidate, spelling.path_key)]
        yield spelling, [candidate.memory_id for candidate in fitting if candidate.title_key == spelling.key]
        yield spelling, [candidate.memory_id for candidate in fitting if candidate.slug == spelling.key]


def _lies_at(candidate: LinkTarget, path: str) -> bool:
    """Tell whether a candidate may be meant by a path; what came from no file lies nowhere, so any path may mean it."""
    return not path or not candidate.path_key or f"/{candidate.path_key}".endswith(f"/{path}")


def _file_name(target: LinkTarget) -> str:
    return target.path_key.rpartition("/")[2]


def _without_extension(path: str) -> str:
    return path.removesuffix(_EXTENSION)
