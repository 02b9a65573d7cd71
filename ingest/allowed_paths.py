"""Which files a client may name."""

from dataclasses import dataclass
from pathlib import Path

from graph_memory.config.settings import Ingest
from graph_memory.domain.errors import InvalidRequest, NotFound
from graph_memory.home import Home


@dataclass(frozen=True, slots=True)
class AllowedPaths:
    """Folders whose files a client may name.

    `own` are open whole: the product's home and the projects folders. Below `shared` hidden folders stay closed, since
    keys and tokens lie there. `closed` files stay closed wherever they lie. Links are resolved before anything is
    decided.
    """

    own: tuple[Path, ...]
    shared: tuple[Path, ...]
    closed: tuple[Path, ...] = ()

    def resolve(self, name: str, *, argument: str, start: Path | None = None) -> Path:
        """Return the real path of a file that may be read; relative names are looked for in `start`.

        Raises:
            InvalidRequest: it lies elsewhere, or is no regular file; the text names it and where files may lie.
            NotFound: there is no such file in a folder that is open.
        """
        given = Path(name).expanduser()
        if not given.is_absolute():
            if start is None:
                raise InvalidRequest(f"{argument}: {name!r} is not absolute", argument=argument)
            given = start / given
        try:
            real = given.resolve()
        except (OSError, RuntimeError, ValueError):
            raise InvalidRequest(f"{argument}: {name!r} can't be followed to a file", argument=argument) from None
        if not self._is_open(real):
            raise InvalidRequest(
                f"{argument}: {name!r} is not in a folder whose files a client may name: the home of graph-memory, the "
                "projects folders, and ingest.allowed_dirs without hidden folders",
                argument=argument,
            )
        if not real.exists():
            raise NotFound(f"{argument}: there is no file {name!r}")
        if not real.is_file():
            raise InvalidRequest(f"{argument}: {name!r} is no regular file", argument=argument)
        return real

    def _is_open(self, real: Path) -> bool:
        if any(real == it.resolve() for it in self.closed):
            return False
        if any(_is_within(real, it) for it in self.own):
            return True
        return any(_is_within(real, it) and not _is_hidden(real.relative_to(it.resolve())) for it in self.shared)


def _is_within(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder.resolve())


def _is_hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def allowed_paths(home: Home, settings: Ingest) -> AllowedPaths:
    """Return the rule for a home: itself and the projects folders whole, `ingest.allowed_dirs` without hidden ones."""
    return AllowedPaths(
        own=(home.path, *settings.projects_dirs), shared=settings.allowed_dirs, closed=(home.credentials_file,)
    )
