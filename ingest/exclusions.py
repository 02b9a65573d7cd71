"""What is not learned because somebody said so, or because it is this product's own work."""

from datetime import datetime
from enum import StrEnum
from os.path import normpath
from pathlib import Path, PurePath

from graph_memory.config.settings import Exclude
from graph_memory.domain.time_spans import parse_span
from graph_memory.home import Home
from ingest.projects import has_no_memory
from ingest.transcripts.own import is_own_folder


class Reason(StrEnum):
    """Why something is not learned."""

    OWN = "own_session"
    PROJECT = "excluded_project"
    FOLDER = "excluded_folder"
    SESSION = "excluded_session"
    TIME = "excluded_time"
    NO_MEMORY = "no_memory_file"
    FORGOTTEN = "forgotten"


class Exclusions:
    """The person's choices, looked up once for each working directory; make a new one for each unit of work."""

    def __init__(self, exclude: Exclude, home: Home) -> None:
        self._projects = frozenset(exclude.projects)
        self._sessions = frozenset(exclude.sessions)
        self._times = [parse_span(it, argument="exclude.times") for it in exclude.times]
        self._folders = {spelling for it in exclude.folders for spelling in _spellings(it.expanduser())}
        self._homes = [home.path, home.path.resolve()]
        self._by_cwd: dict[str, Reason | None] = {}

    def of_session(self, session_id: str | None) -> Reason | None:
        """Tell why a session is not learned, if so."""
        return Reason.SESSION if session_id in self._sessions else None

    def of_project(self, project_id: str) -> Reason | None:
        """Tell why a project is not learned, if so."""
        return Reason.PROJECT if project_id in self._projects else None

    def of_instant(self, at: datetime | None) -> Reason | None:
        """Tell why what was said at an instant is not learned, if so."""
        return Reason.TIME if at is not None and any(it.has(at) for it in self._times) else None

    def of_document(self, project_id: str, session_id: str | None) -> Reason | None:
        """Tell why a document that says of which project and session it is, is not learned, if so."""
        return self.of_project(project_id) or self.of_session(session_id)

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
        if self._folders and any(it.is_relative_to(top) for it in _spellings(Path(cwd)) for top in self._folders):
            return Reason.FOLDER
        return Reason.NO_MEMORY if has_no_memory(cwd) else None


def _spellings(folder: Path) -> set[PurePath]:
    """Return a folder as it is written, and without the links in it: sessions may know it by either."""
    written = PurePath(normpath(folder))
    try:
        return {written, folder.resolve()}
    except (OSError, RuntimeError, ValueError):
        return {written}
