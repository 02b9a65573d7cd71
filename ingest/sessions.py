"""Transcripts, read on from where they ended, turn by turn into the store.

The cursor moves in the transaction that stores what was read before it. So a crash at any line repeats a little and
loses nothing: what is repeated is known by its keys.
"""

import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from graph_memory.domain.audit import audit_event
from graph_memory.domain.errors import IngestError, NotFound
from graph_memory.domain.ledger import AuditEvent, TranscriptCursor
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import Store, WriteTransaction
from ingest.exclusions import Exclusions, Reason
from ingest.name_index import NameIndex
from ingest.policies import Policies
from ingest.projects import ProjectFolder, project_folder
from ingest.transcripts.messages import Reading
from ingest.transcripts.reading import open_transcript, read_entries
from ingest.transcripts.reports import ReadReport
from ingest.transcripts.turns import Changes, SavedTurns, Turn, TurnBuilder
from ingest.turn_memories import PlacedTurn, TurnChanges, TurnCounts, store_turns

if TYPE_CHECKING:
    from graph_memory.domain.entities import JsonValue

TURNS_AT_ONCE = 10
"""Turns of one transaction: others wait for it, and a crash repeats no more than that."""
_READ_BYTES = 1 << 20
_UNSTORED_BYTES = 8 << 20
_FINGERPRINT_BYTES = 4_096
_LIVE = 16


@dataclass(frozen=True, slots=True)
class TranscriptOutcome:
    """What reading on in a transcript came to.

    `skipped` counts turns that are not learned, by reason. `is_finished` is false when it was stopped before the end.
    `bytes_read` may count an open turn again.
    """

    path: str
    session_id: str
    counts: TurnCounts
    skipped: Mapping[str, int]
    format_warnings: Mapping[str, int]
    bytes_read: int
    is_finished: bool = True


class TranscriptLearner:
    """Learns transcripts; keeps the builders of those that grew last, so that they go on without reading again."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        policies: Policies,
        index: NameIndex,
        exclusions: Callable[[], Exclusions],
    ) -> None:
        self._store, self._clock, self._policies, self._index = store, clock, policies, index
        self._exclusions = exclusions
        self._live: OrderedDict[str, tuple[tuple[int, str, datetime], TurnBuilder]] = OrderedDict()

    def learn(
        self, principal: Principal, file: Path, *, should_stop: Callable[[], bool] = lambda: False
    ) -> TranscriptOutcome:
        """Read a transcript from its cursor to its end and store what is new; safe to do again at any time.

        Raises:
            NotFound: the file is gone.
            IngestError: it can't be read.
            Unavailable: the store can't take it now; what was stored before stays, the rest is read again.
        """
        path = file.resolve()
        name = transcript_name(path)
        try:
            with open_transcript(path) as stream:
                return self._learn(principal, stream, name, path.stem, should_stop)
        except FileNotFoundError:
            raise NotFound(f"there is no transcript {path.name}") from None
        except OSError as error:
            raise IngestError(f"{path.name} can't be read: {error.strerror}") from error

    def _learn(
        self, principal: Principal, stream: BinaryIO, name: str, stem: str, should_stop: Callable[[], bool]
    ) -> TranscriptOutcome:
        self._index.refresh()
        cursor, builder, offset = self._resume(principal, stream, name)
        self._live.pop(name, None)
        run = _Run(principal, stream, name, cursor, stem, self._exclusions())
        is_stopped, end = False, offset
        for changes, end, is_last in _steps(stream, builder, offset, run.report):
            is_stopped = not is_last and should_stop()
            run.gathered.add(changes)
            is_at_end = is_last or is_stopped
            if is_at_end or run.gathered.is_enough(builder.resume_offset, end):
                taken = run.gathered.taken(None if is_at_end else builder.resume_offset, end)
                cursor = self._store_step(run, taken, builder, end, is_last=is_last)
            if is_stopped:
                break
        if cursor is not None and not builder.is_overgrown:
            self._live[name] = (_stands_at(cursor), builder)
            while len(self._live) > _LIVE:
                self._live.popitem(last=False)
        return run.outcome(end - offset, is_finished=not is_stopped)

    def _resume(
        self, principal: Principal, stream: BinaryIO, name: str
    ) -> tuple[TranscriptCursor | None, TurnBuilder, int]:
        """Return where to go on: with the builder at hand, with the saved one, else from the start of the file."""
        cursor = self._store.read(principal, lambda tx: tx.ledger.transcript_cursors({name})).get(name)
        if cursor is None or not is_same_file(stream, cursor):
            return None, TurnBuilder(), 0
        known = self._live.get(name)
        if known is not None and known[0] == _stands_at(cursor):
            return cursor, known[1], cursor.offset
        try:
            builder = TurnBuilder.from_state(cast("SavedTurns", cursor.state))
        except (ValueError, KeyError, TypeError):
            return None, TurnBuilder(), 0
        return cursor, builder, builder.resume_offset

    def _store_step(
        self, run: "_Run", changes: "_Gathered", builder: TurnBuilder, offset: int, *, is_last: bool
    ) -> TranscriptCursor:
        """Store what was gathered, a slice at a time; the cursor moves with the last one."""
        now = self._clock()
        size = os.fstat(run.stream.fileno()).st_size
        state = cast("Mapping[str, JsonValue]", builder.state())
        fingerprint = fingerprint_of(run.stream, offset)
        cursor = TranscriptCursor(run.name, fingerprint, offset, size, now, run.session_id, state)
        turns = run.placed(changes.turns.values())
        if run.cursor is not None and changes.is_empty and _stands_at(run.cursor)[:2] == _stands_at(cursor)[:2]:
            return run.cursor
        slices = [turns[start : start + TURNS_AT_ONCE] for start in range(0, len(turns), TURNS_AT_ONCE)] or [[]]
        for number, some in enumerate(slices):
            is_end = number == len(slices) - 1
            part = TurnChanges(some) if not is_end else changes.rest(some)

            def work(tx: WriteTransaction, part: TurnChanges = part, *, is_end: bool = is_end) -> TurnCounts:
                counts = store_turns(tx, part, run.name, now, self._policies, self._index, run.exclusions.of_project)
                if is_end:
                    tx.ledger.put_transcript_cursors([cursor])
                tx.upkeep.add_audit(run.events(counts, now, is_last=is_end and is_last))
                return counts

            counts = self._store.write(run.principal, work)
            run.note(counts)
        return cursor


def transcript_name(path: Path) -> str:
    """Return a transcript's resolved path as the store keeps it; bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode(errors="backslashreplace")


