"""What signals tell the daemon: to end, to read its settings anew."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

TERMINAL = "/dev/tty"


@dataclass(slots=True)
class Told:
    """What signals said: to end, once and for all; to reload, which calls `on_reload`, in the main thread."""

    ending: threading.Event = field(default_factory=threading.Event)
    on_reload: Callable[[], object] = lambda: None


@contextmanager
def told_by_signal() -> Iterator[Told]:
    """Heed signals: the first that means the end sets `ending`, the second one ends the process; a hangup reloads.

    A hangup because the terminal went that it was started from is an end; `nohup` keeps it from being one.
    """
    told, had_terminal = Told(), has_terminal()

    def end(number: int, _frame: FrameType | None) -> None:
        if told.ending.is_set():
            os._exit(128 + number)
        told.ending.set()

    def hang_up(number: int, frame: FrameType | None) -> None:
        if had_terminal and not has_terminal():
            end(number, frame)
        else:
            told.on_reload()

    handlers = {signal.SIGTERM: end, signal.SIGINT: end, signal.SIGHUP: hang_up}
    heeded = {number: it for number, it in handlers.items() if signal.getsignal(number) != signal.SIG_IGN}
    before = {number: signal.signal(number, handler) for number, handler in heeded.items()}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def has_terminal() -> bool:
    """Tell whether there is a terminal that this process belongs to; one that was closed is none."""
    try:
        descriptor = os.open(TERMINAL, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    os.close(descriptor)
    return True
