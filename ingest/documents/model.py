"""What is read of a document."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from graph_memory.domain.entities import JsonValue

_NOTHING: Mapping[str, JsonValue] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Document:
    """A document as text.

    `text` is what is remembered: of Markdown the body, with the links of its front matter at the end, of other formats
    what a person would read. `project`, `authors`, `tags` and `written_at` are what it says of itself.
    """

    title: str
    text: str
    media_type: str
    front_matter: Mapping[str, JsonValue] = field(default_factory=lambda: _NOTHING)
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    project: str | None = None
    written_at: datetime | None = None
    warnings: tuple[str, ...] = ()
