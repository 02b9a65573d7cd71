"""Markdown notes as Obsidian and its like write them: front matter, headings, tags, links."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

import yaml

from graph_memory.domain.entities import JsonValue
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import parse_instant
from graph_memory.domain.markdown_blocks import BlockKind, iter_blocks
from graph_memory.domain.markdown_prose import mask_code
from ingest.documents.model import Document

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MOST_FRONT_MATTER = 65_536
_TAG = re.compile(r"(?<![\w/#&])#([\w/\-]+)", re.UNICODE)
_LINKED = re.compile(r"\[\[[^\[\]\n]*\]\]|\]\([^()\n]*\)|<?https?://\S+")
_LINK = re.compile(r"!?\[\[[^\[\]\n]+\]\]")
_MOST_DEPTH = 20
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_markdown(text: str, name: str) -> Document:
    """Read a note; front matter that can't be parsed is left in the text, with a warning.

    What it looks like is text: a link in front matter counts like one in the body.
    """
    values, body, warnings = _split(text)
    links = _missing_links(values, body)
    return Document(
        title=_first(_texts(values.get("title"))) or first_heading(body) or name,
        text=f"{body.rstrip()}\n\n{' '.join(links)}\n" if links else body,
        media_type="text/markdown",
        front_matter=values,
        tags=tuple(dict.fromkeys([*_tags(values), *inline_tags(body)])),
        aliases=_texts(values.get("aliases")) or _texts(values.get("alias")),
        authors=_texts(values.get("author")) or _texts(values.get("authors")),
        project=_first(_texts(values.get("project_id"))) or _first(_texts(values.get("project"))),
        written_at=_instant(values),
        warnings=tuple(warnings),
    )


def first_heading(body: str) -> str | None:
    """Return the text of the first heading, without marks of links."""
    for block in iter_blocks(body):
        if block.kind is BlockKind.HEADING:
            heading = " ".join(body[start:end] for start, end in block.ranges).strip().strip("#").strip()
            plain = re.sub(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]", r"\1", heading)
            if plain.strip():
                return " ".join(plain.split())
    return None


def inline_tags(body: str) -> list[str]:
    """List the `#tags` of a text, without what is code, part of a link, or digits alone."""
    prose = _LINKED.sub(" ", mask_code(body))
    found = (it.group(1).strip("/-") for it in _TAG.finditer(prose))
    return [it for it in dict.fromkeys(found) if it and not it.replace("/", "").isdigit()]


def _split(text: str) -> tuple[Mapping[str, JsonValue], str, list[str]]:
    match = _FRONT_MATTER.match(text[:_MOST_FRONT_MATTER])
    if match is None:
        return {}, text, []
    try:
        loaded = yaml.load(match.group(1), Loader=_LOADER)  # noqa: S506 - a safe loader, the one in C where there is one
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" (line {mark.line + 2})"
        return {}, text, [f"the front matter can't be parsed{where}; it was kept as text"]
    if loaded is None:
        return {}, text[match.end() :], []
    if not isinstance(loaded, dict):
        return {}, text, ["what stands between the first two --- is no front matter; it was kept as text"]
    return {str(key): _json(value, 0) for key, value in loaded.items()}, text[match.end() :], []


def _json(value: Any, depth: int) -> JsonValue:  # noqa: ANN401 - YAML is any value
    if depth > _MOST_DEPTH:
        return None
    if isinstance(value, dict):
        return {str(key): _json(it, depth + 1) for key, it in value.items()}
    if isinstance(value, list | tuple | set):
        return [_json(it, depth + 1) for it in value]
    if isinstance(value, date | datetime):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _texts(value: JsonValue) -> tuple[str, ...]:
    """List what a value of front matter says: a text, a number, or several in a list; `[[a]]` unquoted is one too."""
    if isinstance(value, list):
        return tuple(text for it in value for text in _texts(it))
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        return ()
    text = " ".join(str(value).split())
    return (text,) if text else ()


def _first(texts: tuple[str, ...]) -> str | None:
    return texts[0] if texts else None


def _tags(values: Mapping[str, JsonValue]) -> Iterable[str]:
    for name in ("tags", "tag"):
        value = values.get(name)
        parts = re.split(r"[,\s]+", value) if isinstance(value, str) else _texts(value)
        yield from (it for part in parts if (it := part.strip().lstrip("#").strip("/")))


def _instant(values: Mapping[str, JsonValue]) -> datetime | None:
    for name in ("date", "created", "created_at"):
        value = values.get(name)
        if isinstance(value, str):
            try:
                return parse_instant(value, argument=name).at
            except InvalidRequest:
                continue
    return None


def _missing_links(values: Mapping[str, JsonValue], body: str) -> list[str]:
    """List the links of front matter that the body does not have: they are part of the note too."""
    return [it for it in dict.fromkeys(_links(values)) if it not in body]


def _links(value: JsonValue | Mapping[str, JsonValue]) -> Iterable[str]:
    if isinstance(value, str):
        yield from _LINK.findall(value)
    elif isinstance(value, Mapping):
        for it in value.values():
            yield from _links(it)
    elif isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list) and len(value[0]) == 1 and isinstance(value[0][0], str):
            yield f"[[{value[0][0]}]]"  # an unquoted [[link]] is a list in a list to YAML
        for it in value:
            yield from _links(it)
