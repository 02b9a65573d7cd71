"""Warnings and errors of the log, counted by kind, so that nobody has to read the log to know that there are some."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from graph_memory.domain.instants import to_wire
from graph_memory.log import fields_of
from graph_memory.presence import SeenError

MOST_KINDS = 50
"""Kinds are names of events in our code and loggers of libraries, so there are few; this bounds them all the same."""


@dataclass(frozen=True, slots=True)
class _Kind:
    level: str
    count: int
    last_at: float
    reference: str | None


class Incidents(logging.Handler):
    """Counts what is logged as a warning or worse; hang it into the root logger. Holds no text of a message."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._kinds: dict[str, _Kind] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Count a record by the name of its event; one of a library by the name of its logger."""
        given = fields_of(record)
        name = str(record.msg) if given is not None else record.name
        reference = None if given is None else given.get("error_id")
        known = self._kinds.get(name)
        if known is None and len(self._kinds) >= MOST_KINDS:
            return
        new = _Kind(record.levelname.lower(), 1, record.created, None if reference is None else str(reference))
        self._kinds[name] = new if known is None else replace(new, count=known.count + 1)

    def seen(self) -> Sequence[SeenError]:
        """List the kinds, the last one first."""
        kinds = sorted(self._kinds.copy().items(), key=lambda pair: -pair[1].last_at)
        return [
            SeenError(name, it.level, it.count, to_wire(datetime.fromtimestamp(it.last_at, UTC)), it.reference)
            for name, it in kinds
        ]
