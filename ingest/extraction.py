"""What a text shows by itself: repositories, paths, addresses, packages, tags. No model, no guesses."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from graph_memory.domain.names import name_key
from graph_memory.domain.statements import EntityStatement

MOST = 50
"""Entities that one memory may show; the first in the text count."""
REPOSITORY, PATH, ADDRESS, PACKAGE, TAG, PERSON, HINT = (
    "Repository",
    "File",
    "Url",
    "Package",
    "Tag",
    "Person",
    "Concept",
)

_FORGES = r"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)"
_REPOSITORY = re.compile(
    rf"(?:https?://(?:www\.)?|git@|ssh://git@|git://){_FORGES}[/:]([A-Za-z0-9][\w.\-]{{0,99}}/[A-Za-z0-9_][\w.\-]{{0,99}})"
)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\[\]{}|\\^]+")
_TRAILING = ".,;:!?*_~"
_PATH = re.compile(
    r"(?<![\w/\\.:@\-])((?:~/|\./|\.\./|/)?(?:[\w.@+\-]+/)+[\w@+\-][\w.@+\-]*\.(?:"
    r"py|pyi|js|jsx|ts|tsx|mjs|cjs|rs|go|java|kt|kts|scala|c|h|cc|cpp|hpp|cs|rb|php|swift|m|mm|lua|pl|r|jl|ex|exs|erl|"
    r"hs|ml|clj|dart|vue|svelte|sh|bash|zsh|fish|ps1|sql|graphql|proto|tf|html|css|scss|less|md|rst|txt|json|jsonl|"
    r"ya?ml|toml|ini|cfg|conf|env|xml|csv|lock|ipynb|gradle|cmake|service|plist))(?![\w/])"
)
_PYTHON_IMPORT = re.compile(
    r"^[ \t>]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b|import[ \t]+([A-Za-z_]\w*)[ \t]*(?:$|,|\.|as\b))",
    re.MULTILINE,
)
_SCRIPT_IMPORT = re.compile(
    r"(?:\bfrom|\brequire\(|^[ \t]*import)[ \t]*['\"]((?:@[\w.\-]+/)?[a-z0-9][\w.\-]*)(?:/[^'\"]*)?['\"]", re.MULTILINE
)
_INSTALL = re.compile(
    r"\b(?:(?:pip3?|pipx|gem|uv[ \t]+pip)[ \t]+install|(?:uv|poetry|yarn)[ \t]+add|npm[ \t]+(?:install|i|add)|"
    r"pnpm[ \t]+(?:add|install)|cargo[ \t]+(?:add|install)|go[ \t]+get)[ \t]+([^\n`;&|#)]+)"
)
_REQUIREMENT = re.compile(
    r"^[ \t]*([A-Za-z][\w.\-]*)(?:\[[\w,\- ]+\])?[ \t]*(?:==|>=|~=|<=)[ \t]*\d[\w.*]*", re.MULTILINE
)
_PACKAGE_NAME = re.compile(
    r"((?:@[\w.\-]+/)?[A-Za-z][\w.\-]*(?:/[\w.\-]+)*)(?:\[[\w,\-]+\])?(?:(?:[=<>~!]=|@|==)[\w.*^~\-]+)?\Z"
)
_PLACEHOLDERS = frozenset("package packages name foo bar my your the and it them this".split())
_STANDARD = frozenset(
    "abc argparse ast asyncio base64 collections contextlib copy csv dataclasses datetime decimal enum functools glob "
    "hashlib heapq http importlib inspect io itertools json logging math multiprocessing operator os pathlib pickle "
    "platform queue random re sched secrets shutil signal socket sqlite3 string struct subprocess sys tempfile "
    "textwrap threading time traceback types typing unittest urllib uuid warnings weakref xml zipfile zlib "
    "fs path util events stream http https crypto child_process".split()
)


def extract(
    text: str, *, tags: Iterable[str] = (), hints: Iterable[str] = (), authors: Iterable[str] = ()
) -> tuple[EntityStatement, ...]:
    """List the things that a text shows, each once, at most fifty: authors, hints and tags first, then by kind.

    Equal texts give equal lists. Whether a thing is known is for the store to say; names of known entities are found
    by `candidate_names`.
    """
    found: dict[tuple[str, str], EntityStatement] = {}
    for kind, names in (
        (PERSON, authors),
        (HINT, hints),
        (TAG, tags),
        (REPOSITORY, _repositories(text)),
        (PACKAGE, _packages(text)),
        (PATH, _paths(text)),
        (ADDRESS, _addresses(text)),
    ):
        for name in names:
            if len(found) >= MOST:
                break
            found.setdefault((kind, name_key(name)), EntityStatement(name, kind))
    return tuple(it for (_, key), it in found.items() if key)


def _repositories(text: str) -> Iterator[str]:
    for match in _REPOSITORY.finditer(text):
        yield match.group(1).rstrip(_TRAILING).removesuffix(".git")


def _addresses(text: str) -> Iterator[str]:
    for match in _ADDRESS.finditer(text):
        if _REPOSITORY.match(match.group()) is None:
            address = match.group().rstrip(_TRAILING)
            while address.endswith(")") and address.count("(") < address.count(")"):
                address = address[:-1].rstrip(_TRAILING)
            yield address.split("#", 1)[0]


def _paths(text: str) -> Iterator[str]:
    without = _ADDRESS.sub(" ", text)
    for match in _PATH.finditer(without):
        yield match.group(1).removeprefix("./")


def _packages(text: str) -> Iterator[str]:
    for match in _INSTALL.finditer(text):
        for word in match.group(1).split():
            named = _PACKAGE_NAME.match(word.strip("\"'"))
            if named is not None and not word.startswith(("-", ".")) and named.group(1).lower() not in _PLACEHOLDERS:
                yield named.group(1)
            elif not word.startswith("-"):
                break
    for match in _REQUIREMENT.finditer(text):
        yield match.group(1)
    for match in _PYTHON_IMPORT.finditer(text):
        name = match.group(1) or match.group(2)
        if name not in _STANDARD and name not in _PLACEHOLDERS:
            yield name
    for match in _SCRIPT_IMPORT.finditer(text):
        if match.group(1) not in _STANDARD:
            yield match.group(1)


_WORD = re.compile(r"[^\W_]+[+#]*")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f\uac00-\ud7af]+")
_MOST_SPACELESS = 12


def candidate_names(text: str, *, most_words: int = 5) -> frozenset[str]:
    """Return the keys of all runs of up to five words of a text: names that may be known are among them.

    In scripts without spaces every run of two to twelve characters counts, since nothing marks where a word ends.
    """
    key = _text_key(text)
    return frozenset(key[start:end] for start, end in _runs(key, most_words))


def longest_matches(text: str, known: Iterable[str], *, most_words: int = 5) -> tuple[str, ...]:
    """Return those of the known name keys that stand in a text, in its order; of overlapping ones the longest."""
    key = _text_key(text)
    names = [it for it in dict.fromkeys(known) if it and it in key]
    if not names:
        return ()
    bounds = _Bounds(key, most_words)
    spans = [span for name in names for span in _places(name, key) if bounds.is_run(*span)]
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


class _Bounds:
    """Where the runs of a name key may begin and end; see `_runs`."""

    def __init__(self, key: str, most_words: int) -> None:
        words = [match.span() for match in _WORD.finditer(key)]
        self._starts = {start: number for number, (start, _) in enumerate(words)}
        self._ends = {end: number for number, (_, end) in enumerate(words)}
        self._spaceless = [match.span() for match in _SPACELESS.finditer(key)]
        self._most_words, self._length = most_words, len(key) + 1

    def is_run(self, start: int, end: int) -> bool:
        """Tell whether whole words, or a run of a script without spaces, stand there."""
        first, last = self._starts.get(start), self._ends.get(end)
        if first is not None and last is not None and 0 <= last - first < self._most_words:
            return True
        if not 2 <= end - start <= _MOST_SPACELESS or not self._spaceless:  # noqa: PLR2004 - as in `_runs`
            return False
        place = bisect_right(self._spaceless, (start, self._length)) - 1
        return place >= 0 and self._spaceless[place][0] <= start and end <= self._spaceless[place][1]


def _runs(key: str, most_words: int) -> Iterator[tuple[int, int]]:
    """Yield where runs of words begin and end in a name key; what stands between the words is part of a run."""
    words = [match.span() for match in _WORD.finditer(key)]
    for first, (start, _) in enumerate(words):
        for _, end in words[first : first + most_words]:
            yield start, end
    for match in _SPACELESS.finditer(key):
        for start in range(match.start(), match.end()):
            for end in range(start + 2, min(match.end(), start + _MOST_SPACELESS) + 1):
                yield start, end
