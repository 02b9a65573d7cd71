"""The shape and the bounds of every reply, and how to go on behind what was cut."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.config import load_config
from mcp_server.catalogue import Paging
from mcp_server.replies import fitted
from tests.tools.conftest import Client, ToolFailure
from tests.tools.samples import CALLS, prepare, write_transcript

SMALL = 16_384
"""The smallest limit that can be set."""


@pytest.fixture
def small(new_client: Callable[..., Client]) -> Client:
    return new_client(GRAPH_MEMORY_LIMITS__MAX_REPLY_BYTES=str(SMALL))


@pytest.mark.spec("tools.result.one-object", "tools.result.structured", "tools.result.text-block")
@pytest.mark.parametrize("tool", CALLS)
def test_every_tool_answers_with_one_object_that_its_schema_describes(client: Client, tool: str) -> None:
    prepare(client)
    reply = client.call(tool, **CALLS[tool])
    schema = client.specs[tool].output_schema
    # That text, structure and schema agree is checked by every call of the client.
    assert schema["type"] == "object"
    assert set(reply) <= set(schema["properties"])
    assert "truncated" not in reply


def test_there_is_a_sample_of_every_tool(client: Client) -> None:
    assert set(client.specs) == set(CALLS)


@pytest.mark.spec("tools.result.lists-wrapped")
@pytest.mark.parametrize(
    ("tool", "field", "count"),
    [
        ("memory_recent", "memories", "count"),
        ("memory_search", "memories", "count"),
        ("graph_entities", "entities", "total"),
        ("graph_validate", "issues", "issue_count"),
        ("graph_read_transcript", "messages", "message_count"),
    ],
)
def test_a_list_stands_under_its_noun_with_its_count(client: Client, tool: str, field: str, count: str) -> None:
    prepare(client)
    client.relate("the file", "IS", "Here")
    reply = client.call(tool, **CALLS[tool])
    assert len(reply[field]) == reply[count] > 0


@pytest.mark.spec("tools.bounds.max-reply-bytes")
def test_a_reply_has_at_most_256_kib_unless_told_otherwise() -> None:
    assert load_config({}).settings.limits.max_reply_bytes == 262_144


def fill(client: Client) -> None:
    """Store more of everything than a small reply holds."""
    long = "x" * 150
    entities: list[dict[str, Any]] = [
        {"name": f"the file {n} {long}", "type": f"Kind {n % 90} {long}"} for n in range(250)
    ]
    relations = [
        {"from": entities[0]["name"], "to": it["name"], "relation": f"R{n % 90} {long}"}
        for n, it in enumerate(entities)
    ]
    client.call("graph_relate", batch={"entities": entities, "relations": relations})
    for number in range(40):
        text = f"word{number} common {long * 20} [[nowhere {number}]]"
        client.call(
            "memory_add", category=f"c{number} {long}", title=f"Note {number} {long}", content=text, summary=long * 20
        )


BIG_CALLS: dict[str, dict[str, Any]] = {
    "graph_query": {"entities": ["the file 0 " + "x" * 150], "limit": 500},
    "graph_entities": {"limit": 500},
    "graph_validate": {"max_issues": 500},
    "graph_communities": {},
    "graph_stats": {},
    "graph_decay": {"dry_run": True},
    "graph_relate": {"batch": {"entities": [{"name": f"E{n}"} for n in range(999)]}},
    "memory_search": {"query": "common", "limit": 100},
    "memory_recent": {"limit": 100},
    "memory_overview": {},
}


@pytest.mark.spec(
    "tools.bounds.every-list", "tools.bounds.max-reply-bytes", "tools.bounds.truncated", "tools.bounds.hint"
)
@pytest.mark.parametrize("tool", BIG_CALLS)
def test_a_reply_that_would_be_too_long_is_cut_and_says_so(small: Client, tool: str) -> None:
    fill(small)
    small.clock.advance(days=100)
    reply = small.call(tool, **BIG_CALLS[tool])
    assert reply["truncated"] is True
    takes_offset = "offset" in small.specs[tool].input_schema["properties"]
    assert ("next_offset" in reply, "hint" in reply) == (takes_offset, not takes_offset)
    # What is left is most of what there is room for.
    assert len(json.dumps(reply)) > SMALL / 3


@pytest.mark.spec("tools.bounds.item-boundary", "tools.bounds.truncated")
def test_what_remains_is_whole_item_by_item(small: Client, new_client: Callable[..., Client]) -> None:
    fill(small)
    whole = new_client(GRAPH_MEMORY_LIMITS__MAX_REPLY_BYTES="16000000")
    for tool, field in [("graph_entities", "entities"), ("memory_recent", "memories"), ("graph_query", "nodes")]:
        cut, full = (it.call(tool, **BIG_CALLS[tool]) for it in (small, whole))
        assert "truncated" not in full
        assert 0 < len(cut[field]) < len(full[field])
        assert cut[field] == full[field][: len(cut[field])]


@pytest.mark.spec("tools.offset.graph_entities", "tools.offset.memory_search", "tools.offset.memory_recent")
@pytest.mark.parametrize(
    ("tool", "field"),
    [
        ("graph_entities", "entities"),
        ("graph_validate", "issues"),
        ("memory_search", "memories"),
        ("memory_recent", "memories"),
    ],
)
def test_following_next_offset_yields_every_item_once(
    small: Client, new_client: Callable[..., Client], tool: str, field: str
) -> None:
    fill(small)
    whole = new_client(GRAPH_MEMORY_LIMITS__MAX_REPLY_BYTES="16000000").call(tool, **BIG_CALLS[tool])[field]
    found: list[Any] = []
    reply: dict[str, Any] = {"next_offset": 0}
    pages = 0
    while "next_offset" in reply:
        # Some clients write numbers as text.
        reply = small.call(tool, **BIG_CALLS[tool], offset=str(reply["next_offset"]) if pages % 2 else len(found))
        found += reply[field]
        pages += 1
    assert pages > 3
    assert found == whole
    assert small.call(tool, offset=100_000, **{"query": "common"} if tool == "memory_search" else {})[field] == []


@pytest.mark.spec("tools.offset.graph_read_transcript")
def test_a_transcript_cut_by_bytes_goes_on_behind_what_was_left_out(small: Client) -> None:
    texts = [f"{n} {'word ' * 300}" for n in range(60)]
    texts[31] = f"31 {'a very long answer ' * 3_000}"
    texts[32] = f"32 {chr(0x1F680) * 9_000}"
    write_transcript(small, texts)
    seen: list[str] = []
    reply: dict[str, Any] = {"next_offset": 0}
    while "next_offset" in reply:
        reply = small.call("graph_read_transcript", session_id="s-1", offset=reply["next_offset"])
        assert reply["messages"]
        assert reply["message_count"] == 60
        seen += [it["text"].split()[0] for it in reply["messages"]]
    # Two are longer than any reply: cut, and not in the way.
    assert seen == [str(n) for n in range(60)]


@pytest.mark.spec("tools.bounds.every-list", "tools.bounds.hint")
def test_a_note_longer_than_any_reply_is_shown_from_its_beginning(small: Client) -> None:
    content = "".join(f"line {n} \u201cquoted\u201d\n" for n in range(5_000))
    tags = [f"tag{n}" for n in range(50)]
    added = small.call("memory_add", category="note", title="Long", content=content, summary="s" * 30_000, tags=tags)
    reply = small.call("memory_get", id=added["id"])
    assert (reply["truncated"], sorted(reply["tags"])) == (True, sorted(tags))
    assert content.startswith(reply["content"])
    assert "hint" in reply
    [listed] = small.call("memory_recent")["memories"]
    assert (listed["title"], set(listed["summary"])) == ("Long", {"s"})


@pytest.mark.spec("tools.bounds.max-reply-bytes")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("graph_query", {"entities": ["x" * 40_000]}),
        ("graph_query", {"entities": [f"{n}" * 500 for n in range(60)]}),
        ("graph_boost", {"from_name": "x" * 40_000, "relation": "R", "to_name": "B"}),
        ("graph_stats", {"y" * 40_000: 1}),
        ("graph_audit", {"event": "z" * 40_000}),
        ("graph_import", {"file": "f" * 40_000}),
        ("memory_search", {"query": "q" * 40_000}),
        (
            "memory_add",
            {"category": "note", "title": "T", "content": " ".join(f"[[nowhere at all {n}]]" for n in range(3_000))},
        ),
        (
            "graph_relate",
            {
                "batch": {
                    "entities": [{"name": "A"}, {"name": "B"}],
                    "relations": [{"from": "A", "to": "B", "relation": f"R{n}", "weight": 7} for n in range(900)],
                }
            },
        ),
    ],
)
def test_no_argument_makes_a_reply_or_an_error_too_long(small: Client, tool: str, arguments: dict[str, Any]) -> None:
    try:
        small.call(tool, **arguments)  # the client checks each reply and error
    except ToolFailure as error:
        assert len(str(error)) <= 2_000  # noqa: PT017 - an error is as good, if it is a short one


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=12,
)


@given(
    items=st.lists(json_values, max_size=30),
    texts=st.dictionaries(st.sampled_from(["alpha", "beta", "gamma"]), json_values, max_size=3),
    offset=st.integers(0, 1_000),
    limit=st.integers(600, 3_000),
)
def test_whatever_a_reply_holds_it_fits_and_its_page_moves_on(
    items: list[Any], texts: dict[str, Any], offset: int, limit: int
) -> None:
    reply = {"items": items, "count": len(items), **texts}
    whole, text = fitted(reply, [Paging("items", has_offset=True, count="count")], offset=offset, limit=limit)
    assert len(text.encode()) <= limit
    assert json.loads(text) == whole
    if "truncated" not in whole:
        assert whole == reply
    elif "items" in whole:
        assert len(whole["items"]) == whole["count"]
        kept = whole["next_offset"] - offset
        assert 0 < kept <= len(items) or not items
        if kept > 1:
            assert whole["items"] == items[:kept]
        assert set(whole) >= set(reply)
