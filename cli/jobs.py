"""`graph-memory job`: the work that the daemon does at night."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from daemon.report import JobView
    from graph_memory.domain.ledger import JobRun

app = typer.Typer(help="Look at the daemon's jobs, or run one now.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_jobs(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the jobs, with their last run and their next."""
    from cli import terminal
    from daemon.report import job_views
    from graph_memory.domain.principal import LOCAL_ADMIN

    with place_of(context).services() as services:
        runs = services.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.last_runs())
        jobs = job_views(services.settings.jobs, runs, services.clock())
    if as_json:
        terminal.show_json({"jobs": [job_json(it) for it in jobs], "count": len(jobs)})
        return
    for job in jobs:
        terminal.show_row(job.name, job.summary)
        terminal.show_row("", job_words(job), "red" if job.has_failed else "dim")


@app.command("run")
def run_job(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The job's name, as `job list` shows it.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a job now.

    The daemon need not run. The exit status is 1 where the job fails.
    """
    from cli import terminal
    from daemon.exits import Exit
    from daemon.jobs import JOBS, run_job_for_all
    from graph_memory.domain.ledger import RunStatus

    if name not in JOBS:
        raise typer.BadParameter(f"there is no job {name!r}; there are: {', '.join(JOBS)}", param_hint="NAME")
    with place_of(context).services() as services:
        run = run_job_for_all(services, name)
    has_failed = run.status is RunStatus.FAILED
    if as_json:
        terminal.show_json(run_json(run))
    elif has_failed:
        terminal.complain(f"{name} failed: {run.error}")
    else:
        terminal.show(f"{name} succeeded: {_figures(run.result)}")
    raise typer.Exit(Exit.FAILED if has_failed else Exit.OK)


def job_words(job: "JobView") -> str:
    """Say how a job's last run ended and when the next one is."""
    from cli.terminal import joined, local

    last = "never ran" if job.last is None else f"{job.last.status.value} {local(job.last.started_at)}"
    following = f"next {local(job.next_at)}" if job.next_at else "switched off"
    return joined((last, following, (job.last and job.last.error) or ""))


def job_json(job: "JobView") -> dict[str, Any]:
    """Return what there is to know of a job as JSON."""
    from graph_memory.domain.instants import to_wire

    return {
        "name": job.name,
        "summary": job.summary,
        "last_run": None if job.last is None else run_json(job.last),
        "next_run": to_wire(job.next_at) if job.next_at else None,
    }


def run_json(run: "JobRun") -> dict[str, Any]:
    """Return a run as JSON."""
    from graph_memory.domain.instants import to_wire

    return {
        "job": run.job,
        "status": run.status.value,
        "started_at": to_wire(run.started_at),
        "ended_at": to_wire(run.ended_at) if run.ended_at else None,
        "result": dict(run.result),
        "error": run.error,
    }


def _figures(result: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in result.items()) or "nothing to tell"
