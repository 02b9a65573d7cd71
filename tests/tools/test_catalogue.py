"""The list of tools: what clients may know of each before they call it."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest

from graph_memory.domain.backups import BackupRow
from graph_memory.domain.memories import Memory, Synapse
from graph_memory.services.backup import every_row
from mcp_server.server import INSTRUCTIONS, described
from tests.tools.conftest import Client
from tests.tools.samples import CALLS, prepare

ABSENT = object()
"""The default of an argument that must be given."""

WIRE: Mapping[str, Mapping[str, Any]] = {
    "graph_query": {
        "entities": ABSENT,
        "entity_types": None,
        "max_hops": None,
        "min_weight": None,
        "limit": None,
        "project_context": None,
        "context_level": "full",
        "current_only": True,
    },
    "graph_relate": dict.fromkeys(
        (
            "from_name from_type to_name to_type relation weight properties evidence valid_at source_session "
            "source_transcript source_type batch"
        ).split()
    ),
    "graph_boost": {"from_name": ABSENT, "to_name": ABSENT, "relation": ABSENT, "amount": None, "reason": None},
    "graph_weaken": {"from_name": ABSENT, "to_name": ABSENT, "relation": ABSENT, "amount": None, "reason": None},
    "graph_entities": {"search": None, "type": None, "min_confidence": 0.0, "sort_by": None, "limit": 20},
    "graph_decay": {"dry_run": False},
    "graph_stats": {},
    "graph_delete": {"entity_id": ABSENT, "reason": None},
    "graph_ingest": {"action": ABSENT, "file_path": None, "content": None, "file_name": None, "meta": None},
    "graph_read_transcript": {"session_id": None, "file_path": None, "text_only": True},
    "graph_audit": {"event": ABSENT, "data": None},
    "graph_export": {"keep": None, "label": None},
    "graph_import": {"file": ABSENT, "mode": "merge", "dry_run": True},
    "graph_validate": {"source_session": None, "max_issues": 50},
    "graph_communities": {"weight_threshold": 0.4, "max_communities": 10, "max_hops": 3, "min_size": 2},
    "graph_merge_suggestions": {
        "entity_id": None,
        "entity_type": None,
        "min_score": 0.8,
        "min_embedding_similarity": 0.85,
        "limit": 20,
        "weights": None,
        "log_to_audit": True,
    },
    "graph_forget": {
        **dict.fromkeys("source_session source_file entity_id memory_id project after before".split()),
        "mode": "preview",
        "reason": None,
    },
    "memory_add": {
        "category": ABSENT,
        "title": ABSENT,
        "content": ABSENT,
        "layer": "episodic",
        "project_id": "_global",
        "summary": None,
        "tags": None,
        "lifecycle": "milestone",
        "confidence": 1.0,
        "importance_score": 1.0,
        "session_id": None,
        "source": "session",
        "expires_at": None,
    },
    "memory_search": {
        "query": ABSENT,
        "project_id": None,
        "category": None,
        "layer": None,
        "status": "active",
        "limit": 20,
    },
    "memory_recent": {"project_id": None, "category": None, "layer": None, "lifecycle": None, "limit": 20},
    "memory_get": {"id": ABSENT, "include_synapses": False},
    "memory_overview": {},
    "memory_forget": {"id": ABSENT, "reason": None},
}
"""Arguments with their defaults as the documents give them; where one stands in the settings it may be left out."""

RESULTS = {
    "graph_query": "nodes edges source_files",
    "graph_relate": "action edge created_entities",
    "graph_boost": "previous_weight new_weight edge",
    "graph_weaken": "previous_weight new_weight edge pruned",
    "graph_entities": "entities total",
    "graph_decay": "nodes_decayed edges_decayed nodes_flagged_for_pruning edges_below_threshold details",
    "graph_stats": "schema_version nodes edges health",
    "graph_read_transcript": "messages message_count session_id cwd",
    "graph_audit": "logged timestamp",
    "graph_export": "backup_file node_count edge_count size_bytes pruned retained",
    "graph_validate": "issues issue_count",
    "graph_communities": "communities total_members coverage_pct",
    "graph_ingest": "action file destination meta_written",
    "memory_add": "id wikilinks_resolved broken_wikilinks auto_links_created",
    "memory_overview": "total by_status by_layer by_category by_project recent total_synapses",
}

READ_ONLY = {
    "graph_query",
    "graph_entities",
    "graph_stats",
    "graph_validate",
    "graph_communities",
    "graph_merge_suggestions",
    "graph_read_transcript",
    "memory_search",
    "memory_get",
    "memory_recent",
    "memory_overview",
}
DESTRUCTIVE = {"graph_delete", "graph_import", "graph_forget", "memory_forget"}
IDEMPOTENT = DESTRUCTIVE | {"graph_relate", "graph_decay", "graph_ingest"}


def listed(client: Client) -> list[dict[str, Any]]:
    return [described(it).model_dump(mode="json", by_alias=True, exclude_none=True) for it in client.specs.values()]


@pytest.mark.spec("catalogue.size.inputs", "catalogue.size.with-outputs")
def test_the_list_is_short_enough_to_stand_in_every_conversation(client: Client) -> None:
    tools = listed(client)
    inputs = [{name: it[name] for name in ("name", "description", "inputSchema")} for it in tools]
    assert len(json.dumps(inputs)) < 36_000
    assert len(json.dumps(tools)) < 72_000


@pytest.mark.spec("catalogue.wire-names")
@pytest.mark.parametrize("tool", WIRE)
def test_arguments_have_the_names_and_defaults_of_the_documents(client: Client, tool: str) -> None:
    schema = client.specs[tool].input_schema
    for name, default in WIRE[tool].items():
        assert name in schema["properties"]
        assert (name in schema.get("required", [])) is (default is ABSENT)
        if default is not ABSENT:
            assert schema["properties"][name].get("default") == default
    assert set(WIRE) == set(client.specs)


@pytest.mark.spec("catalogue.wire-results")
@pytest.mark.parametrize("tool", RESULTS)
def test_results_have_the_fields_of_the_documents(client: Client, tool: str) -> None:
    prepare(client)
    assert set(RESULTS[tool].split()) <= set(client.call(tool, **CALLS[tool]))


@pytest.mark.spec("catalogue.wire-results")
def test_the_parts_of_a_result_have_theirs(client: Client) -> None:
    prepare(client)
    client.relate("the file", "IS", "Here")
    client.clock.advance(days=1)
    parts = [
        (client.call("graph_validate")["issues"], "severity type entity_id entity_name description"),
        (client.call("graph_communities")["communities"], "id seed_name member_count dominant_type members"),
        (client.call("graph_decay")["details"], "type name old_confidence new_confidence"),
        (client.call("graph_entities")["entities"], "id type name confidence edge_count last_seen source_file"),
        (client.call("graph_read_transcript", session_id="s-1")["messages"], "role text timestamp session_id cwd"),
        (client.call("memory_search", query="sample")["memories"], "id title category layer rank snippet"),
        ([client.call("graph_stats")["nodes"], client.call("graph_stats")["edges"]], "total by_type"),
        ([client.call("graph_stats")["health"]], "avg_weight orphaned_nodes unresolved_contradictions stale_nodes"),
        ([client.call("graph_stats")["health"]], "last_dream_run pending_ingest_docs total_ingested_docs"),
    ]
    for items, fields in parts:
        assert items
        assert all(set(fields.split()) <= set(it) for it in items)


@pytest.mark.spec(
    "tools.annotations.complete",
    "tools.annotations.closed-world",
    "tools.annotations.destructive",
    "graph_relate.idempotent-hint",
    "graph_delete.destructive",
)
def test_every_tool_states_what_it_may_do(client: Client) -> None:
    hints = {it["name"]: it["annotations"] for it in listed(client)}
    for hint, tools in [
        ("readOnlyHint", READ_ONLY),
        ("destructiveHint", DESTRUCTIVE),
        ("idempotentHint", IDEMPOTENT),
        ("openWorldHint", set()),
    ]:
        assert {name: it[hint] for name, it in hints.items()} == {name: name in tools for name in hints}


def rows(client: Client) -> list[BackupRow]:
    """Return all that the tenant has, without counts of accesses."""
    found = client.services.store.read(client.caller, lambda tx: list(every_row(tx)))
    return [_uncounted(it) for it in found]


def _uncounted(row: BackupRow) -> BackupRow:
    match row:
        case Memory():
            return replace(row, access_count=0, accessed_at=None)
        case Synapse():
            return replace(row, access_count=0, accessed_at=None, cycle_access_count=0)
        case _:
            return row


@pytest.mark.spec("tools.annotations.truthful", "tools.annotations.access-counters")
@pytest.mark.parametrize("tool", CALLS)
def test_exactly_the_tools_that_change_nothing_say_so(client: Client, tool: str) -> None:
    prepare(client)
    client.clock.advance(days=2)
    home = client.services.home
    arguments = {**CALLS[tool], **({"dry_run": False} if tool == "graph_import" else {})}
    arguments |= {"entity_id": "ada"} if tool == "graph_delete" else {}
    arguments |= {"mode": "replace"} if tool == "graph_import" else {}
    arguments |= {"mode": "execute"} if tool == "graph_forget" else {}
    if tool == "graph_import":
        client.relate("New", "SINCE", "Backup")
    before = rows(client), {it for it in home.path.rglob("*") if it.is_file() and home.logs not in it.parents}
    lines = (home.logs / "dream-audit.jsonl").exists()
    client.call(tool, **arguments)
    after = rows(client), {it for it in home.path.rglob("*") if it.is_file() and home.logs not in it.parents}
    is_unchanged = before == after and (home.logs / "dream-audit.jsonl").exists() == lines
    assert is_unchanged is client.specs[tool].is_read_only


@pytest.mark.spec("tools.annotations.access-counters")
def test_opening_a_note_counts_as_an_access_and_is_read_only_all_the_same(client: Client) -> None:
    prepare(client)
    assert client.call("memory_get", id=1)["access_count"] == 1
    assert client.call("memory_get", id=1)["access_count"] == 2
    assert client.specs["memory_get"].is_read_only


@pytest.mark.spec("catalogue.descriptions", "graph_delete.ask-first")
@pytest.mark.parametrize("tool", CALLS)
def test_a_description_says_when_to_call_and_what_to_call_instead(client: Client, tool: str) -> None:
    text = client.specs[tool].description
    assert text.startswith("Call ")
    assert len(text) < 400
    named = set(re.findall(r"\b(?:graph|memory)_[a-z_]+\b", text))
    assert named <= set(client.specs)
    if tool not in {"graph_stats", "graph_decay", "graph_audit", "memory_overview"}:
        assert named - {tool}
    if tool == "graph_delete":
        assert "after the user confirmed" in text


@pytest.mark.spec("catalogue.instructions")
def test_the_instructions_are_short_and_name_tools_to_start_with(client: Client) -> None:
    assert len(INSTRUCTIONS.splitlines()) <= 10
    named = set(re.findall(r"\b(?:graph|memory)_[a-z]+\b", INSTRUCTIONS))
    assert len(named) >= 3
    assert named <= set(client.specs)


VENDORS = {"anthropic", "openai", "litellm", "langchain", "cohere", "mistralai", "google.generativeai", "ollama"}
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.spec("service.no-language-model")
def test_nothing_depends_on_a_language_model() -> None:
    needed = {re.split(r"[^\w.-]", it)[0].lower() for it in requires("graph-memory") or []}
    assert needed
    assert needed.isdisjoint(VENDORS)
    imported = set()
    for package in ("graph_memory", "ingest", "daemon", "mcp_server", "cli"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    imported |= {it.name.partition(".")[0] for it in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imported.add(node.module.partition(".")[0])
    assert imported.isdisjoint({*VENDORS, "requests", "httpx", "aiohttp"})


@pytest.mark.spec("service.no-language-model")
def test_the_tools_open_no_connection(tmp_path: Path) -> None:
    code = f"""
import socket, sys
def refuse(*_, **__): raise AssertionError("a connection was opened")
def connect(self, address):
    if self.family != socket.AF_UNIX: refuse()
    raise ConnectionRefusedError  # the daemon of this home, which isn't there
socket.socket.connect, socket.create_connection = connect, refuse
from pathlib import Path
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from tests.tools.conftest import Client, Clock
from tests.tools.samples import CALLS, prepare
config = load_config({{"HOME": {str(tmp_path)!r}}}, Path({str(tmp_path / "home")!r}))
config.home.ensure()
store, clock = SqliteStore(config.home.database), Clock()
client = Client(build_services(config, store, clock=clock), clock)
prepare(client)
for tool, arguments in CALLS.items(): client.call(tool, **arguments)
store.close()
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
        env={"PATH": ""},
    )
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


@pytest.mark.spec("config.home.user-global")
def test_one_store_serves_all_projects_wherever_a_client_starts(
    new_client: Callable[..., Client], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for project in ("loom", "wool"):
        folder = tmp_path / project
        folder.mkdir()
        monkeypatch.chdir(folder)
        new_client().call("memory_add", category="note", title=project, content="x", project_id=project)
    assert set(new_client().call("memory_overview")["by_project"]) == {"loom", "wool"}
