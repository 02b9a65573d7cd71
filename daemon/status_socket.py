"""The socket on which the daemon says how it is doing: lines of JSON, for its own user alone.

A client sends `{"v": 1, "ask": "status"}` and a newline, and gets one line back; it may ask again on the same
connection. Whatever a client does (says nothing, asks for more than it reads, sends megabytes, opens a hundred
connections), it costs a bounded amount for a bounded time, and the others are answered. A socket file that is removed
is made again.
"""

import asyncio
import os
import socket
import stat
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from errno import EEXIST, ENOENT
from pathlib import Path
from typing import Any

import orjson

from graph_memory.domain.errors import ConfigError
from graph_memory.home import Home
from graph_memory.log import get_logger
from graph_memory.presence import PROTOCOL, DaemonState, peer_uid

LONGEST_REQUEST = 4_096
PATIENCE = 5.0
"""Seconds in which a client has to send its line and take the reply."""
MOST_CLIENTS = 16
"""Clients at once; one more ends the connection that was opened first."""
TEND_SECONDS = 1.0
SAID_FOR = 600.0
"""Seconds for which a socket that had to be made again is told among the degraded parts."""
_MODE = 0o600
_LOG = get_logger("daemon.status")

Tell = Callable[[], Awaitable[DaemonState]]


class StatusSocket:
    """Answers on a home's socket from a thread of its own, between `start` and `stop`.

    `tell` returns the state to answer with; it is awaited in that thread and must not block it. `problem` says why
    there is no socket, or that it had to be made again.
    """

    def __init__(self, home: Home, tell: Tell) -> None:
        self._home, self._tell = home, tell
        self._thread = threading.Thread(target=self._run, name="status")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = threading.Event()
        self._begun = threading.Event()
        self._wake: asyncio.Event | None = None
        self._listener: _Listener | None = None
        self._clients: dict[asyncio.Task[None], None] = {}
        self._mended_at: float | None = None
        self._broken: str | None = None

    @property
    def problem(self) -> str | None:
        """What is wrong with the socket, or was a while ago."""
        if self._broken is not None:
            return f"status socket: {self._broken}; nobody can ask how the daemon is doing"
        if self._mended_at is not None:
            return "status socket: its file was removed; it was made again"
        return None

    def start(self) -> None:
        """Begin to answer; where that can't be, `problem` says why, and it is tried again every second."""
        self._thread.start()
        self._begun.wait()

    def stop(self) -> None:
        """End, and remove the socket file; safe where it never began."""
        self._stop.set()
        if self._thread.ident is None:
            return
        if self._loop is not None and self._wake is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._wake.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:  # noqa: BLE001 - the daemon goes on without its socket, and says so
            self._broken = f"failed unexpectedly; the log has it as {_LOG.unexpected('status_failed', error)}"
        finally:
            self._begun.set()

    async def _serve(self) -> None:
        self._loop, self._wake = asyncio.get_running_loop(), asyncio.Event()
        try:
            await self._tend()
            self._begun.set()
            while not self._stop.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), TEND_SECONDS)
                if not self._stop.is_set():
                    await self._tend()
        finally:
            for client in [*self._clients]:
                client.cancel()
            if self._listener is not None:
                await self._listener.close()

    async def _tend(self) -> None:
        """See that there is a socket, and that its file is the one that is listened on."""
        now = asyncio.get_running_loop().time()
        if self._mended_at is not None and now - self._mended_at > SAID_FOR:
            self._mended_at = None
        if self._listener is not None and self._listener.is_there():
            return
        was_there = self._listener is not None
        try:
            if self._listener is not None:
                await self._listener.close()
                self._listener = None
            self._home.ensure_socket_folder()
            self._listener = await _Listener.open(self._home.socket, self._meet)
        except (OSError, ConfigError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            if reason != self._broken:
                _LOG.warning("status_socket_unavailable", reason=reason)
            self._broken = reason
            return
        if was_there or self._broken is not None:
            _LOG.warning("status_socket_made_again")
            self._mended_at = now
        self._broken = None

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            return
        while len(self._clients) >= MOST_CLIENTS:
            oldest = next(iter(self._clients))
            del self._clients[oldest]
            oldest.cancel()
        self._clients[task] = None
        writer.transport.set_write_buffer_limits(0)  # drained is sent: what follows may be an abort
        try:
            if _peer_of(writer) == os.geteuid():
                await self._answer_all(reader, writer)
        except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError):
            pass  # too slow, gone, or a line without an end: the client's loss alone
        finally:
            self._clients.pop(task, None)
            writer.transport.abort()

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            async with asyncio.timeout(PATIENCE):
                line = await reader.readline()
                if not line.endswith(b"\n"):
                    return
                writer.write(orjson.dumps(await self._reply(line), option=orjson.OPT_APPEND_NEWLINE))
                await writer.drain()

    async def _reply(self, line: bytes) -> Mapping[str, Any]:
        try:
            request = orjson.loads(line)
        except ValueError:
            return _refusal("a request is one line with a JSON object")
        if not isinstance(request, dict):
            return _refusal("a request is one line with a JSON object")
        if request.get("v") != PROTOCOL:
            return _refusal(f"this daemon speaks version {PROTOCOL}; restart what is older, daemon or client")
        if request.get("ask") != "status":
            return _refusal("there is nothing to ask for but 'status'")
        try:
            state = await self._tell()
        except Exception as error:  # noqa: BLE001 - a client gets an id, whatever happened
            return _refusal(f"failed unexpectedly; the log has it as {_LOG.unexpected('status_failed', error)}")
        return {"v": PROTOCOL, "ok": True, "status": asdict(state)}


class _Listener:
    """A bound socket, and which file it is: another file under its name is not it."""

    def __init__(self, path: Path, server: asyncio.Server, identity: tuple[int, int]) -> None:
        self._path, self._server, self._identity = path, server, identity

    @classmethod
    async def open(
        cls, path: Path, meet: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> "_Listener":
        """Listen at `path`. A socket that lies there is stale: whoever calls this holds the home's lock.

        Raises:
            OSError: it can't be bound, or something else than a socket lies there.
        """
        channel = _bound(path)
        try:
            identity = _identity(path)
            server = await asyncio.start_unix_server(meet, sock=channel, limit=LONGEST_REQUEST)
        except BaseException:
            channel.close()
            raise
        if identity is None:
            server.close()
            raise FileNotFoundError(ENOENT, f"{path} was removed at once")
        return cls(path, server, identity)

    def is_there(self) -> bool:
        """Tell whether the file is still the one that is listened on; so it counts while that can't be known."""
        try:
            return _identity(self._path) == self._identity
        except OSError:
            return True

    async def close(self) -> None:
        """Listen no more, and remove the file if it is still this one's."""
        is_own = self.is_there()
        self._server.close()
        if is_own:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def _bound(path: Path) -> socket.socket:
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise FileExistsError(EEXIST, f"{path} is no socket; remove it")
        path.unlink()
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        channel.bind(os.fspath(path))  # closed to others from the first instant: the umask of this process is private
        path.chmod(_MODE)
    except BaseException:
        channel.close()
        raise
    return channel


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _peer_of(writer: asyncio.StreamWriter) -> int | None:
    channel = writer.get_extra_info("socket")
    try:
        return None if channel is None else peer_uid(channel)
    except OSError:
        return None


def _refusal(why: str) -> Mapping[str, Any]:
    return {"v": PROTOCOL, "ok": False, "error": why}
