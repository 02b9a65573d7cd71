"""Tables as text: each row says by itself what its cells are, so that a chunk without the first row still does."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from io import StringIO

from graph_memory.domain.errors import IngestError
from ingest.documents.model import Document

_DELIMITERS = ",;\t|"
_SAMPLE = 65_536
_MIDNIGHT = time(0)


def read_csv(text: str, name: str) -> Document:
    """Read separated values, whatever of comma, semicolon, tab or bar they are separated by.

    Raises:
        IngestError: a field never ends, or is longer than any that a table has.
    """
    rows = csv.reader(StringIO(text, newline=""), _dialect(text))
    try:
        lines = list(row_lines(rows))
    except csv.Error as error:
        raise IngestError(f"the file is no table of separated values: {error}") from None
    return Document(name, "\n".join(lines), "text/csv")


def row_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Return a line for each row that holds something: `name: value; …` under a first row of names, else the values."""
    names: Sequence[str] | None = None
    for number, row in enumerate(_worded(rows)):
        if number == 0 and _are_names(row):
            names = row
            yield "; ".join(row)
        elif names is None:
            yield "; ".join(it for it in row if it)
        else:
            yield "; ".join(_cell(names, column, it) for column, it in enumerate(row) if it)


def _worded(rows: Iterable[Sequence[object]]) -> Iterator[Sequence[str]]:
    for row in rows:
        words = [_words(it) for it in row]
        while words and not words[-1]:
            words.pop()
        if words:
            yield words


def _cell(names: Sequence[str], column: int, text: str) -> str:
    return f"{names[column]}: {text}" if column < len(names) and names[column] else text


def _words(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - exact below that
        return str(int(value))
    if isinstance(value, datetime):
        return str(value.date() if value.time() == _MIDNIGHT else value.replace(microsecond=0))
    if isinstance(value, date | time):
        return value.isoformat()
    return " ".join(str(value).split())


def _are_names(row: Sequence[str]) -> bool:
    """Tell whether a first row names columns: more than one, all different, none of them a number."""
    return len(row) > 1 and len(set(row)) == len(row) and all(it and not _is_number(it) for it in row)


def _is_number(text: str) -> bool:
    return any(it.isdigit() for it in text) and not any(it.isalpha() for it in text)


def _dialect(text: str) -> type[csv.Dialect]:
    try:
        return csv.Sniffer().sniff(text[:_SAMPLE], _DELIMITERS)
    except csv.Error:
        return csv.excel
