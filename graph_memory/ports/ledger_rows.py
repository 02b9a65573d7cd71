"""Rows of ingest and upkeep. Answers with an order name it; mappings leave out what was not found."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from graph_memory.domain.ledger import (
    AuditEvent,
    IngestItem,
    IngestState,
    JobRun,
    MergeRecord,
    SessionCursor,
    Tombstone,
    TranscriptCursor,
    Vector,
    VectorOwner,
)


class LedgerReader(Protocol):
    """Find what ingest took in."""

    def find_items(self, ids: Collection[str]) -> Mapping[str, IngestItem]:
        """Find documents by id."""

    def find_items_by_content(self, content_keys: Collection[str]) -> Mapping[str, Sequence[IngestItem]]:
        """Find documents by content key, of each key those that did not fail first, then by id."""

    def find_items_by_path(self, paths: Collection[str]) -> Mapping[str, Sequence[IngestItem]]:
        """Find documents by path, of each path the newest first (`queued_at`, then id)."""

    def page_items(self, state: IngestState, limit: int, offset: int = 0) -> Sequence[IngestItem]:
        """List documents: pending and processing oldest first, completed and failed newest first; ties by id."""

    def count_items(self) -> Mapping[IngestState, int]:
        """Count documents by state; every state is there."""

    def session_cursors(self) -> Mapping[str, SessionCursor]:
        """Return, for each cloud session, the cursor with the newest `through` (as an instant) of its documents."""

    def transcript_cursors(self, paths: Collection[str] | None = None) -> Mapping[str, TranscriptCursor]:
        """Find cursors by path; all of them without `paths`."""

    def find_learned(self, keys: Collection[str]) -> Mapping[str, int]:
        """Find which content keys of turns and parts are known, and the memory each went into."""

    def find_learned_of(self, memory_ids: Collection[int]) -> Mapping[str, int]:
        """Find the content keys that went into these memories, with the memory of each."""

    def page_learned(self, after: str | None, limit: int) -> Sequence[tuple[str, int]]:
        """List known content keys with the memory each went into, by key, from the first past `after`."""

    def tombstones(self, content_keys: Collection[str]) -> Mapping[str, Tombstone]:
        """Find what was forgotten for good."""

    def page_tombstones(self, after: str | None, limit: int) -> Sequence[Tombstone]:
        """List tombstones by content key, from the first past `after`."""


class LedgerWriter(LedgerReader, Protocol):
    """Change what ingest took in."""

    def put_items(self, items: Collection[IngestItem]) -> None:
        """Add documents or replace those with the same id."""

    def delete_items(self, ids: Collection[str]) -> int:
        """Remove documents; session cursors that rest on them go back, so completed ones stay."""

    def put_transcript_cursors(self, cursors: Collection[TranscriptCursor]) -> None:
        """Add cursors or replace those with the same path."""

    def delete_transcript_cursors(self, paths: Collection[str]) -> int:
        """Remove cursors."""

    def add_learned(self, memory_ids: Mapping[str, int]) -> None:
        """Note content keys as known; a key that is known keeps its memory."""

    def delete_learned(self, memory_ids: Collection[int]) -> int:
        """Remove the keys that went into these memories."""

    def put_tombstones(self, tombstones: Collection[Tombstone]) -> None:
        """Note content keys as forgotten for good."""


class UpkeepReader(Protocol):
    """Find job runs, merge inverses, vectors and what the audit has yet to write."""

    def last_runs(self, jobs: Collection[str] | None = None) -> Mapping[str, JobRun]:
        """Find the latest run of each job (`started_at`)."""

    def last_success(self, job: str) -> JobRun | None:
        """Find the latest run of a job that succeeded."""

    def runs(self, job: str, limit: int) -> Sequence[JobRun]:
        """List the runs of a job, newest first."""

    def merges(self, ids: Collection[str]) -> Mapping[str, MergeRecord]:
        """Find merge inverses by id."""

    def page_merges(self, after: str | None, limit: int) -> Sequence[MergeRecord]:
        """List merge inverses by id, from the first past `after`."""

    def vectors(self, owner: VectorOwner, owner_ids: Collection[str], model_id: str) -> Mapping[str, Vector]:
        """Find vectors of one model."""

    def count_vectors(self) -> Mapping[str, int]:
        """Count vectors by model id."""

    def page_audit(self, limit: int) -> Sequence[AuditEvent]:
        """List events that wait to be written, in the order they were added."""


class UpkeepWriter(UpkeepReader, Protocol):
    """Change job runs, merge inverses, vectors and the audit's outbox."""

    def put_run(self, run: JobRun) -> None:
        """Add a run or replace the one of the same job and start."""

    def delete_runs(self, job: str, keep: int) -> int:
        """Remove all but the newest `keep` runs of a job."""

    def put_merges(self, merges: Collection[MergeRecord]) -> None:
        """Add merge inverses or replace those with the same id."""

    def delete_merges(self, ids: Collection[str]) -> int:
        """Remove merge inverses."""

    def put_vectors(self, vectors: Collection[Vector]) -> None:
        """Add vectors or replace those of the same owner and model."""

    def delete_vectors(self, owner: VectorOwner, owner_ids: Collection[str]) -> int:
        """Remove the vectors of these owners, of every model."""

    def add_audit(self, events: Collection[AuditEvent]) -> None:
        """Put events into the outbox; they are part of this transaction."""

    def delete_audit(self, ids: Collection[str]) -> int:
        """Remove events that were written."""
