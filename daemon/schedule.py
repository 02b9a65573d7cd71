"""The clock of the jobs: at their times, after sleep, and again after a failure; one at a time."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from daemon.jobs import JOBS, KEPT_RUNS, run_job_for_all
from daemon.times import believable, clock_jobs, day_due, is_missed
from graph_memory.bootstrap import Services
from graph_memory.config.settings import Jobs
from graph_memory.domain.due_times import HOURLY
from graph_memory.domain.errors import GraphMemoryError
from graph_memory.domain.ledger import JobRun, RunStatus
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.retries import retry_at
from graph_memory.log import get_logger
from graph_memory.ports.store import ReadTransaction, WriteTransaction

LOOK_SECONDS = 30.0
"""How often it looks for a run that sleep or a stop made it miss, or that is to be tried again."""
LONGEST_RUN = timedelta(hours=1)
"""A job that was begun longer ago was given up by somebody."""
INTERRUPTED = "the process ended before the job did"
_LOG = get_logger("daemon.schedule")


class DueJobs:
    """Knows from the store which jobs have to run now, and runs them.

    `since` is when there was first something to maintain; `zone` as in `times`. Once `is_ending`, no job is begun.
    """

    def __init__(
        self,
        services: Services,
        since: datetime,
        *,
        zone: tzinfo | None = None,
        run: Callable[[Services, str, date], JobRun] = run_job_for_all,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self._services, self._since, self._zone, self._run = services, since, zone, run
        self._is_ending = is_ending
        self._settings = services.settings.jobs

    def put_services(self, services: Services) -> None:
        """Go by other settings from now on; a job at hand ends as it began."""
        self._services, self._settings = services, services.settings.jobs

    def names(self) -> Sequence[str]:
        """List the jobs that are due now, in the order of their times."""
        times = clock_jobs(self._settings, tuple(JOBS))
        runs = self._services.store.read(LOCAL_ADMIN, lambda tx: _runs(tx, tuple(times)))
        due = [name for name in times if self._is_due(name, runs[name])]
        return sorted(due, key=lambda name: times[name].at)

    def _is_due(self, name: str, noted: Sequence[JobRun]) -> bool:
        now, settings = self._services.clock(), self._settings
        runs = believable(noted, now)
        again_at = retry_at(runs, settings.backoff_seconds, settings.backoff_max_seconds)
        if again_at is not None and again_at <= now:
            return True
        return is_missed(getattr(settings, name), runs[0] if runs else None, self._since, now, self._zone)

    def run(self) -> None:
        """Run what is due, one job after the other; whatever happens to one, the others run."""
        try:
            self.settle_interrupted(self._services.clock() - LONGEST_RUN)
            names = self.names()
        except GraphMemoryError as error:
            _LOG.warning("jobs_wait", reason=str(error))
            return
        for name in names:
            if self._is_ending():
                return
            try:
                day = day_due(getattr(self._settings, name), self._services.clock(), self._zone)
                run = self._run(self._services, name, day)
            except GraphMemoryError as error:
                _LOG.warning("job_waits", job=name, reason=str(error))
                continue
            _LOG.info("job_end", job=name, status=run.status.value, error=run.error)

    def settle_interrupted(self, before: datetime) -> int:
        """Mark runs of before that are still noted as running as failed, so that they are tried again; count them.

        Their process was killed, or could not write how they ended. One that is still at work elsewhere corrects this.
        """
        runs = self._services.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.last_runs())
        left = [it for it in runs.values() if it.status is RunStatus.RUNNING and it.started_at < before]
        now = self._services.clock()

        def work(tx: WriteTransaction) -> None:
            for run in left:
                tx.upkeep.put_run(replace(run, status=RunStatus.FAILED, ended_at=now, error=INTERRUPTED))

        if left:
            self._services.store.write(LOCAL_ADMIN, work)
        return len(left)


def _runs(tx: ReadTransaction, names: Sequence[str]) -> Mapping[str, Sequence[JobRun]]:
    return {name: tx.upkeep.runs(name, KEPT_RUNS) for name in names}


class Schedule:
    """Has `DueJobs` look at the jobs' times and every half minute, in one thread, so that no two jobs compete.

    The half minutes are counted by a clock that nobody sets and that stands still while the machine sleeps; a time of
    day alone would, after the clock was set back, be waited for until it comes round again.
    """

    def __init__(self, services: Services, due: DueJobs, *, look_seconds: float = LOOK_SECONDS) -> None:
        self._scheduler = BackgroundScheduler(
            executors={"default": ThreadPoolExecutor(1)},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        self._due, self._names, self._look_seconds = due, set[str](), look_seconds
        self._bell, self._is_ending = threading.Event(), False
        self._thread = threading.Thread(target=self._keep_looking, name="schedule")
        self.put_times(services.settings.jobs)

    def put_times(self, settings: Jobs) -> None:
        """Wake at these times from now on."""
        times = clock_jobs(settings, tuple(JOBS))
        for name in self._names - times.keys():
            self._scheduler.remove_job(name)
        for name, when in times.items():
            day = "*" if when.day in {"daily", HOURLY} else when.day[:3]
            hour = "*" if when.day == HOURLY else when.at.hour
            trigger = CronTrigger(day_of_week=day, hour=hour, minute=when.at.minute)
            self._scheduler.add_job(self._bell.set, trigger, id=name, replace_existing=True)
        self._names = set(times)

    def start(self) -> None:
        """Begin, looking first for what was missed."""
        self._scheduler.start()
        self._thread.start()

    def stop(self) -> None:
        """End once the job at hand is done; safe where it never began."""
        self._is_ending = True
        self._bell.set()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)
        if self._thread.ident is not None:
            self._thread.join()

    def _keep_looking(self) -> None:
        while not self._is_ending:
            self._bell.clear()
            time.tzset()  # who travels changes the system's zone under a process that runs
            try:
                self._due.run()
            except Exception as error:  # noqa: BLE001 - a defect must not end all jobs for good
                _LOG.unexpected("jobs_not_looked_at", error)
            self._bell.wait(self._look_seconds)
