"""A client is told that nothing is learned now."""

from datetime import timedelta

import pytest

from graph_memory.pauses import Pause, put_pause
from tests.tools.conftest import Client, Clock


@pytest.mark.spec("pause.shown")
def test_a_pause_is_among_the_degraded_parts_until_it_is_over(client: Client, clock: Clock) -> None:
    client.services.home.ensure()
    put_pause(client.services.home, Pause(clock.now, clock.now + timedelta(hours=2)))
    degraded = client.call("graph_stats")["health"]["degraded"]
    assert any(it.startswith("learning: paused until") and "graph-memory resume" in it for it in degraded)
    clock.advance(days=1)
    assert not any("paused" in it for it in client.call("graph_stats")["health"]["degraded"])
