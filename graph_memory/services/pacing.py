"""How maintenance goes through many rows without anybody waiting for it."""

import time
from collections.abc import Callable
from typing import TypeVar

from graph_memory.domain.principal import Principal
from graph_memory.ports.store import Store, WriteTransaction

T = TypeVar("T")

SLICE = 5_000
"""Rows of one transaction while nobody else writes: more win nothing, fewer take longer in all."""
SLICE_BESIDE_OTHERS = 1_000
PAUSE_SECONDS = 0.003
"""Between two transactions, so that whoever comes meanwhile gets in."""
PAUSE_BESIDE_OTHERS = 0.01
LONG_WAIT_SECONDS = 0.001
"""Who waits longer for a transaction to begin is not alone."""
REMEMBERED = 20
"""Transactions for which others are reckoned with once they were met."""


class Pace:
    """Large slices and short pauses while alone; small ones and long ones while others write.

    A store tells nobody who waits for it, but whoever meets others has to wait as well. `pause` is called with seconds;
    `ticks` counts them.
    """

    def __init__(self, pause: Callable[[float], None], ticks: Callable[[], float] = time.monotonic) -> None:
        self._pause, self._ticks = pause, ticks
        self._reckoning = 0

    @property
    def rows(self) -> int:
        """How many rows the next transaction may change."""
        return SLICE_BESIDE_OTHERS if self._reckoning and SLICE_BESIDE_OTHERS < SLICE else SLICE

    def write(self, store: Store, principal: Principal, work: Callable[[WriteTransaction], T]) -> T:
        """Run a slice in a transaction, as `Store.write` does."""
        asked = began = self._ticks()

        def noted(tx: WriteTransaction) -> T:
            nonlocal began
            began = self._ticks()
            return work(tx)

        result = store.write(principal, noted)
        self._reckoning = REMEMBERED if began - asked > LONG_WAIT_SECONDS else max(0, self._reckoning - 1)
        return result

    def rest(self) -> None:
        """Stay out of the way between two slices."""
        self._pause(PAUSE_BESIDE_OTHERS if self._reckoning else PAUSE_SECONDS)
