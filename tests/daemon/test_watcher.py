"""Hints that files changed."""

import errno
import time
from pathlib import Path

import pytest
from watchdog.observers import Observer

from daemon import watcher as watcher_module
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


def test_a_file_that_changed_is_named_and_a_new_folder_means_any(tmp_path: Path) -> None:
    bell, file = Wakeup(), tmp_path / "a" / "s.jsonl"
    file.parent.mkdir()
    watcher = started(Watcher([tmp_path], bell))
    try:
        assert bell.take_changed() is None  # what was there before
        file.write_text("{}")
        assert bell.wait(BOUND)
        named = set[Path]()
        until = time.monotonic() + BOUND
        while file not in named and time.monotonic() < until:
            named |= bell.take_changed() or set()
        assert named == {file}
        (tmp_path / "b").mkdir()
        while (changed := bell.take_changed()) is not None and time.monotonic() < until:
            assert changed <= {file}
        assert changed is None
    finally:
        watcher.stop()


def test_a_folder_that_is_watched_anew_means_any_file(tmp_path: Path) -> None:
    bell, late = Wakeup(), tmp_path / "projects"
    watcher = started(Watcher([late], bell))
    try:
        bell.take_changed()
        late.mkdir()
        watcher.refresh()
        assert bell.take_changed() is None
    finally:
        watcher.stop()


def test_other_folders_can_be_watched_while_it_runs(tmp_path: Path) -> None:
    bell = Wakeup()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    watcher = started(Watcher([tmp_path / "a"], bell))
    try:
        watcher.put_folders([tmp_path / "b"], polling=False)
        while bell.wait(0.1):
            pass
        (tmp_path / "a" / "x").write_text("not heard")
        assert not bell.wait(0.5)
        (tmp_path / "b" / "y").write_text("heard")
        assert bell.wait(BOUND)
    finally:
        watcher.stop()


def test_very_many_files_mean_any() -> None:
    bell = Wakeup()
    bell.take_changed()
    bell.note(Path("/a"))
    assert bell.take_changed() == frozenset({Path("/a")})
    assert bell.take_changed() == frozenset()
    for number in range(2_000):
        bell.note(Path(f"/{number}"))
    assert bell.take_changed() is None


def test_watches_that_run_out_below_a_folder_are_noticed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher_module, "has_watches_left", lambda: False)
    watcher = started(Watcher([tmp_path], Wakeup()))
    try:
        assert watcher.problem == "file events: the system's limit of watches is reached; polling instead"
        watcher.refresh()
        assert watcher.problem.endswith("polling instead")
    finally:
        watcher.stop()


def test_with_watches_left_nothing_is_said(tmp_path: Path) -> None:
    watcher = started(Watcher([tmp_path], Wakeup()))
    try:
        assert watcher_module.has_watches_left()
        assert watcher.problem is None
    finally:
        watcher.stop()
