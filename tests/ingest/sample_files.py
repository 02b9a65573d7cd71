"""Small files of the kinds that other programs write, made when a test needs them."""

import zlib
from collections.abc import Sequence
from email.message import EmailMessage
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "application/vnd.openxmlformats-"


def pdf(pages: Sequence[str]) -> bytes:
    """Return a PDF of pages of lines in Latin letters, compressed as programs do."""
    objects: list[bytes] = []

    def add(content: bytes) -> int:
        objects.append(content)
        return len(objects)

    font = add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids, parent = [], 2 * len(pages) + 2
    for page in pages:
        drawn = zlib.compress(f"BT /F1 11 Tf 14 TL 60 780 Td {' '.join(map(_shown, page.splitlines()))} ET".encode())
        stream = add(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(drawn), drawn))
        fonts = b"/Resources << /Font << /F1 %d 0 R >> >>" % font
        kids.append(
            add(
                b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Contents %d 0 R %s >>"
                % (parent, stream, fonts)
            )
        )
    add(b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % it for it in kids)))
    return pdf_of(objects, add(b"<< /Type /Catalog /Pages %d 0 R >>" % parent))


def pdf_of(objects: Sequence[bytes], root: int) -> bytes:
    written, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % it for it in offsets)
    end = b"trailer << /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, root, len(written))
    return written + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (len(objects) + 1, table, end)


def _shown(line: str) -> str:
    escaped = line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"({escaped}) Tj T*"


def docx(body: str, *, prologue: str = "") -> bytes:
    """Return a Word document of paragraphs in its own XML; see `paragraph`."""
    return package(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{_TYPES}officedocument.wordprocessingml.document.'
            'main+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
            f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f'<?xml version="1.0" encoding="UTF-8"?>{prologue}'
            f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        }
    )


def paragraph(text: str, style: str = "") -> str:
    look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{look}<w:r><w:t>{text}</w:t></w:r></w:p>"


def epub(title: str, author: str, chapters: Sequence[str]) -> bytes:
    names = [f"chapter{number}.xhtml" for number in range(1, len(chapters) + 1)]
    items = "".join(f'<item id="{it}" href="{it}" media-type="application/xhtml+xml"/>' for it in names)
    spine = "".join(f'<itemref idref="{it}"/>' for it in names)
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
        '<rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles>'
        "</container>",
        "OEBPS/content.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    for name, chapter in zip(names, chapters, strict=True):
        parts[f"OEBPS/{name}"] = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{chapter}</body></html>'
    return package(parts)


def package(parts: dict[str, str]) -> bytes:
    """Return parts in one zip file."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as zipped:
        for name, text in parts.items():
            zipped.writestr(name, text)
    return file.getvalue()


def eml() -> bytes:
    """Return a message in two forms, with an attachment and a forwarded message."""
    older = EmailMessage()
    older["From"], older["Subject"] = "Grace <grace@example.org>", "The foghorn"
    older.set_content("It stutters below five degrees.")
    message = EmailMessage()
    message["From"] = "Ada Lovelace <ada@example.org>"
    message["To"] = "keeper@example.org"
    message["Date"] = "Thu, 15 Jan 2026 12:30:00 +0100"
    message["Subject"] = "The spare bulb – naïve question"
    message.set_content("It is in the drawer under the barometer.\n")
    message.add_alternative("<p>It is in the <b>drawer</b> under the barometer.</p>", subtype="html")
    message.add_attachment(b"\x00\x01", maintype="application", subtype="pdf", filename="drawer plan.pdf")
    message.add_attachment(older)
    return message.as_bytes()
