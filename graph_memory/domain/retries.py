"""When something that failed is tried again."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from graph_memory.domain.ledger import JobRun, RunStatus

ENOUGH_RUNS = 40
"""So many of the newest runs tell how long to wait: more failures in a row make it no longer."""
_MOST_DOUBLINGS = 32


def retry_at(runs: Sequence[JobRun], first: float, longest: float) -> datetime | None:
    """Return when a job that failed is tried again; `runs` are newest first; `None` where the newest did not fail.

    `first` and `longest` are seconds, as of `wait_after`.
    """
    failures = 0
    for run in runs:
        if run.status is not RunStatus.FAILED:
            break
        failures += 1
    if not failures:
        return None
    ended_at = runs[0].ended_at or runs[0].started_at
    return ended_at + timedelta(seconds=wait_after(failures, first, longest))


def wait_after(failures: int, first: float, longest: float) -> float:
    """Return how many seconds to wait after so many failures in a row: `first`, doubled by each further one."""
    return min(first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), longest)
