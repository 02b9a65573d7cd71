"""Looking for transcripts that have grown, or that nobody has read yet."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graph_memory.config.settings import Ingest
from graph_memory.domain.instants import parse_instant, to_wire
from graph_memory.domain.ledger import JobRun, RunStatus, TranscriptCursor
from graph_memory.domain.principal import Principal
from graph_memory.ports.store import Store, WriteTransaction
from ingest.sessions import transcript_name
from ingest.transcripts.files import FileKind, TranscriptFile, find_transcript, list_transcripts
from ingest.work import FRESH, Work, WorkKind

_SLICE = 500
_FIRST_RUN = "first_run"


class GrownTranscripts:
    """Looks into the projects folders; remembers what was read to its end, so that a look costs little.

    It remembers what is still to be read, too, so that one who knows which files changed looks at these alone.
    """

    def __init__(self, store: Store, settings: Ingest, clock: Callable[[], datetime]) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._settled: dict[Path, tuple[int, int]] = {}
        self._open: dict[Path, Work] = {}
        self._unreadable: tuple[str, ...] = ()

    def find(
        self, principal: Principal, changed: Collection[Path] | None = None
    ) -> tuple[Sequence[Work], Sequence[str]]:
        """Return transcripts to read, and folders that can't be read.

        Those that grow now come first, the one that has waited longest before the others, so that none keeps the rest
        waiting by being written to all the time; then the backlog, the latest first.

        `changed` are the only files that may have changed since the last time; without it all folders are looked into.

        Raises:
            Unavailable: the store can't be asked now; the same files have to be named again.
        """
        if changed is None:
            self._look_everywhere(principal)
        else:
            self._look_at(principal, changed)
        return sorted(self._open.values(), key=_turn), self._unreadable

    def _look_everywhere(self, principal: Principal) -> None:
        listing = list_transcripts(self._settings.projects_dirs)
        sessions = [it for it in listing.files if it.kind is FileKind.SESSION and it.size > 0]
        there = {it.path for it in sessions}
        self._settled = {path: seen for path, seen in self._settled.items() if path in there}
        changed = [it for it in sessions if not self._is_settled(it)]
        self._open = {it.file: it for it in self._works(principal, changed)}
        self._unreadable = listing.unreadable

    def _look_at(self, principal: Principal, files: Collection[Path]) -> None:
        looked_at = {it: find_transcript(it, self._settings.projects_dirs) for it in files}
        sessions = [it for it in looked_at.values() if it is not None and it.size > 0 and not self._is_settled(it)]
        works = list(self._works(principal, sessions))
        for path in looked_at:
            self._open.pop(path, None)
        self._open.update((it.file, it) for it in works)

    def _is_settled(self, file: TranscriptFile) -> bool:
        return self._settled.get(file.path) == (file.size, file.modified_ns)

    def settle(self, work: Work) -> None:
        """Note that a transcript was read to its end, as it was when it was found."""
        if work.look is not None:
            self._settled[work.file] = work.look
        self.drop(work)

    def drop(self, work: Work) -> None:
        """Forget a piece of work until its file is looked at again."""
        if self._open.get(work.file) == work:
            del self._open[work.file]

    def since(self, principal: Principal) -> datetime:
        """Return from when on transcripts are learned that nobody has read; settled once, in the store."""
        known = _find_since(self._store, principal)
        if known is not None:
            return parse_instant(known, argument="since").at
        return self.set_since(principal, self._clock() - timedelta(days=self._settings.since_days))

    def set_since(self, principal: Principal, at: datetime) -> datetime:
        """Decide from when on transcripts are learned, by when their files were last written."""
        now = self._clock()
        run = JobRun(_FIRST_RUN, now, RunStatus.SUCCEEDED, now, {"since": to_wire(at)})

        def work(tx: WriteTransaction) -> None:
            tx.upkeep.put_run(run)
            tx.upkeep.delete_runs(_FIRST_RUN, 1)

        self._store.write(principal, work)
        return at

    def _works(self, principal: Principal, files: Sequence[TranscriptFile]) -> Iterator[Work]:
        if not files:
            return
        since = self.since(principal)
        for start in range(0, len(files), _SLICE):
            named = {transcript_name(it.path.resolve()): it for it in files[start : start + _SLICE]}
            cursors = self._cursors(principal, named.keys())
            for name, file in named.items():
                work = self._work(file, cursors.get(name), since)
                if work is not None:
                    yield work

    def _cursors(self, principal: Principal, names: Collection[str]) -> Mapping[str, TranscriptCursor]:
        return self._store.read(principal, lambda tx: tx.ledger.transcript_cursors(names))

    def _work(self, file: TranscriptFile, cursor: TranscriptCursor | None, since: datetime) -> Work | None:
        look = (file.size, file.modified_ns)
        modified = datetime.fromtimestamp(file.modified_ns / 1e9, UTC)
        if cursor is None and modified < since:
            return None
        if cursor is not None and cursor.offset == file.size == cursor.size:
            self._settled[file.path] = look
            return None
        is_backlog = modified < self._clock() - FRESH
        size = file.size - (0 if cursor is None else min(cursor.offset, file.size))
        return Work(WorkKind.TRANSCRIPT, f"transcript:{file.path}", file.path, size, is_backlog, look=look)


def _turn(work: Work) -> tuple[bool, int, Path]:
    modified = _modified_ns(work)
    return work.is_backlog, -modified if work.is_backlog else modified, work.file


def has_since(store: Store, principal: Principal) -> bool:
    """Tell whether it is decided from when on transcripts are learned.

    Raises:
        Unavailable: the store can't be asked now.
    """
    return _find_since(store, principal) is not None


def _find_since(store: Store, principal: Principal) -> str | None:
    run = store.read(principal, lambda tx: tx.upkeep.last_success(_FIRST_RUN))
    since = None if run is None else run.result.get("since")
    return since if isinstance(since, str) else None


def _modified_ns(work: Work) -> int:
    return 0 if work.look is None else work.look[1]
