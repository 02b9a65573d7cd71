"""What is not learned because somebody said so, or because it is this product's own work."""

from enum import StrEnum
from os.path import normpath
from pathlib import PurePath

from graph_memory.config.settings import Exclude
from graph_memory.home import Home
from ingest.projects import has_no_memory
from ingest.transcripts.own import is_own_folder


class Reason(StrEnum):
    """Why something is not learned."""

    OWN = "own_session"
    PROJECT = "excluded_project"
    FOLDER = "excluded_folder"
    SESSION = "excluded_session"
    NO_MEMORY = "no_memory_file"
    FORGOTTEN = "forgotten"


class Exclusions:
    """The person's choices, looked up once for each working directory; make a new one for each unit of work."""

    def __init__(self, exclude: Exclude, home: Home) -> None:
        self._projects = frozenset(exclude.projects)
        self._sessions = frozenset(exclude.sessions)
        self._folders = [PurePath(normpath(it.expanduser())) for it in exclude.folders]
        self._homes = [home.path, home.path.resolve()]
        self._by_cwd: dict[str, Reason | None] = {}

    def of_session(self, session_id: str | None) -> Reason | None:
        """Tell why a session is not learned, if so."""
        return Reason.SESSION if session_id in self._sessions else None

    def of_project(self, project_id: str) -> Reason | None:
        """Tell why a project is not learned, if so."""
        return Reason.PROJECT if project_id in self._projects else None

    def of_folder(self, cwd: str | None) -> Reason | None:
        """Tell why what was said in a working directory is not learned, if so."""
        if not cwd:
            return None
        if cwd not in self._by_cwd:
            self._by_cwd[cwd] = self._look(cwd)
        return self._by_cwd[cwd]

    def _look(self, cwd: str) -> Reason | None:
        if is_own_folder(cwd, self._homes):
            return Reason.OWN
        folder = PurePath(normpath(cwd))
        if any(folder.is_relative_to(it) for it in self._folders):
            return Reason.FOLDER
        return Reason.NO_MEMORY if has_no_memory(cwd) else None
