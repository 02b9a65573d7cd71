"""graph_export and graph_import: all that a tenant has, into a file and back."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from graph_memory.domain.backups import ROW_KINDS
from graph_memory.domain.errors import GraphMemoryError
from graph_memory.domain.ledger import Vector, VectorOwner
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.ports.store import Store, WriteTransaction
from tests.contract.operations import Operation, operations
from tests.contract.test_stateful import begin
from tests.tools.conftest import Client, Clock, ToolFailure

histories = st.lists(operations, min_size=5, max_size=40)
"""Rows of every kind, also such as no tool writes."""
KINDS = ["reference", "sqlite"]
EXAMPLES = int(os.environ.get("IMPORT_EXAMPLES", "12"))
"""How many histories a property is tried with; more on demand."""


@contextmanager
def client_over(kind: str, clock: Clock | None = None) -> Iterator[Client]:
    """Give a client of a home and a store of its own."""
    clock = clock or Clock()
    with TemporaryDirectory() as folder:
        store: Store = ReferenceStore() if kind == "reference" else SqliteStore(Path(folder) / "memory.db")
        config = load_config({"HOME": folder}, Path(folder) / "home")
        config.home.ensure()
        try:
            yield Client(build_services(config, store, clock=clock, pause=lambda _: None), clock)
        finally:
            store.close()


def make(client: Client, history: Sequence[Operation]) -> None:
    """Make a history; what contradicts what is there is left out, as it would be."""
    client.services.store.write(client.caller, begin)
    for operation in history:

        def work(tx: WriteTransaction, operation: Operation = operation) -> None:
            operation(tx)

        try:
            client.services.store.write(client.caller, work)
        except GraphMemoryError:
            continue


def exported(client: Client, **more: object) -> bytes:
    """Export, and return the body: all but the header, which has the instant."""
    client.clock.advance(microseconds=1)  # no two files have one name
    return Path(client.call("graph_export", **more)["backup_file"]).read_bytes().partition(b"\n")[2]


def apart(one: bytes, other: bytes) -> list[bytes]:
    """Return the lines in which two bodies differ, the ends aside where there are any."""
    if one == other:
        return []
    here, there = one.splitlines(), other.splitlines()
    return [it for it in here if it not in there] + [it for it in there if it not in here]


def backup(client: Client, into: Client | None = None) -> str:
    """Export, hand the file to another home, and return its name there."""
    client.clock.advance(microseconds=1)  # no two files have one name
    file = Path(client.call("graph_export")["backup_file"])
    if into is not None:
        into.services.home.backups.mkdir(exist_ok=True)
        shutil.copy(file, into.services.home.backups / f"from-{file.name}")
        return f"from-{file.name}"
    return file.name


def rows(body: bytes, kind: str) -> list[dict[str, Any]]:
    return [it["row"] for it in map(orjson.loads, body.splitlines()) if it.get("kind") == kind]


def learned(client: Client) -> Client:
    """Learn a little through the tools, over several days: facts, one that ended, notes with links."""
    client.relate("Ada", "WORKS_AT", "Acme", from_type="Person", valid_at="2020-01-01", source_session="s-1")
    client.relate("Ada", "WORKS_AT", "Globex", from_type="Person", valid_at="2025-01-01", evidence="she said so")
    client.clock.advance(days=3)
    client.relate("Ada", "USES", "Loom", from_type="Person", weight=0.6, from_properties={"pinned": True})
    client.call("graph_boost", from_name="Ada", relation="USES", to_name="Loom", amount=0.1)
    client.call("memory_add", title="Wool", content="Wool for the [[Loom]] and for [[Nothing yet]].", category="note")
    client.call("memory_add", title="Loom", content="The loom stands in the hall.", category="note")
    client.call("graph_ingest", action="queue", content="# Sheep", file_name="sheep.md")
    client.clock.advance(days=3)
    client.call("graph_decay")
    return client


# ------------------------------------------------------------------------------------------------------------ export


@pytest.mark.spec("graph_export.file", "graph_export.complete", "graph_export.result", "graph_export.no-vectors")
def test_an_export_is_a_file_of_json_lines_with_all_that_there_is(client: Client, home: Path) -> None:
    learned(client)
    vector = Vector(VectorOwner.ENTITY, "ada", "model-of-vectors", b"\0\0\0\0")
    client.services.store.write(client.caller, lambda tx: tx.upkeep.put_vectors([vector]))
    reply = client.call("graph_export")
    file = Path(reply["backup_file"])
    assert file == home / "backups" / "2026-01-07T12-00-00.jsonl"
    body = file.read_bytes()
    assert {"ada", "acme", "globex", "loom"} == {it["id"] for it in rows(body, "entity")}
    relations = {it["target_id"]: it for it in rows(body, "relation")}
    assert relations["acme"]["invalid_at"].startswith("2025-01-01")
    assert relations["globex"]["invalid_at"] is None
    evidence = [it["evidence"] for it in rows(body, "relation_evidence")]
    assert "s-1" in {it["provenance"]["session"] for it in evidence}
    assert "she said so" in {it["text"] for it in evidence}
    assert {it["title"] for it in rows(body, "memory")} == {"Wool", "Loom"}
    assert {len(rows(body, it)) for it in ("synapse", "open_link", "ingest_item")} != {0}
    assert b"model-of-vectors" not in body
    counts = {kind: len(rows(body, name)) for kind, name in (("node", "entity"), ("edge", "relation"))}
    assert (reply["node_count"], reply["edge_count"]) == (counts["node"], counts["edge"]) == (4, 3)
    assert reply["size_bytes"] == len(body)
    assert (reply["pruned"], reply["retained"]) == (0, 1)
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.spec("graph_export.instants-in-header")
def test_two_exports_of_one_store_differ_in_their_first_line_alone(client: Client) -> None:
    learned(client)
    first = exported(client)
    client.clock.advance(days=1)
    assert exported(client) == first
    heads = {it.read_bytes().partition(b"\n")[0] for it in client.services.home.backups.iterdir()}
    assert len(heads) == 2


@pytest.mark.spec("graph_export.label")
@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("pre-migration", "2026-01-01T12-00-00-pre-migration.jsonl"),
        ("../../etc/passwd", "2026-01-01T12-00-00-etc-passwd.jsonl"),
        ("a\0b\nc", "2026-01-01T12-00-00-a-b-c.jsonl"),
        (".hidden", "2026-01-01T12-00-00-hidden.jsonl"),
        ("Größe 型", "2026-01-01T12-00-00-grösse-型.jsonl"),
        ("   ", "2026-01-01T12-00-00.jsonl"),
        ("///", None),
        ("型" * 300, None),
    ],
)
def test_a_label_is_part_of_a_name_that_stays_in_the_folder(client: Client, label: str, name: str | None) -> None:
    file = Path(client.call("graph_export", label=label)["backup_file"])
    assert file.parent == client.services.home.backups
    assert file.name.startswith("2026-01-01T12-00-00-") if name is None else file.name == name
    assert [it.name for it in client.services.home.backups.iterdir()] == [file.name]


@pytest.mark.spec("graph_export.keep", "graph_export.labelled-kept")
@pytest.mark.parametrize("label", ["before", "///"])
def test_the_oldest_go_beyond_keep_and_labelled_ones_stay(client: Client, label: str) -> None:
    labelled = client.call("graph_export", label=label)["backup_file"]
    made = []
    for _ in range(16):
        client.clock.advance(seconds=0.4)  # more than one a second, too
        made.append(client.call("graph_export"))
    assert [it["pruned"] for it in made] == [0] * 14 + [1, 1]
    assert [it["retained"] for it in made] == [*range(1, 15), 14, 14]
    there = {str(it) for it in client.services.home.backups.iterdir()}
    assert there == {labelled, *(it["backup_file"] for it in made[2:])}
    client.clock.now -= client.clock.now - client.clock.now.replace(year=2020)  # a clock set back
    last = client.call("graph_export", keep=1)
    assert (last["pruned"], last["retained"]) == (14, 1)
    assert {str(it) for it in client.services.home.backups.iterdir()} == {labelled, last["backup_file"]}


@pytest.mark.parametrize("keep", [0, -1, "all"])
def test_keeping_none_is_refused(client: Client, keep: object) -> None:
    assert client.refusal("graph_export", keep=keep).startswith("keep: ")
    assert not list(client.services.home.backups.glob("*"))


@pytest.mark.spec("graph_export.atomic-file")
def test_an_export_that_fails_leaves_no_file_and_removes_none(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    before = client.call("graph_export")["backup_file"]
    client.clock.advance(days=1)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("os.fsync", fail)
        assert "No space left" in client.refusal("graph_export", keep=1)
    assert [str(it) for it in client.services.home.backups.iterdir()] == [before]


# ------------------------------------------------------------------------------------------------------------ import


@pytest.mark.spec("graph_import.restores", "graph_export.complete")
@pytest.mark.parametrize(("source", "target"), [("reference", "sqlite"), ("sqlite", "reference")])
@given(history=histories)
@settings(max_examples=EXAMPLES)
def test_any_rows_come_back_byte_for_byte(source: str, target: str, history: list[Operation]) -> None:
    with client_over(source) as old, client_over(target) as new:
        make(old, history)
        file = backup(old, new)
        reply = new.call("graph_import", file=file, dry_run=False)
        body = exported(new)
        assert apart(exported(old), body) == []
        counts = orjson.loads(body.splitlines()[-1])["counts"]
        assert set(counts) <= set(ROW_KINDS)
        assert reply["joined"] == {}


@pytest.mark.spec("graph_import.restores", "graph_import.merge")
def test_what_was_learned_comes_back_and_answers_alike(client: Client) -> None:
    learned(client)
    with client_over(client.services.store.identity().kind, client.clock) as new:
        new.call("graph_import", file=backup(client, new), dry_run=False)
        assert exported(new) == exported(client)
        for tool, arguments in (
            ("graph_query", {"entities": ["Ada"], "current_only": False}),
            ("memory_search", {"query": "loom"}),
            ("graph_ingest", {"action": "status"}),
        ):
            mine, theirs = client.call(tool, **arguments), new.call(tool, **arguments)
            if tool != "graph_ingest":
                assert theirs == mine
            else:  # the file itself did not come along
                assert theirs["pending_count"] == 0


@pytest.mark.spec("graph_import.dry-run-default")
@pytest.mark.parametrize("mode", ["merge", "replace"])
def test_without_more_an_import_tells_what_it_would_do_and_does_nothing(client: Client, mode: str) -> None:
    with client_over("sqlite", client.clock) as other:
        other.relate("Bo", "USES", "Loom")
        file = backup(other, client)
    learned(client)
    before = exported(client)
    audited = client.services.home.dream_audit.read_bytes() if client.services.home.dream_audit.exists() else b""
    told = client.call("graph_import", file=file, mode=mode)
    assert told["dry_run"] is True
    assert exported(client) == before
    assert b"imported" not in audited
    done = client.call("graph_import", file=file, mode=mode, dry_run=False)
    assert {**done, "dry_run": True} == told
    assert exported(client) != before


weights = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])
facts = st.tuples(
    st.sampled_from(["state", "boost", "weaken", "wait", "decay", "note"]),
    st.sampled_from(["Ada", "Bo"]),
    st.sampled_from(["WORKS_AT", "USES"]),
    st.sampled_from(["Acme", "Globex"]),
    weights,
    st.sampled_from([None, "2020-01-01", "2024-01-01", "2025-06-01"]),
)


def live(client: Client, story: Sequence[tuple[str, str, str, str, float, str | None]]) -> None:
    """Learn a story through the tools."""
    for kind, source, relation, target, weight, valid_at in story:
        ends = {"from_name": source, "relation": relation, "to_name": target}
        if kind == "state":
            client.relate(source, relation, target, weight=weight, **({"valid_at": valid_at} if valid_at else {}))
        elif kind == "wait":
            client.clock.advance(days=weight * 10)
        elif kind == "decay":
            client.call("graph_decay")
        elif kind == "note":
            with suppress(ToolFailure):  # known already
                client.call("memory_add", title=source, content=f"{source} {relation} [[{target}]]", category="note")
        elif client.around(source)["found"] and client.edges(source, relation, target):
            client.call(f"graph_{kind}", **ends, amount=weight)


def strengths(client: Client) -> Mapping[str, float]:
    """Return every value as decay leaves it now."""
    client.call("graph_decay")
    return client.stored()


@pytest.mark.spec("graph_import.merge", "graph_import.merge.evidence")
@pytest.mark.parametrize("kind", KINDS)
@given(ours=st.lists(facts, max_size=12), theirs=st.lists(facts, max_size=12))
@settings(max_examples=EXAMPLES)
def test_a_merge_weakens_nothing_and_a_second_one_changes_nothing(
    kind: str, ours: list[Any], theirs: list[Any]
) -> None:
    with client_over(kind, Clock()) as here, client_over("reference", Clock()) as there:
        live(here, ours)
        live(there, theirs)
        before, entities = strengths(here), rows(exported(here), "entity")
        file = backup(there, here)
        here.call("graph_import", file=file, dry_run=False)
        after = exported(here)
        stored = strengths(here)
        assert {it for it, value in before.items() if stored.get(it, -1.0) < value - 1e-9} == set()
        assert {it["id"] for it in entities} <= {it["id"] for it in rows(after, "entity")}
        once = exported(here)
        here.call("graph_import", file=file, dry_run=False)
        assert apart(once, exported(here)) == []


@pytest.mark.spec("graph_import.merge.evidence")
@pytest.mark.parametrize("kind", KINDS)
@given(ours=histories, theirs=histories)
@settings(max_examples=EXAMPLES)
def test_importing_any_rows_twice_equals_importing_them_once(
    kind: str, ours: list[Operation], theirs: list[Operation]
) -> None:
    with client_over(kind) as here, client_over("reference") as there:
        make(here, ours)
        make(there, theirs)
        file = backup(there, here)
        here.call("graph_import", file=file, dry_run=False)
        once = exported(here)
        here.call("graph_import", file=file, dry_run=False)
        assert apart(once, exported(here)) == []


@pytest.mark.spec("graph_import.merge.evidence")
def test_the_larger_weight_wins_and_a_newer_fact_ends_an_older_one(client: Client) -> None:
    client.relate("Ada", "USES", "Loom", weight=0.4)
    client.relate("Ada", "USES", "Wool", weight=0.9)
    client.relate("Ada", "WORKS_AT", "Acme", valid_at="2020-01-01")
    with client_over("reference", Clock()) as other:
        other.relate("Ada", "USES", "Loom", weight=0.8)
        other.relate("Ada", "USES", "Wool", weight=0.3)
        other.relate("Ada", "WORKS_AT", "Globex", valid_at="2025-01-01")
        file = backup(other, client)
    client.call("graph_import", file=file, dry_run=False)
    assert client.edge("Ada", "USES", "Loom")["weight"] == 0.8
    assert client.edge("Ada", "USES", "Wool")["weight"] == 0.9
    assert client.edges("Ada", "WORKS_AT", "Acme") == []
    assert client.edge("Ada", "WORKS_AT", "Globex")["valid_at"] == "2025-01-01T00:00:00Z"


@pytest.mark.spec("graph_import.replace")
@pytest.mark.parametrize("kind", KINDS)
@given(ours=histories, theirs=histories)
@settings(max_examples=EXAMPLES)
def test_a_replacing_import_leaves_exactly_the_file(kind: str, ours: list[Operation], theirs: list[Operation]) -> None:
    with client_over(kind) as here, client_over("reference") as there:
        make(here, [it for it in ours if "tombstone" not in it.name])
        make(there, [it for it in theirs if "tombstone" not in it.name])
        here.call("graph_import", file=backup(there, here), mode="replace", dry_run=False)
        assert apart(exported(there), exported(here)) == []


def resigned(lines: Sequence[bytes]) -> bytes:
    """Return a backup of these lines whose end fits them."""
    body, counts = lines[1:-1], dict[str, int]()
    for line in body:
        kind = str(orjson.loads(line).get("kind"))
        counts[kind] = counts.get(kind, 0) + 1
    end = {"end": True, "counts": counts, "sha256": hashlib.sha256(b"".join(body)).hexdigest()}
    return b"".join((*lines[:-1], orjson.dumps(end, option=orjson.OPT_APPEND_NEWLINE)))


def changed_row(lines: list[bytes], kind: str, **fields: object) -> bytes:
    number = next(n for n, it in enumerate(lines) if orjson.loads(it).get("kind") == kind)
    row = orjson.loads(lines[number])
    row["row"].update(fields)
    return resigned([*lines[:number], orjson.dumps(row) + b"\n", *lines[number + 1 :]])


Damage = Callable[[list[bytes]], bytes]
DAMAGES: dict[str, tuple[Damage, str]] = {
    "empty": (lambda _: b"", "line 1 "),
    "no backup": (lambda _: b'{"hello": 1}\n', "line 1 is no backup"),
    "no text": (lambda _: bytes(range(256)), "line 1 "),
    "another format": (lambda it: b"".join([it[0].replace(b"graph-memory", b"other"), *it[1:]]), "line 1 "),
    "a newer version": (lambda it: b"".join([it[0].replace(b'"version":1', b'"version":2'), *it[1:]]), "format 2"),
    "no instant": (lambda it: b"".join([it[0].replace(b"2026-", b"never"), *it[1:]]), "line 1 "),
    "cut between lines": (lambda it: b"".join(it[:4]), "line 4 "),
    "cut in a line": (lambda it: b"".join(it)[: len(b"".join(it[:3])) + 9], "line 4 "),
    "without its end": (lambda it: b"".join(it[:-1]), "is cut off"),
    "more after its end": (lambda it: b"".join([*it, it[1]]), "after the end"),
    "a line gone": (lambda it: b"".join([*it[:2], *it[3:]]), "was changed"),
    "a word changed": (lambda it: b"".join(it).replace(b"Globex", b"Initec"), "was changed"),
    "no object": (lambda it: b"".join([it[0], b"[1]\n", *it[2:]]), "line 2 "),
    "another kind": (lambda it: resigned([it[0], b'{"kind":"ship","row":{}}\n', *it[1:]]), "line 2 "),
    "a field missing": (lambda it: resigned([it[0], b'{"kind":"entity","row":{"id":"x"}}\n', *it[1:]]), "line 2 "),
    "an end that is nowhere": (lambda it: changed_row(it, "relation", target_id="nobody"), "file: "),
    "a weight of seven": (lambda it: changed_row(it, "relation", weight=7.0), "file: "),
    "an id that is a number": (lambda it: changed_row(it, "entity", id=7), "line "),
}


@pytest.mark.spec("graph_import.all-or-nothing")
@pytest.mark.parametrize("mode", ["merge", "replace"])
@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_file_is_refused_with_its_line_and_changes_nothing(client: Client, damage: str, mode: str) -> None:
    learned(client)
    file = Path(client.call("graph_export")["backup_file"])
    apply, words = DAMAGES[damage]
    file.with_name("damaged.jsonl").write_bytes(apply(file.read_bytes().splitlines(keepends=True)))
    client.relate("Kept", "USES", "Loom")
    before = exported(client)
    text = client.refusal("graph_import", file="damaged.jsonl", mode=mode, dry_run=False)
    assert text.startswith("file: ")
    assert words in text
    assert exported(client) == before


@pytest.mark.spec("access.files.import")
@pytest.mark.parametrize("file", ["../../../etc/passwd", "/etc/passwd", "~/.ssh/id_ed25519", "missing.jsonl", "", "."])
def test_a_file_elsewhere_or_nowhere_is_refused(client: Client, file: str) -> None:
    assert client.refusal("graph_import", file=file).startswith("file: ")


@pytest.mark.spec("graph_import.tenant")
def test_an_import_goes_into_the_callers_tenant_whatever_the_file_says(client: Client) -> None:
    learned(client)
    name = client.call("graph_export")["backup_file"]
    lines = Path(name).read_bytes().splitlines(keepends=True)
    header = orjson.dumps({**orjson.loads(lines[0]), "tenant": "local"}) + b"\n"
    Path(name).with_name("said.jsonl").write_bytes(
        changed_row([header, *lines[1:]], "entity", tenant=LOCAL_ADMIN.tenant)
    )
    before, other = client.counts(), client.as_tenant("carol", is_admin=True)
    other.call("graph_import", file="said.jsonl", dry_run=False)
    assert other.node("Ada")["name"] == "Ada"
    other.call("graph_import", file="said.jsonl", mode="replace", dry_run=False)
    assert client.counts() == before == other.counts()
