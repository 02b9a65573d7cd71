"""The service under systemd, as one of the user's own."""

import os
import pwd
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from daemon.exits import Exit
from daemon.service.installation import Installation
from daemon.service.manager import Answer, Installed, Programs, ServiceFailed, ServiceState, write_whole
from daemon.service.systemd_unit import NAMESPACE, sandbox_of, systemd_unit
from graph_memory.domain.errors import Unavailable

_ASKED = "LoadState,ActiveState,SubState,UnitFileState,MainPID,Result,ExecMainStatus,NeedDaemonReload"
_RUNNING = frozenset({"active", "reloading"})
_STARTING = frozenset({"start", "start-pre", "start-post"})
"""On the way to being ready, and not waiting for the next try."""
_NAMESPACE_STATUSES = frozenset({217, 218, 226})
"""What systemd ends a service with that it can't give its own users, capabilities or file systems."""


class SystemdUser:
    """The unit of one home; `environ` says where units lie and how the manager is reached."""

    def __init__(self, installation: Installation, environ: Mapping[str, str]) -> None:
        self._installation = installation
        self._programs = Programs(environ)
        configured = environ.get("XDG_CONFIG_HOME")
        self._units = (Path(configured) if configured else Path.home() / ".config") / "systemd" / "user"
        self._unit = f"{installation.name}.service"

    @property
    def file(self) -> Path:
        """Where the unit lies."""
        return self._units / self._unit

    def content(self) -> str:
        """Return the unit, with as much of the sandbox as the manager grants."""
        return systemd_unit(self._installation, self._granted)

    def is_active(self) -> bool:
        """Tell whether the service runs, or is about to."""
        shown = self._shown() if self._problem is None else {}
        return shown.get("ActiveState") in _RUNNING or shown.get("SubState") in _STARTING

    def install(self) -> Installed:
        """Write the unit, enable it, and start it, or start it anew where it has changed."""
        self._require_manager()
        is_changed = write_whole(self.file, self.content().encode())
        if is_changed or self._shown().get("NeedDaemonReload") == "yes":
            self._must("daemon-reload")
        self._must("enable", "--quiet", self._unit)
        is_started = is_changed or not self.is_active()
        if is_started:
            self._systemctl("reset-failed", self._unit)  # or a unit that failed too often is not tried again
            if self._systemctl("restart", self._unit).status:
                raise ServiceFailed(f"the service did not start: {self._why(self._shown())}")
        return Installed(self.file, is_changed, is_started)

    def uninstall(self) -> bool:
        """Stop and disable the unit and remove its file; without a manager to ask, the file and its link."""
        is_there = self.file.exists()
        if self._problem is None:
            is_there = is_there or self._shown().get("LoadState") == "loaded"
            if is_there:
                self._systemctl("disable", "--now", "--quiet", self._unit)
        self.file.unlink(missing_ok=True)
        (self._units / "default.target.wants" / self._unit).unlink(missing_ok=True)
        if is_there and self._problem is None:
            self._must("daemon-reload")
            self._systemctl("reset-failed", self._unit)
        return is_there

    def state(self) -> ServiceState:
        """Return how the service is doing; without a manager to ask, whether its file is there."""
        is_installed = self.file.is_file()
        if self._problem is not None:
            return ServiceState(self._installation.name, self.file, is_installed, problem=self._problem)
        shown = self._shown()
        is_running = shown.get("ActiveState") in _RUNNING or shown.get("SubState") in _STARTING
        pid = int(shown.get("MainPID") or 0)
        return ServiceState(
            self._installation.name,
            self.file,
            is_installed,
            is_current=is_installed and self._is_current(),
            is_enabled=shown.get("UnitFileState") == "enabled",
            is_running=is_running,
            pid=pid or None,
            detail=f"{shown.get('ActiveState', '')} ({shown.get('SubState', '')})" if is_installed else "",
            problem=self._why(shown) if is_installed and not is_running else "",
            stops_at_logout=is_installed and self._stops_at_logout(),
        )

    def words(self, lines: int) -> Sequence[str] | None:
        """Return the command that shows the journal of the unit."""
        if not self._programs.has("journalctl"):
            return None
        return ("journalctl", "--user", "--no-pager", "--quiet", "--lines", str(lines), "--unit", self._unit)

    @cached_property
    def _problem(self) -> str | None:
        """Why no manager can be asked, if so."""
        remedy = "`graph-memory run` runs the daemon without one"
        if not self._programs.has("systemctl"):
            return f"there is no systemctl here, so no service manager of yours that this program knows; {remedy}"
        asked = self._systemctl("show", "--property=Version")
        if asked.status:
            return (
                f"no service manager of yours answers ({asked.said}): containers, `su` and `sudo` often have none. "
                f"Log in as yourself, or do without: {remedy}"
            )
        return None

    @cached_property
    def _granted(self) -> Sequence[str]:
        """What of the sandbox the manager can start something in: trials say so, no version number does."""
        wanted = sandbox_of(self._installation)
        if self._problem is not None or not self._programs.has("systemd-run") or not self._starts_with([NAMESPACE]):
            return ()
        if self._starts_with(wanted):
            return wanted
        single = [it for it in wanted if it == NAMESPACE or self._starts_with([NAMESPACE, it])]
        return single if self._starts_with(single) else ()

    def _starts_with(self, properties: Sequence[str]) -> bool:
        given = [f"--property={it}" for it in properties]
        words = ("systemd-run", "--user", "--wait", "--collect", "--quiet", *given, "--", sys.executable, "-c", "")
        return self._programs.call(*words).status == 0

    def _require_manager(self) -> None:
        if self._problem is not None:
            raise Unavailable(self._problem)

    def _is_current(self) -> bool:
        written = self.file.read_text(encoding="utf-8", errors="replace")
        granted = [it for it in sandbox_of(self._installation) if it in written.splitlines()]
        return written == systemd_unit(self._installation, granted)

    def _stops_at_logout(self) -> bool:
        if not self._programs.has("loginctl"):
            return False
        answer = self._programs.call("loginctl", "show-user", "--property=Linger", "--value", _user())
        return answer.status == 0 and answer.out.strip() == "no"

    def _why(self, shown: Mapping[str, str]) -> str:
        status = int(shown.get("ExecMainStatus") or 0)
        if status == Exit.CONFIG:
            return "its settings or home folder must be mended first; `graph-memory doctor` says how"
        if status == Exit.BUSY:
            return "something else holds what it needs, such as another daemon; `graph-memory status` shows it"
        if status in _NAMESPACE_STATUSES:
            return f"this machine no longer grants its sandbox (status {status}); `graph-memory service install` again"
        what = shown.get("Result") or "failed"
        if what == "success":
            return "it was stopped; `graph-memory service install` starts it"
        return f"{what}, exit status {status}; `graph-memory service logs` shows what it said"

    def _shown(self) -> Mapping[str, str]:
        answer = self._systemctl("show", self._unit, f"--property={_ASKED}")
        return dict(re.findall(r"^(\w+)=(.*)$", answer.out, re.MULTILINE))

    def _must(self, *words: str) -> None:
        answer = self._systemctl(*words)
        if answer.status:
            raise ServiceFailed(f"systemctl {words[0]} failed: {answer.said}")

    def _systemctl(self, *words: str) -> Answer:
        return self._programs.call("systemctl", "--user", *words)


def _user() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name
