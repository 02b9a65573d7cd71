"""Long texts in pieces that a reader and a search can take in."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from graph_memory.domain.markdown_blocks import BlockKind, iter_blocks

WHOLE = 6_000
CHUNK = 1_500
_SMALLEST = 5
"""A last piece of less than the fifth part of a chunk is added to the one before."""
_ENDS_BEST = ("\n", ". ", "。", "! ", "? ", "; ", ", ", " ")


def split_text(text: str, *, whole: int = WHOLE, chunk: int = CHUNK) -> tuple[str, ...]:
    """Split a text of more than `whole` characters into pieces of about `chunk`; together they are the text.

    Pieces begin at headings and paragraphs, and no heading is left at the end of one. A fence, list or paragraph is cut
    at its lines, sentences or words only where it alone is longer than twice `chunk`; no piece is longer than thrice.
    Linear.
    """
    if len(text) <= whole:
        return (text,)
    return tuple(_packed(text, chunk))


class _Unit(NamedTuple):
    """A part of a text that stays in one piece."""

    start: int
    end: int
    is_heading: bool = False


def _units(text: str, chunk: int) -> Iterator[_Unit]:
    """Yield a text's blocks, each with the blank lines below it, long ones in parts."""
    for (start, is_heading), (end, _) in pairwise(_starts(text)):
        at = start
        while end - at > 2 * chunk:
            cut = _inner_cut(text, at, at + chunk)
            yield _Unit(at, cut)
            at = cut
        yield _Unit(at, end, is_heading and at == start)


def _starts(text: str) -> Iterator[tuple[int, bool]]:
    """Yield where the text, each block and its end begin, and whether a heading does."""
    at = -1
    for block in iter_blocks(text):
        if at < 0 < block.start:
            yield 0, False
        at = block.start
        yield at, block.kind is BlockKind.HEADING
    if at < 0:
        yield 0, False
    yield len(text), False


def _inner_cut(text: str, start: int, wanted: int) -> int:
    """Return the best place to cut at or before `wanted`: after a line, a sentence, a word, else right there."""
    earliest = start + (wanted - start) // 2
    for mark in _ENDS_BEST:
        at = text.rfind(mark, earliest, wanted)
        if at >= 0:
            return at + len(mark)
    return wanted


def _packed(text: str, chunk: int) -> Iterator[str]:
    """Yield pieces: a heading begins a new one once half of `chunk` is full, any unit once it would overflow."""
    start, end = 0, 0
    headings: int | None = None  # where the headings begin that end the piece
    last: str | None = None
    for unit in _units(text, chunk):
        is_full = end - start >= chunk // 2 if unit.is_heading and headings is None else unit.end - start > chunk
        cut = end if headings is None or unit.is_heading else headings
        if is_full and cut > start:
            if last is not None:
                yield last
            last, start = text[start:cut], cut
        if not unit.is_heading:
            headings = None
        elif headings is None or headings < start:
            headings = unit.start
        end = unit.end
    rest = text[start:]
    if last is not None and len(rest) * _SMALLEST < chunk:
        yield last + rest
        return
    if last is not None:
        yield last
    if rest:
        yield rest
