"""Names that a text may know: its runs of words as keys to look up, and those found, the longest where they overlap.

A name stands there when it is made of whole words. In scripts without spaces nothing marks a word, so every place in
them is a bound; Korean words begin at a space but end in particles, so only their beginning is one.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from graph_memory.domain.names import name_key

_MOST_TOKENS = 16
"""Words, or characters of scripts without spaces, in one name; a long path has more and is no name as a whole."""
_FIRST_SPACELESS, _FIRST_HANGUL = "\u0e00", "\u1100"
_LONGEST = 200
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
_TOKEN = re.compile(rf"[{_SPACELESS}][\u0300-\u036f]*|[{_HANGUL}]+|(?:(?![{_SPACELESS}{_HANGUL}])[\w{_MARKS}])+[+#]*")
_IN_WORD = re.compile(rf"(?![{_SPACELESS}{_HANGUL}])[\w{_MARKS}]")
_IS_SPACELESS = re.compile(rf"[{_SPACELESS}]")
_IS_HANGUL = re.compile(rf"[{_HANGUL}]")
_CLOSING = ".,;:!?…)]}\"'»”\N{RIGHT SINGLE QUOTATION MARK}"


def candidate_names(text: str, *, most_words: int = 5) -> frozenset[str]:
    """Return the keys of all runs of whole words of a text, up to five: names that may be known are among them.

    A word is what stands between spaces, or a part of it between other characters. Meant for texts of a few pages:
    there are six or seven runs for each word.
    """
    key = _text_key(text)
    return frozenset(key[start:end] for start, end in _runs(key, most_words) if end - start <= _LONGEST)


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


class _Token(NamedTuple):
    """A word, or a character of a script without spaces: where names may begin and end with it.

    `chunk` counts the spaces before it.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    chunk: int
    is_spaceless: bool


def _tokens(key: str) -> list[_Token]:
    tokens = []
    chunk = at = 0
    for found in _TOKEN.finditer(key):
        start, end = found.span()
        if start > at:
            chunk += key.count(" ", at, start)
        at = end
        letter = key[start]
        starts = (start,) if start == 0 or key[start - 1] == " " else _starts(key, start)
        is_plain = letter < _FIRST_HANGUL and (end == len(key) or key[end] == " ")
        ends = (end,) if is_plain else tuple(_ends(key, start, end))
        is_spaceless = letter >= _FIRST_SPACELESS and _IS_SPACELESS.match(letter) is not None
        tokens.append(_Token(starts, ends, chunk, is_spaceless))
    return tokens


def _runs(key: str, most_words: int) -> Iterator[tuple[int, int]]:
    """Yield where runs of words begin and end in a name key; what stands between the words is part of a run."""
    tokens = _tokens(key)
    for number, first in enumerate(tokens):
        last_chunk = first.chunk + most_words
        for last in tokens[number : number + _MOST_TOKENS]:
            if last.chunk >= last_chunk:
                break
            if last is first and first.is_spaceless:
                continue
            for start in first.starts:
                for end in last.ends:
                    yield start, end


def _starts(key: str, start: int) -> tuple[int, ...]:
    """Return where a name may begin whose first word begins at `start`: also at the sign before it, as in `.NET`."""
    space = key.rfind(" ", max(0, start - 3), start)
    begin = space + 1 if space >= 0 else 0
    if start <= begin + 2 and _TOKEN.search(key, begin, start) is None:
        return start, start - 1
    return (start,)


def _ends(key: str, start: int, end: int) -> Iterator[int]:
    """Yield where a name may end with the word from `start` to `end`: before a particle, behind signs (`Yahoo!`)."""
    yield end
    if _IS_HANGUL.match(key[start]):
        yield from range(start + 2, end)
    if end < len(key) and key[end] != " ":
        space = key.find(" ", end, end + 4)
        stop = space if space >= 0 else min(len(key), end + 4)
        if (space >= 0 or stop == len(key)) and _TOKEN.search(key, end, stop) is None:
            yield stop
            stripped = end + len(key[end:stop].rstrip(_CLOSING)) if stop - end > 1 else end
            if stripped > end:
                yield stripped
