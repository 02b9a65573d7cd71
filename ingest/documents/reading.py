"""One entry for all formats."""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from types import MappingProxyType

from graph_memory.domain.errors import IngestError
from ingest.documents.bounds import Bounds
from ingest.documents.converting import CONVERTED, convert
from ingest.documents.decoding import decode
from ingest.documents.markdown import read_markdown
from ingest.documents.model import Document
from ingest.documents.plain import read_json, read_text
from ingest.documents.subtitles import read_subtitles
from ingest.documents.tables import read_csv
from ingest.documents.webpage import read_webpage

_Reader = Callable[[str, str], Document]
_READERS: Mapping[str, _Reader] = MappingProxyType(
    {
        ".md": read_markdown,
        ".txt": read_text,
        ".json": read_json,
        ".html": read_webpage,
        ".srt": read_subtitles,
        ".vtt": read_subtitles,
        ".csv": read_csv,
    }
)
READABLE = CONVERTED | frozenset(_READERS)
"""Endings of the files that can be read, in lower case."""


def read_document(raw: bytes, path: str, bounds: Bounds | None = None) -> Document:
    """Read a document; `path` is relative, with forward slashes, and gives its format and its last title.

    `bounds` are for formats that are read in a process of its own.

    Raises:
        IngestError: it can't be read; the text says why.
        Unavailable: reading it was cancelled.
    """
    pure = PurePosixPath(path)
    if pure.suffix.lower() in CONVERTED:
        return _converted(raw, pure, bounds or Bounds())
    reader = _READERS.get(pure.suffix.lower())
    if reader is None:
        raise IngestError(
            f"files of kind {pure.suffix or pure.name!r} can't be read; {', '.join(sorted(READABLE))} can"
        )
    decoded = decode(raw)
    document = reader(decoded.text, unicodedata.normalize("NFC", pure.stem))
    if not document.text.strip():
        raise IngestError("the file holds no text")
    if decoded.warning is None:
        return document
    return replace(document, warnings=(decoded.warning, *document.warnings))


def _converted(raw: bytes, pure: PurePosixPath, bounds: Bounds) -> Document:
    if not raw:
        raise IngestError("the file is empty")
    document = convert(raw, pure.suffix.lower(), unicodedata.normalize("NFC", pure.stem), bounds)
    text = unicodedata.normalize("NFC", document.text)
    if not text.strip():
        raise IngestError("the file holds no text")
    return replace(document, title=unicodedata.normalize("NFC", document.title), text=text)
