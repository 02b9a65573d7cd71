"""Markdown notes as Obsidian and its like write them: front matter, headings, tags, links."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import parse_instant
from graph_memory.domain.markdown_blocks import BlockKind, iter_blocks
from graph_memory.domain.markdown_prose import MASK, mask_code
from graph_memory.domain.wikilinks import find_wikilinks
from ingest.documents.front_matter import FrontMatter, read_front_matter
from ingest.documents.model import Document

# A tag is letters, digits, marks and symbols of any script with - _ /; other ASCII and general punctuation ends it.
_IN_TAG = r"[^\s!-,.:-@\[-^`{-~\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\ufffc]"
_TAG = re.compile(rf"(?<![\w/#&{MASK}])#({_IN_TAG}+)")
_LINKED = re.compile(r"\[\[[^\[\]\n]*\]\]|\]\([^()\n]*\)|<?https?://\S+")
_PARTS = re.compile(r"[,\s]+")
_HEADING_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|!?\[([^\[\]]*)\]\([^()]*\)")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3}|~~|==|`+)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_HEADING_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_READ_FOR_TAGS = 1_000_000
_SET_ASIDE = 0xE000
"""Escaped characters stand in the private area while marks are taken away."""
_ASIDE = re.compile(r"[\ue021-\ue07e]")
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+$")


def read_markdown(text: str, name: str) -> Document:
    """Read a note.

    Front matter that can't be parsed stays in the text, with a warning. Links in front matter are links of the note:
    those that the body does not have are added to the text.
    """
    front = read_front_matter(text)
    body = text[front.end :]
    written_at, warnings = _instant(front)
    return Document(
        title=front.text("title") or first_heading(body) or name,
        text=text if front.warning is not None or not body.strip() else _with_links(body, front.links()),
        media_type="text/markdown",
        front_matter=front.values,
        tags=_unique([*_tags(front), *inline_tags(body)]),
        aliases=front.texts("aliases", "alias"),
        authors=front.texts("author", "authors"),
        project=front.text("project_id", "project"),
        written_at=written_at,
        warnings=tuple(it for it in (front.warning, *warnings) if it is not None),
    )


def first_heading(body: str) -> str | None:
    """Return the text of the heading that names a note, without links, emphasis and other marks.

    That is the first of the first level, or one that the note begins with. Others name a part of it: of 173 notes of a
    vault 146 have such a heading first, and are linked to by the names of their files.
    """
    for number, block in enumerate(iter_blocks(body)):
        if block.kind is BlockKind.HEADING and (number == 0 or block.level == 1):
            heading = plain_heading(" ".join(body[start:end] for start, end in block.ranges))
            if heading:
                return heading
    return None


def plain_heading(written: str) -> str:
    """Return a heading as it is read: marks of links, emphasis, code, HTML and escapes gone."""
    plain = _ESCAPED.sub(lambda escape: chr(_SET_ASIDE + ord(escape[1])), _BLOCK_ID.sub("", written.strip()))
    plain = _HEADING_LINK.sub(lambda link: link[1] or link[2] or "", plain)
    plain = _HEADING_TAG.sub("", plain)
    for _ in range(3):
        plain = _EMPHASIS.sub(r"\2", plain)
    return " ".join(_ASIDE.sub(lambda aside: chr(ord(aside[0]) - _SET_ASIDE), plain).split())


def inline_tags(body: str) -> tuple[str, ...]:
    """Return the `#tags` of a text in order: none in code, links and words, none of digits alone.

    Of a text of more than a million characters the beginning is read.
    """
    if "#" not in body:
        return ()
    prose = _LINKED.sub(" ", mask_code(body[:_READ_FOR_TAGS]))
    return _unique(_cleaned_tag(found[1]) for found in _TAG.finditer(prose))


def _tags(front: FrontMatter) -> Iterator[str]:
    for name in ("tags", "tag"):
        for text in front.texts(name):
            yield from (_cleaned_tag(part) for part in _PARTS.split(text))


def _cleaned_tag(tag: str) -> str:
    tag = tag.strip("#").strip("/-")
    return "" if tag.replace("/", "").isdecimal() else tag


def _unique(tags: Iterable[str]) -> tuple[str, ...]:
    """Keep the first spelling of each tag: case makes no other one."""
    return tuple({tag.casefold(): tag for tag in reversed([it for it in tags if it])}.values())[::-1]


def _instant(front: FrontMatter) -> tuple[datetime | None, list[str]]:
    """Return when the note says it was written; what is unreadable is a warning, and the next key is tried."""
    warnings: list[str] = []
    for name in ("date", "created", "created_at"):
        text = front.text(name)
        if text is None:
            continue
        try:
            parsed = parse_instant(text, argument=name)
        except InvalidRequest as error:
            warnings.append(str(error))
        else:
            return parsed.at, [*warnings, *([parsed.warning] if parsed.warning else [])]
    return None, warnings


def _with_links(body: str, links: Iterable[str]) -> str:
    missing = " ".join(link for link in links if link not in body)
    if not missing:
        return body
    below = f"{body.rstrip()}\n\n{missing}\n"
    # A fence or comment that never ends would take them in.
    return below if len(find_wikilinks(below)) > len(find_wikilinks(body)) else f"{missing}\n\n{body}"
