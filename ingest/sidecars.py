"""Sidecars: what somebody says of a document, in `<file>.meta.json` beside it or in the `meta` of a queue call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

import orjson

from graph_memory.domain.entities import JsonValue
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import parse_instant
from graph_memory.domain.redaction import redact
from graph_memory.domain.weights import clamped

SUFFIX = ".meta.json"
MAX_BYTES = 256 * 1024
_MAX_DEPTH = 20
_NOTHING: Mapping[str, JsonValue] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sidecar:
    """What is known of a document besides its text, redacted.

    `values` are all keys, unknown ones included, without those whose value can't be used; `problems` says which and
    why.
    """

    values: Mapping[str, JsonValue] = field(default_factory=lambda: _NOTHING)
    problems: tuple[str, ...] = ()

    @property
    def source(self) -> str | None:
        """Where the document came from."""
        return _text(self.values.get("source"))

    @property
    def authors(self) -> tuple[str, ...]:
        """Who wrote it."""
        return _texts(self.values.get("author"))

    @property
    def written_at(self) -> datetime | None:
        """When it was written."""
        date = _text(self.values.get("date"))
        return None if date is None else parse_instant(date, argument="date").at

    @property
    def topic_hints(self) -> tuple[str, ...]:
        """What it is about."""
        return _texts(self.values.get("topic_hints"))

    @property
    def weight(self) -> float | None:
        """What its relations weigh, brought within 0–1, where that was said."""
        weight = self.values.get("weight_override")
        return clamped(float(weight)) if isinstance(weight, int | float) else None

    @property
    def session_id(self) -> str | None:
        """The session it is a record of."""
        return _text(self.values.get("session_id"))

    @property
    def project_id(self) -> str | None:
        """The project it belongs to."""
        return _text(self.values.get("project_id")) or _text(self.values.get("project"))


def is_sidecar(name: str) -> bool:
    """Tell whether a file of that name is a sidecar."""
    return name.endswith(SUFFIX)


def document_name(sidecar_name: str) -> str:
    """Return the name of the document that a sidecar is of."""
    return sidecar_name.removesuffix(SUFFIX)


def read_sidecar(file: Path) -> Sidecar:
    """Read a sidecar; what can't be read or used is a problem and stops nothing."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            return Sidecar(problems=(f"the sidecar is larger than {MAX_BYTES} bytes",))
        found = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        return Sidecar(problems=(f"the sidecar can't be read: {error.strerror}",))
    except orjson.JSONDecodeError:
        return Sidecar(problems=("the sidecar is not JSON",))
    if not isinstance(found, dict):
        return Sidecar(problems=("the sidecar is no JSON object",))
    return _checked(found)


def sidecar_of(meta: Mapping[str, JsonValue]) -> Sidecar:
    """Take what a caller says of a document.

    Raises:
        InvalidRequest: a value can't be used, or all is too much; the text names the key.
    """
    try:
        size = len(orjson.dumps(dict(meta)))
    except (orjson.JSONEncodeError, RecursionError):
        raise InvalidRequest("meta: is not plain JSON", argument="meta") from None
    if size > MAX_BYTES:
        raise InvalidRequest(f"meta: has {size} bytes; at most {MAX_BYTES} are kept", argument="meta")
    sidecar = _checked(dict(meta))
    if sidecar.problems:
        raise InvalidRequest(f"meta: {sidecar.problems[0]}", argument="meta")
    return sidecar


def joined(earlier: Mapping[str, JsonValue], later: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Lay what was said later over what was said before."""
    return {**earlier, **later}


def _checked(found: Mapping[str, JsonValue]) -> Sidecar:
    values: dict[str, JsonValue] = {}
    problems = []
    for name, value in found.items():
        complaint = _CHECKS[name](value) if name in _CHECKS and value is not None else None
        if complaint is None:
            values[_clean(name)] = _cleaned(value)
        else:
            problems.append(f"{name} {complaint}")
    return Sidecar(values, tuple(problems))


def _is_text(value: JsonValue) -> str | None:
    return None if isinstance(value, str) else "is not text"


def _is_instant(value: JsonValue) -> str | None:
    if not isinstance(value, str):
        return "is not a date"
    try:
        parse_instant(value, argument="date")
    except InvalidRequest:
        return "is not an ISO-8601 date, or date and time"
    return None


def _is_weight(value: JsonValue) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return None if is_number else "is not a number"


def _are_texts(value: JsonValue) -> str | None:
    if isinstance(value, str):
        return None
    is_list = isinstance(value, list) and all(isinstance(it, str) for it in value)
    return None if is_list else "is not a list of texts"


_CHECKS: Mapping[str, Callable[[JsonValue], str | None]] = {
    "source": _is_text,
    "author": _are_texts,
    "date": _is_instant,
    "topic_hints": _are_texts,
    "weight_override": _is_weight,
    "session_id": _is_text,
    "through": _is_instant,
    "last_event_id": _is_text,
    "project_id": _is_text,
}


def _cleaned(value: JsonValue, depth: int = 0) -> JsonValue:
    """Redact every text; what is nested deeper than anybody writes is left out."""
    if isinstance(value, str):
        return _clean(value)
    if depth >= _MAX_DEPTH:
        return None
    if isinstance(value, list):
        return [_cleaned(it, depth + 1) for it in value]
    if isinstance(value, dict):
        return {_clean(name): _cleaned(it, depth + 1) for name, it in value.items()}
    return value


def _clean(text: str) -> str:
    storable = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return redact(storable).text


def _text(value: JsonValue) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _texts(value: JsonValue) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    found = (_text(it) for it in items)
    return tuple(dict.fromkeys(it for it in found if it is not None))
