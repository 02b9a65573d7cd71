"""What only a real client of a real server sees."""

import json
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp_types import CallToolResult, TextContent

from tests.server.wire import COMMAND, SECONDS, RawServer, environment, with_session

GRAPH = {"graph_query", "graph_relate", "graph_stats", "graph_export"}
MEMORY = {"memory_add", "memory_search", "memory_get", "memory_recent", "memory_overview"}


async def names(session: ClientSession) -> set[str]:
    return {it.name for it in (await session.list_tools()).tools}


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.spec(
    "service.stdio",
    "access.stdio.local-admin",
    "tools.result.structured",
    "tools.result.text-block",
    "catalogue.instructions",
    "catalogue.size.inputs",
    "catalogue.size.with-outputs",
    "tools.annotations.complete",
)
def test_the_sdks_client_lists_calls_and_reads_what_the_tools_promise(home: Path) -> None:
    async def talk(session: ClientSession) -> dict[str, Any]:
        tools = (await session.list_tools()).tools
        listed = [it.model_dump(mode="json", by_alias=True, exclude_none=True) for it in tools]
        # The client checks every structured result against the schema listed.
        arguments = {"from_name": "Ada", "relation": "uses tech", "to_name": "Loom", "to_type": "Project"}
        related = await session.call_tool("graph_relate", arguments)
        exported = await session.call_tool("graph_export", {"label": "over stdio"})
        note = {"category": "note", "title": "T", "content": "c", "project": "x"}
        wrong = await session.call_tool("memory_add", note)
        unknown = await session.call_tool("graph_telepathy", {})
        return {"listed": listed, "related": related, "exported": exported, "wrong": wrong, "unknown": unknown}

    said = with_session(home, talk)
    listed = said["listed"]
    inputs = [{name: it[name] for name in ("name", "description", "inputSchema")} for it in listed]
    assert len(json.dumps(inputs)) < 36_000
    assert len(json.dumps(listed)) < 72_000
    for tool in listed:
        assert set(tool["annotations"]) >= {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert tool["outputSchema"]["type"] == "object"
    related, exported = said["related"], said["exported"]
    assert related.structured_content["edge"]["type"] == "USES_TECH"
    for result in (related, exported):
        assert json.loads(text_of(result)) == result.structured_content
    # Only the admin may export, and the backup is there.
    assert Path(exported.structured_content["backup_file"]).is_file()
    assert said["wrong"].is_error
    assert "project: unknown argument; did you mean 'project_id'?" in text_of(said["wrong"])
    assert said["unknown"].is_error
    assert "tools/list" in text_of(said["unknown"])


@pytest.mark.spec("catalogue.option-tools", "catalogue.config-tools")
@pytest.mark.parametrize(
    ("options", "configured", "families"),
    [
        ([], None, {"graph", "memory"}),
        (["--tools", "graph"], None, {"graph"}),
        (["--tools", "memory"], None, {"memory"}),
        (["--tools", "Memory, graph"], None, {"graph", "memory"}),
        (["--tools", "graph,memory,sql"], None, {"graph", "memory"}),
        ([], ["memory"], {"memory"}),
        (["--tools", "graph"], ["memory"], {"graph"}),
    ],
)
def test_families_of_tools_are_chosen_by_option_else_by_settings(
    home: Path, options: list[str], configured: list[str] | None, families: set[str]
) -> None:
    if configured is not None:
        home.mkdir()
        (home / "config.json").write_text(json.dumps({"mcp": {"tools": configured}}))
    listed = with_session(home, names, *options)
    assert {it.partition("_")[0] for it in listed} == families
    assert (listed >= GRAPH) is ("graph" in families)
    assert (listed >= MEMORY) is ("memory" in families)


@pytest.mark.spec("catalogue.option-tools")
@pytest.mark.parametrize("given", ["grpah", "graph,everything", "", ","])
def test_an_unknown_family_is_refused_by_name(home: Path, given: str) -> None:
    done = subprocess.run(
        [*COMMAND, "mcp", "--tools", given],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
        env=environment(home),
    )
    assert (done.returncode, done.stdout) == (2, "")
    said = " ".join(done.stderr.replace("│", " ").split())
    assert (given.rpartition(",")[2] or "nothing") in said
    assert all(it in said for it in ("graph", "memory", "sql"))


# Situation 1.
@pytest.mark.spec("storage.concurrent.writers", "tools.durable.no-false-ok")
def test_twenty_calls_at_once_are_twenty_facts(home: Path) -> None:
    results: list[CallToolResult] = []

    async def talk(session: ClientSession) -> None:
        async def call(number: int) -> None:
            if number % 2:
                note = {"category": "note", "title": f"Note {number}", "content": f"text {number}"}
                results.append(await session.call_tool("memory_add", note))
            else:
                ends = {"from_name": "Ada", "relation": "HAS", "to_name": f"Thing {number}"}
                results.append(await session.call_tool("graph_relate", {**ends, "to_type": "Object"}))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(call, number)
        stats = await session.call_tool("graph_stats", {})
        assert stats.structured_content["edges"]["total"] == stats.structured_content["memories"] == 10

    with_session(home, talk)
    assert [it.is_error for it in results] == [False] * 20


# Situation 6.
def test_initialize_and_the_list_are_answered_before_the_store_is_opened(home: Path) -> None:
    with RawServer(home) as server:
        said = server.initialize()
        assert said["serverInfo"]["name"] == "graph-memory"
        assert 1 <= len(said["instructions"].splitlines()) <= 10
        server.ask("tools/list")
        assert not (home / "memory.db").exists()
        server.call("graph_stats")
        assert (home / "memory.db").exists()


HEAVY = {"numpy", "torch", "onnxruntime", "transformers", "watchdog", "apscheduler", "networkx", "kglite", "psutil"}


def test_a_session_loads_nothing_heavy(home: Path) -> None:
    with RawServer(home, environ={"PYTHONPROFILEIMPORTTIME": "1"}) as server:
        server.initialize()
        server.ask("tools/list")
        server.call("graph_relate", from_name="A", relation="USES", to_name="B")
        server.call("memory_add", category="note", title="T", content="c [[A]]")
        server.call("graph_query", entities=["A"])
        server.call("memory_search", query="c")
        server.call("graph_stats")
        server.rest()
    trace = (home.parent / "stderr.txt").read_text()
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in trace.splitlines() if "|" in line}
    assert {"mcp", "graph_memory", "apsw"} <= imported
    assert imported & HEAVY == set()


