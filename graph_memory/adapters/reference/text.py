"""How this store reads text. Simple rules, so that a test can foresee what is found.

- A text is its runs of letters, digits and marks; anything else stands between words.
- Words are compared in NFC, case-folded, without the diacritics of Latin, Greek and Cyrillic.
- A word matches itself; with `is_prefix`, what begins with it; in a script without spaces, what contains it.
- Several words in one term match when they stand together in this order.
- A score counts the places where the parts of the query match, each times the weight of the field it stands in.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from graph_memory.domain.queries import Clause, Operator, Term

_DIACRITICS = re.compile("[\u0300-\u036f]")
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff"  # Hiragana, Katakana
    "\u3400-\u9fff"  # Han
    "\uf900-\ufaff"  # Han, compatibility
    "\U00020000-\U0003ffff]"  # Han, the rare ones
)


class Field(NamedTuple):
    """A part of a document: its words, and how much a match in it counts."""

    words: Sequence[str]
    weight: float


@lru_cache(maxsize=10_000)
def words(text: str) -> tuple[str, ...]:
    """Split a text into words in the form in which they are compared."""
    folded = unicodedata.normalize("NFC", _DIACRITICS.sub("", unicodedata.normalize("NFD", text.casefold())))
    return tuple("".join(run) for is_word, run in groupby(folded, _is_of_word) if is_word)


def score(clause: Clause | None, document: Sequence[Field]) -> float:
    """Score a document; 0 when it does not match. A clause without parts matches nothing."""
    if clause is None or any(_part_score(part, document) for part in clause.excluded):
        return 0.0
    scores = [_part_score(part, document) for part in clause.parts if not _is_empty(part)]
    if clause.operator is Operator.AND and not all(scores):
        return 0.0
    return sum(scores)


def _part_score(part: Term | Clause, document: Sequence[Field]) -> float:
    if isinstance(part, Clause):
        return score(part, document)
    phrase = words(part.words)
    return sum(field.weight * _count(phrase, field.words, is_prefix=part.is_prefix) for field in document)


def _is_empty(part: Term | Clause) -> bool:
    """Tell whether a part is a term without any word, as `++` is; it restricts nothing."""
    return isinstance(part, Term) and not words(part.words)


def _count(phrase: Sequence[str], text: Sequence[str], *, is_prefix: bool) -> int:
    if not phrase:
        return 0
    last = len(phrase) - 1
    return sum(
        all(
            _is_match(wanted, text[start + place], is_prefix=is_prefix and place == last)
            for place, wanted in enumerate(phrase)
        )
        for start in range(len(text) - last)
    )


def _is_match(wanted: str, found: str, *, is_prefix: bool) -> bool:
    if _WITHOUT_SPACES.search(wanted):
        return wanted in found
    return found.startswith(wanted) if is_prefix else found == wanted


def _is_of_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM"


def trigrams(text: str) -> frozenset[str]:
    """Return the runs of three characters of a key, its ends padded so that every name has some."""
    padded = f" {text} " if text else ""
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def texts_within(value: object) -> Iterable[str]:
    """Walk JSON for the texts in it, names of properties aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts_within(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts_within(part)
