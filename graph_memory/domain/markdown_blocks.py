"""The block structure of Markdown, as CommonMark with tables has it, in one pass over the lines.

A parser that builds tokens for everything reads 3 MB/s and holds twenty times the text; what is needed here is only
where code and HTML are, and where paragraphs and headings begin. Tests hold it to what markdown-it reads.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from graph_memory.domain.markdown_syntax import (
    BLANK,
    CLOSING_HASHES,
    CODE_INDENT,
    DELIMITER_ROW,
    FENCE,
    HEADING,
    HTML,
    MARKER,
    MAX_DEPTH,
    RULE,
    SETEXT,
    TAB,
    TABLE_BEGINS,
    cells,
    length_of_run,
)


class BlockKind(Enum):
    """What a leaf block is."""

    PARAGRAPH = auto()
    HEADING = auto()
    TABLE = auto()
    FENCE = auto()
    CODE = auto()
    HTML = auto()


@dataclass(frozen=True, slots=True)
class Block:
    """A leaf block: whole lines from `start` up to `end`, in characters.

    `ranges` are the parts of its lines that are its content, without the marks of quotes and lists: the lines of a
    paragraph or heading, the cells of a table, nothing of code and HTML. `level` is a heading's, 1–6. A block inside a
    quote or list item has `depth` > 0.
    """

    kind: BlockKind
    start: int
    end: int
    ranges: tuple[tuple[int, int], ...] = ()
    level: int = 0
    depth: int = 0


def iter_blocks(text: str) -> Iterator[Block]:
    """Yield the leaf blocks of a text in order; linear, and no more in memory than one block."""
    reader = _Reader(text)
    start, length = 0, len(text)
    while start < length:
        newline = text.find("\n", start)
        end = length if newline < 0 else newline
        yield from reader.read_line(start, end - 1 if end > start and text[end - 1] == "\r" else end)
        start = end + 1
    yield from reader.close(length)


_QUOTE = -1
"""Marks a quote in the stack of containers; list items stand there by the columns of their content."""


@dataclass(slots=True)
class _Item:
    """A container: a quote, or a list item whose content stands `columns` from its parent's."""

    columns: int
    is_empty: bool = False


@dataclass(slots=True)
class _Leaf:
    """The block that is being read."""

    kind: BlockKind
    start: int
    depth: int
    ranges: list[tuple[int, int]] = field(default_factory=list)
    fence: str = ""
    ending: re.Pattern[str] | None = None
    level: int = 0
    last_end: int = 0
    starts: list[int] = field(default_factory=list)


