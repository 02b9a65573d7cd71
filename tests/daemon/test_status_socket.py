"""The socket on which the daemon says how it is doing, and clients that mean it no good."""

import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from daemon import status_socket
from daemon.status_socket import LONGEST_REQUEST, MOST_CLIENTS, StatusSocket
from graph_memory import presence
from graph_memory.domain.errors import Unavailable
from graph_memory.home import Home
from graph_memory.presence import DaemonState, SeenError, ask, ask_state, find_state
from tests.daemon.telling import telling

BOUND = 20.0
STATE = DaemonState(
    pid=4711,
    version="1.0",
    started_at="2026-01-01T00:00:00Z",
    seen_at="2026-01-01T00:00:02Z",
    activity="watching",
    problems=("file events: polling",),
    budget={"memory_mb": {"used": 88, "limit": 600}},
    errors=(SeenError("piece_failed", "error", 2, "2026-01-01T00:00:01Z", "e-12345678"),),
    work={"queue": {"pending": 3}},
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.ensure()
    return home


@pytest.fixture
def answering(home: Home) -> Iterator[StatusSocket]:
    with telling(home, STATE) as answering:
        yield answering


def connected(home: Home) -> socket.socket:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.settimeout(BOUND)
    channel.connect(os.fspath(home.socket))
    return channel


def said(channel: socket.socket) -> bytes:
    """Return the rest of what the other end says, until it hangs up."""
    pieces = []
    try:
        while piece := channel.recv(65_536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def wait_for(holds: Callable[[], object]) -> None:
    until = time.monotonic() + BOUND
    while not holds():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.02)


@pytest.mark.spec("watching.socket")
def test_what_the_daemon_says_arrives_whole(home: Home, answering: StatusSocket) -> None:
    assert find_state(home) == STATE
    assert answering.problem is None


@pytest.mark.spec("watching.socket.private")
def test_the_socket_is_its_owners_alone_in_a_folder_that_is_too(home: Home, answering: StatusSocket) -> None:
    assert stat.S_ISSOCK(home.socket.stat().st_mode)
    assert stat.S_IMODE(home.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.socket.parent.stat().st_mode) == 0o700


def test_it_is_gone_once_the_daemon_has_ended(home: Home) -> None:
    with telling(home, STATE):
        assert home.socket.exists()
    assert not home.socket.exists()
    assert find_state(home) is None
    with pytest.raises(Unavailable, match="there is no socket"):
        ask_state(home)


def test_several_requests_go_over_one_connection(home: Home, answering: StatusSocket) -> None:
    with connected(home) as channel, channel.makefile("rb") as lines:
        for _ in range(3):
            channel.sendall(b'{"v": 1, "ask": "status"}\n')
            assert orjson.loads(lines.readline())["status"]["pid"] == 4711


@pytest.mark.parametrize(
    ("request_line", "word"),
    [
        (b"hello\n", "one line with a JSON object"),
        (b"[1]\n", "one line with a JSON object"),
        (b"\xff\xfe\n", "one line with a JSON object"),
        (b'{"ask": "status"}\n', "speaks version 1"),
        (b'{"v": 2, "ask": "status"}\n', "speaks version 1"),
        (b'{"v": 1, "ask": "rm -rf"}\n', "nothing to ask for but"),
        (b'{"v": 1}\n', "nothing to ask for but"),
    ],
)
def test_what_is_not_understood_is_refused_with_a_reason_and_the_next_request_answered(
    home: Home, answering: StatusSocket, request_line: bytes, word: str
) -> None:
    with connected(home) as channel, channel.makefile("rb") as lines:
        channel.sendall(request_line)
        refused = orjson.loads(lines.readline())
        assert (refused["v"], refused["ok"]) == (1, False)
        assert word in refused["error"]
        channel.sendall(b'{"v": 1, "ask": "status"}\n')
        assert orjson.loads(lines.readline())["ok"] is True


@pytest.mark.spec("watching.socket.versions")
def test_a_client_of_another_version_is_told_so_in_words(
    home: Home, answering: StatusSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "PROTOCOL", 2)
    with pytest.raises(Unavailable, match="refuses to answer: this daemon speaks version 1; restart"):
        ask(home, "status")
    assert find_state(home) is None


def test_a_newer_daemon_is_understood_as_far_as_it_is_known(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {**orjson.loads(orjson.dumps(STATE)), "colour": "blue"}
    told["errors"][0]["colour"] = "red"
    monkeypatch.setattr(status_socket, "asdict", lambda _: told)
    with telling(home, STATE):
        assert find_state(home) == STATE


def test_a_request_without_an_end_ends_the_connection_and_no_other(home: Home, answering: StatusSocket) -> None:
    with connected(home) as channel:
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            channel.sendall(b"x" * LONGEST_REQUEST * 10_000)
        assert find_state(home) == STATE


@pytest.mark.spec("watching.socket.bounded")
def test_a_client_that_says_nothing_is_hung_up_on(
    home: Home, answering: StatusSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_socket, "PATIENCE", 0.2)
    with connected(home) as silent, connected(home) as slow:
        slow.sendall(b'{"v": 1, ')
        assert said(silent) == b""
        assert said(slow) == b""


@pytest.mark.spec("watching.socket.bounded")
def test_clients_that_hold_every_place_keep_nobody_from_an_answer(home: Home, answering: StatusSocket) -> None:
    with ExitStack() as stack:
        idle = [stack.enter_context(connected(home)) for _ in range(MOST_CLIENTS * 3)]
        assert find_state(home) == STATE
        assert said(idle[0]) == b""  # the first had to go
        idle[-1].sendall(b'{"v": 1, "ask": "status"}\n')
        assert idle[-1].recv(65_536).startswith(b'{"v":1')


@pytest.mark.spec("watching.socket.bounded")
def test_a_client_that_never_reads_costs_no_more_than_its_patience(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_socket, "PATIENCE", 0.5)
    large = replace(STATE, work={"queue": {"x" * 4_000_000: 1}})
    with telling(home, large), connected(home) as deaf:
        deaf.sendall(b'{"v": 1, "ask": "status"}\n' * 20)
        assert find_state(home) == large
        wait_for(lambda: not is_open(deaf))


def is_open(channel: socket.socket) -> bool:
    """Tell whether the other end still listens."""
    try:
        channel.send(b"\n")
    except OSError:
        return False
    return True


def test_a_hundred_clients_at_once_are_all_answered_or_hung_up_on(home: Home, answering: StatusSocket) -> None:
    answers: list[bool] = []

    def once() -> None:
        answers.append(find_state(home, patience=BOUND) is not None)

    threads = [threading.Thread(target=once) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND)
    assert len(answers) == 100
    assert any(answers)
    assert find_state(home) == STATE


def test_a_failure_of_ours_is_an_id_and_not_the_end(home: Home) -> None:
    async def tell() -> DaemonState:
        raise RuntimeError("the secret of the lighthouse")

    answering = StatusSocket(home, tell)
    answering.start()
    try:
        for _ in range(2):
            with pytest.raises(Unavailable, match=r"the log has it as e-[0-9a-f]{8}") as caught:
                ask_state(home)
            assert "lighthouse" not in str(caught.value)
    finally:
        answering.stop()


@pytest.mark.spec("watching.socket.private")
def test_only_the_same_user_is_answered(home: Home, answering: StatusSocket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_socket, "peer_uid", lambda _: os.geteuid() + 1)
    with connected(home) as channel:
        assert said(channel) == b""


def test_a_socket_of_another_user_is_not_believed(
    home: Home, answering: StatusSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "peer_uid", lambda _: os.geteuid() + 1)
    with pytest.raises(Unavailable, match="belongs to another user"):
        ask(home, "status")


def test_the_system_says_who_is_at_the_other_end() -> None:
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        assert presence.peer_uid(here) == os.geteuid()


@pytest.mark.spec("watching.socket.lasts")
def test_a_socket_that_a_killed_daemon_left_is_taken_over(home: Home) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(os.fspath(home.socket))
    assert home.socket.exists()
    with pytest.raises(Unavailable, match="does not answer"):
        ask_state(home)
    with telling(home, STATE) as answering:
        assert find_state(home) == STATE
        assert answering.problem is None


def test_what_is_no_socket_is_left_alone_and_named(home: Home) -> None:
    home.socket.write_text("somebody's notes")
    with telling(home, STATE) as answering:
        assert answering.problem is not None
        assert "is no socket; remove it" in answering.problem
        assert home.socket.read_text() == "somebody's notes"
        home.socket.unlink()
        wait_for(lambda: find_state(home) == STATE)
        assert answering.problem == "status socket: its file was removed; it was made again"


@pytest.mark.spec("watching.socket.lasts")
@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_socket_file_that_goes_is_made_again_and_that_is_said(home: Home, answering: StatusSocket, how: str) -> None:
    if how == "removed":
        home.socket.unlink()
    else:
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(os.fspath(home.path / "other.sock"))
        (home.path / "other.sock").rename(home.socket)
    wait_for(lambda: find_state(home) == STATE)
    assert stat.S_IMODE(home.socket.stat().st_mode) == 0o600
    assert answering.problem == "status socket: its file was removed; it was made again"


def test_that_it_was_made_again_is_not_said_for_ever(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_socket, "SAID_FOR", 0.0)
    monkeypatch.setattr(status_socket, "TEND_SECONDS", 0.05)
    with telling(home, STATE) as answering:
        home.socket.unlink()
        wait_for(lambda: find_state(home) == STATE)
        wait_for(lambda: answering.problem is None)


def test_a_home_whose_path_is_too_long_for_a_socket_has_it_in_a_private_folder(tmp_path: Path) -> None:
    home = Home(tmp_path / ("long" * 25) / "home")
    home.ensure()
    assert home.socket.parent != home.path
    with telling(home, STATE):
        assert find_state(home) == STATE
        assert stat.S_IMODE(home.socket.parent.stat().st_mode) == 0o700
        home.socket.unlink()
        wait_for(lambda: find_state(home) == STATE)
    assert not home.socket.exists()


def test_a_reply_that_does_not_end_or_is_no_reply_is_an_error_in_words(home: Home) -> None:
    for reply in (b"", b"nonsense\n", b"[]\n", b'{"v": 1, "ok": true}\n', b'{"v": 1, "ok": true, "status": {}}\n'):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.fspath(home.socket))
            listener.listen()
            answer = threading.Thread(target=answer_with, args=(listener, reply))
            answer.start()
            with pytest.raises(Unavailable):
                ask_state(home)
            answer.join(BOUND)
        home.socket.unlink()


def test_a_daemon_that_hangs_costs_a_client_no_more_than_its_patience(home: Home) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(home.socket))
        listener.listen()
        with pytest.raises(Unavailable, match=r"did not answer within 0\.1 s"):
            ask_state(home, patience=0.1)


def answer_with(listener: socket.socket, reply: bytes) -> None:
    channel, _ = listener.accept()
    with channel:
        channel.recv(1_024)
        channel.sendall(reply)
