"""The day's changelog: what went wrong, what the jobs did, what was learned; for people, in ids and figures alone.

It is written anew from the kept runs whenever one has ended, so that it is whole whoever ran the jobs, and whatever
happened to the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from graph_memory.bootstrap import Services
from graph_memory.domain.entities import EntityFilter, JsonValue
from graph_memory.domain.ledger import JobRun, RunStatus
from graph_memory.domain.memories import MemoryFilter
from graph_memory.domain.principal import LOCAL_ADMIN, LOCAL_TENANT, Principal
from graph_memory.ports.store import ReadTransaction
from graph_memory.whole_files import put_file

_DAY = timedelta(days=1)
_MOST_RUNS = 100


@dataclass(frozen=True, slots=True)
class DayAccount:
    """What there is to tell of a local day: the owner's runs, oldest first, others' in numbers, what was learned."""

    day: date
    runs: Sequence[JobRun]
    entities_learned: int = 0
    notes_changed: int = 0
    other_tenants: int = 0
    other_runs: int = 0
    other_failures: int = 0


def write_changelog(services: Services, jobs: Sequence[str], began_at: datetime, zone: tzinfo | None = None) -> None:
    """Write the changelog of the local day on which a run began, and once the one before to its end.

    Raises:
        OSError: the file can't be written.
        Unavailable: the store can't be asked now.
    """
    day = began_at.astimezone(zone).date()
    path, before = services.home.changelog(day), services.home.changelog(day - _DAY)
    if before.is_file() and not path.exists():
        put_file(before, day_page(_account(services, jobs, day - _DAY, zone), zone).encode())
    put_file(path, day_page(_account(services, jobs, day, zone), zone).encode())


def day_page(account: DayAccount, zone: tzinfo | None = None) -> str:
    """Return the changelog of a day in Markdown, problems first."""
    parts = [f"# {account.day:%A}, {account.day.isoformat()}"]
    if problems := list(_problems(account, zone)):
        parts.append("## Problems\n\n" + "\n".join(problems))
    if account.runs:
        rows = "\n".join(_row(runs, zone) for runs in _by_outcome(account.runs))
        parts.append(f"## Jobs\n\n| at | job | took | what it did |\n|---|---|---:|---|\n{rows}")
    learned = [
        _counted(account.entities_learned, "new entity", "new entities"),
        _counted(account.notes_changed, "note added or changed", "notes added or changed"),
    ]
    parts.append("## Learned that day\n\n" + "\n".join(f"- {it}" for it in learned))
    if account.other_runs:
        others = _counted(account.other_tenants, "other tenant", "other tenants")
        runs = _counted(account.other_runs, "run", "runs")
        parts.append(f"Of {others}: {runs}, {account.other_failures} failed.")
    return "\n\n".join(parts) + "\n"


def _account(services: Services, jobs: Sequence[str], day: date, zone: tzinfo | None) -> DayAccount:
    start, end = (datetime.combine(it, time(), tzinfo=zone).astimezone() for it in (day, day + _DAY))

    def runs_of(tx: ReadTransaction) -> list[JobRun]:
        runs = (run for name in jobs for run in tx.upkeep.runs(name, _MOST_RUNS))
        ended = (it for it in runs if it.status is not RunStatus.RUNNING and start <= it.started_at < end)
        return sorted(ended, key=lambda it: (it.started_at, it.job))

    def learned(tx: ReadTransaction) -> tuple[int, int]:
        new = [tx.entities.count(EntityFilter(created_since=it)) for it in (start, end)]
        changed = [tx.memories.count(MemoryFilter(statuses=None, updated_since=it)) for it in (start, end)]
        return new[0] - new[1], changed[0] - changed[1]

    runs, (entities, notes) = services.store.read(LOCAL_ADMIN, lambda tx: (runs_of(tx), learned(tx)))
    tenants = [it for it in services.store.tenants() if it != LOCAL_TENANT]
    others = [run for it in tenants for run in services.store.read(Principal(it), runs_of)]
    failures = sum(it.status is RunStatus.FAILED for it in others)
    return DayAccount(day, runs, entities, notes, len(tenants), len(others), failures)


def _problems(account: DayAccount, zone: tzinfo | None) -> Iterator[str]:
    """Yield a line for each job that failed; not the reason, whose words may name what was stored."""
    by_job: dict[str, list[JobRun]] = {}
    for run in account.runs:
        by_job.setdefault(run.job, []).append(run)
    for job, runs in by_job.items():
        failed = [it for it in runs if it.status is RunStatus.FAILED]
        if failed:
            times = "" if len(failed) == 1 else f", {len(failed)} times, last"
            way_out = "it has run since" if runs[-1] is not failed[-1] else "`graph-memory job list` says why"
            yield f"- **{job}** failed{times} at {_at(failed[-1], zone)}: {way_out}"
        left_out = runs[-1].figures.get("tenants_left_out")
        if left_out:
            yield f"- **{job}** holds the owner's memory alone: that of {left_out} other tenants is in no backup"
    if account.other_failures:
        yield f"- {_counted(account.other_failures, 'job of another tenant', 'jobs of other tenants')} failed"


def _by_outcome(runs: Sequence[JobRun]) -> Sequence[Sequence[JobRun]]:
    """Put runs of one job that ended alike together, in the order of their last ones."""
    groups: dict[tuple[str, str], list[JobRun]] = {}
    for run in runs:
        groups.setdefault((run.job, run.status.value), []).append(run)
    return sorted(groups.values(), key=lambda it: (it[-1].started_at, it[-1].job))


def _row(runs: Sequence[JobRun], zone: tzinfo | None) -> str:
    last = runs[-1]
    took = (last.ended_at - last.started_at).total_seconds() if last.ended_at else 0.0
    times = "" if len(runs) == 1 else f" ({len(runs)} runs)"
    said = "**failed**" if last.status is RunStatus.FAILED else "; ".join(_figures(last.figures)) or "nothing to do"
    return f"| {_at(last, zone)} | {last.job}{times} | {max(took, 0.0):.1f} s | {said} |"


def _figures(result: Mapping[str, JsonValue], prefix: str = "") -> Iterator[str]:
    """Yield what a run counted, as far as it is anything."""
    for name, value in result.items():
        label = f"{prefix}{name.replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from _figures(value, f"{label}: ")
        elif isinstance(value, int | float) and value:
            yield f"{label} {value:,}"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _at(run: JobRun, zone: tzinfo | None) -> str:
    return f"{run.started_at.astimezone(zone):%H:%M}"
