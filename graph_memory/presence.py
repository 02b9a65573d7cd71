"""Whether a daemon has a home, and how it says it is doing: for everybody who only looks.

Who has a home is told by a lock, which the system lets go of when its holder dies, and by a file that names the last
one that took it. How that one is doing it says itself, over a Unix socket, and nobody else: there is no second copy of
it to be out of date. The socket speaks lines of JSON; `PROTOCOL` is the version of what stands in them.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import orjson
from filelock import FileLock, Timeout

from graph_memory.domain.errors import Unavailable

if TYPE_CHECKING:
    from graph_memory.home import Home

PROTOCOL = 1
"""Version of requests and replies; a field more does not change it."""
PATIENCE = 2.0
"""Seconds that a client waits for an answer: a daemon answers within milliseconds unless its machine is swamped."""
SILENT = "status socket: the daemon runs and does not answer; its log may say why"
"""What is degraded where somebody has the home and can't be asked."""
LONGEST_REPLY = 16_777_216
_PIECE = 65_536
_MODE = 0o600
_PEER_LINUX = struct.Struct("3i")
_SOL_LOCAL, _LOCAL_PEERCRED, _PEER_MAC = 0, 1, struct.Struct("=II")
_XUCRED_BYTES = 76


@dataclass(frozen=True, slots=True)
class Holder:
    """The daemon that took a home last; `started_at` is ISO-8601."""

    pid: int
    version: str
    started_at: str


@dataclass(frozen=True, slots=True)
class SeenError:
    """Warnings and errors of one kind since the daemon began: how many, and when the last one was.

    `kind` is the event's name in the log, `reference` what to look for there, where the line has one.
    """

    kind: str
    level: str
    count: int
    last_at: str
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class DaemonState:
    """How a daemon is doing; instants are ISO-8601, sizes bytes but for `memory_mb`, shares are in cores.

    `items_last_minute` and `cpu_share` are what the backlog took of the machine in the minute before;
    `items_per_minute` and `bytes_per_minute` what was learned of everything, and `process_cpu_share` what the whole
    process took. `budget` has what is used of each ceiling, and the ceiling; `disk` what is free where the home is, and
    with how little nothing is learned. `problems` are the parts that work less well than they should, with the reason.
    `work` is what the store says, in the shape of `graph-memory status --json`: queue, cursors, jobs; empty where it
    could not be asked.
    """

    pid: int
    version: str
    started_at: str
    seen_at: str
    activity: str
    backlog: int = 0
    learned: int = 0
    failed: int = 0
    memory_mb: int = 0
    problems: tuple[str, ...] = ()
    items_last_minute: int = 0
    cpu_share: float = 0.0
    items_per_minute: int = 0
    bytes_per_minute: int = 0
    learned_bytes: int = 0
    memory_bytes: int = 0
    descriptors: int = 0
    threads: int = 0
    process_cpu_share: float = 0.0
    cpu_seconds: float = 0.0
    database_bytes: int = 0
    wal_bytes: int = 0
    budget: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    disk: Mapping[str, int] = field(default_factory=dict)
    errors: tuple[SeenError, ...] = ()
    work: Mapping[str, Any] = field(default_factory=dict)


def is_held(home: Home) -> bool:
    """Tell whether a daemon has this home now; makes nothing."""
    if not home.lock.is_file():
        return False
    lock = FileLock(home.lock, timeout=0, mode=_MODE)
    try:
        lock.acquire()
    except Timeout:
        return True
    lock.release()
    return False


def find_holder(home: Home) -> Holder | None:
    """Return who took the home last; `None` where that one ended as it should, or it can't be read."""
    try:
        written = orjson.loads(home.daemon_state.read_bytes())
        return Holder(int(written["pid"]), str(written["version"]), str(written["started_at"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def find_state(home: Home, *, patience: float = PATIENCE) -> DaemonState | None:
    """Ask the daemon of a home how it is doing; `None` where none runs or none answers within `patience` seconds."""
    try:
        return ask_state(home, patience=patience)
    except Unavailable:
        return None


def ask_state(home: Home, *, patience: float = PATIENCE) -> DaemonState:
    """Ask the daemon of a home how it is doing.

    Raises:
        Unavailable: none answers; the text says why.
    """
    told = ask(home, "status", patience=patience).get("status")
    try:
        return _state(told)
    except (TypeError, ValueError, AttributeError):
        raise Unavailable("the daemon's answer is not understood; it may be of another version: restart it") from None


def ask(home: Home, what: str, *, patience: float = PATIENCE) -> Mapping[str, Any]:
    """Send one request to a home's daemon and return the reply.

    Raises:
        Unavailable: nobody answers, not in time, not as its owner, or the daemon refuses.
    """
    until = time.monotonic() + patience
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
            channel.settimeout(patience)
            channel.connect(os.fspath(home.socket))
            if peer_uid(channel) != os.geteuid():
                raise Unavailable(f"{home.socket} belongs to another user")
            channel.sendall(orjson.dumps({"v": PROTOCOL, "ask": what}, option=orjson.OPT_APPEND_NEWLINE))
            reply = orjson.loads(_line(channel, until))
    except TimeoutError:
        raise Unavailable(f"the daemon did not answer within {patience:g} s") from None
    except FileNotFoundError:
        raise Unavailable(f"there is no socket {home.socket}") from None
    except OSError as error:
        raise Unavailable(f"the daemon does not answer on {home.socket}: {error.strerror}") from None
    except ValueError:
        raise Unavailable("the daemon's answer is not understood; it may be of another version: restart it") from None
    if not isinstance(reply, dict) or reply.get("ok") is not True:
        why = reply.get("error") if isinstance(reply, dict) else None
        raise Unavailable(f"the daemon refuses to answer: {why or 'it does not say why'}")
    return reply


def peer_uid(channel: socket.socket) -> int:
    """Return the user at the other end of a Unix socket, as the system knows it.

    Raises:
        OSError: the system can't tell.
    """
    if sys.platform == "linux":
        _pid, uid, _gid = _PEER_LINUX.unpack(channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    else:
        told = channel.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES)
        _version, uid = _PEER_MAC.unpack(told[: _PEER_MAC.size])
    return int(uid)


def _line(channel: socket.socket, until: float) -> bytes:
    """Read to the end of the first line, whatever the pace at which it comes."""
    read = bytearray()
    while not read.endswith(b"\n"):
        channel.settimeout(max(until - time.monotonic(), 0.001))
        piece = channel.recv(_PIECE)
        read += piece
        if not piece or len(read) > LONGEST_REPLY:
            raise ValueError("a reply that does not end")
    return bytes(read)


def _state(told: object) -> DaemonState:
    """Read a state as far as it is known: a newer daemon may tell more."""
    if not isinstance(told, dict):
        raise TypeError("a state is an object")
    known = {it.name for it in fields(DaemonState)}
    given: dict[str, Any] = {name: value for name, value in told.items() if name in known}
    kinds = {it.name for it in fields(SeenError)}
    given["problems"] = tuple(str(it) for it in given.get("problems", ()))
    given["errors"] = tuple(
        SeenError(**{name: value for name, value in it.items() if name in kinds}) for it in given.get("errors", ())
    )
    return DaemonState(**given)
