"""Where a conversation stands: which prompt is open, on which branch, and which queued texts a later line repeated."""

from typing import NamedTuple

from ingest.transcripts.branches import BranchTree, Place
from ingest.transcripts.keys import turn_key
from ingest.transcripts.messages import Kind, Link, Message
from ingest.transcripts.queued import QueuedTexts


class Heard(NamedTuple):
    """What a human message was: its turn's key, the keys of queued texts that it repeats, its place if it opened."""

    key: str
    repeated: list[str]
    place: Place | None


class Conversation:
    """Follows the main chain of one file, line by line in file order."""

    def __init__(self, tree: BranchTree, queued: QueuedTexts) -> None:
        self.tree = tree
        self.queued = queued
        self.open_key: str | None = None

    def follow(self, link: Link) -> None:
        """Take in a line that is no message."""
        if link.is_passing:
            self.tree.add_passing(link.uuid, link.parent_uuid)
        else:
            self.tree.add_line(link.uuid, link.parent_uuid, is_leaf=link.is_leaf)

    def hear(self, prompt: Message) -> Heard:
        """Take in a human message.

        What waits in the queue opens nothing while another prompt is open: the assistant hasn't seen it, so what it
        says next still answers the other.
        """
        key = turn_key(prompt.text, prompt.timestamp)
        if prompt.kind is Kind.TEXT:
            repeated = self.queued.take_repeated(prompt.text)
        else:
            repeated = self.queued.add(key, prompt.text)
        if self.open_key in repeated:
            self.open_key = None
        if prompt.kind is Kind.WAITING and self.open_key not in (None, key):
            return Heard(key, repeated, None)
        self.open_key = key
        return Heard(key, repeated, self.tree.open_stretch(key, prompt.uuid, prompt.parent_uuid))

    def answer(self, message: Message) -> Place:
        """Take in assistant text; a queued text that it answers was said, and is repeated by nothing any more."""
        if self.open_key is not None and message.kind is Kind.TEXT and not message.is_error:
            self.queued.settle(self.open_key)
        if message.uuid is None:
            return self.tree.leaf
        return self.tree.add_line(message.uuid, message.parent_uuid, is_leaf=True)
