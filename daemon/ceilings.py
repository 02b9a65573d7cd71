"""What the daemon may take of the machine: memory always, time of a processor and items a minute for the backlog."""

import ctypes
import gc
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from graph_memory.config.settings import Ingest, Limits

MEGABYTE = 1_000_000
_MINUTE = 60.0


def resident_bytes() -> int:
    """Return how much memory this process holds."""
    return int(psutil.Process().memory_info().rss)


def give_memory_back() -> None:
    """Free what is no longer used, and hand it to the system where its allocator can be asked to."""
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # glibc alone has it


class Ceilings:
    """Says how long to wait so that ceilings hold.

    `measure` returns bytes held, `cpu` the seconds of processor that the calling thread has used, `now` seconds on a
    clock that never goes back.
    """

    def __init__(
        self,
        limits: Limits,
        ingest: Ingest,
        *,
        measure: Callable[[], int] = resident_bytes,
        release: Callable[[], None] = give_memory_back,
        cpu: Callable[[], float] = time.thread_time,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_bytes = limits.memory_mb * MEGABYTE
        self._share = limits.cpu_share
        self._seconds_per_item = _MINUTE / ingest.items_per_minute
        self._measure, self._release, self._cpu, self._now = measure, release, cpu, now
        self._next_item_at = 0.0
        self._began: tuple[float, float] | None = None

    def has_memory(self) -> bool:
        """Tell whether there is room for another piece of work, making some where there is not."""
        if self._measure() < self._most_bytes:
            return True
        self._release()
        return self._measure() < self._most_bytes

    def begin(self) -> None:
        """Note that a piece of the backlog is begun."""
        self._began = (self._now(), self._cpu())

    def end(self, items: int) -> None:
        """Note that it is done and that so many items were in it; `backlog_wait` then covers what it cost."""
        began_at, cpu_before = self._began or (self._now(), self._cpu())
        now = self._now()
        by_items = items * self._seconds_per_item
        by_cpu = (self._cpu() - cpu_before) / self._share
        self._next_item_at = max(began_at + max(by_items, by_cpu), now)

    def backlog_wait(self) -> float:
        """Return the seconds until the next piece of the backlog may be begun."""
        return max(0.0, self._next_item_at - self._now())
