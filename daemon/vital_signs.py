"""What the daemon says of itself: what it knows at once, and what the store says, without ever waiting for that."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from daemon.ceilings import MEGABYTE, Ceilings, free_bytes
from daemon.incidents import Incidents
from daemon.rates import Rates
from daemon.worker import Progress
from graph_memory.config.settings import Settings
from graph_memory.domain.errors import GraphMemoryError
from graph_memory.domain.instants import to_wire
from graph_memory.home import Home
from graph_memory.log import get_logger
from graph_memory.presence import DaemonState

FRESH_SECONDS = 1.0
"""What the store said this lately is said again."""
LOOKING_SHARE = 0.1
"""Share of the time that looks at the store may take, however often somebody asks."""
WAIT_SECONDS = 0.5
"""How long an answer waits for the store; then it goes without, or with what the store said before."""
STALE_SECONDS = 10.0
_MINUTE = 60.0


_LOG = get_logger("daemon.status")


@dataclass(frozen=True, slots=True)
class _Looked:
    work: Mapping[str, Any] | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a daemon that are asked how they are doing; `problems` lists what is degraded, with the reason."""

    home: Home
    settings: Callable[[], Settings]
    progress: Progress
    ceilings: Ceilings
    rates: Rates
    incidents: Incidents
    problems: Callable[[], Iterable[str]]


class VitalSigns:
    """Gathers a daemon's state.

    `look` returns what the store says (`report.work_json`, and the parts it calls `degraded`), and may wait as long as
    it likes: it runs in a thread of its own. `now` returns seconds on a clock that never goes back.
    """

    def __init__(
        self,
        parts: Parts,
        look: Callable[[], Mapping[str, Any]],
        *,
        version: str,
        started_at: datetime,
        clock: Callable[[], datetime],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._parts, self._look, self._clock, self._now = parts, look, clock, now
        self._version, self._started_at = version, to_wire(started_at.replace(microsecond=0))
        self._process = psutil.Process()
        self._cpu: deque[tuple[float, float]] = deque([(now(), self._cpu_seconds())])
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="status-store")
        self._looking: Future[_Looked] | None = None
        self._work: Mapping[str, Any] = {}
        self._failing: tuple[str, ...] = ()
        self._work_problem: str | None = None
        self._looked_at, self._look_seconds = float("-inf"), 0.0

    def beat(self) -> None:
        """Note what the process took until now; call it every few seconds."""
        now = self._now()
        self._cpu.append((now, self._cpu_seconds()))
        while len(self._cpu) > 1 and self._cpu[0][0] < now - _MINUTE:
            self._cpu.popleft()

    async def tell(self) -> DaemonState:
        """Return the state, with what the store says where that is known within a moment."""
        await self._renew_work()
        state, problem = self.state(), self._work_problem
        problems = (*self._failing, *state.problems, *(() if problem is None else (problem,)))
        return replace(state, problems=problems, work=self._work)

    def state(self) -> DaemonState:
        """Return the state without what the store says; waits for nothing."""
        parts, settings = self._parts, self._parts.settings()
        limits = settings.limits
        taken, learned = parts.ceilings.last_minute(), parts.rates.last_minute()
        memory = int(self._process.memory_info().rss)
        return DaemonState(
            pid=os.getpid(),
            version=self._version,
            started_at=self._started_at,
            seen_at=to_wire(self._clock().replace(microsecond=0)),
            activity=parts.progress.activity,
            backlog=parts.progress.backlog,
            learned=parts.progress.learned,
            failed=parts.progress.failed,
            memory_mb=memory // MEGABYTE,
            problems=tuple(parts.problems()),
            items_last_minute=taken.items,
            cpu_share=round(taken.cpu_share, 3),
            items_per_minute=learned.items,
            bytes_per_minute=learned.bytes,
            learned_bytes=parts.rates.total.bytes,
            memory_bytes=memory,
            descriptors=self._process.num_fds(),
            threads=self._process.num_threads(),
            process_cpu_share=round(self._cpu_share(), 3),
            cpu_seconds=round(self._cpu_seconds(), 3),
            database_bytes=_size(parts.home.database),
            wal_bytes=_size(parts.home.write_ahead_log),
            budget={
                "memory_mb": {"used": memory // MEGABYTE, "limit": limits.memory_mb},
                "cpu_share": {"used": round(taken.cpu_share, 3), "limit": limits.cpu_share},
                "items_per_minute": {"used": taken.items, "limit": settings.ingest.items_per_minute},
            },
            disk={"free_mb": free_bytes(parts.home) // MEGABYTE, "least_mb": limits.free_disk_mb},
            errors=tuple(parts.incidents.seen()),
        )

    def close(self) -> None:
        """Look at the store no more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def _renew_work(self) -> None:
        now = self._now()
        fresh = max(FRESH_SECONDS, self._look_seconds / LOOKING_SHARE)
        if self._looking is None and now - self._looked_at < fresh:
            return
        looking = self._looking = self._looking or self._pool.submit(self._timed_look)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(looking)), WAIT_SECONDS)
        if not looking.done():
            if self._now() - self._looked_at > STALE_SECONDS:
                self._work_problem = "store: it does not answer in time; queue and jobs are as they were"
        elif looking is self._looking:  # nobody else who asked has taken it
            self._take(looking)

    def _timed_look(self) -> "_Looked":
        began = self._now()
        try:
            return _Looked(self._look(), None)
        except GraphMemoryError as error:
            return _Looked(None, f"store: {error}")
        except Exception as error:  # noqa: BLE001 - an answer without the store's part is better than none
            reference = _LOG.unexpected("look_at_store_failed", error)
            return _Looked(None, f"store: could not be asked; the log has it as {reference}")
        finally:
            self._look_seconds = self._now() - began

    def _take(self, looked: "Future[_Looked]") -> None:
        self._looking, self._looked_at = None, self._now()
        found = looked.result()
        self._work_problem = found.problem
        if found.work is not None:
            self._failing = tuple(found.work.get("degraded", ()))
            self._work = {name: value for name, value in found.work.items() if name != "degraded"}

    def _cpu_seconds(self) -> float:
        used = self._process.cpu_times()
        return float(used.user + used.system)

    def _cpu_share(self) -> float:
        """Return the cores that the process took on average since the oldest beat of the last minute."""
        since, before = self._cpu[0]
        passed = self._now() - since
        return (self._cpu_seconds() - before) / passed if passed > 0 else 0.0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
