"""The service under macOS's launchd, as an agent of the user's own."""

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from daemon.exits import Exit
from daemon.service.installation import Installation
from daemon.service.launchd_agent import launchd_agent, service_log
from daemon.service.manager import Answer, Installed, Programs, ServiceFailed, ServiceState, write_whole
from graph_memory.domain.errors import Unavailable

_GONE_WITHIN = 70.0
"""Seconds for a stopped agent to be gone, which includes the time that it has for its end."""
_LOOK_EVERY = 0.2


class Launchd:
    """The agent of one home."""

    def __init__(
        self, installation: Installation, environ: Mapping[str, str], *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._installation, self._pause = installation, pause
        self._programs = Programs(environ)
        self._domain = f"gui/{os.geteuid()}"
        self._target = f"{self._domain}/{installation.name}"

    @property
    def file(self) -> Path:
        """Where the agent's property list lies."""
        return Path.home() / "Library" / "LaunchAgents" / f"{self._installation.name}.plist"

    def content(self) -> str:
        """Return the property list."""
        return launchd_agent(self._installation).decode()

    def is_active(self) -> bool:
        """Tell whether the agent runs."""
        return self._problem is None and "running" in self._shown().get("state", "")

    def install(self) -> Installed:
        """Write the property list and load it, anew where it has changed: launchd reads it when it is loaded."""
        if self._problem is not None:
            raise Unavailable(self._problem)
        is_changed = write_whole(self.file, self.content().encode())
        is_started = is_changed or not self._is_loaded()
        if is_started:
            self._unload()
            self._launchctl("enable", self._target)  # or one that was disabled once is not loaded
            answer = self._launchctl("bootstrap", self._domain, str(self.file))
            if answer.status:
                raise ServiceFailed(f"launchctl bootstrap failed: {answer.said}")
        elif not self.is_active():
            self._launchctl("kickstart", self._target)
            is_started = True
        return Installed(self.file, is_changed, is_started)

    def uninstall(self) -> bool:
        """Unload the agent, which stops it, and remove its property list."""
        is_there = self.file.exists()
        if self._problem is None:
            is_there = self._unload() or is_there
        self.file.unlink(missing_ok=True)
        return is_there

    def state(self) -> ServiceState:
        """Return how the agent is doing."""
        is_installed = self.file.is_file()
        if self._problem is not None:
            return ServiceState(self._installation.name, self.file, is_installed, problem=self._problem)
        shown = self._shown()
        state, pid = shown.get("state", ""), shown.get("pid", "")
        return ServiceState(
            self._installation.name,
            self.file,
            is_installed,
            is_current=is_installed and self.file.read_bytes() == launchd_agent(self._installation),
            is_enabled=bool(shown),
            is_running="running" in state,
            pid=int(pid) if pid.isdecimal() else None,
            detail=state,
            problem=_why(shown.get("last exit code", "")) if shown and "running" not in state else "",
        )

    def words(self, lines: int) -> Sequence[str] | None:
        """Return the command that shows what launchd appended to a file."""
        log = service_log(self._installation.home.logs)
        return ("tail", "-n", str(lines), str(log)) if log.is_file() else None

    @cached_property
    def _problem(self) -> str | None:
        """Why launchd can't be asked, if so."""
        remedy = "`graph-memory run` runs the daemon without one"
        if not self._programs.has("launchctl"):
            return f"there is no launchctl here, so no service manager that this program knows; {remedy}"
        asked = self._launchctl("print", self._domain)
        if asked.status:
            return f"launchd has no session of yours ({asked.said}): log in at the screen once, or do without: {remedy}"
        return None

    def _is_loaded(self) -> bool:
        return self._launchctl("print", self._target).status == 0

    def _unload(self) -> bool:
        """Have the agent stopped and forgotten, and wait until it is; `False` where it was not loaded."""
        if not self._is_loaded():
            return False
        self._launchctl("bootout", self._target)
        until = time.monotonic() + _GONE_WITHIN
        while self._is_loaded():
            if time.monotonic() >= until:
                raise ServiceFailed(f"the service did not end within {_GONE_WITHIN:g} s")
            self._pause(_LOOK_EVERY)
        return True

    def _shown(self) -> Mapping[str, str]:
        answer = self._launchctl("print", self._target)
        pairs = re.findall(r"^\t([a-z ]+) = (.*)$", answer.out, re.MULTILINE) if answer.status == 0 else []
        return dict(reversed(pairs))  # the first of a name is the agent's own

    def _launchctl(self, *words: str) -> Answer:
        return self._programs.call("launchctl", *words)


def _why(status: str) -> str:
    if status.startswith(str(int(Exit.CONFIG))):
        return "its settings or home folder must be mended first; `graph-memory doctor` says how"
    if status in ("", "0", "(never exited)"):
        return ""
    return f"it ended with {status}; `graph-memory service logs` shows what it said"
