"""Web pages as the text that a person sees.

The standard library's parser takes broken pages as browsers do and is linear. The converters that were looked at
(html2text: GPL; markdownify: brings BeautifulSoup) add Markdown that nobody asked for.
"""

import re
from html.parser import HTMLParser

from ingest.documents.model import Document

_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_BLOCKS = frozenset(
    "address article aside blockquote dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr "
    "li main nav ol p pre section table tr ul".split()
)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLANKS = re.compile(r"[^\S\n]+")
_GAPS = re.compile(r"\n{3,}")


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title = ""
        self.heading = ""
        self.author = ""
        self._unseen = 0
        self._open: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what is hidden, and where lines begin."""
        if tag in _UNSEEN:
            self._unseen += 1
        if tag == "meta":
            named = dict(attrs)
            if (named.get("name") or "").lower() == "author":
                self.author = named.get("content") or ""
        if tag == "title" or (tag in _HEADINGS and not self.heading):
            self._open = tag
        if tag in _BLOCKS or tag == "br":
            self.parts.append("\n" if tag in {"br", "li", "tr"} else "\n\n")
        elif tag in {"td", "th"}:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """Note where hidden parts and blocks end."""
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        if tag == self._open:
            self._open = None
        if tag in _BLOCKS:
            self.parts.append("\n\n" if tag not in {"li", "tr"} else "\n")

    def handle_data(self, data: str) -> None:
        """Keep what is seen."""
        if self._open == "title":
            self.title += data
        elif self._open is not None:
            self.heading += data
        if not self._unseen:
            self.parts.append(data)


def read_webpage(text: str, name: str) -> Document:
    """Read a page: no tags, scripts or styles; its title is the page's own, else its first heading."""
    seen = _Seen()
    seen.feed(text)
    seen.close()
    lines = (_BLANKS.sub(" ", line).strip() for line in "".join(seen.parts).split("\n"))
    body = _GAPS.sub("\n\n", "\n".join(lines)).strip()
    title = " ".join(seen.title.split()) or " ".join(seen.heading.split()) or name
    authors = tuple(it for it in (" ".join(seen.author.split()),) if it)
    return Document(title=title, text=body, media_type="text/html", authors=authors)
