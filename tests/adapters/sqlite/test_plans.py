"""How the statements of the store are run: by an index, whatever their number of rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.sqlite import connection as connections
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.entities import EntityFilter, EntityOrder
from graph_memory.domain.memories import MemoryFilter, MemoryOrder
from tests.contract.primitives import DELETES, PUTS, READS, WRITERS_READS
from tests.contract.samples import ANY_MEMORY, CURRENT, populate, query
from tests.contract.stores import caller

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import apsw

SORT = "USE TEMP B-TREE FOR ORDER BY"

WHOLE = {
    # Answers about all rows of a tenant, or pages of them in an order that no index has.
    "select count(*) from entities",
    "select count(*) from relations",
    "select count(*) from memories",
    "select count(*) from sqlite_schema",
    "select avg(relations.weight)",
    "select type_key, count(*) from relations",
    "select entities.type, counted.entities from",
    "select layer, count(*) from memories",
    "select connection_type, count(*) from synapses",
    "select source_layer, target_layer",
    "delete from decay_matrix where tenant = ?",
    "select state, count(*) from ingest_items",
    "select path, fingerprint, offset, size, updated_at, session_id, state from transcript_cursors where tenant = ?",
    "select job_runs.job",
    "select model_id, count(*) from vectors",
    "select id, event, at, data from audit_outbox",
    "select name from tenants",
    "select name from sqlite_schema",
    "select id from database",
    "select max(version)",
    "select term from memories_words",
    # What was learned in a span of time: forgetting asks for it, once in a long while, and evidence has no such index.
    "select subjects.id from ( select evidence.subject",
}


@pytest.fixture(scope="module")
def statements(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """Every statement that the primitives run, in one line, with its plan."""
    path = tmp_path_factory.mktemp("plans") / "memory.db"
    seen: dict[str, object] = {}
    patch = pytest.MonkeyPatch()
    original = connections.open_connection

    def watched(path: Path, deadline: float = 30.0) -> apsw.Connection:
        opened = original(path, deadline)
        opened.exec_trace = lambda _cursor, sql, bindings: seen.setdefault(sql, bindings) is not NotImplemented
        return opened

    patch.setattr(connections, "open_connection", watched)
    store = SqliteStore(path)
    alice = caller(store, "alice")
    alice.write(populate)
    for read in READS.values():
        alice.read(read)
    alice.read(lambda tx: tx.entities.page(EntityFilter(), EntityOrder.ID, 9))
    alice.read(lambda tx: tx.entities.page_by_id(EntityFilter(), "e", 9))
    alice.read(lambda tx: tx.relations.page(CURRENT, "r", 9))
    for order in MemoryOrder:
        alice.read(lambda tx, order=order: tx.memories.page(ANY_MEMORY, order, 9))  # type: ignore[misc]
    alice.read(lambda tx: tx.memories.search(query("bernoulli"), MemoryFilter("p"), 9))
    for write in (*WRITERS_READS.values(), *PUTS.values(), *DELETES.values()):
        alice.write(write)
    patch.undo()
    store.close()
    explainer = original(path)
    plans = {
        " ".join(sql.split()): [str(row[3]) for row in explainer.execute(f"explain query plan {sql}", bindings)]  # type: ignore[arg-type]
        for sql, bindings in seen.items()
        if re.match(r"\s*(select|insert|update|delete|with)\b", sql)
    }
    explainer.close()
    return plans


def test_no_statement_reads_a_whole_table_but_those_about_all_rows(statements: Mapping[str, list[str]]) -> None:
    assert len(statements) > 100
    scans = re.compile(r"SCAN (?!wanted|near|excluded|strongest|ends|json_each|CONSTANT)(\S+)(?! VIRTUAL)$")
    by_tenant_alone = re.compile(r"SEARCH \S+ USING .*\(tenant=\?\)$")
    whole = {
        sql
        for sql, plan in statements.items()
        if any(scans.search(step) or by_tenant_alone.search(step) for step in plan)
        if not any(sql.startswith(known) for known in WHOLE)
        if "order by memories.created_at" not in sql
        if "order by memories.updated_at" not in sql
        if "order by entities." not in sql
    }
    assert whole == set()


@pytest.mark.parametrize(
    "order",
    [
        "memories.created_at desc",
        "memories.updated_at desc",
        "memories.id limit",
        "relations.id limit",
        "entities.id limit",
    ],
)
def test_pages_are_read_in_their_order(statements: Mapping[str, list[str]], order: str) -> None:
    pages = {sql: plan for sql, plan in statements.items() if f"order by {order}" in sql and "limit" in sql}
    assert pages
    assert [sql for sql, plan in pages.items() if any(SORT in step for step in plan)] == []


def test_hits_come_in_the_order_of_the_index(statements: Mapping[str, list[str]]) -> None:
    searches = {sql: plan for sql, plan in statements.items() if " match :query" in sql}
    assert len(searches) >= 3
    assert [sql for sql, plan in searches.items() if any(SORT in step for step in plan)] == []


def test_slices_follow_the_rows_as_they_lie(statements: Mapping[str, list[str]]) -> None:
    scans = {sql: plan for sql, plan in statements.items() if "not indexed" in sql and "pk > ?" in sql}
    assert len(scans) == 4
    for plan in scans.values():
        assert plan[0].endswith("USING INTEGER PRIMARY KEY (rowid>?)")
        assert not any(SORT in step for step in plan)


def test_no_index_holds_a_number_that_fades_or_counts(path: Path) -> None:
    SqliteStore(path).close()
    opened = connections.open_connection(path)
    columns = opened.execute("""
        select indexes.name || '.' || columns.name from sqlite_schema as tables
        join pragma_index_list(tables.name) as indexes join pragma_index_info(indexes.name) as columns
        where tables.type = 'table'
    """).fetchall()
    opened.close()
    changing = re.compile(r"weight|confidence|decayed|access|mention_count|boost|last_seen|last_confirmed")
    assert [name for (name,) in columns if name is not None and changing.search(str(name).partition(".")[2])] == []
