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
    `truncated`, and `next_offset` where the tool pages, else a hint.
    """
    whole = dict(reply)
    text = orjson.dumps(whole)
    if len(text) <= limit:
        return whole, text.decode()
    for page in paging:
        items = whole.get(page.field)
        if isinstance(items, str):
            whole[page.field] = _shortened(items, limit - (len(text) - len(orjson.dumps(items))) - _ROOM)
            whole["truncated"] = True
            text = orjson.dumps(whole)
            if len(text) <= limit:
                break
            continue
        if not isinstance(items, Sequence):
            continue
        rest = len(text) - sum(len(orjson.dumps(it)) + 1 for it in items)
        kept = _prefix(items, limit - rest - _ROOM)
        whole[page.field] = list(items[:kept])
        whole["truncated"] = True
        if page.has_offset:
            whole["next_offset"] = offset + kept
        else:
            whole["hint"] = NARROWER
        text = orjson.dumps(whole)
        if len(text) <= limit:
            break
    if len(text) > limit:
        whole = {"truncated": True, "hint": NARROWER}
        text = orjson.dumps(whole)
    return whole, text.decode()


def _shortened(text: str, room: int) -> str:
    """Return the longest beginning of a text whose JSON has at most `room` bytes."""
    low, high = 0, min(len(text), max(room, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if len(orjson.dumps(text[:middle])) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _prefix(items: Sequence[Any], room: int) -> int:
    """Count the first items that fit into `room` bytes."""
    for position, item in enumerate(items):
        room -= len(orjson.dumps(item)) + 1
        if room < 0:
            return position
    return len(items)
