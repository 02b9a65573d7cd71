"""Job runs, merge inverses, vectors, and the audit's outbox."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from graph_memory.adapters.reference.rows import Rows, detached, stored
from graph_memory.domain.ledger import AuditEvent, JobRun, MergeRecord, RunStatus, Vector, VectorOwner


class ReferenceUpkeepReader:
    """Find what upkeep left; see `UpkeepReader`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def last_runs(self, jobs: Collection[str] | None = None) -> Mapping[str, JobRun]:
        """Find the latest run of each job."""
        wanted = {job for job, _ in self._rows.runs} if jobs is None else set(jobs)
        return {job: latest[0] for job in sorted(wanted) if (latest := self.runs(job, 1))}

    def last_success(self, job: str) -> JobRun | None:
        """Find the latest run of a job that succeeded."""
        succeeded = (run for run in self.runs(job, len(self._rows.runs)) if run.status is RunStatus.SUCCEEDED)
        return next(succeeded, None)

    def runs(self, job: str, limit: int) -> Sequence[JobRun]:
        """List the runs of a job, newest first."""
        starts = sorted((start for name, start in self._rows.runs if name == job), reverse=True)
        return [detached(self._rows.runs[job, start]) for start in starts[:limit]]

    def merges(self, ids: Collection[str]) -> Mapping[str, MergeRecord]:
        """Find merge inverses by id."""
        return {id_: detached(self._rows.merges[id_]) for id_ in ids if id_ in self._rows.merges}

    def page_merges(self, after: str | None, limit: int) -> Sequence[MergeRecord]:
        """List merge inverses by id, from the first past `after`."""
        ids = sorted(id_ for id_ in self._rows.merges if after is None or id_ > after)
        return [detached(self._rows.merges[id_]) for id_ in ids[:limit]]

    def vectors(self, owner: VectorOwner, owner_ids: Collection[str], model_id: str) -> Mapping[str, Vector]:
        """Find vectors of one model."""
        keys = {id_: (owner, id_, model_id) for id_ in owner_ids}
        return {id_: self._rows.vectors[key] for id_, key in keys.items() if key in self._rows.vectors}

    def count_vectors(self) -> Mapping[str, int]:
        """Count vectors by model id."""
        return Counter(model_id for _, _, model_id in self._rows.vectors)

    def page_audit(self, limit: int) -> Sequence[AuditEvent]:
        """List events that wait, in the order they were added."""
        return [detached(event) for event in list(self._rows.audit.values())[:limit]]


class ReferenceUpkeepWriter(ReferenceUpkeepReader):
    """Change what upkeep left; see `UpkeepWriter`."""

    def put_run(self, run: JobRun) -> None:
        """Add or replace a run."""
        self._rows.runs[run.job, run.started_at] = stored(run)

    def delete_runs(self, job: str, keep: int) -> int:
        """Remove all but the newest runs of a job."""
        doomed = self.runs(job, len(self._rows.runs))[keep:]
        for run in doomed:
            del self._rows.runs[job, run.started_at]
        return len(doomed)

    def put_merges(self, merges: Collection[MergeRecord]) -> None:
        """Add or replace merge inverses."""
        self._rows.merges.update({merge.id: stored(merge) for merge in merges})

    def delete_merges(self, ids: Collection[str]) -> int:
        """Remove merge inverses."""
        doomed = set(ids) & self._rows.merges.keys()
        for id_ in doomed:
            del self._rows.merges[id_]
        return len(doomed)

    def put_vectors(self, vectors: Collection[Vector]) -> None:
        """Add or replace vectors."""
        self._rows.vectors.update({(vector.owner, vector.owner_id, vector.model_id): vector for vector in vectors})

    def delete_vectors(self, owner: VectorOwner, owner_ids: Collection[str]) -> int:
        """Remove the vectors of these owners."""
        return self._rows.delete_vectors(owner, owner_ids)

    def add_audit(self, events: Collection[AuditEvent]) -> None:
        """Put events into the outbox; one that waits there stays as it is."""
        for event in events:
            self._rows.audit.setdefault(event.id, stored(event))

    def delete_audit(self, ids: Collection[str]) -> int:
        """Remove events."""
        doomed = set(ids) & self._rows.audit.keys()
        for id_ in doomed:
            del self._rows.audit[id_]
        return len(doomed)
