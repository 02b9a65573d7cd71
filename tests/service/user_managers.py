"""A systemd of the user's own for a test: the one that runs already, else one in a corner of the file system."""

import os
import pwd
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

COMMAND = Path(sys.executable).with_name("graph-memory")
BOUND = 120.0
SYSTEMD = next((it for it in ("/usr/lib/systemd/systemd", "/lib/systemd/systemd") if Path(it).exists()), None)

CORNER = """
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system /run/systemd/unit-root /run/systemd/propagate /run/systemd/incoming "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
exec "$SYSTEMD" --user
"""
"""What a machine that systemd has booted has, as far as a user's manager looks for it."""


class NoManager(Exception):
    """None runs and none can be started; the text says why."""


@dataclass(frozen=True)
class UserManager:
    """A manager, and how to run something beside it."""

    environ: Mapping[str, str]
    prefix: tuple[str, ...] = ()
    can_sandbox: bool = field(default=False)

    def run(self, *words: str | Path, **environ: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*self.prefix, *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=BOUND,
            env={**os.environ, **self.environ, **environ},
        )

    def systemctl(self, *words: str) -> str:
        done = self.run("systemctl", "--user", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def shown(self, unit: str, name: str) -> str:
        return self.systemctl("show", unit, f"--property={name}", "--value")


def running_manager() -> UserManager | None:
    """Return the manager that runs for this user, if one does."""
    if shutil.which("systemctl") is None:
        return None
    home = pwd.getpwuid(os.geteuid()).pw_dir
    configured = os.environ.get("XDG_CONFIG_HOME", f"{home}/.config")
    manager = UserManager({"XDG_CONFIG_HOME": configured})
    return manager if manager.run("systemctl", "--user", "show", "--property=Version").returncode == 0 else None


@contextmanager
def private_manager(folder: Path) -> Iterator[UserManager]:
    """Start a manager that nothing else knows of.

    Raises:
        NoManager: this can't be done here.
    """
    for program in ("unshare", "nsenter", "systemctl"):
        if shutil.which(program) is None:
            raise NoManager(f"{program} is not installed")
    if SYSTEMD is None:
        raise NoManager("systemd is not installed")
    user = "0" if os.geteuid() else str(os.geteuid())  # who is not root is root in a namespace of users
    environ = {"XDG_RUNTIME_DIR": f"/run/user/{user}", "XDG_CONFIG_HOME": str(folder / "config")}
    namespaces = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
    with (folder / "systemd.log").open("wb") as log:
        process = subprocess.Popen(
            ["unshare", *namespaces, "--", "sh", "-c", CORNER],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **environ, "SYSTEMD": SYSTEMD, "SYSTEMD_LOG_TARGET": "console"},
        )
    inside = ("nsenter", f"--target={process.pid}", "--mount", *(() if os.geteuid() == 0 else ("--user",)))
    manager = UserManager(environ, inside)
    try:
        until = time.monotonic() + 20
        while manager.run("systemctl", "--user", "show", "--property=Version").returncode:
            if process.poll() is not None or time.monotonic() > until:
                said = (folder / "systemd.log").read_text(errors="replace").strip().splitlines()
                raise NoManager(f"systemd --user does not start here: {said[-1] if said else process.poll()}")
            time.sleep(0.1)
        yield manager
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
