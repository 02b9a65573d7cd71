"""`graph-memory status`: how the memory and its daemon are doing."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from daemon.report import Report
    from graph_memory.bootstrap import Services


def status(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how the memory is doing.

    That is: daemon, store, what was learned, the queue, the jobs. The exit status is 1 where something needs attention:
    the daemon doesn't run, or a job failed.
    """
    from cli import terminal
    from daemon.exits import Exit
    from daemon.report import look
    from graph_memory.domain.errors import GraphMemoryError

    try:
        with place_of(context).services(is_reading=True) as services:
            report = look(services)
            if as_json:
                terminal.show_json(_json(services, report))
            else:
                _show(services, report)
    except GraphMemoryError as error:
        if as_json:
            terminal.show_json({"healthy": False, "troubles": [str(error)]})
        raise
    raise typer.Exit(Exit.FAILED if report.troubles else Exit.OK)


def _show(services: "Services", report: "Report") -> None:
    from cli.jobs import job_words
    from cli.terminal import counted, joined, listed, local, show, show_row, size
    from daemon.report import NOT_RUNNING

    stats, queue = report.stats, {it.value: n for it, n in report.queue.items()}
    show_row("home", str(services.home.path))
    show_row("daemon", _daemon_words(report), "" if report.is_running else "red")
    bytes_ = services.home.database.stat().st_size if services.home.database.exists() else 0
    show_row("store", joined((f"{stats.store.kind} {stats.store.engine_version}", size(bytes_) if bytes_ else "")))
    show_row("memories", f"{stats.memories:,}")
    show_row("entities", joined((f"{stats.entities:,}", listed(stats.entities_by_type))))
    show_row("relations", joined((f"{stats.relations:,}", listed(stats.relations_by_type))))
    show_row("inbox", ", ".join(f"{queue[name]:,} {name}" for name in ("pending", "processing", "completed", "failed")))
    behind = report.transcripts
    show_row(
        "transcripts",
        joined(
            (
                f"{behind.known:,} known",
                f"{counted(behind.grown, 'has', 'have')} {size(behind.bytes_behind)} more" if behind.grown else "",
            )
        ),
    )
    if report.sessions:
        newest = max(it.through for it in report.sessions.values())
        show_row("cloud", f"{counted(len(report.sessions), 'session')}, through {newest}")
    show_row("last night", local(stats.last_night.ended_at if stats.last_night else None))
    for number, job in enumerate(report.jobs):
        show_row("jobs" if number == 0 else "", f"{job.name}: {job_words(job)}", "red" if job.has_failed else "")
    for part in report.degraded:
        show_row("degraded", part, "yellow")
    if queue["failed"]:
        show_row("to do", f"{counted(queue['failed'], 'document')} failed: `graph-memory retry` lists them", "yellow")
    if not report.is_running:
        show_row("to do", NOT_RUNNING, "red")
    if not report.troubles:
        show("All is well.", "green")


def _daemon_words(report: "Report") -> str:
    from cli.terminal import counted, joined, local
    from graph_memory.domain.instants import parse_instant

    state = report.daemon
    if not report.is_running:
        return "not running" if state is None else f"not running; the last one ({state.pid}) ended without a word"
    if state is None:
        return "starting"
    since = local(parse_instant(state.started_at, argument="started_at").at)
    return joined(
        (
            f"process {state.pid} since {since}",
            state.activity,
            f"{counted(state.backlog, 'piece')} of the backlog to go" if state.backlog else "",
            f"{state.memory_mb} MB",
        )
    )


def _json(services: "Services", report: "Report") -> dict[str, Any]:
    from dataclasses import asdict

    from cli.jobs import job_json
    from graph_memory.domain.instants import to_wire

    stats = report.stats
    return {
        "healthy": not report.troubles,
        "troubles": list(report.troubles),
        "degraded": list(report.degraded),
        "home": str(services.home.path),
        "daemon": {"running": report.is_running, "state": None if report.daemon is None else asdict(report.daemon)},
        "store": asdict(stats.store),
        "memories": stats.memories,
        "entities": {"total": stats.entities, "by_type": dict(stats.entities_by_type)},
        "relations": {"total": stats.relations, "by_type": dict(stats.relations_by_type)},
        "queue": {state.value: number for state, number in report.queue.items()},
        "transcripts": asdict(report.transcripts),
        "session_cursors": {
            name: {"through": it.through, "last_event_id": it.last_event_id, "file": it.file}
            for name, it in report.sessions.items()
        },
        "last_night": to_wire(stats.last_night.ended_at) if stats.last_night and stats.last_night.ended_at else None,
        "jobs": [job_json(it) for it in report.jobs],
    }