# Situation 7.
@pytest.mark.spec("service.stdio", "tools.errors.store-unavailable")
@pytest.mark.parametrize(
    "trouble", ["broken config", "wrong settings", "unusable home", "other store", "damaged store", "no trouble"]
)
def test_whatever_is_wrong_stdout_carries_json_rpc_alone_and_every_call_is_answered(home: Path, trouble: str) -> None:
    home.mkdir()
    environ = {"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1", "GRAPH_MEMORY_LOG__LEVEL": "debug"}
    match trouble:
        case "broken config":
            (home / "config.json").write_text('{"weights": ')
        case "wrong settings":
            (home / "config.json").write_text('{"weights": {"inferred": 7, "nope": 1}, "mcp": {"tools": "x"}}')
            environ["GRAPH_MEMORY_DECAY__EDGE_RATE"] = "fast"
        case "unusable home":
            home.rmdir()
            home.write_text("a file")
        case "other store":
            (home / "store.json").write_text('{"kind": "neo4j", "database_id": "x"}')
        case "damaged store":
            (home / "memory.db").write_bytes(b"this is no database, " * 1_000)
    is_usable = trouble in {"broken config", "wrong settings", "no trouble"}
    with RawServer(home, environ=environ) as server:
        server.initialize()
        assert server.ask("tools/list")["tools"]
        for _ in range(2):
            result = server.ask("tools/call", name="graph_stats", arguments={})
            assert result.get("isError", False) is not is_usable
            result = server.ask("tools/call", name="memory_search", arguments={"query": "x"})
            assert result.get("isError", False) is not is_usable
        lines = server.lines + server.rest()
    messages = [json.loads(line) for line in lines]
    assert len(messages) == 6
    assert all(it["jsonrpc"] == "2.0" for it in messages)
    assert "Traceback" not in "".join(lines)
    if trouble in {"broken config", "wrong settings"}:
        assert "config_problem" in (home.parent / "stderr.txt").read_text()
