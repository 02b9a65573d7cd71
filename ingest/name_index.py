"""The names of all known entities, at hand: which of them may stand in a text is found without asking the store.

It may be behind by a second or two; what it misses is found later (`late_mentions`). Names that are gone from the
store do no harm: who looks them up there doesn't find them.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from graph_memory.domain.entities import EntityFilter
from graph_memory.domain.names import name_key
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import ReadTransaction, Store

MOST_WORDS = 5
LONGEST = 200
"""Characters of a name that is looked for in texts."""
_PAGE = 5_000
_LEAST_SECONDS = 1.0
_SHARE = 20.0
"""A refresh may take one part in so many of the time."""
_OVERLAP = timedelta(seconds=60)
# What a name begins with: a word, or one character of the scripts that put no spaces between words, and all after them.
_PIECE = re.compile("[^\\W_\u0e00-\U0010ffff]+|[_\u0e00-\U0010ffff]")
_ASCII_PIECE = re.compile("[a-z0-9]+|_")


class NameIndex:
    """Names by what they begin with, of one tenant; `monotonic` gives seconds. For one thread."""

    def __init__(
        self,
        store: Store,
        principal: Principal,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        self._store, self._principal, self._clock, self._monotonic = store, principal, clock, monotonic
        self._names: dict[str, set[str]] = {}
        self._ids: set[str] = set()
        self._until: datetime | None = None
        self._next = 0.0
        self.version = 0
        """Changes whenever an entity is seen that was not there before."""

    def refresh(self) -> None:
        """Take in what entities were made since the last time; at most once a second.

        Raises:
            Unavailable: the store can't be asked now.
        """
        began = self._monotonic()
        if began < self._next:
            return
        until = self._clock()
        self._read(None if self._until is None else self._until - _OVERLAP)
        if len(self._ids) != self._store.read(self._principal, _count):
            # Some were deleted, or came with dates of long ago.
            self._names.clear()
            self._ids.clear()
            self._read(None)
        self._until = until
        now = self._monotonic()
        self._next = now + max(_LEAST_SECONDS, _SHARE * (now - began))

    def note(self, names: Iterable[str]) -> None:
        """Take in names of entities that are about to be stored."""
        for name in names:
            self._add(name_key(name))

    def candidates(self, text: str) -> frozenset[str]:
        """Return the keys of the names that may stand in a text: all that do, and some within longer words."""
        key = name_key(" ".join(text.split()))
        found = set[str]()
        for piece in set((_ASCII_PIECE if key.isascii() else _PIECE).findall(key)):
            found.update(name for name in self._names.get(piece, ()) if name in key)
        return frozenset(found)

    def _add(self, key: str) -> None:
        piece = _PIECE.search(key)
        if piece is not None and is_findable(key):
            self._names.setdefault(piece.group(), set()).add(key)

    def _read(self, since: datetime | None) -> None:
        where = EntityFilter(created_since=since)
        after: str | None = None
        while True:
            names = self._store.read(self._principal, lambda tx, start=after: _names(tx, where, start))  # type: ignore[misc]
            self.version += any(id_ not in self._ids for id_, _ in names)
            for id_, keys in names:
                self._ids.add(id_)
                for key in keys:
                    self._add(key)
            if len(names) < _PAGE:
                return
            after = names[-1][0]


def is_findable(key: str) -> bool:
    """Tell whether a name is looked for in texts: long ones are no names that people write."""
    return len(key) <= LONGEST and key.count(" ") < MOST_WORDS


def _names(tx: ReadTransaction, where: EntityFilter, after: str | None) -> list[tuple[str, list[str]]]:
    entities = tx.entities.page_by_id(where, after, _PAGE)
    aliases = tx.entities.aliases([it.id for it in entities])
    return [(it.id, [name_key(it.name), *(alias.name_key for alias in aliases.get(it.id, ()))]) for it in entities]


def _count(tx: ReadTransaction) -> int:
    return tx.entities.count(EntityFilter())
