"""What a transcript is read as: messages, and the links between its lines, which say what a rewind left behind."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

Role = Literal["human", "assistant"]


class Kind(StrEnum):
    """What a message is."""

    TEXT = "text"
    WAITING = "waiting"  # typed while the assistant worked, not yet given to it
    QUEUED = "queued"  # typed while the assistant worked, and given to it in mid-turn
    TOOL = "tool"  # only tool calls or results, where they were asked for


@dataclass(frozen=True, slots=True)
class Message:
    """One line's text.

    A `human` message is what a person typed; all else, a sidechain's prompts too, is the `assistant`'s. `timestamp` is
    aware UTC. `offset` is the byte offset of the line, `nth` counts the messages of one line. `is_error` marks what the
    client wrote in the model's place when the API failed.
    """

    role: Role
    text: str
    timestamp: datetime | None
    offset: int
    kind: Kind = Kind.TEXT
    nth: int = 0
    session_id: str | None = None
    cwd: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    message_id: str | None = None
    is_sidechain: bool = False
    is_abandoned: bool = False
    is_error: bool = False


class Link(NamedTuple):
    """A line of the main chain that is no message but may be the parent of one.

    `is_leaf`: the conversation stands here now. `is_passing`: only the next line may hang on it.
    """

    uuid: str
    parent_uuid: str | None
    offset: int
    is_leaf: bool
    is_passing: bool


Entry = Message | Link


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read.

    `is_whole`: the file is read once to its end, so an unfinished last line counts as unparseable; otherwise it is left
    for the next reading, unless it is a whole record that only lacks its line feed. `is_agent`: the file is an agent's,
    so that every line counts as a sidechain's, marked or not. `max_bytes` stops at the end of the line that reaches it.
    """

    is_whole: bool = False
    is_agent: bool = False
    with_sidechains: bool = False
    with_tools: bool = False
    max_bytes: int | None = None
