"""The parts of an HTML page in order: tags and texts, in one linear pass however broken the page is.

Tags and comments end where the HTML standard's tokenizer ends them. The standard library's parser takes minutes for a
hundred kilobytes of unclosed tags, and those that build a tree (lexbor, html5ever) need 790 MB for a page of 45 MB and
seconds for forty thousand nested elements; what is seen of a page needs no tree.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from types import MappingProxyType

_OPENING = re.compile(r"<(?:[A-Za-z/?!])")
_NAME = re.compile(r"[^\s/>]+")
# Quoted values may hold `>`; an unquoted one may hold quotes.
_TAG_END = re.compile(r"""(?:[^>"'=]|=\s*(?:"[^"]*"|'[^']*'|(?=[^"']))|["'])*+>""")
_ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?""")
_LONGEST_TAG = 100_000
_RAW = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"})
"""Elements whose content is text up to their end tag, whatever it looks like."""
_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Tag:
    """A start or end tag; names of elements and attributes are in lower case."""

    name: str
    is_end: bool = False
    attributes: Mapping[str, str] = field(default_factory=lambda: _NO_ATTRIBUTES)


def iter_parts(page: str) -> Iterator[Tag | str]:
    """Yield tags and the texts between them; comments, declarations and what is cut off in a tag are left out."""
    reader = _Reader(page)
    at = 0
    while True:
        found = _OPENING.search(page, at)
        if found is None:
            break
        if found.start() > at:
            yield unescape(page[at : found.start()])
        at, tag = reader.read_markup(found.start())
        if tag is None:
            continue
        yield tag
        if tag.name in _RAW and not tag.is_end:
            end = reader.end_of_raw(tag.name, at)
            if end > at:
                yield unescape(page[at:end]) if tag.name in {"title", "textarea"} else page[at:end]
            at = end
    if at < len(page):
        yield unescape(page[at:])


class _Reader:
    """Reads what begins with `<`, and remembers what is nowhere further on, so that nobody looks for it again."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._missing: set[str] = set()

    def read_markup(self, start: int) -> tuple[int, Tag | None]:
        """Return where the markup at `start` ends, and the tag that it is."""
        page = self._page
        second = page[start + 1]
        if second.isalpha() or (second == "/" and page[start + 2 : start + 3].isalpha()):
            return self._read_tag(start, is_end=second == "/")
        if page.startswith("<!--", start):
            if page.startswith(("<!-->", "<!--->"), start):
                return page.index(">", start) + 1, None
            return self._after("-->", start + 4), None
        return self._after(">", start + 2), None

    def _read_tag(self, start: int, *, is_end: bool) -> tuple[int, Tag | None]:
        name = _NAME.match(self._page, start + 1 + is_end)
        assert name is not None
        end = _TAG_END.match(self._page, name.end(), name.end() + _LONGEST_TAG)
        stop = self._after(">", name.end()) if end is None else end.end()
        if end is None and stop == len(self._page):
            return stop, None
        return stop, Tag(name[0].lower(), is_end, self._attributes(name.end(), stop - 1))

    def _attributes(self, start: int, end: int) -> Mapping[str, str]:
        if end - start < 2:  # noqa: PLR2004 - the shortest is one letter after white space
            return _NO_ATTRIBUTES
        found = _ATTRIBUTE.findall(self._page, start, end)
        return {name.lower(): unescape(double or single or bare) for name, double, single, bare in reversed(found)}

    def end_of_raw(self, name: str, at: int) -> int:
        """Return where the end tag of a raw element begins, or the end of the page."""
        if name in self._missing:
            return len(self._page)
        end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(self._page, at)
        if end is None:
            self._missing.add(name)
            return len(self._page)
        return end.start()

    def _after(self, sign: str, at: int) -> int:
        if sign in self._missing:
            return len(self._page)
        found = self._page.find(sign, at)
        if found < 0:
            self._missing.add(sign)
            return len(self._page)
        return found + len(sign)
