"""A server ends within two seconds of its client, however that ends, and leaves nothing behind."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.principal import LOCAL_ADMIN
from mcp_server.leaving import _has_ended
from tests.cli.test_mcp import HELLO, READY

COMMAND = Path(sys.executable).with_name("graph-memory")
BOUND = 60.0
LEAVES_WITHIN = 2.0
SLACK = 1.5
"""Seconds that a loaded machine may add; alone it takes up to 1.4."""

CLIENT = """
    import json, subprocess, sys, time
    server = subprocess.Popen({words!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, shell={shell!r})
    for message in {messages!r}:
        server.stdin.write(json.dumps(message).encode() + b"\\n")
    server.stdin.flush()
    server.stdout.readline()
    {more}
    print("ready", flush=True)
    time.sleep(600)
"""
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}


class Client:
    """A client in a process of its own, with the server that it started."""

    def __init__(self, script: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        everybody = psutil.Process(self.process.pid).children(recursive=True)
        self.family = everybody
        [self.server] = [it for it in everybody if "mcp" in it.cmdline()[1:] and it.name() != "sh"]

    def kill(self, process: "psutil.Process | None" = None) -> None:
        """Kill the client, or another of its family."""
        if process is None:
            self.process.kill()
            self.process.wait(BOUND)
        else:
            process.kill()

    def end(self) -> None:
        for process in (*self.family, psutil.Process(self.process.pid) if self.process.poll() is None else None):
            if process is not None and process.is_running():
                process.kill()
        self.process.wait(BOUND)
        if self.process.stdout is not None:
            self.process.stdout.close()


StartClient = Callable[..., Client]


@pytest.fixture
def client() -> Iterator[StartClient]:
    started: list[Client] = []

    def start(*, words: "list[str] | str | None" = None, more: str = "", messages: tuple[object, ...] = ()) -> Client:
        script = textwrap.dedent(CLIENT).format(
            words=words or [str(COMMAND), "mcp"],
            shell=isinstance(words, str),
            messages=(HELLO, READY, *messages),
            more=more,
        )
        started.append(Client(script))
        return started[-1]

    yield start
    for it in started:
        it.end()


def ends_soon(process: psutil.Process) -> bool:
    """Tell whether a process ends within the time it has."""
    until = time.monotonic() + LEAVES_WITHIN + SLACK
    while time.monotonic() < until:
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.spec("server.ends-with-client")
def test_a_client_that_is_killed(client: StartClient) -> None:
    started = client()
    started.kill()
    assert ends_soon(started.server)


@pytest.mark.spec("server.ends-with-client")
def test_a_client_that_is_killed_while_its_other_child_holds_the_stream_open(client: StartClient) -> None:
    hold = "subprocess.Popen(['sleep', '600'], stdout=server.stdin, stderr=subprocess.DEVNULL)"
    started = client(more=hold)
    assert any(it.name() == "sleep" for it in started.family)
    started.kill()
    assert ends_soon(started.server)


SHELL = f"{COMMAND} mcp; true"
"""Not the shell's last command, so that the shell stays between."""


@pytest.mark.spec("server.ends-with-client")
def test_a_shell_between_that_is_killed(client: StartClient) -> None:
    started = client(words=SHELL)
    [shell] = [it for it in started.family if it.name() == "sh"]
    started.kill(shell)
    assert ends_soon(started.server)


@pytest.mark.spec("server.ends-with-client")
def test_a_client_that_is_killed_behind_a_shell_while_the_stream_stays_open(client: StartClient) -> None:
    hold = "subprocess.Popen(['sleep', '600'], stdout=server.stdin, stderr=subprocess.DEVNULL); time.sleep(2.5)"
    started = client(words=SHELL, more=hold)
    [shell] = [it for it in started.family if it.name() == "sh"]
    assert shell.pid != started.server.pid
    started.kill()
    assert ends_soon(started.server)


@pytest.mark.spec("server.ends-with-client")
def test_a_client_that_closes_its_end(client: StartClient) -> None:
    started = client(more="server.stdin.close()")
    assert ends_soon(started.server)


@pytest.mark.spec("server.ends-with-client")
@pytest.mark.parametrize("how", ["killed", "killed, stream held", "closes"])
def test_a_call_that_waits_for_the_store_does_not_outlast_its_client(
    client: StartClient, home_in_use: Path, how: str
) -> None:
    assert home_in_use.exists()
    add = {"name": "memory_add", "arguments": {"category": "note", "title": "Late", "content": "Too late."}}
    more = {
        "killed, stream held": "subprocess.Popen(['sleep', '600'], stdout=server.stdin, stderr=subprocess.DEVNULL)",
        "closes": "time.sleep(1.0); server.stdin.close()",
    }.get(how, "time.sleep(1.0)  # the call has begun to wait")
    with open_services(load_config(os.environ)) as services:

        def hold(_tx: object) -> None:
            started = client(messages=({**CALL, "params": add},), more=more)
            if how.startswith("killed"):
                started.kill()
            assert ends_soon(started.server)

        services.store.write(LOCAL_ADMIN, hold)
        assert services.insight.stats(LOCAL_ADMIN).memories == 0


@pytest.mark.parametrize("is_socket", [False, True])
def test_a_stream_has_ended_once_it_is_closed_and_read(is_socket: bool) -> None:
    reading, writing = (it.detach() for it in socket.socketpair()) if is_socket else os.pipe()
    assert not _has_ended(reading)
    os.write(writing, b"x")
    assert not _has_ended(reading)
    os.close(writing)
    assert _has_ended(reading) is is_socket
    assert os.read(reading, 10) == b"x"
    assert _has_ended(reading)
    os.close(reading)


def test_of_a_file_and_of_nothing_the_end_can_not_be_told(tmp_path: Path) -> None:
    with (tmp_path / "requests").open("w+b") as file:
        assert not _has_ended(file.fileno())
    assert not _has_ended(None)


@pytest.fixture
def home_in_use(own_environment: Path) -> Path:
    with open_services(load_config(os.environ)) as services:
        return services.home.path


def test_a_server_that_nobody_leaves_stays(client: StartClient) -> None:
    started = client()
    time.sleep(3.0)
    assert started.server.is_running()
    assert started.server.status() != psutil.STATUS_ZOMBIE
    os.kill(started.server.pid, signal.SIGTERM)
    assert ends_soon(started.server)
