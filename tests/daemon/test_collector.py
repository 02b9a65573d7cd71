"""A collector of cloud sessions, acted out: it asks for the cursors and queues what is newer, whatever happens."""

import os
import random
import signal
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.memories import MemoryFilter, MemoryOrder
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from tests.daemon.daemons import running, wait_for
from tests.server.wire import RawServer

BEGAN = datetime(2026, 10, 19, 4, tzinfo=UTC)
SOURCE = "claude-code-cloud"


@dataclass
class Cloud:
    """What was said elsewhere: events of two sessions, each with a word of its own."""

    events: list[tuple[str, str, datetime, str]] = field(default_factory=list)

    def say(self, count: int) -> None:
        for _ in range(count):
            number = len(self.events)
            session = f"session_{number % 2}"
            self.events.append((session, f"cmsg_{number}", BEGAN + timedelta(seconds=number), f"pebble{number}stone"))

    def after(self, session: str, through: str | None) -> list[tuple[str, datetime, str]]:
        since = None if through is None else datetime.fromisoformat(through)
        return [(id_, at, word) for name, id_, at, word in self.events if name == session and (not since or at > since)]


class Collector:
    """Posts to the queue through a server of its own, as often as it is run."""

    def __init__(self, home: Home, cloud: Cloud) -> None:
        self._home, self._cloud = home, cloud
        self.sent: dict[str, datetime] = {}

    def run(self, *, loses_reply: bool = False, repeats: bool = False) -> None:
        """Queue what is newer than the cursors; a lost reply is one whose server dies once it was asked."""
        with RawServer(self._home.path, environ=dict(os.environ)) as server:
            server.initialize()
            cursors = server.call("graph_ingest", action="status")["session_cursors"]
            for session in ("session_0", "session_1"):
                through = cursors.get(session, {}).get("through")
                new = self._cloud.after(session, through)
                if new:
                    self._post(server, session, new, loses_reply=loses_reply, repeats=repeats)
                    if loses_reply:
                        return

    def _post(
        self,
        server: RawServer,
        session: str,
        new: list[tuple[str, datetime, str]],
        *,
        loses_reply: bool,
        repeats: bool,
    ) -> None:
        last, at, _ = new[-1]
        stamp = at.isoformat().replace("+00:00", "Z")
        document: dict[str, Any] = {
            "action": "queue",
            "content": "".join(f"**{id_}** we spoke of the {word} there\n\n" for id_, _, word in new),
            "file_name": f"cloud-{session}-{at:%Y%m%d%H%M%S}.md",
            "meta": {"source": SOURCE, "session_id": session, "through": stamp, "last_event_id": last},
        }
        self.sent[session] = max(at, self.sent.get(session, at))
        if loses_reply:
            server.request("tools/call", name="graph_ingest", arguments=document)
            server.process.send_signal(signal.SIGKILL)
            return
        first = server.call("graph_ingest", **document)
        if repeats:
            again = server.call("graph_ingest", **document)
            assert (again["action"], again["id"]) == ("already_known", first["id"])


def stored(home: Home) -> str:
    with open_services(load_config(os.environ, home.path)) as services:
        found = services.store.read(LOCAL_ADMIN, lambda tx: tx.memories.page(MemoryFilter(), MemoryOrder.ID, 10_000))
    return "\n".join(it.content for it in found)


def cursors(home: Home) -> dict[str, datetime]:
    with RawServer(home.path, environ=dict(os.environ)) as server:
        server.initialize()
        found = server.call("graph_ingest", action="status")["session_cursors"]
    return {session: datetime.fromisoformat(it["through"]) for session, it in found.items()}


def check(home: Home, cloud: Cloud, collector: Collector) -> None:
    """The cursor is never behind what is stored, and never ahead of what is queued or stored."""
    before = stored(home)
    through = cursors(home)
    waiting = "".join(
        it.read_text(encoding="utf-8")
        for folder in (home.pending, home.processing)
        for it in folder.rglob("*.md")
        if it.is_file()
    )
    after = stored(home)  # what waited a moment ago may have been learned meanwhile
    for session, _, at, word in cloud.events:
        is_passed = session in through and at <= through[session]
        if word in before:
            assert is_passed, f"{word} is stored and the cursor is behind it"
        if is_passed:
            assert word in after or word in waiting, f"{word} is neither stored nor queued and the cursor is past it"
    for session, at in through.items():
        assert at <= collector.sent[session]


@pytest.mark.spec("session_cursors.newest", "session_cursors.states", "graph_ingest.queue.already-known")
def test_every_message_is_stored_once_and_the_cursor_is_right(home: Home, projects: Path) -> None:
    projects.mkdir()
    cloud = Cloud()
    collector = Collector(home, cloud)
    draw = random.Random(3)

    cloud.say(6)
    with running() as daemon:
        collector.run()
        check(home, cloud, collector)
        cloud.say(3)
        collector.run(repeats=True)
        cloud.say(2)
        collector.run(loses_reply=True)
        check(home, cloud, collector)
        collector.run()
        cloud.say(4)
        collector.run()
        daemon.process.kill()  # while it may be at it
    for _ in range(3):  # nobody is there to learn for a day
        cloud.say(draw.randrange(1, 5))
        collector.run(loses_reply=draw.random() < 0.5)
        check(home, cloud, collector)
    collector.run()
    with running():
        wait_for(lambda: all(word in stored(home) for *_, word in cloud.events))
        check(home, cloud, collector)
    text = stored(home)
    assert {word: text.count(word) for *_, word in cloud.events} == {word: 1 for *_, word in cloud.events}
    newest = {session: at for session, _, at, _ in cloud.events}
    assert cursors(home) == newest
