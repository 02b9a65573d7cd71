"""`graph-memory job`."""

import re
from pathlib import Path

import pytest

from daemon.jobs import JOBS
from tests.cli.conftest import Run


@pytest.mark.parametrize("name", list(JOBS))
def test_a_job_can_be_run_by_hand_and_is_kept(run: Run, used_home: Path, name: str) -> None:
    done = run("job", "run", name, "--json")
    assert done.status == 0
    assert (done.json["job"], done.json["status"]) == (name, "succeeded")
    listed = {it["name"]: it for it in run("job", "list", "--json").json["jobs"]}
    assert listed[name]["last_run"]["result"] == done.json["result"]


def test_jobs_are_listed_with_their_next_times(run: Run, used_home: Path) -> None:
    done = run("job", "list")
    assert done.status == 0
    for name in JOBS:
        assert name in done.out
    assert "never ran · next 20" in done.out


def test_a_job_that_is_switched_off_says_so(run: Run, used_home: Path) -> None:
    done = run("job", "list", GRAPH_MEMORY_JOBS__DECAY__ENABLED="false")
    assert "switched off" in done.out


def test_a_job_that_fails_ends_with_one_and_its_reason(run: Run, used_home: Path) -> None:
    (used_home / "backups").rmdir()
    (used_home / "backups").symlink_to("/proc" if Path("/proc").is_dir() else "/dev")  # where nobody makes files
    done = run("job", "run", "export")
    assert done.status == 1
    assert done.err.startswith("Error: export failed: ")


def test_the_figures_of_a_run_stand_in_a_column_for_people(run: Run, used_home: Path) -> None:
    done = run("job", "run", "validate")
    assert done.status == 0
    first, *figures = done.out.splitlines()
    assert first.startswith("validate succeeded in ")
    assert figures == ["  issues   0", "  by type  none"]
    exported = run("job", "run", "export").out
    assert "  rows: memory " in exported
    assert "{" not in exported


def test_a_list_shows_the_last_run_beside_the_next(run: Run, used_home: Path) -> None:
    run("job", "run", "decay")
    shown = run("job", "list").out
    assert re.search(r"succeeded \d{4}-\d\d-\d\d \d\d:\d\d · next \d{4}-\d\d-\d\d \d\d:\d\d", shown)
