"""Which known names stand in a text, the longest where they overlap.

A name stands there when it is made of whole words. In scripts without spaces nothing marks a word, so every place in
them is a bound; Korean words begin at a space but end in particles, so only their beginning is one.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from graph_memory.domain.names import name_key

_SPACELESS = (
    r"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_HANGUL = r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
# Marks that belong to letters, which `\w` leaves out: accents, Hebrew and Arabic points, the signs of Indic scripts.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0df3\u1ab0-\u1aff\u1dc0-\u1dff\u200c-\u200d\u20d0-\u20ff"
)
_IN_WORD = re.compile(rf"(?![{_SPACELESS}{_HANGUL}])[\w{_MARKS}]")
_IS_HANGUL = re.compile(rf"[{_HANGUL}]")


def longest_matches(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return those of the known name keys that stand in a text, in its order; of overlapping ones the longest."""
    key = _text_key(text)
    names = [it for it in dict.fromkeys(known) if it and it in key]
    spans = [span for name in names for span in _places(name, key) if _is_bounded(key, *span)]
    taken: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda it: (it[0] - it[1], it[0])):
        place = bisect_left(taken, (start, end))
        is_free_before = place == 0 or taken[place - 1][1] <= start
        if is_free_before and (place == len(taken) or taken[place][0] >= end):
            taken.insert(place, (start, end))
    return tuple(dict.fromkeys(key[start:end] for start, end in taken))


def _text_key(text: str) -> str:
    """Return the key of a text; on one line, which is many times faster than leaving the line ends to `name_key`."""
    return name_key(" ".join(text.split()))


def _places(name: str, key: str) -> Iterator[tuple[int, int]]:
    start = key.find(name)
    while start >= 0:
        yield start, start + len(name)
        start = key.find(name, start + 1)


def _is_bounded(key: str, start: int, end: int) -> bool:
    """Tell whether whole words stand there."""
    if start > 0 and not _is_bound(key[start - 1], key[start], is_start=True):
        return False
    if end == len(key):
        return True
    following = key[end]
    if following in "+#" and _IN_WORD.match(key[end - 1]):
        return False  # C in C++
    return _is_bound(key[end - 1], following, is_start=False)


def _is_bound(before: str, after: str, *, is_start: bool) -> bool:
    """Tell whether a word may begin or end between two characters."""
    if _is_mark(after):
        return is_start and not before.isalnum() and not _is_mark(before)
    if _IS_HANGUL.match(before) and _IS_HANGUL.match(after):
        return not is_start
    return _IN_WORD.match(before) is None or _IN_WORD.match(after) is None


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter).startswith("M")
