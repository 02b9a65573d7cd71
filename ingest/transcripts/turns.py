"""Turns: one human prompt and all assistant text until the next one, built while the file grows.

Keys are derived from content, so that a resumed or forked session, which repeats turns under new ids, adds nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypedDict

from ingest.transcripts.branches import BranchTree, Place, SavedTree
from ingest.transcripts.conversation import Conversation
from ingest.transcripts.keys import part_key
from ingest.transcripts.messages import Entry, Kind, Link, Message
from ingest.transcripts.queued import QueuedTexts, SavedQueued

_STATE_VERSION = 1


@dataclass(frozen=True, slots=True)
class TurnPart:
    """One line of assistant text. Its key is the same wherever a session repeats it: API message and text."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One human prompt with the text that answers it so far.

    `key` is the prompt's text and timestamp, hashed. `previous_key` is the turn before it in the conversation; after a
    rewind, the one that was gone back to. `offset` is the byte offset of the prompt's line.
    """

    key: str
    prompt: str
    timestamp: datetime | None
    parts: tuple[TurnPart, ...]
    offset: int
    session_id: str | None = None
    cwd: str | None = None
    previous_key: str | None = None
    is_abandoned: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What one feeding changed, by keys where the text is no longer at hand.

    `turns` are new or have grown, whole as far as this builder has read them, in file order. `abandoned` and `revived`
    were left by a rewind, or taken up again, and may be among `turns` too. `withdrawn` were queued texts that a later
    line repeated: whoever stored one of them drops it, the later line's turn has the text.
    """

    turns: tuple[Turn, ...] = ()
    abandoned: tuple[str, ...] = ()
    revived: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()


class SavedTurns(TypedDict):
    """A builder as JSON. It holds ids, digests and offsets, and no text."""

    version: int
    resume_offset: int
    open_key: str | None
    open_previous_key: str | None
    last_key: str | None
    tree: SavedTree
    queued: list[SavedQueued]


