"""The worker: what it takes first, and how it waits."""

import threading
from collections.abc import Callable

import pytest

from daemon.ceilings import Ceilings
from daemon.watcher import Wakeup
from daemon.worker import Found
from graph_memory.config.settings import Ingest, Limits
from tests.daemon.workers import BOUND, Book, Folder, Now, worker_of


def test_what_happened_just_now_goes_before_the_backlog() -> None:
    folder = Folder(Found(fresh=["a", "b"], backlog=["old"]))
    worker_of(folder, now=Now()).turn()
    assert folder.learned == ["a", "b", "old"]


def test_the_backlog_gives_way_when_the_bell_rings() -> None:
    now, bell = Now(), Wakeup()
    folder = Folder(Found(backlog=["old 1", "old 2", "old 3"]), Found(fresh=["new"], backlog=["old 2", "old 3"]))

    def ring(piece: str) -> None:
        now.seconds += 1.0
        if piece == "old 1":
            bell.ring()

    folder.before = ring
    worker = worker_of(folder, now=now, bell=bell)
    assert worker.turn() == 0.0
    assert worker.progress.backlog == 2
    worker.turn()
    assert folder.learned == ["old 1", "new", "old 2", "old 3"]


def test_the_backlog_moves_even_while_the_bell_never_stops() -> None:
    bell = Wakeup()

    class Restless(Folder):
        def find(self) -> Found[str]:
            bell.ring()
            return super().find()

    folder = Restless(*(Found(backlog=[f"old {n}"]) for n in range(3)))
    now = Now()
    worker = worker_of(folder, now=now, bell=bell)
    for _ in range(3):
        worker.turn()
        now.seconds += 1.0
    assert folder.learned == ["old 0", "old 1", "old 2"]


def test_a_long_piece_of_the_backlog_rests_as_much_as_it_works() -> None:
    now, used, rests = Now(), Now(), list[float]()
    book = Book(Found(backlog=["old"]))

    class Patient(Wakeup):
        def wait(self, seconds: float) -> bool:
            if seconds:
                rests.append(seconds)
                now.seconds += seconds
            return super().wait(0)

    def turn_page() -> None:
        now.seconds += 1.0
        used.seconds += 1.0

    book.turning = turn_page
    half = Ceilings(Limits(), Ingest(items_per_minute=100_000), measure=lambda: 0, cpu=used, now=now)
    worker_of(book, now=now, bell=Patient(), ceilings=half).turn()
    assert book.pages == 10
    assert rests == pytest.approx([2.0] * 4)  # two pages, then a rest as long; the last two end the piece


def test_a_long_piece_of_the_backlog_is_left_in_the_middle_when_the_bell_rings() -> None:
    bell, now = Wakeup(), Now()
    book = Book(Found(backlog=["old"]))

    def turn_page() -> None:
        now.seconds += 0.3
        if book.pages == 3:
            bell.ring()

    book.turning = turn_page
    assert worker_of(book, now=now, bell=bell).turn() == 0.0
    assert book.pages == 3


def test_what_can_wait_is_done_when_all_is_learned_a_little_at_a_time() -> None:
    steps = [True, False, False]

    class Late(Folder):
        def catch_up(self, should_stop: Callable[[], bool]) -> bool:
            return steps.pop()

    worker = worker_of(Late(), now=Now())
    assert [worker.turn(), worker.turn(), worker.turn()] == [0.25, 0.25, 300.0]


def test_a_file_that_has_meanwhile_arrived_goes_before_the_backlog() -> None:
    now = Now()
    folder = Folder(
        Found(backlog=["old 1", "old 2", "old 3"], look_again_in=1.0), Found(fresh=["new"], backlog=["old 3"])
    )

    def take_a_while(_: str) -> None:
        now.seconds += 0.6

    folder.before = take_a_while
    worker = worker_of(folder, now=now)
    assert worker.turn() == 0.0
    worker.turn()
    assert folder.learned == ["old 1", "old 2", "new", "old 3"]


def test_a_rest_of_the_backlog_ends_when_a_file_has_arrived() -> None:
    now, rests = Now(), list[float]()

    class Patient(Wakeup):
        def wait(self, seconds: float) -> bool:
            if seconds:
                rests.append(seconds)
                now.seconds += seconds
            return super().wait(0)

    folder = Folder(Found(backlog=["old 1", "old 2"], look_again_in=1.0))
    folder.items = 600  # a minute's worth
    slow = Ceilings(Limits(), Ingest(), measure=lambda: 0, cpu=lambda: 0.0, now=now)
    assert worker_of(folder, now=now, bell=Patient(), ceilings=slow).turn() == 0.0
    assert folder.learned == ["old 1"]
    assert rests == [1.0]


