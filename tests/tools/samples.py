"""One call of every tool that works in a fresh home, and a transcript to read."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.tools.conftest import Client

NOTE = {"category": "decision", "title": "Postgres choice", "content": "We took [[Postgres]] for its MVCC."}

CALLS: Mapping[str, Mapping[str, object]] = {
    "graph_query": {"entities": ["Ada"]},
    "graph_entities": {},
    "graph_relate": {"from_name": "Ada", "relation": "USES", "to_name": "Loom"},
    "graph_boost": {"from_name": "Ada", "relation": "KNOWS", "to_name": "Bo"},
    "graph_weaken": {"from_name": "Ada", "relation": "KNOWS", "to_name": "Bo"},
    "graph_delete": {"entity_id": "nobody"},
    "graph_stats": {},
    "graph_validate": {},
    "graph_communities": {},
    "graph_merge_suggestions": {"min_score": 0.1},
    "graph_decay": {},
    "graph_export": {},
    "graph_import": {"file": "sample.jsonl"},
    "graph_forget": {"memory_id": 1},
    "graph_audit": {"event": "run_start"},
    "graph_ingest": {"action": "queue", "content": "# A title\n\nAnd a text.", "file_name": "note.md"},
    "graph_read_transcript": {"session_id": "s-1"},
    "memory_add": NOTE,
    "memory_search": {"query": "sample"},
    "memory_get": {"id": 1},
    "memory_recent": {},
    "memory_overview": {},
    "memory_forget": {"id": 1},
}
"""Arguments of a call that succeeds after `prepare`."""


def prepare(client: Client) -> None:
    """Make what the calls speak of."""
    client.relate("Ada", "KNOWS", "Bo", from_type="Person", to_type="Person")
    client.call("memory_add", category="note", title="Sample", content="A sample that names [[Ada]].")
    exported = Path(client.call("graph_export", label="x")["backup_file"])
    exported.rename(exported.with_name("sample.jsonl"))
    write_transcript(client, ["What did we say?", "Hello."])


def write_transcript(client: Client, texts: Sequence[str], *, session: str = "s-1") -> Path:
    """Write a transcript of turns that a person and the assistant take, where Claude Code would."""
    folder = client.services.settings.ingest.projects_dirs[0] / "-home-ada-loom"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    path.write_text("".join(f"{json.dumps(_line(n, it, session))}\n" for n, it in enumerate(texts)), encoding="utf-8")
    return path


def _line(number: int, text: str, session: str) -> dict[str, object]:
    is_human = number % 2 == 0
    content = text if is_human else [{"type": "text", "text": text}]
    message = {"role": "user" if is_human else "assistant", "content": content}
    return {
        "type": "user" if is_human else "assistant",
        "uuid": f"u-{number}",
        "parentUuid": f"u-{number - 1}" if number else None,
        "isSidechain": False,
        "userType": "external",
        "sessionId": session,
        "cwd": "/home/ada/loom",
        "version": "2.1.0",
        "timestamp": f"2026-01-01T10:{number // 60:02}:{number % 60:02}.000Z",
        "message": message if is_human else {**message, "id": f"m-{number}", "type": "message"},
    }
