"""Composition of the daemon: one per home, from its first words to its end."""

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from daemon.ceilings import Ceilings, free_bytes, give_memory_back
from daemon.exits import Exit, exit_for
from daemon.incidents import Incidents
from daemon.instance import hold_home, write_holder
from daemon.learning import IngestLearner, build_pipeline
from daemon.metrics import MetricsEndpoint
from daemon.orders import Orders
from daemon.report import look_at_work, work_json
from daemon.schedule import DueJobs, Schedule
from daemon.service.launchd_agent import trim_service_log
from daemon.signals import told_by_signal
from daemon.status_socket import StatusSocket
from daemon.systemd import ALIVE, READY, STOPPING, notify, watchdog_seconds
from daemon.vital_signs import Parts, VitalSigns
from daemon.watcher import Wakeup, Watcher
from daemon.worker import Pace, Worker
from graph_memory.bootstrap import Services, build_services, open_services
from graph_memory.config import LoadedConfig, Settings, load_config
from graph_memory.domain.errors import GraphMemoryError, StoreDamaged, Unavailable
from graph_memory.domain.instants import to_wire
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import use_private_umask
from graph_memory.log import configure_logging, get_logger, log_problem
from graph_memory.presence import Holder

TIDY_SECONDS = 300.0
"""How often what is no longer used is handed back to the system, long before a ceiling asks for it."""
BEAT_SECONDS = 2.0
"""How often the daemon gives a sign of life."""
_CENTURY_DAYS = 36_000
_LOG = get_logger("daemon")

Say = Callable[[str], object]


