"""Web pages as the text that a person sees, with their headings and lists as Markdown has them."""

import re
from collections.abc import Mapping

from ingest.documents.html_parts import Tag, iter_parts
from ingest.documents.model import Document

_UNSEEN = frozenset(
    "script style template noscript svg math iframe object canvas audio video select datalist textarea xmp noembed "
    "noframes".split()
)
_BREAKS_OUT = frozenset({"svg", "math", "noscript", "object", "canvas", "audio", "video"})
"""Unseen elements that a heading or paragraph ends, since nobody closed them."""
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_BLOCKS = frozenset(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 "
    "h6 header hr html li main menu nav ol p pre section summary table tbody tfoot thead tr ul".split()
)
_CLOSE = frozenset({"li", "tr", "dt", "dd"})
"""Blocks between which no blank line stands."""
_DEEPEST_INDENT = 8
_HEADINGS: Mapping[str, int] = {f"h{level}": level for level in range(1, 7)}
_BLANKS = re.compile(r"[ \t\n\f\r\u00a0]+")
_GAPS = re.compile(r"\n{3,}")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_AUTHORS = frozenset({"author", "article:author", "dc.creator"})


def read_webpage(text: str, name: str) -> Document:
    """Read a page: no tags, scripts, styles or hidden parts; its title is the page's own, else its first heading."""
    page = _Page()
    for part in iter_parts(text):
        if isinstance(part, Tag):
            page.tag(part)
        else:
            page.text(part)
    body = page.body()
    authors = tuple(dict.fromkeys(it for it in page.authors if it))
    return Document(page.title or page.heading or name, body, "text/html", authors=authors)


class _Lines:
    """Writes lines; how many line ends stand between two blocks is decided when the second one begins."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._breaks = 0
        self._ends_blank = True

    @property
    def begins(self) -> bool:
        """Whether what is written next begins a line."""
        return self._breaks > 0 or not self._parts

    @property
    def ends_line(self) -> bool:
        """Whether the last text written ended a line."""
        return not self._parts or self._parts[-1].endswith("\n")

    def break_(self, count: int) -> None:
        """Let the next text stand at least so many line ends further down."""
        self._breaks = max(self._breaks, count)

    def write(self, text: str) -> None:
        """Write a text; blanks at the beginning of a line, and after others, are none."""
        if self.begins or self._ends_blank:
            text = text.lstrip(" ")
        if text:
            self.write_as_is(text)

    def write_as_is(self, text: str) -> None:
        """Write a text with all its blanks and line ends."""
        if self._parts:
            self._parts.append("\n" * self._breaks)
        self._breaks = 0
        self._parts.append(text)
        self._ends_blank = text.endswith((" ", "\n"))

    def text(self) -> str:
        """Return all lines, without blanks at their ends."""
        lines = "\n".join(line.rstrip() for line in "".join(self._parts).split("\n"))
        return _GAPS.sub("\n\n", lines).strip("\n")


class _Page:
    """Reads the parts of a page and keeps what is seen."""

    def __init__(self) -> None:
        self.title = ""
        self.heading = ""
        self.authors: list[str] = []
        self._lines = _Lines()
        self._hidden_by: str | None = None
        self._hidden_depth = 0
        self._hidden: list[str] = []
        self._is_title = self._is_heading = False
        self._open_pre = 0
        self._lists: list[int] = []

    def body(self) -> str:
        """Return the text; what an element hid that was never closed is seen after all."""
        if self._hidden_by is not None and self._hidden_by not in _UNSEEN:
            self._hidden_by = None
            for text in self._hidden:
                self.text(text)
        return self._lines.text()

    def text(self, text: str) -> None:
        """Take a text between tags."""
        if self._is_title:
            self.title = self.title or " ".join(text.split())
        elif self._hidden_by is not None:
            self._hidden.append(text)
        elif self._open_pre:
            self._lines.write_as_is(text)
        else:
            plain = _BLANKS.sub(" ", text)
            if self._is_heading:
                self.heading = f"{self.heading}{plain}".lstrip()
            self._lines.write(plain)

    def tag(self, tag: Tag) -> None:
        """Take a tag."""
        if tag.name == "title" and self._hidden_by is None:
            self._is_title = not tag.is_end
        elif self._hidden_by is not None:
            self._while_hidden(tag, self._hidden_by)
        elif tag.is_end:
            self._end(tag.name)
        elif tag.name == "meta":
            if (tag.attributes.get("name") or tag.attributes.get("property", "")).lower() in _AUTHORS:
                self.authors.append(" ".join(tag.attributes.get("content", "").split()))
        elif tag.name in _UNSEEN or _is_hidden(tag):
            if tag.name not in _VOID:
                self._hidden_by, self._hidden_depth, self._hidden = tag.name, 1, []
        else:
            self._start(tag)

    def _while_hidden(self, tag: Tag, by: str) -> None:
        is_prose = not tag.is_end and (tag.name in _HEADINGS or tag.name == "p")
        if (by == "p" and tag.name in _BLOCKS) or (by in _BREAKS_OUT and is_prose):
            self._hidden_by = None
            self.tag(tag)
        elif tag.name == by:
            self._hidden_depth += -1 if tag.is_end else 1
            if self._hidden_depth == 0:
                self._hidden_by = None
                if by in _BLOCKS:
                    self._break(by)

    def _start(self, tag: Tag) -> None:
        if tag.name in _BLOCKS:
            self._break(tag.name)
        match tag.name:
            case "pre":
                self._open_pre += 1
                self._lines.write_as_is("```\n")
            case "ul" | "menu" | "ol":
                self._lists.append(int(tag.name == "ol"))
            case "li":
                self._lines.write_as_is(self._bullet())
            case "br":
                self._lines.write_as_is("\n")
            case "td" | "th" if not self._lines.begins:
                self._lines.write_as_is(" | ")
            case "img":
                self.text(tag.attributes.get("alt", ""))
            case name if name in _HEADINGS:
                self._is_heading = not self.heading
                self._lines.write_as_is("#" * _HEADINGS[name] + " ")

    def _end(self, name: str) -> None:
        if name == "pre" and self._open_pre:
            self._open_pre -= 1
            self._lines.write_as_is("```" if self._lines.ends_line else "\n```")
        elif name in {"ul", "ol", "menu"} and self._lists:
            self._lists.pop()
        elif name in _HEADINGS:
            self._is_heading = False
        if name in _BLOCKS:
            self._break(name)

    def _bullet(self) -> str:
        indent = "  " * min(_DEEPEST_INDENT, max(0, len(self._lists) - 1))
        number = self._lists[-1] if self._lists else 0
        if number:
            self._lists[-1] = number + 1
        return f"{indent}{number}. " if number else f"{indent}- "

    def _break(self, name: str) -> None:
        self._lines.break_(1 if name in _CLOSE or (name in {"ul", "ol"} and self._lists) else 2)


def _is_hidden(tag: Tag) -> bool:
    return "hidden" in tag.attributes or _HIDDEN_STYLE.search(tag.attributes.get("style", "")) is not None
