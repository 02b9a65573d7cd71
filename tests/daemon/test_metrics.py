"""Figures for Prometheus: on the loopback alone, only where asked for, and without a word of anybody's."""

import http.client
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from daemon import metrics
from daemon.metrics import MOST_CLIENTS, MetricsEndpoint
from graph_memory.config.settings import Metrics
from graph_memory.home import Home
from graph_memory.presence import DaemonState, SeenError, find_state
from tests.daemon.daemons import running

BOUND = 20.0
STATE = DaemonState(
    pid=4711,
    version="1.2",
    started_at="2026-01-01T00:00:00Z",
    seen_at="2026-01-01T00:00:02Z",
    activity="watching",
    learned=12,
    failed=1,
    problems=("/home/ada/secret plans: Permission denied", "job decay: no"),
    memory_bytes=88_000_000,
    descriptors=31,
    learned_bytes=4_096,
    cpu_seconds=1.5,
    budget={"memory_mb": {"used": 88, "limit": 600}},
    errors=(SeenError("piece_failed", "error", 3, "2026-01-01T00:00:01Z"),),
    work={
        "queue": {"pending": 3, "failed": 1},
        "transcripts": {"known": 7, "grown": 1, "bytes_behind": 50},
        "session_cursors": {"private-session": {"through": "x"}},
        "jobs": [
            {
                "name": "decay",
                "last_run": {"status": "failed", "started_at": "2026-01-01T00:00:00Z", "error": "ada's disk"},
                "next_run": "2026-01-02T00:00:00Z",
            },
            {"name": "export", "last_run": None, "next_run": None},
        ],
    },
)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def serving(state: DaemonState = STATE) -> Iterator[int]:
    endpoint, port = MetricsEndpoint(lambda: state), free_port()
    endpoint.put(Metrics(enabled=True, port=port))
    try:
        assert endpoint.problem is None
        yield port
    finally:
        endpoint.stop()


def asked(port: int, path: str = "/metrics", method: str = "GET", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
    try:
        connection.request(method, path, headers=headers)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def figures(text: str) -> dict[tuple[str, ...], float]:
    """Return each figure by its name and the values of its labels."""
    families = text_string_to_metric_families(text)
    return {(it.name, *it.labels.values()): it.value for family in families for it in family.samples}


@pytest.mark.spec("watching.metrics")
def test_every_figure_has_a_conventional_name_and_its_unit() -> None:
    with serving() as port:
        status, text = asked(port)
    assert status == 200
    found = figures(text)
    assert found["graph_memory_learned_items_total",] == 12
    assert found["graph_memory_failed_items_total",] == 1
    assert found["graph_memory_learned_bytes_total",] == 4_096
    assert found["graph_memory_cpu_seconds_total",] == 1.5
    assert found["graph_memory_resident_memory_bytes",] == 88_000_000
    assert found["graph_memory_start_time_seconds",] == 1_767_225_600
    assert found["graph_memory_queue_documents", "pending"] == 3
    assert found["graph_memory_transcripts_unread_bytes",] == 50
    assert found["graph_memory_degraded_parts",] == 2
    assert found["graph_memory_budget_limit", "memory_mb"] == 600
    assert found["graph_memory_log_events_total", "piece_failed", "error"] == 3
    assert found["graph_memory_job_last_success", "decay"] == 0
    assert found["graph_memory_job_next_timestamp_seconds", "decay"] == 1_767_312_000
    assert found["graph_memory_build_info", "1.2"] == 1
    assert all(name.startswith("graph_memory_") for name, *_ in found)


@pytest.mark.spec("watching.metrics")
def test_nothing_in_it_is_a_path_or_a_word_of_the_user() -> None:
    with serving() as port:
        _, text = asked(port)
    for word in ("ada", "secret", "private-session", "disk"):
        assert word not in text


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_names_of_the_loopback_are_answered_with_and_without_the_port(name: str) -> None:
    with serving() as port:
        assert asked(port, Host=name)[0] == 200
        assert asked(port, Host=f"{name}:{port}")[0] == 200


@pytest.mark.spec("watching.metrics")
@pytest.mark.parametrize(
    "name", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost:1", "127.0.0.1@evil", ""]
)
def test_a_page_whose_name_points_here_gets_nothing(name: str) -> None:
    with serving() as port:
        status, text = asked(port, Host=name.format(port=port))
    assert status == 403
    assert "graph_memory_" not in text


def test_a_request_without_a_host_gets_nothing() -> None:
    with serving() as port, socket.create_connection(("127.0.0.1", port), BOUND) as channel:
        channel.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert b"403" in channel.makefile("rb").readline()


@pytest.mark.parametrize(
    ("path", "method", "status"), [("/", "GET", 404), ("/metrics/x", "GET", 404), ("/metrics", "POST", 405)]
)
def test_there_is_nothing_else_to_ask_for(path: str, method: str, status: int) -> None:
    with serving() as port:
        assert asked(port, path, method)[0] == status


@pytest.mark.spec("watching.metrics")
def test_only_the_loopback_is_listened_on() -> None:
    with serving() as port:
        assert {it[4][0] for it in listening(port)} == {"127.0.0.1"}


def listening(port: int) -> list[Any]:
    import psutil

    found = psutil.Process().net_connections("tcp")
    return [(None, None, None, None, it.laddr) for it in found if it.status == "LISTEN" and it.laddr.port == port]


def test_clients_that_say_nothing_are_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics._Handler, "timeout", 0.2)
    with serving() as port, ExitStack() as stack:
        for _ in range(MOST_CLIENTS):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), BOUND))
        wait_for(lambda: answers(port))


