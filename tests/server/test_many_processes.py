"""Several servers and the daemon on one home."""

from pathlib import Path

import pytest

from bench.concurrency import run


@pytest.mark.timeout(300)
def test_four_servers_and_the_daemon_lose_nothing_and_lock_nobody_out(tmp_path: Path) -> None:
    report = run(24, tmp_path / "home")
    assert report["failures"] == []
    assert report["writes"] == report["reads"] == 4 * 24
    assert report["notes_learned_meanwhile"] == 20
    assert report["daemon_exit"] == 0
