"""What markdown-it makes of a text: the wikilinks that it sees outside of code, and its headings.

It follows an older CommonMark in a few corners, and stops with an `IndexError` in some; those texts are left out of the
comparison by `is_comparable`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\](?!\()")
_CORNERS = re.compile(
    r"""(?mx)
    \[\[[^\[\]\n]*[`\\<][^\[\]\n]*\]\]                     # what binds tighter begins inside a link
    | ^(?:>?[ ]*\d*[-+*.)]?[ ]?)*(?:[ ]{4,}|[ ]*\t[ \t]*)>  # a quote may be indented by three columns only
    | --->|<!-->|----.*-->|<!--[^\0]*--[^>]                # a comment ends at the first -->
    | <\?[^?]*\n                                           # an instruction may go on on the next line
    | \|.*\n[ >]*-+[ \t]*$|^[#\ ]+.*\|.*\n                 # a setext heading, an ATX heading come before a table
    | ^[ ]*\d+[.)].*\n[ ]{4,}<                             # four columns are no HTML
    """
)


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _LINK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("wikilink", "", 0).content = found[1]
    state.pos = found.end()
    return True


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").disable(["reference", "link", "image", "entity"])
    parser.inline.ruler.before("autolink", "wikilink", _wikilink)
    return parser


def _parsed(text: str) -> list[Token]:
    return _parser().parse(text)


def is_comparable(text: str) -> bool:
    """Tell whether markdown-it reads a text, and as today's CommonMark does."""
    if _CORNERS.search(text):
        return False
    try:
        _parsed(text)
    except IndexError:
        return False
    return True


def _leaves(tokens: Iterable[Token]) -> Iterable[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def wikilink_targets(text: str) -> list[str]:
    """Return what stands between the brackets of each link, up to the bar."""
    links = [token.content for token in _leaves(_parsed(text)) if token.type == "wikilink"]
    return [re.split(r"\\?\|", link)[0].strip() for link in links]


def heading_levels(text: str) -> list[int]:
    """Return the level of each heading."""
    return [int(token.tag[1:]) for token in _parsed(text) if token.type == "heading_open"]
