"""The command on a terminal of the test's own."""

import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.conftest import BOUND, COMMAND

_STYLE = re.compile("\x1b\\[[0-9;]*m")


class Terminal:
    """A command that runs on a terminal, with what it drew so far."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self.process, self._master = process, master
        self.drawn = ""

    def wait_for(self, text: str) -> None:
        """Read until a text was drawn; what was drawn before is forgotten."""
        seen, until = "", time.monotonic() + BOUND
        while text not in _STYLE.sub("", seen):
            ready, _, _ = select.select([self._master], [], [], max(0.0, until - time.monotonic()))
            piece = self._read() if ready else ""
            assert piece, f"{text!r} was not drawn but {seen!r}"
            seen += piece
        self.drawn = seen

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def ended(self) -> int:
        """Return the exit status; what is drawn meanwhile is read, so that nobody waits for anybody."""
        until = time.monotonic() + BOUND
        while self.process.poll() is None:
            assert time.monotonic() < until, "it did not end"
            if select.select([self._master], [], [], 0.05)[0]:
                self.drawn += self._read()
        while select.select([self._master], [], [], 0)[0] and (piece := self._read()):
            self.drawn += piece
        return self.process.returncode

    def modes(self) -> object:
        """Return how the terminal treats keys."""
        return termios.tcgetattr(self._master)[3]

    def _read(self) -> str:
        try:
            return os.read(self._master, 65_536).decode(errors="replace")
        except OSError:  # the other end is closed
            return ""


@contextmanager
def on_terminal(*words: str | Path, **environ: str) -> Iterator[Terminal]:
    """Run the command on a terminal that is wide enough for whole lines."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (60, 200))
    process = subprocess.Popen(
        [COMMAND, *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color", **environ},
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait(BOUND)
        os.close(master)