@dataclass(slots=True)
class _Gathered:
    """Changes of several readings; of a turn that changed again, the latest."""

    stored_at: int = 0
    turns: dict[str, Turn] = field(default_factory=dict)
    withdrawn: dict[str, None] = field(default_factory=dict)
    abandoned: dict[str, bool] = field(default_factory=dict)

    def add(self, changes: Changes) -> None:
        """Take in what one reading changed."""
        for key in changes.withdrawn:
            self.turns.pop(key, None)
            self.withdrawn[key] = None
        for turn in changes.turns:
            self.turns[turn.key] = turn
            self.withdrawn.pop(turn.key, None)
        self.abandoned.update(dict.fromkeys(changes.abandoned, True))
        self.abandoned.update(dict.fromkeys(changes.revived, False))
        for key, turn in self.turns.items():
            if self.abandoned.get(key, turn.is_abandoned) != turn.is_abandoned:
                self.turns[key] = replace(turn, is_abandoned=self.abandoned[key])

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing changed."""
        return not (self.turns or self.withdrawn or self.abandoned)

    def is_enough(self, open_offset: int, offset: int) -> bool:
        """Tell whether to store, the open turn aside, which a later reading brings again whole."""
        closed = sum(turn.offset != open_offset for turn in self.turns.values())
        return closed >= TURNS_AT_ONCE or (closed > 0 and offset - self.stored_at >= _UNSTORED_BYTES)

    def taken(self, open_offset: int | None, offset: int) -> "_Gathered":
        """Take out what is to be stored now: all but the turn that begins at `open_offset`."""
        now = _Gathered(offset, {}, self.withdrawn, self.abandoned)
        held = dict[str, Turn]()
        for key, turn in self.turns.items():
            (held if turn.offset == open_offset else now.turns)[key] = turn
        self.stored_at, self.turns, self.withdrawn, self.abandoned = offset, held, {}, {}
        return now

    def rest(self, turns: Sequence[PlacedTurn]) -> TurnChanges:
        """Return the last slice with all that isn't a turn."""
        abandoned = [key for key, flag in self.abandoned.items() if flag]
        revived = [key for key, flag in self.abandoned.items() if not flag]
        return TurnChanges(turns, tuple(self.withdrawn), abandoned, revived)


