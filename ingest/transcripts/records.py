"""What one record of a transcript is: a message, a link in the chain of lines, or neither, and why."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import parse_instant
from ingest.transcripts.messages import Entry, Kind, Link, Message, Reading, Role
from ingest.transcripts.reports import ReadReport
from ingest.transcripts.speech import (
    Skip,
    assistant_text,
    find_human_text,
    find_queued_text,
    has_block,
    is_tool_result,
    tool_text,
)

Record = Mapping[str, object]

# Lines that are never messages; `user`, `assistant`, `attachment` and `queue-operation` may be.
_SILENT_TYPES = frozenset({
    "progress", "system", "summary", "file-history-snapshot", "permission-mode", "last-prompt", "started", "result",
    "custom-title", "ai-title", "agent-name", "agent-setting", "agent-color", "pr-link", "bridge-session", "tag",
    "worktree-state", "turn_end", "mode", "content-replacement", "attribution-snapshot", "speculation-accept",
})  # fmt: skip
# As `Link(…)`, in half the time: most lines of a transcript are one.
_new_link = partial(tuple.__new__, Link)
# Looked up once: until Python 3.12 a member of an Enum costs ten times a global, and this is the hot path.
_TOOL_RESULT, _TOOL_CALL, _CAVEAT = Skip.TOOL_RESULT, Skip.TOOL_CALL, Skip.CAVEAT
_NO_TEXT, _META, _NOTIFICATION = Skip.NO_TEXT, Skip.META, Skip.NOTIFICATION
_TEXT, _TOOL = Kind.TEXT, Kind.TOOL
# Who else than a person writes into the queue.
_PROGRAM_ORIGINS = frozenset({"task-notification", "peer", "auto-continuation"})
# What was typed and delivered, or still waits; `popAll` gives it back for editing, `dequeue` is followed by a prompt.
_QUEUE_OPERATIONS = frozenset({"enqueue", "remove"})


class RecordReader:
    """Turns records into entries and counts what they were."""

    def __init__(self, reading: Reading, report: ReadReport) -> None:
        self._reading = reading
        self._report = report
        self._skipped = report.skipped
        self._is_placed = False
        self._readers: dict[str, Callable[[Record, int, int], Message | Skip]] = {
            "user": self._user,
            "assistant": self._assistant,
            "attachment": self._attachment,
            "queue-operation": self._queue,
        }

    def read(self, record: dict[str, object], offset: int, nth: int = 0) -> Entry | None:
        """Classify one record."""
        if not self._is_placed:
            self._place(record)
        if record.get("isSidechain") is True or self._reading.is_agent:
            return self._read_sidechain(record, offset, nth)
        kind = record.get("type")
        reader = self._readers.get(kind) if isinstance(kind, str) else None
        if reader is None:
            self._skip_type(kind)
            return _link(record, offset)
        found = reader(record, offset, nth)
        if isinstance(found, Message):
            return found
        self._skipped[found] += 1
        is_leaf = found is _TOOL_RESULT or kind == "assistant"
        return _link(record, offset, is_leaf=is_leaf, is_passing=found is _CAVEAT)

    def _read_sidechain(self, record: dict[str, object], offset: int, nth: int) -> Message | None:
        """Classify a line of a subagent's: nothing of the main chain hangs on it."""
        record["isSidechain"] = True
        kind = record.get("type")
        if kind != "user" and kind != "assistant":  # noqa: PLR1714 - narrows the type
            self._skip_type(kind)
            return None
        found = self._readers[kind](record, offset, nth)
        if isinstance(found, Message) and self._reading.with_sidechains:
            return replace(found, role="assistant")  # no person speaks to a subagent
        self._skipped[Skip.SIDECHAIN if isinstance(found, Message) else found] += 1
        return None

    def _place(self, record: Record) -> None:
        """Note the first session id and working directory that a file names."""
        report = self._report
        report.session_id = report.session_id or _string(record, "sessionId")
        report.cwd = report.cwd or _string(record, "cwd")
        self._is_placed = report.session_id is not None and report.cwd is not None

    def _skip_type(self, kind: object) -> None:
        if isinstance(kind, str) and (kind in _SILENT_TYPES or kind in self._readers):
            self._skipped[kind] += 1
        else:
            self._report.skip_unknown(kind)

    def _assistant(self, record: Record, offset: int, nth: int) -> Message | Skip:
        message = record.get("message")
        if not isinstance(message, dict):
            return Skip.NO_MESSAGE
        content = message.get("content")
        text = assistant_text(content)
        kind = _TEXT if text else _TOOL
        if self._reading.with_tools and (tools := tool_text(content)):
            text = f"{text}\n\n{tools}" if text else tools
        if not text:
            return _TOOL_CALL if has_block(content, "tool_use") else _NO_TEXT
        is_error = record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
        return _message(
            record, "assistant", text, offset, nth, kind=kind, message_id=_string(message, "id"), is_error=is_error
        )

    def _user(self, record: Record, offset: int, nth: int) -> Message | Skip:
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if is_tool_result(record, content):
            text = tool_text(content) if self._reading.with_tools else ""
            return _message(record, "assistant", text, offset, nth, kind=_TOOL) if text else _TOOL_RESULT
        if record.get("isCompactSummary") is True:
            return Skip.COMPACT_SUMMARY
        found = _program_reason(record, content) or find_human_text(content)
        return found if isinstance(found, Skip) else _message(record, "human", found, offset, nth)

    def _attachment(self, record: Record, offset: int, nth: int) -> Message | Skip:
        attachment = record.get("attachment")
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return Skip.ATTACHMENT
        if attachment.get("isMeta") is True or record.get("isMeta") is True:
            return _META
        is_notice = attachment.get("commandMode") == "task-notification"
        if is_notice or _is_from_program(attachment) or _is_from_program(record):
            return _NOTIFICATION
        content = next((attachment[name] for name in ("prompt", "content", "text") if name in attachment), None)
        found = find_queued_text(content)
        return found if isinstance(found, Skip) else _message(record, "human", found, offset, nth, kind=Kind.QUEUED)

    def _queue(self, record: Record, offset: int, nth: int) -> Message | Skip:
        operation = record.get("operation")
        if not isinstance(operation, str) or operation not in _QUEUE_OPERATIONS or "content" not in record:
            return Skip.QUEUE
        if _is_from_program(record):
            return _NOTIFICATION
        found = find_queued_text(record["content"])
        if isinstance(found, Skip):
            return found
        kind = Kind.WAITING if operation == "enqueue" else Kind.QUEUED
        return _message(record, "human", found, offset, nth, kind=kind)


