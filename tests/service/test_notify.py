"""The daemon as a service manager hears it: real datagrams of a real process."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from daemon.exits import Exit
from tests.service.user_managers import COMMAND

BOUND = 60.0


@pytest.fixture
def manager() -> Iterator[tuple[socket.socket, str]]:
    with TemporaryDirectory(prefix="gm-") as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        address = str(Path(folder) / "notify")
        listening.bind(address)
        listening.settimeout(BOUND)
        yield listening, address


@pytest.mark.spec("service.notify")
def test_it_is_ready_then_alive_reloads_when_told_and_stops_last(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    environ = {**os.environ, "NOTIFY_SOCKET": address, "WATCHDOG_USEC": "200000"}
    process = subprocess.Popen([COMMAND, "run"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ)
    try:
        heard = [listening.recv(4096).decode()]
        while heard.count("WATCHDOG=1") < 3:
            heard.append(listening.recv(4096).decode())
        asked_at = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000
        process.send_signal(signal.SIGHUP)
        while heard.count("READY=1") < 2:
            heard.append(listening.recv(4096).decode())
        process.send_signal(signal.SIGTERM)
        while "STOPPING=1" not in heard:
            heard.append(listening.recv(4096).decode())
        assert process.wait(BOUND) == Exit.OK
    finally:
        process.kill()
        process.wait()
    told = [it for it in heard if it != "WATCHDOG=1"]
    assert [told[0], *told[2:]] == ["READY=1", "READY=1", "STOPPING=1"]
    reloading, at = told[1].splitlines()
    assert reloading == "RELOADING=1"
    assert at.startswith("MONOTONIC_USEC=")
    assert int(at.partition("=")[2]) >= asked_at


@pytest.mark.spec("service.notify")
def test_what_can_not_start_never_says_it_is_ready(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    environ = {**os.environ, "NOTIFY_SOCKET": address, "GRAPH_MEMORY_STORE": "neo4j"}
    done = subprocess.run([COMMAND, "run"], capture_output=True, check=False, timeout=BOUND, env=environ)
    assert done.returncode == Exit.CONFIG
    listening.settimeout(0.01)
    with pytest.raises(TimeoutError):
        listening.recv(4096)
