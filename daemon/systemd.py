"""Telling systemd that the daemon is ready, alive, reading its settings anew, or about to stop.

The protocol is one datagram. The libraries for it are a package last released in 2017 and one that needs a compiler and
systemd's headers, so these lines are ours.
"""

import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress

READY = "READY=1"
STOPPING = "STOPPING=1"
ALIVE = "WATCHDOG=1"
_MICROSECONDS = 1_000_000


def notify(state: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Send a state to the service manager, if there is one; return whether it took it."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(state.encode(), "\0" + address[1:] if address[0] == "@" else address)
        return True
    return False


def reloading() -> str:
    """Return the state of a daemon that reads its settings anew; `READY` ends it.

    It holds when that began, on the clock that systemd goes by: so an answer to an older signal is not taken for one.
    """
    return f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000}"


def watchdog_seconds(environ: Mapping[str, str] = os.environ) -> float | None:
    """Return within how many seconds the service manager wants a sign of life, if it does."""
    limit, process = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", "")
    if not limit.isdecimal() or (process and process != str(os.getpid())):
        return None
    return int(limit) / _MICROSECONDS
