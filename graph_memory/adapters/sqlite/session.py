"""Statements of one tenant within one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from string import Template
from typing import Any, TypeAlias

import apsw

from graph_memory.adapters.sqlite.errors import translated
from graph_memory.adapters.sqlite.rows import listed

Value: TypeAlias = int | float | str | bytes | None
Values: TypeAlias = Sequence[Value] | Mapping[str, Value]
Row: TypeAlias = tuple[Any, ...]

MEMORY_ID_BITS = 40

FAILURES = (apsw.Error, UnicodeEncodeError, OverflowError)
"""What the driver raises when it can't do what a statement asks."""


class Session:
    """A connection inside a transaction, and the tenant it is for.

    `tenant` is the tenant's key in the file, 0 for one without rows. `index` ends the names of its text indexes.
    Errors are ours. Statements are texts of this package; whatever comes from outside is a bound value.
    """

    __slots__ = ("_connection", "index", "tenant")

    def __init__(self, connection: apsw.Connection, tenant: int, index: str) -> None:
        self._connection = connection
        self.tenant = tenant
        self.index = index

    @property
    def first_key(self) -> int:
        """What a memory's key in the file is more than its id, which counts the tenant's own memories alone."""
        return max(self.tenant - 1, 0) << MEMORY_ID_BITS

    def memory_keys(self, ids: Iterable[int]) -> str:
        """Write the keys of these memories, each once, as one bound value."""
        first = self.first_key
        return listed([first + id_ for id_ in set(ids)])

    @property
    def connection(self) -> apsw.Connection:
        """The driver's connection, for what is no statement."""
        return self._connection

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """Run a statement and return all its rows."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except FAILURES as error:
            raise translated(error) from error

    def row(self, sql: str, values: Values = ()) -> Row | None:
        """Run a statement and return its first row, if there is one."""
        try:
            return self._connection.execute(sql, values).fetchone()
        except FAILURES as error:
            raise translated(error) from error

    def value(self, sql: str, values: Values = ()) -> Any:  # noqa: ANN401 - whatever the statement selects
        """Run a statement that has a row and return its first column."""
        row = self.row(sql, values)
        return None if row is None else row[0]

    def run(self, sql: str, values: Values = ()) -> int:
        """Run a change; return how many rows it changed, triggers and cascades left aside."""
        try:
            self._connection.execute(sql, values)
            return self._connection.changes()
        except FAILURES as error:
            raise translated(error) from error

    def run_many(self, sql: str, rows: Iterable[Values]) -> int:
        """Run a change for each of `rows`; return how many rows were changed, triggers and cascades included."""
        before = self._connection.total_changes()
        try:
            self._connection.executemany(sql, rows)
        except FAILURES as error:
            raise translated(error) from error
        return self._connection.total_changes() - before


@lru_cache(maxsize=2_048)
def composed(template: str, **parts: str) -> str:
    """Put constant parts of this package into a statement, for `$name` each; never anything from outside."""
    return Template(template).substitute(parts)
