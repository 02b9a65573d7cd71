"""The messages of a whole transcript, a page at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from graph_memory.domain.errors import IngestError, NotFound
from ingest.transcripts.branches import BranchTree, Place
from ingest.transcripts.conversation import Conversation
from ingest.transcripts.files import FileKind, kind_of
from ingest.transcripts.messages import Entry, Kind, Link, Message, Reading
from ingest.transcripts.queued import QueuedTexts
from ingest.transcripts.reading import open_transcript, read_entries
from ingest.transcripts.reports import ReadReport

_MAX_NODES = 1 << 18
_NOWHERE: Place = (0, -1)


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """Messages `offset` up to `next_offset` of `message_count`; counts and warnings are of the whole file.

    `skipped` says for each reason how many lines are no messages. Text is as it stands in the file: not redacted.
    """

    messages: tuple[Message, ...]
    message_count: int
    offset: int
    next_offset: int | None
    session_id: str
    cwd: str | None
    skipped: dict[str, int]
    warnings: tuple[str, ...]
    report: ReadReport


def read_transcript(
    path: Path, *, text_only: bool = True, offset: int = 0, limit: int = 200, include_sidechains: bool = False
) -> TranscriptPage:
    """Read a page of a transcript's messages, in file order, each marked if a rewind left it behind.

    `offset` and `limit` count messages. Tool calls and results come as labelled text when `text_only` is off. The file
    is read to its end each time (what a rewind abandons and what a later line repeats stands there), but only the
    page's text is held.

    Raises:
        NotFound: there is no such file.
        IngestError: it can't be read.
    """
    is_agent = kind_of(path)[0] in (FileKind.AGENT, FileKind.COMPACTION)
    reading = Reading(is_whole=True, is_agent=is_agent, with_sidechains=include_sidechains, with_tools=not text_only)
    try:
        with open_transcript(path) as stream:
            return read_page(stream, path.stem, reading, offset=offset, limit=limit)
    except FileNotFoundError as error:
        raise NotFound(f"there is no transcript {path.name}") from error
    except OSError as error:
        raise IngestError(f"{path.name} can't be read: {error.strerror}") from error


def read_page(stream: BinaryIO, session_id: str, reading: Reading, *, offset: int, limit: int) -> TranscriptPage:
    """Read a page as `read_transcript` does; `session_id` counts where no line says one, `reading` is of a whole file.

    Raises:
        OSError: the stream can't be read.
    """
    report = ReadReport()
    outline = _Outline()
    for entry in read_entries(stream, report, reading=reading):
        outline.add(entry)
    slots = outline.slots()
    start = max(0, offset)
    end = min(start + max(1, limit), len(slots))
    flags = outline.tree.abandoned(slot.place for slot in slots[start:end])
    messages = tuple(_messages(stream, slots[start:end], flags, reading))
    return TranscriptPage(
        messages=messages,
        message_count=len(slots),
        offset=start,
        next_offset=end if end < len(slots) else None,
        session_id=report.session_id or session_id,
        cwd=report.cwd,
        skipped=_skipped(report),
        warnings=tuple(f"{name}: {count}" for name, count in report.format_warnings().items()),
        report=report,
    )


@dataclass(slots=True)
class _Slot:
    """Where a message is, without its text: its place in the tree, and offset and number of each of its lines."""

    place: Place
    lines: list[tuple[int, int]]
    message_id: str | None


class _Outline:
    """The messages of a file without their text; those that a later line repeats are struck out.

    The API's message comes in several lines, one for each block: neighbours are one message again.
    """

    def __init__(self) -> None:
        self.tree = BranchTree(max_nodes=_MAX_NODES)
        self._conversation = Conversation(self.tree, QueuedTexts())
        self._slots: list[_Slot | None] = []
        self._queued: dict[str, int] = {}

    def add(self, entry: Entry) -> None:
        if isinstance(entry, Link):
            self._conversation.follow(entry)
            return
        place, line = self._place(entry), (entry.offset, entry.nth)
        last = self._slots[-1] if self._slots else None
        if last is not None and entry.message_id is not None and last.message_id == entry.message_id:
            last.lines.append(line)
        else:
            self._slots.append(_Slot(place, [line], entry.message_id))

    def slots(self) -> list[_Slot]:
        return [slot for slot in self._slots if slot is not None]

    def _place(self, message: Message) -> Place:
        if message.is_sidechain:
            return _NOWHERE
        if message.role == "assistant":
            return self._conversation.answer(message)
        heard = self._conversation.hear(message)
        for key in heard.repeated:
            self._slots[self._queued.pop(key)] = None
        if message.kind is not Kind.TEXT:
            if heard.key in self._queued:  # the same line once more
                self._slots[self._queued[heard.key]] = None
            self._queued[heard.key] = len(self._slots)
        return heard.place or _NOWHERE


def _messages(stream: BinaryIO, slots: list[_Slot], flags: list[bool], reading: Reading) -> Iterator[Message]:
    """Read the page's lines again; what has changed since is left out."""
    for slot, is_abandoned in zip(slots, flags, strict=True):
        lines = [line for offset, nth in slot.lines if (line := _line(stream, offset, nth, reading)) is not None]
        if lines:
            text = "\n\n".join(line.text for line in lines)
            kind = Kind.TEXT if any(line.kind is Kind.TEXT for line in lines) else lines[0].kind
            yield replace(lines[0], text=text, kind=kind, is_abandoned=is_abandoned)


def _line(stream: BinaryIO, offset: int, nth: int, reading: Reading) -> Message | None:
    entries = read_entries(stream, ReadReport(), offset=offset, reading=replace(reading, max_bytes=1))
    return next((entry for entry in entries if isinstance(entry, Message) and entry.nth == nth), None)


def _skipped(report: ReadReport) -> dict[str, int]:
    skipped = {str(reason): count for reason, count in report.skipped.items()}
    if report.unparseable_lines:
        skipped["unparseable"] = report.unparseable_lines
    if report.non_object_lines:
        skipped["not_an_object"] = report.non_object_lines
    return skipped
