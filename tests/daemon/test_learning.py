"""How the worker's view of ingest looks for work: at what changed, and everywhere from time to time."""

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from daemon.learning import IngestLearner, build_pipeline
from graph_memory.bootstrap import Services
from graph_memory.domain.errors import Unavailable
from ingest.pipeline import IngestPipeline
from ingest.work import Scan


class Looks:
    """A learner, what is said to have changed, and what it was looked at."""

    def __init__(self, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, self.changed = 0.0, frozenset[Path]()
        self.looks: list[Collection[Path] | None] = []
        self.is_broken = False
        monkeypatch.setattr(IngestPipeline, "scan", self.scan)
        self.learner = IngestLearner(
            build_pipeline(services), lambda: self.changed, rescan_seconds=300.0, now=lambda: self.seconds
        )

    def scan(self, changed: Collection[Path] | None = None) -> Scan:
        self.looks.append(changed)
        if self.is_broken:
            raise Unavailable("busy")
        return Scan()


@pytest.fixture
def looks(services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[Looks]:
    looks = Looks(services, monkeypatch)
    yield looks
    looks.learner.close()


def test_everywhere_first_then_at_what_changed_and_everywhere_again_in_time(looks: Looks) -> None:
    looks.learner.find()
    looks.changed = frozenset({Path("/a")})
    looks.learner.find()
    looks.seconds = 299.0
    looks.learner.find()
    looks.seconds = 300.0
    looks.learner.find()
    looks.learner.find()
    assert looks.looks == [None, {Path("/a")}, {Path("/a")}, None, {Path("/a")}]


def test_what_was_named_to_a_look_that_failed_is_not_lost(looks: Looks) -> None:
    looks.learner.find()
    looks.changed, looks.is_broken = frozenset({Path("/a")}), True
    with pytest.raises(Unavailable):
        looks.learner.find()
    looks.changed, looks.is_broken = frozenset(), False
    looks.learner.find()
    looks.learner.find()
    assert looks.looks[1:] == [{Path("/a")}, None, frozenset()]


def test_other_settings_look_everywhere(looks: Looks, services: Services) -> None:
    looks.learner.find()
    looks.learner.put_pipeline(build_pipeline(services), rescan_seconds=10.0)
    looks.learner.find()
    looks.seconds = 10.0
    looks.learner.find()
    assert looks.looks == [None, None, None]
