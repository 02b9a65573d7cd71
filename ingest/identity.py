"""What a document is: the key of its bytes, the path it was found under, and the id that both make."""

import os
import unicodedata
from hashlib import sha256
from pathlib import PurePath

from graph_memory.domain.names import short_hash

_KEY_LENGTH = 32
_ID_LENGTH = 20


def content_key(data: bytes) -> str:
    """Return the key of a document: 32 hex digits over its raw bytes, before anything is decoded."""
    return sha256(data).hexdigest()[:_KEY_LENGTH]


def chunk_key(document_key: str, number: int) -> str:
    """Return the key of the `number`-th chunk of a document, from 0."""
    return sha256(f"chunk\0{document_key}\0{number}".encode()).hexdigest()[:_KEY_LENGTH]


def item_id(key: str, path: str) -> str:
    """Return the id of a document in the ledger: from its content and its path alone."""
    return "d-" + short_hash(f"{key}\0{path}", _ID_LENGTH)


def document_path(relative: PurePath) -> str:
    """Return the path that is part of what a document is: in NFC, with forward slashes.

    Bytes of a name that are not UTF-8 are escaped, so that no two names become one.
    """
    return unicodedata.normalize("NFC", os.fsencode(relative.as_posix()).decode(errors="backslashreplace"))
