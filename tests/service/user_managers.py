"""A systemd of the user's own for a test: the one that runs already, or, where somebody asks for it, a private one.

A systemd that is started takes every process of its own control group into a new one, `init.scope`, in all hierarchies.
Started by root where no group was made for it, that is everything that runs beside it, the first process too. So a
private one is started only where `GRAPH_MEMORY_TEST_PRIVATE_SYSTEMD` says that the machine is one to throw away, never
by root, and only from a group that nothing else is in.
"""

import os
import pwd
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

COMMAND = Path(sys.executable).with_name("graph-memory")
BOUND = 120.0
SYSTEMD = next((it for it in ("/usr/lib/systemd/systemd", "/lib/systemd/systemd") if Path(it).exists()), None)

ASKED = "GRAPH_MEMORY_TEST_PRIVATE_SYSTEMD"
CORNER = """
set -e
alone=
while IFS=: read -r _ name path; do
  case "$name" in
    name=systemd) root=/sys/fs/cgroup/systemd;;
    "") root=/sys/fs/cgroup/unified; [ -d "$root" ] || root=/sys/fs/cgroup;;
    *) continue;;
  esac
  mkdir "$root$path/$GROUP" && echo $$ > "$root$path/$GROUP/cgroup.procs"
done < /proc/self/cgroup
while IFS=: read -r _ name path; do
  case "$name" in name=systemd|"") case "$path" in */"$GROUP") alone=yes;; *) exit 3;; esac;; esac
done < /proc/self/cgroup
[ -n "$alone" ] || exit 3
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
        NoManager: this can't be done here, or nobody asked for it.
    """
    if not os.environ.get(ASKED):
        raise NoManager(f"none runs, and {ASKED} does not ask for a private one")
    if os.geteuid() == 0:
        raise NoManager("root's would take what runs beside it into groups of its own; ask as another user")
    for program in ("unshare", "nsenter", "systemctl"):
        if shutil.which(program) is None:
            raise NoManager(f"{program} is not installed")
    if SYSTEMD is None:
        raise NoManager("systemd is not installed")
    # Who asks is root in a namespace of users, and nowhere else.
    environ = {"XDG_RUNTIME_DIR": "/run/user/0", "XDG_CONFIG_HOME": str(folder / "config")}
    group = f"graph-memory-test-{token_hex(4)}"
    namespaces = ["--mount", "--map-root-user"]
    with (folder / "systemd.log").open("wb") as log:
        process = subprocess.Popen(
            ["unshare", *namespaces, "--", "sh", "-c", CORNER],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **environ, "GROUP": group, "SYSTEMD": SYSTEMD, "SYSTEMD_LOG_TARGET": "console"},
        )
    inside = ("nsenter", f"--target={process.pid}", "--mount", "--user")
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
        _remove_groups(group)


def _remove_groups(name: str) -> None:
    """Remove the groups that were made, innermost first."""
    for group in Path("/sys/fs/cgroup").rglob(name):
        folders = [it for it in group.rglob("*") if it.is_dir()]
        for folder in (*sorted(folders, key=lambda it: len(it.parts), reverse=True), group):
            with suppress(OSError):
                folder.rmdir()
