"""The tool that forgets one note for good."""

from collections.abc import Callable

from graph_memory.bootstrap import Services
from graph_memory.domain.forgetting import Reach
from graph_memory.domain.principal import Principal
from mcp_server.graph.forgetting import ForgetReply, forgotten


class MemoryForgetting:
    """Forgetting of one note."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def memory_forget(self, caller: Principal, id: int, reason: str | None = None) -> ForgetReply:  # noqa: A002 - the wire's
        """Call only when the user asks to forget a note for good: erases it at once, with its earlier texts, what only
        it supports, and its copies in archive, inbox and backups; a document goes whole. To see first what goes, or to
        forget a session, file or project, use graph_forget."""
        return forgotten(self._services(), caller, Reach(memory_id=id), "execute", reason, [])
