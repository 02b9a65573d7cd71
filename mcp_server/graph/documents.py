"""Tools for what is learned from: the inbox and the transcripts."""

from collections.abc import Callable
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from graph_memory.bootstrap import Services
from graph_memory.domain.errors import InvalidRequest, NotFound
from graph_memory.domain.principal import Principal
from graph_memory.domain.redaction import redact
from ingest.allowed_paths import allowed_paths
from ingest.transcripts.files import find_session_files
from ingest.transcripts.messages import Message
from ingest.transcripts.pages import TranscriptPage, read_transcript
from mcp_server.wire import clamp_int, instant

MAX_MESSAGES = 1_000


class MessageRow(TypedDict):
    """A message of a transcript."""

    role: str
    text: str
    timestamp: str | None
    session_id: str | None
    cwd: str | None
    sidechain: NotRequired[bool]
    abandoned: NotRequired[bool]


class TranscriptReply(TypedDict):
    """A page of a transcript."""

    messages: list[MessageRow]
    message_count: int
    session_id: str
    cwd: str | None
    skipped: dict[str, int]
    next_offset: NotRequired[int]
    warnings: NotRequired[list[str]]
    truncated: NotRequired[bool]


class GraphDocuments:
    """Documents and transcripts."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def graph_read_transcript(
        self,
        caller: Principal,  # noqa: ARG002 - transcripts are the local person's alone
        session_id: Annotated[str | None, Field(description="or file_path")] = None,
        file_path: str | None = None,
        text_only: Annotated[bool, Field(description="false: tool calls and results too")] = True,
        offset: Annotated[int, Field(ge=0, description="messages to pass over")] = 0,
        limit: Annotated[int, Field(ge=1, description="messages, up to 1,000")] = 200,
        include_sidechains: Annotated[bool, Field(description="subagents' messages too, marked")] = False,
    ) -> TranscriptReply:
        """Call to read an earlier Claude Code session as it was said, instead of its raw file: what the person typed
        and what the assistant answered, a page at a time, secrets taken out. To find where something was said use
        memory_search."""
        services = self._services()
        warnings: list[str] = []
        size = clamp_int(limit, 1, MAX_MESSAGES, "limit", warnings)
        if (session_id is None) == (file_path is None):
            raise InvalidRequest("session_id: give either session_id or file_path", argument="session_id")
        if file_path is not None:
            path = allowed_paths(services.home, services.settings.ingest).resolve(file_path, argument="file_path")
        else:
            found = find_session_files(services.settings.ingest.projects_dirs, session_id or "")
            if not found:
                raise NotFound(f"session_id: no transcript of {session_id!r} in the projects folders; give file_path")
            path = found[0].path
        page = read_transcript(
            path, text_only=text_only, offset=offset, limit=size, include_sidechains=include_sidechains
        )
        return _transcript_reply(page, warnings)


def _transcript_reply(page: TranscriptPage, warnings: list[str]) -> TranscriptReply:
    reply: TranscriptReply = {
        "messages": [_message_row(it) for it in page.messages],
        "message_count": page.message_count,
        "session_id": page.session_id,
        "cwd": page.cwd,
        "skipped": dict(page.skipped),
    }
    if page.next_offset is not None:
        reply["next_offset"] = page.next_offset
    if warnings or page.warnings:
        reply["warnings"] = [*warnings, *page.warnings]
    return reply


def _message_row(message: Message) -> MessageRow:
    row: MessageRow = {
        "role": message.role,
        "text": redact(message.text).text,
        "timestamp": instant(message.timestamp),
        "session_id": message.session_id,
        "cwd": message.cwd,
    }
    if message.is_sidechain:
        row["sidechain"] = True
    if message.is_abandoned:
        row["abandoned"] = True
    return row
