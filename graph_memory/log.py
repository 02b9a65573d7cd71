"""Logging: one line per event, JSON for machines and coloured for people, never on stdout.

A log line holds ids, counts and durations. Callers never pass stored text; as a second guard long values are cut, and
an exception is logged as its type and the places it came through: its message may quote what a person wrote, so it is
kept for our own operational errors and the system's alone (all of them at level `debug`).

structlog takes longer to import than the rest of a server's own modules together, so it is imported by the first line
that is written.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from graph_memory.domain.errors import ConfigError, StoreBusy, Unavailable

if TYPE_CHECKING:
    from structlog.typing import Processor

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_LONGEST = 300
"""Characters of one value in a line."""
_FRAMES = 12
_FIELDS = "graph_memory_fields"
_TELLING = (OSError, ConfigError, Unavailable, StoreBusy)
"""Errors whose messages name paths, settings and addresses, never stored text."""
_QUIETED = {
    "apscheduler": logging.WARNING,
    "asyncio": logging.WARNING,
    "httpx": logging.WARNING,
    "mcp": logging.WARNING,
    "neo4j": logging.ERROR,
    "watchdog": logging.WARNING,
}
"""Libraries that talk about every step; their own level counts where it is stricter."""


class Logger:
    """Writes events with fields: `log.info("job_end", job="decay", seconds=1.2)`."""

    __slots__ = ("_bound", "_logger")

    def __init__(self, logger: logging.Logger, bound: dict[str, object] | None = None) -> None:
        self._logger = logger
        self._bound = bound or {}

    def bind(self, **fields: object) -> Logger:
        """Return a logger that adds these fields to each line."""
        return Logger(self._logger, {**self._bound, **fields})

    def debug(self, event: str, /, **fields: object) -> None:
        """Write what only someone who looks for a fault wants to see."""
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        """Write what happened."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        """Write what works, but not as it should."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, /, *, error: BaseException | None = None, **fields: object) -> None:
        """Write what failed, with the exception that says where."""
        self._write(logging.ERROR, event, fields, error)

    def unexpected(self, event: str, /, error: BaseException, **fields: object) -> str:
        """Write a fault of our own and return the id to show instead of it."""
        found = error_id()
        self._write(logging.ERROR, event, {**fields, "error_id": found}, error)
        return found

    def _write(self, level: int, event: str, fields: dict[str, object], error: BaseException | None = None) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, event, extra={_FIELDS: {**self._bound, **fields}}, exc_info=error)


def get_logger(name: str) -> Logger:
    """Return the logger of a module; before `configure_logging` only warnings show, on stderr."""
    return Logger(logging.getLogger(name))


def error_id() -> str:
    """Return a new id that joins what a client was told to a line of the log."""
    return f"e-{secrets.token_hex(4)}"


def configure_logging(
    level: str = "info", *, file: Path | None = None, file_mb: int = 10, files: int = 5, stream: TextIO | None = None
) -> None:
    """Send all logging of this process where it belongs; calling it again replaces what was set before.

    With a `file`: JSON there, rotated by size and private to its owner, and on `stream` (default stderr) only where
    that is a terminal. Without: on `stream`, JSON unless it is a terminal. Raises `ConfigError` where the file can't be
    written.
    """
    out = sys.stderr if stream is None else stream
    handlers: list[logging.Handler] = []
    if file is not None:
        handlers.append(_open_file(file, file_mb, files))
        handlers[-1].setFormatter(_LazyFormatter(coloured=False))
    if file is None or out.isatty():
        handlers.append(logging.StreamHandler(out))
        handlers[-1].setFormatter(_LazyFormatter(coloured=out.isatty() and "NO_COLOR" not in os.environ))
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler.formatter, _LazyFormatter):
            root.removeHandler(handler)
            handler.close()
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(_LEVELS[level])
    for name, least in _QUIETED.items():
        logging.getLogger(name).setLevel(max(least, _LEVELS[level]))
    logging.captureWarnings(capture=True)


def fields_of(record: logging.LogRecord) -> Mapping[str, object] | None:
    """Return the fields that a `Logger` gave a record; `None` for a record of a library."""
    given: Mapping[str, object] | None = getattr(record, _FIELDS, None)
    return given


def log_problem() -> str | None:
    """Say why the log file can't be written, if the last line could not be."""
    files = (it for it in logging.getLogger().handlers if isinstance(it, _PrivateRotatingFile))
    return next((it.problem for it in files if it.problem is not None), None)


class _PrivateRotatingFile(RotatingFileHandler):
    """A rotated file that only its owner reads, whatever the umask.

    A line that can't be written (a full disk) is lost, and `problem` says so until one can be again: the default, a
    traceback on stderr for each of them, helps nobody.
    """

    problem: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.problem = None
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - as the base class has it
        error = sys.exception()
        reason = error.strerror if isinstance(error, OSError) else None
        self.problem = f"log: it can't be written: {reason or type(error).__name__}"

    def _open(self) -> Any:  # noqa: ANN401 - as the base class has it
        return open(
            self.baseFilename,
            self.mode,
            encoding=self.encoding,
            opener=lambda path, flags: os.open(path, flags | os.O_CLOEXEC, 0o600),
        )


def _open_file(file: Path, megabytes: int, files: int) -> logging.Handler:
    try:
        return _PrivateRotatingFile(
            file, maxBytes=megabytes * 1_048_576, backupCount=max(files - 1, 1), encoding="utf-8"
        )
    except OSError as error:
        raise ConfigError(f"The log {file} can't be written: {error.strerror}") from error


class _LazyFormatter(logging.Formatter):
    """Builds its structlog chain when the first line is written."""

    def __init__(self, *, coloured: bool) -> None:
        super().__init__()
        self._coloured = coloured
        self._chain: logging.Formatter | None = None

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        if self._chain is None:
            self._chain = _chain(coloured=self._coloured)
        return self._chain.format(record)


def _chain(*, coloured: bool) -> logging.Formatter:
    import orjson
    import structlog

    def as_json(_logger: object, _method: str, event: MutableMapping[str, Any]) -> str:
        return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()

    last: Processor = structlog.dev.ConsoleRenderer(colors=True) if coloured else as_json
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            _own_fields,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _without_messages,
            _cut,
        ],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
    )


def _own_fields(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the fields that a `Logger` was given."""
    for name, value in getattr(event["_record"], _FIELDS, {}).items():
        event.setdefault(name, value)
    return event


def _without_messages(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace a traceback by the exception's type and places; its message where that tells nothing of the content."""
    event.pop("exc_info", None)
    record: logging.LogRecord = event["_record"]
    error = record.exc_info[1] if record.exc_info else None
    record.exc_info = record.exc_text = None
    if error is not None:
        event["error"] = type(error).__qualname__
        if isinstance(error, _TELLING) or logging.getLogger().isEnabledFor(logging.DEBUG):
            event["reason"] = str(error)
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        event["at"] = [f"{Path(frame.filename).stem}:{frame.lineno} {frame.name}" for frame in frames]
    return event


def _cut(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        if isinstance(value, str) and len(value) > _LONGEST:
            event[name] = value[: _LONGEST - 1] + "…"
    return event
