"""Formats of few rules: plain text, JSON, subtitles."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from ingest.documents.markdown import read_markdown
from ingest.documents.model import Document

_TIMING = re.compile(r"^\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s+-->\s")
_MARKUP = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")
_SPEAKERS = ("role", "author", "sender", "from", "speaker", "name", "user")
_SPEECHES = ("content", "text", "message", "body", "parts")
_TITLES = ("title", "name", "subject")
_MOST_DEPTH = 60


def read_text(text: str, name: str) -> Document:
    """Read plain text; its title is the file's name, unless it has front matter or a heading as notes have."""
    note = read_markdown(text, name)
    return Document(
        **{it: getattr(note, it) for it in note.__dataclass_fields__ if it != "media_type"}, media_type="text/plain"
    )


def read_json(text: str, name: str) -> Document:
    """Read JSON as lines: conversations as `who: what`, anything else as `path: value`.

    Text that is no JSON is kept as it is, with a warning: its words can still be found.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        warning = "the file is no valid JSON; it was kept as text"
        return Document(title=name, text=text, media_type="application/json", warnings=(warning,))
    title = next((value[it] for it in _TITLES if isinstance(value, dict) and isinstance(value.get(it), str)), "")
    body = "\n\n".join(_conversation(value)) or "\n".join(_lines(value, "", 0))
    return Document(title=" ".join(title.split()) or name, text=body, media_type="application/json")


def _conversation(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON is any value
    """Yield the messages of a chat export: a list of objects with a speaker and what is said, or one that holds it."""
    if isinstance(value, dict):
        value = next(
            (value[it] for it in ("messages", "conversation", "chat") if isinstance(value.get(it), list)), None
        )
    if not isinstance(value, list) or not value:
        return
    spoken = [_message(it) for it in value]
    if all(it is not None for it in spoken):
        yield from (it for it in spoken if it)


def _message(value: Any) -> str | None:  # noqa: ANN401 - JSON is any value
    if not isinstance(value, Mapping):
        return None
    speaker = next((value[it] for it in _SPEAKERS if isinstance(value.get(it), str)), None)
    speech = next((said for it in _SPEECHES if (said := _said(value.get(it), 0)) is not None), None)
    return None if speaker is None or speech is None else f"{speaker}: {speech}" if speech.strip() else ""


def _said(value: Any, depth: int) -> str | None:  # noqa: ANN401 - JSON is any value
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth < _MOST_DEPTH:
        parts = [_said(it.get("text") if isinstance(it, dict) else it, depth + 1) for it in value]
        return "\n".join(it for it in parts if it)
    return None


def _lines(value: Any, path: str, depth: int) -> Iterator[str]:  # noqa: ANN401 - JSON is any value
    if isinstance(value, dict) and depth < _MOST_DEPTH:
        for key, it in value.items():
            yield from _lines(it, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list) and depth < _MOST_DEPTH:
        for it in value:
            yield from _lines(it, path, depth + 1)
    elif value is not None and value != "":
        said = value if isinstance(value, str) else orjson.dumps(value).decode()
        yield f"{path}: {said}" if path else said


def read_subtitles(text: str, name: str) -> Document:
    """Read subtitles as what is spoken: without numbers, timings, settings, and lines that only repeat.

    Both formats are blocks of lines between blank ones with one timing each; the packages for them bring editing of
    times, which nothing here needs.
    """
    spoken: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\ufeff\n").split("\n")
        timing = next((number for number, line in enumerate(lines) if _TIMING.match(line)), None)
        if timing is None:
            continue
        for line in lines[timing + 1 :]:
            said = " ".join(_MARKUP.sub("", line).split())
            if said and (not spoken or spoken[-1] != said):
                spoken.append(said)
    return Document(title=name, text="\n".join(spoken), media_type="text/vtt" if "WEBVTT" in text[:20] else "text/srt")
