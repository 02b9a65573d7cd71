"""Names and their keys: when two spellings are one thing."""

import hashlib
import re
import unicodedata
from functools import lru_cache

from graph_memory.domain.errors import InvalidRequest

MAX_NAME = 1_000
"""Longest entity name, in characters."""
MAX_TYPE = 200
"""Longest name of an entity type or a relation type, in characters."""
_SUFFIX_LENGTH = 6
_NOT_WORD = re.compile(r"[\W_]+")
_SEPARATORS = re.compile(r"[\s_\-]+")

ENTITY_TYPES = ("Person", "Project", "Preference", "Concept", "Decision", "Fact", "Event", "Object", "Alias")
RELATION_TYPES = (
    "WORKS_ON",
    "PREFERS",
    "KNOWS_ABOUT",
    "USES_TECH",
    "RELATED_TO",
    "PARTICIPATED_IN",
    "USES",
    "CONTRADICTS",
    "SUPERSEDES",
    "MENTIONS",
    "DEPENDS_ON",
    "PRODUCED",
    "LED_TO",
    "INVOLVED_IN",
    "ALIAS_OF",
    "WORKS_AT",
    "REPORTS_TO",
    "HOSTED_ON",
    "LIVES_IN",
    "HAS_STATUS",
)
"""The vocabulary whose spelling is kept as it stands here; every other type is as good."""


def clean_name(name: str, *, argument: str = "name", at_most: int = MAX_NAME) -> str:
    """Return the display form of a name: NFC, trimmed, inner white space collapsed.

    Raises:
        InvalidRequest: nothing is left, or it is longer than `at_most` characters.
    """
    cleaned = " ".join(unicodedata.normalize("NFC", _without_controls(name)).split())
    if not cleaned:
        msg = f"{argument}: is empty; give a name"
        raise InvalidRequest(msg, argument=argument)
    if len(cleaned) > at_most:
        msg = f"{argument}: has {len(cleaned)} characters; at most {at_most} are kept"
        raise InvalidRequest(msg, argument=argument)
    return cleaned


def _without_controls(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(c) in {"Cc", "Cs"} else c for c in text)


def name_key(name: str) -> str:
    """Return what two spellings of one name share: NFC, trimmed, white space collapsed, case-folded.

    Folding may denormalise, so the result is normalised again.
    """
    cleaned = " ".join(unicodedata.normalize("NFC", _without_controls(name)).split())
    return unicodedata.normalize("NFC", cleaned.casefold())


def type_key(name: str) -> str:
    """Return what two spellings of one type share: `uses_tech`, `Uses Tech` and `USES-TECH` are one."""
    # There are few types and each is asked for with every row; what is too long to be one is not remembered.
    return _remembered_type_key(name) if len(name) <= MAX_TYPE else _made_type_key(name)


def _made_type_key(name: str) -> str:
    return _SEPARATORS.sub("_", name_key(name))


_remembered_type_key = lru_cache(maxsize=1_024)(_made_type_key)


_ENTITY_TYPE_SPELLING = {type_key(name): name for name in ENTITY_TYPES}
_RELATION_TYPE_SPELLING = {type_key(name): name for name in RELATION_TYPES}


def clean_type(name: str, *, argument: str) -> str:
    """Return the display form of an entity or relation type as given; vocabulary is not applied.

    Raises:
        InvalidRequest: it is empty or longer than 200 characters.
    """
    return clean_name(name, argument=argument, at_most=MAX_TYPE)


def entity_type_spelling(name: str) -> str:
    """Return the vocabulary's spelling of an entity type, or the name as it is."""
    return _ENTITY_TYPE_SPELLING.get(type_key(name), name)


def relation_type_spelling(name: str) -> str:
    """Return the vocabulary's spelling of a relation type, or the name as it is."""
    return _RELATION_TYPE_SPELLING.get(type_key(name), name)


def short_hash(text: str, length: int = _SUFFIX_LENGTH) -> str:
    """Return `length` hexadecimal digits that depend on the text alone."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()[:length]


def slugify(text: str) -> str:
    """Return letters and digits of any script in lower case, joined by hyphens; may be empty."""
    return _NOT_WORD.sub("-", name_key(text)).strip("-")


def entity_slug(name: str) -> str:
    """Return the id that an entity gets where nobody else has it."""
    return slugify(name) or f"entity-{short_hash(name_key(name))}"


def suffixed_entity_slug(type_name: str, name: str) -> str:
    """Return the id of an entity whose plain slug is taken: the suffix comes from its key, never a counter."""
    return f"{entity_slug(name)}-{short_hash(type_key(type_name) + chr(0) + name_key(name))}"


def memory_slug(title: str) -> str:
    """Return the slug of a memory's title; one without letters or digits gets `memory-` and a hash."""
    return slugify(title) or f"memory-{short_hash(name_key(title))}"


def suffixed_memory_slug(title: str) -> str:
    """Return the slug of a title whose plain slug is taken in its project, as for `C`, `C++` and `C#`."""
    return f"{memory_slug(title)}-{short_hash(name_key(title))}"
