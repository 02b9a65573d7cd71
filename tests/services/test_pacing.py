"""Maintenance makes way for others as soon as it meets them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.ports.store import WriteTransaction
from graph_memory.services import pacing
from graph_memory.services.pacing import Pace

T = TypeVar("T")


@dataclass
class Shared(ReferenceStore):
    """A store whose transactions begin after a wait that the test sets, in seconds of its own clock."""

    wait: float = 0.0
    seconds: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def write(self, principal: Principal, work: Callable[[WriteTransaction], T]) -> T:
        self.seconds += self.wait
        return super().write(principal, work)


@pytest.fixture
def shared() -> Shared:
    return Shared()


@pytest.fixture
def pace(shared: Shared) -> Pace:
    return Pace(shared.pauses.append, lambda: shared.seconds)


def go(pace: Pace, shared: Shared, times: int = 1) -> list[int]:
    """Write slices with their pauses; return how many rows each was allowed."""
    rows = []
    for _ in range(times):
        rows.append(pace.rows)
        pace.write(shared, LOCAL_ADMIN, lambda _tx: None)
        pace.rest()
    return rows


def test_alone_it_takes_large_slices_and_short_pauses(pace: Pace, shared: Shared) -> None:
    assert go(pace, shared, 3) == [pacing.SLICE] * 3
    assert shared.pauses == [pacing.PAUSE_SECONDS] * 3


def test_having_waited_it_takes_small_slices_and_long_pauses_for_a_while(pace: Pace, shared: Shared) -> None:
    shared.wait = 0.02
    go(pace, shared)
    shared.wait = 0.0
    rows = go(pace, shared, pacing.REMEMBERED + 1)
    assert rows == [pacing.SLICE_BESIDE_OTHERS] * pacing.REMEMBERED + [pacing.SLICE]
    assert shared.pauses[: pacing.REMEMBERED] == [pacing.PAUSE_BESIDE_OTHERS] * pacing.REMEMBERED
    assert shared.pauses[-1] == pacing.PAUSE_SECONDS


def test_what_its_own_work_takes_is_no_wait(pace: Pace, shared: Shared) -> None:
    def work(_tx: WriteTransaction) -> str:
        shared.seconds += 5
        return "done"

    assert pace.write(shared, LOCAL_ADMIN, work) == "done"
    assert pace.rows == pacing.SLICE


def test_a_slice_set_smaller_than_that_beside_others_stays(
    pace: Pace, shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pacing, "SLICE", 2)
    shared.wait = 1
    assert go(pace, shared, 2) == [2, 2]
