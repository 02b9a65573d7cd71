"""The worker: what it takes first, how it waits, and that it drops nothing."""

import threading
from collections import deque
from collections.abc import Callable
from unittest.mock import patch

import pytest

from daemon.ceilings import Ceilings
from daemon.watcher import Wakeup
from daemon.worker import Done, Found, Pace, Worker
from graph_memory.config.settings import Ingest, Limits
from graph_memory.domain.errors import StoreBusy, StoreDamaged, Unavailable

BOUND = 20.0
"""Seconds that no wait of these tests comes near."""


class Now:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


class Said:
    """What a person said: `held_by` what learning is to be held up by, `is_new` whether it was heeded."""

    def __init__(self) -> None:
        self.held_by: str | None = None
        self.is_new = False

    def say(self, held_by: str | None) -> None:
        self.held_by, self.is_new = held_by, True

    def heed(self) -> str | None:
        self.is_new = False
        return self.held_by

    def are_new(self) -> bool:
        return self.is_new


class Folder:
    """A learner whose pieces are texts; `found` are its looks in turn, then there is nothing more."""

    def __init__(self, *found: Found[str]) -> None:
        self.looks = deque(found)
        self.learned: list[str] = []
        self.before: Callable[[str], object] = lambda piece: None
        self.items = 1

    def find(self) -> Found[str]:
        return self.looks.popleft() if self.looks else Found()

    def learn(self, piece: str, should_stop: Callable[[], bool]) -> Done:
        self.before(piece)
        self.learned.append(piece)
        return Done(items=self.items)

    def catch_up(self, should_stop: Callable[[], bool]) -> bool:
        return True

    def name(self, piece: str) -> str:
        return piece


def worker_of(
    folder: Folder,
    *,
    now: Callable[[], float],
    bell: Wakeup | None = None,
    ceilings: Ceilings | None = None,
    said: Said | None = None,
    idle: Callable[[], None] = lambda: None,
) -> Worker[str]:
    return Worker(
        folder,
        bell or Wakeup(),
        ceilings or roomy(now),
        said or Said(),
        Pace(300.0, 60.0, 3_600.0),
        idle=idle,
        now=now,
    )


def roomy(now: Callable[[], float]) -> Ceilings:
    return Ceilings(Limits(), Ingest(items_per_minute=100_000), measure=lambda: 0, cpu=lambda: 0.0, now=now)


class Book(Folder):
    """A learner whose pieces are long: each has ten pages, and it may be told to stop after any."""

    def __init__(self, *found: Found[str]) -> None:
        super().__init__(*found)
        self.pages = 0
        self.turning: Callable[[], object] = lambda: None

    def learn(self, piece: str, should_stop: Callable[[], bool]) -> Done:
        while self.pages < 10:
            self.pages += 1
            self.turning()
            if should_stop():
                return Done(items=1, is_finished=self.pages == 10)
        return super().learn(piece, should_stop)


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
