"""How long the inbox and the changelogs are kept."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from daemon.retention import remove_old_files
from graph_memory.config.settings import Limits
from graph_memory.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.ensure()
    return home


def put(folder: Path, name: str = "a/note.md") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("text")
    return file


def in_days(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


@pytest.mark.spec("config.ceiling.completed")
def test_what_was_completed_goes_after_thirty_days(home: Home) -> None:
    file = put(home.completed)
    assert remove_old_files(home, Limits(), in_days(29.9)).completed == 0
    assert file.exists()
    assert remove_old_files(home, Limits(), in_days(30.1)).completed == 1
    assert list(home.completed.iterdir()) == []


@pytest.mark.spec("config.ceiling.failed")
def test_what_failed_goes_after_ninety_days_with_its_reason(home: Home) -> None:
    for name in ("a/bad.md", "a/bad.md.reason.txt"):
        put(home.failed, name)
    assert remove_old_files(home, Limits(), in_days(89.9)).failed == 0
    assert remove_old_files(home, Limits(), in_days(90.1)).failed == 2


@pytest.mark.spec("config.ceiling.changelogs")
def test_changelogs_go_after_a_year(home: Home) -> None:
    for day in ("2026-01-01", "2026-01-02"):
        home.changelog(datetime.fromisoformat(day).date()).write_text("# day")
    put(home.logs, "daemon.log")
    put(home.logs, "my-own-thing.md")
    assert remove_old_files(home, Limits(), datetime(2027, 1, 2, 3, tzinfo=UTC)).changelogs == 1
    assert sorted(it.name for it in home.logs.iterdir()) == ["2026-01-02.md", "daemon.log", "my-own-thing.md"]


def test_an_old_note_that_was_learned_today_is_kept_from_today(home: Home) -> None:
    file = put(home.pending)
    os.utime(file, (0, 0))
    (home.completed / "a").mkdir()
    file.rename(home.completed / "a" / "note.md")
    assert remove_old_files(home, Limits(), in_days(1)).completed == 0


def test_what_waits_is_never_removed(home: Home) -> None:
    waiting = [put(home.pending), put(home.processing)]
    remove_old_files(home, Limits(), in_days(10_000))
    assert all(it.exists() for it in waiting)


def test_links_are_removed_and_not_followed(home: Home, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", "keep.md")
    (home.completed / "folder").symlink_to(outside.parent)
    (home.completed / "file.md").symlink_to(outside)
    remove_old_files(home, Limits(), in_days(10_000))
    assert outside.exists()
