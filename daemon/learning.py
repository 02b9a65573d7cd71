"""The worker's view of `ingest`: what there is to learn, and one piece of it at a time."""

import os
from collections.abc import Callable, Collection
from errno import ENOENT
from math import inf
from pathlib import Path

from daemon.rates import Rates
from daemon.worker import Done, Found
from graph_memory.bootstrap import Services
from graph_memory.log import get_logger
from ingest.pipeline import IngestPipeline
from ingest.policies import Policies
from ingest.work import Scan, Work, WorkDone

_ABSENT = os.strerror(ENOENT)
_LOG = get_logger("daemon.learning")


def build_pipeline(services: Services) -> IngestPipeline:
    """Wire learning into a home's services; whoever has it calls `close` in the end."""
    policies = Policies(services.graph_policy, services.memory_policy)
    return IngestPipeline(services.store, services.home, services.settings, services.clock, policies)


class IngestLearner:
    """Finds and learns through a pipeline; a `worker.Learner` of its pieces of work.

    `changed` returns the files that may have changed since it was asked the last time, or `None` for any; all folders
    are looked into every `rescan_seconds`, whatever it says. `unreadable` names those that could not be the last time,
    with the reason; `rates` says how much is learned.
    """

    def __init__(
        self,
        pipeline: IngestPipeline,
        changed: Callable[[], Collection[Path] | None],
        *,
        rescan_seconds: float,
        now: Callable[[], float],
    ) -> None:
        self._pipeline, self._changed, self._now = pipeline, changed, now
        self._rescan_seconds, self._looked_everywhere_at = rescan_seconds, -inf
        self._left_in_the_middle: set[str] = set()
        self.unreadable: tuple[str, ...] = ()
        self.rates = Rates()

    def find(self) -> Found[Work]:
        """Look at all folders; a piece of the backlog that was begun stays one.

        Raises:
            Unavailable: the store can't be used now.
        """
        scan = self._scan()
        self.unreadable = tuple(it for it in scan.unreadable if not it.endswith(_ABSENT))
        self._left_in_the_middle &= {it.name for it in scan.works}
        return Found(
            fresh=[it for it in scan.works if not self._is_backlog(it)],
            backlog=[it for it in scan.works if self._is_backlog(it)],
            look_again_in=scan.look_again_in,
        )

    def put_pipeline(self, pipeline: IngestPipeline, *, rescan_seconds: float) -> None:
        """Go on with a pipeline that has other settings; for the thread that learns."""
        self._pipeline.close()
        self._pipeline, self._rescan_seconds, self._looked_everywhere_at = pipeline, rescan_seconds, -inf

    def _scan(self) -> Scan:
        now, changed = self._now(), self._changed()
        if now - self._looked_everywhere_at >= self._rescan_seconds:
            changed = None
        self._looked_everywhere_at, before = -inf, self._looked_everywhere_at
        scan = self._pipeline.scan(changed)  # where this fails, what was named is not named again
        self._looked_everywhere_at = now if changed is None else before
        return scan

    def learn(self, piece: Work, should_stop: Callable[[], bool]) -> Done:
        """Learn a piece.

        Raises:
            Unavailable: the store can't be used now; the piece waits where it was.
        """
        done = self._pipeline.run(piece, should_stop=should_stop)
        self.rates.note(done.items, _read_bytes(done))
        if done.is_finished:
            self._left_in_the_middle.discard(piece.name)
        elif self._is_backlog(piece):
            self._left_in_the_middle.add(piece.name)
        if done.items or done.failed:
            _LOG.info("learned", kind=piece.kind.value, id=_id(done), items=done.items, failed=done.failed)
        return Done(done.items, done.failed, is_finished=done.is_finished)

    def name(self, piece: Work) -> str:
        """Return what a piece is known by."""
        return piece.name

    def catch_up(self, should_stop: Callable[[], bool]) -> bool:
        """Join a few older memories to entities that appeared after them; tell whether that was all.

        Raises:
            Unavailable: the store can't be used now.
        """
        return self._pipeline.link_late_mentions(should_stop=should_stop).is_done

    def give_up(self) -> None:
        """Have what takes long and can be taken up again end now; any thread may call this."""
        self._pipeline.give_up()

    def close(self) -> None:
        """Give back what the pipeline holds."""
        self._pipeline.close()

    def _is_backlog(self, piece: Work) -> bool:
        return piece.is_backlog or piece.name in self._left_in_the_middle


def _id(done: WorkDone) -> str | None:
    """Return what the store calls what was learned; names of files may tell what somebody wrote."""
    if done.transcript is not None:
        return done.transcript.session_id
    return None if done.item is None else done.item.id


def _read_bytes(done: WorkDone) -> int:
    if done.transcript is not None:
        return done.transcript.bytes_read
    return 0 if done.item is None or not done.items else done.item.size
