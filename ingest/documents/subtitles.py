"""Subtitles, SubRip and WebVTT, as what is spoken.

Both are cues of a timing and lines of text. The packages for them are made for editing times, refuse files with slips
that players accept, and keep the timings that nothing here needs.
"""

import re
from collections.abc import Iterator
from html import unescape

from ingest.documents.model import Document

_TIMING = re.compile(r"\s*(?:\d+:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?\s*-->\s*(?:\d+:)?\d{1,2}:\d{2}")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>]+)>")
_MARKUP = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_HEADER = "WEBVTT"


def read_subtitles(text: str, name: str) -> Document:
    """Read subtitles without numbers, timings, settings, notes, and lines that only repeat.

    Speakers stay as `who: what`. A file without any timing is kept as it is, with a warning.
    """
    media_type = "text/vtt" if text.lstrip("\N{BYTE ORDER MARK}").startswith(_HEADER) else "application/x-subrip"
    lines = text.split("\n")
    if not any(_TIMING.match(line) for line in lines):
        return Document(name, text, media_type, warnings=("the file has no timings; it was kept as text",))
    return Document(name, "\n".join(_spoken(lines)), media_type)


def _spoken(lines: list[str]) -> Iterator[str]:
    last = ""
    for line in _cue_lines(lines):
        voiced = _VOICE.sub(lambda voice: f"{voice[1].strip()}: ", line)
        said = " ".join(unescape(_MARKUP.sub("", voiced)).split())
        if said and said != last:
            yield said
            last = said


def _cue_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines of text of each cue; a cue ends at a blank line, or where the next one's number or timing is."""
    is_cue = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if _TIMING.match(line):
            is_cue = True
        elif not line.strip() or (line.strip().isdecimal() and _TIMING.match(following)):
            is_cue = False
        elif is_cue:
            yield line
