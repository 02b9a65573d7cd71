"""The one worker: whenever the bell rings, and every few minutes, it looks for what is new and learns it."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from daemon.ceilings import Ceilings
from daemon.times import wait_after
from daemon.watcher import Wakeup
from graph_memory.domain.errors import GraphMemoryError, StoreChanged, StoreDamaged, Unavailable
from graph_memory.log import get_logger

W = TypeVar("W")

SHORTEST_GAP = 0.25
"""Seconds between two looks: a session that is being written to rings many times a second."""
LONGEST_GAP = 1.0
LOOKING_SHARE = 0.1
"""Share of the time that looks may take: with very many transcripts each takes a while, and the gap grows with it."""
LONGEST_SLICE = 2.0
LONGEST_UNREST = 10.0
"""Seconds after which what is due between two looks is done, however much is new."""
"""Seconds after which a long piece of the backlog is left in the middle, so that it rests as much as it worked."""
BUSY_SECONDS, BUSY_MOST = 1.0, 60.0
"""Seconds to wait after the store could not be used, doubled each time; a transaction itself waits half a minute."""
ROOM_SECONDS = 5.0
"""How often it is looked whether there is memory, or disk, again."""
CATCHING_UP = "catching up"
"""What the work that can wait is known by; no piece has such a name."""
_LOG = get_logger("daemon.worker")


@dataclass(frozen=True, slots=True)
class Found(Generic[W]):
    """What there is to learn: what happened just now, and what lay there before; each in the order to take it.

    `look_again_in` is in how many seconds something that can't be taken yet may be, such as a file still being copied.
    """

    fresh: Sequence[W] = ()
    backlog: Sequence[W] = ()
    look_again_in: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What learning a piece came to: how many documents and turns it held, and how many could not be learned."""

    items: int = 0
    failed: int = 0
    is_finished: bool = True


class Learner(Protocol[W]):
    """Where the work comes from and who does it."""

    def find(self) -> Found[W]:
        """Look at all folders.

        Raises:
            Unavailable: the store can't be used now.
        """

    def learn(self, piece: W, should_stop: Callable[[], bool]) -> Done:
        """Learn a piece: what of it was learned is durable when this returns, the rest is found again.

        A long piece may be left in the middle once `should_stop` says so, and taken up again by another call.

        Raises:
            Unavailable: the store can't be used now; the piece stays where it is.
        """

    def name(self, piece: W) -> str:
        """Return what a piece is known by: the same piece found again has the same name."""

    def catch_up(self, should_stop: Callable[[], bool]) -> bool:
        """Do a little of what can wait until everything was learned; tell whether that was all.

        It ends early once `should_stop` says so, and goes on with the next call.

        Raises:
            Unavailable: the store can't be used now.
        """


class Orders(Protocol):
    """What a person decides while it runs."""

    def heed(self) -> str | None:
        """Put in force what is new, in this thread; return what learning is held up by, if it is."""

    def are_new(self) -> bool:
        """Tell whether there is something to heed; asked often, so it costs next to nothing."""


class Pace(NamedTuple):
    """The longest it sleeps, and how long what breaks is left: the first time, doubled each time, and at most."""

    rescan_seconds: float
    retry_seconds: float
    retry_most: float


@dataclass(slots=True)
class Progress:
    """How the worker is doing; written by it alone."""

    activity: str = "starting"
    backlog: int = 0
    learned: int = 0
    failed: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """When a look at all folders was begun, and when the next one is due whatever there is still to do."""

    began_at: float
    again_at: float


@dataclass(slots=True)
class _Broken:
    failures: int
    until: float


