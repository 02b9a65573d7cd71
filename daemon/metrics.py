"""Figures for Prometheus, on the loopback alone and where asked for.

Names follow Prometheus' conventions: base units in the name, `_total` on what only grows. Labels are names of our own
code (jobs, states of the queue, kinds of log lines), never a path or a word of what was learned.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from socketserver import TCPServer, ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from graph_memory.config.settings import Metrics
from graph_memory.log import get_logger
from graph_memory.presence import DaemonState

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from prometheus_client.core import Metric

HOST = "127.0.0.1"
PATH = "/metrics"
PATIENCE = 5.0
"""Seconds for which a client may be silent."""
MOST_CLIENTS = 8
_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_MISSING = "metrics: prometheus-client is not installed: `pip install 'graph-memory[metrics]'`"
_LOG = get_logger("daemon.metrics")


class MetricsEndpoint:
    """Serves a daemon's figures at `http://127.0.0.1:PORT/metrics` while its settings ask for it.

    `tell` returns the state to serve, from any thread. `problem` says why it can't be served.
    """

    def __init__(self, tell: Callable[[], DaemonState]) -> None:
        self._tell = tell
        self._settings = Metrics()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self.problem: str | None = None

    def put(self, settings: Metrics) -> None:
        """Go by these settings from now on."""
        if settings == self._settings and (self._server is not None) == settings.enabled:
            return
        self.stop()
        self._settings = settings
        if settings.enabled:
            self._start(settings.port)

    def stop(self) -> None:
        """Serve no more; safe to call again."""
        self.problem = None
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _start(self, port: int) -> None:
        try:
            from prometheus_client import CollectorRegistry, make_wsgi_app
        except ImportError:
            self.problem = _MISSING
            _LOG.warning("metrics_unavailable", reason="prometheus-client is not installed")
            return
        registry = CollectorRegistry()
        registry.register(_Figures(self._tell))
        try:
            self._server = _Server(port, make_wsgi_app(registry))
        except OSError as error:
            self.problem = f"metrics: port {port} of {HOST} can't be opened: {error.strerror}"
            _LOG.warning("metrics_unavailable", reason=error.strerror)
            return
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics")
        self._thread.start()


class _Figures:
    """Turns a state into metrics whenever somebody looks."""

    def __init__(self, tell: Callable[[], DaemonState]) -> None:
        self._tell = tell

    def describe(self) -> Iterable["Metric"]:
        """Say nothing before it is asked: nothing is collected when this is registered."""
        return ()

    def collect(self) -> Iterable["Metric"]:
        """Return the figures as they are now."""
        state = self._tell()
        yield from _plain(state)
        yield from _labelled(state)
        yield from _jobs(state.work.get("jobs", ()))


def _plain(state: DaemonState) -> Iterable["Metric"]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    yield GaugeMetricFamily("graph_memory_start_time_seconds", "When the daemon began.", _stamp(state.started_at))
    counters = (
        ("learned_items", "Documents and turns learned since it began.", state.learned),
        ("failed_items", "Documents and turns that could not be learned since it began.", state.failed),
        ("learned_bytes", "Bytes read of what was learned since it began.", state.learned_bytes),
        ("cpu_seconds", "Processor time of the process.", state.cpu_seconds),
    )
    for name, words, value in counters:
        yield CounterMetricFamily(f"graph_memory_{name}", words, value)
    gauges = (
        ("backlog_pieces", "Pieces of the backlog still to do.", state.backlog),
        ("resident_memory_bytes", "Memory of the process.", state.memory_bytes),
        ("open_fds", "Open files of the process.", state.descriptors),
        ("threads", "Threads of the process.", state.threads),
        ("database_bytes", "Size of the store's file.", state.database_bytes),
        ("wal_bytes", "Size of the store's write-ahead log.", state.wal_bytes),
        ("degraded_parts", "Parts that work less well than they should; `graph-memory status` names them.", None),
    )
    for name, words, figure in gauges:
        yield GaugeMetricFamily(f"graph_memory_{name}", words, len(state.problems) if figure is None else figure)


def _labelled(state: DaemonState) -> Iterable["Metric"]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily

    yield InfoMetricFamily("graph_memory_build", "The program.", {"version": state.version})
    queue = GaugeMetricFamily("graph_memory_queue_documents", "Documents in the inbox.", labels=["state"])
    for name, number in state.work.get("queue", {}).items():
        queue.add_metric([name], number)
    yield queue
    behind = state.work.get("transcripts", {})
    if behind:
        yield GaugeMetricFamily("graph_memory_transcripts", "Transcripts known.", behind["known"])
        yield GaugeMetricFamily(
            "graph_memory_transcripts_unread_bytes", "Bytes not read yet of known transcripts.", behind["bytes_behind"]
        )
    used = GaugeMetricFamily("graph_memory_budget_used", "What is used of each ceiling.", labels=["ceiling"])
    limit = GaugeMetricFamily("graph_memory_budget_limit", "Each ceiling, its unit in its name.", labels=["ceiling"])
    for name, part in state.budget.items():
        used.add_metric([name], part["used"])
        limit.add_metric([name], part["limit"])
    yield from (used, limit)
    logged = CounterMetricFamily("graph_memory_log_events", "Warnings and errors logged.", labels=["kind", "level"])
    for error in state.errors:
        logged.add_metric([error.kind, error.level], error.count)
    yield logged


def _jobs(jobs: Iterable[Mapping[str, Any]]) -> Iterable["Metric"]:
    from prometheus_client.core import GaugeMetricFamily

    began = GaugeMetricFamily("graph_memory_job_last_start_timestamp_seconds", "Start of the last run.", labels=["job"])
    ok = GaugeMetricFamily("graph_memory_job_last_success", "1 where the last run didn't fail, else 0.", labels=["job"])
    due = GaugeMetricFamily("graph_memory_job_next_timestamp_seconds", "When it is due next.", labels=["job"])
    for job in jobs:
        last = job["last_run"]
        if last is not None:
            began.add_metric([job["name"]], _stamp(last["started_at"]))
            ok.add_metric([job["name"]], 0 if last["status"] == "failed" else 1)
        if job["next_run"]:
            due.add_metric([job["name"]], _stamp(job["next_run"]))
    yield from (began, ok, due)


def _stamp(instant: str) -> float:
    return datetime.fromisoformat(instant).timestamp()


class _Server(ThreadingMixIn, WSGIServer):
    """A server of one application for a few clients at once; one more is hung up on."""

    daemon_threads = True

    def __init__(self, port: int, app: "WSGIApplication") -> None:
        self._room = threading.BoundedSemaphore(MOST_CLIENTS)
        super().__init__((HOST, port), _Handler)
        self.set_app(_Guarded(app, self.server_port))

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name, as the base class does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class has it
        """Answer in a thread, if one is free."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Answer, and free the thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Leave a client that went away, or is too slow, at that."""


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE

    def log_message(self, *_words: object) -> None:
        """Log nothing: who looks how often is no event."""


class _Guarded:
    """Lets through who asks for the figures under a name of this machine's loopback.

    A page in a browser can have its own name point at 127.0.0.1 and so read what is there; the name it asked for still
    stands in the `Host` header.
    """

    def __init__(self, app: "WSGIApplication", port: int) -> None:
        self._app = app
        self._hosts = _NAMES | {f"{name}:{port}" for name in _NAMES}

    def __call__(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        if environ.get("HTTP_HOST", "").lower() not in self._hosts:
            return _refused(start, "403 Forbidden", "Ask for 127.0.0.1 or localhost.")
        if environ["PATH_INFO"] != PATH:
            return _refused(start, "404 Not Found", f"There is {PATH} alone.")
        if environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            return _refused(start, "405 Method Not Allowed", "GET it.")
        return self._app(environ, start)


def _refused(start: "StartResponse", status: str, words: str) -> Iterable[bytes]:
    start(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [f"{words}\n".encode()]
