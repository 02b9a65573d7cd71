"""What signals mean: an end, another look at the settings, or nothing."""

import os
import pty
import signal
import subprocess
import sys

import pytest

from daemon.exits import Exit
from graph_memory.home import Home
from tests.daemon.daemons import BOUND, COMMAND, pid_of_daemon, wait_for

HANGUP = """
import os, signal, threading
from daemon.signals import told_by_signal
signal.signal(signal.SIGHUP, signal.{before})
with told_by_signal() as told:
    heard = []
    told.on_reload = lambda: heard.append(1)
    os.kill(os.getpid(), signal.SIGHUP)
    assert heard == {heard}
    assert not told.ending.is_set()
    os.kill(os.getpid(), signal.SIGTERM)
    assert told.ending.is_set()
"""


@pytest.mark.parametrize(("before", "heard"), [("SIG_DFL", [1]), ("SIG_IGN", [])])
def test_a_hangup_reloads_unless_it_is_ignored_and_does_not_end(before: str, heard: list[int]) -> None:
    code = HANGUP.format(before=before, heard=heard)
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=BOUND, start_new_session=True)
    assert done.returncode == 0


IN_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_terminal_that_is_closed_takes_its_daemon_with_it(home: Home) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", IN_TERMINAL, str(COMMAND), "run", "--since", "90"]
    process = subprocess.Popen(words, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        os.close(theirs)
        wait_for(lambda: pid_of_daemon() == process.pid)
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: "settings_reloaded" in home.daemon_log.read_text(encoding="utf-8"))
        assert process.poll() is None
        os.close(ours)
        assert process.wait(BOUND) == Exit.OK
    finally:
        process.kill()
        process.wait(BOUND)
