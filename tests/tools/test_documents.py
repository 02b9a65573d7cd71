"""Queueing documents and reading transcripts, as a client does."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.conftest import Client, ToolFailure

SECRET = "ghp_" + "a1B2" * 9
SESSION = "11111111-2222-4333-8444-555555555555"


def line(role: str, text: str, number: int, **more: object) -> dict[str, Any]:
    message: dict[str, object] = {"role": role, "content": [{"type": "text", "text": text}]}
    if role == "assistant":
        message["id"] = f"msg_{number}"
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": SESSION,
        "timestamp": f"2026-01-01T10:00:{number:02d}.000Z",
        "cwd": "/home/dev/shop",
        "message": message,
        **more,
    }


@pytest.fixture
def transcript(client: Client) -> Path:
    folder = client.services.settings.ingest.projects_dirs[0] / "-home-dev-shop"
    folder.mkdir(parents=True)
    lines = [line("user", f"How do I log in with {SECRET}?", 0), line("assistant", "By the form.", 1)]
    path = folder / f"{SESSION}.jsonl"
    path.write_text("".join(json.dumps(it) + "\n" for it in lines))
    return path


@pytest.mark.spec("graph_ingest.action.values")
def test_only_queue_and_status_are_actions(client: Client) -> None:
    with pytest.raises(ToolFailure, match=r"'queue' or 'status'"):
        client.call("graph_ingest", action="process")
    assert client.call("graph_ingest", action="status")["action"] == "status"


@pytest.mark.spec("graph_ingest.queue.one-source")
@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "file_path"),
        ({"file_path": "a.md", "content": "text", "file_name": "a.md"}, "file_path"),
        ({"content": "text"}, "file_name"),
        ({"file_path": "a.md", "file_name": "b.md"}, "file_name"),
    ],
)
def test_a_document_has_one_source(client: Client, given: dict[str, object], named: str) -> None:
    with pytest.raises(ToolFailure, match=named):
        client.call("graph_ingest", action="queue", **given)
    assert client.call("graph_ingest", action="status")["pending_count"] == 0


@pytest.mark.spec("redaction.tools")
def test_no_tool_stores_a_secret(client: Client) -> None:
    note = {"category": "note", "title": f"Login {SECRET}", "content": f"use {SECRET}", "summary": f"so {SECRET}"}
    added = client.call("memory_add", tags=[f"t-{SECRET}"], **note)
    client.relate(
        f"App {SECRET}",
        "USES",
        "Token",
        properties={"key": SECRET, "more": {"keys": [SECRET]}},
        from_properties={"k": SECRET},
        evidence=f"the key is {SECRET}",
    )
    exported = Path(client.call("graph_export")["backup_file"]).read_text()
    assert SECRET not in exported
    assert SECRET not in json.dumps(client.call("memory_get", id=added["id"]))
    assert "[redacted:" in exported


@pytest.mark.spec(
    "graph_read_transcript.session_id",
    "graph_read_transcript.file_path",
    "graph_read_transcript.message-fields",
    "redaction.read-transcript",
)
def test_a_transcript_is_read_by_session_or_by_file_without_its_secrets(client: Client, transcript: Path) -> None:
    before = transcript.read_bytes()
    by_session = client.call("graph_read_transcript", session_id=SESSION)
    by_file = client.call("graph_read_transcript", file_path=str(transcript))
    assert by_session == by_file
    assert by_session["message_count"] == 2
    human, assistant = by_session["messages"]
    assert human == {
        "role": "human",
        "text": "How do I log in with [redacted:github]?",
        "timestamp": "2026-01-01T10:00:00Z",
        "session_id": SESSION,
        "cwd": "/home/dev/shop",
    }
    assert assistant["text"] == "By the form."
    assert transcript.read_bytes() == before


@pytest.mark.spec("graph_read_transcript.message-fields")
def test_lines_that_are_no_messages_are_counted_by_kind(client: Client, transcript: Path) -> None:
    with transcript.open("a") as file:
        file.write(json.dumps(line("user", "set up by a hook", 2, isMeta=True)) + "\n[1]\n")
    page = client.call("graph_read_transcript", session_id=SESSION)
    assert (page["message_count"], page["skipped"]) == (2, {"meta": 1, "not_an_object": 1})


def test_every_sample_transcript_is_read_whole_page_by_page(client: Client, shared_cases: Path) -> None:
    folder = client.services.settings.ingest.projects_dirs[0]
    read = skipped = 0
    for number, sample in enumerate(sorted((shared_cases / "transcripts").rglob("*.jsonl"))):
        path = folder / f"-sample-{number}" / sample.name
        path.parent.mkdir(parents=True)
        path.write_bytes(sample.read_bytes())
        offset: int | None = 0
        while offset is not None:
            page = client.call("graph_read_transcript", file_path=str(path), include_sidechains=True, offset=offset)
            assert page["message_count"] == len(page["messages"])
            assert all(isinstance(count, int) and count > 0 for count in page["skipped"].values())
            read += len(page["messages"])
            skipped += bool(page["skipped"])
            offset = page.get("next_offset")
    assert read >= 200
    assert skipped > 10


@pytest.mark.spec("graph_read_transcript.one-of-two")
@pytest.mark.parametrize("both", [True, False])
def test_a_transcript_is_named_in_one_way(client: Client, transcript: Path, *, both: bool) -> None:
    given = {"session_id": SESSION, "file_path": str(transcript)} if both else {}
    with pytest.raises(ToolFailure, match="session_id"):
        client.call("graph_read_transcript", **given)


@pytest.mark.spec("access.admin-only.ingest-file", "access.admin-only.ingest-content")
@pytest.mark.parametrize("given", [{"file_path": "note.md"}, {"content": "text", "file_name": "note.md"}])
def test_only_the_admin_queues_documents(client: Client, given: dict[str, object]) -> None:
    with pytest.raises(ToolFailure, match="admin"):
        client.as_tenant("somebody").call("graph_ingest", action="queue", **given)
    assert client.call("graph_ingest", action="status")["pending_count"] == 0
