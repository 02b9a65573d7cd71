"""Keys derived from content: the same words keep them under other ids, in a resumed or a forked session."""

from datetime import datetime
from hashlib import sha256

from graph_memory.domain.instants import to_wire


def turn_key(prompt: str, timestamp: datetime | None) -> str:
    """Return the key of a turn: 32 hex digits from its prompt's text and timestamp."""
    return _hash("turn", _written(timestamp), prompt)


def part_key(text: str, message_id: str | None, timestamp: datetime | None) -> str:
    """Return the key of a line of assistant text: its API message, or its timestamp where it names none; and text."""
    if message_id is not None:
        return _hash("message", message_id, text)
    return _hash("line", _written(timestamp), text)


def _written(timestamp: datetime | None) -> str:
    return "" if timestamp is None else to_wire(timestamp)


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
