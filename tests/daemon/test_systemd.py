"""The word to the service manager."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from daemon.systemd import ALIVE, READY, notify, watchdog_seconds


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's name."""
    with TemporaryDirectory(prefix="gm-") as folder:
        yield Path(folder)


def test_the_manager_hears_each_state_in_a_datagram_of_its_own(short_folder: Path) -> None:
    address = str(short_folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(10)
        for state in (READY, ALIVE):
            assert notify(state, {"NOTIFY_SOCKET": address})
            assert manager.recv(100).decode() == state


@pytest.mark.skipif(sys.platform != "linux", reason="abstract sockets are Linux's")
def test_an_abstract_address_is_understood() -> None:
    name = f"graph-memory-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + name)
        manager.settimeout(10)
        assert notify(READY, {"NOTIFY_SOCKET": "@" + name})
        assert manager.recv(100).decode() == READY


@pytest.mark.parametrize("address", ["", "relative", "/nowhere/at/all", "vsock:2:1234"])
def test_without_a_manager_nothing_happens(address: str) -> None:
    assert not notify(READY, {"NOTIFY_SOCKET": address} if address else {})


def test_the_watchdog_is_for_the_process_it_names() -> None:
    assert watchdog_seconds({}) is None
    assert watchdog_seconds({"WATCHDOG_USEC": "30000000"}) == 30.0
    assert watchdog_seconds({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}) == 30.0
    assert watchdog_seconds({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}) is None
    assert watchdog_seconds({"WATCHDOG_USEC": "soon"}) is None
