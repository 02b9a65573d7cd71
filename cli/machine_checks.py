"""What `doctor` looks at of the machine: interpreter, SQLite, disk, clock, watches."""

import os
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from cli.findings import Finding, bad, well, worse
from cli.terminal import counted, size
from graph_memory.config import LoadedConfig
from graph_memory.mounts import find_network_mount

OLDEST_SQLITE = (3, 51, 3)
"""Up to 3.51.2 SQLite can corrupt a file in write-ahead mode that several processes write and checkpoint at once."""
OLDEST_PYTHON = (3, 11)
MEGABYTE = 1_000_000
_SCARCE, _SHORT = 200_000_000, 1_000_000_000
_BEFORE_THIS_PROGRAM = datetime(2025, 1, 1, tzinfo=UTC)
_MOST_FOLDERS = 200_000
_SHARE_OF_WATCHES = 0.8
_INOTIFY = Path("/proc/sys/fs/inotify")
_NAMESPACE = Path("/proc/sys/user")
"""Where Linux keeps the limits of a user namespace, such as a container's: the lower of both counts."""


def python(_config: LoadedConfig) -> Iterator[Finding]:
    """Check the interpreter."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield bad("python", f"Python {version} is too old", "install with Python 3.11 or newer")
    else:
        yield well("python", f"Python {version}")


def sqlite(_config: LoadedConfig) -> Iterator[Finding]:
    """Check the SQLite that apsw brings, which is not the interpreter's."""
    import apsw

    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")) < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        remedy = "reinstall so that apsw brings its own SQLite: `pip install --force-reinstall apsw`"
        yield bad("sqlite", f"SQLite {version} can corrupt the store; {oldest} is needed", remedy)
    elif "ENABLE_FTS5" not in apsw.compile_options:
        yield bad("sqlite", f"SQLite {version} is without full-text search", "reinstall apsw")
    else:
        yield well("sqlite", f"SQLite {version}")


def disk(config: LoadedConfig) -> Iterator[Finding]:
    """Check how much room is left."""
    there = next(it for it in (config.home.path, *config.home.path.parents) if it.exists())
    free = shutil.disk_usage(there).free
    least = config.settings.limits.free_disk_mb * MEGABYTE
    if free < _SCARCE:
        yield bad("disk", f"only {size(free)} are free", "make room, or move the home elsewhere")
    elif free < least:
        remedy = "make room, or lower limits.free_disk_mb"
        yield worse("disk", f"only {size(free)} are free, so learning waits", remedy)
    elif free < _SHORT:
        yield worse("disk", f"only {size(free)} are free", "make room soon")
    else:
        yield well("disk", f"{size(free)} are free")


def clock(_config: LoadedConfig) -> Iterator[Finding]:
    """Check that the machine knows roughly what day it is."""
    now = datetime.now(UTC)
    if now < _BEFORE_THIS_PROGRAM:
        yield bad("clock", f"the clock says {now.date()}", "set it: forgetting goes by the clock")
    else:
        yield well("clock", f"it is {now.astimezone():%Y-%m-%d %H:%M %Z}")


def file_events(config: LoadedConfig) -> Iterator[Finding]:
    """Check that changes of files are told: watches enough for all folders, and no folder of another machine."""
    folders = (*config.settings.ingest.projects_dirs, config.home.pending)
    for folder in folders:
        mount = None if config.settings.ingest.polling else find_network_mount(folder)
        if mount is not None:
            message = f"{folder} is on a network file system ({mount.kind}), which tells nothing of others' changes"
            remedy = "set ingest.polling to true; until then the rescan finds them"
            yield worse("file events", message, remedy)
    limit = _limit()
    if limit is None:
        return
    count = sum(_count_folders(it) for it in folders)
    if count > limit * _SHARE_OF_WATCHES:
        remedy = f"sudo sysctl fs.inotify.max_user_watches={max(limit * 2, count * 2)}; until then it polls"
        message = f"{counted(count, 'folder')} to watch, and {limit:,} watches for all programs"
        yield worse("file events", message, remedy)
    else:
        yield well("file events", f"{counted(count, 'folder')} to watch of {limit:,} possible")


def _limit() -> int | None:
    """Return how many watches a user has; `None` where the system counts none."""
    limits = (_number(_INOTIFY / "max_user_watches"), _number(_NAMESPACE / "max_inotify_watches"))
    return min((it for it in limits if it is not None), default=None)


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
