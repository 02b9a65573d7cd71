"""Tombstones: what was forgotten, said without its words.

A tombstone's key is a content key of ingest as it is, or a kind with a hash of what is meant. Kinds other than content
keys speak of what was learned up to the instant of the tombstone, so that what somebody states afterwards is kept; a
session that was named itself is not learned any more at all.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

from graph_memory.domain.entities import Entity, EntityKey, Evidence, JsonValue
from graph_memory.domain.instants import to_micros
from graph_memory.domain.ledger import IngestItem, IngestState, Tombstone
from graph_memory.domain.memories import Memory, MemoryVersion
from graph_memory.domain.names import name_key, short_hash
from graph_memory.domain.time_spans import TimeSpan, parse_span

STUB_REASON = "forgotten"
_HASH = 32
_CURSOR = ("source", "session_id", "through", "last_event_id")


class Grave(StrEnum):
    """What a tombstone that is no content key speaks of; `…_UNTIL` of what was learned by then and no more."""

    SESSION = "session"
    SESSION_UNTIL = "session-until"
    FILE_UNTIL = "file-until"
    PROJECT_UNTIL = "project-until"
    ENTITY = "entity"
    ENTITY_UNTIL = "entity-until"
    MEMORY = "memory"
    TEXT = "text"
    DATES = "dates"


def _made_key(grave: Grave, value: str) -> str:
    return f"{grave}:{short_hash(value, _HASH)}"


grave_key = lru_cache(maxsize=4_096)(_made_key)
"""Return the key of a tombstone for a session, a file, a project; few of them are asked for again and again."""


def entity_grave(key: EntityKey, grave: Grave = Grave.ENTITY) -> str:
    """Return the key of a tombstone for an entity."""
    return grave_key(grave, "\0".join(key))


def dates_grave(span: TimeSpan) -> str:
    """Return the key of a tombstone for all that was said in a stretch of time."""
    return f"{Grave.DATES}:{span}"


def source_graves(session: str | None, project: str) -> Iterator[str]:
    """Yield the keys of the tombstones by which a turn or a document of them would not be learned."""
    if session is not None:
        yield grave_key(Grave.SESSION, session)
        yield grave_key(Grave.SESSION_UNTIL, session)
    yield grave_key(Grave.PROJECT_UNTIL, project)


def memory_graves(memory: Memory, versions: Iterable[MemoryVersion] = ()) -> Iterator[str]:
    """Yield the keys by which a memory is known again in a backup, beside its content key: its number, its texts."""
    yield _made_key(Grave.MEMORY, f"{memory.id}\0{to_micros(memory.created_at)}")
    for title, content in ((memory.title, memory.content), *((it.title, it.content) for it in versions)):
        yield _made_key(Grave.TEXT, f"{memory.project_id}\0{name_key(title)}\0{content}")


def session_of(meta: Mapping[str, JsonValue]) -> str | None:
    """Return the session that a document's metadata names."""
    return _text(meta.get("session_id"))


def project_of(meta: Mapping[str, JsonValue]) -> str | None:
    """Return the project that a document's metadata names."""
    return _text(meta.get("project_id")) or _text(meta.get("project"))


