"""`graph-memory job`: the work that the daemon does at night."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
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
    from daemon.report import job_json, job_views
    from graph_memory.domain.principal import LOCAL_ADMIN

    with place_of(context).services() as services:
        runs = services.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.last_runs())
        jobs = [job_json(it) for it in job_views(runs, services.next_runs())]
    if as_json:
        terminal.show_json({"jobs": jobs, "count": len(jobs)})
        return
    for job in jobs:
        terminal.show_row(job["name"], job["summary"])
        has_failed = job["last_run"] is not None and job["last_run"]["status"] == "failed"
        terminal.show_row("", job_words(job), "red" if has_failed else "dim")


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
    from daemon.report import run_json
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
        _show_run(run)
    raise typer.Exit(Exit.FAILED if has_failed else Exit.OK)


def job_words(job: Mapping[str, Any]) -> str:
    """Say how a job's last run ended and when the next one is; `job` is what `report.job_json` makes of it."""
    from cli.terminal import joined

    last = job["last_run"]
    ran = "never ran" if last is None else f"{last['status']} {_at(last['started_at'])}"
    following = f"next {_at(job['next_run'])}" if job["next_run"] else "switched off"
    return joined((ran, following, (last and last["error"]) or ""))


def _at(instant: str) -> str:
    from cli.terminal import local
    from graph_memory.domain.instants import parse_instant

    return local(parse_instant(instant, argument="instant").at)


def _show_run(run: "JobRun") -> None:
    """Write a run's figures, one a line, in a column."""
    from cli import terminal

    took = 0.0 if run.ended_at is None else (run.ended_at - run.started_at).total_seconds()
    terminal.show(f"{run.job} succeeded in {max(took, 0.0):.1f} s", "green")
    figures = list(_figures(run.figures))
    width = max((len(name) for name, _ in figures), default=0)
    for name, figure in figures:
        terminal.show(f"  {name:<{width}}  {figure}")
    if not figures:
        terminal.note("It had nothing to tell.")


def _figures(result: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each figure with its name for people; those that belong together one after the other."""
    for name, value in result.items():
        label = f"{prefix}{name.replace('_', ' ')}"
        if isinstance(value, Mapping):
            if value:
                yield from _figures(value, f"{label}: ")
            else:
                yield label, "none"
        elif isinstance(value, int) and not isinstance(value, bool):
            yield label, f"{value:,}"
        else:
            yield label, str(value)
