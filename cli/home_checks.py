"""What `doctor` looks at of the home folder: settings, rights, folders, what was left behind, logs."""

import os
import stat
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path

from cli.findings import Finding, bad, well, worse
from cli.terminal import counted
from daemon.instance import is_held
from graph_memory.config import LoadedConfig
from graph_memory.domain.errors import ConfigError, InvalidRequest
from graph_memory.domain.instants import parse_instant
from graph_memory.home import Home
from ingest.inbox import is_lock_free

_OTHERS = 0o077
_FOLDER, _FILE = 0o700, 0o600
_MOST_NAMED = 3
_MOST_FILES = 200_000
_OLD_SECONDS = 3_600.0
"""A temporary file that nobody touched for so long belongs to nobody."""
_LATELY = timedelta(days=1)
_MOST_KINDS = 5
_LAST_BYTES = 4_194_304


def settings(config: LoadedConfig) -> Iterator[Finding]:
    """Check what was written into settings."""
    for problem in config.problems:
        yield worse("settings", str(problem), "see docs/configuration.md")
    try:
        config.require_usable_store()
    except ConfigError as error:
        yield bad("settings", str(error), "set the password, or choose SQLite")
        return
    if not config.problems:
        yield well("settings", "settings are taken as they are written")


def home(config: LoadedConfig) -> Iterator[Finding]:
    """Check the home folder: whose it is, and on what it lies."""
    path = config.home.path
    try:
        config.home.refuse_network_filesystem()
    except ConfigError as error:
        yield bad("home", str(error), "choose a folder on a local disk")
    if not path.exists():
        yield worse("home", f"{path} does not exist yet", "`graph-memory run` makes it")
    elif not path.is_dir():
        yield bad("home", f"{path} is no folder", "choose another GRAPH_MEMORY_HOME")
    elif path.stat().st_uid != os.geteuid():
        yield bad("home", f"{path} belongs to another user", "choose another GRAPH_MEMORY_HOME")
    elif os.statvfs(path).f_flag & os.ST_RDONLY:
        yield bad("home", f"{path} is on a file system that is mounted read-only", "mount it writable")
    else:
        yield well("home", f"{path} is yours")


def folders(config: LoadedConfig) -> Iterator[Finding]:
    """Check that the home's folders are there."""
    if not config.home.path.is_dir():
        return
    missing = [it for it in config.home.folders if not it.is_dir()]
    if missing:
        yield worse(
            "folders",
            f"missing: {_named(missing)}",
            "`graph-memory doctor --fix` makes them; so does the next start of the daemon",
            partial(_make_folders, config.home, len(missing)),
        )
    else:
        yield well("folders", "all are there")


def _make_folders(home: Home, count: int) -> str:
    home.ensure()
    return f"made {counted(count, 'folder')}"


def permissions(config: LoadedConfig) -> Iterator[Finding]:
    """Check that everything in the home is its owner's to use, and nobody else's.

    The files of the inbox are as whoever dropped them left them; the folders around them keep others out.
    """
    if not config.home.path.is_dir():
        return
    wrong = [it for it in islice(_below(config.home), _MOST_FILES) if _is_wrong(it, config.home)]
    strange = [it for it in wrong if it.lstat().st_uid != os.geteuid()]
    if strange:
        remedy = f"sudo chown -R {os.geteuid()} {config.home.path}"
        yield bad("permissions", f"of another user: {_named(strange)}", remedy)
    ours = [it for it in wrong if it not in strange]
    if ours:
        yield worse(
            "permissions",
            f"open to other users, or closed to you: {_named(ours)}",
            "`graph-memory doctor --fix` makes folders 0700 and files 0600",
            partial(_close, ours),
        )
    if not wrong:
        yield well("permissions", "everything in the home is yours alone")


def _below(home: Home) -> Iterator[Path]:
    """Yield the home and all in it, without following links; a folder comes before what is in it."""
    waiting = [home.path]
    while waiting:
        folder = waiting.pop()
        yield folder
        try:
            entries = sorted(os.scandir(folder), key=lambda it: it.name)
        except OSError:
            continue  # closed to us: it was just yielded
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif not entry.is_symlink():
                yield Path(entry.path)


