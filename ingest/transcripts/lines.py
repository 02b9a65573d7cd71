"""The lines of a transcript, from a byte offset.

A line ends at a line feed byte and nowhere else: U+2028, U+0085 and carriage returns stand inside strings.
"""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from typing import BinaryIO

_UTF16 = {BOM_UTF16_LE: "utf-16-le", BOM_UTF16_BE: "utf-16-be"}
_LINE_FEED = 0x0A
_LINE_FEEDS = {"utf-16-le": b"\n\0", "utf-16-be": b"\0\n"}


# Where the line begins, where the next one does, its bytes as UTF-8 with the line feed, and whether it has one yet.
# A bare tuple: a transcript has hundreds of thousands of them.
Line = tuple[int, int, bytes, bool]


def iter_lines(stream: BinaryIO, offset: int = 0) -> Iterator[Line]:
    """Read lines from `offset`, which must be 0 or the `end` of a line.

    The last line may be unfinished: its writer is still at it, or died. Memory is bounded by the longest line.
    A file that begins with a UTF-16 mark is read as UTF-16 throughout; its offsets stay those of the file.
    """
    stream.seek(0)
    encoding = _UTF16.get(stream.read(2))
    stream.seek(offset)
    if encoding is not None:
        yield from _utf16_lines(stream, offset, encoding)
        return
    readline = stream.readline
    while raw := readline():
        end = offset + len(raw)
        yield offset, end, raw, raw[-1] == _LINE_FEED
        raw = b""  # the next line may be as huge: not both at once
        offset = end


def _utf16_lines(stream: BinaryIO, offset: int, encoding: str) -> Iterator[Line]:
    line_feed = _LINE_FEEDS[encoding]
    units = bytearray()
    while piece := stream.readline():
        units += piece
        if encoding == "utf-16-le" and piece.endswith(b"\n") and len(units) % 2 == 1:
            units += stream.read(1)  # the high byte, which tells a line feed from U+010A
        if len(units) % 2 == 0 and units.endswith(line_feed):
            yield _utf16_line(units, offset, encoding, is_finished=True)
            offset += len(units)
            units = bytearray()
    if units:
        yield _utf16_line(units, offset, encoding, is_finished=False)


def _utf16_line(units: bytearray, offset: int, encoding: str, *, is_finished: bool) -> Line:
    text = units.decode(encoding, errors="replace")
    return offset, offset + len(units), text.encode(), is_finished
