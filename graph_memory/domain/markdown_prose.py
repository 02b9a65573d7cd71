"""What of a Markdown text is prose: code, HTML and escaped characters are masked, every offset stays."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from graph_memory.domain.markdown_blocks import Block, BlockKind, iter_blocks
from graph_memory.domain.markdown_syntax import TAG

MASK = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for each character that is no prose; neither a letter nor white space."""

_NO_PROSE = frozenset({BlockKind.FENCE, BlockKind.CODE, BlockKind.HTML})
_SPECIAL = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<")
_TICKS = re.compile(r"`+")
_TAG_OR_AUTOLINK = re.compile(rf"<[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^<>\x00-\x20]*>|{TAG}")
_LONG_HTML = (("<!-->", ""), ("<!--->", ""), ("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))
_DECLARATION = re.compile(r"<![A-Za-z]")


def mask_code(text: str) -> str:
    """Return the text with `MASK` for everything that is no prose: same length, same lines.

    Code spans, fenced and indented code, HTML blocks, tags, comments, and characters after a backslash. Linear.
    """
    if not _may_hold_code(text):
        return text
    masked = sorted(_find_masked(text))
    parts: list[str] = []
    done = 0
    for start, end in masked:
        if end <= done:
            continue
        first = max(start, done)
        parts += (text[done:first], _masked(text[first:end]))
        done = end
    parts.append(text[done:])
    return "".join(parts)


def _masked(part: str) -> str:
    return "\n".join(MASK * len(line) for line in part.split("\n"))


def _may_hold_code(text: str) -> bool:
    return any(sign in text for sign in ("`", "<", "\\", "    ", "\t", "~~~"))


def _find_masked(text: str) -> Iterator[tuple[int, int]]:
    for block in iter_blocks(text):
        if block.kind in _NO_PROSE:
            yield block.start, block.end
        elif _SPECIAL.search(text, block.start, block.end) is None:
            continue
        elif block.kind is BlockKind.TABLE:
            for start, end in block.ranges:
                for first, last in _inline_masks(text[start:end]):
                    yield start + first, start + last
        else:
            yield from _paragraph_masks(text, block)


def _paragraph_masks(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """Mask across lines, since a code span may go on behind the mark of a quote on the next line."""
    joined = _Joined.of(text, block.ranges)
    for first, last in _inline_masks(joined.text):
        yield joined.at(first), joined.at(last - 1) + 1


@dataclass(frozen=True, slots=True)
class _Joined:
    """The lines of a paragraph as one text, and where each of them stands."""

    text: str
    starts: Sequence[int] = field(default_factory=list)
    shifts: Sequence[int] = field(default_factory=list)

    @classmethod
    def of(cls, text: str, ranges: Sequence[tuple[int, int]]) -> "_Joined":
        starts: list[int] = []
        shifts: list[int] = []
        length = 0
        for start, end in ranges:
            starts.append(length)
            shifts.append(start - length)
            length += end - start + 1
        return cls("\n".join(text[start:end] for start, end in ranges), starts, shifts)

    def at(self, offset: int) -> int:
        return offset + self.shifts[bisect_right(self.starts, offset) - 1]


def _inline_masks(text: str) -> Iterator[tuple[int, int]]:
    """Yield code spans, tags, comments and escapes from left to right; what begins first wins."""
    ticks = _Ticks(text)
    html = _LongHtml(text)
    at = 0
    while found := _SPECIAL.search(text, at):
        start, at = found.span()
        if text[start] == "\\":
            yield start, at
        elif text[start] == "`":
            end = ticks.closing(at, at - start)
            if end is not None:
                yield start, end
                at = end
        else:
            end = html.end(start)
            if end is not None:
                yield start, end
                at = end


class _Ticks:
    """Where runs of back-quotes stand, by length, so that looking for the closing one costs no second reading."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: dict[int, list[int]] | None = None

    def closing(self, at: int, length: int) -> int | None:
        if self._starts is None:
            self._starts = {}
            for run in _TICKS.finditer(self._text):
                self._starts.setdefault(run.end() - run.start(), []).append(run.start())
        starts = self._starts.get(length, [])
        index = bisect_left(starts, at)
        return starts[index] + length if index < len(starts) else None


class _LongHtml:
    """Finds where HTML that begins at `<` ends; remembers what has no end, so that nobody looks for it again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._endless: set[str] = set()

    def end(self, start: int) -> int | None:
        tag = _TAG_OR_AUTOLINK.match(self._text, start)
        if tag is not None:
            return tag.end()
        for begins, ends in _LONG_HTML:
            if self._text.startswith(begins, start):
                return self._find(ends, start + len(begins)) if ends else start + len(begins)
        return self._find(">", start) if _DECLARATION.match(self._text, start) else None

    def _find(self, ends: str, start: int) -> int | None:
        if ends in self._endless:
            return None
        found = self._text.find(ends, start)
        if found < 0:
            self._endless.add(ends)
            return None
        return found + len(ends)
