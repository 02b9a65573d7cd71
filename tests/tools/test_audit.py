"""graph_audit, and what the product notes of itself."""

import json
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from graph_memory.domain.audit import OWN_EVENTS
from graph_memory.domain.errors import Unavailable
from graph_memory.ports.store import WriteTransaction
from tests.tools.conftest import Client, Clock, ToolFailure

SEED_EVENTS = """
    run_start run_end transcript_start transcript_end transcript_skipped entity_created edge_created edge_modified
    merge_flagged contradiction_found ingest_start ingest_end decay_applied format_warning error
""".split()


def log_of(client: Client) -> Path:
    return client.services.home.logs / "dream-audit.jsonl"


def lines(client: Client) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log_of(client).read_bytes().splitlines()] if log_of(client).exists() else []


@pytest.mark.spec("graph_audit.appends", "graph_audit.result", "graph_audit.data-optional")
@pytest.mark.parametrize("data", [None, {}, {"transcripts": 3, "deep": {"list": [1, 2.5, None, True, "id-1"]}}])
def test_an_event_becomes_one_line_of_the_log(client: Client, clock: Clock, data: dict[str, Any] | None) -> None:
    client.call("graph_audit", event="run_start")
    clock.advance(minutes=1)
    reply = client.call("graph_audit", event="run_end", data=data)
    assert (reply["logged"], reply["timestamp"]) == (True, "2026-01-01T12:01:00Z")
    first, last = lines(client)
    assert first["event"] == "run_start"
    assert last == {"id": reply["id"], "event": "run_end", "timestamp": reply["timestamp"], "data": data or {}}


@pytest.mark.spec("graph_audit.seed-events", "graph_audit.own-events")
@pytest.mark.parametrize("event", [*SEED_EVENTS, *sorted(OWN_EVENTS)])
def test_every_known_event_is_accepted(client: Client, event: str) -> None:
    client.call("graph_audit", event=event)
    assert [it["event"] for it in lines(client)] == [event]


@pytest.mark.spec("graph_audit.own-events")
def test_what_the_product_writes_it_also_accepts(client: Client, clock: Clock) -> None:
    client.relate("Ada", "WORKS_AT", "Acme")
    client.relate("Ada", "WORKS_AT", "Globex")
    client.call("graph_boost", from_name="Ada", relation="WORKS_AT", to_name="Globex")
    client.call("memory_add", category="note", title="T", content="see [[Ada]], key AKIA" + "QYLPMN5HFIQR7XYA")
    client.call("graph_decay")
    client.call("graph_import", file=client.call("graph_export")["backup_file"], dry_run=False)
    client.call("graph_delete", entity_id="acme")
    client.services.audit.drain(client.caller)
    written = {it["event"] for it in lines(client)}
    assert written >= {"entity_created", "edge_superseded", "edge_modified", "memory_added", "redacted", "exported"}
    for event in written:
        assert client.call("graph_audit", event=event)["logged"]


@pytest.mark.spec("graph_audit.unknown-event")
@pytest.mark.parametrize("event", ["", "run_started", "RUN_START", "x\ny"])
def test_an_unknown_event_is_refused_with_the_list(client: Client, event: str) -> None:
    text = client.refusal("graph_audit", event=event)
    assert all(it in text for it in [*SEED_EVENTS, *OWN_EVENTS])
    assert lines(client) == []


@pytest.mark.spec("graph_audit.not-lost")
def test_lines_of_many_writers_are_whole_and_all_there(client: Client, clock: Clock) -> None:
    def note(number: int) -> str:
        return str(client.call("graph_audit", event="run_start", data={"number": number, "pad": "x" * 5_000})["id"])

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(note, range(60)))
    assert len(set(ids)) == 60
    assert {it["id"] for it in lines(client)} == set(ids)
    assert {it["data"]["number"] for it in lines(client)} == set(range(60))


@pytest.mark.spec("graph_audit.not-lost")
def test_what_a_crash_repeats_has_the_same_id_and_what_can_not_be_written_waits(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = client.services.audit._sink
    append = sink.append

    def unwritable(events: object) -> None:
        raise Unavailable("the disk is full")

    monkeypatch.setattr(sink, "append", unwritable)
    client.relate("A", "USES", "B")
    assert lines(client) == []

    def crash(events: Any) -> None:  # noqa: ANN401
        append(events)
        raise Unavailable("killed before the outbox was emptied")

    monkeypatch.setattr(sink, "append", crash)
    with pytest.raises(Unavailable):
        client.services.audit.drain(client.caller)
    monkeypatch.setattr(sink, "append", append)
    client.services.audit.drain(client.caller)
    written = [it["id"] for it in lines(client)]
    assert len(written) == 2 * len(set(written)) == 2 * 3


@pytest.mark.spec("audit.ids-only")
def test_neither_audit_nor_log_holds_names_or_text(
    client: Client, clock: Clock, log: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = ["Zebra Crossing", "EATS QUAGGA", "the okapi sleeps", "a lemur", "Tapir!", "gnu note"]
    zebra, quagga, okapi, lemur, tapir, note = secret
    client.relate(zebra, quagga, "Thing", evidence=okapi, properties={lemur: tapir}, source_session="s-1")
    client.relate(zebra, "WORKS_AT", okapi)
    client.relate(zebra, "WORKS_AT", lemur)
    client.call("graph_weaken", from_name=zebra, relation=quagga, to_name="Thing", amount=0.7, reason=tapir)
    client.call("memory_add", category=tapir, title=note, content=f"{okapi} [[{zebra}]]", summary=lemur, tags=[tapir])
    clock.advance(days=400)
    client.call("graph_decay")
    client.call("graph_validate")
    client.call("graph_delete", entity_id=client.node(zebra)["id"], reason=okapi)
    client.call("graph_import", file=client.call("graph_export", label="x")["backup_file"], dry_run=False)

    def fail(tx: WriteTransaction) -> None:
        raise ZeroDivisionError(f"{zebra} {okapi}")

    monkeypatch.setattr(client.services.store, "write", lambda principal, work: fail(work))
    with pytest.raises(ToolFailure, match="log has it") as failed:
        client.relate(zebra, quagga, "Thing")
    monkeypatch.undo()
    client.services.audit.drain(client.caller)
    assert len(lines(client)) > 10
    written = log_of(client).read_text() + log.getvalue() + str(failed.value)
    assert "tool_failed" in log.getvalue()
    assert [it for it in secret if it in written] == []
