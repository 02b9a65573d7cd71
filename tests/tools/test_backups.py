"""Exports and imports through the tools: what is written, what is kept, what comes back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from graph_memory.domain.errors import Unavailable
from tests.tools.conftest import Client, ToolFailure


@pytest.fixture
def other(client: Client, tmp_path: Path) -> Client:
    """A client of an empty home that shares the first one's backups folder by path."""
    config = load_config({"HOME": str(tmp_path)}, client.services.home.path)
    return Client(build_services(config, ReferenceStore(), clock=client.clock, pause=lambda _: None), client.clock)


def learned(client: Client) -> None:
    client.relate("Ada", "WORKS_AT", "Acme", valid_at="2024-01-01", evidence="she said so")
    client.relate("Ada", "WORKS_AT", "Initech", valid_at="2025-01-01", source_session="s-1")
    client.relate("Ada", "USES", "Loom", weight=0.8, properties={"since": [1, {"deep": True}]})
    client.call("memory_add", category="note", title="Loom", content="The loom of [[Ada]]. [[Later]] [[Loom]]")
    client.call(
        "memory_add", category="note", title="Spindle", content="See [[Loom]] and [[Loom]] again", tags=["b", "a"]
    )


def rows(file: str) -> list[dict[str, Any]]:
    return [json.loads(it) for it in Path(file).read_text().splitlines()]


def body(client: Client) -> bytes:
    file = Path(client.call("graph_export", label="compare")["backup_file"])
    content = file.read_bytes()
    file.unlink()
    return content.split(b"\n", 1)[1]


@pytest.mark.spec("graph_export.file", "graph_export.complete", "graph_export.result", "graph_export.no-vectors")
def test_an_export_holds_everything_in_lines_of_json(client: Client, home: Path) -> None:
    learned(client)
    reply = client.call("graph_export")
    file = Path(reply["backup_file"])
    assert file == home / "backups" / "2026-01-01T12-00-00.jsonl"
    found = rows(str(file))
    kinds = [it["kind"] for it in found[1:-1]]
    assert reply["node_count"] == kinds.count("entity") == 4
    assert reply["edge_count"] == kinds.count("relation") == 3
    assert reply["memory_count"] == kinds.count("memory") == 2
    assert reply["size_bytes"] == file.stat().st_size
    assert (reply["pruned"], reply["retained"]) == (0, 1)
    superseded = [it["row"] for it in found[1:-1] if it["kind"] == "relation" and it["row"]["invalid_at"]]
    assert [it["target_id"] for it in superseded] == ["acme"]
    evidence = [it["row"]["evidence"] for it in found[1:-1] if it["kind"] == "relation_evidence"]
    assert {it["text"] for it in evidence} == {"she said so", None}
    assert "s-1" in {it["provenance"]["session"] for it in evidence}
    assert not {"vector", "embedding"} & set(kinds)


@pytest.mark.spec("graph_export.instants-in-header")
def test_two_exports_of_one_store_differ_in_their_first_line_alone(client: Client) -> None:
    learned(client)
    first = Path(client.call("graph_export")["backup_file"]).read_bytes().split(b"\n", 1)
    client.clock.advance(days=1)
    second = Path(client.call("graph_export")["backup_file"]).read_bytes().split(b"\n", 1)
    assert first[0] != second[0]
    assert first[1] == second[1]


@pytest.mark.spec("graph_export.label")
@pytest.mark.parametrize("label", ["pre-migration", "../../etc/x", "a/b\\c", "Größe 1", "\x00"])
def test_a_label_stays_in_the_folder(client: Client, home: Path, label: str) -> None:
    file = Path(client.call("graph_export", label=label)["backup_file"])
    assert file.parent == home / "backups"
    assert file.is_file()
    assert file.name.startswith("2026-01-01T12-00-00")


@pytest.mark.spec("graph_export.keep", "graph_export.labelled-kept")
def test_the_oldest_go_and_labelled_ones_stay(client: Client, home: Path) -> None:
    client.call("graph_export", label="mine")
    replies = []
    for _ in range(4):
        client.clock.advance(hours=1)
        replies.append(client.call("graph_export", keep=2))
    assert [it["pruned"] for it in replies] == [0, 0, 1, 1]
    assert [it["retained"] for it in replies] == [1, 2, 2, 2]
    names = sorted(it.name for it in (home / "backups").iterdir())
    assert names == ["2026-01-01T12-00-00-mine.jsonl", "2026-01-01T15-00-00.jsonl", "2026-01-01T16-00-00.jsonl"]
    with pytest.raises(ToolFailure, match="keep"):
        client.call("graph_export", keep=0)


