"""Job runs, merge inverses, vectors, and the audit's outbox."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from graph_memory.domain.ledger import AuditEvent, MergeRecord, RunStatus, VectorOwner
from tests.contract.samples import ALL, day, run, vector

if TYPE_CHECKING:
    from graph_memory.domain.entities import JsonValue
    from graph_memory.domain.ledger import JobRun
    from graph_memory.ports.store import WriteTransaction
    from tests.contract.stores import Caller

RUNNING, FAILED = RunStatus.RUNNING, RunStatus.FAILED
ENTITY, MEMORY = VectorOwner.ENTITY, VectorOwner.MEMORY


def stored(alice: Caller, *runs: JobRun) -> None:
    def work(tx: WriteTransaction) -> None:
        for one in runs:
            tx.upkeep.put_run(one)

    alice.write(work)


def test_a_run_comes_back_whole(alice: Caller) -> None:
    whole = run("décay", day(1), FAILED, ended_at=day(2), result={"n": 1, "list": [1.5, None]}, error="it broke")
    stored(alice, whole)
    assert list(alice.read(lambda tx: tx.upkeep.runs("décay", ALL))) == [whole]


def test_a_run_is_replaced_by_job_and_start(alice: Caller) -> None:
    stored(alice, run("decay", day(1), RUNNING), run("export", day(1), RUNNING))
    stored(alice, run("decay", day(1), ended_at=day(1.5)))
    assert list(alice.read(lambda tx: tx.upkeep.runs("decay", ALL))) == [run("decay", day(1), ended_at=day(1.5))]
    assert list(alice.read(lambda tx: tx.upkeep.runs("export", ALL))) == [run("export", day(1), RUNNING)]


def test_runs_are_listed_newest_first(alice: Caller) -> None:
    stored(alice, *(run("decay", day(number)) for number in (2, 1, 4, 3)), run("export", day(9)))
    found = alice.read(lambda tx: tx.upkeep.runs("decay", 3))
    assert [one.started_at for one in found] == [day(4), day(3), day(2)]
    assert list(alice.read(lambda tx: tx.upkeep.runs("none", 3))) == []


def test_the_last_run_and_the_last_success(alice: Caller) -> None:
    stored(
        alice,
        run("decay", day(2)),
        run("decay", day(3), FAILED),
        run("decay", day(1)),
        run("export", day(1), RUNNING),
    )
    expected = {"decay": run("decay", day(3), FAILED), "export": run("export", day(1), RUNNING)}
    assert alice.read(lambda tx: tx.upkeep.last_runs()) == expected
    assert alice.read(lambda tx: tx.upkeep.last_runs(["decay", "none"])) == {"decay": expected["decay"]}
    assert alice.read(lambda tx: tx.upkeep.last_success("decay")) == run("decay", day(2))
    assert alice.read(lambda tx: tx.upkeep.last_success("export")) is None


def test_old_runs_are_removed_the_newest_kept(alice: Caller) -> None:
    stored(alice, *(run("decay", day(number)) for number in (2, 1, 4, 3)), run("export", day(1)))
    assert alice.write(lambda tx: tx.upkeep.delete_runs("decay", 2)) == 2
    assert [one.started_at for one in alice.read(lambda tx: tx.upkeep.runs("decay", ALL))] == [day(4), day(3)]
    assert alice.write(lambda tx: tx.upkeep.delete_runs("decay", 5)) == 0
    assert alice.write(lambda tx: tx.upkeep.delete_runs("decay", 0)) == 2
    assert set(alice.read(lambda tx: tx.upkeep.last_runs())) == {"export"}


def test_merge_inverses_are_found_replaced_listed_and_removed(alice: Caller) -> None:
    inverse: dict[str, JsonValue] = {"source": {"name": "Ada"}, "relations": [["a", 1.5, None, 10**30]]}
    merges = {id_: MergeRecord(id_, "source", "target", day(1), inverse) for id_ in ("m2", "m1", "m3")}
    alice.write(lambda tx: tx.upkeep.put_merges([MergeRecord("m1", "old", "old", day(0)), merges["m2"], merges["m3"]]))
    alice.write(lambda tx: tx.upkeep.put_merges([merges["m1"]]))
    assert alice.read(lambda tx: tx.upkeep.merges(["m1", "none"])) == {"m1": merges["m1"]}
    assert [one.id for one in alice.read(lambda tx: tx.upkeep.page_merges(None, 2))] == ["m1", "m2"]
    assert [one.id for one in alice.read(lambda tx: tx.upkeep.page_merges("m1", 2))] == ["m2", "m3"]
    assert alice.write(lambda tx: tx.upkeep.delete_merges(["m2", "none"])) == 1
    assert [one.id for one in alice.read(lambda tx: tx.upkeep.page_merges(None, ALL))] == ["m1", "m3"]


def test_vectors_are_kept_by_owner_and_model(alice: Caller) -> None:
    values = struct.pack("<3f", 0.5, -1.0, float("inf"))
    vectors = [
        vector(ENTITY, "a", "m1", values),
        vector(ENTITY, "a", "m2"),
        vector(ENTITY, "b", "m1"),
        vector(MEMORY, "a", "m1"),
    ]
    alice.write(lambda tx: tx.upkeep.put_vectors([vector(ENTITY, "a", "m1", b""), *vectors[1:]]))
    alice.write(lambda tx: tx.upkeep.put_vectors([vectors[0]]))
    assert alice.read(lambda tx: tx.upkeep.vectors(ENTITY, ["a", "none"], "m1")) == {"a": vectors[0]}
    assert alice.read(lambda tx: tx.upkeep.vectors(ENTITY, ["a"], "m1"))["a"].dimensions == 3
    assert alice.read(lambda tx: tx.upkeep.vectors(MEMORY, ["a", "b"], "m1")) == {"a": vectors[3]}
    assert alice.read(lambda tx: tx.upkeep.count_vectors()) == {"m1": 3, "m2": 1}
    assert alice.write(lambda tx: tx.upkeep.delete_vectors(ENTITY, ["a", "none"])) == 2
    assert alice.read(lambda tx: tx.upkeep.count_vectors()) == {"m1": 2}


def test_the_outbox_gives_events_in_the_order_they_were_added(alice: Caller) -> None:
    events = [AuditEvent(id_, "event", day(at), {"é": [id_, None]}) for id_, at in [("z", 3), ("a", 1), ("m", 2)]]
    alice.write(lambda tx: tx.upkeep.add_audit(events[:2]))
    alice.write(lambda tx: tx.upkeep.add_audit(events[2:]))
    assert list(alice.read(lambda tx: tx.upkeep.page_audit(ALL))) == events
    assert list(alice.read(lambda tx: tx.upkeep.page_audit(2))) == events[:2]
    assert alice.write(lambda tx: tx.upkeep.delete_audit(["z", "none"])) == 1
    assert list(alice.read(lambda tx: tx.upkeep.page_audit(ALL))) == events[1:]
