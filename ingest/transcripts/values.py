"""The JSON values of one line, mended where the line was broken.

Whole lines are orjson's business; what comes here is what it refused: a byte-order mark, NULs that a crash left, a lone
surrogate, NaN, UTF-16 written into a UTF-8 file, two records on one line, a record behind the stump of another.
Nothing a line holds is an error; what can't be read is counted.
"""

import json
import re
from codecs import BOM_UTF8
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum

import orjson

_SPACE = b" \t\r\n"
_GAP = re.compile(r"[ \t\r\n\0]*")
# How a record begins: only its own first keys, so that a content block inside another record isn't taken for one.
_RECORD_START = re.compile(rb'\{\s*"(?:type|parentUuid|uuid|sessionId|isSidechain|timestamp)"\s*:')
_RECORD_KEYS = ("uuid", "sessionId", "leafUuid", "messageId")
# A stump may hold thousands of such beginnings; the record behind it is near the end of the line.
_MAX_CANDIDATES = 16
_NUL_PROBE = 256

_UNREADABLE = (ValueError, RecursionError)


class Repair(StrEnum):
    """What was done to read a line that is not plain JSON."""

    MARK = "byte_order_mark"
    NULS = "nul_bytes"
    UTF16 = "utf_16"
    LENIENT = "lenient_json"
    JOINED = "joined_records"
    SALVAGED = "salvaged_record"


@dataclass(slots=True)
class Mended:
    """What a broken line held: its values, how many stretches couldn't be read, and what helped."""

    values: list[object] = field(default_factory=list)
    unparseable: int = 0
    repair: Repair | None = None


def mend_line(raw: bytes) -> Mended:
    """Read what can be read of a line that orjson refused.

    A blank line is no values and nothing unparseable. Text read leniently may hold lone surrogates.
    """
    body = raw.strip(_SPACE)
    if not body:
        return Mended()
    bare = body.removeprefix(BOM_UTF8).strip(_SPACE + b"\0")
    if not bare:
        return Mended(unparseable=1 if b"\0" in body else 0)
    if len(bare) != len(body):
        repair = Repair.MARK if body.startswith(BOM_UTF8) else Repair.NULS
        mended = _whole(bare, repair)
        if mended is not None:
            return mended
    if b"\0" in raw[:_NUL_PROBE]:
        mended = _utf16(raw)
        if mended is not None:
            return mended
    return _lenient(bare)


def _whole(raw: bytes, repair: Repair) -> Mended | None:
    try:
        return Mended([orjson.loads(raw)], repair=repair)
    except orjson.JSONDecodeError:
        return None


def _utf16(raw: bytes) -> Mended | None:
    """Read a UTF-16 line that was cut at the line feed's byte: one of its two bytes stands in the next line."""
    body = raw.removesuffix(b"\n")
    for encoding, units in (("utf-16-le", body.removeprefix(b"\0")), ("utf-16-be", body)):
        try:
            text = units[: len(units) // 2 * 2].decode(encoding)
        except UnicodeDecodeError:
            continue
        mended = _whole(text.removeprefix("\ufeff").strip("\0\r\n").encode(), Repair.UTF16)
        if mended is not None:
            return mended
    return None


def _lenient(raw: bytes) -> Mended:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return _salvage(raw, Mended())
    try:
        return Mended([json.loads(text)], repair=Repair.LENIENT)
    except _UNREADABLE:
        return _joined(text)


def _joined(text: str) -> Mended:
    """Read records that stand on one line, one behind the other; anything but records in a row is not trusted."""
    decoder = json.JSONDecoder()
    found = Mended()
    position = 0
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except _UNREADABLE:
            break
        if not isinstance(value, dict):
            break
        found.values.append(value)
        found.repair = Repair.JOINED
        gap = _GAP.match(text, end)
        position = end if gap is None else gap.end()
    if position >= len(text):
        return found
    return _salvage(text[position:].encode("utf-8", "surrogatepass"), found)


def _salvage(raw: bytes, found: Mended) -> Mended:
    """Take the record that ends the line behind a stump: what a process writes after another died in mid-line."""
    found.unparseable += 1
    candidates = deque((match.start() for match in _RECORD_START.finditer(raw)), maxlen=_MAX_CANDIDATES)
    while candidates:
        start = candidates.pop()
        if start == 0:
            continue
        try:
            value = orjson.loads(raw[start:])
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict) and isinstance(value.get("type"), str) and any(k in value for k in _RECORD_KEYS):
            found.values.append(value)
            found.repair = Repair.SALVAGED
            break
    return found
