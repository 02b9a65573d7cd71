"""How a home is doing at a moment, as the one JSON object that `status` prints or draws.

The daemon is asked what only it knows, and what is to be done; the store is asked for the rest, and for all of it where
no daemon answers. Where this program can't open the store, what the daemon says is shown all the same.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from daemon.instance import DaemonState
from daemon.report import NOT_RUNNING, daemon_of, look_at_work, work_json
from graph_memory.bootstrap import Services, utc_now
from graph_memory.domain.instants import to_wire
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from graph_memory.pauses import find_pause, pause_words
from graph_memory.presence import SILENT

Snapshot = Mapping[str, Any]

COUNTING_SECONDS = 5.0
"""How long counts of a whole graph are shown before they are counted again."""


class Photographer:
    """Takes snapshots of a home; `services` is `None` where its store can't be opened, and `why_not` says why."""

    def __init__(
        self,
        home: Home,
        services: Services | None,
        why_not: str | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home, self._services, self._why_not, self._now = home, services, why_not, now
        self._counts: dict[str, Any] = {}
        self._counted_at = float("-inf")

    def take(self) -> Snapshot:
        """Take a snapshot.

        Raises:
            Unavailable: no daemon answers, and the store can't be asked now.
        """
        is_running, state = daemon_of(self._home)
        work = self._work(state)
        failing = tuple(_failing(work))
        told = () if state is None else state.problems
        unopened = () if self._why_not is None else (f"store: {self._why_not}",)
        pause = find_pause(self._home, utc_now())
        paused = () if pause is None else (pause_words(pause),)
        silent = (SILENT,) if is_running and state is None else ()
        troubles = (*unopened, *failing, *(() if is_running else (NOT_RUNNING,)))
        return {
            "healthy": not troubles,
            "troubles": list(troubles),
            "degraded": list(dict.fromkeys((*unopened, *paused, *failing, *told, *silent))),
            "home": str(self._home.path),
            "daemon": {"running": is_running, "state": _without_work(state)},
            **self._counted(),
            **work,
        }

    def _work(self, state: DaemonState | None) -> dict[str, Any]:
        if state is not None and state.work:
            return dict(state.work)
        if self._services is None:
            return {"queue": {}, "transcripts": {}, "session_cursors": {}, "jobs": []}
        return work_json(look_at_work(self._services))

    def _counted(self) -> dict[str, Any]:
        if self._services is not None and self._now() - self._counted_at >= COUNTING_SECONDS:
            self._counts, self._counted_at = _counts(self._services), self._now()
        return self._counts


def _failing(work: Mapping[str, Any]) -> Iterator[str]:
    for job in work["jobs"]:
        last = job["last_run"]
        if last is not None and last["status"] == "failed":
            yield f"job {job['name']}: {last['error']}"


def _without_work(state: DaemonState | None) -> dict[str, Any] | None:
    return None if state is None else {name: value for name, value in asdict(state).items() if name != "work"}


def _counts(services: Services) -> dict[str, Any]:
    stats = services.insight.stats(LOCAL_ADMIN)
    ended_at = None if stats.last_night is None else stats.last_night.ended_at
    return {
        "store": {**asdict(stats.store), **_sizes(services.home)},
        "memories": stats.memories,
        "entities": {"total": stats.entities, "by_type": dict(stats.entities_by_type)},
        "relations": {"total": stats.relations, "by_type": dict(stats.relations_by_type)},
        "last_night": None if ended_at is None else to_wire(ended_at),
    }


def _sizes(home: Home) -> dict[str, int]:
    files = {"bytes": home.database, "wal_bytes": home.write_ahead_log}
    return {name: file.stat().st_size if file.exists() else 0 for name, file in files.items()}
