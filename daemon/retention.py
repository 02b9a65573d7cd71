"""How long the inbox keeps what is done, and how long changelogs stay."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from graph_memory.config.settings import Limits
from graph_memory.home import Home


@dataclass(frozen=True, slots=True)
class Removed:
    """How many files went, by place."""

    completed: int
    failed: int
    changelogs: int


def remove_old_files(home: Home, limits: Limits, now: datetime) -> Removed:
    """Remove what lies longer in `completed/` and `failed/` than it may, and old changelogs; what resists is left."""
    oldest = now.date() - timedelta(days=limits.changelog_days)
    changelogs = [it for it in home.logs.glob("????-??-??.md") if (day := _day(it)) is not None and day < oldest]
    return Removed(
        completed=_remove(_older(home.completed, now - timedelta(days=limits.completed_days))),
        failed=_remove(_older(home.failed, now - timedelta(days=limits.failed_days))),
        changelogs=_remove(iter(changelogs)),
    )


def _older(folder: Path, cutoff: datetime) -> Iterator[Path]:
    """Yield the files that were put there before `cutoff`, deepest first, and remove the folders left empty."""
    for name, _, names in os.walk(folder, topdown=False):
        parent = Path(name)
        for path in map(parent.joinpath, names):
            with suppress(OSError):
                if _put_there_at(path) < cutoff:
                    yield path
        if parent != folder:
            with suppress(OSError):  # not empty
                parent.rmdir()


def _put_there_at(path: Path) -> datetime:
    """Return when a file came to lie here: moving it changes the time of its status and not that of its content."""
    status = path.lstat()
    return datetime.fromtimestamp(max(status.st_mtime, status.st_ctime), UTC)


def _remove(paths: Iterator[Path]) -> int:
    count = 0
    for path in paths:
        with suppress(OSError):
            path.unlink()
            count += 1
    return count


def _day(changelog: Path) -> date | None:
    try:
        return date.fromisoformat(changelog.stem)
    except ValueError:
        return None
