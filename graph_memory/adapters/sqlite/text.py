"""Text as the indexes see it, and queries as expressions that they take.

A word is found in any inflection by the indexes' own tokenizer. Scripts without spaces have no words to find: their
runs are cut into overlapping pairs of characters, which stand in a column of their own (`runs`), so that any part of a
run, from one character up, is a phrase of pairs. (Runs of three would miss the two characters of most Chinese words.)

Nothing that a person typed reaches `match` but as a quoted string.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, cast

import apsw

from graph_memory.domain.queries import Clause, Operator, Term

PRIVATE = "\U0010fffd"
"""A private character that the tokenizer takes for a letter; our own words begin with it, nobody's text does."""

_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2", "categories", "L* N* Co Mn Mc"])
_WITHOUT_SPACES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7a3"  # Hangul: it has spaces, but particles cling to its words
    "\uff66-\uff9f"  # Katakana of half width
    "\U00020000-\U0003ffff"  # Han, the rare ones
)
_RUN = re.compile(f"[{_WITHOUT_SPACES}]")
_PIECE = re.compile(rf"(?P<run>[{_WITHOUT_SPACES}]+)|[^\W_{_WITHOUT_SPACES}]+")


class Token(NamedTuple):
    """A word of a text: how it is written there, and how the index keeps it."""

    surface: str
    stem: str


def scope_word(project_id: str) -> str:
    """Return the one word that stands for a project: of digits, so that no tokenizer changes it."""
    return PRIVATE + str(int.from_bytes(hashlib.blake2b(project_id.encode(), digest_size=8).digest()))


def runs_of(*texts: str) -> str:
    """Return the pairs of all words with characters of scripts without spaces; empty for most texts."""
    words = (word for text in texts if _RUN.search(text) for word in _words_with_runs(text))
    return f" {PRIVATE} ".join(" ".join(_pairs(word)) for word in words)


def tokens(connection: apsw.Connection, text: str) -> list[Token]:
    """Split a text as the index does; words with runs are split into their pairs."""
    encoded = text.encode("utf-8", "replace")
    tokenizer = connection.fts5_tokenizer(*_TOKENIZER)
    found = cast("list[tuple[int, int, str]]", tokenizer(encoded, apsw.FTS5_TOKENIZE_DOCUMENT, None))
    result: list[Token] = []
    for start, end, stem in found:
        surface = encoded[start:end].decode("utf-8", "replace")
        if surface.isascii() or not _RUN.search(surface):
            result.append(Token(surface.lower(), stem))
        else:
            for piece in (piece for word in _words_with_runs(surface) for piece in word):
                if piece["run"] is None:
                    result += tokens(connection, piece.group())
                else:
                    result += (Token(part, part) for part in _cut(piece)[:-1] or _cut(piece))
    return result


def expression(clause: Clause | None, connection: apsw.Connection) -> str | None:
    """Write a clause as an FTS5 expression; `None` when it can match nothing.

    A term without a word, as `++` is, restricts nothing.
    """
    if clause is None:
        return None
    parts: list[str] = []
    for part in clause.parts:
        written = _part(part, connection)
        if written is not None:
            parts.append(written)
        elif isinstance(part, Clause) and clause.operator is Operator.AND:
            return None
    if not parts:
        return None
    wanted = f"({f' {clause.operator.value.upper()} '.join(parts)})"
    excluded = [text for part in clause.excluded if (text := _part(part, connection)) is not None]
    return f"({wanted} NOT ({' OR '.join(excluded)}))" if excluded else wanted


def any_of(words: Collection[str]) -> str:
    """Write an expression that any of these strings match."""
    return " OR ".join(map(_quoted, words))


def _part(part: Term | Clause, connection: apsw.Connection) -> str | None:
    if isinstance(part, Clause):
        return expression(part, connection)
    return _term(part) if tokens(connection, part.words) else None


def _term(term: Term) -> str:
    if not _RUN.search(term.words):
        return _quoted(term.words) + " *" * term.is_prefix
    parts: list[str] = []
    for word in unicodedata.normalize("NFKC", term.words).split():
        pieces = list(_words_with_runs(word))
        parts += (_run_phrase(piece, is_prefix=term.is_prefix) for piece in pieces)
        if not pieces and any(map(str.isalnum, word)):
            parts.append(_quoted(word))
    return f"({' AND '.join(parts)})"


def _run_phrase(word: Sequence[re.Match[str]], *, is_prefix: bool) -> str:
    """Write the phrase of a word's pairs; its last character may stand anywhere in a run."""
    *whole, last = _pairs(word)
    if word[-1]["run"] is None:
        return f"runs : {_quoted(' '.join((*whole, last)))}" + " *" * is_prefix
    if whole and len(_characters(word[-1].group())) > 1:
        return f"runs : {_quoted(' '.join(whole))}"
    return f"runs : {_quoted(' '.join((*whole, last)))} *"


def _quoted(words: str) -> str:
    return '"' + words.replace("\0", " ").replace('"', '""') + '"'


def _words_with_runs(text: str) -> Iterator[Sequence[re.Match[str]]]:
    """Find the words that have a run, each as its pieces: `Python入門` is one of two."""
    word: list[re.Match[str]] = []
    for piece in _PIECE.finditer(unicodedata.normalize("NFKC", text)):
        if word and word[-1].end() != piece.start():
            if any(part["run"] for part in word):
                yield word
            word = []
        word.append(piece)
    if any(part["run"] for part in word):
        yield word


def _pairs(word: Sequence[re.Match[str]]) -> list[str]:
    return [part for piece in word for part in _cut(piece)]


def _cut(piece: re.Match[str]) -> list[str]:
    """Cut a run into overlapping pairs and its last character; any other piece stays whole."""
    if piece["run"] is None:
        return [piece.group()]
    characters = _characters(piece.group())
    return [*(first + second for first, second in pairwise(characters)), characters[-1]]


def _characters(run: str) -> list[str]:
    """Split a run into characters with the marks on them."""
    result: list[str] = []
    for character in run:
        if result and unicodedata.category(character)[0] == "M":
            result[-1] += character
        else:
            result.append(character)
    return result
