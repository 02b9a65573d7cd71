"""The worker keeps to its ceilings, and to what a person says."""

import threading
from unittest.mock import patch

import pytest

from daemon.ceilings import Ceilings
from daemon.worker import Found
from graph_memory.config.settings import Ingest, Limits
from tests.daemon.workers import BOUND, Book, Folder, Now, Said, worker_of


@pytest.mark.spec("config.ceiling.items-per-minute")
def test_the_backlog_keeps_to_its_items_a_minute() -> None:
    now = Now()
    pace = Ceilings(Limits(), Ingest(), measure=lambda: 0, cpu=lambda: 0.0, now=now)
    pace.begin()
    pace.end(items=60)
    assert pace.backlog_wait() == pytest.approx(6.0)  # 600 a minute
    now.seconds += 4.0
    assert pace.backlog_wait() == pytest.approx(2.0)
    now.seconds += 4.0
    assert pace.backlog_wait() == 0.0


@pytest.mark.spec("config.ceiling.backlog-cpu")
def test_the_backlog_rests_until_it_took_half_a_core() -> None:
    now, used = Now(), Now()
    pace = Ceilings(Limits(), Ingest(), measure=lambda: 0, cpu=used, now=now)
    pace.begin()
    now.seconds += 3.0
    used.seconds += 3.0
    pace.end(items=1)
    assert pace.backlog_wait() == pytest.approx(3.0)


def test_what_the_backlog_took_is_told_for_the_minute_before() -> None:
    now, used = Now(), Now()
    pace = Ceilings(Limits(), Ingest(), measure=lambda: 0, cpu=used, now=now)
    for _ in range(2):
        pace.begin()
        now.seconds += 20.0
        used.seconds += 6.0
        pace.end(items=30)
    assert pace.last_minute() == pytest.approx((60, 0.2))
    now.seconds += 45.0
    assert pace.last_minute() == pytest.approx((30, 0.1))
    now.seconds += 45.0
    assert pace.last_minute() == (0, 0.0)


def test_work_that_waited_for_others_needs_no_rest() -> None:
    now, used = Now(), Now()
    pace = Ceilings(Limits(), Ingest(), measure=lambda: 0, cpu=used, now=now)
    pace.begin()
    now.seconds += 10.0
    used.seconds += 1.0
    pace.end(items=1)
    assert pace.backlog_wait() == 0.0


@pytest.mark.spec("config.ceiling.daemon-memory")
def test_past_the_memory_ceiling_work_waits() -> None:
    held = [700_000_000]
    freed: list[int] = []
    now = Now()
    tight = Ceilings(
        Limits(), Ingest(), measure=lambda: held[0], release=lambda: freed.append(1), cpu=lambda: 0.0, now=now
    )
    folder = Folder(Found(fresh=["note"]))
    worker = worker_of(folder, now=now, ceilings=tight)
    thread = threading.Thread(target=worker.turn)
    thread.start()
    while worker.progress.activity != "waiting for memory" and thread.is_alive():
        thread.join(0.01)
    assert freed
    assert folder.learned == []
    worker.stop()
    thread.join(BOUND)
    assert not thread.is_alive()
    assert folder.learned == []


def test_memory_that_can_be_given_back_lets_work_go_on() -> None:
    held = [700_000_000]
    ceilings = Ceilings(Limits(), Ingest(), measure=lambda: held[0], release=lambda: held.__setitem__(0, 200_000_000))
    assert ceilings.has_memory()


@pytest.mark.spec("bounds.disk")
def test_with_too_little_free_on_the_disk_nothing_is_learned_until_there_is_more() -> None:
    free, waits = [100_000_000], list[str]()
    ceilings = Ceilings(Limits(free_disk_mb=500), Ingest(), measure=lambda: 0, free=lambda: free[0], now=Now())
    folder = Folder(Found(fresh=["a"]))
    worker = worker_of(folder, now=Now(), ceilings=ceilings)

    def wait(_event: object, seconds: float) -> bool:
        if seconds:
            waits.append(f"{worker.progress.activity}: {worker.progress.problem}")
            free[0] = 600_000_000
        return False

    with patch.object(threading.Event, "wait", wait):
        worker.turn()
    assert folder.learned == ["a"]
    assert waits == ["waiting for disk: limits.free_disk_mb: only 100 MB are free where the home is; learning waits"]
    assert worker.progress.problem is None


def test_a_floor_of_nothing_asks_for_no_free_disk() -> None:
    assert Ceilings(Limits(free_disk_mb=0), Ingest(), measure=lambda: 0, free=lambda: 0).lack() is None


def test_an_order_ends_the_wait_for_memory() -> None:
    said = Said()
    full = Ceilings(Limits(), Ingest(), measure=lambda: 10**12, release=lambda: None, now=Now())
    folder = Folder(Found(fresh=["a"]))
    worker = worker_of(folder, now=Now(), ceilings=full, said=said)
    thread = threading.Thread(target=worker.turn)
    thread.start()
    said.say("paused")
    thread.join(BOUND)
    assert not thread.is_alive()
    assert folder.learned == []


def test_while_somebody_has_paused_nothing_is_looked_for_and_the_rest_goes_on() -> None:
    said, idle = Said(), list[bool]()
    folder = Folder(Found(fresh=["a"]))
    worker = worker_of(folder, now=Now(), said=said, idle=lambda: idle.append(True))
    said.say("paused")
    assert worker.turn() == 300.0
    assert (worker.progress.activity, folder.learned, idle) == ("paused", [], [True])
    said.say(None)
    worker.turn()
    assert folder.learned == ["a"]
    assert worker.progress.activity == "watching"


def test_a_pause_stops_what_is_new_and_the_backlog_after_the_piece_at_hand() -> None:
    for found in (Found(fresh=["a", "b"]), Found(backlog=["a", "b"])):
        said = Said()
        folder = Folder(found, found)
        folder.before = lambda _, said=said: said.say("paused")  # type: ignore[misc]
        worker = worker_of(folder, now=Now(), said=said)
        assert worker.turn() == 0.0
        worker.turn()
        assert folder.learned == ["a"]


@pytest.mark.parametrize("is_backlog", [False, True])
def test_a_pause_leaves_a_long_piece_in_the_middle(is_backlog: bool) -> None:
    said = Said()
    found = Found(backlog=["book"]) if is_backlog else Found(fresh=["book"])
    book = Book(found, found)
    book.turning = lambda: said.say("paused") if book.pages == 3 else None
    worker = worker_of(book, now=Now(), said=said)
    assert worker.turn() == 0.0
    worker.turn()
    assert book.pages == 3
    said.say(None)
    worker.turn()
    assert (book.pages, book.learned) == (10, ["book"])
