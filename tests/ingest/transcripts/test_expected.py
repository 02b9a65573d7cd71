"""Every sample transcript gives exactly the counts that its expectation states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.transcripts.messages import Message, Reading
from ingest.transcripts.pages import read_transcript
from ingest.transcripts.reading import open_transcript, read_entries
from ingest.transcripts.reports import ReadReport
from ingest.transcripts.turns import TurnBuilder

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "cases" / "transcripts"
EXPECTED: dict[str, dict[str, int]] = (
    json.loads((SAMPLES / "expected.json").read_text()) if (SAMPLES / "expected.json").exists() else {}
)
# Names where there are no samples, so that the skip says which tests did not run.
NAMES = sorted(EXPECTED) or ["all samples"]

pytestmark = pytest.mark.skipif(not EXPECTED, reason=f"no sample transcripts at {SAMPLES}")


def counts(report: ReadReport) -> dict[str, int]:
    return {
        "json_lines": report.json_lines,
        "unparseable_lines": report.unparseable_lines,
        "non_object_lines": report.non_object_lines,
        "user_lines": report.user_lines,
        "assistant_lines": report.assistant_lines,
        "sidechain_lines": report.sidechain_lines,
        "compact_summaries": report.compact_summaries,
        "human_prompts_main_chain": report.human_prompts,
        "assistant_text_lines_main_chain": report.assistant_text_lines,
        "distinct_assistant_message_ids": len(report.assistant_message_ids),
    }


@pytest.mark.spec("graph_read_transcript.human.expected-counts", "graph_read_transcript.empty")
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_gives_its_expected_counts(name: str) -> None:
    page = read_transcript(SAMPLES / name, limit=10_000)
    assert counts(page.report) == EXPECTED[name]
    typed = [message for message in page.messages if message.role == "human"]
    assert len(typed) == EXPECTED[name]["human_prompts_main_chain"] + page.report.queued_prompts
    assert page.message_count == len(page.messages)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_reads_as_a_naive_parse_of_each_line_does(name: str) -> None:
    naive_values = naive_human = naive_assistant = 0
    for raw in (SAMPLES / name).read_bytes().split(b"\n"):
        try:
            record = json.loads(raw)
        except ValueError:
            continue
        naive_values += 1
        if isinstance(record, dict):
            naive_human += record.get("type") == "user"
            naive_assistant += record.get("type") == "assistant"
    report = read_transcript(SAMPLES / name).report
    assert (report.json_lines, report.user_lines, report.assistant_lines) == (
        naive_values,
        naive_human,
        naive_assistant,
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_has_a_turn_for_each_prompt_and_loses_no_answer(name: str) -> None:
    with open_transcript(SAMPLES / name) as stream:
        entries = list(read_entries(stream, report := ReadReport(), reading=Reading(is_whole=True)))
    turns = TurnBuilder().feed(entries).turns
    messages = [entry for entry in entries if isinstance(entry, Message)]
    prompts = [message for message in messages if message.role == "human"]
    assert len(turns) == len(prompts) == report.human_prompts + report.queued_prompts
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
