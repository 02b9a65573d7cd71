"""What `docs/reliability.md` promises is held by tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`(test_\w+)`")


def test_every_test_that_the_page_of_troubles_names_exists() -> None:
    named = set(NAMED.findall((ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")))
    there = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(named) > 20
    assert named - there == set()


def test_every_event_of_the_page_has_a_test() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| event")]
    assert [row for row in rows if not NAMED.search(row)] == []
