"""How a home is doing, seen from outside the daemon: what its store, its lock and its state file say."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from daemon.instance import DaemonState, find_state, is_held
from daemon.jobs import JOBS
from daemon.times import next_due
from graph_memory.bootstrap import Services
from graph_memory.config.settings import ClockJob, Jobs
from graph_memory.domain.ledger import JobRun, RunStatus, SessionCursor, TranscriptCursor
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from graph_memory.ports.store import ReadTransaction
from graph_memory.services.insight import GraphStats


@dataclass(frozen=True, slots=True)
class JobView:
    """A job with its latest run and the instant of its next one; `None` where it is switched off."""

    name: str
    summary: str
    last: JobRun | None
    next_at: datetime | None

    @property
    def has_failed(self) -> bool:
        """Tell whether its latest run failed."""
        return self.last is not None and self.last.status is RunStatus.FAILED


@dataclass(frozen=True, slots=True)
class TranscriptsView:
    """How far transcripts are read: how many are known, how many of them have grown since, by how many bytes."""

    known: int
    grown: int
    bytes_behind: int


@dataclass(frozen=True, slots=True)
class Report:
    """How a home is doing. `troubles` are what makes it unhealthy, `degraded` what works less well than it might."""

    is_running: bool
    daemon: DaemonState | None
    stats: GraphStats
    transcripts: TranscriptsView
    sessions: Mapping[str, SessionCursor]
    jobs: tuple[JobView, ...]
    troubles: tuple[str, ...]
    degraded: tuple[str, ...]


def job_views(
    settings: Jobs, runs: Mapping[str, JobRun], now: datetime, zone: tzinfo | None = None
) -> tuple[JobView, ...]:
    """Return what there is to know of every job."""
    views = []
    for name, job in JOBS.items():
        when = getattr(settings, name)
        is_on = isinstance(when, ClockJob) and when.enabled
        views.append(JobView(name, job.summary, runs.get(name), next_due(when, now, zone) if is_on else None))
    return tuple(views)


def daemon_of(home: Home) -> tuple[bool, DaemonState | None]:
    """Return whether a daemon has this home, and what the last one told of itself."""
    return is_held(home), find_state(home)


def look(services: Services) -> Report:
    """Gather how a home is doing."""
    is_running, state = daemon_of(services.home)
    stats = services.insight.stats(LOCAL_ADMIN)

    def work(tx: ReadTransaction) -> tuple[Mapping[str, TranscriptCursor], Mapping[str, SessionCursor]]:
        return tx.ledger.transcript_cursors(), tx.ledger.session_cursors()

    cursors, sessions = services.store.read(LOCAL_ADMIN, work)
    jobs = job_views(services.settings.jobs, stats.last_runs, services.clock())
    told = state.problems if is_running and state is not None else ()
    return Report(
        is_running=is_running,
        daemon=state,
        stats=stats,
        transcripts=_transcripts(cursors),
        sessions=sessions,
        jobs=jobs,
        troubles=tuple(_troubles(jobs, is_running=is_running)),
        degraded=(*services.degraded(), *told),
    )


def _troubles(jobs: tuple[JobView, ...], *, is_running: bool) -> list[str]:
    found = [] if is_running else ["the daemon is not running, so nothing new is learned: `graph-memory run`"]
    return found + [
        f"the job {it.name} failed: {it.last.error}" for it in jobs if it.last is not None and it.has_failed
    ]


def _transcripts(cursors: Mapping[str, TranscriptCursor]) -> TranscriptsView:
    grown = behind = 0
    for path, cursor in cursors.items():
        try:
            more = Path(path).stat().st_size - cursor.offset
        except OSError:
            continue  # Claude Code removes transcripts after a while
        if more > 0:
            grown += 1
            behind += more
    return TranscriptsView(len(cursors), grown, behind)
