"""What `doctor` looks at of the memory itself: transcripts, daemon, service, store, backups, work."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from cli.findings import Finding, bad, well, worse
from cli.terminal import counted, size
from daemon.instance import find_holder, find_state, is_held
from graph_memory.config import LoadedConfig
from graph_memory.domain.errors import ConfigError, GraphMemoryError, InvalidRequest, NotFound, Unavailable

CHECKING_SECONDS = 20.0
"""How long the store's file is looked through: about a gigabyte; then what was seen so far has to do."""
RESTORE = "`graph-memory restore latest` puts the newest backup back"
_MOST_NAMED = 3
_PATIENCE = 5.0
_LARGE_LOG = 268_435_456
_OLD_BACKUP = timedelta(days=2)


def projects(config: LoadedConfig) -> Iterator[Finding]:
    """Check that there are transcripts to learn from."""
    from ingest.transcripts.files import list_transcripts

    for folder in config.settings.ingest.projects_dirs:
        if not folder.is_dir():
            remedy = "set CLAUDE_PROJECTS_DIR if Claude Code keeps its sessions elsewhere"
            yield worse("projects", f"{folder} does not exist", remedy)
            continue
        listing = list_transcripts([folder])
        for problem in listing.unreadable[:_MOST_NAMED]:
            yield worse("projects", problem, "make it readable for you")
        yield well("projects", f"{counted(len(listing.files), 'transcript')} in {folder}")


def embedder(_config: LoadedConfig) -> Iterator[Finding]:
    """Say what makes vectors of texts."""
    yield well("embedder", "none: this version searches by words alone")


def daemon(config: LoadedConfig) -> Iterator[Finding]:
    """Check whether the daemon runs and answers, and whether the last one ended as it should."""
    state, holder = find_state(config.home), find_holder(config.home)
    if state is not None:
        yield well("daemon", f"running as process {state.pid}, and answers")
        for problem in state.problems:
            yield worse("daemon", problem, "see `graph-memory status`")
    elif is_held(config.home):
        who = "" if holder is None else f" as process {holder.pid}"
        remedy = f"see {config.home.daemon_log}; if that doesn't help, stop it and start it again"
        yield worse("daemon", f"running{who}, and does not answer on its socket", remedy)
    elif holder is not None:
        message = f"process {holder.pid} ended without a word (killed, or the power went)"
        yield worse("daemon", message, "start it again: `graph-memory run`; nothing is lost")
    else:
        yield worse("daemon", "not running", "start it: `graph-memory run`, or `graph-memory service install`")


def service(config: LoadedConfig) -> Iterator[Finding]:
    """Check that the daemon is started at every login, and by what would be written now."""
    from daemon.service.finding import manager_of
    from daemon.service.installation import installation_of

    try:
        state = manager_of(installation_of(config, os.environ)).state()
    except (Unavailable, ConfigError) as error:
        yield well("service", f"none: {error}")
        return
    again = "`graph-memory service install` writes it anew"
    if not state.is_installed:
        remedy = "`graph-memory service install`, unless something of yours starts it"
        yield well("service", f"none; {remedy}") if is_held(config.home) else worse("service", "none", remedy)
    elif state.problem:
        yield worse("service", state.problem, again)
    elif not state.is_current:
        yield worse("service", f"{state.file} is not what this version would write", again)
    elif not (state.is_enabled and state.is_running):
        yield worse("service", "installed, and does not run at every login", again)
    else:
        yield well("service", f"{state.name} runs, and is started at every login")


def store(config: LoadedConfig) -> Iterator[Finding]:
    """Check that the store is this home's, of this program's version, and whole; nothing of it is changed."""
    from graph_memory.adapters.sqlite.inspection import inspect
    from graph_memory.home import StoreIdentity

    home = config.home
    if config.settings.store.kind != "sqlite":
        return  # the settings' own check says so
    if not home.database.exists():
        if home.store_file.exists():
            yield bad("store", f"{home.database} is gone", RESTORE)
        else:
            yield well("store", "nothing is stored yet")
        return
    try:
        found = inspect(home.database, seconds=CHECKING_SECONDS)
        if home.find_store() is not None:
            home.claim_store(StoreIdentity("sqlite", found.database_id))
    except GraphMemoryError as error:
        yield bad("store", str(error), RESTORE)
        return
    for problem in found.problems:
        yield bad("store", problem, RESTORE)
    if found.schema_version > found.newest_version:
        message = f"schema {found.schema_version} is newer than this program knows ({found.newest_version})"
        yield bad("store", message, "install the newer version of graph-memory")
    if not found.problems:
        extent = "is whole" if found.is_complete else f"is whole as far as {CHECKING_SECONDS:g} s of looking got"
        yield well("store", f"SQLite {found.database_id}, schema {found.schema_version}, {extent}")


