"""The tools as a client calls them, over each store, with a clock that the test holds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.bootstrap import Services, build_services
from graph_memory.config import load_config
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.ports.store import Store
from mcp_server.catalogue import ToolSpec
from mcp_server.server import answer
from mcp_server.tools import every_tool

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


class ToolFailure(Exception):
    """A call that was answered as an error; the text is what the client reads."""


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **duration: float) -> None:
        self.now += timedelta(**duration)


@dataclass
class Client:
    """Calls tools by name, as the server does when a client asks."""

    services: Services
    clock: Clock
    caller: Principal = LOCAL_ADMIN
    specs: dict[str, ToolSpec] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.specs = {it.name: it for it in every_tool(lambda: self.services)}

    def call(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        """Call a tool and return its reply; raise `ToolFailure` where it is answered as an error."""
        limit = self.services.settings.limits.max_reply_bytes
        result = answer(self.specs[tool], self.caller, arguments, limit)
        [content] = result.content
        text = getattr(content, "text", "")
        if result.is_error:
            raise ToolFailure(text)
        reply: dict[str, Any] = result.structured_content
        return reply

    def relate(self, source: str, relation: str, target: str, **more: object) -> dict[str, Any]:
        """State a relation between two entities; types are Concept unless given."""
        types: dict[str, object] = {"from_type": "Concept", "to_type": "Concept"}
        return self.call("graph_relate", from_name=source, relation=relation, to_name=target, **{**types, **more})

    def as_tenant(self, tenant: str, *, is_admin: bool = False) -> "Client":
        """Return a client of another tenant on the same store."""
        return Client(self.services, self.clock, Principal(tenant, is_admin))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(params=["reference", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "reference":
        made: Store = ReferenceStore()
    else:
        made = SqliteStore(tmp_path / "memory.db")
    yield made
    made.close()


@pytest.fixture
def new_client(store: Store, clock: Clock, home: Path) -> Callable[..., Client]:
    """Make a client of a home, with settings of its own: `new_client(GRAPH_MEMORY_LIMITS__MAX_REPLY_BYTES="20000")`."""

    def make(**environ: str) -> Client:
        config = load_config({"HOME": str(home.parent), **environ}, home)
        assert config.problems == ()
        config.home.ensure()
        return Client(build_services(config, store, clock=clock, pause=lambda _: None), clock)

    return make


@pytest.fixture
def client(new_client: Callable[..., Client]) -> Client:
    return new_client()
