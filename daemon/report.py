"""How a home is doing, seen from outside the daemon: what its store, its lock and its state file say."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from daemon.instance import DaemonState, find_state, is_held
from daemon.jobs import JOBS
from graph_memory.bootstrap import Services
from graph_memory.config.settings import ClockJob, Jobs
from graph_memory.domain.due_times import next_due
from graph_memory.domain.ledger import IngestState, JobRun, RunStatus, SessionCursor, TranscriptCursor
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from graph_memory.ports.store import ReadTransaction
from graph_memory.services.insight import GraphStats
from ingest.queueing import IngestQueue

NOT_RUNNING = "the daemon is not running, so nothing new is learned: `graph-memory run`"


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
    """How a home is doing.

    `queue` counts documents as they lie in the inbox. `degraded` is what works less well than it should; `troubles`
    are what makes a home unhealthy: those of the degraded parts that need somebody, and a daemon that doesn't run.
    """

    is_running: bool
    daemon: DaemonState | None
    stats: GraphStats
    queue: Mapping[IngestState, int]
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
    queue = IngestQueue(services.store, services.home, services.settings.ingest, services.clock)
    failing = services.degraded()
    told = state.problems if is_running and state is not None else ()
    return Report(
        is_running=is_running,
        daemon=state,
        stats=stats,
        queue=queue.status(LOCAL_ADMIN, limit=1).counts,
        transcripts=_transcripts(cursors),
        sessions=sessions,
        jobs=job_views(services.settings.jobs, stats.last_runs, services.clock()),
        troubles=(*failing, *(() if is_running else (NOT_RUNNING,))),
        degraded=(*failing, *told),
    )


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
