"""What of a home folder is ours to delete, and the deleting of it."""

import os
import shutil
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_memory.domain.errors import ConfigError, GraphMemoryError
from graph_memory.home import Home

_SQLITE_ENDINGS = ("-wal", "-shm", "-journal")
_LEAST_SIGNS = 3


@dataclass(frozen=True, slots=True)
class Removed:
    """What was deleted, in bytes, and what was left since it is not ours."""

    size: int
    left: tuple[Path, ...]


def settings_files(home: Home) -> Sequence[Path]:
    """List the files that a person wrote for this product and that are there."""
    return [it for it in (home.config_file, home.credentials_file) if os.path.lexists(it)]


def refuse_foreign(home: Home) -> None:
    """Raise `ConfigError` where a folder does not look like a home of ours, or is not where it says it is."""
    path = home.path
    if path.is_symlink():
        raise ConfigError(f"{path} is a link; nothing behind links is deleted: delete what it leads to yourself")
    if not path.is_dir():
        raise ConfigError(f"there is no folder {path}")
    if path.stat().st_uid != os.geteuid():
        raise ConfigError(f"{path} belongs to another user")
    real = path.resolve()
    if real in (Path.home().resolve(), *Path.home().resolve().parents):
        raise ConfigError(f"{path} holds your whole home folder; nothing is deleted")
    signs = (home.store_file, home.database, home.pending, home.completed, home.failed, home.logs, home.backups)
    if sum(os.path.lexists(it) for it in signs) < _LEAST_SIGNS or not (
        home.store_file.is_file() or home.processing.is_dir()
    ):
        raise ConfigError(f"{path} does not look like a home folder of graph-memory; nothing is deleted")


def remove_home(home: Home) -> Removed:
    """Delete what is ours in a home, and the folder if nothing else is in it; links are deleted, never followed.

    Raises:
        ConfigError: it does not look like a home of ours; nothing was deleted.
        GraphMemoryError: something can't be deleted; the text says what.
    """
    refuse_foreign(home)
    size = 0
    try:
        for entry in _own(home):
            size += _size(entry)
            _remove(entry)
        left = tuple(sorted(home.path.iterdir()))
        if not left:
            home.path.rmdir()
    except OSError as error:
        raise GraphMemoryError(f"{error.filename} can't be deleted: {error.strerror}") from error
    return Removed(size, left)


def size_of(home: Home) -> int:
    """Return the bytes of what `remove_home` would delete."""
    return sum(_size(it) for it in _own(home))


def _own(home: Home) -> Sequence[Path]:
    """List what is there of ours: all that `Home` names, and what is written beside it.

    What says whose home it is comes last: where this is cut short, it is still seen to be one.
    """
    named = [
        value for name, it in vars(Home).items() if isinstance(it, property) and _is_path(value := getattr(home, name))
    ]
    outside = [it for it in named if it.parent != home.path and home.path not in it.parents]
    tops = dict.fromkeys(home.path / it.relative_to(home.path).parts[0] for it in named if home.path in it.parents)
    beside = [it for it in sorted(home.path.iterdir()) if _is_beside(it.name, {top.name for top in tops})]
    found = dict.fromkeys([*tops, *beside, *outside])
    found.pop(home.store_file, None)
    return [it for it in (*found, home.store_file) if os.path.lexists(it)]


def _is_path(value: object) -> bool:
    return isinstance(value, Path)


def _is_beside(name: str, ours: Collection[str]) -> bool:
    """Tell whether a file belongs to one of ours: of SQLite, or left by a process killed while it replaced one."""
    return any(name in {f"{it}{ending}" for ending in _SQLITE_ENDINGS} for it in ours) or (
        name.endswith((".tmp", ".new")) and any(name.startswith(f".{it}.") for it in ours)
    )


def _size(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    return sum(_entry_size(Path(folder, name)) for folder, _, names in os.walk(path) for name in names)


def _entry_size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _remove(path: Path) -> None:
    if stat.S_ISDIR(path.lstat().st_mode):
        shutil.rmtree(path)
    else:
        path.unlink()
