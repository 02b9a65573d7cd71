"""Long texts in pieces that a reader and a search can take in."""

from collections.abc import Iterator
from itertools import pairwise

from graph_memory.domain.markdown_blocks import BlockKind, iter_blocks

WHOLE = 6_000
CHUNK = 1_500


def split_text(text: str, *, whole: int = WHOLE, chunk: int = CHUNK) -> tuple[str, ...]:
    """Split a text of more than `whole` characters into pieces of about `chunk`; together they are the text.

    Pieces begin at headings and paragraphs; inside one, at lines, sentences or words, only where it alone is longer
    than twice `chunk`. Linear.
    """
    if len(text) <= whole:
        return (text,)
    return tuple(_packed(text, list(_cuts(text, chunk)), chunk))


def _cuts(text: str, chunk: int) -> Iterator[tuple[int, bool]]:
    """Yield where a piece may begin, in order, and whether a heading stands there."""
    starts = [(block.start, block.kind is BlockKind.HEADING) for block in iter_blocks(text)]
    starts = [(0, False), *((at, is_heading) for at, is_heading in starts if at > 0), (len(text), False)]
    for (start, is_heading), (end, _) in pairwise(starts):
        if end > start:
            yield start, is_heading
        at = start
        while end - at > 2 * chunk:
            at = _inner_cut(text, at, at + chunk)
            yield at, False


def _inner_cut(text: str, start: int, wanted: int) -> int:
    """Return the best place to cut at or before `wanted`: after a line, a sentence, a word, else right there."""
    earliest = start + (wanted - start) // 2
    for mark in ("\n", ". ", "。", " "):
        at = text.rfind(mark, earliest, wanted)
        if at >= 0:
            return at + len(mark)
    return wanted


def _packed(text: str, cuts: list[tuple[int, bool]], chunk: int) -> Iterator[str]:
    """Yield pieces: a heading begins a new one once half of `chunk` is full, any block once it would overflow."""
    start = 0
    ends = [at for at, _ in cuts[1:]] + [len(text)]
    for (at, is_heading), end in zip(cuts, ends, strict=True):
        is_full = at - start >= chunk // 2 if is_heading else end - start > chunk
        if at > start and is_full:
            yield text[start:at]
            start = at
    if start < len(text):
        yield text[start:]