@dataclass(slots=True)
class _Run:
    """One reading of a transcript, as far as it has come."""

    principal: Principal
    stream: BinaryIO
    name: str
    cursor: TranscriptCursor | None
    stem: str
    exclusions: Exclusions
    report: ReadReport = field(default_factory=ReadReport)
    gathered: _Gathered = field(default_factory=_Gathered)
    counts: TurnCounts = field(default_factory=TurnCounts)
    skipped: Counter[str] = field(default_factory=Counter)
    folders: dict[str, ProjectFolder] = field(default_factory=dict)
    is_announced: bool = False

    @property
    def session_id(self) -> str:
        """The session that the file is of; its name says it where its lines don't."""
        known = None if self.cursor is None else self.cursor.session_id
        return known or self.report.session_id or self.stem

    def placed(self, turns: Iterable[Turn]) -> list[PlacedTurn]:
        """Return the turns that are learned, with the folders of their projects."""
        kept = []
        for turn in turns:
            session = turn.session_id or self.session_id
            reason = (
                self.exclusions.of_session(session)
                or self.exclusions.of_instant(turn.timestamp)
                or self.exclusions.of_folder(turn.cwd)
            )
            if reason is not None:
                self.skipped[reason] += 1
                continue
            kept.append(PlacedTurn(replace(turn, session_id=session), self._folder(turn.cwd)))
        return kept

    def _folder(self, cwd: str | None) -> ProjectFolder | None:
        if not cwd or not cwd.strip():
            return None
        if cwd not in self.folders:
            self.folders[cwd] = project_folder(cwd)
        return self.folders[cwd]

    def note(self, counts: TurnCounts) -> None:
        """Count what was stored."""
        self.counts.add(counts)
        self.is_announced = self.is_announced or counts.has_changes

    def events(self, counts: TurnCounts, now: datetime, *, is_last: bool) -> list[AuditEvent]:
        """Return what the audit is told with one transaction: ids and numbers."""
        session: dict[str, JsonValue] = {"session_id": self.session_id}
        events = []
        if counts.has_changes and not self.is_announced:
            events.append(audit_event("transcript_start", now, session))
        total = TurnCounts()
        total.add(self.counts)
        total.add(counts)
        forgotten = {Reason.FORGOTTEN.value: total.forgotten} if total.forgotten else {}
        skipped: dict[str, JsonValue] = {**self.skipped, **forgotten}
        if is_last and skipped and self.cursor is None:
            events.append(audit_event("transcript_skipped", now, {**session, **skipped}))
        if is_last and (total.has_changes or self.is_announced):
            events.append(audit_event("transcript_end", now, {**session, **total.as_json()}))
        warnings = self.report.format_warnings()
        if is_last and warnings:
            events.append(audit_event("format_warning", now, {**session, **warnings}))
        return events

    def outcome(self, bytes_read: int, *, is_finished: bool) -> TranscriptOutcome:
        """Tell what the reading came to."""
        return TranscriptOutcome(
            path=self.name,
            session_id=self.session_id,
            counts=self.counts,
            skipped=dict(self.skipped),
            format_warnings=self.report.format_warnings(),
            bytes_read=bytes_read,
            is_finished=is_finished,
        )


def _steps(
    stream: BinaryIO, builder: TurnBuilder, offset: int, report: ReadReport
) -> Iterator[tuple[Changes, int, bool]]:
    """Read on to the end, a bounded stretch at a time; with each its changes, where it ends, and whether it is last."""
    reading = Reading(max_bytes=_READ_BYTES)
    while True:
        changes = builder.feed(read_entries(stream, report, offset=offset, reading=reading))
        is_last = report.end_offset - offset < _READ_BYTES
        offset = report.end_offset
        yield changes, offset, is_last
        if is_last:
            return


def _stands_at(cursor: TranscriptCursor) -> tuple[int, str, datetime]:
    return cursor.offset, cursor.fingerprint, cursor.updated_at


def fingerprint_of(stream: BinaryIO, offset: int) -> str:
    """Return what identifies a file by its first bytes, of those before `offset`."""
    length = min(offset, _FINGERPRINT_BYTES)
    stream.seek(0)
    return f"{length}:{blake2b(stream.read(length), digest_size=16).hexdigest()}"


def is_same_file(stream: BinaryIO, cursor: TranscriptCursor) -> bool:
    """Tell whether a file is the one that the cursor is about, grown or as it was."""
    if os.fstat(stream.fileno()).st_size < cursor.offset:
        return False
    length, _, _ = cursor.fingerprint.partition(":")
    return length.isdecimal() and fingerprint_of(stream, int(length)) == cursor.fingerprint
