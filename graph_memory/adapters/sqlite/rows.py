"""Values to columns and back."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson

from graph_memory.domain.entities import JsonValue, Provenance, SourceType
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import EPOCH, to_micros
from graph_memory.ports.graph_rows import Faded

_MAY_BE_LONG = re.compile(r"\d{19}")
"""Digits of an integer that may have more than 64 bits: orjson would read it as a float."""


def to_json(value: Mapping[str, JsonValue]) -> str:
    """Write properties or metadata as JSON text.

    Raises:
        InvalidRequest: it holds something that JSON or the store can't say.
    """
    return _written(dict(value))


def listed(values: Collection[JsonValue]) -> str:
    """Write a set of values as JSON text: one bound value, however many there are.

    Raises:
        InvalidRequest: one of them is something that JSON or the store can't say.
    """
    return _written(list(values))


def _written(value: JsonValue) -> str:
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):
        pass
    try:
        # Slower, but it also writes integers of more than 64 bits.
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"this can't be stored as JSON: {error}") from error
    return text


def from_json(text: str) -> dict[str, JsonValue]:
    """Read properties or metadata."""
    if text == "{}":
        return {}
    read: dict[str, JsonValue] = json.loads(text) if _MAY_BE_LONG.search(text) else orjson.loads(text)
    return read


def list_from_json(text: str) -> list[Any]:
    """Read a list."""
    read: list[Any] = [] if text == "[]" else orjson.loads(text)
    return read


def micros(at: datetime | None) -> int | None:
    """Write an instant, or none."""
    return None if at is None else to_micros(at)


def instant(value: int) -> datetime:
    """Read an instant."""
    return EPOCH + timedelta(microseconds=value)


def maybe_instant(value: int | None) -> datetime | None:
    """Read an instant, or none."""
    return None if value is None else EPOCH + timedelta(microseconds=value)


def beyond(after: str | None) -> tuple[str, str]:
    """Return how a page of texts in order begins: the comparison, and what is compared with.

    Without `after` even the empty text is in it.
    """
    return (">=", "") if after is None else (">", after)


def fading_rows(
    faded: Iterable[Faded], keys: Mapping[str, int], unknown: list[Faded]
) -> Iterator[tuple[float, int, int, str, float, int]]:
    """Yield faded values as they are written, one at a time; those whose key in the file is not given are `unknown`."""
    last, at = None, 0
    for value in faded:
        id_, old, new, until = value
        if until is not last:
            last, at = until, to_micros(until)
        key = keys.get(id_)
        if key is None:
            unknown.append(value)
        else:
            yield new, at, key, id_, old, at


def provenance_columns(source: Provenance) -> tuple[str, str | None, str | None, str | None, int | None]:
    """Write a provenance as five columns."""
    return source.source_type.value, source.session, source.transcript, source.file, source.memory_id


def provenance(
    source_type: str, session: str | None, transcript: str | None, file: str | None, memory_id: int | None
) -> Provenance:
    """Read a provenance from its five columns."""
    return Provenance(SourceType(source_type), session, transcript, file, memory_id)
