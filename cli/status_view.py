"""What `status` shows of a snapshot: rows, written once or drawn again every second."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli.jobs import job_words
from cli.terminal import clean, console, counted, joined, listed, local, show, show_row, size

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cli.snapshot import Snapshot

REFRESH_SECONDS = 1.0
_MOST_ERRORS = 5
_LABEL = 13
_ENDS = ("q", "Q", "\x03", "\x04")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the view: a label, empty where it goes on from the line before, and what there is to say."""

    label: str
    text: str
    style: str = ""


def show_once(seen: Snapshot) -> None:
    """Write a snapshot."""
    for row in rows(seen):
        show_row(row.label, row.text, row.style)
    verdict = verdict_of(seen)
    if verdict is not None:
        show(verdict.text, verdict.style)


def show_live(take: Callable[[], Snapshot]) -> Snapshot:
    """Draw a snapshot every second until q or Ctrl-C; return the last one."""
    from rich.live import Live

    from graph_memory.domain.errors import Unavailable

    seen = take()
    view = Live(_drawn(seen), console=console(), screen=True, auto_refresh=False)
    with suppress(KeyboardInterrupt), _keys() as next_key, view:
        while next_key(REFRESH_SECONDS) not in _ENDS:
            try:
                seen = take()
                view.update(_drawn(seen), refresh=True)
            except Unavailable as error:  # a busy store: what was seen last stays, and says so
                view.update(_drawn(seen, str(error)), refresh=True)
    return seen


def verdict_of(seen: Snapshot) -> Row | None:
    """Say in a line how all of it is; nothing where the rows say what is wrong."""
    if seen["troubles"]:
        return None
    if seen["degraded"] or seen["queue"].get("failed"):
        return Row("", "It works; something needs a look.", "yellow")
    return Row("", "All is well.", "green")


def rows(seen: Snapshot) -> Iterator[Row]:
    """Yield what there is to show, in order."""
    daemon = seen["daemon"]
    yield Row("home", seen["home"])
    yield Row("daemon", _daemon_words(daemon), "" if daemon["running"] else "red")
    if daemon["state"] is not None:
        yield from _live_rows(daemon["state"])
    for number, part in enumerate(seen["degraded"]):
        yield Row("degraded" if number == 0 else "", part, "yellow")
    for number, part in enumerate(_to_do(seen)):
        yield Row("to do" if number == 0 else "", part.text, part.style)
    yield from _work_rows(seen)
    yield from _store_rows(seen)


def _live_rows(state: Mapping[str, Any]) -> Iterator[Row]:
    pace = f"{counted(state['items_per_minute'], 'item')}, {size(state['bytes_per_minute'])} in the last minute"
    yield Row("pace", joined((pace, f"{state['learned']:,} learned, {state['failed']:,} failed since it began")))
    used = {name: (part["used"], part["limit"]) for name, part in state["budget"].items()}
    if used:
        words = {
            "memory_mb": "{:,.0f} of {:,.0f} MB",
            "cpu_share": "{:.2f} of {:.2f} cores for the backlog",
            "items_per_minute": "{:,.0f} of {:,.0f} items a minute of the backlog",
        }
        parts = (words.get(name, name + " {:,.6g} of {:,.6g}").format(*pair) for name, pair in used.items())
        yield Row("budget", joined(parts))
    if state["disk"]:
        free, least = state["disk"]["free_mb"], state["disk"]["least_mb"]
        yield Row("disk", f"{free:,} MB free; with less than {least:,} nothing is learned")
    yield Row(
        "process",
        joined(
            (
                f"{state['process_cpu_share']:.2f} cores",
                size(state["memory_bytes"]),
                counted(state["descriptors"], "open file"),
                counted(state["threads"], "thread"),
            )
        ),
    )
    for number, error in enumerate(state["errors"][:_MOST_ERRORS]):
        text = f"{error['kind']} × {error['count']:,}, last {_at(error['last_at'])}"
        style = "red" if error["level"] in {"error", "critical"} else "yellow"
        yield Row("logged" if number == 0 else "", joined((text, error["reference"] or "")), style)


def _to_do(seen: Snapshot) -> Iterator[Row]:
    from daemon.report import NOT_RUNNING

    failed = seen["queue"].get("failed", 0)
    if failed:
        yield Row("", f"{counted(failed, 'document')} failed: `graph-memory retry` lists them", "yellow")
    if not seen["daemon"]["running"]:
        yield Row("", NOT_RUNNING, "red")


def _work_rows(seen: Snapshot) -> Iterator[Row]:
    queue, behind, cloud = seen["queue"], seen["transcripts"], seen["session_cursors"]
    if queue:
        names = ("pending", "processing", "completed", "failed")
        yield Row("inbox", ", ".join(f"{queue.get(name, 0):,} {name}" for name in names))
    if behind:
        grown = f"{counted(behind['grown'], 'has', 'have')} {size(behind['bytes_behind'])} more"
        yield Row("transcripts", joined((f"{behind['known']:,} known", grown if behind["grown"] else "")))
    if cloud:
        newest = max(it["through"] for it in cloud.values())
        yield Row("cloud", f"{counted(len(cloud), 'session')}, through {newest}")
    for number, job in enumerate(seen["jobs"]):
        has_failed = job["last_run"] is not None and job["last_run"]["status"] == "failed"
        yield Row("jobs" if number == 0 else "", f"{job['name']}: {job_words(job)}", "red" if has_failed else "")


def _store_rows(seen: Snapshot) -> Iterator[Row]:
    if "store" not in seen:
        return
    store = seen["store"]
    log = f"{size(store['wal_bytes'])} not yet in the file" if store["wal_bytes"] else ""
    bytes_ = size(store["bytes"]) if store["bytes"] else ""
    yield Row("store", joined((f"{store['kind']} {store['engine_version']}", bytes_, log)))
    yield Row("memories", f"{seen['memories']:,}")
    for kind in ("entities", "relations"):
        yield Row(kind, joined((f"{seen[kind]['total']:,}", listed(seen[kind]["by_type"]))))
    yield Row("last night", "never" if seen["last_night"] is None else _at(seen["last_night"]))


def _daemon_words(daemon: Mapping[str, Any]) -> str:
    state = daemon["state"]
    if not daemon["running"]:
        return "not running"
    if state is None:
        return "running; it does not answer"
    return joined(
        (
            f"process {state['pid']} since {_at(state['started_at'])}",
            state["activity"],
            f"{counted(state['backlog'], 'piece')} of the backlog to go" if state["backlog"] else "",
        )
    )


def _at(instant: str) -> str:
    from graph_memory.domain.instants import parse_instant

    return local(parse_instant(instant, argument="instant").at)


def _drawn(seen: Snapshot, problem: str | None = None) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    lines = [
        Text.assemble(
            (f"{row.label:<{_LABEL}}", "bold"), (clean(row.text), row.style), no_wrap=True, overflow="ellipsis"
        )
        for row in rows(seen)
    ]
    verdict = verdict_of(seen)
    if problem is not None:
        lines.append(Text(clean(problem), style="yellow"))
    elif verdict is not None:
        lines.append(Text(verdict.text, style=verdict.style))
    return Group(Text("q ends", style="dim"), *lines)


@contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """Give a function that waits so many seconds for a key; without a terminal to read from it only waits."""
    if not sys.stdin.isatty():
        import time

        def wait(seconds: float) -> str:
            time.sleep(seconds)
            return ""

        yield wait
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)

    def next_key(seconds: float) -> str:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return sys.stdin.read(1) if ready else ""

    try:
        tty.setcbreak(sys.stdin)
        yield next_key
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
