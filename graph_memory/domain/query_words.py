"""The words of a query: which tell something, and what else they may be written as."""

import re
from collections.abc import Iterator, Sequence

_ENGLISH = """
    a about above after again against all also am an and any are aren't as at be because been before being below
    between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for
    from further had hadn't has hasn't have haven't having he her here hers herself him himself his how how's i i'd i'll
    i'm i've if in into is isn't it it's its itself let's me more most my myself no nor not of off on once only or other
    our ours ourselves out over own please same she should shouldn't so some such than that that's the their theirs them
    themselves then there there's these they they're this those through to too under until up us very was wasn't we
    we're we've were weren't what what's when where where's which while who who's whom whose why will with won't would
    wouldn't you you're your yours yourself yourselves
"""
STOP_WORDS = frozenset(_ENGLISH.split())
"""English words that say nothing by themselves; left out of loose readings while another word remains."""

_APOSTROPHE = "\u2019"
_HYPHEN = "\u2010"
# Wrapping and sentence marks; what may belong to a name (`+ # % - . / \\ @ $ _ &`, behind it no `.` and `&`) stays.
_BEFORE = f"\"'`\u2018{_APOSTROPHE}“”„«»()[]{{}}<>*,;:!?¿¡…|~^="
_AFTER = _BEFORE + ".&"
_POSSESSIVE = re.compile(f"['{_APOSTROPHE}][sS]?\\Z")
_JOINTS = re.compile(f"[-{_HYPHEN}/_'{_APOSTROPHE}&+]+")
_MIN_PART = 3
_RUN = 3
_LONGEST = 24
_NAME_BONUS = 4
_UNSPACED_WEIGHT = 2
"""A character of a script without spaces says about as much as two letters."""

_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SOUTH_EAST = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
_UNSPACED = re.compile(f"[{_HIRAGANA}{_KATAKANA}{_HAN}{_SOUTH_EAST}]")
_SCRIPT_RUNS = re.compile(
    f"(?P<hiragana>[{_HIRAGANA}]+)|(?P<katakana>[{_KATAKANA}]+)|(?P<unbroken>[{_HAN}]+|[{_SOUTH_EAST}]+)"
    f"|(?P<spaced>[^\\W_{_HIRAGANA}{_KATAKANA}{_HAN}{_SOUTH_EAST}]+)"
)


def tidy_word(word: str) -> str:
    """Take quotation, brackets and sentence marks off both ends: `(done).` is `done`, `C++`, `50%`, `--error` stay."""
    return word.lstrip(_BEFORE).rstrip(_AFTER)


def is_stop_word(word: str) -> bool:
    """Tell whether a word says nothing by itself."""
    return word.casefold().replace(_APOSTROPHE, "'") in STOP_WORDS


def has_unspaced_script(word: str) -> bool:
    """Tell whether a word has characters of a script that is written without spaces."""
    return not word.isascii() and _UNSPACED.search(word) is not None


def loose_words(word: str) -> Iterator[str]:
    """Yield what a word may be found by when not as it stands.

    `Anna's` is found by `Anna`, `multi-agent` also by its parts; text of a script without spaces by its stretches of
    one script, unbroken ones by runs of three characters. Parts with digits or under three letters (`POL-358`, `don't`)
    tell too little alone.
    """
    if has_unspaced_script(word):
        yield from _script_pieces(word)
        return
    plain = _POSSESSIVE.sub("", word)
    yield plain
    parts = [part for part in _JOINTS.split(plain) if part]
    if len(parts) > 1 and all(part.isalpha() and len(part) >= _MIN_PART for part in parts):
        yield from (part for part in parts if not is_stop_word(part))


def likely_rare(text: str, limit: int) -> Sequence[str]:
    """Choose distinct words of a text that are likely to be rare, in the order of the text.

    The longest, names and numbers (`k8s`, `POL-358`, `NetworkError`) before plain words; never words that say nothing.
    Of scripts without spaces, short runs count as words, longer ones are cut where the script changes. At most `limit`
    words, three characters of such scripts counting as one: so looking them up has a bound, whatever the text.
    """
    pieces = _words_of if has_unspaced_script(text) else _word_of
    words: dict[str, str] = {}
    for raw in dict.fromkeys(text.split()):
        for word in pieces(raw):
            key = word.casefold()
            if key and key not in words and not is_stop_word(key):
                words[key] = word
    kept, spent = set[str](), 0
    for key in sorted(words, key=lambda key: _plainness(words[key])):
        spent += -(-len(key) // _RUN) if has_unspaced_script(key) else 1
        if spent > limit:
            break
        kept.add(key)
    return [word for key, word in words.items() if key in kept]


def _word_of(raw: str) -> tuple[str]:
    return (tidy_word(raw)[:_LONGEST],)


def _words_of(raw: str) -> Iterator[str]:
    word = tidy_word(raw)
    if len(word) <= _LONGEST or not has_unspaced_script(word):
        yield word[:_LONGEST]
    else:
        runs = (found.group() for found in _SCRIPT_RUNS.finditer(word) if found.lastgroup != "hiragana")
        yield from (run[:_LONGEST] for run in runs)


def _plainness(word: str) -> int:
    if word.isascii() and word.isalpha() and word.islower():
        return -len(word)  # most words are, and need no closer look
    is_name = any(c.isdigit() for c in word) or not (word[1:].islower() or len(word) == 1)
    weight = _UNSPACED_WEIGHT if has_unspaced_script(word) else 1
    return -(len(word) * weight + is_name * _NAME_BONUS)


def _script_pieces(word: str) -> Iterator[str]:
    runs = [(str(found.lastgroup), found.group()) for found in _SCRIPT_RUNS.finditer(word)]
    # Between other scripts hiragana is grammar: it joins what the text is about.
    telling = [run for run in runs if run[0] != "hiragana"] or runs
    for script, text in telling:
        if script in {"spaced", "katakana"} or len(text) <= _RUN:
            yield text
        else:
            yield from (text[i : i + _RUN] for i in range(len(text) - _RUN + 1))
