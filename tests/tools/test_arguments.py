"""Arguments that no tool knows, that are missing, or that are none of a list."""

from typing import Any

import pytest

from tests.tools.conftest import Client
from tests.tools.samples import CALLS, prepare

CHOICES = [
    ("graph_query", "context_level", ["minimal", "full", "relations-only"]),
    ("graph_entities", "sort_by", ["confidence", "last_seen", "name"]),
    ("graph_relate", "source_type", ["conversation", "document", "manual", "mention"]),
    ("graph_communities", "method", ["bfs", "louvain"]),
    ("graph_import", "mode", ["merge", "replace"]),
    ("graph_ingest", "action", ["queue", "status"]),
    ("memory_add", "layer", ["working", "episodic", "procedural", "semantic", "partner"]),
    ("memory_add", "lifecycle", ["permanent", "milestone", "ephemeral"]),
    ("memory_add", "source", ["session", "import", "manual", "derived"]),
    ("memory_search", "layer", ["working", "episodic", "procedural", "semantic", "partner"]),
    ("memory_search", "status", ["active", "superseded", "archived", "invalid"]),
    ("memory_recent", "lifecycle", ["permanent", "milestone", "ephemeral"]),
]

ALMOST = [
    ("graph_query", "entity", "entities"),
    ("graph_query", "project", "project_context"),
    ("graph_query", "min_wieght", "min_weight"),
    ("graph_relate", "from", "from_name"),
    ("graph_relate", "session", "source_session"),
    ("graph_entities", "sort", "sort_by"),
    ("graph_delete", "id", "entity_id"),
    ("graph_decay", "dryrun", "dry_run"),
    ("memory_add", "project", "project_id"),
    ("memory_search", "project", "project_id"),
]


# Originals: "empty title; unknown argument `project`".
@pytest.mark.spec("tools.arguments.unknown-refused")
@pytest.mark.parametrize("tool", CALLS)
def test_an_unknown_argument_is_refused_by_name_and_nothing_is_done(client: Client, tool: str) -> None:
    prepare(client)
    folder = {it.name for it in client.services.home.backups.iterdir()}
    assert client.refusal(tool, **CALLS[tool], xyzzy=1).startswith("xyzzy: unknown argument")
    assert {it.name for it in client.services.home.backups.iterdir()} == folder
    assert list(client.services.home.pending.iterdir()) == []


@pytest.mark.spec("tools.arguments.nearest-suggested")
@pytest.mark.parametrize(("tool", "given", "meant"), ALMOST)
def test_the_nearest_argument_is_suggested(client: Client, tool: str, given: str, meant: str) -> None:
    assert f"did you mean {meant!r}" in client.refusal(tool, **{**CALLS[tool], given: "x"})


@pytest.mark.spec("tools.arguments.nearest-suggested", "tools.arguments.unknown-refused")
@pytest.mark.parametrize(
    ("batch", "meant"),
    [
        ({"entity": []}, "entities"),
        ({"entities": [{"name": "A", "kind": "x", "localid": "a"}]}, "localId"),
        ({"relations": [{"from": "A", "to": "B", "relation": "R", "wight": 1}]}, "weight"),
    ],
)
def test_within_a_batch_too(client: Client, batch: dict[str, Any], meant: str) -> None:
    assert f"did you mean {meant!r}" in client.refusal("graph_relate", batch=batch)


@pytest.mark.spec("tools.arguments.choice-refused")
@pytest.mark.parametrize(("tool", "argument", "choices"), CHOICES)
def test_a_value_outside_a_list_is_refused_with_the_list(
    client: Client, tool: str, argument: str, choices: list[str]
) -> None:
    text = client.refusal(tool, **{**CALLS[tool], argument: "whatever"})
    assert text.startswith(f"{argument}: ")
    assert all(f"'{it}'" in text for it in choices)


OPTIONAL = {
    ("graph_read_transcript", "session_id"),
    ("graph_ingest", "content"),
    ("graph_forget", "memory_id"),
    ("graph_merge_suggestions", "min_score"),
}
"""Arguments of the samples that may be left out, or that one of several stands for."""


@pytest.mark.spec("tools.arguments.missing-refused", "tools.errors.mendable")
@pytest.mark.parametrize(
    ("tool", "argument"),
    [
        (tool, argument)
        for tool, arguments in CALLS.items()
        for argument in arguments
        if (tool, argument) not in OPTIONAL
    ],
)
def test_a_missing_argument_is_refused_by_name(client: Client, tool: str, argument: str) -> None:
    arguments = {name: value for name, value in CALLS[tool].items() if name != argument}
    assert client.refusal(tool, **arguments).startswith(f"{argument}: ")


@pytest.mark.spec("tools.errors.mendable")
@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("graph_query", {"entities": "Ada"}, "entities: "),
        ("graph_query", {"entities": [1]}, "entities.0: "),
        ("graph_relate", {"weight": "heavy"}, "weight: "),
        ("graph_relate", {"weight": float("nan")}, "weight: "),
        ("graph_relate", {"properties": [1]}, "properties: "),
        ("graph_entities", {"limit": 2.5}, "limit: "),
        ("graph_entities", {"offset": -1}, "offset: "),
        ("graph_export", {"keep": 0}, "keep: "),
        ("graph_decay", {"dry_run": "perhaps"}, "dry_run: "),
        ("memory_get", {"id": "first"}, "id: "),
        ("memory_add", {"tags": "a, b"}, "tags: "),
        ("memory_recent", {"limit": 0}, "limit: "),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_its_argument(
    client: Client, tool: str, arguments: dict[str, Any], says: str
) -> None:
    assert client.refusal(tool, **{**CALLS[tool], **arguments}).startswith(says)