def _is_wrong(path: Path, home: Home) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False  # gone meanwhile
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        return bool(mode & _OTHERS) or mode & _FOLDER != _FOLDER or status.st_uid != os.geteuid()
    if path.is_relative_to(home.inbox):
        return mode & _FILE != _FILE or status.st_uid != os.geteuid()
    return bool(mode & _OTHERS) or mode & _FILE != _FILE or status.st_uid != os.geteuid()


def _close(paths: Sequence[Path]) -> str:
    for path in paths:
        with suppress(FileNotFoundError):
            mode = stat.S_IMODE(path.lstat().st_mode)
            path.chmod((mode | (_FOLDER if path.is_dir() else _FILE)) & ~_OTHERS)
    return f"closed {counted(len(paths), 'path')} to others, and opened them to you"


def leftovers(config: LoadedConfig) -> Iterator[Finding]:
    """Check what processes that were killed left: temporary files, locks of dead workers, a dead daemon's socket."""
    home, old = config.home, []
    if not home.path.is_dir():
        return
    for folder in (home.path, home.logs, home.backups, home.archive):
        old += [it for it in _hidden(folder, (".tmp", ".new")) if time.time() - it.lstat().st_mtime > _OLD_SECONDS]
    locks = [it for it in _hidden(home.processing, (".lock",)) if is_lock_free(it) and not _folder_of(it).exists()]
    left = [*old, *locks]
    if home.socket.is_socket() and not is_held(home):
        left.append(home.socket)
    if left:
        remedy = "`graph-memory doctor --fix` removes them"
        yield worse("leftovers", f"of processes that are gone: {_named(left)}", remedy, partial(_remove, left))
    waiting = sum(1 for it in _hidden(home.processing, (".lock",)) if is_lock_free(it) and _folder_of(it).exists())
    if waiting:
        message = f"{counted(waiting, 'worker')} died and left documents in processing/"
        yield worse("leftovers", message, "nothing is lost: the daemon takes them up (`graph-memory run`)")
    if not left and not waiting:
        yield well("leftovers", "there are none")


def _hidden(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    try:
        return sorted(it for it in folder.iterdir() if it.name.startswith(".") and it.name.endswith(suffixes))
    except OSError:
        return []


def _folder_of(lock: Path) -> Path:
    return lock.with_name(lock.name.removeprefix(".").removesuffix(".lock"))


def _remove(paths: Sequence[Path]) -> str:
    for path in paths:
        path.unlink(missing_ok=True)
    return f"removed {counted(len(paths), 'file')}"


def logs(config: LoadedConfig) -> Iterator[Finding]:
    """Check what the daemon logged as an error in the last day."""
    import orjson

    log = config.home.daemon_log
    if not log.is_file():
        return
    kinds: Counter[str] = Counter()
    for line in _last_lines(log):
        with suppress(ValueError, TypeError, LookupError, InvalidRequest):
            told = orjson.loads(line)
            if told["level"] in {"error", "critical"} and _is_late(str(told["timestamp"])):
                kinds[str(told["event"])[:80]] += 1
    if kinds:
        named = ", ".join(f"{kind} × {count:,}" for kind, count in kinds.most_common(_MOST_KINDS))
        yield worse("logs", f"errors in the last day: {named}", f"see {log}")
    else:
        yield well("logs", "no errors in the last day")


def _last_lines(log: Path) -> list[bytes]:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LAST_BYTES))
        return file.read().splitlines()


def _is_late(instant: str) -> bool:
    return parse_instant(instant, argument="timestamp").at > datetime.now(UTC) - _LATELY


def _named(paths: Sequence[Path]) -> str:
    more = f" and {len(paths) - _MOST_NAMED:,} more" if len(paths) > _MOST_NAMED else ""
    return f"{', '.join(str(it) for it in paths[:_MOST_NAMED])}{more}"
