"""Tools for what is learned from: the inbox and the transcripts."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from graph_memory.bootstrap import Services
from graph_memory.domain.errors import InvalidRequest, NotFound
from graph_memory.domain.ledger import IngestState
from graph_memory.domain.principal import Principal
from graph_memory.domain.redaction import redact
from ingest.allowed_paths import allowed_paths
from ingest.archive import Archive
from ingest.queueing import IngestQueue, Queued, QueueStatus
from ingest.transcripts.files import FileKind, find_session_files
from ingest.transcripts.messages import Message, Reading
from ingest.transcripts.pages import TranscriptPage, read_page, read_transcript
from mcp_server.wire import clamp_int, instant

MAX_MESSAGES = 1_000
FROM_ARCHIVE = "the transcript is gone; this is the archived copy, up to where it was read"
_KILO = 1_024


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


class PendingRow(TypedDict):
    """A document that waits."""

    file: str
    queued_at: str
    size: str


class CompletedRow(TypedDict):
    """A document that was learned."""

    id: str
    file: str
    processed_at: str
    entities: int
    edges: int
    memories: int
    memory_id: int | None


class FailedRow(TypedDict):
    """A document that could not be learned, and why."""

    id: str
    file: str
    failed_at: str
    reason: str


class CursorRow(TypedDict):
    """How far a cloud session is queued or stored."""

    through: str
    last_event_id: str | None
    file: str


class IngestReply(TypedDict):
    """What a queue call came to, or how the queue stands."""

    action: str
    id: NotRequired[str]
    file: NotRequired[str]
    destination: NotRequired[str]
    meta_written: NotRequired[bool]
    state: NotRequired[str]
    memory_id: NotRequired[int]
    pending: NotRequired[list[PendingRow]]
    processing: NotRequired[list[PendingRow]]
    recently_completed: NotRequired[list[CompletedRow]]
    failed: NotRequired[list[FailedRow]]
    pending_count: NotRequired[int]
    processing_count: NotRequired[int]
    completed_count: NotRequired[int]
    failed_count: NotRequired[int]
    session_cursors: NotRequired[dict[str, CursorRow]]
    truncated: NotRequired[bool]
    hint: NotRequired[str]


class GraphDocuments:
    """Documents and transcripts."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def graph_ingest(
        self,
        caller: Principal,
        action: Annotated[Literal["queue", "status"], Field(description="queue a document, or see the queue")],
        file_path: Annotated[str | None, Field(description="a file on this machine, or give content")] = None,
        content: Annotated[str | None, Field(description="up to 2 MB")] = None,
        file_name: Annotated[str | None, Field(description="of content: a plain name, .md, .txt or .json")] = None,
        meta: Annotated[
            dict[str, Any] | None,
            Field(
                description="source, author, date, topic_hints, weight_override, session_id, through, last_event_id; "
                "other keys are kept"
            ),
        ] = None,
    ) -> IngestReply:
        """Call to have a document learned in the background, or with action status to see what waits, was learned or
        failed and why, and how far cloud sessions are stored. Bytes known already answer already_known with the first
        one's id. For one fact use memory_add or graph_relate."""
        queue = self._queue()
        if action == "status":
            if any(it is not None for it in (file_path, content, file_name, meta)):
                raise InvalidRequest("action: status takes no other argument", argument="action")
            return _status_reply(queue.status(caller))
        if (file_path is None) == (content is None):
            raise InvalidRequest("file_path: give either file_path, or content with file_name", argument="file_path")
        if file_path is not None:
            if file_name is not None:
                raise InvalidRequest("file_name: goes with content; a file keeps its own", argument="file_name")
            return _queued_reply(queue.queue_file(caller, file_path, meta))
        if file_name is None:
            raise InvalidRequest("file_name: is missing; content needs a name", argument="file_name")
        return _queued_reply(queue.queue_content(caller, content or "", file_name, meta))

    def _queue(self) -> IngestQueue:
        services = self._services()
        return IngestQueue(services.store, services.home, services.settings.ingest, services.clock)

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
            archive = Archive(services.home.archive)
            is_own_gone = not found or found[0].kind is not FileKind.SESSION
            if session_id is not None and is_own_gone and archive.find(session_id) is not None:
                warnings.append(FROM_ARCHIVE)
                reading = Reading(is_whole=True, with_sidechains=include_sidechains, with_tools=not text_only)
                with archive.opened(session_id) as stream:
                    page = read_page(stream, session_id, reading, offset=offset, limit=size)
                return _transcript_reply(page, warnings)
            if not found:
                raise NotFound(f"session_id: no transcript of {session_id!r} in projects or archive; give file_path")
            path = found[0].path
        page = read_transcript(
            path, text_only=text_only, offset=offset, limit=size, include_sidechains=include_sidechains
        )
        return _transcript_reply(page, warnings)


def _queued_reply(queued: Queued) -> IngestReply:
    reply: IngestReply = {
        "action": "already_known" if queued.is_known else "queued",
        "id": queued.item_id,
        "file": queued.file,
        "meta_written": queued.is_meta_written,
        "state": queued.state.value,
    }
    if queued.destination is not None:
        reply["destination"] = str(queued.destination)
    if queued.memory_ids:
        reply["memory_id"] = queued.memory_ids[0]
    return reply


def _status_reply(status: QueueStatus) -> IngestReply:
    return {
        "action": "status",
        "pending": [
            {"file": it.file, "queued_at": instant(it.queued_at) or "", "size": _readable(it.size)}
            for it in status.pending
        ],
        "processing": [
            {"file": it.path, "queued_at": instant(it.queued_at) or "", "size": _readable(it.size)}
            for it in status.processing
        ],
        "recently_completed": [
            {
                "id": it.id,
                "file": it.path,
                "processed_at": instant(it.updated_at) or "",
                "entities": it.entity_count,
                "edges": it.relation_count,
                "memories": len(it.memory_ids),
                "memory_id": it.memory_ids[0] if it.memory_ids else None,
            }
            for it in status.completed
        ],
        "failed": [
            {"id": it.id, "file": it.path, "failed_at": instant(it.updated_at) or "", "reason": it.reason or ""}
            for it in status.failed
        ],
        "pending_count": status.counts[IngestState.PENDING],
        "processing_count": status.counts[IngestState.PROCESSING],
        "completed_count": status.counts[IngestState.COMPLETED],
        "failed_count": status.counts[IngestState.FAILED],
        "session_cursors": {
            session: {"through": it.through, "last_event_id": it.last_event_id, "file": it.file}
            for session, it in status.session_cursors.items()
        },
    }


def _readable(size: int) -> str:
    """Write a number of bytes as people read it: `2.1 KB`."""
    value, unit = float(size), "B"
    for larger in ("KB", "MB", "GB"):
        if value < _KILO:
            break
        value, unit = value / _KILO, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


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
