"""The one worker: whenever the bell rings, and every few minutes, it looks for what is new and learns it."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from daemon.ceilings import Ceilings
from daemon.times import wait_after
from daemon.watcher import Wakeup
from graph_memory.domain.errors import Unavailable
from graph_memory.log import get_logger

W = TypeVar("W")

SHORTEST_GAP = 0.25
"""Seconds between two looks: a session that is being written to rings many times a second."""
LONGEST_GAP = 1.0
LOOKING_SHARE = 0.1
"""Share of the time that looks may take: with very many transcripts each takes a while, and the gap grows with it."""
LONGEST_SLICE = 2.0
"""Seconds after which a long piece of the backlog is left in the middle, so that it rests as much as it worked."""
BUSY_SECONDS, BUSY_MOST = 1.0, 60.0
"""Seconds to wait after the store could not be used, doubled each time; a transaction itself waits half a minute."""
MEMORY_SECONDS = 5.0
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

    def catch_up(self) -> bool:
        """Do a little of what can wait until everything was learned; tell whether that was all.

        Raises:
            Unavailable: the store can't be used now.
        """


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

    `rescan_seconds` is the longest it sleeps. `idle` is called whenever it has learned what is new. What breaks is
    left for a while (`retry_seconds`, doubled each time up to `retry_most`).
    """

    def __init__(
        self,
        learner: Learner[W],
        bell: Wakeup,
        ceilings: Ceilings,
        *,
        rescan_seconds: float,
        retry_seconds: float,
        retry_most: float,
        idle: Callable[[], None],
        now: Callable[[], float],
    ) -> None:
        self._learner, self._bell, self._ceilings, self._idle, self._now = learner, bell, ceilings, idle, now
        self._rescan_seconds = rescan_seconds
        self._retry = (retry_seconds, retry_most)
        self._stop = threading.Event()
        self._broken: dict[str, _Broken] = {}
        self._refusals = 0
        self._look_seconds = 0.0
        self.progress = Progress()

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
            if wait > gap:
                self._bell.wait(wait - gap)
        self.progress.activity = "stopping"

    def turn(self) -> float:
        """Look once and learn what is there; return for how long to sleep unless the bell rings."""
        try:
            wait = self._look_and_learn()
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
            if self._stop.is_set():
                return 0.0
            self._learn(piece, self._stop.is_set)
        if found.backlog:
            self._idle()
        for done, piece in enumerate(found.backlog):
            self.progress.backlog = len(found.backlog) - done
            if not self._learn_of_the_backlog(piece, look):
                return 0.0
        self.progress.backlog = 0
        is_caught_up = self._catch_up()
        self.progress.activity = "watching"
        self._idle()
        if not is_caught_up:
            return max(SHORTEST_GAP, self._ceilings.backlog_wait())
        sooner = (found.look_again_in, self._next_retry())
        return min([self._rescan_seconds, *(it for it in sooner if it is not None)])

    def _learn_of_the_backlog(self, piece: W, look: _Look) -> bool:
        """Learn a piece, resting as the ceilings want; `False` where something else goes first."""
        is_finished = False
        while not is_finished:
            if self._has_fresher(look) or self._stop.is_set():
                return False
            until = min(self._now() + LONGEST_SLICE, look.again_at)
            self._ceilings.begin()
            done = self._learn(piece, lambda until=until: self._gives_way(until))  # type: ignore[misc]
            self._ceilings.end(done.items)
            is_finished = done.is_finished
        return True

    def _gives_way(self, until: float) -> bool:
        return self._stop.is_set() or self._bell.has_rung() or self._now() >= until

    def _catch_up(self) -> bool:
        """Do a little of what can wait; `False` where there is more of it to do soon."""
        known = self._broken.get(CATCHING_UP)
        if known is not None and known.until > self._now():
            return True
        self._ceilings.begin()
        try:
            is_done = self._learner.catch_up()
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - what can wait must not keep anything from being learned
            self._note_broken(CATCHING_UP, error)
            return True
        self._ceilings.end(1)
        self._broken.pop(CATCHING_UP, None)
        return is_done

    def _has_fresher(self, look: _Look) -> bool:
        """Wait until the backlog may go on; tell whether something may be there that goes first.

        Bells right after a look are left for the next one, so that the backlog moves even while a session goes on.
        """
        now = self._now()
        if now >= look.again_at or (self._bell.has_rung() and now - look.began_at >= SHORTEST_GAP):
            return True
        wait = self._ceilings.backlog_wait()
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

    def _learn(self, piece: W, should_stop: Callable[[], bool]) -> Done:
        name = self._learner.name(piece)
        known = self._broken.get(name)
        if known is not None and known.until > self._now():
            return Done()
        self._wait_for_memory()
        if self._stop.is_set():
            return Done()
        self.progress.activity = "learning"
        try:
            done = self._learner.learn(piece, should_stop)
        except Unavailable:
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

    def _wait_for_memory(self) -> None:
        while not self._stop.is_set() and not self._ceilings.has_memory():
            self._wait("waiting for memory", "limits.memory_mb is reached; learning waits")
            self._stop.wait(MEMORY_SECONDS)
        self.progress.problem = None

    def _wait(self, activity: str, problem: str) -> None:
        if problem != self.progress.problem:
            _LOG.warning("worker_waits", reason=problem)
        self.progress.activity, self.progress.problem = activity, problem
