"""Replies within their bounds."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from mcp_server.catalogue import Paging

NARROWER = "The reply was cut to fit; ask a narrower question."
_ROOM = 256
"""Bytes left for what says that a reply was cut."""


def fitted(
    reply: Mapping[str, Any], paging: Sequence[Paging], *, offset: int, limit: int
) -> tuple[dict[str, Any], str]:
    """Return a reply of at most `limit` bytes with its JSON text.

    Too long, it loses items from the end of its lists (of a text: characters), in the order of `paging`, and says so:
    `truncated`, and `next_offset` where the tool pages, else a hint. Where not even the first item of a page fits, its
    longest texts are cut; should that not help, the page goes on behind it, so that whoever follows `next_offset`
    comes to an end.
    """
    whole = dict(reply)
    if (text := orjson.dumps(whole)) and len(text) <= limit:
        return whole, text.decode()
    whole["truncated"] = True
    for page in paging:
        _cut(whole, page, offset, limit - _ROOM)
        text = orjson.dumps(whole)
        if len(text) <= limit:
            return whole, text.decode()
    whole = shrunk(whole, limit - _ROOM)
    whole["hint"] = NARROWER
    text = orjson.dumps(whole)
    if len(text) > limit:
        whole = {"truncated": True, "hint": NARROWER}
        text = orjson.dumps(whole)
    return whole, text.decode()


def _cut(whole: dict[str, Any], page: Paging, offset: int, limit: int) -> None:
    """Shorten what one paging names, as far as the whole needs it."""
    *path, name = page.field.split(".")
    owner: Any = whole
    for part in path:
        owner[part] = owner = dict(owner.get(part, {}))
    value = owner.get(name)
    if value is None:
        return
    room = limit - (_size(whole) - _size(value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        kept = _prefix(value, room)
        owner[name] = value[:kept]
        if kept == 0 and value:
            first = shrunk(value[0], room - 2)
            owner[name] = [first] if _size(first) <= room - 2 else []
            kept = 1
        if page.count:
            whole[page.count] = len(owner[name])
        if page.has_offset:
            whole["next_offset"] = offset + kept
            return
    else:
        owner[name] = _map_prefix(value, room) if isinstance(value, Mapping) else shrunk(value, room)
    whole["hint"] = NARROWER


def shrunk(value: Any, room: int) -> Any:  # noqa: ANN401 - any JSON
    """Return a value of the same shape whose JSON has at most `room` bytes, where its lists and texts can give that.

    The longest part gives way first; no key of an object goes.
    """
    if isinstance(value, str):
        return _shortened(value, room)
    if isinstance(value, Mapping):
        return _shrunk_mapping(dict(value), room)
    if isinstance(value, Sequence):
        kept = _prefix(value, room)
        return list(value[:kept]) if kept or not value else [shrunk(value[0], room - 2)]
    return value


def _shrunk_mapping(value: dict[str, Any], room: int) -> dict[str, Any]:
    by_size = sorted(value, key=lambda name: -_size(value[name]))
    for name in by_size:
        excess = _size(value) - room
        if excess <= 0:
            break
        value[name] = shrunk(value[name], _size(value[name]) - excess)
    return value


def _size(value: Any) -> int:  # noqa: ANN401 - any JSON
    return len(orjson.dumps(value))


def _shortened(text: str, room: int) -> str:
    """Return the longest beginning of a text whose JSON has at most `room` bytes."""
    low, high = 0, min(len(text), max(room, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if _size(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _prefix(items: Sequence[Any], room: int) -> int:
    """Count the first items whose list has at most `room` bytes."""
    room -= 1
    for position, item in enumerate(items):
        room -= _size(item) + 1
        if room < 0:
            return position
    return len(items)


def _map_prefix(items: Mapping[str, Any], room: int) -> dict[str, Any]:
    """Return the first entries that fit into `room` bytes."""
    kept = _prefix([[name, value] for name, value in items.items()], room)
    return dict(list(items.items())[:kept])
