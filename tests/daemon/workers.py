"""Workers over folders that tests make up, with a clock that stands until it is moved."""

from collections import deque
from collections.abc import Callable

from daemon.ceilings import Ceilings
from daemon.watcher import Wakeup
from daemon.worker import Done, Found, Pace, Worker
from graph_memory.config.settings import Ingest, Limits

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
