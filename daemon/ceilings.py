"""What the daemon may take of the machine: memory always, time of a processor and items a minute for the backlog."""

import ctypes
import gc
import resource
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import NamedTuple

import psutil

from graph_memory.config.settings import Ingest, Limits
from graph_memory.home import Home

MEGABYTE = 1_000_000
_MINUTE = 60.0


def resident_bytes() -> int:
    """Return how much memory this process holds."""
    return int(psutil.Process().memory_info().rss)


def free_bytes(home: Home) -> int:
    """Return how much can still be written where a home is; all of it where that can't be told."""
    try:
        return shutil.disk_usage(home.path).free
    except OSError:
        return sys.maxsize


def give_memory_back() -> None:
    """Free what is no longer used, and hand it to the system where its allocator can be asked to."""
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # glibc alone has it


def worker_seconds() -> float:
    """Return the seconds of a processor that this thread has used, and the readers of documents that were started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + ended.ru_utime + ended.ru_stime


class Taken(NamedTuple):
    """What the backlog took within a minute: items, and cores on average."""

    items: int
    cpu_share: float


class Lack(NamedTuple):
    """What there is too little of to learn now, and the words for it."""

    of: str
    reason: str


class _Piece(NamedTuple):
    ended_at: float
    items: int
    cpu_seconds: float


class Ceilings:
    """Says how long to wait so that ceilings hold.

    `measure` returns bytes held, `free` the bytes left where the home is, `cpu` the seconds of processor that the
    calling thread has used, `now` seconds on a clock that never goes back.
    """

    def __init__(
        self,
        limits: Limits,
        ingest: Ingest,
        *,
        measure: Callable[[], int] = resident_bytes,
        release: Callable[[], None] = give_memory_back,
        free: Callable[[], int] = lambda: sys.maxsize,
        cpu: Callable[[], float] = worker_seconds,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._measure, self._release, self._free, self._cpu, self._now = measure, release, free, cpu, now
        self.put(limits, ingest)
        self._next_item_at = 0.0
        self._began: tuple[float, float] | None = None
        self._lock = Lock()
        self._pieces: deque[_Piece] = deque()

    def put(self, limits: Limits, ingest: Ingest) -> None:
        """Have other ceilings hold from now on."""
        self._most_bytes = limits.memory_mb * MEGABYTE
        self._least_free = limits.free_disk_mb * MEGABYTE
        self._share = limits.cpu_share
        self._seconds_per_item = _MINUTE / ingest.items_per_minute

    def lack(self) -> Lack | None:
        """Return what there is too little of to begin any piece of work, a new one or one of the backlog."""
        if not self.has_memory():
            return Lack("memory", "limits.memory_mb is reached; learning waits")
        free = self._free()
        if free < self._least_free:
            left = f"{free // MEGABYTE} MB"
            return Lack("disk", f"limits.free_disk_mb: only {left} are free where the home is; learning waits")
        return None

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
        now, used = self._now(), self._cpu() - cpu_before
        by_items, by_cpu = items * self._seconds_per_item, used / self._share
        self._next_item_at = max(began_at + max(by_items, by_cpu), now)
        with self._lock:
            self._pieces.append(_Piece(now, items, used))
            self._forget(now)

    def backlog_wait(self) -> float:
        """Return the seconds until the next piece of the backlog may be begun."""
        return max(0.0, self._next_item_at - self._now())

    def last_minute(self) -> Taken:
        """Return what the backlog took in the minute before; other threads may ask."""
        with self._lock:
            self._forget(self._now())
            items, seconds = sum(it.items for it in self._pieces), sum(it.cpu_seconds for it in self._pieces)
        return Taken(items, seconds / _MINUTE)

    def _forget(self, now: float) -> None:
        while self._pieces and self._pieces[0].ended_at <= now - _MINUTE:
            self._pieces.popleft()