def _message(
    record: Record,
    role: Role,
    text: str,
    offset: int,
    nth: int,
    *,
    kind: Kind = _TEXT,
    message_id: str | None = None,
    is_error: bool = False,
) -> Message:
    return Message(
        role=role,
        text=_unicode(text).replace("\0", "\ufffd"),
        timestamp=_instant(record.get("timestamp")),
        offset=offset,
        kind=kind,
        nth=nth,
        session_id=_string(record, "sessionId"),
        cwd=_string(record, "cwd"),
        uuid=_string(record, "uuid"),
        parent_uuid=_parent(record),
        message_id=message_id,
        is_sidechain=record.get("isSidechain") is True,
        is_error=is_error,
    )


def _program_reason(record: Record, content: object) -> Skip | None:
    """Say why a `user` line is a program's, by its marks rather than its text."""
    if record.get("isVisibleInTranscriptOnly") is True:
        return Skip.TRANSCRIPT_ONLY
    if record.get("isMeta") is True:
        return _CAVEAT if find_human_text(content) is _CAVEAT else _META
    if not isinstance(record.get("message"), dict):
        return Skip.NO_MESSAGE
    return _NOTIFICATION if _is_from_program(record) else None


def _link(record: Record, offset: int, *, is_leaf: bool = False, is_passing: bool = False) -> Link | None:
    uuid = record.get("uuid")
    if not isinstance(uuid, str):
        return None
    parent = record.get("parentUuid")
    if not isinstance(parent, str):
        parent = _parent(record)
    return _new_link((uuid, parent, offset, is_leaf, is_passing))


def _parent(record: Record) -> str | None:
    parent = record.get("parentUuid")
    if isinstance(parent, str):
        return parent
    return _string(record, "logicalParentUuid")  # what a compaction cut is still one conversation


def _is_from_program(record: Record) -> bool:
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return isinstance(kind, str) and kind in _PROGRAM_ORIGINS


def _string(record: Record, name: str) -> str | None:
    value = record.get(name)
    return _unicode(value) if isinstance(value, str) else None


def _instant(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_instant(value, argument="timestamp").at
    except InvalidRequest:
        return None


def _unicode(text: str) -> str:
    """Replace lone surrogates by U+FFFD: no store can keep them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
