"""What any service manager is asked to do, and how its programs are run."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from graph_memory.domain.errors import GraphMemoryError, Unavailable
from graph_memory.whole_files import put_file

_PATIENCE = 960.0
"""Seconds; a start waits for an upgrade of the database, see `TimeoutStartSec`."""
_FILE = 0o600
_FOLDER = 0o700


class ServiceFailed(GraphMemoryError):
    """The service manager was asked and could not do it; the text says what it said."""


@dataclass(frozen=True, slots=True)
class ServiceState:
    """How the service is doing. `is_current`: its file is what would be written now.

    `problem` is what a person should know, in words, with what to do about it.
    """

    name: str
    file: Path
    is_installed: bool
    is_current: bool = False
    is_enabled: bool = False
    is_running: bool = False
    pid: int | None = None
    detail: str = ""
    problem: str = ""
    stops_at_logout: bool = False


class Installed(NamedTuple):
    """What an installation came to."""

    file: Path
    is_changed: bool
    is_started: bool


class ServiceManager(Protocol):
    """A user's service manager, with the one service of one home."""

    @property
    def file(self) -> Path:
        """Return where the service's file lies, or would."""

    def content(self) -> str:
        """Return the file as it would be written now; changes nothing."""

    def is_active(self) -> bool:
        """Tell whether the service runs."""

    def install(self) -> Installed:
        """Write the file, have it started now and at every login; again without a change it does nothing.

        Raises:
            Unavailable: there is no service manager to be asked.
            ServiceFailed: the service did not start.
        """

    def uninstall(self) -> bool:
        """Stop the service and remove its file; `False` where there was none."""

    def state(self) -> ServiceState:
        """Return how the service is doing."""

    def words(self, lines: int) -> Sequence[str] | None:
        """Return the command that shows what the service said outside of its own log; `None`: there is none."""


class Answer(NamedTuple):
    """How a program ended, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """The last line of its complaint."""
        lines = [line for line in (self.err or self.out).splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"exit status {self.status}"


class Programs:
    """Runs programs by their names, looked up on the PATH of an environment; never through a shell."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {**environ, "LC_ALL": "C", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""}

    def has(self, name: str) -> bool:
        """Tell whether there is a program of that name."""
        return self._find(name) is not None

    def call(self, *words: str) -> Answer:
        """Run a program to its end.

        Raises:
            Unavailable: there is no such program, or it does not end.
        """
        program = self._find(words[0])
        if program is None:
            raise Unavailable(f"there is no {words[0]} here")
        try:
            done = subprocess.run(  # noqa: S603 - a list of words, none of them from stored text
                [program, *words[1:]],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=_PATIENCE,
                env=self._environ,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(f"{words[0]} did not end within {_PATIENCE:g} s") from None
        return Answer(done.returncode, done.stdout, done.stderr)

    def _find(self, name: str) -> str | None:
        return shutil.which(name, path=self._environ.get("PATH", os.defpath))


def write_whole(path: Path, content: bytes) -> bool:
    """Write a file at once; `False`, and nothing done, where it has that content already."""
    with suppress(OSError):
        if path.read_bytes() == content:
            return False
    path.parent.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    put_file(path, content, mode=_FILE)
    return True
