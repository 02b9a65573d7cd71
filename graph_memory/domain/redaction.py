"""Redaction: secrets become `[redacted:kind]` before anything is stored or shown.

One pass looks for all literal anchors at once, expressions run only where one was found: a text without anchors costs
its encoding and that pass. Hashes, UUIDs, paths and embedded images have no anchor and stay as they are.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

    from graph_memory.domain.secret_rules import SecretRule

_NOTHING: Mapping[str, int] = MappingProxyType({})
_OURS = b"[redacted:"
_ENCODING = "utf-8"
# Lone surrogates, which transcripts hold, pass through unharmed.
_ERRORS = "surrogatepass"


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets, and how many of each kind it had; `counts` never holds any text."""

    text: str
    counts: Mapping[str, int] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class RedactedBytes:
    """The same for UTF-8 bytes."""

    data: bytes
    counts: Mapping[str, int] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    kind: str


class _Try(NamedTuple):
    """An anchor that may begin `offset` bytes into another one, and the rules to try there."""

    offset: int
    anchor: bytes
    rules: "tuple[SecretRule, ...]"


class _Detector(NamedTuple):
    """All anchors in one automaton, and for each of them what to try where it was found."""

    anchors: "BytesAhoCorasick"
    tries: tuple[tuple[_Try, ...], ...]


@cache
def _detector() -> _Detector:
    # With the first text: a hundred expressions take 40 ms, which a program's start does not wait for.
    from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

    from graph_memory.domain.secret_rules import RULES

    by_anchor: dict[bytes, list[SecretRule]] = {}
    for rule in RULES:
        for anchor in rule.anchors:
            by_anchor.setdefault(anchor, []).append(rule)
    automaton = BytesAhoCorasick(
        list(by_anchor), matchkind=MatchKind.LeftmostLongest, implementation=Implementation.DFA
    )
    by_letter: dict[int, list[_Try]] = {}
    for anchor, rules in by_anchor.items():
        by_letter.setdefault(anchor[0], []).append(_Try(0, anchor, tuple(rules)))
    return _Detector(automaton, tuple(tuple(_tries(anchor, by_letter)) for anchor in by_anchor))


def _tries(found: bytes, by_letter: Mapping[int, list[_Try]]) -> Iterator[_Try]:
    """Yield an anchor and all those it may hide, since the fast scan reports none that overlap.

    `sk-` begins `sk-ant-`, and `secret` may run over into `token`.
    """
    for offset, letter in enumerate(found):
        rest = found[offset:]
        for other in by_letter.get(letter, ()):
            if rest.startswith(other.anchor) or (offset and other.anchor.startswith(rest)):
                yield other._replace(offset=offset)


def redact(text: str) -> Redaction:
    """Replace every secret in a text by `[redacted:kind]`; doing it again changes nothing.

    Linear in the text. Where nothing is found the text returned is the one given.
    """
    data = text.encode(_ENCODING, _ERRORS)
    redacted = redact_bytes(data)
    if redacted.data is data:
        return Redaction(text)
    return Redaction(redacted.data.decode(_ENCODING, _ERRORS), redacted.counts)


def redact_bytes(data: bytes) -> RedactedBytes:
    """Replace every secret in UTF-8 bytes, such as a line of JSON, which stays valid JSON."""
    total: Counter[str] = Counter()
    while spans := _merged(_find_spans(data)):
        # Again, as what stood beside a secret may be one now that a placeholder ends there.
        data = _replaced(data, spans)
        total.update(span.kind for span in spans)
    return RedactedBytes(data, MappingProxyType(dict(total)) if total else _NOTHING)


def _find_spans(data: bytes) -> Iterator[_Span]:
    detector = _detector()
    covered = 0
    for index, found, _ in detector.anchors.find_matches_as_indexes(data):
        for offset, anchor, rules in detector.tries[index]:
            start = found + offset
            if start < covered or not data.startswith(anchor, start):
                continue
            for rule in rules:
                span = _match(rule, data, start, start + len(anchor))
                if span is not None:
                    covered = max(covered, span.end)
                    yield span


def _match(rule: "SecretRule", data: bytes, start: int, end: int) -> _Span | None:
    for begin in (end,) if rule.begins is None else (start + it for it in rule.begins):
        found = rule.expression.match(data, begin) if begin >= 0 else None
        if found is not None and (rule.accepts is None or rule.accepts(found)):
            group = "secret" if "secret" in rule.expression.groupindex else 0
            first = found.start(group)
            return None if data.startswith(_OURS, first) else _Span(first, found.end(group), rule.kind)
    return None


def _merged(spans: Iterator[_Span]) -> list[_Span]:
    """Return spans in order, those that overlap as one under the kind of the first and longest."""
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda it: (it.start, -it.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = _Span(last.start, max(last.end, span.end), last.kind)
        else:
            merged.append(span)
    return merged


def _replaced(data: bytes, spans: list[_Span]) -> bytes:
    parts: list[bytes] = []
    done = 0
    for span in spans:
        parts += (data[done : span.start], b"[redacted:%s]" % span.kind.encode())
        done = span.end
    parts.append(data[done:])
    return b"".join(parts)
