"""E-mail as a file: who wrote to whom and when, what they wrote, and what was attached, by name."""

import email.policy
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import EmailMessage
from email.parser import BytesParser
from typing import cast

from graph_memory.domain.errors import IngestError
from ingest.documents.model import Document
from ingest.documents.webpage import read_webpage

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_MOST_DEPTH = 20
_MOST_PARTS = 1_000
_ALTERNATIVES = ("text/plain", "text/html")


def read_mail(raw: bytes, name: str) -> Document:
    """Read a message of RFC 5322; its parts of text are read, all others named.

    Raises:
        IngestError: it has no header of a message, or more parts than any message.
    """
    message = BytesParser(policy=email.policy.default).parsebytes(raw)
    headers = [f"{it}: {_header(message, it)}" for it in _SHOWN if _header(message, it)]
    if not headers:
        raise IngestError("the file is no e-mail: it has none of the headers of one")
    found = _Found()
    found.take(message, 0)
    parts = ["\n".join(headers), *found.texts]
    if found.attachments:
        parts.append("Attachments: " + ", ".join(found.attachments))
    return Document(
        _header(message, "Subject") or name,
        "\n\n".join(parts),
        "message/rfc822",
        authors=tuple(_authors(message)),
        written_at=_written_at(message),
    )


class _Found:
    """What a message holds, as it is walked through."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.attachments: list[str] = []
        self._parts = 0

    def take(self, part: EmailMessage, depth: int) -> None:
        self._parts += 1
        if depth > _MOST_DEPTH or self._parts > _MOST_PARTS:
            raise IngestError("the e-mail has more parts within parts than any that a person sent")
        kind, file_name = part.get_content_type(), part.get_filename()
        if kind == "message/rfc822":
            for inner in cast("list[EmailMessage]", part.get_payload()):
                self._take_message(inner, depth)
        elif kind == "multipart/alternative":
            self.take(self._best(part), depth + 1)
        elif part.is_multipart():
            for inner in cast("list[EmailMessage]", part.get_payload()):
                self.take(inner, depth + 1)
        elif file_name or part.get_content_disposition() == "attachment" or part.get_content_maintype() != "text":
            self.attachments.append(" ".join((file_name or kind).split()))
        else:
            text = _text(part, kind)
            if text.strip():
                self.texts.append(text.strip())

    def _take_message(self, message: EmailMessage, depth: int) -> None:
        headers = [f"{it}: {_header(message, it)}" for it in _SHOWN if _header(message, it)]
        self.texts.append("\n".join(("Forwarded message", *headers)))
        self.take(message, depth + 1)

    @staticmethod
    def _best(part: EmailMessage) -> EmailMessage:
        """Return the plainest of several forms of the same that says anything; the last one has most."""
        inner = cast("list[EmailMessage]", part.get_payload()) if part.is_multipart() else []
        if not inner:
            raise IngestError("the e-mail is damaged: it announces parts and has none")
        for kind in _ALTERNATIVES:
            for it in inner:
                if it.get_content_type() == kind and _text(it, kind).strip():
                    return it
        return inner[-1]


def _text(part: EmailMessage, kind: str) -> str:
    try:
        said = part.get_content()
    except (LookupError, UnicodeError, ValueError):
        payload = part.get_payload(decode=True)
        said = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    text = said if isinstance(said, str) else ""
    text = text.replace("\r\n", "\n")
    return read_webpage(text, "").text if kind == "text/html" else text


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except Exception:  # noqa: BLE001 - the parser of headers breaks on some in ways of its own
        return ""


def _authors(message: EmailMessage) -> Iterator[str]:
    try:
        addresses = message["From"].addresses
    except Exception:  # noqa: BLE001 - as above
        return
    yield from (it.display_name for it in addresses if it.display_name)


def _written_at(message: EmailMessage) -> datetime | None:
    try:
        at = message["Date"].datetime
    except Exception:  # noqa: BLE001 - as above
        return None
    if not isinstance(at, datetime):
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
