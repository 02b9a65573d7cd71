"""Instants on the wire, what each of them means, and decay that is due before a value changes."""

from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from tests.tools.conftest import START, Client, Clock, ToolFailure

RATE = 0.997
"""What is left of a relation's weight after a day."""


def wire(after_days: float = 0.0) -> str:
    return (START + timedelta(days=after_days)).isoformat().replace("+00:00", "Z")


@pytest.mark.spec("time.offset.to-utc", "time.date-only", "time.naive.utc-with-warning", "time.valid-at")
@pytest.mark.parametrize(
    ("given", "kept", "has_warning"),
    [
        ("2025-03-01T10:00:00+02:00", "2025-03-01T08:00:00Z", False),
        ("2025-03-01T10:00:00Z", "2025-03-01T10:00:00Z", False),
        ("2025-03-01", "2025-03-01T00:00:00Z", False),
        ("2025-03-01T10:00:00", "2025-03-01T10:00:00Z", True),
    ],
)
@pytest.mark.parametrize("is_batch", [False, True])
def test_an_instant_is_kept_and_shown_in_utc(
    client: Client, given: str, kept: str, has_warning: bool, is_batch: bool
) -> None:
    if is_batch:
        relation = {"from": "A", "to": "B", "relation": "USES", "valid_at": given}
        batch = {"entities": [{"name": "A"}, {"name": "B"}], "relations": [relation]}
        reply = client.call("graph_relate", batch=batch)
    else:
        reply = client.relate("A", "USES", "B", valid_at=given)
    assert client.edge("A", "USES", "B")["valid_at"] == kept
    warnings = reply.get("warnings", [])
    assert len(warnings) == has_warning
    assert all(it.startswith(("valid_at: ", "batch.relations.0.valid_at: ")) and "UTC" in it for it in warnings)


@pytest.mark.spec("time.unreadable.refused")
@pytest.mark.parametrize("text", ["yesterday", "", "2025-13-01", "2025-02-30T00:00:00Z", "9999-12-31T23:59:59-10:00"])
def test_what_is_no_instant_is_refused_by_its_argument(client: Client, text: str) -> None:
    ends = {"from_name": "A", "relation": "USES", "to_name": "B"}
    assert client.refusal("graph_relate", **ends, valid_at=text).startswith("valid_at: ")
    note = {"category": "note", "title": "T", "content": "c"}
    assert client.refusal("memory_add", **note, expires_at=text).startswith("expires_at: ")


@pytest.mark.spec(
    "time.ingested-at", "time.last-confirmed", "time.last-seen", "time.invalid-at", "time.store.aware-utc"
)
def test_each_instant_of_a_fact_moves_when_it_should(client: Client, clock: Clock) -> None:
    client.relate("Ada", "WORKS_AT", "Acme", valid_at="2020-01-01")
    first = client.edge("Ada", "WORKS_AT", "Acme")
    assert (first["ingested_at"], first["last_confirmed"], first["invalid_at"]) == (wire(), wire(), None)
    clock.advance(days=1)
    client.relate("Ada", "WORKS_AT", "Acme", source_type="mention")
    again = client.edge("Ada", "WORKS_AT", "Acme")
    assert (again["ingested_at"], again["last_confirmed"], again["valid_at"]) == (
        wire(),
        wire(1),
        "2020-01-01T00:00:00Z",
    )
    assert client.node("Ada")["last_seen"] == wire(1)
    clock.advance(days=1)
    client.relate("Ada", "WORKS_AT", "Globex", valid_at="2025-06-01")
    ended = client.edges("Ada", "WORKS_AT", "Acme", current_only=False)[0]
    assert (ended["invalid_at"], ended["last_confirmed"]) == ("2025-06-01T00:00:00Z", wire(1))
    # Seen by the statement about Ada; Acme was merely ended.
    assert (client.node("Ada")["last_seen"], client.node("Acme")["last_seen"]) == (wire(2), wire(1))


