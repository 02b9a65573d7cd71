"""The tools as a client calls them, over each store, with a clock that the test holds."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.bootstrap import Services, build_services
from graph_memory.config import load_config
from graph_memory.domain.entities import EntityFilter, EntityOrder, Evidence
from graph_memory.domain.names import type_key
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.domain.relations import RelationFilter
from graph_memory.log import configure_logging
from graph_memory.ports.store import ReadTransaction, Store
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
    validators: dict[str, Draft202012Validator] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.specs = {it.name: it for it in every_tool(lambda: self.services)}

    def call(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        """Call a tool and return its reply; raise `ToolFailure` where it is answered as an error.

        Whatever is called, the reply is one JSON object, as text and structured, within its bounds and its schema.
        """
        limit = self.services.settings.limits.max_reply_bytes
        result = answer(self.specs[tool], self.caller, arguments, limit)
        [content] = result.content
        text = getattr(content, "text", "")
        assert len(text.encode()) <= limit
        if result.is_error:
            raise ToolFailure(text)
        reply: dict[str, Any] = json.loads(text)
        assert result.structured_content == reply
        self._validator(tool).validate(reply)
        return reply

    def _validator(self, tool: str) -> Draft202012Validator:
        if tool not in self.validators:
            self.validators[tool] = Draft202012Validator(self.specs[tool].output_schema)
        return self.validators[tool]

    def relate(self, source: str, relation: str, target: str, **more: object) -> dict[str, Any]:
        """State a relation between two entities; types are Concept unless given."""
        types: dict[str, object] = {"from_type": "Concept", "to_type": "Concept"}
        return self.call("graph_relate", from_name=source, relation=relation, to_name=target, **{**types, **more})

    def around(self, *names: str, **more: object) -> dict[str, Any]:
        """Return all that lies around some names, however weak."""
        return self.call("graph_query", entities=list(names), **{"limit": 500, "min_weight": 0.0, **more})

    def node(self, name: str) -> dict[str, Any]:
        """Return the one entity of a name, in full."""
        [node] = self.around(name, max_hops=0)["nodes"]
        return dict(node)

    def edges(self, source: str, relation: str, target: str, **more: object) -> list[dict[str, Any]]:
        """Return the relations of a type that lead from one name to another."""
        reply = self.around(source, max_hops=1, **more)
        names = {it["id"]: it["name"] for it in reply["nodes"]}
        ends = (source, relation, target)
        return [it for it in reply["edges"] if (names[it["from"]], it["type"], names[it["to"]]) == ends]

    def edge(self, source: str, relation: str, target: str, **more: object) -> dict[str, Any]:
        """Return the one current relation of a type that leads from one name to another."""
        [edge] = self.edges(source, relation, target, **more)
        return edge

    def contributions(self, source: str, relation: str, target: str) -> list[Evidence]:
        """Return the contributions to a current relation, oldest first; no tool shows them."""
        names = {self.node(it)["id"]: it for it in (source, target)}

        def work(tx: ReadTransaction) -> list[Evidence]:
            found = tx.relations.find_from(set(names), {type_key(relation)}, RelationFilter())
            [one] = [it for it in found if (names[it.source_id], names.get(it.target_id)) == (source, target)]
            return list(tx.relations.evidence({one.id})[one.id])

        return self.services.store.read(self.caller, work)

    def stored(self) -> dict[str, float]:
        """Return every confidence and weight as it is stored, unrounded, by id."""

        def work(tx: ReadTransaction) -> dict[str, float]:
            entities = tx.entities.page(EntityFilter(), EntityOrder.ID, 10_000)
            relations = tx.relations.page(RelationFilter(current_only=False), None, 10_000)
            return {it.id: it.confidence for it in entities} | {it.id: it.weight for it in relations}

        return self.services.store.read(self.caller, work)

    def counts(self) -> dict[str, int]:
        """Count entities, current relations and memories: what must not change where a call is refused."""
        stats = self.call("graph_stats")
        return {"nodes": stats["nodes"]["total"], "edges": stats["edges"]["total"], "memories": stats["memories"]}

    def refusal(self, tool: str, /, **arguments: object) -> str:
        """Call a tool that must refuse, check that nothing was stored, and return what it says."""
        before = self.counts()
        with pytest.raises(ToolFailure) as refused:
            self.call(tool, **arguments)
        assert self.counts() == before
        return str(refused.value)

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

    def make(pause: Callable[[float], None] = lambda _: None, **environ: str) -> Client:
        config = load_config({"HOME": str(home.parent), **environ}, home)
        assert config.problems == ()
        config.home.ensure()
        return Client(build_services(config, store, clock=clock, pause=pause), clock)

    return make


@pytest.fixture
def client(new_client: Callable[..., Client]) -> Client:
    return new_client()


@pytest.fixture
def log() -> Iterator[StringIO]:
    """What the server's process writes on stderr."""
    root = logging.getLogger()
    level, handlers, stream = root.level, list(root.handlers), StringIO()
    configure_logging(stream=stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
