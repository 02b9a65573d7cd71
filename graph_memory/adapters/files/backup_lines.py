"""The lines of a backup: a header, rows, and an end with counts and a hash over the rows."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from graph_memory.domain.backups import FORMAT, ROW_KINDS, VERSION, BackupRow, StoredRow, is_in_range
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import parse_instant, to_wire

_MAY_BE_LONG = re.compile(rb"[:\[,]\s*-?\d{19}")
"""Digits of an integer that may have more than 64 bits: orjson would read it as a float."""
_KIND = b'{"kind":"'
_KIND_OF = {row: kind for kind, row in ROW_KINDS.items()}


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(ROW_KINDS[kind])


class BackupLine:
    """A row by its line."""

    __slots__ = ("_file", "_read", "kind", "line", "number")

    def __init__(self, line: bytes, number: int, file: str) -> None:
        self.line, self.number, self._file = line, number, file
        self._read: Mapping[str, Any] | None = None
        self.kind = ""
        if line.startswith(_KIND):  # as we write them: what it is stands first
            self.kind = line[len(_KIND) : line.find(b'"', len(_KIND))].decode(errors="replace")
        if self.kind not in ROW_KINDS:
            self.kind = str(self._parsed().get("kind"))

    def _parsed(self) -> Mapping[str, Any]:
        if self._read is None:
            self._read = _parsed(self.line, self._file, self.number)
        return self._read

    def _exact(self) -> Mapping[str, Any]:
        return (
            _parsed(self.line, self._file, self.number, is_exact=True)
            if _MAY_BE_LONG.search(self.line)
            else self._parsed()
        )

    @property
    def is_end(self) -> bool:
        """Tell whether it is no row but the end."""
        return self.kind not in ROW_KINDS and "end" in self._parsed()

    @property
    def end(self) -> Mapping[str, Any]:
        """What the end says."""
        return self._parsed()

    @property
    def fields(self) -> Mapping[str, Any]:
        """What the row says."""
        fields = self._parsed().get("row")
        if not isinstance(fields, dict):
            raise _damaged(self._file, self.number, "is no row of a backup")
        return fields

    @property
    def row(self) -> BackupRow:
        """What the row is."""
        return _decoded(self._exact(), self._file, self.number)


class WholeBackup:
    """A backup read from its header to its end; what it has of figures is known in the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.counts: Counter[str] = Counter()
        self.sha256 = ""
        with path.open("rb") as lines:
            self.exported_at = read_header(next(lines, b""), path.name)

    def lines(self) -> Iterator[BackupLine]:
        """Yield the rows.

        Raises:
            InvalidRequest: the backup is cut off or was changed.
        """
        name, digest, number = self._path.name, hashlib.sha256(), 1
        end: BackupLine | None = None
        with self._path.open("rb") as lines:
            next(lines, None)
            for number, raw in enumerate(lines, start=2):
                if end is not None:
                    raise _damaged(name, number, "stands after the end of the backup")
                line = BackupLine(raw, number, name)
                if line.is_end:
                    end = line
                    continue
                self.counts[line.kind] += 1
                digest.update(raw)
                yield line
        if end is None:
            raise _damaged(name, number, "is the last one; the end of the backup is cut off")
        self.sha256 = digest.hexdigest()
        if end.end.get("sha256") != self.sha256 or end.end.get("counts") != dict(self.counts):
            raise _damaged(name, number, "does not fit the lines before it; the backup was changed")


def write_rows(
    write: Callable[[bytes], object], rows: Iterable[StoredRow | BackupRow], at: datetime
) -> tuple[Mapping[str, int], str]:
    """Write a whole backup; return its counts and hash."""
    write(_line({"format": FORMAT, "version": VERSION, "exported_at": to_wire(at)}))
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    for row in rows:
        kind, line = (row.kind, row.line) if isinstance(row, BackupLine) else _encoded(row)
        counts[kind] += 1
        digest.update(line)
        write(line)
    write(_line({"end": True, "counts": dict(counts), "sha256": digest.hexdigest()}))
    return dict(counts), digest.hexdigest()


def read_header(line: bytes, file: str) -> datetime:
    """Return when a backup was made, as its first line says.

    Raises:
        InvalidRequest: it is none of ours, or of another format.
    """
    header: Mapping[str, Any] = {}
    with suppress(InvalidRequest):
        header = _parsed(line, file, 1)
    if header.get("format") != FORMAT:
        raise _damaged(file, 1, "is no backup of graph-memory")
    if header.get("version") != VERSION:
        raise _damaged(file, 1, f"says format {header.get('version')}; this program reads {VERSION}")
    try:
        return parse_instant(str(header.get("exported_at")), argument="exported_at").at
    except InvalidRequest as error:
        raise _damaged(file, 1, "does not say when it was exported") from error


def _encoded(row: StoredRow | BackupRow) -> tuple[str, bytes]:
    value: Any = row
    kind = _KIND_OF[type(value)]
    return kind, _line({"kind": kind, "row": _adapter(kind).dump_python(value, mode="json")})


def _line(value: Mapping[str, object]) -> bytes:
    # Sorted names: stores differ in the order of properties, and equal stores give equal bodies.
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer of more than 64 bits
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
        return f"{text}\n".encode()


def _parsed(line: bytes, file: str, number: int, *, is_exact: bool = False) -> Mapping[str, Any]:
    try:
        row = json.loads(line) if is_exact else orjson.loads(line)
    except ValueError as error:
        raise _damaged(file, number, "is cut off or was changed") from error
    if not isinstance(row, dict):
        raise _damaged(file, number, "is no row of a backup")
    return row


def _decoded(row: Mapping[str, Any], file: str, number: int) -> BackupRow:
    try:
        found: BackupRow = _adapter(str(row["kind"])).validate_python(row["row"])
    except (KeyError, ValidationError) as error:
        raise _damaged(file, number, "is no row of a backup") from error
    if not is_in_range(found):
        raise _damaged(file, number, "has a weight or confidence outside of 0 to 1")
    return found


def _damaged(file: str, number: int, what: str) -> InvalidRequest:
    return InvalidRequest(f"file: {Path(file).name}: line {number} {what}", argument="file")