@pytest.mark.spec("graph_export.atomic-file")
def test_an_export_that_fails_leaves_no_file(client: Client, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learned(client)
    kept = client.call("graph_export")["backup_file"]

    def broken(*_: object) -> None:
        raise Unavailable("the disk is full")

    monkeypatch.setattr("graph_memory.adapters.files.backup_folder._write_rows", broken)
    client.clock.advance(hours=1)
    with pytest.raises(ToolFailure, match="disk is full"):
        client.call("graph_export", keep=1)
    assert [str(it) for it in (home / "backups").iterdir()] == [kept]


@pytest.mark.spec("graph_import.restores", "graph_import.dry-run-default")
def test_an_export_comes_back_into_an_empty_store_and_only_when_told(client: Client, other: Client) -> None:
    learned(client)
    file = client.call("graph_export")["backup_file"]
    empty = body(other)
    preview = other.call("graph_import", file=file)
    assert preview["dry_run"] is True
    assert preview["mode"] == "merge"
    assert body(other) == empty
    done = other.call("graph_import", file=file, dry_run=False)
    assert done["added"] == preview["added"]
    assert body(other) == body(client)


@pytest.mark.spec("graph_import.merge", "graph_import.merge.evidence")
def test_a_merge_keeps_what_is_there_weakens_nothing_and_a_second_one_changes_nothing(
    client: Client, other: Client
) -> None:
    learned(client)
    file = client.call("graph_export")["backup_file"]
    other.relate("Ada", "USES", "Loom", weight=0.9)
    other.relate("Bo", "USES", "Anvil", weight=0.4)
    other.call("graph_import", file=file, dry_run=False)
    once = body(other)
    answer = other.call("graph_query", entities=["Ada", "Bo"])
    weights = {(it["from"], it["to"]): it["weight"] for it in answer["edges"]}
    assert weights["ada", "loom"] == 0.9
    assert weights["bo", "anvil"] == 0.4
    assert ("ada", "initech") in weights
    other.call("graph_import", file=file, dry_run=False)
    assert body(other) == once


@pytest.mark.spec("graph_import.replace")
def test_replacing_leaves_exactly_the_file(client: Client, other: Client) -> None:
    learned(client)
    file = client.call("graph_export")["backup_file"]
    other.relate("Bo", "USES", "Anvil")
    other.call("memory_add", category="note", title="Loom", content="another")
    reply = other.call("graph_import", file=file, mode="replace", dry_run=False)
    assert reply["removed"]["memory"] == 1
    assert {it: n for it, n in reply["added"].items() if it in {"entity", "memory"}} == {"entity": 4, "memory": 2}
    assert other.call("graph_query", entities=["Bo"])["found"] is False
    assert other.call("memory_search", query="loom")["count"] == 2


DAMAGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "cut off": lambda it: it[:-1],
    "a line gone": lambda it: [*it[:2], *it[3:]],
    "a word changed": lambda it: [line.replace(b"Initech", b"Initecs") for line in it],
    "another version": lambda it: [it[0].replace(b'"version":1', b'"version":99'), *it[1:]],
    "another format": lambda it: [b"{}\n", *it[1:]],
    "no json": lambda it: [it[0], b"{half\n", *it[2:]],
}


@pytest.mark.spec("graph_import.all-or-nothing")
@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_file_is_refused_and_changes_nothing(client: Client, other: Client, damage: str) -> None:
    learned(client)
    file = Path(client.call("graph_export")["backup_file"])
    file.write_bytes(b"".join(DAMAGES[damage](file.read_bytes().splitlines(keepends=True))))
    empty = body(other)
    with pytest.raises(ToolFailure, match="file: "):
        other.call("graph_import", file=str(file), mode="replace", dry_run=False)
    assert body(other) == empty


@pytest.mark.spec("graph_import.tenant", "access.files.import")
def test_an_import_is_the_admins_into_its_own_tenant_from_open_folders(client: Client) -> None:
    learned(client)
    file = client.call("graph_export")["backup_file"]
    second = client.as_tenant("second", is_admin=True)
    second.call("graph_import", file=file, dry_run=False)
    assert second.call("graph_query", entities=["Ada"])["found"] is True
    assert client.as_tenant("third").call("graph_query", entities=["Ada"])["found"] is False
    with pytest.raises(ToolFailure, match="folder whose files a client may name"):
        client.call("graph_import", file="/etc/hostname")
    with pytest.raises(ToolFailure, match="admin"):
        client.as_tenant("third").call("graph_import", file=file)
