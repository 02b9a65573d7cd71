"""Turns of one transcript, as lines come."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from ingest.transcripts.keys import part_key, turn_key
from ingest.transcripts.turns import Changes, TurnBuilder
from tests.ingest.transcripts.script import Script, changes_of, entries_of, said, written


def abandoned(changes: Changes) -> list[str]:
    return [turn.prompt for turn in changes.turns if turn.is_abandoned]


@pytest.mark.spec("transcripts.turn.extent")
def test_a_turn_is_a_prompt_with_all_assistant_text_until_the_next() -> None:
    script = Script()
    script.assistant("said before anybody asked")
    script.human("first")
    script.assistant("let me look")
    script.tool()
    script.assistant("found it")
    script.human("second")
    script.human("third")
    script.assistant("ok")
    changes = changes_of(script.bytes)
    assert said(changes) == [("first", "let me look\n\nfound it"), ("second", ""), ("third", "ok")]
    first, second, third = changes.turns
    assert (first.previous_key, second.previous_key, third.previous_key) == (None, first.key, second.key)
    assert abandoned(changes) == []


@pytest.mark.spec("transcripts.turn.at-once", "transcripts.turn.grows")
def test_a_turn_is_there_with_its_prompt_and_grows() -> None:
    script = Script()
    script.human("first")
    builder = TurnBuilder()
    assert said(builder.feed(entries_of(script.bytes)[0])) == [("first", "")]
    done = len(script.bytes)
    script.assistant("answer")
    more = [entry for entry in entries_of(script.bytes)[0] if entry.offset >= done]
    changes = builder.feed(more)
    assert said(changes) == [("first", "answer")]
    assert builder.feed([]) == Changes()


@pytest.mark.spec("transcripts.turn.key", "transcripts.turn.resumed", "transcripts.turn.assistant-key")
def test_a_session_resumed_under_new_ids_has_the_same_keys() -> None:
    original, resumed = Script(prefix="a"), Script(session_id="another", prefix="b")
    for script in (original, resumed):
        script.human("first")
        script.assistant("one", "msg_1")
        script.assistant("two", "msg_1")
    resumed.human("new question")
    old, new = changes_of(original.bytes).turns, changes_of(resumed.bytes).turns
    assert [turn.key for turn in old] == [turn.key for turn in new][:1]
    assert [part.key for part in old[0].parts] == [part.key for part in new[0].parts]
    assert len({turn.key for turn in (*old, *new)}) == 2


def test_the_same_words_at_another_time_are_another_turn() -> None:
    script = Script()
    script.human("continue")
    script.human("continue")
    first, second = changes_of(script.bytes).turns
    assert first.key != second.key


@pytest.mark.spec("transcripts.turn.assistant-key")
def test_a_line_that_is_written_again_is_not_said_twice() -> None:
    script = Script()
    script.human("first")
    script.assistant("answer", "msg_1")
    script.assistant("answer", "msg_1")
    script.assistant("answer", "msg_2")
    assert said(changes_of(script.bytes)) == [("first", "answer\n\nanswer")]


def test_a_history_repeated_in_the_same_file_adds_nothing() -> None:
    script, again = Script(prefix="a"), Script(prefix="b")
    for part in (script, again):
        part.human("first")
        part.assistant("one")
        part.human("second")
        part.assistant("two")
    again.human("third")
    once = changes_of(script.bytes)
    twice = changes_of(script.bytes + again.bytes)
    assert [turn.key for turn in twice.turns][:2] == [turn.key for turn in once.turns]
    assert said(twice) == [("first", "one"), ("second", "two"), ("third", "")]
    assert abandoned(twice) == []


def test_what_stands_in_place_of_the_model_is_no_answer() -> None:
    script = Script()
    script.human("first")
    script.assistant("API Error: overloaded", isApiErrorMessage=True)
    assert said(changes_of(script.bytes)) == [("first", "")]


def test_keys_tell_their_parts_apart() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert turn_key("a", None) != turn_key("a", at)
    assert (
        len({part_key("a", "m", None), part_key("a", "n", None), part_key("a", None, at), part_key("b", "m", None)})
        == 4
    )
    assert part_key("a", "m", None) == part_key("a", "m", at)


class TestQueued:
    @pytest.mark.spec("transcripts.queued.human")
    def test_text_that_only_an_enqueue_holds_is_a_turn(self) -> None:
        script = Script()
        script.human("first")
        script.assistant("working")
        script.queue("enqueue", "and the tests too")
        script.assistant("still working on the first")
        changes = changes_of(script.bytes)
        assert said(changes) == [("first", "working\n\nstill working on the first"), ("and the tests too", "")]

    @pytest.mark.spec("transcripts.queued.human")
    @pytest.mark.parametrize("prompt", ["focus on the parser", [{"type": "text", "text": "focus on the parser"}]])
    def test_a_queued_command_is_answered_by_what_follows(self, prompt: object) -> None:
        script = Script()
        script.human("first")
        script.record("attachment", attachment={"type": "queued_command", "prompt": prompt, "commandMode": "prompt"})
        script.assistant("parser first")
        assert said(changes_of(script.bytes)) == [("first", ""), ("focus on the parser", "parser first")]

    @pytest.mark.spec("transcripts.queued.repeated")
    def test_text_that_is_queued_slipped_in_and_attached_is_one_turn(self) -> None:
        script = Script()
        script.human("first")
        script.queue("enqueue", "focus")
        script.queue("remove", "focus")
        script.record("attachment", attachment={"type": "queued_command", "prompt": "focus"})
        script.assistant("focusing")
        script.human("next")
        changes = changes_of(script.bytes)
        assert said(changes) == [("first", ""), ("focus", "focusing"), ("next", "")]
        first, focus, after = changes.turns
        assert (focus.previous_key, after.previous_key) == (first.key, focus.key)

    @pytest.mark.spec("transcripts.queued.repeated")
    def test_text_that_comes_again_as_a_prompt_is_one_turn(self) -> None:
        script = Script()
        script.queue("enqueue", "hello")
        script.queue("dequeue")
        script.human("hello")
        script.assistant("hi")
        changes = changes_of(script.bytes)
        assert said(changes) == [("hello", "hi")]
        assert changes.turns[0].previous_key is None

    def test_text_queued_and_said_at_the_same_instant_is_not_taken_back(self) -> None:
        script = Script()
        script.queue("enqueue", "hello")
        builder = TurnBuilder()
        builder.feed(entries_of(script.bytes)[0])
        done = len(script.bytes)
        script.human("hello", timestamp=written(0))
        changes = builder.feed([entry for entry in entries_of(script.bytes)[0] if entry.offset >= done])
        assert said(changes) == [("hello", "")]
        assert changes.withdrawn == ()

    @pytest.mark.spec("transcripts.queued.repeated")
    def test_several_that_come_again_in_one_prompt_are_one_turn(self) -> None:
        script = Script()
        script.human("first")
        script.queue("enqueue", "one\ntwo")
        script.queue("enqueue", "three")
        script.assistant("done")
        script.human("one\ntwo\nthree")
        assert said(changes_of(script.bytes)) == [("first", "done"), ("one\ntwo\nthree", "")]

    def test_a_repetition_in_a_later_reading_takes_the_turn_back(self) -> None:
        script = Script()
        script.human("first")
        script.queue("enqueue", "hello")
        builder = TurnBuilder()
        early = builder.feed(entries_of(script.bytes)[0])
        done = len(script.bytes)
        script.human("hello")
        late = builder.feed([entry for entry in entries_of(script.bytes)[0] if entry.offset >= done])
        assert late.withdrawn == (early.turns[1].key,)
        assert said(late) == [("hello", "")]

    def test_what_was_answered_is_not_taken_back_when_said_again(self) -> None:
        script = Script()
        script.human("first")
        script.queue("remove", "continue")
        script.assistant("continuing")
        script.human("continue")
        changes = changes_of(script.bytes)
        assert said(changes) == [("first", ""), ("continue", "continuing"), ("continue", "")]
        assert changes.withdrawn == ()

    def test_the_same_words_in_a_longer_sentence_are_no_repetition(self) -> None:
        script = Script()
        script.human("first")
        script.queue("enqueue", "yes")
        script.human("yes and no")
        assert [turn.prompt for turn in changes_of(script.bytes).turns] == ["first", "yes", "yes and no"]

    @pytest.mark.parametrize("operation", ["dequeue", "popAll"])
    def test_other_operations_say_nothing(self, operation: str) -> None:
        script = Script()
        script.human("first")
        script.queue(operation, "given back for editing")
        assert said(changes_of(script.bytes)) == [("first", "")]

    def test_what_programs_queue_is_nobodys(self) -> None:
        note = "<task-notification><task-id>1</task-id></task-notification>"
        script = Script()
        script.queue("enqueue", note)
        script.queue("enqueue", "/mcp")
        script.record("attachment", attachment={"type": "queued_command", "prompt": note})
        script.record(
            "attachment", attachment={"type": "queued_command", "prompt": "x", "commandMode": "task-notification"}
        )
        script.record("attachment", attachment={"type": "queued_command", "prompt": "x", "origin": {"kind": "peer"}})
        script.record("attachment", attachment={"type": "queued_command", "prompt": "x", "isMeta": True})
        assert changes_of(script.bytes) == Changes()


class TestStates:
    def test_a_state_is_small_and_holds_no_text(self) -> None:
        script = Script(prefix="00000000-0000-4000-8000-00000000")
        for number in range(600):
            script.human(f"secret prompt {number}")
            for _ in range(10):
                script.assistant("secret answer")
        script.queue("enqueue", "secret waiting")
        builder = TurnBuilder()
        builder.feed(entries_of(script.bytes)[0])
        state = json.dumps(builder.state())
        assert "secret" not in state
        assert len(state) < 32_000

    def test_a_restored_builder_refuses_to_leave_out_the_open_turn(self) -> None:
        script = Script()
        script.human("first")
        script.assistant("one")
        builder = TurnBuilder()
        entries = entries_of(script.bytes)[0]
        builder.feed(entries)
        restored = TurnBuilder.from_state(json.loads(json.dumps(builder.state())))
        with pytest.raises(ValueError, match="the open turn begins at 0"):
            restored.feed(entries[1:])
        assert said(restored.feed(entries)) == [("first", "one")]

    def test_a_restored_builder_that_read_nothing_has_the_same_state(self) -> None:
        script = Script()
        script.human("first")
        script.queue("enqueue", "second")
        script.assistant("one")
        builder = TurnBuilder()
        builder.feed(entries_of(script.bytes)[0])
        restored = TurnBuilder.from_state(builder.state())
        restored.feed([])
        assert restored.state() == builder.state()
        assert restored.resume_offset == 0

    def test_a_rewind_to_a_turn_far_back_is_seen_after_a_restart(self) -> None:
        script = Script()
        script.human("first")
        fork = script.assistant("one")
        script.human("second")
        for number in range(2_000):
            script.tool(result=str(number))
        script.human("third")
        builder = TurnBuilder()
        turns = builder.feed(entries_of(script.bytes)[0]).turns
        restored = TurnBuilder.from_state(json.loads(json.dumps(builder.state())))
        script.leaf = fork
        script.human("another second")
        changes = restored.feed([e for e in entries_of(script.bytes)[0] if e.offset >= restored.resume_offset])
        assert changes.abandoned == tuple(turn.key for turn in turns[1:])

    @pytest.mark.parametrize("damage", [{"version": 0}, {"tree": None}, {"tree": {}}, {"queued": [{}]}, {"queued": 5}])
    def test_a_state_that_is_damaged_or_another_versions_is_refused(self, damage: dict[str, object]) -> None:
        state = {**TurnBuilder().state(), **damage}
        with pytest.raises(ValueError, match="state"):
            TurnBuilder.from_state(state)  # type: ignore[arg-type]


def test_a_turn_knows_where_it_comes_from() -> None:
    script = Script()
    script.human("first", cwd="/home/u/one")
    script.human("second", cwd="/home/u/two")
    first, second = changes_of(script.bytes).turns
    assert (first.cwd, second.cwd) == ("/home/u/one", "/home/u/two")
    assert second.offset == len(script.lines[0]) + 1