def write_ahead_log(config: LoadedConfig) -> Iterator[Finding]:
    """Check that the write-ahead log does not grow for ever."""
    log = config.home.write_ahead_log
    if not log.exists() or not config.home.database.exists():
        return
    length = log.stat().st_size
    if length <= _LARGE_LOG:
        yield well("log of the store", size(length))
        return
    yield worse(
        "log of the store",
        f"{size(length)} are not moved into the file; some process holds an old view open",
        "close old clients; `graph-memory doctor --fix` moves what can be moved",
        partial(_checkpoint, config.home.database),
    )


def _checkpoint(database: Path) -> str:
    from graph_memory.adapters.sqlite.store import SqliteStore

    opened = SqliteStore(database, deadline=_PATIENCE)
    try:
        opened.checkpoint()
    finally:
        opened.close()
    return "moved the log into the store's file"


def backups(config: LoadedConfig) -> Iterator[Finding]:
    """Check that the newest backup is young enough, and can be read to its end."""
    from graph_memory.adapters.files.backup_folder import BackupFolder

    home = config.home
    if not home.database.exists():
        return
    again = "`graph-memory export` writes one now"
    files = sorted(home.backups.glob("*.jsonl"), key=lambda it: it.stat().st_mtime)
    begun_at = datetime.fromtimestamp(home.store_file.stat().st_mtime, UTC) if home.store_file.exists() else None
    if not files:
        is_young = begun_at is None or datetime.now(UTC) - begun_at < _OLD_BACKUP
        yield well("backups", "none yet; the first is made at night") if is_young else worse("backups", "none", again)
        return
    try:
        newest = BackupFolder(home.backups).check(str(files[-1]))
    except (InvalidRequest, NotFound) as error:
        yield bad("backups", str(error), again)
        return
    age = datetime.now(UTC) - newest.exported_at
    told = f"{files[-1].name}, {counted(sum(newest.counts.values()), 'row')}, {size(newest.size)}, reads back whole"
    if age > _OLD_BACKUP and config.settings.jobs.export.enabled:
        yield worse("backups", f"the newest is {age.days} days old: {told}", again)
    else:
        yield well("backups", f"{counted(len(files), 'backup')}; the newest: {told}")


def work(config: LoadedConfig) -> Iterator[Finding]:
    """Check what the jobs and the inbox left to be looked at."""
    from daemon.report import job_views
    from graph_memory.bootstrap import open_services
    from graph_memory.domain.ledger import IngestState
    from graph_memory.domain.principal import LOCAL_ADMIN

    if not _opens_unchanged(config):
        return  # the checks of store and folders say why
    try:
        with open_services(config) as services:
            stats, now = services.insight.stats(LOCAL_ADMIN), services.clock()
    except GraphMemoryError:
        return  # the store's own check says so
    failed = stats.queue.get(IngestState.FAILED, 0)
    if failed:
        remedy = "`graph-memory retry` lists them with their reasons; `graph-memory retry --all` tries them again"
        yield worse("inbox", f"{counted(failed, 'document')} could not be learned", remedy)
    for job in job_views(stats.last_runs, {}):
        if job.last is not None and job.has_failed:
            again = f"`graph-memory job run {job.name}` tries it again"
            yield worse("jobs", f"{job.name} failed: {job.last.error}", again)
        if job.last is not None and job.last.started_at > now + timedelta(days=1):
            message = f"{job.name} ran at {job.last.started_at:%Y-%m-%d}, which is yet to come"
            yield worse("clock", message, "the clock was wrong then, or is now: set it")


def _opens_unchanged(config: LoadedConfig) -> bool:
    """Tell whether opening the home makes and changes nothing: no folder is missing, and no schema is old."""
    from graph_memory.adapters.sqlite.inspection import inspect

    home = config.home
    if config.settings.store.kind != "sqlite" or not home.database.exists() or not home.store_file.exists():
        return False
    if not all(it.is_dir() for it in home.folders):
        return False
    try:
        found = inspect(home.database, seconds=0.0)
    except GraphMemoryError:
        return False
    return found.schema_version == found.newest_version
