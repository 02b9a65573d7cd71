"""Formats of few rules: plain text and JSON."""

from collections.abc import Iterator
from typing import Any

import orjson

from graph_memory.domain.markdown_blocks import BlockKind, iter_blocks
from ingest.documents.conversations import find_conversations, title_of
from ingest.documents.markdown import inline_tags, plain_heading, read_markdown
from ingest.documents.model import Document

_MOST_DEPTH = 60


def read_text(text: str, name: str) -> Document:
    """Read plain text; one that begins like a note, with front matter or a heading, is read as one."""
    first = next(iter_blocks(text), None)
    if text.startswith("---\n"):
        note = read_markdown(text, name)
        if note.front_matter:
            return note
    heading = ""
    if first is not None and first.kind is BlockKind.HEADING:
        heading = plain_heading(" ".join(text[start:end] for start, end in first.ranges))
    return Document(heading or name, text, "text/plain", tags=inline_tags(text))


def read_json(text: str, name: str) -> Document:
    """Read JSON as lines: conversations as `who: what` under their titles, anything else as `path: value`.

    Several values, one on each line, are a list of them. Text that is no JSON is kept as it is, with a warning: its
    words can still be found.
    """
    try:
        value = _parsed(text)
    except orjson.JSONDecodeError:
        warning = "the file is no valid JSON; it was kept as text"
        return Document(name, text, "application/json", warnings=(warning,))
    conversations = find_conversations(value)
    title = title_of(value)
    if len(conversations) == 1:
        title = title or conversations[0].title
        return Document(title or name, "\n\n".join(conversations[0].messages), "application/json")
    if conversations:
        parts = (f"# {it.title or number}\n\n" + "\n\n".join(it.messages) for number, it in enumerate(conversations, 1))
        return Document(title or name, "\n\n".join(parts), "application/json")
    return Document(title or name, "\n".join(_lines(value, "", 0)), "application/json")


def _parsed(text: str) -> Any:  # noqa: ANN401 - JSON is any value
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:  # noqa: PLR2004 - one line was tried
            raise
        return [orjson.loads(line) for line in lines]


def _lines(value: Any, path: str, depth: int) -> Iterator[str]:  # noqa: ANN401 - JSON is any value
    if isinstance(value, dict) and depth < _MOST_DEPTH:
        for key, it in value.items():
            yield from _lines(it, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list) and depth < _MOST_DEPTH:
        for it in value:
            yield from _lines(it, path, depth + 1)
    elif value is not None and value != "":
        said = value if isinstance(value, str) else orjson.dumps(value).decode()
        yield f"{path}: {said}" if path else said
