"""Hints that files changed."""

import errno
from pathlib import Path

import pytest
from watchdog.observers import Observer

from daemon.watcher import Wakeup, Watcher

BOUND = 20.0


def started(watcher: Watcher) -> Watcher:
    watcher.start()
    return watcher


@pytest.mark.parametrize("polling", [False, True])
def test_a_file_that_appears_deep_down_rings(tmp_path: Path, polling: bool) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    bell = Wakeup()
    watcher = started(Watcher([tmp_path], bell, polling=polling))
    try:
        (tmp_path / "a" / "b" / "note.md").write_text("hello")
        assert bell.wait(BOUND)
    finally:
        watcher.stop()


def test_a_folder_that_appears_later_is_watched_after_a_refresh(tmp_path: Path) -> None:
    bell = Wakeup()
    late = tmp_path / "projects"
    watcher = started(Watcher([late], bell))
    try:
        late.mkdir()
        watcher.refresh()
        (late / "session.jsonl").write_text("{}")
        assert bell.wait(BOUND)
    finally:
        watcher.stop()


def test_a_folder_that_was_made_anew_is_watched_again(tmp_path: Path) -> None:
    bell = Wakeup()
    folder = tmp_path / "projects"
    folder.mkdir()
    watcher = started(Watcher([folder], bell))
    try:
        folder.rename(tmp_path / "elsewhere")
        watcher.refresh()
        folder.mkdir()
        watcher.refresh()
        while bell.wait(0.2):
            pass  # what removing it rang
        (folder / "session.jsonl").write_text("{}")
        assert bell.wait(BOUND)
    finally:
        watcher.stop()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_out_of_watches_it_polls_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, "inotify limit reached")

    monkeypatch.setattr(Observer, "schedule", refuse)
    bell = Wakeup()
    watcher = started(Watcher([tmp_path], bell))
    try:
        assert watcher.problem == "file events: inotify limit reached; polling instead"
        (tmp_path / "note.md").write_text("hello")
        assert bell.wait(BOUND)
    finally:
        watcher.stop()


def test_stopping_twice_is_harmless(tmp_path: Path) -> None:
    watcher = started(Watcher([tmp_path], Wakeup()))
    watcher.stop()
    watcher.stop()


def test_a_bell_is_heard_once() -> None:
    bell = Wakeup()
    bell.ring()
    bell.ring()
    assert bell.has_rung()
    assert bell.wait(0)
    assert not bell.wait(0)
