"""A worker that is told to end does so at once, whatever it is about to do."""

import threading
import time
from collections.abc import Callable

import pytest

from daemon.worker import Found
from tests.daemon.workers import Folder, Said, worker_of


class Teller(Said):
    """Has the worker told to end at the very moment before it looks, and before it holds."""

    def __init__(self, held_by: str | None) -> None:
        super().__init__()
        self.held, self.told = held_by, threading.Event()
        self.stop: Callable[[], object] = lambda: None

    def heed(self) -> str | None:
        self.stop()
        self.told.set()
        return self.held


@pytest.mark.parametrize("held_by", [None, "paused"])
def test_told_to_end_just_before_it_looks_it_does_not_sleep_until_the_next_rescan(held_by: str | None) -> None:
    said = Teller(held_by)
    worker = worker_of(Folder(Found()), now=time.monotonic, said=said)
    said.stop = worker.stop
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    assert said.told.wait(30)
    thread.join(30)
    assert not thread.is_alive()
