"""Job runs, merge inverses, vectors, and the audit's outbox."""

from collections.abc import Collection, Mapping, Sequence

from graph_memory.adapters.sqlite.rows import beyond, from_json, instant, listed, maybe_instant, micros, to_json
from graph_memory.adapters.sqlite.session import Row, Session, composed
from graph_memory.domain.instants import to_micros
from graph_memory.domain.ledger import AuditEvent, JobRun, MergeRecord, RunStatus, Vector, VectorOwner

_RUNS = """
    select job, started_at, status, ended_at, result, error from job_runs
    where tenant = ? and job = ? order by started_at desc limit ?
"""
_SUCCESS = """
    select job, started_at, status, ended_at, result, error from job_runs
    where tenant = ? and job = ? and status = 'succeeded' order by started_at desc limit 1
"""
_LAST_RUNS = """
    select job_runs.job, job_runs.started_at, job_runs.status, job_runs.ended_at, job_runs.result, job_runs.error
    from (
        select job, max(started_at) as started_at from job_runs
        where tenant = :tenant and (:jobs is null or job in (select value from json_each(:jobs))) group by job
    ) as latest
    join job_runs on job_runs.tenant = :tenant and job_runs.job = latest.job
        and job_runs.started_at = latest.started_at
    order by job_runs.job
"""
_PUT_RUN = """
    insert into job_runs (tenant, job, started_at, status, ended_at, result, error) values (?, ?, ?, ?, ?, ?, ?)
    on conflict (tenant, job, started_at) do update set
        status = excluded.status, ended_at = excluded.ended_at, result = excluded.result, error = excluded.error
"""
_DELETE_RUNS = """
    delete from job_runs where tenant = :tenant and job = :job and started_at not in (
        select started_at from job_runs where tenant = :tenant and job = :job order by started_at desc limit :keep
    )
"""
_MERGES = """
    select id, source_id, target_id, merged_at, inverse from merges
    where tenant = ? and id in (select value from json_each(?))
"""
_PAGE_MERGES = """
    select id, source_id, target_id, merged_at, inverse from merges
    where tenant = ? and id $is_beyond ? order by id limit ?
"""
_PUT_MERGE = """
    insert into merges (tenant, id, source_id, target_id, merged_at, inverse) values (?, ?, ?, ?, ?, ?)
    on conflict (tenant, id) do update set
        source_id = excluded.source_id, target_id = excluded.target_id, merged_at = excluded.merged_at,
        inverse = excluded.inverse
"""
_DELETE_MERGES = "delete from merges where tenant = ? and id in (select value from json_each(?))"
_VECTORS = """
    select owner_id, components from vectors
    where tenant = ? and owner = ? and model_id = ? and owner_id in (select value from json_each(?))
"""
_COUNT_VECTORS = "select model_id, count(*) from vectors where tenant = ? group by model_id"
_PUT_VECTOR = """
    insert into vectors (tenant, owner, owner_id, model_id, components) values (?, ?, ?, ?, ?)
    on conflict (tenant, owner, owner_id, model_id) do update set components = excluded.components
"""
_DELETE_VECTORS = "delete from vectors where tenant = ? and owner = ? and owner_id in (select value from json_each(?))"
_AUDIT = "select id, event, at, data from audit_outbox not indexed where tenant = ? order by seq limit ?"
_ADD_AUDIT = """
    insert into audit_outbox (tenant, id, event, at, data) values (?, ?, ?, ?, ?) on conflict (tenant, id) do nothing
"""
_DELETE_AUDIT = "delete from audit_outbox where tenant = ? and id in (select value from json_each(?))"


def _run(row: Row) -> JobRun:
    job, started_at, status, ended_at, result, error = row
    return JobRun(job, instant(started_at), RunStatus(status), maybe_instant(ended_at), from_json(result), error)


def _merge(row: Row) -> MergeRecord:
    id_, source_id, target_id, merged_at, inverse = row
    return MergeRecord(id_, source_id, target_id, instant(merged_at), from_json(inverse))


