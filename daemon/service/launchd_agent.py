"""The agent that runs the daemon under macOS's launchd."""

import os
import plistlib
from contextlib import suppress
from pathlib import Path

from daemon.service.installation import Installation

SERVICE_LOG = "service.log"
_MOST_BYTES = 1_000_000
_THROTTLE_SECONDS = 60
_STOP_SECONDS = 60
_NICE = 10
_UMASK = 0o077


def launchd_agent(installation: Installation) -> bytes:
    """Return the property list of an installation.

    launchd knows no exit status that means "mend me first": a daemon that ends with one is tried once a minute, which
    costs a fraction of a second, and works again as soon as it is mended. One that was asked to end stays ended.
    """
    log = str(service_log(installation.home.logs))
    return plistlib.dumps(
        {
            "Label": installation.name,
            "ProgramArguments": list(installation.command),
            "EnvironmentVariables": dict(installation.environment),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": _THROTTLE_SECONDS,
            "ExitTimeOut": _STOP_SECONDS,
            "ProcessType": "Background",
            "LowPriorityIO": True,
            "LowPriorityBackgroundIO": True,
            "Nice": _NICE,
            "Umask": _UMASK,
            "StandardOutPath": log,
            "StandardErrorPath": log,
        },
        sort_keys=False,
    )


def service_log(logs: Path) -> Path:
    """Return the file that launchd appends the daemon's first and last words to."""
    return logs / SERVICE_LOG


def trim_service_log(logs: Path) -> None:
    """Empty that file once it is large: launchd appends to it for ever, every minute where a daemon can't start."""
    with suppress(OSError):
        if service_log(logs).stat().st_size > _MOST_BYTES:
            os.truncate(service_log(logs), 0)
