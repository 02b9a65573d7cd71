"""From bytes to text, whatever wrote them."""

import codecs
import unicodedata
from dataclasses import dataclass

from graph_memory.domain.errors import IngestError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_OLD = (
    *("cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "mac_roman", "cp850", "cp866"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
)
"""Encodings that people's files are in; a guess among all that exist takes short texts for exotic ones."""
_WESTERN = frozenset(
    "àâæçéèêëîïôœùûüÿäößáíóúñìòãõåøÀÂÆÇÉÈÊËÎÏÔŒÙÛÜÄÖÁÍÓÚÑÌÒÃÕÅØ¿¡€£§°«»“”„–—…•·©®™½¼²ªº\u00a0\u2018\u2019"
)
"""What Western European texts have beyond ASCII; others read as cp1252 would show more than these."""
_SAMPLE = 65_536
"""Bytes that are looked at to guess an encoding, or to tell binary data from text."""
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x08\x1b"))
_MOST_CONTROLS = 0.02
_LEAST_PRINTABLE = 0.99
_GOOD_PER_BAD = 4
"""So many right characters beyond ASCII for each wrong one make a text UTF-8 with damage."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file, and what had to be guessed or replaced."""

    text: str
    warning: str | None = None


def decode(raw: bytes) -> Decoded:
    r"""Return the text of a file in NFC, with line ends as `\n` and no NUL.

    UTF-8, UTF-16 and UTF-32 with and without a byte-order mark; other encodings are guessed, with a warning.

    Raises:
        IngestError: it is empty, or no text.
    """
    if not raw.strip(b" \t\r\n\x00"):
        raise IngestError("the file is empty")
    decoded = _decoded(raw)
    text = decoded.text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return Decoded(text, decoded.warning)


def _decoded(raw: bytes) -> Decoded:
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _marked(raw[len(mark) :], encoding)
    if b"\x00" in raw[:_SAMPLE]:
        return _wide(raw)
    if _is_binary(raw):
        raise IngestError("the file is not text: it holds binary data")
    try:
        return Decoded(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return _damaged(raw) or _guessed(raw, error.start)


def _is_binary(raw: bytes) -> bool:
    sample = raw[:_SAMPLE]
    return len(sample) - len(sample.translate(None, _CONTROLS)) > _MOST_CONTROLS * len(sample)


def _marked(raw: bytes, encoding: str) -> Decoded:
    text = raw.decode(encoding, "replace")
    damage = text.count("\N{REPLACEMENT CHARACTER}")
    if encoding == "utf-8" and damage:
        return _damaged(raw) or _guessed(raw, 0)
    if damage > len(text) * (1 - _LEAST_PRINTABLE):
        raise IngestError(f"the file is marked as {encoding} but is not")
    return Decoded(text, f"{damage} characters were not {encoding} and were replaced" if damage else None)


def _wide(raw: bytes) -> Decoded:
    """Read UTF-16 or UTF-32 without a mark: the NULs of ASCII characters give it away, and binary data has no sense."""
    for encoding in _WIDE:
        try:
            sample = raw[: _SAMPLE & ~3].decode(encoding)
            if "\0" not in sample and _is_printable(sample):
                return Decoded(raw.decode(encoding), f"the encoding was not marked and was taken for {encoding}")
        except UnicodeDecodeError:
            continue
    raise IngestError("the file is not text: it holds binary data")


def _is_printable(text: str) -> bool:
    good = sum(it.isprintable() or it in "\t\n\r\f\N{BYTE ORDER MARK}" for it in text)
    return good >= _LEAST_PRINTABLE * len(text)


def _damaged(raw: bytes) -> Decoded | None:
    """Take a file for UTF-8 of which a part was cut or spoiled, where most of it says so."""
    text = raw.decode("utf-8", "replace")
    bad = text.count("\N{REPLACEMENT CHARACTER}")
    good = len(text) - len(text.encode("ascii", "ignore")) - bad
    is_cut_off = bad == 1 and good > 0 and text.endswith("\N{REPLACEMENT CHARACTER}")
    if good >= _GOOD_PER_BAD * bad or is_cut_off:
        return Decoded(text, f"{bad} characters were not UTF-8 and were replaced")
    return None


def _guessed(raw: bytes, error: int) -> Decoded:
    start = raw.rfind(b"\n", max(0, error - _SAMPLE // 2), error) + 1
    sample = raw[start : start + _SAMPLE]
    encoding = _guess(sample)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        encoding, text = "latin-1", raw.decode("latin-1")
    return Decoded(text, f"the encoding is not UTF-8 and was taken for {encoding}")


def _guess(sample: bytes) -> str:
    if _is_western(sample):
        return "cp1252"
    import charset_normalizer  # here, since only files of unknown encoding need its 30 ms

    best = charset_normalizer.from_bytes(sample, cp_isolation=list(_OLD)).best()
    return "cp1252" if best is None else best.encoding


def _is_western(sample: bytes) -> bool:
    """Tell cp1252 by its letters: detectors take French for Baltic, since both have the same bytes."""
    text = sample.decode("cp1252", "replace")
    beyond = [it for it in text if not it.isascii()]
    letters = sum(it.isalpha() for it in text)
    return len(beyond) * 3 <= letters and all(it in _WESTERN for it in beyond)
