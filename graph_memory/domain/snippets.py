"""Snippets: the part of a text that shows why it was found."""

import re
from collections.abc import Iterator, Sequence

from graph_memory.domain.queries import TextQuery
from graph_memory.domain.query_words import has_unspaced_script
from graph_memory.domain.text_queries import positive_terms

MAX_SNIPPET = 240
"""Characters of a snippet without its ellipses."""
_ELLIPSIS = "…"
_MAX_NEEDLES = 48
_MAX_PLACES = 64
_MIN_STEM = 3
_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
_ENDINGS = ("ations", "ation", "ingly", "ings", "ing", "ies", "ied", "edly", "ely", "ed", "es", "ly", "s", "e", "y")
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


def make_snippet(text: str, query: TextQuery, length: int = MAX_SNIPPET) -> str:
    """Return about `length` characters of `text` around most of what `query` looks for, on one line.

    Words match in any inflection. Where nothing matches (the title or a tag did) it is the beginning. Nothing is added
    but `…` where text was left out: no markup, so a snippet is as harmless as the text. Time is linear in the text.
    """
    start = _best_start(_places(text, _needles(query)), length)
    return _window(text, start, length)


def _needles(query: TextQuery) -> Sequence[str]:
    """List in lower case what to look for: whole terms first, since those show most, then the stems of their words."""
    terms = [term.words.lower() for term in positive_terms(query)]
    stems = [_stem(word) for term in terms for word in _WORD.findall(term)]
    return list(dict.fromkeys([*terms, *stems]))[:_MAX_NEEDLES]


def _stem(word: str) -> str:
    """Cut an English ending off, so that what is left begins the other inflections as well."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return word[: -len(ending)]
    return word


def _places(text: str, needles: Sequence[str]) -> Sequence[tuple[int, int]]:
    """List where needles begin a word, as (position, needle), by position; a bounded number of each."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # A letter like İ gets longer in lower case and would move everything behind it.
        lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return sorted((at, number) for number, needle in enumerate(needles) for at in _occurrences(lowered, needle))


def _occurrences(lowered: str, needle: str) -> Iterator[int]:
    is_anywhere = has_unspaced_script(needle) or not needle[0].isalnum()
    at = lowered.find(needle)
    count = 0
    while at >= 0 and count < _MAX_PLACES:
        if is_anywhere or at == 0 or not lowered[at - 1].isalnum():
            yield at
            count += 1
        at = lowered.find(needle, at + len(needle))


def _best_start(places: Sequence[tuple[int, int]], length: int) -> int:
    """Return where the window begins that shows the most different needles; the first of equals, with some text before.

    Two ends move along the sorted places, so every place is added and taken out once.
    """
    counts: dict[int, int] = {}
    best, best_first, first = 0, 0, 0
    for position, needle in places:
        counts[needle] = counts.get(needle, 0) + 1
        while places[first][0] < position - length * 2 // 3:
            gone = places[first][1]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            first += 1
        if len(counts) > best:
            best, best_first = len(counts), first
    return max(0, places[best_first][0] - length // 6) if places else 0


def _window(text: str, start: int, length: int) -> str:
    end = min(len(text), start + length)
    start = max(0, min(start, len(text) - length))
    if start > 0:
        start = _after_break(text, start)
    if end < len(text):
        end = _before_break(text, end)
    shown = _SPACE.sub(" ", text[start:end].translate(_CONTROLS)).strip()
    return f"{_ELLIPSIS if start > 0 else ''}{shown}{_ELLIPSIS if end < len(text) else ''}"


_LONGEST_CUT = 24
"""How many characters a window gives up to begin or end between words."""


def _after_break(text: str, at: int) -> int:
    for i in range(at, min(at + _LONGEST_CUT, len(text))):
        if text[i - 1].isspace():
            return i
    return at


def _before_break(text: str, at: int) -> int:
    for i in range(at, max(at - _LONGEST_CUT, 0), -1):
        if text[i].isspace():
            return i
    return at