class SqliteUpkeepReader:
    """Find what upkeep left; see `UpkeepReader`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def last_runs(self, jobs: Collection[str] | None = None) -> Mapping[str, JobRun]:
        """Find the latest run of each job."""
        wanted = None if jobs is None else listed(jobs)
        rows = self._session.rows(_LAST_RUNS, {"tenant": self._session.tenant, "jobs": wanted})
        return {row[0]: _run(row) for row in rows}

    def last_success(self, job: str) -> JobRun | None:
        """Find the latest run of a job that succeeded."""
        row = self._session.row(_SUCCESS, (self._session.tenant, job))
        return None if row is None else _run(row)

    def runs(self, job: str, limit: int) -> Sequence[JobRun]:
        """List the runs of a job, newest first."""
        return [_run(row) for row in self._session.rows(_RUNS, (self._session.tenant, job, limit))]

    def merges(self, ids: Collection[str]) -> Mapping[str, MergeRecord]:
        """Find merge inverses by id."""
        return {row[0]: _merge(row) for row in self._session.rows(_MERGES, (self._session.tenant, listed(ids)))}

    def page_merges(self, after: str | None, limit: int) -> Sequence[MergeRecord]:
        """List merge inverses by id, from the first past `after`."""
        compare, start = beyond(after)
        statement = composed(_PAGE_MERGES, is_beyond=compare)
        return [_merge(row) for row in self._session.rows(statement, (self._session.tenant, start, limit))]

    def vectors(self, owner: VectorOwner, owner_ids: Collection[str], model_id: str) -> Mapping[str, Vector]:
        """Find vectors of one model."""
        rows = self._session.rows(_VECTORS, (self._session.tenant, owner.value, model_id, listed(owner_ids)))
        return {id_: Vector(owner, id_, model_id, components) for id_, components in rows}

    def count_vectors(self) -> Mapping[str, int]:
        """Count vectors by model id."""
        return dict(self._session.rows(_COUNT_VECTORS, (self._session.tenant,)))

    def page_audit(self, limit: int) -> Sequence[AuditEvent]:
        """List events that wait, in the order they were added."""
        rows = self._session.rows(_AUDIT, (self._session.tenant, limit))
        return [AuditEvent(id_, event, instant(at), from_json(data)) for id_, event, at, data in rows]


class SqliteUpkeepWriter(SqliteUpkeepReader):
    """Change what upkeep left; see `UpkeepWriter`."""

    def put_run(self, run: JobRun) -> None:
        """Add or replace a run."""
        started_at, ended_at = to_micros(run.started_at), micros(run.ended_at)
        columns = (run.job, started_at, run.status.value, ended_at, to_json(run.result), run.error)
        self._session.run(_PUT_RUN, (self._session.tenant, *columns))

    def delete_runs(self, job: str, keep: int) -> int:
        """Remove all but the newest runs of a job."""
        return self._session.run(_DELETE_RUNS, {"tenant": self._session.tenant, "job": job, "keep": keep})

    def put_merges(self, merges: Collection[MergeRecord]) -> None:
        """Add or replace merge inverses."""
        tenant = self._session.tenant
        rows = [
            (tenant, merge.id, merge.source_id, merge.target_id, to_micros(merge.merged_at), to_json(merge.inverse))
            for merge in merges
        ]
        self._session.run_many(_PUT_MERGE, rows)

    def delete_merges(self, ids: Collection[str]) -> int:
        """Remove merge inverses."""
        return self._session.run(_DELETE_MERGES, (self._session.tenant, listed(ids)))

    def put_vectors(self, vectors: Collection[Vector]) -> None:
        """Add or replace vectors."""
        tenant = self._session.tenant
        rows = [(tenant, vector.owner.value, vector.owner_id, vector.model_id, vector.values) for vector in vectors]
        self._session.run_many(_PUT_VECTOR, rows)

    def delete_vectors(self, owner: VectorOwner, owner_ids: Collection[str]) -> int:
        """Remove the vectors of these owners."""
        return self._session.run(_DELETE_VECTORS, (self._session.tenant, owner.value, listed(owner_ids)))

    def add_audit(self, events: Collection[AuditEvent]) -> None:
        """Put events into the outbox; one that waits there stays as it is."""
        tenant = self._session.tenant
        rows = [(tenant, event.id, event.event, to_micros(event.at), to_json(event.data)) for event in events]
        self._session.run_many(_ADD_AUDIT, rows)

    def delete_audit(self, ids: Collection[str]) -> int:
        """Remove events."""
        return self._session.run(_DELETE_AUDIT, (self._session.tenant, listed(ids)))
