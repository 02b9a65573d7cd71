"""What `graph-memory doctor` looks at. Every check returns findings and raises nothing that it knows of.

None makes or changes anything: a home that isn't there is a finding, not a reason to make one.
"""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from cli.terminal import counted, size
from daemon.instance import find_holder, find_state, is_held
from graph_memory.config import LoadedConfig
from graph_memory.domain.errors import ConfigError
from graph_memory.home import Home

OLDEST_SQLITE = (3, 51, 3)
"""Up to 3.51.2 SQLite can corrupt a file in write-ahead mode that several processes write and checkpoint at once."""
OLDEST_PYTHON = (3, 11)
_SCARCE, _SHORT = 200_000_000, 1_000_000_000
_BEFORE_THIS_PROGRAM = datetime(2025, 1, 1, tzinfo=UTC)
_MOST_FOLDERS = 200_000
_SHARE_OF_WATCHES = 0.8
_MOST_NAMED = 3
_INOTIFY = Path("/proc/sys/fs/inotify")


class Level(StrEnum):
    """How bad a finding is; only an error makes the command fail."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, and what to do about it."""

    check: str
    level: Level
    message: str
    remedy: str = ""


def python(_config: LoadedConfig) -> Iterator[Finding]:
    """Check the interpreter."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield Finding("python", Level.ERROR, f"Python {version} is too old", "install with Python 3.11 or newer")
    else:
        yield Finding("python", Level.OK, f"Python {version}")


def sqlite(_config: LoadedConfig) -> Iterator[Finding]:
    """Check the SQLite that apsw brings, which is not the interpreter's."""
    import apsw

    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")) < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        remedy = "reinstall so that apsw brings its own SQLite: `pip install --force-reinstall apsw`"
        yield Finding("sqlite", Level.ERROR, f"SQLite {version} can corrupt the store; {oldest} is needed", remedy)
    elif "ENABLE_FTS5" not in apsw.compile_options:
        yield Finding("sqlite", Level.ERROR, f"SQLite {version} is without full-text search", "reinstall apsw")
    else:
        yield Finding("sqlite", Level.OK, f"SQLite {version}")


def settings(config: LoadedConfig) -> Iterator[Finding]:
    """Check what was written into settings."""
    for problem in config.problems:
        yield Finding("settings", Level.WARNING, str(problem), "see docs/configuration.md")
    try:
        config.require_usable_store()
    except ConfigError as error:
        yield Finding("settings", Level.ERROR, str(error), "set the password, or choose SQLite")
        return
    if not config.problems:
        yield Finding("settings", Level.OK, "settings are taken as they are written")


def home(config: LoadedConfig) -> Iterator[Finding]:
    """Check the home folder: whose it is, who may read it, and on what it lies."""
    path = config.home.path
    try:
        config.home.refuse_network_filesystem()
    except ConfigError as error:
        yield Finding("home", Level.ERROR, str(error), "choose a folder on a local disk")
    if not path.exists():
        yield Finding("home", Level.WARNING, f"{path} does not exist yet", "`graph-memory run` makes it")
        return
    if not path.is_dir():
        yield Finding("home", Level.ERROR, f"{path} is no folder", "choose another GRAPH_MEMORY_HOME")
        return
    if path.stat().st_uid != os.geteuid():
        yield Finding("home", Level.ERROR, f"{path} belongs to another user", "choose another GRAPH_MEMORY_HOME")
        return
    if not os.access(path, os.W_OK | os.X_OK):
        yield Finding("home", Level.ERROR, f"{path} can't be written", f"chmod 700 {path}")
        return
    open_to_others = list(_open_to_others(config.home))
    if open_to_others:
        named = ", ".join(str(it) for it in open_to_others[:_MOST_NAMED])
        more = " …" if len(open_to_others) > _MOST_NAMED else ""
        yield Finding("home", Level.WARNING, f"open to other users: {named}{more}", f"chmod -R go= {path}")
    else:
        yield Finding("home", Level.OK, f"{path} is yours alone")


def _open_to_others(home: Home) -> Iterator[Path]:
    if stat.S_IMODE(home.path.stat().st_mode) & 0o077:
        yield home.path
    for path in sorted(home.path.iterdir()):
        with suppress(OSError):
            if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077:
                yield path


def disk(config: LoadedConfig) -> Iterator[Finding]:
    """Check how much room is left."""
    there = next(it for it in (config.home.path, *config.home.path.parents) if it.exists())
    free = shutil.disk_usage(there).free
    if free < _SCARCE:
        yield Finding("disk", Level.ERROR, f"only {size(free)} are free", "make room, or move the home elsewhere")
    elif free < _SHORT:
        yield Finding("disk", Level.WARNING, f"only {size(free)} are free", "make room soon")
    else:
        yield Finding("disk", Level.OK, f"{size(free)} are free")


def clock(_config: LoadedConfig) -> Iterator[Finding]:
    """Check that the machine knows roughly what day it is."""
    now = datetime.now(UTC)
    if now < _BEFORE_THIS_PROGRAM:
        yield Finding("clock", Level.ERROR, f"the clock says {now.date()}", "set it: forgetting goes by the clock")
    else:
        yield Finding("clock", Level.OK, f"it is {now.astimezone():%Y-%m-%d %H:%M %Z}")


def projects(config: LoadedConfig) -> Iterator[Finding]:
    """Check that there are transcripts to learn from."""
    from ingest.transcripts.files import list_transcripts

    for folder in config.settings.ingest.projects_dirs:
        if not folder.is_dir():
            remedy = "set CLAUDE_PROJECTS_DIR if Claude Code keeps its sessions elsewhere"
            yield Finding("projects", Level.WARNING, f"{folder} does not exist", remedy)
            continue
        listing = list_transcripts([folder])
        for problem in listing.unreadable[:_MOST_NAMED]:
            yield Finding("projects", Level.WARNING, problem, "make it readable for you")
        yield Finding("projects", Level.OK, f"{counted(len(listing.files), 'transcript')} in {folder}")


