"""Words that tell nothing, and words that tell much."""

import hashlib
from collections.abc import Sequence

from graph_memory.adapters.sqlite.rows import listed
from graph_memory.adapters.sqlite.session import Session, composed
from graph_memory.adapters.sqlite.text import PRIVATE, tokens

_SHARE = 500
_FLOOR = 50
"""A word is common in more than one of 500 memories, and in more than 50: a small store leaves nothing out."""

_VERSION = "select version from common_terms where tenant = ?"
_TERMS = "select version, terms from common_terms where tenant = ?"
_KEEP = """
    insert into common_terms (tenant, version, terms) values (?, ?, ?)
    on conflict (tenant) do update set version = excluded.version, terms = excluded.terms
"""
_COUNT = "select count(*) from memories where tenant = ?"
_COMMON = "select term from memories_words$index where doc > ? and substr(term, 1, 1) <> ? order by term"
_FREQUENCY = """
    select wanted.value, words.doc from json_each(?) as wanted
    cross join memories_words$index as words on words.term = wanted.value
"""


class CommonTerms:
    """The common words of each tenant as this process read them last; read again when the store's version differs."""

    def __init__(self) -> None:
        self._sets: dict[int, tuple[str, frozenset[str]]] = {}

    def of(self, session: Session) -> frozenset[str]:
        """Return the common words of a tenant, none where they were never determined."""
        version = session.value(_VERSION, (session.tenant,))
        known = self._sets.get(session.tenant)
        if known is not None and known[0] == version:
            return known[1]
        if version is None:
            return frozenset()
        kept = session.row(_TERMS, (session.tenant,))
        version, terms = kept or ("", "")
        self._sets[session.tenant] = version, frozenset(terms.split("\n") if terms else ())
        return self._sets[session.tenant][1]


def renew(session: Session) -> int:
    """Determine the common words of a tenant from what is stored; return how many there are."""
    floor = max(_FLOOR, session.value(_COUNT, (session.tenant,)) / _SHARE)
    rows = session.rows(composed(_COMMON, index=session.index), (floor, PRIVATE))
    terms = "\n".join(term for (term,) in rows)
    version = hashlib.blake2b(terms.encode(), digest_size=16).hexdigest()
    session.run(_KEEP, (session.tenant, version, terms))
    return len(rows)


def rare_terms(session: Session, common: frozenset[str], text: str, limit: int) -> Sequence[str]:
    """Return the words of a text that the fewest memories have, ties by the word; common and unknown ones left out.

    Words are returned as they are written: a stem is not always its own stem, so it would not find itself.
    """
    words: dict[str, str] = {}
    for token in tokens(session.connection, text):
        if token.stem not in common:
            words.setdefault(token.stem, token.surface)
    frequencies = session.rows(composed(_FREQUENCY, index=session.index), (listed(words),))
    return [word for _, word in sorted((count, words[stem]) for stem, count in frequencies)[:limit]]
