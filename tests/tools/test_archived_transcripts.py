"""`graph_read_transcript` when Claude Code has deleted the session."""

import json
from pathlib import Path

import pytest

from daemon.jobs import run_job
from daemon.learning import build_pipeline
from tests.tools.conftest import Client, ToolFailure
from tests.tools.test_documents import SECRET, SESSION, line


@pytest.fixture
def transcript(client: Client) -> Path:
    """A session of two turns that was learned and archived."""
    folder = client.services.settings.ingest.projects_dirs[0] / "-home-dev-shop"
    folder.mkdir(parents=True)
    path = folder / f"{SESSION}.jsonl"
    lines = [line("user", f"How do I log in with {SECRET}?", 0), line("assistant", "By the form.", 1)]
    lines += [line("user", "And out?", 2), line("assistant", "By the button.", 3)]
    path.write_text("".join(json.dumps(it) + "\n" for it in lines))
    pipeline = build_pipeline(client.services)
    for work in pipeline.scan().works:
        pipeline.run(work)
    pipeline.close()
    run_job(client.services, "archive")
    return path


@pytest.mark.spec("archive.read-by-tool")
def test_an_archived_session_reads_like_its_transcript(client: Client, transcript: Path) -> None:
    before = client.call("graph_read_transcript", session_id=SESSION)
    transcript.unlink()
    after = client.call("graph_read_transcript", session_id=SESSION)
    (warning,) = after.pop("warnings")
    assert "archive" in warning
    assert after == before
    assert SECRET not in json.dumps(after)
    page = client.call("graph_read_transcript", session_id=SESSION, offset=1, limit=2)
    assert [it["text"] for it in page["messages"]] == ["By the form.", "And out?"]
    assert page["next_offset"] == 3


def test_the_transcript_itself_goes_first(client: Client, transcript: Path) -> None:
    with transcript.open("a") as file:
        file.write(json.dumps(line("user", "What is new?", 4)) + "\n")
    reply = client.call("graph_read_transcript", session_id=SESSION)
    assert reply["message_count"] == 5
    assert "warnings" not in reply


def test_a_session_whose_subagents_alone_are_left_is_read_from_the_archive(client: Client, transcript: Path) -> None:
    agents = transcript.with_suffix("") / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-1.jsonl").write_text(json.dumps(line("user", "search for it", 9, isSidechain=True)) + "\n")
    transcript.unlink()
    assert client.call("graph_read_transcript", session_id=SESSION)["message_count"] == 4


def test_a_damaged_archive_says_so(client: Client, transcript: Path) -> None:
    transcript.unlink()
    (file,) = client.services.home.archive.glob("*.zst")
    whole = bytearray(file.read_bytes())
    whole[20] ^= 0xFF
    file.write_bytes(whole)
    with pytest.raises(ToolFailure, match="damaged"):
        client.call("graph_read_transcript", session_id=SESSION)


def test_a_session_that_is_in_neither_is_not_found(client: Client, transcript: Path) -> None:
    with pytest.raises(ToolFailure, match="file_path"):
        client.call("graph_read_transcript", session_id="nobody")
