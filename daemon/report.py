"""How a home is doing: what its store, its lock and its daemon say."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from daemon.instance import DaemonState, find_state, is_held
from daemon.jobs import JOBS
from graph_memory.bootstrap import Services
from graph_memory.domain.instants import to_wire
from graph_memory.domain.ledger import IngestState, JobRun, RunStatus, SessionCursor, TranscriptCursor
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from graph_memory.ports.store import ReadTransaction
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
class WorkView:
    """What there is to do and how far it is; `queue` counts documents as they lie in the inbox."""

    queue: Mapping[IngestState, int]
    transcripts: TranscriptsView
    sessions: Mapping[str, SessionCursor]
    jobs: tuple[JobView, ...]


def job_views(runs: Mapping[str, JobRun], next_runs: Mapping[str, datetime | None]) -> tuple[JobView, ...]:
    """Return what there is to know of every job, from its last run and when it is run next."""
    return tuple(JobView(name, job.summary, runs.get(name), next_runs.get(name)) for name, job in JOBS.items())


def daemon_of(home: Home) -> tuple[bool, DaemonState | None]:
    """Return whether a daemon has this home, and what it says of itself; `None` where it doesn't answer."""
    state = find_state(home)
    return state is not None or is_held(home), state


def look_at_work(services: Services) -> WorkView:
    """Gather what there is to do.

    Raises:
        Unavailable: the store can't be asked now.
    """

    def work(
        tx: ReadTransaction,
    ) -> tuple[Mapping[str, TranscriptCursor], Mapping[str, SessionCursor], Mapping[str, JobRun]]:
        return tx.ledger.transcript_cursors(), tx.ledger.session_cursors(), tx.upkeep.last_runs()

    cursors, sessions, runs = services.store.read(LOCAL_ADMIN, work)
    queue = IngestQueue(services.store, services.home, services.settings.ingest, services.clock)
    return WorkView(
        queue=queue.status(LOCAL_ADMIN, limit=1).counts,
        transcripts=_transcripts(cursors),
        sessions=sessions,
        jobs=job_views(runs, services.next_runs()),
    )


def work_json(work: WorkView) -> dict[str, Any]:
    """Return what there is to do as JSON."""
    return {
        "queue": {state.value: number for state, number in work.queue.items()},
        "transcripts": asdict(work.transcripts),
        "session_cursors": {
            name: {"through": it.through, "last_event_id": it.last_event_id, "file": it.file}
            for name, it in work.sessions.items()
        },
        "jobs": [job_json(it) for it in work.jobs],
    }


def job_json(job: JobView) -> dict[str, Any]:
    """Return what there is to know of a job as JSON."""
    return {
        "name": job.name,
        "summary": job.summary,
        "last_run": None if job.last is None else run_json(job.last),
        "next_run": to_wire(job.next_at) if job.next_at else None,
    }


def run_json(run: JobRun) -> dict[str, Any]:
    """Return a run as JSON."""
    return {
        "job": run.job,
        "status": run.status.value,
        "started_at": to_wire(run.started_at),
        "ended_at": to_wire(run.ended_at) if run.ended_at else None,
        "result": dict(run.figures),
        "error": run.error,
    }


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
