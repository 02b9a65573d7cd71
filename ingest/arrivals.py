"""When a dropped file has arrived whole: it looked the same twice, some time apart.

Only our own looks count, never how old a file says it is: copying programs set that, and the clocks of drives differ.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Look(NamedTuple):
    """What shows that a file was changed."""

    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def at(cls, status: os.stat_result) -> "Look":
        """Take from a file's status what matters."""
        return cls(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Arrivals:
    """Remembers how files looked. `monotonic` gives seconds; `stable_seconds` is how long one must not have changed."""

    def __init__(self, monotonic: Callable[[], float], stable_seconds: float) -> None:
        self._monotonic = monotonic
        self._stable_seconds = stable_seconds
        self._seen: dict[Path, tuple[Look, float]] = {}
        self._now = monotonic()

    def look_around(self, files: set[Path]) -> None:
        """Begin a look at these files, and forget all others.

        All of a look happens at one moment, so files that came together have arrived together, and their order holds.
        """
        self._now = self._monotonic()
        self._seen = {file: seen for file, seen in self._seen.items() if file in files}

    def seconds_left(self, file: Path, look: Look) -> float:
        """Return for how long the file must still stay as it is; 0 when it has arrived."""
        known = self._seen.get(file)
        if known is None or known[0] != look:
            self._seen[file] = (look, self._now)
            return self._stable_seconds
        return max(0.0, known[1] + self._stable_seconds - self._now)

    def age(self, file: Path) -> float:
        """Return how many seconds ago the file was first seen as it is now; 0 where it wasn't."""
        known = self._seen.get(file)
        return 0.0 if known is None else self._now - known[1]