@pytest.mark.spec("time.wire.iso-z")
def test_every_instant_in_a_reply_ends_in_z(client: Client, clock: Clock) -> None:
    clock.advance(microseconds=7)
    client.relate("A", "WORKS_AT", "B", valid_at="2025-01-01")
    client.relate("A", "WORKS_AT", "C", valid_at="2025-02-01")
    note = client.call("memory_add", category="note", title="T", content="c", expires_at="2027-01-01T00:00:00+01:00")
    replies = [
        client.around("A", current_only=False),
        client.call("graph_entities"),
        client.call("memory_get", id=note["id"]),
        client.call("memory_recent"),
        client.call("memory_overview"),
        client.call("graph_audit", event="run_start"),
        client.call("graph_export"),
        client.call("graph_stats"),
        note,
    ]
    found = [it for reply in replies for it in _instants(reply)]
    assert len(found) > 15
    assert all(it.endswith("Z") and datetime.fromisoformat(it).utcoffset() == timedelta(0) for it in found), found


def _instants(value: object, name: str = "") -> list[str]:
    if isinstance(value, dict):
        return [it for key, inner in value.items() for it in _instants(inner, key)]
    if isinstance(value, list):
        return [it for inner in value for it in _instants(inner, name)]
    is_instant = isinstance(value, str) and (
        name.endswith("_at") or name in {"last_seen", "last_confirmed", "timestamp"}
    )
    return [str(value)] if is_instant else []


@pytest.mark.spec("time.decay-first.boost", "time.decay-first.weaken")
@pytest.mark.parametrize(("tool", "sign"), [("graph_boost", 1), ("graph_weaken", -1)])
def test_a_change_begins_with_the_decay_that_is_due(client: Client, clock: Clock, tool: str, sign: int) -> None:
    client.relate("A", "USES", "B", weight=0.6)
    clock.advance(days=10.5)
    reply = client.call(tool, from_name="A", relation="USES", to_name="B", amount=0.1)
    due = 0.6 * RATE**10.5
    assert reply["previous_weight"] == pytest.approx(due, abs=1e-6)
    assert reply["new_weight"] == pytest.approx(due + sign * 0.1, abs=1e-6)
    # It stands for now: decay at this very moment has nothing left to do.
    assert client.call("graph_decay")["edges_decayed"] == 0


@pytest.mark.spec("time.decay-first.mention", "time.decay-first.relate", "graph_relate.explicit-max")
@pytest.mark.parametrize(
    ("source_type", "weight", "expected"),
    [
        ("mention", None, 0.8 * RATE**100 + 0.05),
        # 0.8 has fallen to 0.592: what is said now is larger, though the number stored was not.
        ("conversation", 0.7, 0.7),
        ("conversation", 0.5, 0.8 * RATE**100),
    ],
)
def test_evidence_meets_the_weight_that_is_left(
    client: Client, clock: Clock, source_type: str, weight: float | None, expected: float
) -> None:
    client.relate("A", "USES", "B", weight=0.8)
    clock.advance(days=100)
    reply = client.relate("A", "USES", "B", source_type=source_type, weight=weight)
    assert reply["edge"]["weight"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.spec("time.reads-use-stored", "time.decayed-at")
def test_reads_show_what_is_stored_until_decay_is_applied(client: Client, clock: Clock) -> None:
    client.relate("A", "USES", "B", weight=0.5)
    clock.advance(days=300)
    assert client.edge("A", "USES", "B", min_weight=0.5)["weight"] == 0.5
    assert client.node("A")["confidence"] == 0.7
    client.call("graph_decay")
    fallen = 0.5 * RATE**300
    assert client.edge("A", "USES", "B")["weight"] == pytest.approx(fallen, abs=1e-6)
    assert client.edges("A", "USES", "B", min_weight=0.5) == []
    clock.advance(days=1)
    client.call("graph_decay")
    assert client.edge("A", "USES", "B")["weight"] == pytest.approx(fallen * RATE, abs=1e-6)


@pytest.mark.spec("time.store.aware-utc")
def test_the_store_takes_no_naive_instant(tmp_path: Path) -> None:
    clock = Clock(START.replace(tzinfo=None))
    store = SqliteStore(tmp_path / "memory.db")
    with closing(store):
        client = Client(build_services(load_config({}, tmp_path), store, clock=clock), clock)
        with pytest.raises(ToolFailure):
            client.relate("A", "USES", "B")
        clock.now = START
        assert client.counts() == {"nodes": 0, "edges": 0, "memories": 0}
