from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.errors import IngestError, NotFound
from ingest.transcripts.messages import Kind, Message
from ingest.transcripts.pages import TranscriptPage, read_transcript
from tests.ingest.transcripts.script import SESSION, Script


def texts(page: TranscriptPage) -> list[str]:
    return [message.text for message in page.messages]


@pytest.fixture
def script() -> Script:
    script = Script()
    script.human("first")
    script.assistant("one")
    script.tool()
    script.assistant("two")
    script.human("second")
    return script


@pytest.mark.spec("graph_read_transcript.result", "graph_read_transcript.roles")
def test_a_page_holds_messages_counts_and_where_they_come_from(script: Script, tmp_path: Path) -> None:
    page = read_transcript(script.write(tmp_path / "a.jsonl"))
    assert [(message.role, message.text) for message in page.messages] == [
        ("human", "first"),
        ("assistant", "one"),
        ("assistant", "two"),
        ("human", "second"),
    ]
    assert (page.message_count, page.next_offset, page.session_id, page.cwd) == (4, None, SESSION, "/home/u/project")
    assert page.skipped == {"tool_call": 1, "tool_result": 1}
    assert page.warnings == ()


@pytest.mark.spec("graph_read_transcript.offset", "graph_read_transcript.limit")
@given(limit=st.integers(1, 30), count=st.integers(0, 25))
def test_pages_put_together_are_the_whole(tmp_path_factory: pytest.TempPathFactory, limit: int, count: int) -> None:
    script = Script()
    for number in range(count):
        script.human(f"prompt {number}")
        script.assistant(f"answer {number}")
    path = script.write(tmp_path_factory.mktemp("pages") / "a.jsonl")
    whole = read_transcript(path, limit=1_000)
    found: list[Message] = []
    offset: int | None = 0
    while offset is not None:
        page = read_transcript(path, offset=offset, limit=limit)
        assert page.message_count == whole.message_count == 2 * count
        assert len(page.messages) <= limit
        found += page.messages
        offset = page.next_offset
    assert tuple(found) == whole.messages


def test_an_offset_behind_the_end_gives_an_empty_page(script: Script, tmp_path: Path) -> None:
    page = read_transcript(script.write(tmp_path / "a.jsonl"), offset=50)
    assert (page.messages, page.next_offset, page.message_count) == ((), None, 4)


@pytest.mark.spec("graph_read_transcript.text_only.default", "graph_read_transcript.text_only.false")
def test_tool_calls_and_results_are_shown_where_asked_for(script: Script, tmp_path: Path) -> None:
    path = script.write(tmp_path / "a.jsonl")
    page = read_transcript(path, text_only=False)
    assert texts(page) == [
        "first",
        "one",
        "[tool call: Read] file_path: src/app.py",
        "[tool result] ok",
        "two",
        "second",
    ]
    assert [message.role for message in page.messages if message.kind is Kind.TOOL] == ["assistant", "assistant"]
    assert "tool" not in " ".join(texts(read_transcript(path)))


@pytest.mark.spec("graph_read_transcript.sidechains.default", "graph_read_transcript.sidechains.labelled")
def test_sidechains_are_left_out_or_labelled(script: Script, tmp_path: Path) -> None:
    script.human("Look at it", isSidechain=True, parentUuid=None)
    script.assistant("Looked.", isSidechain=True)
    path = script.write(tmp_path / "a.jsonl")
    assert "Looked." not in texts(read_transcript(path))
    page = read_transcript(path, include_sidechains=True)
    labelled = [(message.role, message.text) for message in page.messages if message.is_sidechain]
    assert labelled == [("assistant", "Look at it"), ("assistant", "Looked.")]


@pytest.mark.parametrize("name", ["agent-a1.jsonl", "s/subagents/agent-acompact-a1.jsonl"])
def test_an_agents_file_has_only_sidechains(name: str, tmp_path: Path) -> None:
    script = Script()
    script.human("Summarise")
    script.assistant("It was about …")
    path = script.write(tmp_path / name)
    assert read_transcript(path).message_count == 0
    assert read_transcript(path, include_sidechains=True).message_count == 2


@pytest.mark.spec("graph_read_transcript.assistant.joined")
def test_the_lines_of_one_message_are_one_message(tmp_path: Path) -> None:
    script = Script()
    script.human("first")
    script.assistant("let me", "msg_1")
    script.tool()
    script.assistant("look", "msg_1")
    script.assistant("found", "msg_2")
    page = read_transcript(script.write(tmp_path / "a.jsonl"))
    assert texts(page) == ["first", "let me\n\nlook", "found"]
    assert texts(read_transcript(tmp_path / "a.jsonl", offset=1, limit=1)) == ["let me\n\nlook"]


