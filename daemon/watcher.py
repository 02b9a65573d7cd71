"""Hints that files changed; whatever they miss, the rescan finds."""

import ctypes
import os
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.polling import PollingObserver

from graph_memory.log import get_logger

POLL_SECONDS = 2.0
_MOST_NOTED = 1_000
"""Files that are noted one by one; past that, all are looked at."""
_LOG = get_logger("daemon.watcher")
_IN_DELETE_SELF = 0x400
_QUIET = frozenset({"opened", "closed_no_write"})


class Wakeup:
    """A bell for one worker: rung by whoever has news, heard once; who rings may say which file it is about."""

    def __init__(self) -> None:
        self._bell = threading.Event()
        self._lock = threading.Lock()
        self._changed: set[Path] | None = None

    def ring(self) -> None:
        """Wake the worker, now or when it next waits."""
        self._bell.set()

    def note(self, path: Path) -> None:
        """Say that a file may have changed; `take_changed` has it until it is asked."""
        with self._lock:
            if self._changed is not None:
                self._changed.add(path)
                if len(self._changed) > _MOST_NOTED:
                    self._changed = None

    def note_anything(self) -> None:
        """Say that any file may have changed."""
        with self._lock:
            self._changed = None

    def take_changed(self) -> frozenset[Path] | None:
        """Return the files that were noted since the last time; `None` where it may be any, as in the beginning."""
        with self._lock:
            changed, self._changed = self._changed, set()
        return None if changed is None else frozenset(changed)

    def wait(self, seconds: float) -> bool:
        """Wait for the bell for at most `seconds`; tell whether it rang."""
        rang = self._bell.wait(seconds)
        self._bell.clear()
        return rang

    def has_rung(self) -> bool:
        """Tell whether somebody rang since the last wait, without waiting."""
        return self._bell.is_set()


class _Ringer(FileSystemEventHandler):
    def __init__(self, wakeup: Wakeup) -> None:
        self._wakeup = wakeup

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Ring for anything that may have changed a file, once it is noted which."""
        if event.event_type in _QUIET:
            return
        if not event.is_directory:
            for name in (event.src_path, event.dest_path):
                if name:
                    self._wakeup.note(Path(os.fsdecode(name)))
        elif event.event_type != "modified":  # a folder came, went or was renamed, with all that is in it
            self._wakeup.note_anything()
        self._wakeup.ring()


@dataclass(frozen=True, slots=True)
class _Watched:
    watch: ObservedWatch
    identity: tuple[int, int]
    """Device and inode: a folder that was removed and made again is another one, and its old watch is dead."""


class Watcher:
    """Watches folders and all below them; where the system's events can't be had, it looks by itself.

    A folder that does not exist yet is watched once it does: `refresh` looks again. `problem` says why events can't be
    had.
    """

    def __init__(self, folders: Iterable[Path], wakeup: Wakeup, *, polling: bool = False) -> None:
        self._folders, self._polling = tuple(folders), polling
        self._wakeup, self._ringer = wakeup, _Ringer(wakeup)
        self._wanted = (self._folders, polling)
        self._observer: BaseObserver | None = None
        self._watched: dict[Path, _Watched] = {}
        self.problem: str | None = None

    def start(self) -> None:
        """Begin to watch; a limit of the system is a warning, not an end."""
        try:
            observer = PollingObserver(timeout=POLL_SECONDS) if self._polling else Observer()
            observer.start()
        except OSError as error:
            self._fall_back(error)
            return
        self._observer = observer
        self.refresh()

    def refresh(self) -> None:
        """Watch the folders that have appeared, and forget those that are gone."""
        for folder in self._folders:
            identity = _identity(folder)
            known = self._watched.get(folder)
            if self._observer is None or identity == (None if known is None else known.identity):
                continue
            if known is not None:
                del self._watched[folder]
                with suppress(KeyError):
                    self._observer.unschedule(known.watch)
            if identity is None:
                continue
            try:
                watch = self._observer.schedule(self._ringer, str(folder), recursive=True)
            except OSError as error:
                self._fall_back(error)
                return
            self._watched[folder] = _Watched(watch, identity)
            self._wakeup.note_anything()  # what came before the watch did
        if self._observer is not None and not self._polling and not has_watches_left():
            self._fall_back(OSError(ENOSPC, "the system's limit of watches is reached"))

    def put_folders(self, folders: Iterable[Path], *, polling: bool) -> None:
        """Watch other folders, or in another way, from now on; nothing happens where they are the same."""
        wanted = (tuple(folders), polling)
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self.stop()
        self._folders, self._polling = wanted
        self.problem = None
        self.start()

    def _fall_back(self, error: OSError) -> None:
        """Poll instead: the system has no more watches to give, or sends no events for such a folder."""
        reason = error.strerror or type(error).__name__
        self.stop()
        if self._polling:
            self.problem = f"file events: {reason}; changes are found by the rescan alone"
        else:
            self.problem = f"file events: {reason}; polling instead"
            self._polling = True
            self.start()
        _LOG.warning("file_events_unavailable", reason=reason)

    def stop(self) -> None:
        """End; safe to call again."""
        observer, self._observer = self._observer, None
        self._watched.clear()
        if observer is not None:
            observer.stop()
            if observer.is_alive():
                observer.join()


def has_watches_left() -> bool:
    """Tell whether this user may watch one folder more; only Linux counts them.

    The library is silent about folders below the one it was given for which there was no watch left, so that nothing
    would be heard of them. Watches are counted by user, not by who holds them, so one of our own tells.
    """
    if sys.platform != "linux":
        return True
    libc = ctypes.CDLL(None, use_errno=True)
    instance = libc.inotify_init1(os.O_CLOEXEC)
    if instance < 0:
        return True  # no instance left is no word about watches
    try:
        return libc.inotify_add_watch(instance, b"/", _IN_DELETE_SELF) >= 0 or ctypes.get_errno() != ENOSPC
    finally:
        os.close(instance)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if folder.is_dir() else None
