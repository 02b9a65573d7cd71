"""From bytes to text, whatever wrote them."""

import codecs

from graph_memory.domain.errors import IngestError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 65_536
"""Bytes that are looked at to guess an encoding, or to tell binary data from text."""
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\f\x08\x1b")
_MOST_CONTROLS = 0.02


def decode(raw: bytes) -> tuple[str, str | None]:
    """Return the text of a file, and a warning where its encoding had to be guessed.

    Raises:
        IngestError: it is empty, or no text.
    """
    if not raw.strip(b" \t\r\n\x00"):
        raise IngestError("the file is empty")
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _checked(raw, encoding), None
    if _looks_binary(raw):
        raise IngestError("the file is not text: it holds binary data")
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError:
        return _guessed(raw)


def _checked(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        raise IngestError(f"the file is marked as {encoding} but is not") from None


def _looks_binary(raw: bytes) -> bool:
    sample = raw[:_SAMPLE]
    if b"\x00" in sample:
        return True
    return sum(byte in _CONTROLS for byte in sample) > _MOST_CONTROLS * len(sample)


def _guessed(raw: bytes) -> tuple[str, str | None]:
    import charset_normalizer  # here, since only files of unknown encoding need its 30 ms

    best = charset_normalizer.from_bytes(raw[:_SAMPLE]).best()
    encoding = "cp1252" if best is None else best.encoding
    try:
        text = raw.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        encoding, text = "utf-8", raw.decode("utf-8", "replace")
    return text, f"the encoding is not UTF-8 and was taken for {encoding}"