def test_with_nothing_to_do_it_sleeps_until_the_rescan() -> None:
    rested: list[str] = []
    worker = worker_of(Folder(Found()), now=Now(), idle=lambda: rested.append("idle"))
    assert worker.turn() == 300.0
    assert rested == ["idle"]


def test_during_a_long_backlog_the_rest_is_done_at_every_look() -> None:
    rested: list[int] = []
    bell = Wakeup()
    folder = Folder(Found(backlog=["old 1", "old 2"]), Found(backlog=["old 2"]))
    now = Now()

    def ring(_: str) -> None:
        now.seconds += 1.0
        bell.ring()

    folder.before = ring
    worker = worker_of(folder, now=now, bell=bell, idle=lambda: rested.append(len(folder.learned)))
    worker.turn()
    worker.turn()
    assert rested == [0, 1, 2]


def test_a_file_still_being_copied_is_looked_at_again_soon() -> None:
    assert worker_of(Folder(Found(look_again_in=0.3)), now=Now()).turn() == 0.3


def test_told_to_stop_it_finishes_the_piece_at_hand_and_no_other() -> None:
    folder = Folder(Found(fresh=["first", "second"]))
    begun, go_on = threading.Event(), threading.Event()

    def hold(_: str) -> None:
        begun.set()
        assert go_on.wait(BOUND)

    folder.before = hold
    worker = worker_of(folder, now=Now())
    thread = threading.Thread(target=worker.run)
    thread.start()
    assert begun.wait(BOUND)
    worker.stop()
    go_on.set()
    thread.join(BOUND)
    assert not thread.is_alive()
    assert folder.learned == ["first"]


@pytest.mark.parametrize(("look", "gap"), [(0.001, 0.25), (0.05, 0.5), (3.0, 1.0)])
def test_looks_take_a_tenth_of_the_time_at_most_and_never_wait_longer_than_a_second(look: float, gap: float) -> None:
    now, waited = Now(), list[float]()

    class Crowded(Folder):
        def find(self) -> Found[str]:
            now.seconds += look
            return Found(look_again_in=0.0)

    class Once(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout or 0.0)
            self.set()
            return True

    worker = worker_of(Crowded(), now=now)
    worker._stop = Once()
    worker.run()
    assert waited == pytest.approx([max(0.0, gap - look)])


def test_asleep_it_wakes_for_the_bell_and_for_the_end() -> None:
    bell, learned = Wakeup(), threading.Event()
    folder = Folder(Found(), Found(fresh=["note"]))
    folder.before = lambda _: learned.set()
    idle = threading.Event()
    worker = worker_of(folder, now=Now(), bell=bell, idle=idle.set)
    thread = threading.Thread(target=worker.run)
    thread.start()
    assert idle.wait(BOUND)
    bell.ring()
    assert learned.wait(BOUND)
    worker.stop()
    thread.join(BOUND)
    assert not thread.is_alive()


@pytest.mark.spec("bounds.turns")
def test_a_note_that_is_dropped_waits_for_one_new_session_and_not_for_all() -> None:
    now, bell = Now(), Wakeup()
    sessions = [f"session {number}" for number in range(5)]
    folder = Folder(Found(fresh=sessions), Found(fresh=["note", *sessions[1:]]))

    def drop(piece: str) -> None:
        now.seconds += 1.0
        if piece == "session 0":
            bell.ring()

    folder.before = drop
    worker = worker_of(folder, now=now, bell=bell)
    assert worker.turn() == 0.0
    worker.turn()
    assert folder.learned == ["session 0", "note", *sessions[1:]]


@pytest.mark.spec("bounds.turns")
def test_a_long_new_piece_leaves_a_turn_to_what_rang_and_goes_on_alone() -> None:
    now, bell = Now(), Wakeup()
    book = Book(Found(fresh=["book"]), Found(fresh=["book"]))

    def turn_page() -> None:
        now.seconds += 1.0
        if book.pages == 3:
            bell.ring()

    book.turning = turn_page
    worker = worker_of(book, now=now, bell=bell)
    assert worker.turn() == 0.0
    assert book.pages == 3
    worker.turn()
    assert book.pages == 10


def test_what_is_due_between_looks_is_done_also_while_there_is_always_news() -> None:
    now, rests, bell = Now(), list[float](), Wakeup()
    folder = Folder(*(Found(fresh=[f"{number}", "later"]) for number in range(40)))
    worker = worker_of(folder, now=now, bell=bell, idle=lambda: rests.append(now()))

    def ring(_: str) -> None:
        now.seconds += 1.0
        bell.ring()

    folder.before = ring
    for _ in range(40):
        worker.turn()
    assert len(rests) == 4
