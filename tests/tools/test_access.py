"""Who may call what: tenants, the admin, and the files a client names."""

import inspect
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import Store
from tests.tools.conftest import Client, ToolFailure
from tests.tools.samples import CALLS, prepare, write_transcript

ADMIN_ONLY = {
    "graph_export": {},
    "graph_import": {"file": "sample.jsonl"},
    "graph_read_transcript": {"session_id": "s-1"},
}


@pytest.mark.spec("access.principal.required-by-store", "access.principal.every-call")
@pytest.mark.parametrize("kind", [Store, SqliteStore, ReferenceStore])
def test_no_transaction_begins_without_a_tenant(kind: type) -> None:
    for name in ("read", "write"):
        principal = inspect.signature(getattr(kind, name)).parameters["principal"]
        assert principal.default is inspect.Parameter.empty
    with pytest.raises(ValueError, match="tenant"):
        Principal("")


@pytest.mark.spec("access.principal.every-call")
@pytest.mark.parametrize("tool", sorted(CALLS.keys() - {"graph_read_transcript"}))
def test_every_tool_carries_its_caller_to_the_store(client: Client, monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    prepare(client)
    store, callers = client.services.store, []
    for name in ("read", "write"):
        method = getattr(store, name)

        def spied(principal, work, method=method):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            callers.append(principal)
            return method(principal, work)

        monkeypatch.setattr(store, name, spied)
    somebody = client.as_tenant("somebody", is_admin=True)
    try:
        somebody.call(tool, **CALLS[tool])
    except ToolFailure as error:
        assert "Bo" in str(error) or "memory 1" in str(error)  # noqa: PT017 - what the other tenant has, this one has not
    assert callers
    # What is degraded is told of the machine, whoever asks.
    assert set(callers) - {client.caller} == {somebody.caller}
    if tool != "graph_stats":
        assert client.caller not in callers


@pytest.mark.spec("access.tenant.isolation")
def test_what_one_tenant_wrote_no_other_can_read_count_find_or_change(client: Client) -> None:
    prepare(client)
    client.relate("Ada", "WORKS_AT", "Acme", from_type="Person", valid_at="2020-01-01")
    before = client.around("Ada", current_only=False), client.call("memory_recent")
    other = client.as_tenant("other", is_admin=True)
    assert other.counts() == {"nodes": 0, "edges": 0, "memories": 0}
    assert other.around("Ada", "Acme")["nodes"] == []
    assert other.call("graph_entities")["total"] == 0
    assert other.call("graph_validate")["issue_count"] == other.call("graph_communities")["total_members"] == 0
    assert other.call("memory_search", query="sample")["count"] == other.call("memory_recent")["count"] == 0
    assert other.call("memory_overview")["total"] == 0
    assert other.call("graph_ingest", action="status")["pending_count"] == 0
    assert other.call("graph_decay")["nodes_decayed"] == 0
    assert other.call("graph_delete", entity_id="ada")["found"] is False
    assert other.call("graph_export")["node_count"] == 0
    ends = {"from_name": "Ada", "relation": "KNOWS", "to_name": "Bo"}
    for tool in ("graph_boost", "graph_weaken"):
        with pytest.raises(ToolFailure, match="graph_relate"):
            other.call(tool, **ends)
    with pytest.raises(ToolFailure, match="no memory 1"):
        other.call("memory_get", id=1)
    # The same title, name and id are free to the other.
    other.call("memory_add", category="note", title="Sample", content="Mine, see [[Ada]].")
    other.relate("Ada", "WORKS_AT", "Globex", from_type="Person")
    assert (client.around("Ada", current_only=False), client.call("memory_recent")) == before


@pytest.mark.spec("access.admin-only.export", "access.admin-only.import", "access.admin-only.read-transcript")
@pytest.mark.parametrize("tool", ADMIN_ONLY)
def test_only_the_admin_may(client: Client, tool: str) -> None:
    prepare(client)
    guest = client.as_tenant("guest")
    files = sorted(client.services.home.backups.iterdir())
    assert "admin" in guest.refusal(tool, **ADMIN_ONLY[tool])
    assert sorted(client.services.home.backups.iterdir()) == files
    client.as_tenant("guest", is_admin=True).call(tool, **ADMIN_ONLY[tool])


@pytest.fixture
def machine(new_client: Callable[..., Client], tmp_path: Path) -> Client:
    """A user's home, the folder of the test, with files that may and that may not be named."""
    for place in ("docs", ".ssh", "docs/.hidden", "../elsewhere", "../allowed"):
        folder = tmp_path / place
        folder.mkdir(parents=True, exist_ok=True)
    client = new_client(GRAPH_MEMORY_INGEST__ALLOWED_DIRS=f"~{os.pathsep}{(tmp_path / '../allowed').resolve()}")
    sample = write_transcript(client, ["Hello?", "Yes."])
    for place in ("docs/t", ".ssh/t", "docs/.hidden/t", "../elsewhere/t", "../allowed/t", "home/backups/t"):
        path = tmp_path / f"{place}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(sample.read_bytes())
    (tmp_path / "docs/link.jsonl").symlink_to(tmp_path / "../elsewhere/t.jsonl")
    (tmp_path / "docs/inside.jsonl").symlink_to(tmp_path / "docs/t.jsonl")
    (tmp_path / "docs/linked").symlink_to(tmp_path / ".ssh")
    return client


@pytest.mark.spec(
    "access.files.projects-folder",
    "access.files.product-home",
    "access.files.allowed-dirs",
    "access.files.no-hidden",
    "access.files.links-resolved",
    "access.files.refused-by-name",
    "access.files.read-transcript",
)
@pytest.mark.parametrize(
    ("place", "is_allowed"),
    [
        (".claude/projects/-home-ada-loom/s-1.jsonl", True),
        ("home/backups/t.jsonl", True),
        ("docs/t.jsonl", True),
        ("docs/../docs/t.jsonl", True),
        ("docs/inside.jsonl", True),
        ("../allowed/t.jsonl", True),
        (".ssh/t.jsonl", False),
        ("docs/.hidden/t.jsonl", False),
        ("../elsewhere/t.jsonl", False),
        ("docs/../../elsewhere/t.jsonl", False),
        ("docs/link.jsonl", False),
        ("docs/linked/t.jsonl", False),
        ("/etc/passwd", False),
        ("/dev/zero", False),
        ("/proc/self/environ", False),
    ],
)
def test_files_lie_in_folders_that_are_open_or_are_refused_by_name(
    machine: Client, tmp_path: Path, place: str, is_allowed: bool
) -> None:
    path = str(tmp_path / place)
    if is_allowed:
        assert machine.call("graph_read_transcript", file_path=path)["message_count"] == 2
    else:
        text = machine.refusal("graph_read_transcript", file_path=path)
        assert text.startswith("file_path: ")
        assert path in text


@pytest.mark.spec("access.files.default-user-home")
def test_unless_told_otherwise_files_below_the_users_home_may_be_named(
    new_client: Callable[..., Client], tmp_path: Path
) -> None:
    client = new_client()
    assert client.services.settings.ingest.allowed_dirs == (tmp_path,)
    path = tmp_path / "docs" / "t.jsonl"
    path.parent.mkdir()
    path.write_bytes(write_transcript(client, ["Hello?"]).read_bytes())
    assert client.call("graph_read_transcript", file_path=str(path))["message_count"] == 1
    narrow = new_client(GRAPH_MEMORY_INGEST__ALLOWED_DIRS=str(tmp_path / "other"))
    assert str(path) in narrow.refusal("graph_read_transcript", file_path=str(path))


def test_credentials_stay_closed_though_they_lie_in_the_home(machine: Client) -> None:
    path = machine.services.home.credentials_file
    path.write_text("NEO4J_PASSWORD=x\n")
    for tool, argument in [("graph_read_transcript", "file_path"), ("graph_import", "file")]:
        assert str(path) in machine.refusal(tool, **{argument: str(path)})
    assert str(path) in machine.refusal("graph_ingest", action="queue", file_path=str(path))


@pytest.mark.parametrize("session", ["../s-1", "*", "s-?", "-home-ada-loom/s-1", "", "/etc/passwd", "s-1.jsonl"])
def test_a_session_id_is_no_path_and_no_pattern(machine: Client, session: str) -> None:
    assert "no transcript" in machine.refusal("graph_read_transcript", session_id=session)
