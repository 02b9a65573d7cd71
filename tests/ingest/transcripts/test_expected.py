"""Every sample transcript gives exactly the counts that its expectation states."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ingest.transcripts.messages import Entry, Kind, Message, Reading
from ingest.transcripts.pages import read_transcript
from ingest.transcripts.reading import open_transcript, read_entries
from ingest.transcripts.records import RecordReader
from ingest.transcripts.reports import ReadReport
from ingest.transcripts.turns import TurnBuilder

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "cases" / "transcripts"
EXPECTED: dict[str, dict[str, int]] = (
    json.loads((SAMPLES / "expected.json").read_text()) if (SAMPLES / "expected.json").exists() else {}
)
# Names where there are no samples, so that the skip says which tests did not run.
NAMES = sorted(EXPECTED) or ["all samples"]

pytestmark = pytest.mark.skipif(not EXPECTED, reason=f"no sample transcripts at {SAMPLES}")


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Return the records that a reading classifies, one after the other."""
    seen: list[dict[str, object]] = []
    read = RecordReader.read

    def noted(self: RecordReader, record: dict[str, object], offset: int, nth: int = 0) -> Entry | None:
        seen.append(record)
        return read(self, record, offset, nth)

    monkeypatch.setattr(RecordReader, "read", noted)
    return seen


def entries_of(name: str) -> tuple[list[Entry], ReadReport]:
    with open_transcript(SAMPLES / name) as stream:
        return list(read_entries(stream, report := ReadReport(), reading=Reading(is_whole=True))), report


def counts(records: list[dict[str, object]], entries: list[Entry], report: ReadReport) -> dict[str, int]:
    texts = [(entry.role, entry.kind) for entry in entries if isinstance(entry, Message)]
    answers = [record.get("message") for record in records if record.get("type") == "assistant"]
    return {
        "json_lines": len(records) + report.non_object_lines,
        "unparseable_lines": report.unparseable_lines,
        "non_object_lines": report.non_object_lines,
        "user_lines": sum(record.get("type") == "user" for record in records),
        "assistant_lines": len(answers),
        "sidechain_lines": sum(record.get("isSidechain") is True for record in records),
        "compact_summaries": sum(record.get("isCompactSummary") is True for record in records),
        "human_prompts_main_chain": texts.count(("human", Kind.TEXT)),
        "assistant_text_lines_main_chain": texts.count(("assistant", Kind.TEXT)),
        "distinct_assistant_message_ids": len({it["id"] for it in answers if isinstance(it, dict) and "id" in it}),
    }


@pytest.mark.spec("graph_read_transcript.human.expected-counts", "graph_read_transcript.empty")
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_gives_its_expected_counts(name: str, records: list[dict[str, object]]) -> None:
    assert counts(records, *entries_of(name)) == EXPECTED[name]


@pytest.mark.spec("graph_read_transcript.human.expected-counts", "graph_read_transcript.empty")
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_has_its_prompts_on_one_page(name: str) -> None:
    page = read_transcript(SAMPLES / name, limit=10_000)
    prompts = [it for it in entries_of(name)[0] if isinstance(it, Message) and it.role == "human"]
    assert [it.text for it in page.messages if it.role == "human"] == [it.text for it in prompts]
    assert page.message_count == len(page.messages)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_reads_as_a_naive_parse_of_each_line_does(name: str, records: list[dict[str, object]]) -> None:
    naive = []
    for raw in (SAMPLES / name).read_bytes().split(b"\n"):
        try:
            record = json.loads(raw)
        except ValueError:
            continue
        naive.append(record.get("type") if isinstance(record, dict) else "no object")
    _, report = entries_of(name)
    assert Counter(naive) == Counter([it.get("type") for it in records] + ["no object"] * report.non_object_lines)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_has_a_turn_for_each_prompt_and_loses_no_answer(name: str) -> None:
    entries, _ = entries_of(name)
    turns = TurnBuilder().feed(entries).turns
    messages = [entry for entry in entries if isinstance(entry, Message)]
    prompts = [message for message in messages if message.role == "human"]
    assert len(turns) == len(prompts)
    if prompts:
        first = messages.index(prompts[0])
        answers = {message.text for message in messages[first:] if message.role == "assistant" and not message.is_error}
        assert answers == {part.text for turn in turns for part in turn.parts}


@pytest.mark.spec("transcripts.turn.abandoned")
def test_in_the_sample_of_a_fork_what_the_last_leaf_does_not_descend_from_is_abandoned() -> None:
    page = read_transcript(SAMPLES / "fixtures/ccl_dag_fork.jsonl")
    assert [message.uuid for message in page.messages if message.is_abandoned] == ["d", "e", "f", "g", "h"]


def test_no_other_sample_was_rewound() -> None:
    rewound = [
        name
        for name in EXPECTED
        if any(message.is_abandoned for message in read_transcript(SAMPLES / name, limit=10_000).messages)
    ]
    assert rewound == ["fixtures/ccl_dag_fork.jsonl"]


@pytest.mark.spec("transcripts.queued.human")
def test_in_the_sample_of_steering_the_text_that_only_the_queue_holds_is_a_human_message() -> None:
    page = read_transcript(SAMPLES / "fixtures/ccl_session_id_steering_order.jsonl")
    assert [message.text for message in page.messages if message.role == "human"][1].startswith("actually")


@pytest.mark.spec("transcripts.turn.resumed")
def test_the_sample_of_a_resumed_session_adds_only_its_new_question() -> None:
    turns = {}
    for name in ("original.jsonl", "99999999-0000-4000-8000-000000000002.jsonl"):
        with open_transcript(SAMPLES / "derived/resume_duplicates_history" / name) as stream:
            turns[name] = TurnBuilder().feed(read_entries(stream, ReadReport())).turns
    first, resumed = turns.values()
    assert [turn.key for turn in resumed][: len(first)] == [turn.key for turn in first]
    assert [part.key for part in resumed[0].parts] == [part.key for part in first[0].parts]
    assert [turn.prompt for turn in resumed[len(first) :]] == ["And now, in the resumed session, a NEW question."]