def file_events(config: LoadedConfig) -> Iterator[Finding]:
    """Check that the system has watches enough for all folders; Linux counts them per user."""
    limit = _number(_INOTIFY / "max_user_watches")
    if limit is None:
        return
    folders = sum(_count_folders(it) for it in (*config.settings.ingest.projects_dirs, config.home.pending))
    if folders > limit * _SHARE_OF_WATCHES:
        remedy = f"sudo sysctl fs.inotify.max_user_watches={max(limit * 2, folders * 2)}; until then it polls"
        message = f"{counted(folders, 'folder')} to watch, and {limit:,} watches for all programs"
        yield Finding("file events", Level.WARNING, message, remedy)
    else:
        yield Finding("file events", Level.OK, f"{counted(folders, 'folder')} to watch of {limit:,} possible")


def daemon(config: LoadedConfig) -> Iterator[Finding]:
    """Check whether the daemon runs, and whether the last one ended as it should."""
    state, holder = find_state(config.home), find_holder(config.home)
    if state is not None:
        yield Finding("daemon", Level.OK, f"running as process {state.pid}")
        for problem in state.problems:
            yield Finding("daemon", Level.WARNING, problem, "see `graph-memory status`")
    elif is_held(config.home):
        who = "" if holder is None else f" as process {holder.pid}"
        remedy = f"see {config.home.daemon_log}; if that doesn't help, stop it and start it again"
        yield Finding("daemon", Level.WARNING, f"running{who}, and does not answer on its socket", remedy)
    elif holder is not None:
        message = f"process {holder.pid} ended without a word (killed, or the power went)"
        yield Finding("daemon", Level.WARNING, message, "start it again: `graph-memory run`; nothing is lost")
    else:
        yield Finding("daemon", Level.WARNING, "not running", "start it: `graph-memory run`")


def store(config: LoadedConfig) -> Iterator[Finding]:
    """Check that the store is this home's, opens, and is whole."""
    from graph_memory.adapters.sqlite.store import SqliteStore
    from graph_memory.bootstrap import open_store
    from graph_memory.domain.errors import GraphMemoryError

    if config.settings.store.kind == "sqlite" and not config.home.database.exists():
        yield Finding("store", Level.OK, "nothing is stored yet")
        return
    remedy = "`graph-memory import FILE --mode replace` puts a backup back"
    try:
        opened = open_store(config)
    except GraphMemoryError as error:
        yield Finding("store", Level.ERROR, str(error), remedy)
        return
    try:
        identity = opened.identity()
        broken = opened.integrity_problems() if isinstance(opened, SqliteStore) else ()
    except GraphMemoryError as error:
        yield Finding("store", Level.ERROR, str(error), remedy)
        return
    finally:
        opened.close()
    for problem in broken:
        yield Finding("store", Level.ERROR, problem, remedy)
    if not broken:
        what = f"{identity.kind} {identity.database_id}, schema {identity.schema_version}"
        yield Finding("store", Level.OK, f"{what}, is whole")


def work(config: LoadedConfig) -> Iterator[Finding]:
    """Check what the jobs and the inbox left to be looked at."""
    from daemon.report import job_views
    from graph_memory.bootstrap import open_services
    from graph_memory.domain.errors import GraphMemoryError
    from graph_memory.domain.ledger import IngestState
    from graph_memory.domain.principal import LOCAL_ADMIN

    if config.settings.store.kind == "sqlite" and not config.home.database.exists():
        return
    try:
        with open_services(config) as services:
            stats, now = services.insight.stats(LOCAL_ADMIN), services.clock()
    except GraphMemoryError:
        return  # the store's own check says so
    failed = stats.queue.get(IngestState.FAILED, 0)
    if failed:
        remedy = "`graph-memory retry` lists them with their reasons; `graph-memory retry --all` tries them again"
        yield Finding("inbox", Level.WARNING, f"{counted(failed, 'document')} could not be learned", remedy)
    for job in job_views(services.settings.jobs, stats.last_runs, now):
        if job.last is not None and job.has_failed:
            remedy = f"`graph-memory job run {job.name}` tries it again"
            yield Finding("jobs", Level.WARNING, f"{job.name} failed: {job.last.error}", remedy)
        if job.last is not None and job.last.started_at > now + timedelta(days=1):
            message = f"{job.name} ran at {job.last.started_at:%Y-%m-%d}, which is yet to come"
            yield Finding("clock", Level.WARNING, message, "the clock was wrong then, or is now: set it")


CHECKS: Sequence[Callable[[LoadedConfig], Iterator[Finding]]] = (
    python,
    sqlite,
    settings,
    home,
    disk,
    clock,
    projects,
    file_events,
    daemon,
    store,
    work,
)


def examine(config: LoadedConfig) -> Iterator[Finding]:
    """Run every check; one that breaks is a finding itself and stops no other."""
    for check in CHECKS:
        try:
            yield from check(config)
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            name = check.__name__.replace("_", " ")
            yield Finding(name, Level.ERROR, f"{error.strerror or error}{where}", "make it readable for you")


def counts(findings: Sequence[Finding]) -> Mapping[Level, int]:
    """Count findings by level."""
    return {level: sum(it.level is level for it in findings) for level in Level}


def _count_folders(root: Path) -> int:
    count = 0
    for count, _ in enumerate(os.walk(root), start=1):
        if count >= _MOST_FOLDERS:
            break
    return count


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
