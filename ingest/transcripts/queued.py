"""Text typed while the assistant worked: it may be repeated by a later line, or stand nowhere else.

Claude Code notes it when it is typed (`enqueue`), when it is slipped into a running turn (`remove`, then an
attachment), or writes it again as an ordinary prompt, several joined into one. The last of these is the message; those
before it are taken back.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import TypedDict

_MAX_WAITING = 64
# A prompt is searched for what was typed before it; longer ones are compared whole.
_MAX_PROMPT_LINES = 2_000
_MAX_SEARCHED_LINES = 40


class SavedQueued(TypedDict):
    """One waiting text as JSON, without the text."""

    name: str
    digest: str
    lines: int


@dataclass(frozen=True, slots=True)
class _Waiting:
    name: str
    digest: str
    lines: int


class QueuedTexts:
    """Texts that no later line has repeated yet, under a name that the caller gives; remembered as digests."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def add(self, name: str, text: str) -> list[str]:
        """Remember a text typed while the assistant worked; return the names of those it repeats."""
        lines = _lines(text)
        digest = _digest(lines)
        repeated = self._take({digest})
        self._waiting.append(_Waiting(name, digest, len(lines)))
        del self._waiting[:-_MAX_WAITING]
        return [other for other in repeated if other != name]

    def take_repeated(self, text: str) -> list[str]:
        """Forget the waiting texts that this prompt repeats, whole or as some of its lines; return their names."""
        if not self._waiting:
            return []
        lines = _lines(text)
        digests = {_digest(lines)}
        if len(lines) <= _MAX_PROMPT_LINES:
            lengths = {waiting.lines for waiting in self._waiting}
            for length in (length for length in lengths if length <= min(len(lines), _MAX_SEARCHED_LINES)):
                digests |= {_digest(lines[start : start + length]) for start in range(len(lines) - length + 1)}
        return self._take(digests)

    def settle(self, name: str) -> None:
        """Stop waiting for a repetition: the text was answered, so it was said."""
        self._waiting = [waiting for waiting in self._waiting if waiting.name != name]

    def saved(self) -> list[SavedQueued]:
        """Return what waits, for a later `restored`."""
        return [SavedQueued(name=one.name, digest=one.digest, lines=one.lines) for one in self._waiting]

    @classmethod
    def restored(cls, saved: list[SavedQueued]) -> "QueuedTexts":
        """Return the queue that `saved` describes."""
        queue = cls()
        queue._waiting = [_Waiting(one["name"], one["digest"], one["lines"]) for one in saved]
        return queue

    def _take(self, digests: set[str]) -> list[str]:
        taken = [waiting.name for waiting in self._waiting if waiting.digest in digests]
        if taken:
            self._waiting = [waiting for waiting in self._waiting if waiting.digest not in digests]
        return taken


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _digest(lines: list[str]) -> str:
    return blake2b("\n".join(lines).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
