"""Documents: from bytes and a path to text, with what they say of themselves."""

from ingest.documents.bounds import Bounds
from ingest.documents.model import Document
from ingest.documents.reading import READABLE, read_document

__all__ = ["READABLE", "Bounds", "Document", "read_document"]
