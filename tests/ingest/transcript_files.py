"""Transcripts as Claude Code writes them, line by line."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from uuid import uuid4

START = datetime(2026, 4, 6, 9, 0, tzinfo=UTC)


@dataclass
class Transcript:
    """A session's file that is written to as the conversation goes on."""

    file: Path
    session_id: str = "11111111-0000-4000-8000-000000000001"
    cwd: str | None = "/nowhere/app"
    parent: str | None = None
    minutes: count[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)

    def at(self) -> str:
        return (START + timedelta(minutes=next(self.minutes))).isoformat().replace("+00:00", "Z")

    def write(self, record: dict[str, object]) -> str:
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
        return str(record.get("uuid"))

    def say(self, text: str, *, at: str | None = None, **more: object) -> str:
        """Write a person's prompt."""
        return self._line("user", {"role": "user", "content": text}, at, more)

    def answer(self, text: str, *, message_id: str | None = None, at: str | None = None, **more: object) -> str:
        """Write a line of the assistant."""
        message: dict[str, object] = {
            "id": message_id or f"msg_{uuid4().hex}",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": text}],
        }
        return self._line("assistant", message, at, more)

    def work(self, size: int) -> None:
        """Write a tool call and what it returned."""
        call: dict[str, object] = {
            "id": f"msg_{uuid4().hex}",
            "role": "assistant",
            "content": [{"type": "tool_use", "name": "Bash"}],
        }
        self._line("assistant", call, None, {})
        result: dict[str, object] = {"role": "user", "content": [{"type": "tool_result", "content": "x" * size}]}
        self._line("user", result, None, {"toolUseResult": {"stdout": ""}})

    def _line(self, kind: str, message: dict[str, object], at: str | None, more: dict[str, object]) -> str:
        uuid = str(uuid4())
        record: dict[str, object] = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": self.parent,
            "sessionId": self.session_id,
            "timestamp": at or self.at(),
            "isSidechain": False,
            "message": message,
        }
        if self.cwd is not None:
            record["cwd"] = self.cwd
        self.parent = uuid
        return self.write({**record, **more})
