"""`graph-memory demo`."""

from pathlib import Path

from cli.samples import NOTES
from tests.cli.conftest import Run


def test_it_learns_answers_and_leaves_nothing_behind(run: Run, home: Path, tmp_path: Path) -> None:
    done = run("demo", TMPDIR=str(tmp_path))
    assert done.status == 0, done.err
    assert done.err == ""
    for name in NOTES:
        assert f"{Path(name).name}: 1 note learned" in done.out
    assert "conversation: 3 turns learned" in done.out
    for part in ("Postgres instead of MongoDB", "lock_timeout", "Sandvik", "MENTIONS → tidewater"):
        assert part in done.out
    assert not home.exists()
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_the_users_settings_or_sessions_is_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "projects" / "p").mkdir(parents=True)
    (tmp_path / "projects" / "p" / "s.jsonl").write_text("not read")
    done = run("demo", CLAUDE_PROJECTS_DIR=str(tmp_path / "projects"), GRAPH_MEMORY_EXCLUDE__PROJECTS="tidewater")
    assert "conversation: 3 turns learned" in done.out