def _text(value: JsonValue) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """All tombstones of a tenant, to be asked of rows: of a backup, or of what is about to be learned."""

    stones: Mapping[str, datetime] = field(default_factory=dict)
    spans: tuple[tuple[TimeSpan, datetime], ...] = ()

    @classmethod
    def told_by(cls, tombstones: Iterable[Tombstone]) -> "Forgotten":
        """Make it of tombstones."""
        stones = {it.content_key: it.forgotten_at for it in tombstones}
        spans = []
        for key, at in stones.items():
            grave, _, rest = key.partition(":")
            if grave == Grave.DATES:
                spans.append((parse_span(rest, argument="tombstone"), at))
        return cls(stones, tuple(spans))

    def __bool__(self) -> bool:
        """Tell whether anything was forgotten."""
        return bool(self.stones)

    @property
    def has_entities(self) -> bool:
        """Tell whether any entity was forgotten itself, or went with the last of its source."""
        return any(it.startswith((f"{Grave.ENTITY}:", f"{Grave.ENTITY_UNTIL}:")) for it in self.stones)

    def may_have(self, session: str | None, file: str | None) -> bool:
        """Tell whether a contribution from there, then or at another time, was forgotten."""
        return (
            bool(self.spans)
            or (session is not None and grave_key(Grave.SESSION, session) in self.stones)
            or (session is not None and grave_key(Grave.SESSION_UNTIL, session) in self.stones)
            or (file is not None and grave_key(Grave.FILE_UNTIL, file) in self.stones)
        )

    def has_key(self, content_key: str | None) -> bool:
        """Tell whether a content key was forgotten."""
        return content_key in self.stones

    def has_turn(self, session: str | None, project: str, said_at: datetime | None) -> bool:
        """Tell whether what was said there and then must not be learned; of unknown time counts as of before."""
        return (
            (session is not None and grave_key(Grave.SESSION, session) in self.stones)
            or self._had(Grave.SESSION_UNTIL, session, said_at)
            or self._had(Grave.PROJECT_UNTIL, project, said_at)
            or (said_at is not None and any(span.has(said_at) for span, _ in self.spans))
        )

    def has_memory(self, memory: Memory) -> bool:
        """Tell whether a stored memory was forgotten."""
        learned_at = memory.updated_at
        return (
            memory.content_key in self.stones
            or any((at := self.stones.get(it)) is not None and learned_at <= at for it in memory_graves(memory))
            or self._had(Grave.PROJECT_UNTIL, memory.project_id, learned_at)
            or self._had_session(memory.session_id, learned_at)
            or self._had(Grave.FILE_UNTIL, memory.source_file, learned_at)
            or self._had_date(memory.created_at, learned_at)
        )

    def has_evidence(self, piece: Evidence, gone: Collection[int]) -> bool:
        """Tell whether a contribution was forgotten; `gone` are the numbers of the memories that were."""
        source = piece.provenance
        return (
            source.memory_id in gone
            or self._had_session(source.session, piece.at)
            or self._had(Grave.FILE_UNTIL, source.file, piece.at)
            or (is_said_alone(piece) and self._had_date(piece.at, piece.at))
        )

    def has_entity(self, entity: Entity, grave: Grave = Grave.ENTITY) -> bool:
        """Tell whether an entity was forgotten itself, or (`ENTITY_UNTIL`) went with the last of its source."""
        at = self.stones.get(entity_grave(entity.key, grave))
        return at is not None and entity.created_at <= at

    def has_item(self, item: IngestItem, gone: Collection[int]) -> bool:
        """Tell whether a document was forgotten; `gone` are the numbers of the memories that were."""
        return (
            item.content_key in self.stones
            or any(it in gone for it in item.memory_ids)
            or self._had(Grave.PROJECT_UNTIL, project_of(item.meta), item.updated_at)
            or self._had_session(session_of(item.meta), item.updated_at)
            or self._had(Grave.FILE_UNTIL, item.path, item.updated_at)
        )

    def _had_session(self, session: str | None, learned_at: datetime) -> bool:
        return any(self._had(it, session, learned_at) for it in (Grave.SESSION, Grave.SESSION_UNTIL))

    def _had(self, grave: Grave, value: str | None, when: datetime | None) -> bool:
        at = None if value is None else self.stones.get(grave_key(grave, value))
        return at is not None and (when is None or when <= at)

    def _had_date(self, said_at: datetime, learned_at: datetime) -> bool:
        return any(span.has(said_at) and learned_at <= at for span, at in self.spans)


def is_said_alone(piece: Evidence) -> bool:
    """Tell whether a contribution stands for itself: nothing that was read made it, so it was said when it came."""
    source = piece.provenance
    return source.memory_id is None and source.transcript is None and source.file is None


def stub_of(item: IngestItem) -> IngestItem | None:
    """Return what stays of a forgotten document: how far a cloud session was taken, so that it is not sent again."""
    if item.session_cursor is None:
        return None
    meta = {name: item.meta[name] for name in _CURSOR if name in item.meta}
    state = IngestState.COMPLETED
    return replace(
        item, path=item.id, meta=meta, state=state, reason=STUB_REASON, memory_ids=(), entity_count=0, relation_count=0
    )
