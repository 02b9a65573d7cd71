"""A daemon that has a home and says of itself what the test wants it to say."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon.instance import hold_home, write_holder
from daemon.status_socket import StatusSocket
from graph_memory.home import Home
from graph_memory.presence import DaemonState, Holder


@contextmanager
def telling(home: Home | Path, state: DaemonState) -> Iterator[StatusSocket]:
    """Have the home and answer on its socket, as long as this lasts."""
    home = home if isinstance(home, Home) else Home(home)

    async def tell() -> DaemonState:
        return state

    answering = StatusSocket(home, tell)
    with hold_home(home):
        write_holder(home, Holder(state.pid, state.version, state.started_at))
        answering.start()
        try:
            yield answering
        finally:
            answering.stop()
