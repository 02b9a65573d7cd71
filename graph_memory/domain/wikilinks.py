"""Wikilinks: `[[Target#heading^block|alias]]`, as Obsidian reads them, and how they are shown."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from graph_memory.domain.markdown_prose import mask_code

_MAX_LENGTH = 1_000
# Brackets end it, so that a matrix like [[1, 2], [3, 4]] is none; `](` makes it the text of a link to elsewhere.
_LINK = re.compile(rf"(!?)\[\[([^\[\]\r\n]{{1,{_MAX_LENGTH}}})\]\](?!\()")
_ALIAS = re.compile(r"\\?\|")
_NOT_IN_TARGET = re.compile(r"[\[\]|#^]|%%")
_NOT_IN_ALIAS = re.compile(r"[\[\]\s]+")


@dataclass(frozen=True, slots=True)
class Wikilink:
    """A link to another note.

    `target` is what is written before `#`, `^` and `|`, trimmed and in NFC; never empty. `heading` may be a path,
    `A#B`. `span` is where the link stands, in characters, `!` of an embed included.
    """

    target: str
    alias: str | None
    heading: str | None
    block: str | None
    is_embed: bool
    span: tuple[int, int]


def find_wikilinks(text: str) -> tuple[Wikilink, ...]:
    r"""Return the links of a text in order.

    What stands in code spans, code blocks, HTML and comments or after a backslash is no link, nor is a link inside the
    same note, `[[#heading]]`. In a cell of a table the alias may follow `\|`. Linear.
    """
    if "[[" not in text:
        return ()
    links = []
    for found in _LINK.finditer(mask_code(text)):
        link = _read(text[found.start(2) : found.end(2)], is_embed=bool(found[1]), span=found.span())
        if link is not None:
            links.append(link)
    return tuple(links)


def _read(content: str, *, is_embed: bool, span: tuple[int, int]) -> Wikilink | None:
    written, *alias = _ALIAS.split(content, maxsplit=1)
    written = unicodedata.normalize("NFC", written).strip()
    target, heading, block = _split_target(written)
    if not target:
        return None
    return Wikilink(target, alias[0].strip() or None if alias else None, heading, block, is_embed, span)


def _split_target(written: str) -> tuple[str, str | None, str | None]:
    """Split `Target#heading` and `Target#^block`; a sign with nothing behind it is part of a name, like C#."""
    if written.endswith(("#", "^")):
        return ("", None, None) if not written.strip("#^ ") else (written, None, None)
    target, _, rest = written.partition("#")
    if not rest:
        target, _, block = written.partition("^")
        return target.strip(), None, block.strip() or None
    heading, _, block = rest.partition("^")
    return target.strip(), heading.strip("# ") or None, block.strip() or None


def render_wikilinks(text: str, titles: Mapping[str, str]) -> str:
    """Show links by their target's title: `[[12]]` and `[[some-slug]]` become `[[The Title]]`.

    `titles` maps a target as `find_wikilinks` gives it to the title; a target that is not in it stays. Heading, block
    and alias are kept. A title that can't stand in a link is shown as the alias of what is written.
    """
    parts: list[str] = []
    done = 0
    for link in find_wikilinks(text):
        title = titles.get(link.target)
        if title is None or title == link.target:
            continue
        start, end = link.span
        parts += (text[done:start], _rendered(text[start:end], link, title, is_cell=_is_in_table(text, start)))
        done = end
    parts.append(text[done:])
    return "".join(parts)


def _rendered(written: str, link: Wikilink, title: str, *, is_cell: bool) -> str:
    head, content = ("![[" if link.is_embed else "[["), written[written.index("[[") + 2 : -2]
    address, *alias = _ALIAS.split(content, maxsplit=1)
    if not link.alias:
        content, alias = address, []
    if _can_be_target(title):
        separator = content[len(address) : len(content) - len(alias[0])] if alias else ""
        rest = _after_target(address)
        return f"{head}{title}{rest}{separator}{alias[0] if alias else ''}]]"
    if alias:
        return written
    shown = " ".join(_NOT_IN_ALIAS.sub(" ", title).split())
    bar = "\\|" if is_cell else "|"
    return f"{head}{address}{bar}{shown.replace('|', bar) if is_cell else shown}]]" if shown else written


def _can_be_target(title: str) -> bool:
    is_clean = bool(title) and title == " ".join(title.split()) and not title.endswith("\\")
    return is_clean and not title.isdecimal() and _NOT_IN_TARGET.search(title) is None


def _after_target(address: str) -> str:
    if address.rstrip().endswith(("#", "^")):
        return ""
    sign = re.search(r"[#^]", address)
    return "" if sign is None else address[sign.start() :]


def _is_in_table(text: str, start: int) -> bool:
    """Tell whether a link stands in a row of a table, as far as its line shows: one that begins with `|`."""
    line_start = text.rfind("\n", 0, start) + 1
    return text[line_start:start].lstrip(" \t>").startswith("|")
