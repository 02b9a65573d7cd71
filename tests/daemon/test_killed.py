"""A first pass that is killed again and again ends like one left in peace; `bench.killed` does it at full size."""

import random
from pathlib import Path

import pytest

from bench.killed import compare, make_documents, make_sessions


@pytest.mark.spec("inbox.crash", "transcripts.cursor.resumes")
def test_kills_at_random_moments_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    draw = random.Random(7)

    def fill(projects: Path, pending: Path) -> None:
        make_sessions(projects, 1)
        make_documents(pending, 25, draw)

    compared = compare(tmp_path, 4, draw, fill)
    assert compared["differences"] == {}
    rows = compared["rows"]
    assert isinstance(rows, dict)
    assert rows["IngestItem"] == 25
    assert rows["Memory"] > 25