class _Reader:
    """Reads line by line; what stands before `_at` on the current line is taken by containers."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._containers: list[_Item] = []
        self._leaf: _Leaf | None = None
        self._line_start = self._at = self._end = self._column = self._left_of_tab = 0

    # columns

    def _indent(self) -> tuple[int, int]:
        """Return the columns of white space ahead, and where they end."""
        width, column, at, text = self._left_of_tab, self._column, self._at, self._text
        while at < self._end:
            letter = text[at]
            if letter == " ":
                step = 1
            elif letter == "\t":
                step = TAB - column % TAB
            else:
                break
            width, column, at = width + step, column + step, at + 1
        return width, at

    def _advance(self, columns: int) -> None:
        """Take columns of white space; a tab may be taken in part."""
        taken = min(columns, self._left_of_tab)
        self._left_of_tab -= taken
        columns -= taken
        while columns > 0 and self._at < self._end:
            step = TAB - self._column % TAB if self._text[self._at] == "\t" else 1
            self._at, self._column = self._at + 1, self._column + step
            if step > columns:
                self._left_of_tab = step - columns
            columns -= step

    def _skip_to(self, at: int, width: int) -> None:
        self._column += width - self._left_of_tab
        self._left_of_tab, self._at = 0, at

    def _take(self, count: int) -> None:
        """Take characters that are no white space."""
        self._at, self._column = self._at + count, self._column + count

    # lines

    def read_line(self, start: int, end: int) -> Iterator[Block]:
        """Read the line from `start` to `end` and yield the blocks that it ends."""
        self._line_start = self._at = start
        self._end, self._column, self._left_of_tab = end, 0, 0
        leaf = self._leaf
        if not self._containers and start < end and self._text[start].isalpha():
            # Most lines of most texts: prose outside of everything.
            if leaf is None:
                self._leaf = leaf = _Leaf(BlockKind.PARAGRAPH, start, 0)
            if leaf.kind is BlockKind.PARAGRAPH:
                self._add_prose(leaf, start)
                return
        matched = self._match_containers()
        if leaf is not None and matched == len(self._containers) and self._goes_on(leaf):
            if self._leaf is None:
                yield self._finished(leaf, end)
            return
        yield from self._read_new(matched)

    def close(self, end: int) -> Iterator[Block]:
        """Yield the block that the end of the text ends."""
        if self._leaf is not None:
            yield self._finished(self._leaf, end)
            self._leaf = None

    def _finished(self, leaf: _Leaf, end: int) -> Block:
        newline = end if end >= len(self._text) else self._text.find("\n", end) + 1
        stop = leaf.last_end or newline or len(self._text)
        return Block(leaf.kind, leaf.start, stop, tuple(leaf.ranges), leaf.level, leaf.depth)

    def _match_containers(self) -> int:
        matched = 0
        for item in self._containers:
            width, at = self._indent()
            if item.columns == _QUOTE:
                if width >= CODE_INDENT or at >= self._end or self._text[at] != ">":
                    break
                self._enter_quote(at, width)
            elif at >= self._end:
                if item.is_empty:
                    break
            elif width >= item.columns:
                self._advance(item.columns)
            else:
                break
            matched += 1
        return matched

    def _enter_quote(self, at: int, width: int) -> None:
        self._skip_to(at, width)
        self._take(1)
        if self._at < self._end and self._text[self._at] in " \t":
            self._advance(1)

    def _goes_on(self, leaf: _Leaf) -> bool:
        """Continue a fence or HTML, which read anything; `_leaf` is `None` afterwards where this line ended it."""
        width, at = self._indent()
        if leaf.kind is BlockKind.FENCE:
            leaf.last_end = self._next_line()
            if width < CODE_INDENT and self._closes(leaf.fence, at):
                self._leaf = None
            return True
        if leaf.kind is BlockKind.HTML and leaf.ending is not None:
            if leaf.ending is BLANK:
                if at >= self._end:
                    self._leaf = None
                    return True
            elif leaf.ending.search(self._text, at, self._end):
                self._leaf = None
            leaf.last_end = self._next_line()
            return True
        if leaf.kind is BlockKind.CODE and (width >= CODE_INDENT or at >= self._end):
            if at < self._end:
                leaf.last_end = self._next_line()
            return True
        return False

    def _closes(self, fence: str, at: int) -> bool:
        rest = self._text[at : self._end].rstrip(" \t")
        return len(rest) >= len(fence) and not rest.strip(fence[0])

    def _next_line(self) -> int:
        newline = self._text.find("\n", self._end)
        return len(self._text) if newline < 0 else newline + 1

    def _read_new(self, matched: int) -> Iterator[Block]:
        """Read a line that may begin blocks, else goes on with a paragraph, if only lazily."""
        leaf = self._leaf
        open_prose = leaf if leaf is not None and leaf.kind is BlockKind.PARAGRAPH else None
        is_all = matched == len(self._containers)
        began = False
        while True:
            width, at = self._indent()
            if at >= self._end:
                yield from self._end_leaf(matched, drop=True)
                if began and self._containers:
                    self._containers[-1].is_empty = self._containers[-1].columns != _QUOTE
                return
            if width >= CODE_INDENT:
                if open_prose is not None and not began:
                    break
                yield from self._end_leaf(matched, drop=not began)
                self._begin(BlockKind.CODE)
                return
            container = self._container_at(at, width, open_prose if is_all and not began else None)
            if container is None:
                break
            if not began:
                yield from self._end_leaf(matched, drop=True)
                began = True
                matched = len(self._containers)
            self._containers.append(container)
            matched += 1
        yield from self._read_leaf(matched, open_prose if not began else None, is_all=is_all and not began)

    def _container_at(self, at: int, width: int, paragraph: _Leaf | None) -> _Item | None:
        """Enter the quote or list item that begins here; what would interrupt a paragraph needs more to be one."""
        letter = self._text[at]
        if len(self._containers) >= MAX_DEPTH:
            return None
        if letter == ">":
            self._enter_quote(at, width)
            return _Item(_QUOTE)
        if letter not in "-+*" and not letter.isdigit():
            return None
        marker = MARKER.match(self._text, at, self._end)
        if marker is None or RULE.match(self._text, at, self._end):
            return None
        if paragraph is not None:
            is_blank = BLANK.match(self._text, marker.end(), self._end) is not None
            is_later = marker[1] is not None and int(marker[1]) != 1
            if is_blank or is_later or (letter == "-" and self._is_underline(at)):
                return None
        self._skip_to(at, width)
        self._take(len(marker[0]))
        padding, content = self._indent()
        if content >= self._end or padding > CODE_INDENT:
            padding = 1
        self._advance(padding)
        return _Item(width + len(marker[0]) + padding)

    def _is_underline(self, at: int) -> bool:
        return SETEXT.match(self._text, at, self._end) is not None

    def _end_leaf(self, matched: int, *, drop: bool) -> Iterator[Block]:
        """End the open block and leave the containers that this line isn't in."""
        if self._leaf is not None:
            yield self._finished(self._leaf, self._line_start)
            self._leaf = None
        if drop:
            del self._containers[matched:]

    # leaves

    def _begin(self, kind: BlockKind) -> _Leaf:
        for item in self._containers:
            item.is_empty = False
        self._leaf = leaf = _Leaf(kind, self._line_start, len(self._containers), last_end=self._next_line())
        return leaf

    def _add_prose(self, leaf: _Leaf, at: int) -> None:
        leaf.ranges.append((at, self._end))
        leaf.starts.append(self._line_start)
        leaf.last_end = self._next_line()

    def _read_leaf(self, matched: int, paragraph: _Leaf | None, *, is_all: bool) -> Iterator[Block]:
        width, at = self._indent()
        if width < CODE_INDENT:
            if paragraph is not None and is_all and self._is_underline(at):
                self._underline(paragraph, at)
                yield from self._end_leaf(matched, drop=False)
                return
            if self._is_special(at, may_be_any_tag=paragraph is None):
                yield from self._end_leaf(matched, drop=True)
                yield from self._begin_special(at)
                return
            if self._leaf is not None and self._leaf.kind is BlockKind.TABLE and is_all:
                self._add_row(self._leaf, at)
                return
            if paragraph is not None and is_all and self._is_delimiter_row(paragraph, at):
                yield from self._begin_table(paragraph)
                return
        if paragraph is not None:
            self._add_prose(paragraph, at)
            return
        yield from self._end_leaf(matched, drop=True)
        self._add_prose(self._begin(BlockKind.PARAGRAPH), at)

    def _underline(self, paragraph: _Leaf, at: int) -> None:
        paragraph.kind = BlockKind.HEADING
        paragraph.level = 1 if self._text[at] == "=" else 2
        paragraph.last_end = self._next_line()

    def _is_special(self, at: int, *, may_be_any_tag: bool) -> bool:
        text, end = self._text, self._end
        match text[at]:
            case "#":
                return HEADING.match(text, at, end) is not None
            case "`" | "~":
                return FENCE.match(text, at, end) is not None
            case "*" | "-" | "_":
                return RULE.match(text, at, end) is not None
            case "<":
                kinds = HTML if may_be_any_tag else HTML[:-1]
                return any(begins.match(text, at, end) for begins, _ in kinds)
        return False

    def _begin_special(self, at: int) -> Iterator[Block]:
        text, end = self._text, self._end
        letter = text[at]
        if letter in "`~":
            self._begin(BlockKind.FENCE).fence = text[at:end][: length_of_run(text, at, end)]
        elif letter == "<":
            leaf = self._begin(BlockKind.HTML)
            leaf.ending = next(ending for begins, ending in HTML if begins.match(text, at, end))
            if leaf.ending is not BLANK and leaf.ending.search(text, at, end):
                yield from self._end_leaf(len(self._containers), drop=False)
        elif letter == "#":
            yield from self._heading(at)
        else:
            self._begin(BlockKind.PARAGRAPH)
            self._leaf = None

    def _heading(self, at: int) -> Iterator[Block]:
        marks = HEADING.match(self._text, at, self._end)
        assert marks is not None
        leaf = self._begin(BlockKind.HEADING)
        leaf.level = len(marks[1])
        closing = CLOSING_HASHES.search(self._text, marks.end(), self._end)
        leaf.ranges.append((marks.end(), self._end if closing is None else closing.start()))
        yield from self._end_leaf(len(self._containers), drop=False)

    # tables

    def _is_delimiter_row(self, paragraph: _Leaf, at: int) -> bool:
        text, end = self._text, self._end
        if not TABLE_BEGINS.match(text, at, end) or not DELIMITER_ROW.match(text, at, end):
            return False
        header = paragraph.ranges[-1]
        return "|" in text[slice(*header)] and len(cells(text, header)) == len(cells(text, (at, end)))

    def _begin_table(self, paragraph: _Leaf) -> Iterator[Block]:
        header, start = paragraph.ranges.pop(), paragraph.starts.pop()
        if paragraph.ranges:
            paragraph.last_end = start
            yield self._finished(paragraph, start)
        self._leaf = table = _Leaf(BlockKind.TABLE, start, len(self._containers), last_end=self._next_line())
        table.ranges.extend(cells(self._text, header))

    def _add_row(self, table: _Leaf, at: int) -> None:
        table.ranges.extend(cells(self._text, (at, self._end)))
        table.last_end = self._next_line()
