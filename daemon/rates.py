"""How much is learned: items and bytes within the minute before."""

import time
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

_MINUTE = 60.0


class Rate(NamedTuple):
    """Documents and turns, and the bytes they were read from, within a minute."""

    items: int
    bytes: int


class _Noted(NamedTuple):
    at: float
    items: int
    bytes: int


class Rates:
    """Counts what was learned, for one writer and any number of readers.

    `now` returns seconds on a clock that never goes back. `total` is of the process's whole life.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._lock = now, Lock()
        self._noted: deque[_Noted] = deque()
        self.total = Rate(0, 0)

    def note(self, items: int, read_bytes: int) -> None:
        """Note what was learned just now."""
        with self._lock:
            self._noted.append(_Noted(self._now(), items, read_bytes))
            self.total = Rate(self.total.items + items, self.total.bytes + read_bytes)
            self._forget()

    def last_minute(self) -> Rate:
        """Return what was learned in the minute before."""
        with self._lock:
            self._forget()
            return Rate(sum(it.items for it in self._noted), sum(it.bytes for it in self._noted))

    def _forget(self) -> None:
        oldest = self._now() - _MINUTE
        while self._noted and self._noted[0].at <= oldest:
            self._noted.popleft()
