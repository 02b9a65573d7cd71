"""The jobs of maintenance: each is the service that the tool and the command line call, with its run kept."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from types import MappingProxyType

from daemon.changelog import write_changelog
from daemon.retention import remove_old_files
from graph_memory.bootstrap import Services
from graph_memory.domain.audit import audit_event
from graph_memory.domain.entities import JsonValue
from graph_memory.domain.errors import GraphMemoryError, NotFound, Unavailable
from graph_memory.domain.ledger import MADE_FOR, JobRun, RunStatus
from graph_memory.domain.principal import LOCAL_ADMIN, LOCAL_TENANT, Principal
from graph_memory.log import get_logger
from graph_memory.ports.store import WriteTransaction
from ingest.archiving import TranscriptArchiver
from ingest.forgetting import forgetting

KEPT_RUNS = 100
MOST_ISSUES = 500
_DAY = timedelta(days=1)
_LOG = get_logger("daemon.jobs")

Figures = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Job:
    """Something that is done again and again; `run` returns its figures.

    Most are done for each tenant; the others are of the machine and done for its owner alone.
    """

    name: str
    summary: str
    run: Callable[[Services, Principal], Figures]
    is_per_tenant: bool = True


def _decay(services: Services, principal: Principal) -> Figures:
    report = services.upkeep.decay(principal)
    return {
        "nodes_decayed": report.nodes_decayed,
        "edges_decayed": report.edges_decayed,
        "nodes_flagged_for_pruning": report.nodes_flagged_for_pruning,
        "edges_below_threshold": report.edges_below_threshold,
    }


def _memory_decay(services: Services, principal: Principal) -> Figures:
    report = services.memory_decay.decay(principal)
    services.store.write(principal, lambda tx: tx.memories.renew_common_terms())
    return {"decayed": report.decayed, "pruned": report.pruned, "access_exempted": report.access_exempted}


def _export(services: Services, principal: Principal) -> Figures:
    exported = services.backup.export(principal, keep=services.settings.export.keep)
    counts: dict[str, JsonValue] = {**exported.file.counts}
    figures: dict[str, JsonValue] = {
        "bytes": exported.file.size,
        "rows": counts,
        "pruned": exported.retention.pruned,
    }
    if others := len(set(services.store.tenants()) - {LOCAL_TENANT}):
        figures["tenants_left_out"] = others  # the folder is its owner's, who has no right to what is theirs
    return figures


def _merge_suggestions(services: Services, principal: Principal) -> Figures:
    found = services.merge_suggestions.survey(principal)
    pairs: list[JsonValue] = [[it.first_id, it.second_id, round(it.score, 4)] for it in found.pairs]
    return {"suggestions": len(pairs), "pairs_evaluated": found.evaluated, "pairs": pairs}


def _validate(services: Services, principal: Principal) -> Figures:
    page = services.upkeep.validate(principal, max_issues=MOST_ISSUES)
    by_type: dict[str, JsonValue] = {}
    for issue in page.issues:
        seen = by_type.get(issue.type.value, 0)
        by_type[issue.type.value] = seen + 1 if isinstance(seen, int) else 1
    return {"issues": page.total, "by_type": by_type}


def _communities(services: Services, principal: Principal) -> Figures:
    found = services.upkeep.communities(principal)
    return {
        "communities": len(found.communities),
        "total_members": found.total_members,
        "coverage_pct": round(found.coverage * 100, 1),
    }


def _expire(services: Services, principal: Principal) -> Figures:
    expired = services.expire.expire(principal)
    figures: dict[str, JsonValue] = {"archived": expired.archived, "ephemeral": expired.ephemeral}
    if principal.tenant == LOCAL_TENANT:  # the files are the machine's
        removed = remove_old_files(services.home, services.settings.limits, services.clock())
        files: dict[str, JsonValue] = {**asdict(removed)}
        figures["files_removed"] = files
    return figures


def _archive(services: Services, principal: Principal) -> Figures:
    forgets = forgetting(services)
    if forgets.is_unfinished():  # whoever began died, or others held the store
        forgets.finish(principal)
    run = TranscriptArchiver(services.store, principal, services.home, services.settings).run()
    figures: dict[str, JsonValue] = {**asdict(run)}
    return figures


JOBS: Mapping[str, Job] = MappingProxyType(
    {
        it.name: it
        for it in (
            Job("export", "write a backup and keep the newest", _export, is_per_tenant=False),
            Job("decay", "let confidences and weights of the graph fall", _decay),
            Job("expire", "archive notes that have had their time, and remove old files", _expire),
            Job("memory_decay", "let links between notes fade, and renew the words that tell nothing", _memory_decay),
            Job("merge_suggestions", "look for entities that may be one", _merge_suggestions),
            Job("validate", "look for what spoils the graph", _validate),
            Job("communities", "find the main areas of the graph", _communities),
            Job("archive", "keep compressed copies of the transcripts that were read", _archive, is_per_tenant=False),
        )
    }
)


def run_job_for_all(services: Services, name: str, day: date | None = None) -> JobRun:
    """Run a job for its owner and for every tenant that has rows; return the owner's run.

    A tenant's failure is in that tenant's run and stops no other. `day` is as of `run_job`.

    Raises:
        NotFound: there is no such job.
        Unavailable: the store can't be written.
    """
    own = _run(services, name, LOCAL_ADMIN, day)
    if JOBS[name].is_per_tenant:
        for tenant in services.store.tenants():
            if tenant != LOCAL_TENANT:
                try:
                    _run(services, name, Principal(tenant), day)
                except Unavailable as error:
                    _LOG.warning("job_waits", job=name, reason=str(error))
    _tell(services, own)
    return own


def run_job(services: Services, name: str, principal: Principal = LOCAL_ADMIN, day: date | None = None) -> JobRun:
    """Run a job and keep its run: when, how it ended, its figures or its reason; audited from start to end.

    A job that fails does not raise: its run says so. `day` is the local day that it is made for by the clock.

    Raises:
        NotFound: there is no such job; the text lists those there are.
        Unavailable: the store can't be written, so that not even the start could be kept.
    """
    run = _run(services, name, principal, day)
    _tell(services, run)
    return run


def _run(services: Services, name: str, principal: Principal, day: date | None) -> JobRun:
    job = JOBS.get(name)
    if job is None:
        raise NotFound(f"there is no job {name!r}; there are: {', '.join(JOBS)}")
    made_for: Figures = {} if day is None else {MADE_FOR: day.isoformat()}
    started = JobRun(name, services.clock(), RunStatus.RUNNING, result=made_for)
    _keep(services, principal, started, "run_start", started.started_at)
    try:
        ended = replace(started, status=RunStatus.SUCCEEDED, result={**job.run(services, principal), **made_for})
    except GraphMemoryError as error:
        ended = replace(started, status=RunStatus.FAILED, error=str(error))
    except Exception as error:  # noqa: BLE001 - one job's defect must not stop the others
        reference = _LOG.unexpected("job_failed", error, job=name)
        ended = replace(started, status=RunStatus.FAILED, error=f"failed unexpectedly; the log has it as {reference}")
    ended = replace(ended, ended_at=services.clock())
    _keep(services, principal, ended, "run_end", ended.ended_at or ended.started_at)
    try:
        services.audit.drain(principal)
    except Unavailable as error:
        _LOG.warning("audit_waits", reason=str(error))
    return ended


def _tell(services: Services, run: JobRun) -> None:
    """Bring a run into the changelog; what fails here is made good by the next run."""
    try:
        write_changelog(services, tuple(JOBS), run.started_at)
    except OSError as error:
        _LOG.warning("changelog_not_written", job=run.job, reason=error.strerror)
    except Unavailable as error:
        _LOG.warning("changelog_not_written", job=run.job, reason=str(error))


def _keep(services: Services, principal: Principal, run: JobRun, event: str, at: datetime) -> None:
    data: dict[str, JsonValue] = {"job": run.job, "status": run.status.value, "result": {**run.figures}}

    def work(tx: WriteTransaction) -> None:
        newest = tx.upkeep.runs(run.job, 1)
        if newest and newest[0].started_at > run.started_at + _DAY:
            tx.upkeep.delete_runs(run.job, 0)  # a clock far ahead noted it, and would be believed before any later run
        tx.upkeep.put_run(run)
        tx.upkeep.delete_runs(run.job, KEPT_RUNS)
        tx.upkeep.add_audit([audit_event(event, at, data)])

    services.store.write(principal, work)
