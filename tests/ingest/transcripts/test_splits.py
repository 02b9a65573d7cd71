"""A transcript gives the same turns however it is read: at once, in pieces, by a builder that is saved and restored."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO

from hypothesis import given
from hypothesis import strategies as st

from ingest.transcripts.messages import Reading
from ingest.transcripts.reading import read_entries
from ingest.transcripts.reports import ReadReport
from ingest.transcripts.turns import Changes, Turn, TurnBuilder
from tests.ingest.transcripts.script import Script, answer_of

STEPS = st.sampled_from(
    ["human", "assistant", "again", "tool", "progress", "rewind", "lost", "enqueue", "remove", "attached", "broken"]
)
WORDS = st.sampled_from(["one", "two", "three \u2028 \U0001f600", "one\ntwo"])


def step_of(script: Script, step: str, word: str, number: int) -> str | None:
    """Write one step; return the uuid of its line, if it has one."""
    if step in ("enqueue", "remove"):
        script.queue(step, word)
        return None
    if step == "broken":
        script.lines.append(b'{"type":"user","mess')
        return None
    writers: dict[str, Callable[[], str]] = {
        "human": lambda: script.human(word),
        "rewind": lambda: script.human(word),
        "assistant": lambda: script.assistant(f"{word} {number}"),
        "again": lambda: script.assistant(word, "msg_same"),
        "tool": script.tool,
        "progress": lambda: script.record("progress", data={}),
        "lost": lambda: script.human(word, parentUuid="never written"),
        "attached": lambda: script.record("attachment", attachment={"type": "queued_command", "prompt": word}),
    }
    return writers[step]()


@st.composite
def transcripts(draw: st.DrawFn) -> bytes:
    script = Script()
    uuids: list[str] = []
    for number in range(draw(st.integers(0, 25))):
        step = draw(STEPS)
        if step == "rewind" and uuids:
            script.leaf = draw(st.sampled_from(uuids))
        uuid = step_of(script, step, draw(WORDS), number)
        if uuid is not None:
            uuids.append(uuid)
    return script.bytes


def joined(stored: Turn, read: Turn) -> Turn:
    """Join two readings of one turn: what is stored stays, what it lacks is added."""
    parts = {part.key: part for part in (*stored.parts, *read.parts)}
    return replace(stored, parts=tuple(parts.values()), is_abandoned=read.is_abandoned)


class Kept:
    """What a caller of the builder keeps: turns by key."""

    def __init__(self) -> None:
        self.turns: dict[str, Turn] = {}

    def apply(self, changes: Changes) -> None:
        for key in changes.withdrawn:
            self.turns.pop(key, None)
        for turn in changes.turns:
            stored = self.turns.get(turn.key)
            self.turns[turn.key] = turn if stored is None else joined(stored, turn)
        for keys, flag in ((changes.abandoned, True), (changes.revived, False)):
            for key in keys:
                if key in self.turns:
                    self.turns[key] = replace(self.turns[key], is_abandoned=flag)

    @property
    def sorted(self) -> list[Turn]:
        return sorted(self.turns.values(), key=lambda turn: turn.offset)


def at_once(body: bytes) -> list[Turn]:
    kept = Kept()
    kept.apply(TurnBuilder().feed(read_entries(BytesIO(body), ReadReport())))
    return kept.sorted


@given(transcripts(), st.data())
def test_a_file_read_while_it_grows_gives_the_same_turns_as_a_whole_one(body: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    builder, kept, offset = TurnBuilder(), Kept(), 0
    for end in [*cuts, len(body)]:
        report = ReadReport()
        kept.apply(builder.feed(read_entries(BytesIO(body[:end]), report, offset=offset)))
        offset = report.end_offset
        if data.draw(st.booleans()):
            builder = TurnBuilder.from_state(json.loads(json.dumps(builder.state())))
            offset = builder.resume_offset
    assert kept.sorted == at_once(body)


@given(transcripts(), st.integers(1, 2_000))
def test_a_file_read_in_bounded_pieces_gives_the_same_turns(body: bytes, size: int) -> None:
    builder, kept, offset = TurnBuilder(), Kept(), 0
    while offset < len(body):
        report = ReadReport()
        reading = Reading(max_bytes=size)
        kept.apply(builder.feed(read_entries(BytesIO(body), report, offset=offset, reading=reading)))
        offset = report.end_offset
    assert kept.sorted == at_once(body)


@given(transcripts())
def test_reading_a_file_again_changes_nothing(body: bytes) -> None:
    kept = Kept()
    for _ in range(2):
        kept.apply(TurnBuilder().feed(read_entries(BytesIO(body), ReadReport())))
    assert kept.sorted == at_once(body)


@given(transcripts())
def test_every_prompt_and_every_answer_behind_one_is_kept(body: bytes) -> None:
    kept = " \0 ".join(f"{turn.prompt} \0 {answer_of(turn)}" for turn in at_once(body))
    has_prompt = False
    for raw in body.split(b"\n"):
        try:
            record = json.loads(raw)
        except ValueError:
            continue
        content = record.get("message", {}).get("content")
        if record["type"] == "user" and isinstance(content, str):
            has_prompt = True
            assert content in kept
        elif has_prompt and record["type"] == "assistant" and content[0]["type"] == "text":
            assert content[0]["text"] in kept
