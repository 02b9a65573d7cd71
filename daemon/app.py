"""Composition of the daemon: one per home, from its first words to its end."""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from types import FrameType

from daemon.ceilings import Ceilings
from daemon.exits import Exit, exit_for
from daemon.incidents import Incidents
from daemon.instance import hold_home, write_holder
from daemon.learning import IngestLearner, build_pipeline
from daemon.report import look_at_work, work_json
from daemon.schedule import DueJobs, Schedule
from daemon.status_socket import StatusSocket
from daemon.systemd import ALIVE, READY, STOPPING, notify, watchdog_seconds
from daemon.vital_signs import Parts, VitalSigns
from daemon.watcher import Wakeup, Watcher
from daemon.worker import Worker
from graph_memory.bootstrap import Services, open_services
from graph_memory.config import LoadedConfig
from graph_memory.domain.errors import GraphMemoryError, Unavailable
from graph_memory.domain.instants import to_wire
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import use_private_umask
from graph_memory.log import configure_logging, get_logger, log_problem
from graph_memory.presence import Holder

BEAT_SECONDS = 2.0
"""How often the daemon gives a sign of life."""
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
        with open_services(config) as services, ending_by_signal() as ending:
            daemon = _Daemon(services, since_days, say)
            daemon.greet()
            _report_settings(config, say)
            return daemon.run(ending)
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


@contextmanager
def ending_by_signal() -> Iterator[threading.Event]:
    """Give an event that the first signal to end sets; the second one ends the process. `nohup` stays in force."""
    ending = threading.Event()

    def handle(number: int, _frame: FrameType | None) -> None:
        if ending.is_set():
            os._exit(128 + number)
        ending.set()

    numbers = [it for it in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if signal.getsignal(it) != signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Daemon:
    """The parts of a running daemon: watcher, worker, jobs, and the sign of life."""

    def __init__(self, services: Services, since_days: float | None, say: Say) -> None:
        self._services, self._since_days, self._say = services, since_days, say
        self._version = version("graph-memory")
        settings = services.settings
        pipeline = build_pipeline(services)
        if since_days is not None:
            pipeline.set_since(services.clock() - timedelta(days=since_days))
        self._bell = Wakeup()
        folders = (services.home.pending, *settings.ingest.projects_dirs)
        self._watcher = Watcher(folders, self._bell, polling=settings.ingest.polling)
        self._learner = IngestLearner(pipeline)
        self._ceilings = Ceilings(settings.limits, settings.ingest)
        self._worker = Worker(
            self._learner,
            self._bell,
            self._ceilings,
            rescan_seconds=settings.ingest.rescan_seconds,
            retry_seconds=settings.jobs.backoff_seconds,
            retry_most=settings.jobs.backoff_max_seconds,
            idle=self._idle,
            now=time.monotonic,
        )
        self._ending = threading.Event()
        self._jobs = DueJobs(services, _first_use(services), is_ending=self._ending.is_set)
        self._schedule = Schedule(services, self._jobs)
        self._started_at = services.clock()
        self._incidents = Incidents()
        self._signs = VitalSigns(
            Parts(
                services.home,
                settings,
                self._worker.progress,
                self._ceilings,
                self._learner.rates,
                self._incidents,
                self._problems,
            ),
            lambda: {**work_json(look_at_work(services)), "degraded": services.degraded()},
            version=self._version,
            started_at=self._started_at,
            clock=services.clock,
        )
        self._socket = StatusSocket(services.home, self._signs.tell)
        self._state_problem: str | None = None

    def run(self, ending: threading.Event) -> Exit:
        """Work until `ending` is set; say how that went."""
        self._jobs.settle_interrupted(self._started_at)
        worker = threading.Thread(target=self._worker.run, name="worker")
        logging.getLogger().addHandler(self._incidents)
        try:
            self._name_holder()
            self._watcher.start()
            self._socket.start()
            worker.start()
            self._schedule.start()
            self._live(worker, ending)
        finally:
            is_wanted = ending.is_set()
            self._end(worker)
        return Exit.OK if is_wanted else Exit.FAILED

    def _live(self, worker: threading.Thread, ending: threading.Event) -> None:
        """Show signs of life until the end is near, or the worker, who outlives any error, is gone."""
        notify(READY)
        _LOG.info("daemon_start", version=self._version, pid=os.getpid())
        beat = min(BEAT_SECONDS, (watchdog_seconds() or BEAT_SECONDS * 2) / 2)
        while not ending.wait(beat) and worker.is_alive():
            self._signs.beat()
            notify(ALIVE)

    def _end(self, worker: threading.Thread) -> None:
        """Have every part finish what it is at."""
        notify(STOPPING)
        self._say("Stopping, once the piece at hand is done; once more to stop at once.")
        self._ending.set()
        self._worker.stop()
        self._watcher.stop()
        self._schedule.stop()
        if worker.ident is not None:
            worker.join()
        self._learner.close()
        self._socket.stop()
        self._signs.close()
        logging.getLogger().removeHandler(self._incidents)
        _LOG.info("daemon_end", learned=self._worker.progress.learned)

    def greet(self) -> None:
        """Say what will be read before any of it is."""
        home, ingest = self._services.home, self._services.settings.ingest
        self._say(f"graph-memory {self._version} · home {home.path}")
        self._say("Learning from")
        for folder in ingest.projects_dirs:
            self._say(f"  {folder}{'' if folder.is_dir() else '  (not there yet; watched once it is)'}")
        self._say(f"  {home.pending}  (drop documents here)")
        if self._since_days is None:
            self._say(f"The first run reads the sessions of the last {ingest.since_days:g} days (--since DAYS).")
        else:
            self._say(f"The sessions of the last {self._since_days:g} days are read.")
        self._say("All of it stays on this machine.")
        self._say("Ctrl-C stops.")

    def _idle(self) -> None:
        """Do what is due when the worker has learned what is new: new folders are watched, the audit is written."""
        self._watcher.refresh()
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
        parts = (self._worker.progress, self._watcher, self._socket)
        problems = (*(it.problem for it in parts), *self._learner.unreadable, log_problem(), self._state_problem)
        yield from (it for it in problems if it is not None)


def _first_use(services: Services) -> datetime:
    """Return when this home was first used: the file that says which store it has is written once."""
    try:
        return datetime.fromtimestamp(services.home.store_file.stat().st_mtime, UTC)
    except OSError:
        return services.clock()
