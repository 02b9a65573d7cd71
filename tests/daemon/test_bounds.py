"""Ceilings of a real daemon: it keeps them, and says what it takes."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from daemon.instance import find_state
from graph_memory.home import Home
from tests.daemon.daemons import BOUND, COMMAND, drop, running, say, titles, wait_for

FULL = 1_048_576
"""Megabytes that no disk of a test has free."""
SHARE = 0.25
WATCHED_SECONDS = 12.0
BURST = 0.12
"""Cores that what is no backlog may add, over so short a time: the start, a look, the sign of life."""


@pytest.mark.spec("bounds.disk")
def test_with_too_little_disk_it_learns_nothing_and_says_so_until_there_is_more(home: Home) -> None:
    home.ensure()
    home.config_file.write_text(json.dumps({"limits": {"free_disk_mb": FULL}}))
    with running() as daemon:
        drop(home, "lamp.md", "# The lamp\n\nIts lens is by Fresnel.")
        wait_for(lambda: (state := find_state(home)) is not None and state.activity == "waiting for disk")
        status = subprocess.run([COMMAND, "status", "--json"], capture_output=True, check=False, timeout=BOUND)
        seen = json.loads(status.stdout)
        assert any("limits.free_disk_mb" in it for it in seen["degraded"])
        assert seen["daemon"]["state"]["disk"]["least_mb"] == FULL
        assert titles("fresnel") == []
        assert (home.pending / "lamp.md").exists()
        home.config_file.write_text(json.dumps({"limits": {"free_disk_mb": 0}}))
        wait_for(lambda: titles("fresnel"))
        daemon.ended(signal.SIGTERM)


@pytest.mark.spec("bounds.cpu-kept")
def test_a_backlog_takes_no_more_than_its_share(home: Home, projects: Path) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    for number in range(400):
        say(projects, f"question {number}", f"answer {number}: {words}", number=number)
    [file] = projects.rglob("*.jsonl")
    _age(file)
    with running(GRAPH_MEMORY_LIMITS__CPU_SHARE=str(SHARE), GRAPH_MEMORY_INGEST__ITEMS_PER_MINUTE="100000") as daemon:
        wait_for(lambda: len(titles("answer")) >= 10)
        process = psutil.Process(daemon.process.pid)
        before = sum(process.cpu_times()[:2])
        with pytest.raises(psutil.TimeoutExpired):
            process.wait(WATCHED_SECONDS)
        used = (sum(process.cpu_times()[:2]) - before) / WATCHED_SECONDS
        assert used < SHARE + BURST
        daemon.ended(signal.SIGTERM)


def _age(file: Path) -> None:
    """Make a file one that was there before."""
    old = time.time() - 86_400
    os.utime(file, (old, old))
