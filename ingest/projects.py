"""Which project a working directory belongs to: found by looking at folders, without running git."""

import re
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path, PurePosixPath, PureWindowsPath

NO_MEMORY = ".no-memory"
"""Name of the file that keeps a folder, and all below it, from being learned."""
_GIT = ".git"
_GIT_FILE_BYTES = 4_096
_WORKTREES = re.compile(r"^(?P<repository>.+?)/worktrees/[^/]+/?$")
# Where Claude Code puts the worktrees it makes; the name of the repository is before it, also when they are gone.
_AGENT_WORKTREES = re.compile(r"^(?P<root>.+?)/\.claude/worktrees/[^/]+(?:/.*)?$")


@dataclass(frozen=True, slots=True)
class ProjectFolder:
    """The folder of a project, and the name that goes with it."""

    root: str
    name: str


def project_folder(cwd: str) -> ProjectFolder:
    """Return the project of a working directory.

    The repository around it, a worktree's being the one it was made from; without one, or where the directory is gone,
    the directory itself.
    """
    folder = _normal(cwd)
    root = _repository(Path(folder)) if _is_there(folder) else None
    if root is not None:
        return ProjectFolder(root, _name(root))
    agent = _AGENT_WORKTREES.match(folder)
    alone = agent["root"] if agent else folder
    return ProjectFolder(alone, _name(alone))


def has_no_memory(cwd: str) -> bool:
    """Tell whether a working directory, or one above it, is marked as not to be learned."""
    folder = Path(_normal(cwd))
    return any(_exists(it / NO_MEMORY) for it in (folder, *folder.parents)) if folder.is_absolute() else False


def _normal(cwd: str) -> str:
    return cwd.strip() if "\\" in cwd else normpath(cwd.strip())


def _name(root: str) -> str:
    pure = PureWindowsPath(root) if "\\" in root else PurePosixPath(root)
    name = pure.name.removesuffix(_GIT) if pure.suffix == _GIT else pure.name
    return name or root


def _repository(folder: Path) -> str | None:
    """Return the root of the repository around a folder."""
    for candidate in (folder, *folder.parents):
        git = candidate / _GIT
        try:
            if git.is_dir():
                return str(candidate)
            if git.is_file():
                return _linked(candidate, git)
        except OSError:
            return None
    return None


def _linked(folder: Path, git: Path) -> str:
    """Return the repository that a `.git` file leads to: a worktree's; a submodule is a repository of its own."""
    with git.open("rb") as stream:
        text = stream.read(_GIT_FILE_BYTES).decode(errors="replace")
    _, mark, target = text.partition("gitdir:")
    if not mark:
        return str(folder)
    place = normpath(folder / target.strip().splitlines()[0]) if target.strip() else ""
    worktree = _WORKTREES.match(place)
    if worktree is None:
        return str(folder)
    repository = Path(worktree["repository"])
    # `<root>/.git/worktrees/<name>`; of a bare repository `<name>.git/worktrees/<name>`.
    return str(repository.parent if repository.name == _GIT else repository)


def _is_there(folder: str) -> bool:
    try:
        return Path(folder).is_dir()
    except (OSError, ValueError):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
