"""graph_stats: what there is, and how it is doing."""

import json

import pytest

from graph_memory.domain.ledger import JobRun, RunStatus
from tests.tools.conftest import START, Client, Clock


@pytest.mark.spec("graph_stats.schema_version", "graph_stats.no-arguments", "graph_stats.last_dream_run")
def test_an_empty_home_has_nothing_and_is_well(client: Client) -> None:
    stats = client.call("graph_stats")
    assert stats["schema_version"] == str(client.services.store.identity().schema_version)
    assert stats["nodes"] == stats["edges"] == {"total": 0, "by_type": {}}
    health = stats["health"]
    assert (health["avg_weight"], health["orphaned_nodes"], health["stale_nodes"]) == (0, 0, 0)
    assert (health["last_dream_run"], health["degraded"], health["unresolved_contradictions"]) == (None, [], 0)
    assert client.refusal("graph_stats", tenant="x").startswith("tenant: unknown argument")


@pytest.mark.spec(
    "graph_stats.nodes",
    "graph_stats.edges",
    "graph_stats.avg_weight",
    "graph_stats.orphaned_nodes",
    "graph_stats.stale_nodes",
)
def test_it_counts_what_there_is(client: Client, clock: Clock) -> None:
    client.relate("Ada", "WORKS_AT", "Acme", from_type="Person", weight=0.9, valid_at="2020-01-01")
    client.relate("Ada", "WORKS_AT", "Globex", from_type="Person", weight=0.5, valid_at="2025-01-01")
    clock.advance(days=20)
    client.relate("Ada", "KNOWS", "Bo", from_type="Person", to_type="person", weight=0.2)
    clock.advance(days=10)  # Acme and Globex: thirty days to the instant, and not more
    assert client.call("graph_stats")["health"]["stale_nodes"] == 0
    clock.advance(seconds=1)
    stats = client.call("graph_stats")
    assert stats["nodes"] == {"total": 4, "by_type": {"Person": 2, "Concept": 2}}
    # What was superseded counts no more; Acme has nothing else.
    assert stats["edges"] == {"total": 2, "by_type": {"WORKS_AT": 1, "KNOWS": 1}}
    assert stats["health"]["avg_weight"] == pytest.approx(0.35, abs=0.01)
    assert (stats["health"]["orphaned_nodes"], stats["health"]["stale_nodes"]) == (1, 2)
    assert sum(stats["nodes"]["by_type"].values()) == stats["nodes"]["total"]


@pytest.mark.spec("graph_stats.store", "graph_stats.embedder")
def test_it_names_the_store_and_the_embedder(client: Client) -> None:
    health = client.call("graph_stats")["health"]
    identity = client.services.store.identity()
    assert health["store"] == {"kind": identity.kind, "version": identity.engine_version}
    assert health["embedder"].startswith("none")


@pytest.mark.spec("graph_stats.queue", "graph_stats.pending_ingest_docs")
def test_it_counts_the_documents_of_the_inbox_by_state(client: Client) -> None:
    for name in ("a.md", "b.md"):
        client.call("graph_ingest", action="queue", content=f"# {name}", file_name=name)
    health = client.call("graph_stats")["health"]
    assert health["queue"] == {"pending": 2, "processing": 0, "completed": 0, "failed": 0}
    assert (health["pending_ingest_docs"], health["total_ingested_docs"]) == (2, 0)


def ran(client: Client, job: str, hours: float, status: RunStatus, **more: object) -> None:
    clock = Clock(START)
    clock.advance(hours=hours)
    run = JobRun(job, clock.now, status, clock.now, **more)  # type: ignore[arg-type]
    client.services.store.write(client.caller, lambda tx: tx.upkeep.put_run(run))


@pytest.mark.spec("graph_stats.last_dream_run", "graph_stats.degraded")
def test_it_tells_the_latest_runs_and_what_failed_and_why(client: Client) -> None:
    ran(client, "decay", 1, RunStatus.SUCCEEDED, result={"entities": 3})
    ran(client, "export", 2, RunStatus.SUCCEEDED)
    ran(client, "decay", 3, RunStatus.FAILED, error="the disk is full")
    health = client.call("graph_stats")["health"]
    assert health["last_dream_run"] == "2026-01-01T13:00:00Z"
    assert health["degraded"] == ["job decay: the disk is full"]
    assert health["jobs"]["decay"]["status"] == "failed"
    assert health["jobs"]["export"]["ended_at"] == "2026-01-01T14:00:00Z"
    ran(client, "decay", 5, RunStatus.SUCCEEDED, result={"entities": 4})
    health = client.call("graph_stats")["health"]
    assert (health["last_dream_run"], health["degraded"]) == ("2026-01-01T17:00:00Z", [])
    assert health["jobs"]["decay"]["result"] == {"entities": 4}
    json.dumps(health)