def answers(port: int) -> bool:
    try:
        return asked(port)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def wait_for(holds: Callable[[], object]) -> None:
    until = time.monotonic() + BOUND
    while not holds():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.05)


def test_a_port_that_is_taken_is_said_and_given_up_for_another() -> None:
    endpoint = MetricsEndpoint(lambda: STATE)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        endpoint.put(Metrics(enabled=True, port=port))
        assert f"port {port} of 127.0.0.1 can't be opened" in str(endpoint.problem)
    try:
        another = free_port()
        endpoint.put(Metrics(enabled=True, port=another))
        assert str(endpoint.problem) == "None"
        assert asked(another)[0] == 200
        endpoint.put(Metrics())
        assert not answers(another)
    finally:
        endpoint.stop()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    endpoint = MetricsEndpoint(lambda: STATE)
    endpoint.put(Metrics(enabled=True, port=free_port()))
    assert "pip install 'graph-memory[metrics]'" in str(endpoint.problem)
    endpoint.put(Metrics())
    assert str(endpoint.problem) == "None"


def test_a_state_without_the_stores_part_is_served_all_the_same() -> None:
    with serving(replace(STATE, work={})) as port:
        status, text = asked(port)
    assert status == 200
    assert figures(text)["graph_memory_learned_items_total",] == 12


def test_a_daemon_that_is_asked_to_serves_them(home: Home) -> None:
    port = free_port()
    with running(GRAPH_MEMORY_METRICS__ENABLED="true", GRAPH_MEMORY_METRICS__PORT=str(port)) as daemon:
        wait_for(lambda: answers(port))
        found = figures(asked(port)[1])
        assert found["graph_memory_queue_documents", "pending"] == 0
        assert found["graph_memory_resident_memory_bytes",] > 1_000_000
        state = find_state(home)
        assert state is not None
        assert not any(it.startswith("metrics") for it in state.problems)
        daemon.ended(signal.SIGTERM)
    assert not answers(port)


def test_without_being_asked_nothing_listens(home: Home) -> None:
    with running() as daemon:
        import psutil

        found = psutil.Process(daemon.process.pid).net_connections("inet")
        assert [it for it in found if it.status == "LISTEN"] == []
        daemon.ended(signal.SIGTERM)