def say_on_stderr(line: str) -> None:
    """Write a line for whoever started this; nobody may be listening any more."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - a program's first words are no log


def run_daemon(config: LoadedConfig, *, since_days: float | None = None, say: Say = say_on_stderr) -> Exit:
    """Run the daemon of a home until SIGTERM or SIGINT; return the exit status (`exits.Exit`).

    `since_days` decides anew how far back sessions are read that nobody has read yet; without it the first run decides.
    A signal lets the piece and the job at hand be finished; a second one ends the process at once, which loses nothing
    that was acknowledged either.
    """
    use_private_umask()
    trim_service_log(config.home.logs)
    try:
        config.require_usable_store()
        if config.settings.store.kind == "sqlite":
            config.home.refuse_network_filesystem()
        config.home.ensure()
        with hold_home(config.home):
            return _run_alone(config, since_days, say)
    except GraphMemoryError as error:
        say(f"Error: {error}")
        return exit_for(error)


def _run_alone(config: LoadedConfig, since_days: float | None, say: Say) -> Exit:
    limits, level = config.settings.limits, config.settings.log.level
    configure_logging(level, file=config.home.daemon_log, file_mb=limits.log_mb, files=limits.log_files)
    try:
        with open_services(config) as services, told_by_signal() as told:
            daemon = _Daemon(services, config, since_days, say)
            told.on_reload = daemon.orders.ask
            daemon.greet()
            _report_settings(config, say)
            return daemon.run(told.ending)
    except GraphMemoryError as error:
        _LOG.error("daemon_failed", error=error)
        raise


def _report_settings(config: LoadedConfig, say: Say) -> None:
    if not config.home.config_file.exists():
        _LOG.warning("no_config_file", file=config.home.config_file.name, used="defaults")
    for problem in config.problems:
        _LOG.warning("setting", setting=problem.setting, source=problem.source, problem=problem.message)
    if config.problems:
        say(f"Warning: settings not as written: {len(config.problems)}; `graph-memory config check` says which")


class _Daemon:
    """The parts of a running daemon: watcher, worker, jobs, and the sign of life."""

    def __init__(self, services: Services, config: LoadedConfig, since_days: float | None, say: Say) -> None:
        self._services, self._say = services, say
        self._version = version("graph-memory")
        settings = services.settings
        pipeline = build_pipeline(services)
        if since_days is not None:
            pipeline.set_since(services.clock() - timedelta(days=since_days))
        self._since = pipeline.since()
        self._bell = Wakeup()
        self._watcher = Watcher(_watched_folders(services), self._bell, polling=settings.ingest.polling)
        self._learner = IngestLearner(
            pipeline, self._bell.take_changed, rescan_seconds=settings.ingest.rescan_seconds, now=time.monotonic
        )
        self._ceilings = Ceilings(settings.limits, settings.ingest, free=lambda: free_bytes(services.home))
        self.orders = Orders(
            config,
            lambda: load_config(os.environ, config.home.path),
            self._put_in_force,
            clock=services.clock,
            now=time.monotonic,
        )
        self._worker = Worker(
            self._learner,
            self._bell,
            self._ceilings,
            self.orders,
            _pace(settings),
            idle=self._idle,
            now=time.monotonic,
        )
        self._ending = threading.Event()
        self._jobs = DueJobs(services, _first_use(services), is_ending=self._ending.is_set)
        self._schedule = Schedule(services, self._jobs)
        self._started_at = services.clock()
        self._tidied_at = time.monotonic()
        self._incidents = Incidents()
        self._signs = VitalSigns(
            Parts(
                services.home,
                lambda: self._services.settings,
                self._worker.progress,
                self._ceilings,
                self._learner.rates,
                self._incidents,
                self._problems,
            ),
            lambda: {**work_json(look_at_work(self._services)), "degraded": self._services.degraded()},
            version=self._version,
            started_at=self._started_at,
            clock=services.clock,
        )
        self._socket = StatusSocket(services.home, self._signs.tell)
        self._metrics = MetricsEndpoint(lambda: asyncio.run(self._signs.tell()))
        self._state_problem: str | None = None

    def run(self, ending: threading.Event) -> Exit:
        """Work until `ending` is set; say how that went.

        Raises:
            StoreDamaged: the store is, and nothing more was written to it.
        """
        self._jobs.settle_interrupted(self._started_at)
        worker = threading.Thread(target=self._worker.run, name="worker")
        logging.getLogger().addHandler(self._incidents)
        try:
            self._name_holder()
            self._watcher.start()
            self._socket.start()
            self._metrics.put(self._services.settings.metrics)
            worker.start()
            self._schedule.start()
            self._live(worker, ending)
        finally:
            is_wanted = ending.is_set()
            self._end(worker)
        failure = self._worker.failure
        if isinstance(failure, StoreDamaged):
            raise failure
        return Exit.OK if is_wanted else Exit.FAILED

    def _live(self, worker: threading.Thread, ending: threading.Event) -> None:
        """Show signs of life until the end is near, or the worker, who outlives any error, is gone."""
        notify(READY)
        _LOG.info("daemon_start", version=self._version, pid=os.getpid())
        beat = min(BEAT_SECONDS, (watchdog_seconds() or BEAT_SECONDS * 2) / 2)
        while not ending.wait(beat) and worker.is_alive():
            self._signs.beat()
            if self.orders.are_new():
                self._bell.ring()
            notify(ALIVE)

    def _end(self, worker: threading.Thread) -> None:
        """Have every part finish what it is at."""
        notify(STOPPING)
        self._say("Stopping, once the piece at hand is done; once more to stop at once.")
        self._ending.set()
        self._worker.stop()
        self._learner.give_up()
        self._watcher.stop()
        self._schedule.stop()
        if worker.ident is not None:
            worker.join()
        self._learner.close()
        self._metrics.stop()
        self._socket.stop()
        self._signs.close()
        logging.getLogger().removeHandler(self._incidents)
        _LOG.info("daemon_end", learned=self._worker.progress.learned)

    def _put_in_force(self, config: LoadedConfig) -> None:
        """Have all parts go by other settings; the store stays the one that is open. Called by the worker's thread."""
        settings = replace(config.settings, store=self._services.settings.store, neo4j=self._services.settings.neo4j)
        services = build_services(replace(config, settings=settings), self._services.store, clock=self._services.clock)
        ingest, jobs, limits = settings.ingest, settings.jobs, settings.limits
        configure_logging(
            settings.log.level, file=services.home.daemon_log, file_mb=limits.log_mb, files=limits.log_files
        )
        self._learner.put_pipeline(build_pipeline(services), rescan_seconds=ingest.rescan_seconds)
        self._ceilings.put(limits, ingest)
        self._worker.put_pace(_pace(settings))
        self._watcher.put_folders(_watched_folders(services), polling=ingest.polling)
        self._services = services
        self._jobs.put_services(services)
        self._schedule.put_times(jobs)
        self._metrics.put(settings.metrics)

    def greet(self) -> None:
        """Say what will be read before any of it is."""
        home, ingest = self._services.home, self._services.settings.ingest
        self._say(f"graph-memory {self._version} · home {home.path}")
        self._say("Learning from")
        for folder in ingest.projects_dirs:
            self._say(f"  {folder}{'' if folder.is_dir() else '  (not there yet; watched once it is)'}")
        self._say(f"  {home.pending}  (drop documents here)")
        days = (self._services.clock() - self._since) / timedelta(days=1)
        if days < _CENTURY_DAYS:
            day = f"{self._since.astimezone():%Y-%m-%d}"
            self._say(f"Sessions are read back {days:.0f} days, to {day}; --since DAYS changes that.")
        else:
            self._say("All sessions are read, however old; --since DAYS changes that.")
        self._say("All of it stays on this machine.")
        self._say("Ctrl-C stops.")

    def _idle(self) -> None:
        """Do what is due when the worker has learned what is new: new folders are watched, the audit is written."""
        self._watcher.refresh()
        if time.monotonic() - self._tidied_at >= TIDY_SECONDS:
            give_memory_back()
            self._tidied_at = time.monotonic()
        try:
            self._services.audit.drain(LOCAL_ADMIN)
        except Unavailable as error:
            _LOG.warning("audit_waits", reason=str(error))

    def _name_holder(self) -> None:
        """Write down who has the home, for whoever finds it held, or finds that its holder was killed."""
        started_at = to_wire(self._started_at.replace(microsecond=0))
        try:
            write_holder(self._services.home, Holder(os.getpid(), self._version, started_at))
        except OSError as error:
            self._state_problem = f"{self._services.home.daemon_state.name}: it can't be written: {error.strerror}"
            _LOG.warning("holder_not_written", reason=error.strerror)

    def _problems(self) -> Iterator[str]:
        """Yield what works less well than it should, each with its reason."""
        parts = (self._worker.progress, self._watcher, self._socket, self.orders, self._metrics)
        problems = (*(it.problem for it in parts), *self._learner.unreadable, log_problem(), self._state_problem)
        yield from (it for it in problems if it is not None)


def _pace(settings: Settings) -> Pace:
    jobs = settings.jobs
    return Pace(settings.ingest.rescan_seconds, jobs.backoff_seconds, jobs.backoff_max_seconds)


def _watched_folders(services: Services) -> tuple[Path, ...]:
    return (services.home.pending, *services.settings.ingest.projects_dirs)


def _first_use(services: Services) -> datetime:
    """Return when this home was first used: the file that says which store it has is written once."""
    try:
        return datetime.fromtimestamp(services.home.store_file.stat().st_mtime, UTC)
    except OSError:
        return services.clock()
