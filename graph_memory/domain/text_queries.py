"""What people type into a search, read as they mean it.

Plain text always works: whatever isn't an operator in its place is a word. Operators are quoted phrases, `*` at the end
of a word, and upper-case AND, OR, NOT with parentheses, where the whole text parses with them. As in full-text engines,
words that merely stand together bind closest, then NOT, AND, OR. A text whose operators don't parse is plain text.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from graph_memory.domain.queries import Clause, Operator, Term, TextQuery
from graph_memory.domain.query_words import is_stop_word, loose_words, tidy_word

MAX_QUERY = 16_384
"""Characters of a query that are read."""
MAX_TERMS = 64
"""Terms of a strict reading."""
MAX_LOOSE_TERMS = 32
"""Terms of a loose reading: the longest, since long words tell more."""
MAX_TERM = 200
"""Characters of one term; a longer word is searched by its beginning."""
_MAX_DEPTH = 16

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ROUND_QUOTES = str.maketrans("“”„«»", '"""""')
_HAS_WORD = re.compile(r"[^\W_]")
_CLOSING_QUOTE = re.compile(r'"(?=\*?(?:[\s)]|\Z))')
_PREFIX = re.compile(r"[^*]*[^\W_]\*\Z")


def parse_query(text: str) -> TextQuery:
    """Read a text as a query, in time linear in it; never raises.

    `strict` is the text with its operators, or all of its words. `loose` is any of its informative words; what was
    quoted must hold in both. Where operators or a single word leave nothing looser, `loose` is `strict` itself. Both
    are `None` for a text without a letter or digit.
    """
    cleaned = _clean(text)
    tokens = _tokens(cleaned)
    if any(token.kind in _OPERATORS for token in tokens):
        try:
            meant = _Parser(tokens).parse()
        except _NotAnExpression:
            pass
        else:
            return TextQuery(cleaned, meant, meant)
    phrases = _distinct(_term(token) for token in tokens if token.kind is _Kind.PHRASE)
    words = [token for token in tokens if token.kind is not _Kind.PHRASE]
    strict = _joined(Operator.AND, _distinct(_term(token) for token in tokens)[:MAX_TERMS])
    loose = _loose(phrases[:MAX_TERMS], words)
    return TextQuery(cleaned, strict, strict if _says_the_same(strict, loose) else loose)


def positive_terms(query: TextQuery) -> tuple[Term, ...]:
    """List the distinct terms that either reading looks for, strict ones first; excluded ones are left out."""
    clauses = [clause for clause in (query.strict, query.loose) if clause is not None]
    return tuple(_distinct(term for clause in clauses for term in _terms(clause)))


def written_literally(query: TextQuery) -> tuple[str, ...]:
    """List, case-folded, what was asked for with characters no index keeps: `c++`, `pol-358`, `v2.1.39`.

    A text that has all of them as they stand is the better answer.
    """
    if query.strict is None:
        return ()
    folded = (term.words.casefold() for term in _terms(query.strict))
    return tuple(words for words in folded if not all(c.isalnum() or c.isspace() for c in words))


class _Kind(Enum):
    WORD = auto()
    PHRASE = auto()
    AND = auto()
    OR = auto()
    NOT = auto()
    OPEN = auto()
    CLOSE = auto()


_OPERATORS = frozenset({_Kind.AND, _Kind.OR, _Kind.NOT})
_RESERVED = {"AND": _Kind.AND, "OR": _Kind.OR, "NOT": _Kind.NOT}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: _Kind
    text: str
    is_prefix: bool = False


def _clean(text: str) -> str:
    cut = _SURROGATE.sub(" ", text[:MAX_QUERY]).translate(_CONTROLS)
    return unicodedata.normalize("NFC", cut).translate(_ROUND_QUOTES)


def _tokens(text: str) -> list[_Token]:
    """Take a text apart; what has neither letters nor digits nor an operator's place is dropped."""
    closings = [found.start() for found in _CLOSING_QUOTE.finditer(text)]
    closings.reverse()
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        character = text[at]
        if character.isspace():
            at += 1
        elif character == "(":
            tokens.append(_Token(_Kind.OPEN, character))
            at += 1
        elif character == ")":
            tokens.append(_Token(_Kind.CLOSE, character))
            at += 1
        else:
            while closings and closings[-1] <= at:
                closings.pop()
            if character == '"' and closings:
                token, at = _phrase(text, at, closings[-1])
            else:
                token, at = _word(text, at)
            if _HAS_WORD.search(token.text):
                tokens.append(token)
    return tokens


def _phrase(text: str, at: int, closing: int) -> tuple[_Token, int]:
    is_prefix = text.startswith("*", closing + 1)
    return _Token(_Kind.PHRASE, text[at + 1 : closing].strip(), is_prefix), closing + 1 + is_prefix


