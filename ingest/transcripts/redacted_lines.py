"""A line of a transcript without its secrets, as whoever keeps whole lines needs it."""

import orjson

from graph_memory.domain.redaction import redact, redact_bytes

_ESCAPES = (b"\\u", b"\\\\")
"""What JSON in JSON, or letters written as numbers, look like: there a secret's surroundings look like others."""


def redacted_line(line: bytes) -> tuple[bytes, int]:
    """Return a line of JSON without its secrets, and how many there were; it stays the record that it was.

    The rules know how JSON writes quotes and line feeds. What is escaped twice they read as it was meant.
    """
    redacted = redact_bytes(line)
    count = sum(redacted.counts.values())
    if not any(it in line for it in _ESCAPES):
        return redacted.data, count
    try:
        value = orjson.loads(redacted.data)
    except orjson.JSONDecodeError:
        return redacted.data, count
    strings = _Strings()
    cleaned = strings.without_secrets(value)
    if not strings.count:
        return redacted.data, count
    end = b"\n" if line.endswith(b"\n") else b""
    return orjson.dumps(cleaned) + end, count + strings.count


class _Strings:
    """Redacts the strings of a record that are not written as they are read; counts what it took out."""

    def __init__(self) -> None:
        self.count = 0

    def without_secrets(self, value: object) -> object:
        if isinstance(value, str):
            if value.isascii() and "\\" not in value:
                return value
            redacted = redact(value)
            self.count += sum(redacted.counts.values())
            return redacted.text
        if isinstance(value, dict):
            return {self.without_secrets(name): self.without_secrets(it) for name, it in value.items()}
        if isinstance(value, list):
            return [self.without_secrets(it) for it in value]
        return value
