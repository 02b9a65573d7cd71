"""The worker outlives what breaks, and drops nothing."""

from collections.abc import Callable

import pytest

from daemon.watcher import Wakeup
from daemon.worker import Found
from graph_memory.domain.errors import StoreBusy, StoreDamaged, Unavailable
from tests.daemon.workers import Folder, Now, worker_of


@pytest.mark.parametrize("refusal", [StoreBusy("busy"), Unavailable("the disk is full; nothing was written")])
def test_while_the_store_refuses_it_waits_longer_each_time_and_drops_nothing(refusal: Unavailable) -> None:
    refusals = [refusal, refusal, refusal]
    folder = Folder(*(Found(fresh=["note"]) for _ in range(4)))

    def refuse(_: str) -> None:
        if refusals:
            raise refusals.pop()

    folder.before = refuse
    worker = worker_of(folder, now=Now())
    assert [worker.turn() for _ in range(3)] == [1.0, 2.0, 4.0]
    assert (worker.progress.activity, worker.progress.problem) == ("waiting for the store", str(refusal))
    worker.turn()
    assert folder.learned == ["note"]
    assert (worker.progress.activity, worker.progress.problem) == ("watching", None)


def test_a_piece_that_breaks_stops_no_other_and_is_tried_again_later() -> None:
    now = Now()
    found = Found(fresh=["bad", "good"])
    folder = Folder(*(found for _ in range(5)))
    tried: list[str] = []

    def break_once(piece: str) -> None:
        tried.append(piece)
        if piece == "bad" and tried.count("bad") < 3:
            raise KeyError(piece)

    folder.before = break_once
    worker = worker_of(folder, now=now)
    assert worker.turn() == 60.0
    assert folder.learned == ["good"]
    now.seconds += 59.0
    worker.turn()
    assert tried.count("bad") == 1
    now.seconds += 1.0
    assert worker.turn() == 120.0
    now.seconds += 120.0
    assert worker.turn() == 300.0
    assert tried.count("bad") == 3
    assert "bad" in folder.learned


def test_a_broken_piece_that_is_gone_is_forgotten() -> None:
    now = Now()
    folder = Folder(Found(fresh=["bad"]), Found())

    def fail(piece: str) -> None:
        raise ValueError(piece)

    folder.before = fail
    worker = worker_of(folder, now=now)
    worker.turn()
    now.seconds += 1_000.0
    assert worker.turn() == 300.0


def test_a_look_that_breaks_is_tried_again() -> None:
    class Blind(Folder):
        def find(self) -> Found[str]:
            if not self.looks:
                raise RuntimeError
            return super().find()

    worker = worker_of(Blind(), now=Now())
    assert [worker.turn(), worker.turn()] == [60.0, 120.0]
    assert worker.progress.activity == "waiting"


def test_what_can_wait_and_breaks_keeps_nothing_from_being_learned() -> None:
    now = Now()

    class Late(Folder):
        def catch_up(self, should_stop: Callable[[], bool]) -> bool:
            raise KeyError

    folder = Late(Found(fresh=["first"]), Found(fresh=["second"]))
    worker = worker_of(folder, now=now)
    assert [worker.turn(), worker.turn()] == [60.0, 60.0]
    assert folder.learned == ["first", "second"]
    now.seconds += 60.0
    assert worker.turn() == 120.0


def test_what_is_broken_and_new_keeps_nothing_behind_it_from_its_turn() -> None:
    now, bell = Now(), Wakeup()
    looks = [Found(fresh=["broken", "good"]) for _ in range(3)]

    class Restless(Folder):
        def find(self) -> Found[str]:
            now.seconds += 1.0
            bell.ring()
            return super().find()

    folder = Restless(*looks)

    def fall(piece: str) -> None:
        if piece == "broken":
            raise ValueError(piece)

    folder.before = fall
    worker = worker_of(folder, now=now, bell=bell)
    for _ in looks:
        worker.turn()
    assert "good" in folder.learned


@pytest.mark.parametrize("where", ["looking", "learning", "catching up"])
def test_a_damaged_store_ends_it_at_once_wherever_that_shows(where: str) -> None:
    def fail(*_: object) -> bool:
        raise StoreDamaged("page 7")

    folder = Folder(Found(backlog=["a", "b"]))
    if where == "looking":
        folder.find = fail  # type: ignore[method-assign,assignment]
    elif where == "learning":
        folder.before = fail
    else:
        folder.catch_up = fail  # type: ignore[method-assign,assignment]
    worker = worker_of(folder, now=Now())
    worker.run()  # returns
    assert isinstance(worker.failure, StoreDamaged)
    assert worker.progress.problem == "page 7"
    assert folder.learned == ([] if where != "catching up" else ["a", "b"])