def _word(text: str, at: int) -> tuple[_Token, int]:
    """Read up to white space, or up to a parenthesis that doesn't belong to the word, as the ones of `call()` do."""
    depth = 0
    end = at
    while end < len(text) and not text[end].isspace():
        if text[end] == "(":
            depth += 1
        elif text[end] == ")":
            if depth == 0:
                break
            depth -= 1
        end += 1
    raw = text[at:end]
    if raw in _RESERVED:
        return _Token(_RESERVED[raw], raw), end
    return _Token(_Kind.WORD, tidy_word(raw), _PREFIX.match(raw) is not None), end


def _term(token: _Token) -> Term | None:
    if token.kind in {_Kind.OPEN, _Kind.CLOSE} or not _HAS_WORD.search(token.text):
        return None
    return _cut(token.text, is_prefix=token.is_prefix)


def _cut(words: str, *, is_prefix: bool = False) -> Term:
    return Term(words[:MAX_TERM], is_prefix or len(words) > MAX_TERM)


def _distinct(terms: Iterable[Term | None]) -> list[Term]:
    return list({(term.words.casefold(), term.is_prefix): term for term in terms if term is not None}.values())


def _terms(clause: Clause) -> Iterator[Term]:
    for part in clause.parts:
        if isinstance(part, Term):
            yield part
        else:
            yield from _terms(part)


def _joined(operator: Operator, parts: Sequence[Term | Clause]) -> Clause | None:
    return Clause(operator, tuple(parts)) if parts else None


def _says_the_same(strict: Clause | None, loose: Clause | None) -> bool:
    """Tell whether both are one and the same part, whatever the operator that has nothing to join."""
    return strict is not None and loose is not None and len(strict.parts) == 1 and strict.parts == loose.parts


def _loose(phrases: Sequence[Term], words: Sequence[_Token]) -> Clause | None:
    """Join informative words by OR; where there are phrases these must hold and the words only add to the score."""
    anything = _informative(words)
    if not phrases:
        return _joined(Operator.OR, anything)
    if not anything:
        return _joined(Operator.AND, phrases)
    return Clause(Operator.AND, (*phrases, Clause(Operator.OR, (*phrases, *anything))))


def _informative(words: Sequence[_Token]) -> list[Term]:
    terms: list[Term] = []
    for token in words:
        term = _term(token)
        if term is None:
            continue
        if term.is_prefix:
            terms.append(term)
        else:
            terms.extend(_cut(word) for word in loose_words(term.words) if _HAS_WORD.search(word))
    terms = _distinct(terms)
    telling = [term for term in terms if not is_stop_word(term.words)] or terms
    if len(telling) <= MAX_LOOSE_TERMS:
        return telling
    longest = sorted(range(len(telling)), key=lambda i: (-len(telling[i].words), i))[:MAX_LOOSE_TERMS]
    return [telling[i] for i in sorted(longest)]


class _NotAnExpression(Exception):
    """The text only looks as if it had operators."""


class _Parser:
    """Recursive descent over tokens; a `Clause` comes out, or `_NotAnExpression`."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._term_count = 0

    def parse(self) -> Clause:
        """Read all tokens as one expression."""
        clause = self._either(depth=0)
        if self._at < len(self._tokens):
            raise _NotAnExpression
        return clause if isinstance(clause, Clause) else Clause(Operator.AND, (clause,))

    def _peek(self) -> _Kind | None:
        return self._tokens[self._at].kind if self._at < len(self._tokens) else None

    def _took(self, kind: _Kind) -> bool:
        if self._peek() is not kind:
            return False
        self._at += 1
        return True

    def _either(self, depth: int) -> Term | Clause:
        parts = [self._all(depth)]
        while self._took(_Kind.OR):
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else Clause(Operator.OR, tuple(parts))

    def _all(self, depth: int) -> Term | Clause:
        """Read `a AND b NOT c`, where `AND NOT` is `NOT`; what NOT takes out is taken out of the whole conjunction."""
        parts = [self._together(depth)]
        excluded: list[Term | Clause] = []
        while self._peek() in {_Kind.AND, _Kind.NOT}:
            self._took(_Kind.AND)
            into = excluded if self._took(_Kind.NOT) else parts
            into.append(self._together(depth))
        if len(parts) == 1 and not excluded:
            return parts[0]
        return Clause(Operator.AND, tuple(parts), tuple(excluded))

    def _together(self, depth: int) -> Term | Clause:
        parts = [self._operand(depth)]
        while self._peek() in {_Kind.WORD, _Kind.PHRASE, _Kind.OPEN}:
            parts.append(self._operand(depth))
        return parts[0] if len(parts) == 1 else Clause(Operator.AND, tuple(parts))

    def _operand(self, depth: int) -> Term | Clause:
        if self._took(_Kind.OPEN):
            if depth >= _MAX_DEPTH:
                raise _NotAnExpression
            inner = self._either(depth + 1)
            if not self._took(_Kind.CLOSE):
                raise _NotAnExpression
            return inner
        if self._peek() not in {_Kind.WORD, _Kind.PHRASE}:
            raise _NotAnExpression
        self._term_count += 1
        if self._term_count > MAX_TERMS:
            raise _NotAnExpression
        token = self._tokens[self._at]
        self._at += 1
        return _cut(token.text, is_prefix=token.is_prefix)