class TurnBuilder:
    """Joins the entries of one file into turns, in as many feedings as it takes.

    After a restart, restore the state and read on from `resume_offset`: there the open turn's prompt begins, and the
    turn comes again whole. While the builder lives, go on from the end of the last reading. Entries must be read with
    neither sidechains nor tools.
    """

    def __init__(self) -> None:
        self._conversation = Conversation(BranchTree(), QueuedTexts())
        self._open: _OpenTurn | None = None
        self._last_key: str | None = None
        self._awaited: _Awaited | None = None
        self._resume_offset = 0

    @property
    def resume_offset(self) -> int:
        """The byte offset to read from with a restored builder."""
        return self._resume_offset if self._open is None else self._open.prompt.offset

    @property
    def is_overgrown(self) -> bool:
        """Tell whether it has come to remember so much that its saved state should go on in its place."""
        return self._conversation.tree.is_overgrown

    def feed(self, entries: Iterable[Entry]) -> Changes:
        """Take in entries in file order; return what changed.

        Raises:
            ValueError: a restored builder was given entries from behind its `resume_offset`.
        """
        feeding = _Feeding()
        follow, add_line = self._conversation.follow, self._conversation.tree.add_line
        offset = self._resume_offset
        for entry in entries:
            if self._awaited is not None and entry.offset > self._resume_offset:
                raise ValueError(
                    f"the open turn begins at {self._resume_offset}, but reading went on at {entry.offset}"
                )
            if isinstance(entry, Link):
                if entry.is_passing:
                    follow(entry)
                else:  # straight to the tree: nine of ten entries
                    add_line(entry[0], entry[1], is_leaf=entry[3])
            elif not entry.is_sidechain:
                if entry.role == "human":
                    self._prompt(entry, feeding)
                else:
                    self._answer(entry, feeding)
            offset = entry.offset
        if self._awaited is None:
            self._resume_offset = offset
        tree = self._conversation.tree
        abandoned, revived = tree.settle()
        if self._open is not None and self._open.key in {*abandoned, *revived}:
            feeding.changed[self._open.key] = self._open
        return Changes(
            tuple(turn.built(tree) for turn in feeding.changed.values()),
            tuple(abandoned),
            tuple(revived),
            tuple(feeding.withdrawn),
        )

    def state(self) -> SavedTurns:
        """Return a state that fits a database row: a few kilobytes, bounded, and free of text."""
        current = self._open or self._awaited
        return SavedTurns(
            version=_STATE_VERSION,
            resume_offset=self.resume_offset,
            open_key=None if current is None else current.key,
            open_previous_key=None if current is None else current.previous_key,
            last_key=self._last_key,
            tree=self._conversation.tree.saved(),
            queued=self._conversation.queued.saved(),
        )

    @classmethod
    def from_state(cls, state: SavedTurns) -> "TurnBuilder":
        """Return the builder that `state` describes.

        Raises:
            ValueError: the state is another version's or damaged; begin the file anew, which adds nothing twice.
        """
        builder = cls()
        try:
            if state["version"] != _STATE_VERSION:
                raise ValueError("the state of a turn builder is another version's")
            tree, queued = BranchTree.restored(state["tree"]), QueuedTexts.restored(state["queued"])
            builder._last_key = state["last_key"]
            builder._resume_offset = state["resume_offset"]
            if state["open_key"] is not None:
                builder._awaited = _Awaited(state["open_key"], state["open_previous_key"])
        except (KeyError, TypeError) as error:
            raise ValueError("the state of a turn builder is damaged") from error
        builder._conversation = Conversation(tree, queued)
        return builder

    def _prompt(self, prompt: Message, feeding: "_Feeding") -> None:
        before = self._conversation.tree.leaf
        heard = self._conversation.hear(prompt)
        for key in heard.repeated:
            self._withdraw(key, feeding)
        feeding.withdrawn.pop(heard.key, None)
        if heard.place is None:
            assert self._open is not None
            feeding.changed[heard.key] = _OpenTurn(heard.key, prompt, self._open.key)
        elif self._open is None or self._open.key != heard.key:
            self._open = _OpenTurn(heard.key, prompt, self._previous_key(heard.key, heard.place, before))
            self._last_key = heard.key
            feeding.changed[heard.key] = self._open

    def _previous_key(self, key: str, place: Place, before: Place) -> str | None:
        if self._awaited is not None and self._awaited.key == key:
            previous = self._awaited.previous_key
            self._awaited = None
            return previous
        tree = self._conversation.tree
        hangs_on = tree.parent_key(place)
        previous = self._last_key if hangs_on == tree.key_of(before) else hangs_on
        return None if previous == key else previous

    def _answer(self, message: Message, feeding: "_Feeding") -> None:
        self._conversation.answer(message)
        if self._open is None or message.is_error or message.kind is Kind.TOOL:
            return
        key = part_key(message.text, message.message_id, message.timestamp)
        if key not in self._open.parts:
            self._open.parts[key] = TurnPart(key, message.text)
            feeding.changed[self._open.key] = self._open

    def _withdraw(self, key: str, feeding: "_Feeding") -> None:
        feeding.changed.pop(key, None)
        feeding.withdrawn[key] = None
        if self._open is not None and self._open.key == key:
            self._last_key = self._open.previous_key
            self._open = None


class _Feeding:
    """What one feeding has changed so far, in order."""

    def __init__(self) -> None:
        self.changed: dict[str, _OpenTurn] = {}
        self.withdrawn: dict[str, None] = {}


class _Awaited(NamedTuple):
    """The turn that was open when the state was saved: its prompt must come again first."""

    key: str
    previous_key: str | None


class _OpenTurn:
    """A turn that may still grow."""

    def __init__(self, key: str, prompt: Message, previous_key: str | None) -> None:
        self.key = key
        self.prompt = prompt
        self.previous_key = previous_key
        self.parts: dict[str, TurnPart] = {}

    def built(self, tree: BranchTree) -> Turn:
        """Return what there is of it."""
        prompt = self.prompt
        return Turn(
            key=self.key,
            prompt=prompt.text,
            timestamp=prompt.timestamp,
            parts=tuple(self.parts.values()),
            offset=prompt.offset,
            session_id=prompt.session_id,
            cwd=prompt.cwd,
            previous_key=self.previous_key,
            is_abandoned=tree.is_stretch_abandoned(self.key),
        )
