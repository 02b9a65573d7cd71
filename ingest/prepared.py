"""A document made ready to be stored: read, redacted, cut into chunks; no store is needed for that."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath

from graph_memory.domain.drafts import MAX_LABEL, MAX_TAGS, MemoryDraft
from graph_memory.domain.markdown_blocks import BlockKind, iter_blocks
from graph_memory.domain.memories import GLOBAL_PROJECT, Source
from graph_memory.domain.redaction import redact
from graph_memory.domain.statements import EntityStatement
from ingest.chunking import split_text
from ingest.documents import Document
from ingest.identity import chunk_key
from ingest.mentions import TextNames, read_names
from ingest.name_index import NameIndex
from ingest.sidecars import Sidecar
from ingest.sources import PROJECT_TYPE, SESSION_TYPE

CATEGORY = "context"
AUTO_LINKED_CHUNKS = 50
"""Chunks of one document that are linked to what speaks of the same; looking for that costs milliseconds each."""
_OPENING_CHARS = 600
_HEADINGS = 100
_TITLE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document without its secrets; `redactions` counts them by kind.

    `texts` is its whole text, or, where it is long, an overview followed by its chunks. `titles` goes with them.
    """

    key: str
    path: str
    titles: tuple[str, ...]
    texts: tuple[str, ...]
    other_titles: tuple[str, ...]
    names: TextNames
    project_id: str = GLOBAL_PROJECT
    tags: tuple[str, ...] = ()
    written_at: datetime | None = None
    session_id: str | None = None
    weight: float | None = None
    source: str | None = None
    media_type: str = ""
    redactions: Mapping[str, int] = field(default_factory=dict)

    @property
    def chunks(self) -> Sequence[str]:
        """The chunks of a long document."""
        return self.texts[1:]

    def drafts(self) -> Sequence[MemoryDraft]:
        """Return the memories it becomes: itself, or its overview and its chunks."""
        return [self.draft(number) for number in range(len(self.texts))]

    def draft(self, number: int) -> MemoryDraft:
        """Return its memory, else its `number`-th chunk, from 1."""
        is_whole = number == 0
        return MemoryDraft(
            title=self.titles[number],
            content=self.texts[number],
            category=CATEGORY,
            project_id=self.project_id,
            source=Source.IMPORT,
            tags=self.tags,
            session_id=self.session_id,
            created_at=self.written_at,
            content_key=self.content_key(number),
            source_file=self.path,
            other_titles=self.other_titles if is_whole else (part_title(self.titles[0], number),),
            is_auto_linked=number <= AUTO_LINKED_CHUNKS,
        )

    def content_key(self, number: int) -> str:
        """Return the key of its memory, else of its `number`-th chunk."""
        return self.key if number == 0 else chunk_key(self.key, number - 1)


def prepare(
    key: str, path: str, document: Document, sidecar: Sidecar, index: NameIndex, *, whole: int, chunk: int
) -> Prepared:
    """Make a document ready: what its sidecar says counts before what it says itself.

    `whole` and `chunk` are the characters of the longest text in one piece, and of a chunk.
    """
    redacted = redact(document.text)
    pieces = split_text(redacted.text, whole=whole, chunk=chunk)
    title = _shortened(redact(document.title).text)
    is_long = len(pieces) > 1
    project = redact(sidecar.project_id or document.project or GLOBAL_PROJECT).text[:MAX_LABEL]
    session = sidecar.session_id[:MAX_LABEL] if sidecar.session_id is not None else None
    tags = _tags(document.tags)
    names = read_names(
        named_text(title, redacted.text),
        index,
        tags=tags,
        hints=sidecar.topic_hints,
        authors=sidecar.authors or document.authors,
    )
    return Prepared(
        key=key,
        path=path,
        titles=(title, *(_chunk_titles(title, pieces) if is_long else ())),
        texts=(_overview(redacted.text), *pieces) if is_long else pieces,
        other_titles=_other_titles(title, path),
        names=with_context(names, project, session),
        project_id=project,
        tags=tags,
        written_at=sidecar.written_at or document.written_at,
        session_id=session,
        weight=sidecar.weight,
        source=sidecar.source,
        media_type=document.media_type,
        redactions=redacted.counts,
    )


def named_text(title: str, text: str) -> str:
    """Return what of a document is read for names."""
    return f"{title}\n\n{text}"


def with_context(names: TextNames, project_id: str, session_id: str | None) -> TextNames:
    """Add the project and the session that a document is of to what it names."""
    context = []
    if project_id != GLOBAL_PROJECT:
        context.append(EntityStatement(project_id, PROJECT_TYPE))
    if session_id is not None:
        context.append(EntityStatement(session_id, SESSION_TYPE))
    return replace(names, stated=(*context, *names.stated))


def part_title(title: str, number: int) -> str:
    """Return the title of a chunk that no heading names."""
    return f"{title} – part {number}"


def _shortened(title: str) -> str:
    plain = " ".join(title.split())
    return plain if len(plain) <= _TITLE_CHARS else plain[: _TITLE_CHARS - 1].rstrip() + "…"


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    usable = (redact(it).text for it in tags if 0 < len(it) <= MAX_LABEL)
    return tuple(dict.fromkeys(usable))[:MAX_TAGS]


def _other_titles(title: str, path: str) -> tuple[str, ...]:
    """Return the title with its folder, the innermost alone or all of them, for when other content has it."""
    pure = PurePosixPath(path)
    folders = [pure.parent.name, *([] if pure.is_absolute() else [str(pure.parent)])]
    return tuple(dict.fromkeys(f"{title} ({redact(it).text})" for it in folders if it not in {"", "."}))


def _chunk_titles(title: str, pieces: Sequence[str]) -> list[str]:
    titles: list[str] = []
    taken = {title}
    for number, piece in enumerate(pieces, start=1):
        heading = next(iter(_headings(piece, 1)), None)
        named = title if heading is None else f"{title} – {_shortened(heading)}"
        titles.append(part_title(title, number) if named in taken else named)
        taken.add(titles[-1])
    return titles


def _overview(text: str) -> str:
    """Return how a long text begins, and its headings."""
    opening = text[:_OPENING_CHARS]
    if len(text) > _OPENING_CHARS:
        end = max(opening.rfind("\n\n"), opening.rfind(". ") + 1, opening.rfind("\n"))
        opening = opening[:end] if end > _OPENING_CHARS // 2 else opening.rsplit(" ", 1)[0]
    headings = [f"- {it}" for it in _headings(text, _HEADINGS)]
    return "\n\n".join(part for part in (opening.strip(), "\n".join(headings)) if part) or text[:_OPENING_CHARS]


def _headings(text: str, most: int) -> list[str]:
    found = []
    for block in iter_blocks(text):
        if block.kind is BlockKind.HEADING:
            heading = " ".join(" ".join(text[start:end] for start, end in block.ranges).split())
            plain = heading.replace("[[", "").replace("]]", "").strip()
            if plain:
                found.append(plain)
            if len(found) >= most:
                break
    return found
