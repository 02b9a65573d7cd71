"""Tenants of a file: their keys, and the text indexes that each has of its own."""

from functools import cache
from importlib.resources import files
from typing import cast

import apsw

from graph_memory.adapters.sqlite.session import composed

NOBODY = 0
"""The key of a tenant without rows: no row has it."""

_FIRST = 1
_TEXT_INDEXES = ("memories_fts", "entities_fts", "entities_runs")

_HAS_ROWS = """
    select name from tenants where
        exists (select 1 from entities where tenant = tenants.pk)
        or exists (select 1 from memories where tenant = tenants.pk)
        or exists (select 1 from decay_matrix where tenant = tenants.pk)
        or exists (select 1 from ingest_items where tenant = tenants.pk)
        or exists (select 1 from transcript_cursors where tenant = tenants.pk)
        or exists (select 1 from learned where tenant = tenants.pk)
        or exists (select 1 from tombstones where tenant = tenants.pk)
        or exists (select 1 from job_runs where tenant = tenants.pk)
        or exists (select 1 from merges where tenant = tenants.pk)
        or exists (select 1 from vectors where tenant = tenants.pk)
        or exists (select 1 from audit_outbox where tenant = tenants.pk)
    order by name
"""
"""All other rows hang on an entity or a memory."""


def find_tenant(connection: apsw.Connection, name: str) -> int:
    """Find the key of a tenant; `NOBODY` when it never wrote anything."""
    key: int | None = connection.execute("select pk from tenants where name = ?", (name,)).get
    return key or NOBODY


def add_tenant(connection: apsw.Connection, name: str) -> int:
    """Add a tenant with its text indexes and return its key; keys are never used again."""
    connection.execute("insert into tenants (name) values (?)", (name,))
    key = connection.last_insert_rowid()
    connection.execute(composed(_indexes(), tenant=str(key), index=index_suffix(key)))
    return key


def tenants_with_rows(connection: apsw.Connection) -> tuple[str, ...]:
    """List the tenants that have any row, in order."""
    return tuple(name for (name,) in connection.execute(_HAS_ROWS))


def merge_text_indexes(connection: apsw.Connection) -> None:
    """Merge each text index into one part: nothing of what was deleted is left in it."""
    keys = cast("list[tuple[int]]", connection.execute("select pk from tenants").fetchall())
    for name in (table + index_suffix(key) for (key,) in keys for table in _TEXT_INDEXES):
        connection.execute(composed("insert into $name ($name) values ('optimize')", name=name))


def indexes_out_of_step(connection: apsw.Connection) -> list[str]:
    """List the text indexes of memories that do not hold what the memories say."""
    keys = cast("list[tuple[int]]", connection.execute("select pk from tenants").fetchall())
    found: list[str] = []
    for name in ("memories_fts" + index_suffix(key) for (key,) in keys):
        try:
            connection.execute(composed("insert into $name ($name, rank) values ('integrity-check', 1)", name=name))
        except apsw.CorruptError:
            found.append(name)
    return found


def index_suffix(tenant: int) -> str:
    """Return what ends the names of a tenant's text indexes: nothing for the first, the owner of the machine."""
    return "" if tenant in {NOBODY, _FIRST} else f"_{tenant}"


@cache
def _indexes() -> str:
    return files(__package__).joinpath("text_index.sql").read_text(encoding="utf-8")
