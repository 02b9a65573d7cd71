"""A server over standard input and output ends with its client, however that ends.

A client that closes its end is the easy case: the protocol's stream ends, and what is still at hand is answered to
nobody. But a call that waits for a busy store can go on for half a minute then, and a client can be killed while
something it started still holds the other end open. So a thread looks about once a second whether whoever started this
process is still there and asks, and ends it where that is not so. Nothing acknowledged is lost by that: an open
transaction is rolled back, as after any kill.
"""

import os
import select
import stat
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

LOOK_SECONDS = 0.8
"""How often it is looked whether the client is there; with the patience below, it takes under two seconds to leave."""
PATIENCE = 0.6
"""Seconds that a call at hand, and then the audit, have to come to an end."""
_SETTLED_SECONDS = 1.0
"""When it is found out who the client is: after the first question, which nothing may slow down."""
LAUNCHERS = frozenset(
    {"sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "zsh", "env", "nice", "nohup", "stdbuf", "timeout"}
    | {"pipx", "uv", "uvx"}
)
"""What stands between a client and the server that it starts: the client is who started these."""
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class ClientWatch:
    """Watches the client of this process; where it is gone, calls `leave` and ends the process.

    Make it before anybody reads standard input: it keeps the stream and the parent that it finds.
    """

    def __init__(self, leave: Callable[[], object]) -> None:
        self._leave = leave
        self._parent = os.getppid()
        self._input = _duplicate(0)
        self._started_at = time.monotonic()
        self._ancestors: Sequence[psutil.Process] | None = None

    def start(self) -> None:
        """Begin to watch, in a thread that keeps nothing alive."""
        threading.Thread(target=self._watch, name="client-watch", daemon=True).start()

    def _watch(self) -> None:
        while not self._is_client_gone():
            time.sleep(LOOK_SECONDS)
        time.sleep(PATIENCE / 2)  # what is at hand may come to an end, and the whole process with it
        closing = threading.Thread(target=self._leave, daemon=True)
        closing.start()
        closing.join(PATIENCE / 2)
        os._exit(0)

    def _is_client_gone(self) -> bool:
        if os.getppid() != self._parent or _has_ended(self._input):
            return True
        return any(not _is_alive(it) for it in self._known_ancestors())

    def _known_ancestors(self) -> "Sequence[psutil.Process]":
        """Return the ancestors that must live: the launchers between us and the client, and the client itself."""
        if self._ancestors is None and time.monotonic() - self._started_at >= _SETTLED_SECONDS:
            self._ancestors = _ancestors(self._parent)
        return self._ancestors or ()


def _ancestors(parent: int) -> "Sequence[psutil.Process]":
    import psutil

    found: list[psutil.Process] = []
    try:
        process: psutil.Process | None = psutil.Process(parent)
        while process is not None and process.pid > 1:
            found.append(process)
            if process.name() not in LAUNCHERS:
                break
            process = process.parent()
    except psutil.Error:
        pass  # gone meanwhile, or not ours to look at: those found are watched
    return found


def _is_alive(process: "psutil.Process") -> bool:
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True


def _duplicate(descriptor: int) -> int | None:
    """Return a descriptor of our own: the protocol puts something else in the place of the standard ones."""
    try:
        return os.dup(descriptor)
    except OSError:
        return None


def _has_ended(descriptor: int | None) -> bool:
    """Tell whether the other end of a pipe or socket is closed, and all that came through it was read.

    Of anything else the end can't be told. A socket that is closed can be read for ever, and so says nothing of a rest.
    """
    if descriptor is None:
        return False
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    events = next((it for _, it in poll.poll(0)), 0)
    has_rest = events & select.POLLIN and stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    return bool(events & _GONE) and not has_rest
