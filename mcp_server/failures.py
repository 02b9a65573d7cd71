"""What a client is told when a call fails."""

from graph_memory.domain.errors import GraphMemoryError, InvalidRequest, QueryTimeout, StoreBusy, Unavailable
from graph_memory.log import get_logger


def failure_text(tool: str, error: Exception) -> str:
    """Return the text for a client: what was wrong and what to do; never a stack or a path of ours.

    What nobody expected gets an id that stands in the log as well.
    """
    match error:
        case StoreBusy():
            return f"{error}. Nothing was stored; try again"
        case Unavailable():
            return f"graph unavailable: {error}"
        case QueryTimeout():
            return f"{error}; ask a narrower question"
        case InvalidRequest() | GraphMemoryError():
            return str(error)
        case _:
            reference = get_logger("mcp_server").unexpected("tool_failed", error, tool=tool)
            return f"{tool} failed unexpectedly; the log has it under {reference}"
