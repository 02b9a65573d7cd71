"""A transcript written line by line, as Claude Code does."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import count
from pathlib import Path

from ingest.transcripts.messages import Entry, Message, Reading
from ingest.transcripts.reading import read_entries
from ingest.transcripts.reports import ReadReport
from ingest.transcripts.turns import Changes, Turn, TurnBuilder

START = datetime(2026, 3, 1, 10, tzinfo=UTC)
SESSION = "00000000-0000-4000-8000-0000000000aa"


class Script:
    """Lines of one session; each hangs on the one before unless `parent` says otherwise."""

    def __init__(self, session_id: str = SESSION, prefix: str = "u") -> None:
        self.lines: list[bytes] = []
        self.leaf: str | None = None
        self._session_id = session_id
        self._prefix = prefix
        self._numbers = count()

    def record(self, kind: str, **fields: object) -> str:
        """Write a line of any type; return its uuid."""
        number = next(self._numbers)
        record: dict[str, object] = {
            "parentUuid": self.leaf,
            "isSidechain": False,
            "cwd": "/home/u/project",
            "sessionId": self._session_id,
            "gitBranch": "main",
            "type": kind,
            "uuid": f"{self._prefix}{number}",
            "timestamp": written(number),
            **fields,
        }
        self.raw(record)
        self.leaf = str(record["uuid"])
        return self.leaf

    def raw(self, record: object) -> None:
        """Write any value as a line."""
        self.lines.append(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass"))

    def human(self, text: object, **fields: object) -> str:
        """Write a prompt."""
        return self.record("user", message={"role": "user", "content": text}, **fields)

    def assistant(self, text: str, message_id: str | None = None, **fields: object) -> str:
        """Write a line of assistant text."""
        message: dict[str, object] = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        message["id"] = message_id or f"msg_{text}"
        return self.record("assistant", message=message, **fields)

    def tool(self, name: str = "Read", result: str = "ok", **fields: object) -> str:
        """Write a tool call and its result."""
        call = {"type": "tool_use", "id": "t1", "name": name, "input": {"file_path": "src/app.py"}}
        self.record("assistant", message={"id": "msg_tool", "role": "assistant", "content": [call]}, **fields)
        block = {"type": "tool_result", "tool_use_id": "t1", "content": result}
        return self.record("user", message={"role": "user", "content": [block]}, toolUseResult={"stdout": result})

    def queue(self, operation: str, content: object = None) -> None:
        """Write a queue operation: it has neither uuid nor parent."""
        record: dict[str, object] = {"type": "queue-operation", "operation": operation, "sessionId": self._session_id}
        record["timestamp"] = written(next(self._numbers))
        if content is not None:
            record["content"] = content
        self.raw(record)

    @property
    def bytes(self) -> bytes:
        """The file so far."""
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, path: Path) -> Path:
        """Write the file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.bytes)
        return path


def written(number: int) -> str:
    """Return the instant of line `number` as a transcript has it."""
    return (START + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def entries_of(body: bytes, reading: Reading | None = None) -> tuple[list[Entry], ReadReport]:
    """Read a whole file."""
    report = ReadReport()
    return list(read_entries(BytesIO(body), report, reading=reading or Reading(is_whole=True))), report


def messages_of(body: bytes, reading: Reading | None = None) -> tuple[list[Message], ReadReport]:
    """Read the messages of a whole file."""
    entries, report = entries_of(body, reading)
    return [entry for entry in entries if isinstance(entry, Message)], report


def texts_of(body: bytes) -> list[tuple[str, str]]:
    """Read who says what."""
    return [(message.role, message.text) for message in messages_of(body)[0]]


def changes_of(body: bytes) -> Changes:
    """Read a whole file into turns."""
    return TurnBuilder().feed(entries_of(body)[0])


def said(changes: Changes) -> list[tuple[str, str]]:
    """Return prompts and answers."""
    return [(turn.prompt, answer_of(turn)) for turn in changes.turns]


def answer_of(turn: Turn) -> str:
    """Return the assistant's text, its lines apart by a blank one."""
    return "\n\n".join(part.text for part in turn.parts)
