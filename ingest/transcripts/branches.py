"""Which parts of a conversation a rewind left behind.

A transcript only grows: whoever rewinds writes a new prompt whose parent is an earlier line, and what followed that
line stays in the file. What is off the chain of parents that ends in the last leaf is abandoned.

The tree is kept per *stretch*, one for each prompt with the lines that hang on it, so that tool calls that ran side by
side, which fork too, abandon nothing; and so that it stays small. Lines are expected in file order. A parent that is
missing, was never written, is written later or would make a circle is no fork: the line begins a stretch of its own,
which follows the last leaf by guess, and by guess nothing is abandoned.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TypedDict

_NO_PARENT = -1
_FORGOTTEN = -2  # the parent was dropped from a saved state
_ID_BYTES = 6
_SAVED_NODES = 256
_SAVED_STRETCHES = 256


class SavedTree(TypedDict):
    """A tree as JSON: the latest stretches and line ids, shortened; it holds no text."""

    stretches: list[tuple[str, int, bool, bool, str]]
    nodes: list[tuple[int, str]]
    leaf: int


# Where a line stands: its stretch, and its number in file order. A bare tuple: one is kept for each line remembered.
Place = tuple[int, int]


@dataclass(slots=True)
class _Stretch:
    key: str
    parent: int
    is_linked: bool  # by a parent that was found, not by guess
    attached_to: int  # number of the line it hangs on
    first: int
    anchors: tuple[bytes, ...] = ()  # ids of its prompt and of the line that hangs on: where rewinds go to
    is_abandoned: bool = False


class BranchTree:
    """The tree of stretches, grown line by line.

    `max_nodes` bounds the lines whose ids are remembered; prompts and what they hang on are remembered beyond it.
    """

    def __init__(self, *, max_nodes: int = 1 << 11) -> None:
        self._max_nodes = max_nodes
        self._stretches = [_Stretch("", _NO_PARENT, is_linked=False, attached_to=_NO_PARENT, first=0)]
        self._by_key: dict[str, int] = {}
        self._nodes: dict[str, Place] = {}
        self._anchors: dict[str, Place] = {}
        self._saved: dict[bytes, Place] = {}
        self._last_uuid = ""
        self._last: Place = (0, 0)
        self._passing: tuple[str, str | None] | None = None
        self._count = 0
        self.leaf: Place = (0, 0)

    def add_line(self, uuid: str, parent: str | None, *, is_leaf: bool = False) -> Place:
        """Place a line that is no prompt: on the stretch of its parent."""
        if self._passing is None and parent == self._last_uuid:
            found: Place | None = self._last  # nearly always: lines mostly hang on the one before
        else:
            found = self._find_parent(parent)
        stretch = self._loose_stretch() if found is None else found[0]
        place = self._register(uuid, stretch)
        if is_leaf:
            self.leaf = place
        return place

    def add_passing(self, uuid: str | None, parent: str | None) -> None:
        """Note a line that only the next one may hang on.

        The caveat before local commands is such a line: old versions hung every later command on the first caveat, so
        that a whole conversation would look abandoned.
        """
        self._passing = None if uuid is None else (uuid, parent)

    def open_stretch(self, key: str, uuid: str | None, parent: str | None) -> Place:
        """Begin the stretch of a prompt, or return to the one that has its key (a prompt that is read again)."""
        found = self._find_parent(parent)
        known = self._by_key.get(key)
        if known is not None:
            self.leaf = self._register(uuid, known)
            return self.leaf
        hangs_on = self.leaf if found is None else found
        stretch = _Stretch(key, hangs_on[0], found is not None, hangs_on[1], self._count)
        index = self._by_key[key] = len(self._stretches)
        self._stretches.append(stretch)
        self.leaf = self._register(uuid, index)
        if uuid is not None:
            self._anchors[uuid] = self.leaf
            stretch.anchors = (_short(uuid),)
            if parent is not None and found is not None:
                self._anchors[parent] = found
                stretch.anchors += (_short(parent),)
        return self.leaf

    def parent_key(self, place: Place) -> str | None:
        """Return the key of the prompt that the stretch of `place` hangs on, if any."""
        return self._key_at(self._stretches[place[0]].parent)

    def key_of(self, place: Place) -> str | None:
        """Return the key of the prompt that `place` stands under; None before the first."""
        return self._key_at(place[0])

    def settle(self) -> tuple[list[str], list[str]]:
        """Decide anew by the last leaf; return the keys now abandoned and those taken up again since the last call."""
        live = self._live()
        forks = live - {self.leaf[0]}
        left: set[int] = set()
        abandoned: list[str] = []
        revived: list[str] = []
        for index, stretch in enumerate(self._stretches):
            is_abandoned = index not in live and (
                stretch.is_abandoned
                if stretch.parent == _FORGOTTEN
                else stretch.is_linked and (stretch.parent in forks or stretch.parent in left)
            )
            if is_abandoned:
                left.add(index)
            if is_abandoned != stretch.is_abandoned:
                stretch.is_abandoned = is_abandoned
                if stretch.key:
                    (abandoned if is_abandoned else revived).append(stretch.key)
        return abandoned, revived

    def is_stretch_abandoned(self, key: str) -> bool:
        """Tell whether the last `settle` found the prompt of that key abandoned."""
        index = self._by_key.get(key)
        return index is not None and self._stretches[index].is_abandoned

    def abandoned(self, places: Iterable[Place]) -> list[bool]:
        """Tell for each line whether it is abandoned: also an answer whose prompt was kept and taken up again."""
        self.settle()
        cuts: dict[int, tuple[int, int]] = {}
        index = self.leaf[0]
        while (parent := self._stretches[index].parent) >= 0:
            if self._stretches[index].is_linked:
                cuts[parent] = (self._stretches[index].attached_to, self._stretches[index].first)
            index = parent
        flags = []
        for stretch, number in places:
            low, high = cuts.get(stretch, (0, 0))
            flags.append(self._stretches[stretch].is_abandoned or low < number < high)
        return flags

    @property
    def is_overgrown(self) -> bool:
        """Tell whether it remembers far more prompts than what is saved of it."""
        return len(self._stretches) > 2 * _SAVED_STRETCHES

    def saved(self) -> SavedTree:
        """Return the tree for a later `restored`, bounded in size."""
        first = max(0, len(self._stretches) - _SAVED_STRETCHES)
        stretches = []
        for stretch in self._stretches[first:]:
            parent = stretch.parent
            if parent != _NO_PARENT:
                parent = parent - first if parent >= first else _FORGOTTEN
            anchors = b64encode(b"".join(stretch.anchors)).decode()
            stretches.append((stretch.key, parent, stretch.is_linked, stretch.is_abandoned, anchors))
        return SavedTree(stretches=stretches, nodes=self._saved_nodes(first), leaf=max(0, self.leaf[0] - first))

    def _saved_nodes(self, first: int) -> list[tuple[int, str]]:
        recent = [(short, place[0]) for short, place in self._saved.items()]
        skipped = max(0, len(self._nodes) - _SAVED_NODES)
        recent += [(_short(uuid), place[0]) for uuid, place in islice(self._nodes.items(), skipped, None)]
        runs: list[tuple[int, list[bytes]]] = []
        for short, stretch in recent[-_SAVED_NODES:]:
            if stretch < first:
                continue
            if not runs or runs[-1][0] != stretch - first:
                runs.append((stretch - first, []))
            runs[-1][1].append(short)
        return [(stretch, b64encode(b"".join(ids)).decode()) for stretch, ids in runs]

    @classmethod
    def restored(cls, saved: SavedTree) -> "BranchTree":
        """Return the tree that `saved` describes; ValueError where it describes none."""
        if not 0 <= saved["leaf"] < len(saved["stretches"]):
            raise ValueError("the saved tree has no leaf")
        tree = cls()
        tree._stretches = []
        for key, parent, is_linked, is_abandoned, anchors in saved["stretches"]:
            index = len(tree._stretches)
            ids = tuple(_split(anchors))
            tree._stretches.append(_Stretch(key, parent, is_linked, _NO_PARENT, 0, ids, is_abandoned))
            if key:
                tree._by_key[key] = index
            if ids:
                tree._saved[ids[0]] = (index, 0)
            if len(ids) > 1 and parent >= 0:
                tree._saved[ids[1]] = (parent, 0)
        for stretch, ids_text in saved["nodes"]:
            tree._saved.update((short, (stretch, 0)) for short in _split(ids_text))
        tree.leaf = (saved["leaf"], 0)
        return tree

    def _loose_stretch(self) -> int:
        """Return the stretch for a line whose parent is unknown; neighbours share one."""
        last = self._stretches[self.leaf[0]]
        if not last.key and not last.is_linked:
            return self.leaf[0]
        index = len(self._stretches)
        self._stretches.append(_Stretch("", self.leaf[0], is_linked=False, attached_to=0, first=self._count))
        return index

    def _key_at(self, index: int) -> str | None:
        while index >= 0:
            if key := self._stretches[index].key:
                return key
            index = self._stretches[index].parent
        return None

    def _live(self) -> set[int]:
        live = set()
        index = self.leaf[0]
        while index >= 0:
            live.add(index)
            index = self._stretches[index].parent
        return live

    def _find(self, uuid: str | None) -> Place | None:
        if uuid is None:
            return None
        place = self._nodes.get(uuid)
        if place is None:
            place = self._anchors.get(uuid)
            if place is None and self._saved:
                place = self._saved.get(_short(uuid))
        return place

    def _find_parent(self, parent: str | None) -> Place | None:
        if self._passing is not None:
            if self._passing[0] == parent:
                parent = self._passing[1]
            self._passing = None
        return self._find(parent)

    def _register(self, uuid: str | None, stretch: int) -> Place:
        """Remember a line under a new number; one that is read again keeps its place."""
        new = (stretch, self._count)
        if uuid is None:
            self._count += 1
            return new
        place = self._nodes.setdefault(uuid, new)
        if place is new:
            self._count += 1
            if len(self._nodes) > 2 * self._max_nodes:
                self._nodes = dict(islice(self._nodes.items(), self._max_nodes, None))
        self._last_uuid, self._last = uuid, place
        return place


def _short(uuid: str) -> bytes:
    return blake2b(uuid.encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).digest()


def _split(text: str) -> Iterable[bytes]:
    ids = b64decode(text)
    return (ids[start : start + _ID_BYTES] for start in range(0, len(ids), _ID_BYTES))
