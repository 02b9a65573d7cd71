"""Queries over text: what a person typed, taken apart once for every store."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

RefT = TypeVar("RefT", int, str)


class Operator(StrEnum):
    """How the parts of a query go together."""

    AND = "and"
    OR = "or"


@dataclass(frozen=True, slots=True)
class Term:
    """One or more words that stand together: a word, or a phrase when there are several.

    `words` are raw: a store's own tokenizer splits and stems them. `is_prefix` matches what begins with the last one.
    """

    words: str
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """Parts joined by one operator; `excluded` ones must not match."""

    operator: Operator
    parts: "tuple[Term | Clause, ...]"
    excluded: "tuple[Term | Clause, ...]" = ()


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A query that any store can run.

    `strict` is what the text says when read with its operators and all its words; `loose` is any of its words, for
    when the strict reading finds too little. Either is `None` when the text holds no word.
    """

    text: str
    strict: Clause | None
    loose: Clause | None


@dataclass(frozen=True, slots=True)
class TextHit(Generic[RefT]):
    """Something that matches a text; `score` is the engine's own relevance, positive, larger is better."""

    ref: RefT
    score: float
