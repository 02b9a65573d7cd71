"""The unit that runs the daemon under a user's systemd.

What a user's manager grants was tried with an unprivileged one. Filters on system calls always work. Whatever needs a
view of the file system of its own (`ProtectSystem` and its kin) needs a user namespace (`PrivateUsers`), which not
every machine lets a user have: without one the manager ignores some of them in silence and fails the start for others.
So of those only what a trial has shown to work is written, see `systemd_user`.
"""

from collections.abc import Sequence
from pathlib import Path

from daemon.exits import Exit
from daemon.service.installation import Installation

MARGIN_MB = 100
"""What the two memory ceilings of the unit leave above those that the daemon keeps itself."""
_SANDBOX_TITLE = (
    "# What needs a user namespace, as far as this machine grants it: the system read-only, nothing of others."
)
_CPU_WEIGHT = _IO_WEIGHT = 20
_NICE = 10
_TEMPORARY = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - compared with, not written to

NAMESPACE = "PrivateUsers=yes"
SANDBOX: tuple[str, ...] = (
    NAMESPACE,
    "CapabilityBoundingSet=",
    "PrivateDevices=yes",
    "PrivateIPC=yes",
    "PrivateMounts=yes",
    "ProtectClock=yes",
    "ProtectControlGroups=yes",
    "ProtectHome=read-only",
    "ProtectHostname=yes",
    "ProtectKernelLogs=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelTunables=yes",
    "ProtectProc=invisible",
    "ProtectSystem=strict",
    "RemoveIPC=yes",
)
"""Properties that need a user namespace. Not among them: `ProcSubset=pid`, which hides the limits of inotify."""


def sandbox_of(installation: Installation) -> tuple[str, ...]:
    """Return the properties that need a user namespace, for this installation."""
    used = (*installation.writable, *installation.readable)
    is_tmp_shared = any(it in (path, *path.parents) for path in used for it in _TEMPORARY)
    return (
        *SANDBOX,
        *(() if is_tmp_shared else ("PrivateTmp=yes",)),
        *(() if installation.needs_network else ("PrivateNetwork=yes",)),
        # "-": a home that somebody deleted is for the daemon to tell, which ends with 78.
        *(f"ReadWritePaths={quoted(f'-{path}')}" for path in installation.writable),
    )


def systemd_unit(installation: Installation, sandbox: Sequence[str]) -> str:
    """Return the unit file of an installation, with those properties of its sandbox that are granted here."""
    program, *words = installation.command
    start = " ".join((quoted(program), *(quoted(it).replace("$", "$$") for it in words)))
    most = installation.memory_mb + MARGIN_MB
    environment = [f"Environment={quoted(f'{name}={text}')}" for name, text in installation.environment.items()]
    families = "AF_UNIX AF_INET AF_INET6" if installation.needs_network else "AF_UNIX"
    lines = [
        "# Written by `graph-memory service install`, which writes it anew.",
        "[Unit]",
        "Description=graph-memory: the memory of coding agents",
        "# Ten tries, half a minute apart; then it waits for somebody to look.",
        "StartLimitIntervalSec=600",
        "StartLimitBurst=10",
        "",
        "[Service]",
        "Type=notify",
        "NotifyAccess=main",
        f"ExecStart={start}",
        "ExecReload=kill -HUP $MAINPID",
        *environment,
        "Restart=on-failure",
        "RestartSec=30",
        f"# {Exit.CONFIG}: settings or home folder must be mended first; trying again mends nothing.",
        f"RestartPreventExitStatus={Exit.CONFIG}",
        "# An upgrade of the database, with the backup before it, belongs to the start.",
        "TimeoutStartSec=900",
        "TimeoutStopSec=60",
        "WatchdogSec=60",
        "# The daemon ends its readers itself; what is left after it is killed.",
        "KillMode=mixed",
        "OOMPolicy=continue",
        "",
        "# It stays behind what you do.",
        f"Nice={_NICE}",
        f"CPUWeight={_CPU_WEIGHT}",
        f"IOWeight={_IO_WEIGHT}",
        f"MemoryHigh={most}M",
        f"MemoryMax={most + most // 4}M",
        "TasksMax=200",
        "LimitCORE=0",
        "",
        "# What any user's manager grants: filters on system calls.",
        "UMask=0077",
        "NoNewPrivileges=yes",
        "KeyringMode=private",
        "LockPersonality=yes",
        *(() if installation.compiles else ("MemoryDenyWriteExecute=yes",)),
        "RestrictNamespaces=yes",
        "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes",
        "SystemCallArchitectures=native",
        "SystemCallErrorNumber=EPERM",
        "SystemCallFilter=@system-service",
        "SystemCallFilter=~@privileged @resources",
        f"RestrictAddressFamilies={families}",
        *(("", _SANDBOX_TITLE, *sandbox) if sandbox else ()),
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """Return a text as one word of a unit file."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
