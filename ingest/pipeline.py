"""All of learning behind one door: look for work, do a piece of it, learn a file where it lies.

One thread at a time; any number of these, in any number of processes, may share a home.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain, zip_longest
from pathlib import Path

from graph_memory.config.settings import Settings
from graph_memory.domain.errors import GraphMemoryError, IngestError, InvalidRequest, NotFound
from graph_memory.domain.principal import LOCAL_ADMIN, Principal
from graph_memory.home import Home
from graph_memory.log import get_logger
from graph_memory.ports.store import Store
from ingest.arrivals import Arrivals, Look
from ingest.exclusions import Exclusions
from ingest.grown_transcripts import GrownTranscripts
from ingest.identity import content_key
from ingest.in_place import FileInPlace, files_below
from ingest.inbox import Claim, Found, FoundKind, Inbox
from ingest.late_mentions import Hit, LateMentions, link_late_mentions
from ingest.learning import DocumentLearner, Failure, RawDocument, read_raw
from ingest.name_index import NameIndex
from ingest.policies import Policies
from ingest.sessions import TranscriptLearner
from ingest.sidecars import Sidecar, read_sidecar
from ingest.waiting_documents import WaitingDocuments
from ingest.work import Scan, Work, WorkDone, WorkKind

LINK = (
    "links are not followed: put the file itself into pending/, or learn it where it lies with "
    "`graph-memory ingest PATH`"
)
SPECIAL = "this is no regular file"
_LOG = get_logger("ingest.pipeline")


class IngestPipeline:
    """Learns into one store from one home and the projects folders; call `close` in the end."""

    def __init__(
        self,
        store: Store,
        home: Home,
        settings: Settings,
        clock: Callable[[], datetime],
        policies: Policies,
        *,
        principal: Principal = LOCAL_ADMIN,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._home, self._settings, self._clock = store, home, settings, clock
        self._policies, self._principal = policies, principal
        self._inbox = Inbox(home)
        arrivals = Arrivals(monotonic, settings.ingest.stable_seconds)
        self._waiting = WaitingDocuments(store, self._inbox, clock, arrivals)
        self._grown = GrownTranscripts(store, settings.ingest, clock)
        self._late_version: int | None = None
        self._late_texts: set[Hit] = set()
        self._index = NameIndex(store, principal, clock, monotonic)
        self._documents = DocumentLearner(store, clock, policies, self._index, settings.ingest, self._exclusions)
        self._transcripts = TranscriptLearner(store, clock, policies, self._index, self._exclusions)

    def scan(self, changed: Collection[Path] | None = None) -> Scan:
        """Look for work: what happens now first, then what lay there; documents and transcripts by turns.

        `changed` are the only files that may have changed since the last scan; without it all folders are looked into.

        Raises:
            Unavailable: the store can't be asked now; the same files have to be named again.
        """
        documents, wait = self._waiting.find(self._principal)
        transcripts, unreadable = self._grown.find(self._principal, changed)
        return Scan(tuple(_by_turns(documents, transcripts)), wait, tuple(unreadable))

    def run(self, work: Work, *, should_stop: Callable[[], bool] = lambda: False) -> WorkDone:
        """Do a piece of work; all of it is durable when this returns, or it is found again.

        A long transcript may be left in the middle when `should_stop` says so.

        Raises:
            Unavailable: the store can't take it now; it waits where it was.
        """
        if work.found is None:
            return self._run_transcript(work, should_stop)
        try:
            claim = self._inbox.claim(work.found)
        except OSError as error:
            self._waiting.leave_alone(work.found)
            return WorkDone(failed=1, reason=f"{work.found.path} can't be moved out of pending/: {error.strerror}")
        if claim is None:
            return WorkDone()
        try:
            return self._run_claimed(work.found, claim)
        except BaseException:
            self._inbox.give_back(claim)
            raise

    def ingest_path(self, path: Path) -> Iterator[tuple[Path, WorkDone]]:
        """Learn a file, or all files below a folder, where they lie; yield each with what came of it.

        Files are neither moved nor copied; their whole path is part of what they are. Transcripts are read on.

        Raises:
            NotFound: nothing is there.
            Unavailable: the store can't take one now; those before it are learned.
        """
        exclusions = self._exclusions()
        for file in files_below(path, exclusions):
            yield file.path, self._learn_in_place(file)

    def link_late_mentions(self, *, limit: int = 20, should_stop: Callable[[], bool] = lambda: False) -> LateMentions:
        """Join older memories to entities that appeared after them, at most `limit` entities; see `late_mentions`.

        A step that `should_stop` ended goes on with the next call. Costs next to nothing while there are no new ones.

        Raises:
            Unavailable: the store can't be used now.
        """
        self._index.refresh()
        version = self._index.version
        if self._late_version == version:
            return LateMentions()
        step = link_late_mentions(
            self._store,
            self._principal,
            self._clock,
            self._policies,
            self._index,
            limit=limit,
            should_stop=should_stop,
            finished=self._late_texts,
        )
        self._late_version = version if step.is_done else None
        return step

    def since(self) -> datetime:
        """Return from when on transcripts are learned that nobody has read; decided by the settings where nobody did.

        Raises:
            Unavailable: the store can't be asked now.
        """
        return self._grown.since(self._principal)

    def set_since(self, at: datetime) -> None:
        """Decide from when on transcripts are learned that nobody has read, by when they were last written."""
        self._grown.set_since(self._principal, at)

    def give_up(self) -> None:
        """Have what takes long and can be taken up again end now; any thread may call this."""
        self._documents.give_up()

    def close(self) -> None:
        """Give up this worker's folder."""
        self._inbox.close()

    def _exclusions(self) -> Exclusions:
        return Exclusions(self._settings.exclude, self._home)

    def _run_transcript(self, work: Work, should_stop: Callable[[], bool]) -> WorkDone:
        try:
            outcome = self._transcripts.learn(self._principal, work.file, should_stop=should_stop)
        except NotFound:
            self._grown.drop(work)
            return WorkDone()
        except IngestError as error:
            self._grown.settle(work)
            return WorkDone(failed=1, reason=str(error))
        if outcome.is_finished:
            self._grown.settle(work)
        items = outcome.counts.added + outcome.counts.grown
        return WorkDone(items=items, is_finished=outcome.is_finished, transcript=outcome)

    def _run_claimed(self, found: Found, claim: Claim) -> WorkDone:
        match found.kind:
            case FoundKind.SIDECAR:
                return self._run_sidecar(found, claim)
            case FoundKind.LINK:
                return self._refuse(claim, LINK)
            case FoundKind.SPECIAL:
                return self._refuse(claim, SPECIAL)
            case FoundKind.DOCUMENT:
                return self._run_document(claim)

    def _run_document(self, claim: Claim) -> WorkDone:
        sidecar = Sidecar() if claim.sidecar is None else read_sidecar(claim.sidecar)
        try:
            raw = read_raw(claim.file, claim.path, sidecar, limit=self._settings.ingest.max_file_bytes)
        except FileNotFoundError:
            self._inbox.drop(claim)
            return WorkDone()
        except IngestError as error:
            return self._refuse(claim, str(error), sidecar)
        done = self._learn(raw)
        if done.reason is not None:
            self._inbox.fail(claim, raw.key, done.reason)
        elif done.is_forgotten:
            self._inbox.drop(claim)
        elif not _is_unchanged(claim.file, raw.look):
            # Somebody still wrote into it: what it holds now is learned as its next text.
            self._inbox.give_back(claim)
        else:
            self._inbox.complete(claim, raw.key)
        return done

    def _learn(self, raw: RawDocument) -> WorkDone:
        try:
            learned = self._documents.learn(self._principal, raw)
        except (IngestError, InvalidRequest) as error:
            return self._fail(raw, str(error))
        except GraphMemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - a defect of ours must not come back with every rescan
            reference = _LOG.unexpected("document_failed", error)
            return self._fail(
                raw, f"failed unexpectedly, the log has it as {reference}; `graph-memory retry` tries again"
            )
        items = 0 if learned.is_known or learned.is_excluded else 1
        return WorkDone(
            items=items,
            item=learned.item,
            is_known=learned.is_known,
            is_forgotten=learned.is_forgotten,
            warnings=learned.warnings,
        )

    def _fail(self, raw: RawDocument, reason: str) -> WorkDone:
        failure = Failure(raw.key, raw.path, len(raw.data), reason, raw.sidecar)
        item = self._documents.fail(self._principal, failure)
        return WorkDone(failed=1, item=item, reason=reason)

    def _run_sidecar(self, found: Found, claim: Claim) -> WorkDone:
        sidecar = read_sidecar(claim.file)
        path = found.document_path
        item = self._documents.apply_late(self._principal, path, sidecar)
        key = content_key(claim.path.encode())
        with suppress(OSError):
            key = content_key(claim.file.read_bytes())
        if item is None:
            reason = f"there is no document {path} that this could be the sidecar of"
            self._inbox.fail(claim, key, reason)
            return WorkDone(failed=1, reason=reason)
        self._inbox.complete(claim, key)
        return WorkDone(item=item, warnings=sidecar.problems)

    def _refuse(self, claim: Claim, reason: str, sidecar: Sidecar | None = None) -> WorkDone:
        """Set something aside that can't even be read."""
        status = claim.file.lstat()
        key = content_key(f"unread\0{claim.path}\0{status.st_size}\0{status.st_mtime_ns}".encode())
        failure = Failure(key, claim.path, status.st_size, reason, sidecar or Sidecar())
        item = self._documents.fail(self._principal, failure)
        self._inbox.fail(claim, key, reason)
        return WorkDone(failed=1, item=item, reason=reason)

    def _learn_in_place(self, file: FileInPlace) -> WorkDone:
        if file.refusal is not None:
            return WorkDone(failed=1, reason=file.refusal)
        if file.is_transcript:
            return self._run_transcript(Work(WorkKind.TRANSCRIPT, file.name, file.path, 0), lambda: False)
        sidecar = Sidecar() if file.sidecar is None else read_sidecar(file.sidecar)
        try:
            raw = read_raw(file.path, file.name, sidecar, limit=self._settings.ingest.max_file_bytes)
        except FileNotFoundError:
            return WorkDone(failed=1, reason="the file is gone")
        except IngestError as error:
            return WorkDone(failed=1, reason=str(error))
        return self._learn(raw)


def _by_turns(*queues: Sequence[Work]) -> Iterator[Work]:
    """Take one of each, as long as there is any: a note does not wait behind a thousand sessions, nor they behind it.

    What is new and what is not are by turns among themselves.
    """
    for is_backlog in (False, True):
        some = [[it for it in queue if it.is_backlog is is_backlog] for queue in queues]
        yield from (it for it in chain.from_iterable(zip_longest(*some)) if it is not None)


def _is_unchanged(file: Path, look: Look) -> bool:
    try:
        return Look.at(file.lstat()) == look
    except OSError:
        return True
