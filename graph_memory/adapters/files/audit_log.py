"""The audit's log: JSON lines, appended by several processes, rotated by size."""

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
from filelock import FileLock, Timeout

from graph_memory.domain.errors import Unavailable
from graph_memory.domain.instants import to_wire
from graph_memory.domain.ledger import AuditEvent

LOCK_SECONDS = 10.0
_MODE = 0o600


class AuditLog:
    """Appends events to `path`; past `max_bytes` the file becomes `path.1`, at most `keep` of them.

    Writers of several processes take turns by a lock file beside it, so that no line is torn and none lost in rotation.
    """

    def __init__(self, path: Path, *, max_bytes: int, keep: int) -> None:
        self._path, self._max_bytes, self._keep = path, max_bytes, keep
        self._lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=LOCK_SECONDS, mode=_MODE)

    def append(self, events: Sequence[AuditEvent]) -> None:
        """Write events, one line each, flushed to the disk.

        Raises:
            Unavailable: the file can't be written, or its lock was not free within ten seconds.
        """
        lines = b"".join(orjson.dumps(_line(it), option=orjson.OPT_APPEND_NEWLINE) for it in events)
        try:
            with self._lock:
                self._rotate_when_full(len(lines))
                descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _MODE)
                try:
                    _write_all(descriptor, lines)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        except (OSError, Timeout) as error:
            raise Unavailable(f"the audit can't be written: {_reason(error)}") from error

    def mask(self, ids: Collection[str]) -> int:
        """Write over these ids, in the files as they lie, with as many bytes of something else.

        Nobody who appends is disturbed, and a process that dies here leaves whole lines.

        Raises:
            Unavailable: a file can't be written, or the lock was not free within ten seconds.
        """
        if not ids:
            return 0
        wanted = frozenset(ids)
        tokens = [orjson.dumps(it) for it in wanted]
        count = 0
        try:
            with self._lock:
                for path in (self._path, *(self._numbered(it) for it in range(1, self._keep + 1))):
                    with suppress(FileNotFoundError):
                        count += _mask_file(path, wanted, tokens)
        except (OSError, Timeout) as error:
            raise Unavailable(f"the audit can't be changed: {_reason(error)}") from error
        return count

    def _rotate_when_full(self, coming: int) -> None:
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return
        if size == 0 or size + coming <= self._max_bytes:
            return
        for number in range(self._keep - 1, 0, -1):
            with suppress(FileNotFoundError):
                self._numbered(number).replace(self._numbered(number + 1))
        self._path.replace(self._numbered(1))
        self._numbered(self._keep + 1).unlink(missing_ok=True)

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


def _line(event: AuditEvent) -> dict[str, object]:
    return {"id": event.id, "event": event.event, "timestamp": to_wire(event.at), "data": dict(event.data)}


def _mask_file(path: Path, ids: Collection[str], tokens: Sequence[bytes]) -> int:
    count = 0
    with path.open("r+b") as file:
        while line := file.readline():
            if not any(it in line for it in tokens):
                continue
            masked = _masked_line(line, ids)
            if masked is None or len(masked) != len(line):
                continue
            end = file.tell()
            file.seek(end - len(line))
            file.write(masked)
            file.seek(end)
            count += 1
        file.flush()
        os.fsync(file.fileno())
    return count


def _masked_line(line: bytes, ids: Collection[str]) -> bytes | None:
    """Return a line of the same length in which the data has none of these ids; `None` where it is none of ours."""
    try:
        event = orjson.loads(line)
        event["data"] = _masked(event["data"], ids)
    except (orjson.JSONDecodeError, TypeError, KeyError):
        return None
    return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)


def _masked(value: Any, ids: Collection[str]) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return "-" * (len(orjson.dumps(value)) - 2) if value in ids else value
    if isinstance(value, dict):
        return {name: _masked(it, ids) for name, it in value.items()}
    if isinstance(value, list):
        return [_masked(it, ids) for it in value]
    return value


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _reason(error: OSError | Timeout) -> str:
    return "its lock is held" if isinstance(error, Timeout) else (error.strerror or type(error).__name__)