@pytest.mark.spec("graph_read_transcript.file-order")
def test_messages_keep_the_order_of_the_file_when_clocks_run_back(tmp_path: Path) -> None:
    script = Script()
    script.human("first", timestamp="2026-03-01T12:00:00Z")
    script.assistant("one", timestamp="2026-03-01T11:00:00Z")
    script.human("second", timestamp="2026-03-01T10:00:00Z")
    assert texts(read_transcript(script.write(tmp_path / "a.jsonl"))) == ["first", "one", "second"]


@pytest.mark.spec("transcripts.turn.abandoned")
def test_messages_that_a_rewind_left_are_marked_on_every_page(tmp_path: Path) -> None:
    script = Script()
    fork = script.human("first")
    script.assistant("a first answer")
    script.human("second")
    script.assistant("two")
    script.leaf = fork
    script.human("first, but better")
    script.assistant("a better answer")
    path = script.write(tmp_path / "a.jsonl")
    whole = read_transcript(path).messages
    marked = ["a first answer", "second", "two"]
    assert [message.text for message in whole if message.is_abandoned] == marked
    single = [read_transcript(path, offset=number, limit=1).messages[0] for number in range(6)]
    assert tuple(single) == whole


@pytest.mark.spec("transcripts.queued.repeated", "transcripts.queued.human")
def test_queued_text_is_one_message_wherever_it_is_repeated(tmp_path: Path) -> None:
    script = Script()
    script.human("first")
    script.queue("enqueue", "said twice")
    script.queue("enqueue", "said once")
    script.assistant("one")
    script.human("said twice")
    page = read_transcript(script.write(tmp_path / "a.jsonl"))
    assert texts(page) == ["first", "said once", "one", "said twice"]
    assert [message.kind for message in page.messages if message.role == "human"] == [
        Kind.TEXT,
        Kind.WAITING,
        Kind.TEXT,
    ]


@pytest.mark.spec("graph_read_transcript.skipped", "graph_read_transcript.format-warnings")
def test_what_was_left_out_is_counted_and_warned_of(script: Script, tmp_path: Path) -> None:
    script.lines += [b"garbage", b"42", b'{"type":"of tomorrow"}', b'{"type":"user","message":{"content":"x \\ud800"}}']
    script.lines.append(b'{"type":"user","half')
    path = script.write(tmp_path / "a.jsonl")
    path.write_bytes(path.read_bytes()[:-1])
    page = read_transcript(path)
    assert texts(page)[-2:] == ["second", "x \ufffd"]
    assert page.skipped["unparseable"] == 2
    assert page.skipped["not_an_object"] == page.skipped["unknown_type"] == 1
    assert page.warnings == (
        "unknown type 'of tomorrow': 1",
        "repaired lenient_json: 1",
        "unparseable lines: 2",
        "values that are not objects: 1",
        "unfinished last line: 1",
    )


@pytest.mark.spec("graph_read_transcript.encodings")
def test_pages_of_a_utf_16_file_are_read(script: Script, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(script.bytes.decode().encode("utf-16"))
    assert texts(read_transcript(path, offset=2)) == ["two", "second"]


def test_two_records_on_one_line_are_two_messages_of_a_page(tmp_path: Path) -> None:
    script = Script()
    script.human("one")
    script.human("two")
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(script.lines))
    assert texts(read_transcript(path, offset=1)) == ["two"]


@pytest.mark.spec("graph_read_transcript.empty")
@pytest.mark.parametrize("body", [b"", b'{"type":"summary","summary":"s","leafUuid":"x"}\n', b"\n\n"])
def test_a_file_without_messages_is_an_empty_page(body: bytes, tmp_path: Path) -> None:
    path = tmp_path / "the-session.jsonl"
    path.write_bytes(body)
    page = read_transcript(path)
    assert (page.messages, page.message_count, page.session_id, page.cwd) == ((), 0, "the-session", None)


@pytest.mark.spec("graph_read_transcript.missing")
def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no transcript gone\.jsonl"):
        read_transcript(tmp_path / "gone.jsonl")


def test_what_is_no_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="can't be read") as raised:
        read_transcript(tmp_path)
    assert str(tmp_path.parent) not in str(raised.value)
