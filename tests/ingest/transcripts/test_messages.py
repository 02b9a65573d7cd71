from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.transcripts.messages import Kind, Link, Message, Reading
from ingest.transcripts.reading import read_entries
from ingest.transcripts.reports import ReadReport
from tests.ingest.transcripts.script import SESSION, Script, entries_of, messages_of, texts_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def test_a_message_knows_where_it_comes_from() -> None:
    script = Script()
    script.human("Why?", timestamp="2026-03-01T11:00:00.123456+01:00")
    script.assistant("Because.", "msg_1")
    prompt, answer = messages_of(script.bytes)[0]
    assert prompt == Message(
        role="human",
        text="Why?",
        timestamp=datetime(2026, 3, 1, 10, 0, 0, 123456, tzinfo=UTC),
        offset=0,
        session_id=SESSION,
        cwd="/home/u/project",
        uuid="u0",
        parent_uuid=None,
    )
    assert (answer.role, answer.message_id) == ("assistant", "msg_1")
    assert (answer.uuid, answer.parent_uuid, answer.offset) == ("u1", "u0", len(script.lines[0]) + 1)


@pytest.mark.spec("graph_read_transcript.human.typed", "graph_read_transcript.human.not-meta")
def test_lines_that_no_person_typed_are_counted_with_their_reason() -> None:
    script = Script()
    script.tool()
    script.human("meta", isMeta=True)
    script.human("summary", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    script.human("shown only", isVisibleInTranscriptOnly=True)
    script.human("sidechain", isSidechain=True)
    script.human("from a task", origin={"kind": "task-notification"})
    script.human([{"type": "image", "source": {}}])
    script.human([{"type": "tool_result", "content": "x"}, {"type": "text", "text": "beside a result"}])
    script.record("user", message="error")
    script.record("progress", data={"type": "agent_progress", "message": {"type": "user", "message": {"content": "x"}}})
    script.record("attachment", attachment={"type": "hook_success", "content": "x"})
    messages, report = messages_of(script.bytes)
    assert messages == []
    assert report.skipped == {
        "tool_call": 1,
        "tool_result": 2,
        "meta": 1,
        "compact_summary": 1,
        "transcript_only": 1,
        "sidechain": 1,
        "notification": 1,
        "no_text": 1,
        "no_message": 1,
        "progress": 1,
        "attachment": 1,
    }


def test_what_the_client_writes_when_the_api_fails_is_marked() -> None:
    script = Script()
    script.assistant("API Error: 529", isApiErrorMessage=True)
    assert messages_of(script.bytes)[0][0].is_error


@pytest.mark.spec("graph_read_transcript.format-warnings")
def test_unknown_types_and_wrong_shapes_are_warnings_and_never_errors() -> None:
    script = Script()
    script.record("brand-new-type")
    script.record("brand-new-type")
    for value in (42, [1], "text", None, {"silly": "this"}, {"type": ["list"]}, {"type": "user", "message": 5}):
        script.raw(value)
    script.human("still read")
    messages, report = messages_of(script.bytes)
    assert [message.text for message in messages] == ["still read"]
    assert report.non_object_lines == 4
    assert report.format_warnings() == {
        "unknown type 'brand-new-type'": 2,
        "unknown type '(none)'": 2,
        "values that are not objects": 4,
    }


def test_a_hostile_file_cannot_fill_the_warnings() -> None:
    script = Script()
    for number in range(1_000):
        script.lines.append(json.dumps({"type": f"type {number} " + "\ud800" * 5_000}).encode())
    _, report = messages_of(script.bytes)
    assert len(report.format_warnings()) <= 22
    assert sum(report.unknown_types.values()) == 1_000
    assert all(len(name) < 1_000 and name.isascii() for name in report.format_warnings())


@given(st.lists(JSON, max_size=10))
def test_no_json_is_an_error_and_every_value_is_counted(values: list[object]) -> None:
    body = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    _, report = messages_of(body)
    assert report.lines == len(values)
    assert report.non_object_lines == sum(not isinstance(value, dict) for value in values)


@given(
    st.dictionaries(
        st.sampled_from(["type", "message", "uuid", "timestamp", "attachment", "content", "operation"]), JSON
    )
)
def test_no_record_is_an_error(record: dict[str, object]) -> None:
    for kind in ("user", "assistant", "attachment", "queue-operation"):
        body = json.dumps({**record, "type": kind}).encode()
        entries_of(body, Reading(is_whole=True, with_tools=True, with_sidechains=True))


@given(st.binary(max_size=300))
def test_no_bytes_are_an_error(body: bytes) -> None:
    _, report = messages_of(body)
    assert report.end_offset == len(body)


@pytest.mark.spec("graph_read_transcript.encodings")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_file_in_another_encoding_is_read_whole(encoding: str, ending: str) -> None:
    script = Script()
    script.human("caf\u00e9 \u2028 \u0085 \U0001f600 \u010a")
    script.assistant("\u65e5\u672c")
    text = "".join(line.decode() + ending for line in script.lines)
    marks = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
    body = marks.get(encoding, b"") + text.encode(encoding)
    assert texts_of(body) == [("human", "caf\u00e9 \u2028 \u0085 \U0001f600 \u010a"), ("assistant", "\u65e5\u672c")]


def test_utf_16_lines_inside_a_utf_8_file_are_read() -> None:
    script = Script()
    script.human("one")
    script.human("two")
    script.human("three")
    first, second, third = (line.decode() + "\n" for line in script.lines)
    for encoding in ("utf-16-le", "utf-16-be"):
        body = first.encode() + second.encode(encoding) + third.encode(encoding)
        assert [text for _, text in texts_of(body)] == ["one", "two", "three"]


@pytest.mark.spec("graph_read_transcript.encodings")
def test_lone_surrogates_become_replacement_characters() -> None:
    script = Script()
    script.lines.append(
        b'{"type":"user","uuid":"a","cwd":"/\\udc80","message":{"content":"x \\ud83d y \\ud83d\\ude00"}}'
    )
    message = messages_of(script.bytes)[0][0]
    assert (message.text, message.cwd) == ("x \ufffd y \U0001f600", "/\ufffd")


def test_nuls_in_text_become_replacement_characters() -> None:
    script = Script()
    script.human("a\0b")
    assert texts_of(script.bytes) == [("human", "a\ufffdb")]


@pytest.mark.spec("graph_read_transcript.skipped")
@pytest.mark.parametrize(
    "damage",
    [b"garbage {", b'{"type":"user","mess', b"\0" * 100, b'{"a":"\xff"}', b'{"a": 1} tail'],
)
def test_all_good_lines_around_a_broken_one_are_returned(damage: bytes) -> None:
    script = Script()
    script.human("before")
    script.lines.append(damage)
    script.human("after")
    messages, report = messages_of(script.bytes)
    assert [message.text for message in messages] == ["before", "after"]
    assert report.unparseable_lines == 1


def test_two_records_on_one_line_are_two_messages() -> None:
    script = Script()
    script.human("one")
    script.human("two")
    messages, report = messages_of(b"".join(script.lines) + b"\n")
    assert [(message.text, message.nth) for message in messages] == [("one", 0), ("two", 1)]
    assert (report.lines, report.unparseable_lines) == (1, 0)


def test_deep_nesting_in_a_leniently_read_line_is_no_error() -> None:
    deep = "[" * 900 + "]" * 900
    body = f'{{"type":"user","uuid":"a","x":NaN,"deep":{deep},"message":{{"content":"hi"}}}}\n'.encode()
    assert texts_of(body) == [("human", "hi")]


@pytest.mark.spec("graph_read_transcript.partial-last-line", "transcripts.cursor.half-line")
def test_a_half_written_last_line_is_left_for_the_next_reading() -> None:
    script = Script()
    script.human("one")
    script.human("two")
    body = script.bytes
    report = ReadReport()
    entries = list(read_entries(BytesIO(body[:-10]), report))
    assert [entry.offset for entry in entries] == [0]
    assert report.end_offset == len(script.lines[0]) + 1
    rest = list(read_entries(BytesIO(body), report, offset=report.end_offset))
    assert [entry.text for entry in rest if isinstance(entry, Message)] == ["two"]
    assert report.unparseable_lines == 0


def test_a_whole_record_that_only_lacks_its_line_feed_is_read_at_once() -> None:
    script = Script()
    script.human("one")
    report = ReadReport()
    assert len(list(read_entries(BytesIO(script.bytes[:-1]), report))) == 1
    assert list(read_entries(BytesIO(script.bytes), report, offset=report.end_offset)) == []
    assert (report.end_offset, report.lines) == (len(script.bytes), 1)


def test_a_half_written_last_line_of_a_whole_reading_is_counted_as_unfinished() -> None:
    script = Script()
    script.human("one")
    script.human("two")
    messages, report = messages_of(script.bytes[:-10])
    assert [message.text for message in messages] == ["one"]
    assert (report.unparseable_lines, report.unfinished_lines) == (1, 1)


def test_a_reading_can_be_bounded_in_bytes_and_goes_on_where_it_ended() -> None:
    script = Script()
    for number in range(10):
        script.human(f"prompt {number}")
    texts: list[str] = []
    offset = 0
    while offset < len(script.bytes):
        report = ReadReport()
        reading = Reading(max_bytes=500)
        entries = list(read_entries(BytesIO(script.bytes), report, offset=offset, reading=reading))
        texts += [entry.text for entry in entries if isinstance(entry, Message)]
        assert report.end_offset - offset <= 500 + len(script.lines[0]) + 1
        offset = report.end_offset
    assert texts == [f"prompt {number}" for number in range(10)]


def test_sidechains_and_tools_are_read_where_asked_for() -> None:
    script = Script()
    script.human("Look at the code")
    script.tool("Grep", "src/app.py:1")
    script.human("Examine package.json", isSidechain=True, agentId="a1")
    script.assistant("It has one dependency.", isSidechain=True, agentId="a1")
    plain, report = messages_of(script.bytes)
    assert [message.text for message in plain] == ["Look at the code"]
    assert report.skipped["sidechain"] == 2
    full, _ = messages_of(script.bytes, Reading(is_whole=True, with_sidechains=True, with_tools=True))
    assert [(message.role, message.kind, message.is_sidechain) for message in full] == [
        ("human", Kind.TEXT, False),
        ("assistant", Kind.TOOL, False),
        ("assistant", Kind.TOOL, False),
        ("assistant", Kind.TEXT, True),
        ("assistant", Kind.TEXT, True),
    ]
    assert full[2].text == "[tool result] src/app.py:1"


def test_in_an_agents_file_nobody_speaks_even_where_lines_are_not_marked() -> None:
    script = Script()
    script.human("Summarise the session")
    script.assistant("The session was about …")
    messages, report = messages_of(script.bytes, Reading(is_whole=True, is_agent=True))
    assert messages == []
    assert report.skipped == {"sidechain": 2}


def test_lines_of_the_main_chain_that_are_no_messages_are_links() -> None:
    script = Script()
    script.record("progress", data={})
    script.tool()
    script.human("Caveat: The messages below were generated by the user while running local commands.", isMeta=True)
    script.human("side", isSidechain=True)
    script.raw({"type": "summary", "summary": "s", "leafUuid": "x"})
    links = [entry for entry in entries_of(script.bytes)[0] if isinstance(entry, Link)]
    assert [(link.uuid, link.parent_uuid, link.is_leaf, link.is_passing) for link in links] == [
        ("u0", None, False, False),
        ("u1", "u0", True, False),
        ("u2", "u1", True, False),
        ("u3", "u2", False, True),
    ]


@pytest.mark.spec("graph_read_transcript.huge-lines")
def test_a_line_of_many_megabytes_is_read() -> None:
    script = Script()
    script.human("x" * 5_000_000)
    script.tool(result="y" * 5_000_000)
    script.assistant("done")
    assert [len(text) for _, text in texts_of(script.bytes)] == [5_000_000, 4]
