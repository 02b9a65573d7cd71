"""PDF, Office documents and e-books, by the extra `formats`; imported only where one is read, in a process of its own.

Converters are called one by one, for the kind that the file's name says. What `markitdown` offers around them is not
used: it guesses kinds with a model, follows addresses, and loads plug-ins.
"""

import re
import warnings
from collections.abc import Callable
from io import BytesIO
from zipfile import BadZipFile, ZipFile

import defusedxml

from graph_memory.domain.errors import IngestError
from ingest.documents.model import Document
from ingest.documents.tables import row_lines

Read = Callable[[bytes, str, int], Document]

_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_MEDIA_TYPES = {
    ".pdf": "application/pdf",
    ".docx": f"{_OPEN_XML}wordprocessingml.document",
    ".xlsx": f"{_OPEN_XML}spreadsheetml.sheet",
    ".pptx": f"{_OPEN_XML}presentationml.presentation",
    ".epub": "application/epub+zip",
}
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
_BLANK_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n){2,}")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_AUTHORS = re.compile(r"^\*\*Authors:\*\* (.+)$", re.MULTILINE)


def reader_of(suffix: str) -> Read:
    """Import what a kind needs and return its reader.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    warnings.simplefilter("ignore")
    defusedxml.defuse_stdlib()
    if suffix == ".xlsx":
        return _workbook_reader()
    return _converter_reader(suffix)


def _converter_reader(suffix: str) -> Read:
    from markitdown import DocumentConverter, StreamInfo
    from markitdown.converters import DocxConverter, EpubConverter, PdfConverter, PptxConverter

    kinds: dict[str, type[DocumentConverter]] = {
        ".pdf": PdfConverter,
        ".docx": DocxConverter,
        ".pptx": PptxConverter,
        ".epub": EpubConverter,
    }
    for module in _needed(suffix):
        __import__(module)
    converter, info = kinds[suffix](), StreamInfo(extension=suffix)

    def read(raw: bytes, name: str, most_bytes: int) -> Document:
        if suffix != ".pdf":
            _check_package(raw, suffix, most_bytes)
        try:
            result = converter.convert(BytesIO(raw), info)
        except Exception as error:
            raise _explained(error, suffix) from error
        text = _plain(result.markdown)
        if not text:
            raise IngestError("the file holds no text" + _if_scanned(suffix))
        heading = _HEADING.search(text) if suffix != ".pdf" else None
        title = result.title or (heading[1] if heading else "") or name
        authors = _AUTHORS.search(result.markdown) if suffix == ".epub" else None
        named = tuple(it.strip() for it in authors[1].split(",")) if authors else ()
        return Document(title, text, _MEDIA_TYPES[suffix], authors=named)

    return read


def _workbook_reader() -> Read:
    import openpyxl

    def read(raw: bytes, name: str, most_bytes: int) -> Document:
        _check_package(raw, ".xlsx", most_bytes)
        book = openpyxl.load_workbook(BytesIO(raw), read_only=True, data_only=True, keep_links=False)
        parts = []
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what a sheet says of its size may be a million empty rows
            lines = list(row_lines(sheet.iter_rows(values_only=True)))
            if lines:
                parts.append(f"## {sheet.title}\n\n" + "\n".join(lines))
        if not parts:
            raise IngestError("the file holds no text")
        return Document(name, "\n\n".join(parts), _MEDIA_TYPES[".xlsx"])

    return read


def _needed(suffix: str) -> tuple[str, ...]:
    """Return what a converter needs, which fails late, in words of its own, where that is missing."""
    needed = {".pdf": ("pdfminer", "pdfplumber"), ".docx": ("mammoth", "lxml"), ".pptx": ("pptx",)}
    return needed.get(suffix, ())


def _check_package(raw: bytes, suffix: str, most_bytes: int) -> None:
    """Refuse what is no package of parts, or unpacks to more than there is room for."""
    if raw.startswith(_OLD_OFFICE):
        raise IngestError(f"the file is protected by a password, or of a kind older than {suffix}")
    try:
        with ZipFile(BytesIO(raw)) as package:
            unpacked = sum(it.file_size for it in package.infolist())
    except BadZipFile:
        raise IngestError(f"the file is damaged, or no {suffix}") from None
    if unpacked > most_bytes:
        raise IngestError(f"the file unpacks to {unpacked} bytes, more than reading may take (ingest.convert_mb)")


def _explained(error: Exception, suffix: str) -> Exception:
    """Return an error in our own words, where it is one that people meet."""
    names = {type(it).__name__ for it in (error, error.__cause__, error.__context__) if it is not None}
    if any("Password" in it or "Encrypt" in it for it in names):
        return IngestError("the file is protected by a password")
    if names & {"EntitiesForbidden", "DTDForbidden", "ExternalReferenceForbidden"}:
        return IngestError(f"the file defines entities of XML, which no {suffix} needs and attacks do")
    return error


def _if_scanned(suffix: str) -> str:
    return "; where it was scanned, its pages are pictures, which need recognition of text first" * (suffix == ".pdf")


def _plain(markdown: str) -> str:
    """Return the text without what only a renderer needs: comments, files of pictures, escapes, pages' ends."""
    text = markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n").replace("\0", "")
    text = _PICTURE.sub(r"\1", _COMMENT.sub("", text))
    return _BLANK_LINES.sub("\n\n", _ESCAPE.sub(r"\1", text)).strip()
