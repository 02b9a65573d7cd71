"""Drafts: memories as callers write them, checked, cleaned and redacted before they are stored."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.instants import parse_instant
from graph_memory.domain.memories import GLOBAL_PROJECT, Layer, Lifecycle, Memory, Source
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.names import clean_name, name_key, short_hash
from graph_memory.domain.ranking import MAX_IMPORTANCE
from graph_memory.domain.redaction import redact

MAX_LABEL = 200
"""Longest category, project, session or tag, in characters."""
MAX_TAGS = 100
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_NO_COUNTS: Mapping[str, int] = MappingProxyType({})

EnumT = TypeVar("EnumT", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """What a caller wants remembered, as it came.

    `created_at` is when it was said (default: now). A draft with a `content_key` comes from ingest: its title may be
    taken, then one of `other_titles` is used, else the title with a hash of the key. `is_auto_linked` says whether it
    is linked to memories that speak of the same.
    """

    title: str
    content: str
    category: str
    project_id: str = GLOBAL_PROJECT
    layer: str = Layer.EPISODIC
    lifecycle: str = Lifecycle.MILESTONE
    source: str = Source.SESSION
    summary: str | None = None
    tags: Sequence[str] = ()
    confidence: float = 1.0
    importance_score: float = 1.0
    session_id: str | None = None
    expires_at: str | date | datetime | None = None
    created_at: datetime | None = None
    content_key: str | None = None
    source_file: str | None = None
    is_abandoned: bool = False
    other_titles: Sequence[str] = ()
    is_auto_linked: bool = True


@dataclass(frozen=True, slots=True)
class PreparedDraft:
    """A memory that can be stored but for its id and slug; `titles` are those it may have, the wanted one first.

    `redactions` counts the secrets taken out, by kind.
    """

    memory: Memory
    titles: tuple[str, ...]
    is_auto_linked: bool = True
    warnings: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=lambda: _NO_COUNTS)


class Redactor:
    """Takes secrets out of the texts of one draft and counts them."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def clean(self, text: str) -> str:
        """Return a text without secrets and without what no store can hold."""
        redacted = redact(_UNSTORABLE.sub(_REPLACEMENT, text))
        self._counts.update(redacted.counts)
        return redacted.text

    @property
    def counts(self) -> Mapping[str, int]:
        """The secrets taken out so far, by kind."""
        return dict(self._counts)


def prepare_draft(draft: MemoryDraft, now: datetime, policy: MemoryPolicy) -> PreparedDraft:
    """Check, clean and redact a draft; numbers out of range are clamped, with a warning.

    Raises:
        InvalidRequest: an argument can't be used; the text names it.
    """
    redactor, warnings = Redactor(), list[str]()
    titles = _titles(draft, redactor)
    lifecycle = _choice(Lifecycle, draft.lifecycle, "lifecycle")
    memory = Memory(
        title=titles[0],
        slug="",
        content=clean_content(draft.content, redactor),
        category=clean_name(draft.category, argument="category", at_most=MAX_LABEL),
        created_at=draft.created_at or now,
        updated_at=now,
        project_id=clean_name(draft.project_id, argument="project_id", at_most=MAX_LABEL),
        layer=_choice(Layer, draft.layer, "layer"),
        lifecycle=lifecycle,
        source=_choice(Source, draft.source, "source"),
        summary=clean_summary(draft.summary, redactor),
        tags=clean_tags(draft.tags, redactor),
        session_id=_optional_name(draft.session_id, "session_id"),
        confidence=clamped(draft.confidence, 1.0, "confidence", warnings),
        importance_score=clamped(draft.importance_score, MAX_IMPORTANCE, "importance_score", warnings),
        expires_at=_expiry(draft.expires_at, lifecycle, now, policy, warnings),
        content_key=draft.content_key,
        source_file=draft.source_file,
        is_abandoned=draft.is_abandoned,
    )
    return PreparedDraft(memory, titles, draft.is_auto_linked, tuple(warnings), redactor.counts)


def clean_title(title: str, redactor: Redactor) -> str:
    """Return a title as it is stored: on one line, without secrets.

    Raises:
        InvalidRequest: it is empty or too long.
    """
    return clean_name(redactor.clean(clean_name(title, argument="title")), argument="title")


def clean_content(content: str, redactor: Redactor) -> str:
    """Return a content as it is stored: as written, without secrets.

    Raises:
        InvalidRequest: there is nothing in it.
    """
    if not content.strip():
        raise InvalidRequest("content: is empty; give the text to remember", argument="content")
    return redactor.clean(content)


def clean_summary(summary: str | None, redactor: Redactor) -> str | None:
    """Return a summary as it is stored; an empty one is none."""
    return redactor.clean(summary).strip() or None if summary is not None else None


def clean_tags(tags: Iterable[str], redactor: Redactor) -> tuple[str, ...]:
    """Return tags as they are stored: without `#`, in their first spelling, each once, in order; empty ones dropped.

    Raises:
        InvalidRequest: a tag is too long, or there are too many.
    """
    spelled: dict[str, str] = {}
    for tag in tags:
        plain = redactor.clean(tag).strip().lstrip("#")
        if key := name_key(plain):
            spelled.setdefault(key, clean_name(plain, argument="tags", at_most=MAX_LABEL))
    if len(spelled) > MAX_TAGS:
        raise InvalidRequest(f"tags: are {len(spelled)}; at most {MAX_TAGS} are kept", argument="tags")
    return tuple(spelled.values())


def clamped(value: float, most: float, argument: str, warnings: list[str]) -> float:
    """Return a number within 0 and `most`; where it wasn't, a warning is added.

    Raises:
        InvalidRequest: it isn't a number.
    """
    if math.isnan(value):
        raise InvalidRequest(f"{argument}: is not a number", argument=argument)
    kept = min(max(float(value), 0.0), most)
    if kept != value:
        warnings.append(f"{argument}: {value} is outside 0 to {most:g} and was taken as {kept:g}")
    return kept


def _titles(draft: MemoryDraft, redactor: Redactor) -> tuple[str, ...]:
    title = clean_title(draft.title, redactor)
    if draft.content_key is None:
        return (title,)
    others = [clean_title(other, redactor) for other in draft.other_titles]
    return tuple(dict.fromkeys((title, *others, f"{title} ({short_hash(draft.content_key)})")))


def _choice(kind: type[EnumT], value: str, argument: str) -> EnumT:
    try:
        return kind(value)
    except ValueError:
        text = f"{argument}: {value!r:.80} is not one of {', '.join(kind)}"
        raise InvalidRequest(text, argument=argument) from None


def _optional_name(name: str | None, argument: str) -> str | None:
    return None if name is None or not name.strip() else clean_name(name, argument=argument, at_most=MAX_LABEL)


def _expiry(
    expires_at: str | date | datetime | None,
    lifecycle: Lifecycle,
    now: datetime,
    policy: MemoryPolicy,
    warnings: list[str],
) -> datetime | None:
    if expires_at is None:
        return now + timedelta(days=policy.ephemeral_days) if lifecycle is Lifecycle.EPHEMERAL else None
    parsed = parse_instant(expires_at, argument="expires_at")
    warnings.extend([parsed.warning] if parsed.warning else [])
    return parsed.at
