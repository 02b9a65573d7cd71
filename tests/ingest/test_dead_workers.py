"""What workers that were killed leave in `processing/`: their documents are taken up, the rest goes."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ingest.inbox import Inbox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ingest.places import Place

_WORKER = """
import sys
from pathlib import Path
from graph_memory.home import Home
from ingest.inbox import Inbox
inbox = Inbox(Home(Path(sys.argv[1])))
claims = [inbox.claim(it) for it in list(inbox.pending())]
if not claims:
    inbox._own_folder()
print("claimed", flush=True)
sys.stdin.read()
"""


def kill_a_worker(place: Place) -> None:
    """Start a worker that takes all there is, and kill it."""
    words = [sys.executable, "-c", _WORKER, str(place.home.path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"claimed\n"
        process.send_signal(signal.SIGKILL)


def left(place: Place) -> list[Path]:
    return sorted(place.home.processing.rglob("*"))


@pytest.mark.spec("retention.dead-workers")
def test_a_killed_workers_document_is_taken_up_and_nothing_of_it_stays(place: Place) -> None:
    place.drop("a/note.md", "text")
    kill_a_worker(place)
    assert any(it.name.endswith(".lock") for it in left(place))
    inbox = Inbox(place.home)
    (found,) = inbox.orphans()
    claim = inbox.claim(found)
    assert claim is not None
    inbox.complete(claim, "k")
    assert list(inbox.orphans()) == []
    inbox.close()
    assert left(place) == []
    assert place.files(place.home.completed) == ["a/note.md"]


@pytest.mark.spec("retention.dead-workers")
def test_the_locks_of_a_hundred_killed_workers_go(place: Place) -> None:
    kill_a_worker(place)
    (lock,) = [it for it in left(place) if it.name.endswith(".lock")]
    for number in range(100):
        lock.with_name(f".worker-{number:016x}.lock").touch(mode=0o600)
    inbox = Inbox(place.home)
    assert list(inbox.orphans()) == []
    assert left(place) == []
    inbox.close()


def test_the_lock_of_a_living_worker_stays(place: Place) -> None:
    place.drop("note.md", "text")
    living, other = Inbox(place.home), Inbox(place.home)
    (found,) = living.pending()
    assert living.claim(found) is not None
    before = left(place)
    assert list(other.orphans()) == []
    assert left(place) == before
    for one in (living, other):
        one.close()


def test_a_worker_whose_new_lock_was_taken_for_a_dead_ones_takes_another(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making the file and locking it somebody else may look, and find it free."""
    import fcntl

    lock = fcntl.flock
    stolen: list[bool] = []

    def steal_first(descriptor: int, how: int) -> None:
        if not stolen:
            stolen.append(True)
            monkeypatch.setattr(fcntl, "flock", lock)
            assert list(Inbox(place.home).orphans()) == []
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", steal_first)
    place.drop("note.md", "text")
    inbox = Inbox(place.home)
    (found,) = inbox.pending()
    claim = inbox.claim(found)
    assert claim is not None
    assert stolen
    assert list(Inbox(place.home).orphans()) == []
    inbox.complete(claim, "k")
    inbox.close()
    assert left(place) == []
    assert place.files(place.home.completed) == ["note.md"]