class Worker(Generic[W]):
    """Takes one piece after the other until it is told to stop; what can't be stored now is never dropped.

    `idle` is called whenever it has learned what is new. `orders` are heeded before each look, and leave any piece in
    the middle; who gives them rings the bell.
    """

    def __init__(
        self,
        learner: Learner[W],
        bell: Wakeup,
        ceilings: Ceilings,
        orders: Orders,
        pace: Pace,
        *,
        idle: Callable[[], None],
        now: Callable[[], float],
    ) -> None:
        self._learner, self._bell, self._ceilings, self._idle, self._now = learner, bell, ceilings, idle, now
        self._orders = orders
        self.put_pace(pace)
        self._stop = threading.Event()
        self._broken: dict[str, _Broken] = {}
        self._refusals = 0
        self._look_seconds = 0.0
        self._rested_at = now()
        self.progress = Progress()
        self.failure: GraphMemoryError | None = None

    def put_pace(self, pace: Pace) -> None:
        """Have it sleep and retry like this from now on."""
        self._rescan_seconds, self._retry = pace.rescan_seconds, (pace.retry_seconds, pace.retry_most)

    def stop(self) -> None:
        """Have it end after the piece at hand."""
        self._stop.set()
        self._bell.ring()

    def run(self) -> None:
        """Work until stopped."""
        while not self._stop.is_set():
            began = self._now()
            wait = self.turn()
            gap = min(max(SHORTEST_GAP, self._look_seconds / LOOKING_SHARE), LONGEST_GAP)
            self._stop.wait(max(0.0, gap - (self._now() - began)))
            # Asked again: the bell of `stop` may have rung just before a look, which took it for news of files.
            if wait > gap and not self._stop.is_set():
                self._bell.wait(wait - gap)
        self.progress.activity = "stopping"

    def turn(self) -> float:
        """Look once and learn what is there; return for how long to sleep unless the bell rings."""
        try:
            held_by = self._orders.heed()
            wait = self._look_and_learn() if held_by is None else self._hold(held_by)
        except (StoreChanged, StoreDamaged) as error:
            # The first a new process can use, and whoever watches over this one starts one. The second nobody should
            # write to any more.
            self._wait("ending", str(error))
            self.failure = error
            self._stop.set()
            return 0.0
        except Unavailable as error:
            self._refusals += 1
            self._wait("waiting for the store", str(error))
            return wait_after(self._refusals, BUSY_SECONDS, BUSY_MOST)
        except Exception as error:  # noqa: BLE001 - the worker outlives any defect; it is logged, and tried again
            self._refusals += 1
            reference = _LOG.unexpected("look_failed", error)
            self._wait("waiting", f"looking for news failed; the log has it as {reference}")
            return wait_after(self._refusals, *self._retry)
        self._refusals = 0
        return wait

    def _hold(self, activity: str) -> float:
        """Learn nothing; what is not learning goes on."""
        self.progress.activity, self.progress.problem = activity, None
        self._bell.wait(0.0)
        self._idle()
        return 0.0 if self._orders.are_new() else self._rescan_seconds

    def _look_and_learn(self) -> float:
        self._bell.wait(0.0)  # what rang until now is about to be seen
        looked_at = self._now()
        found = self._learner.find()
        self._look_seconds = self._now() - looked_at
        soon = self._rescan_seconds if found.look_again_in is None else found.look_again_in
        look = _Look(looked_at, self._now() + min(soon, self._rescan_seconds))
        self._forget_broken(found)
        self.progress.problem = None
        self.progress.backlog = len(found.backlog)
        for piece in found.fresh:
            if not self._learn_of_what_is_new(piece, look):
                if self._now() - self._rested_at >= LONGEST_UNREST:
                    self._rest()
                return 0.0
        if found.backlog:
            self._rest()
        for number, piece in enumerate(found.backlog):
            self.progress.backlog = len(found.backlog) - number
            if not self._learn_of_the_backlog(piece, look):
                return 0.0
        self.progress.backlog = 0
        is_caught_up = self._catch_up()
        self.progress.activity = "watching"
        self._rest()
        if not is_caught_up:
            return max(SHORTEST_GAP, self._ceilings.backlog_wait())
        sooner = (found.look_again_in, self._next_retry())
        return min([self._rescan_seconds, *(it for it in sooner if it is not None)])

    def _rest(self) -> None:
        """Let be done what is due between two looks."""
        self._rested_at = self._now()
        self._idle()

    def _learn_of_what_is_new(self, piece: W, look: _Look) -> bool:
        """Learn a piece; `False` where it is time to look again: a note does not wait behind a thousand sessions."""
        if self._stop.is_set():
            return False
        until = self._now() + LONGEST_SLICE
        done = self._learn(piece, lambda: self._is_called_away(until))
        return done is None or (done.is_finished and not self._has_news(look))

    def _learn_of_the_backlog(self, piece: W, look: _Look) -> bool:
        """Learn a piece, resting as the ceilings want; `False` where something else goes first."""
        is_finished = False
        while not is_finished:
            if self._has_fresher(look) or self._stop.is_set():
                return False
            until = min(self._now() + LONGEST_SLICE, look.again_at)
            self._ceilings.begin()
            done = self._learn(piece, lambda until=until: self._gives_way(until))  # type: ignore[misc]
            self._ceilings.end(0 if done is None else done.items)
            is_finished = done is None or done.is_finished
        return True

    def _gives_way(self, until: float) -> bool:
        return self._is_to_stop() or self._bell.has_rung() or self._now() >= until

    def _is_called_away(self, until: float) -> bool:
        """Tell whether a long piece that is new itself leaves a turn to others: a note must not wait behind a book."""
        return self._is_to_stop() or (self._bell.has_rung() and self._now() >= until)

    def _is_to_stop(self) -> bool:
        return self._stop.is_set() or self._orders.are_new()

    def _has_news(self, look: _Look) -> bool:
        """Tell whether to look again before the next piece: bells right after a look are left for the next one."""
        now = self._now()
        has_rung = self._bell.has_rung() and now - look.began_at >= SHORTEST_GAP
        return now >= look.again_at or has_rung or self._orders.are_new()

    def _catch_up(self) -> bool:
        """Do a little of what can wait; `False` where there is more of it to do soon."""
        known = self._broken.get(CATCHING_UP)
        if known is not None and known.until > self._now():
            return True
        self._ceilings.begin()
        until = self._now() + LONGEST_SLICE
        try:
            is_done = self._learner.catch_up(lambda: self._gives_way(until))
        except (Unavailable, StoreDamaged):
            raise
        except Exception as error:  # noqa: BLE001 - what can wait must not keep anything from being learned
            self._note_broken(CATCHING_UP, error)
            return True
        self._ceilings.end(1)
        self._broken.pop(CATCHING_UP, None)
        return is_done

    def _has_fresher(self, look: _Look) -> bool:
        """Wait until the backlog may go on; tell whether something may be there that goes first.

        The backlog moves even while a session goes on: `_has_news` leaves it a little time after each look.
        """
        if self._has_news(look):
            return True
        now, wait = self._now(), self._ceilings.backlog_wait()
        if wait > look.again_at - now:
            self._bell.wait(look.again_at - now)
            return True
        return wait > 0 and self._bell.wait(wait)

    def _forget_broken(self, found: Found[W]) -> None:
        """Forget the broken pieces that are no longer there."""
        if self._broken:
            there = {CATCHING_UP, *(self._learner.name(it) for it in (*found.fresh, *found.backlog))}
            self._broken = {name: it for name, it in self._broken.items() if name in there}

    def _next_retry(self) -> float | None:
        return min((max(0.0, it.until - self._now()) for it in self._broken.values()), default=None)

    def _learn(self, piece: W, should_stop: Callable[[], bool]) -> Done | None:
        """Learn a piece, or some of it; `None` where it is left for later."""
        name = self._learner.name(piece)
        known = self._broken.get(name)
        if known is not None and known.until > self._now():
            return None
        self._wait_for_room()
        if self._is_to_stop():
            return None
        self.progress.activity = "learning"
        try:
            done = self._learner.learn(piece, should_stop)
        except (Unavailable, StoreDamaged):
            raise
        except Exception as error:  # noqa: BLE001 - one piece's defect must not stop the others
            self._note_broken(name, error)
            self.progress.failed += 1
            return Done(failed=1)
        self._broken.pop(name, None)
        self.progress.learned += done.items
        self.progress.failed += done.failed
        return done

    def _note_broken(self, name: str, error: Exception) -> None:
        known = self._broken.get(name)
        failures = 1 if known is None else known.failures + 1
        self._broken[name] = _Broken(failures, self._now() + wait_after(failures, *self._retry))
        _LOG.unexpected("piece_failed", error, failures=failures)

    def _wait_for_room(self) -> None:
        while not self._is_to_stop() and (lack := self._ceilings.lack()) is not None:
            self._wait(f"waiting for {lack.of}", lack.reason)
            self._stop.wait(ROOM_SECONDS)
        self.progress.problem = None

    def _wait(self, activity: str, problem: str) -> None:
        if problem != self.progress.problem:
            _LOG.warning("worker_waits", reason=problem)
        self.progress.activity, self.progress.problem = activity, problem
