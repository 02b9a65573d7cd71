"""The daemon as it is started: it learns, ends when told, survives being killed, and is one per home."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest

from daemon.exits import Exit
from daemon.instance import find_holder, find_state, is_held
from daemon.jobs import JOBS
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.ledger import IngestState, JobRun, RunStatus
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from graph_memory.ports.store import WriteTransaction
from tests.daemon.daemons import BOUND, COMMAND, drop, pid_of_daemon, running, say, titles, wait_for


@pytest.mark.spec("inbox.dropped-by-hand")
def test_a_note_and_a_conversation_are_found_while_it_runs(home: Home, projects: Path) -> None:
    projects.mkdir()
    with running() as daemon:
        drop(home, "lamp.md", "# The lamp\n\nThe lamp of the lighthouse is a Fresnel lens.")
        say(projects, "why does the foghorn stutter?", "Its compressor valve sticks below five degrees.")
        wait_for(lambda: titles("fresnel"))
        wait_for(lambda: titles("compressor valve"))
        say(projects, "and the spare bulb?", "In the drawer under the barometer.", number=1)
        wait_for(lambda: titles("barometer"))
        found = subprocess.run(
            [COMMAND, "search", "--json", "fresnel"], capture_output=True, check=True, timeout=BOUND, text=True
        )
        assert orjson.loads(found.stdout)["memories"][0]["title"] == "The lamp"
        assert subprocess.run([COMMAND, "status"], capture_output=True, check=False, timeout=BOUND).returncode == 0
        assert daemon.ended(signal.SIGTERM) == Exit.OK
    assert not is_held(home)
    assert find_state(home) is None
    assert find_holder(home) is None
    assert not home.socket.exists()
    assert [it.name for it in home.pending.iterdir()] == []
    assert [it.name for it in home.completed.rglob("*.md")] == ["lamp.md"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_it_ends_well(home: Home, number: int) -> None:
    with running() as daemon:
        assert daemon.ended(number) == Exit.OK
        assert daemon.process.stdout is not None
        assert daemon.process.stdout.read() == ""
    assert "daemon_end" in home.daemon_log.read_text(encoding="utf-8")


def test_its_first_words_are_what_it_reads_and_how_far_back(home: Home, projects: Path) -> None:
    with running("--since", "7") as daemon:
        daemon.ended(signal.SIGTERM)
    said = "\n".join(daemon.said)
    for part in (str(home.path), str(projects), str(home.pending), "read back 7 days", "not there yet"):
        assert part in said
    for words, said in (((), "read back 7 days"), (("--since", "36500"), "All sessions")):
        with running(*words) as daemon:
            daemon.ended(signal.SIGTERM)
        assert said in "\n".join(daemon.said)


def test_a_second_daemon_is_refused_and_told_who_has_the_home(home: Home) -> None:
    with running() as first:
        second = subprocess.run([COMMAND, "run"], capture_output=True, text=True, check=False, timeout=BOUND)
        assert second.returncode == Exit.BUSY
        assert str(first.process.pid) in second.stderr
        assert len(second.stderr.splitlines()) == 1
        assert first.process.poll() is None


@pytest.mark.spec("inbox.crash", "transcripts.cursor.resumes")
def test_killed_in_the_middle_it_loses_and_doubles_nothing(home: Home, projects: Path) -> None:
    names = [f"note{number}" for number in range(30)]
    for number, name in enumerate(names):
        drop(home, f"{name}.md", f"# Title {name}\n\nAll about {name} and its lantern.")
        say(projects, f"tell me about beacon{number}", f"The answer is tide{number}.", number=number)
    for kill_after in (1, 12):
        with running() as daemon:
            wait_for(partial(has_learned, kill_after))
            daemon.ended(signal.SIGKILL)
        assert not is_held(home)
    with running() as daemon:
        wait_for(lambda: len(titles("lantern")) >= len(names))
        wait_for(lambda: all(titles(f"tide{number}") for number in range(30)))
        wait_for(lambda: settled(home))
        assert daemon.ended(signal.SIGTERM) == Exit.OK
    assert sorted(titles("lantern")) == sorted(f"Title {name}" for name in names)
    for number in range(30):
        assert len(titles(f"tide{number}")) == 1
    assert [it for it in home.processing.rglob("*") if it.is_file() and not it.name.startswith(".")] == []


def is_at(home: Home, activity: str) -> bool:
    state = find_state(home)
    return state is not None and state.activity == activity


def has_learned(least: int) -> bool:
    return len(titles("lantern")) >= least


def settled(home: Home) -> bool:
    """Tell whether nothing waits any more."""
    with open_services(load_config(os.environ)) as services:
        queue = services.insight.stats(LOCAL_ADMIN).queue
    return is_at(home, "watching") and not queue[IngestState.PENDING] and not queue[IngestState.PROCESSING]


def test_a_projects_folder_that_appears_later_is_seen(home: Home, projects: Path) -> None:
    with running() as daemon:
        say(projects, "where is the keeper?", "On the mainland until Thursday.")
        wait_for(lambda: titles("mainland"))
        daemon.ended(signal.SIGTERM)


@pytest.mark.spec("transcripts.first-run.ninety-days", "transcripts.first-run.by-mtime")
def test_older_sessions_are_read_once_somebody_asks_for_them(home: Home, projects: Path) -> None:
    say(projects, "where is the keeper?", "On the mainland until Thursday.")
    [file] = projects.rglob("*.jsonl")
    old = time.time() - 100 * 86_400
    os.utime(file, (old, old))
    with running() as daemon:
        wait_for(lambda: settled(home))
        assert titles("mainland") == []
        daemon.ended(signal.SIGTERM)
    with running("--since", "200") as daemon:
        wait_for(lambda: titles("mainland"))
        daemon.ended(signal.SIGTERM)


def test_while_somebody_holds_the_store_it_waits_and_then_learns(home: Home) -> None:
    with running() as daemon, open_services(load_config(os.environ)) as services:
        held, let_go = threading.Event(), threading.Event()

        def hold(_tx: object) -> None:
            held.set()
            assert let_go.wait(BOUND)

        holder = threading.Thread(target=lambda: services.store.write(LOCAL_ADMIN, hold))
        holder.start()
        assert held.wait(BOUND)
        drop(home, "lamp.md", "The lamp of the lighthouse is a Fresnel lens.")
        wait_for(lambda: is_at(home, "learning"))
        assert titles("fresnel") == []
        let_go.set()
        holder.join(BOUND)
        wait_for(lambda: titles("fresnel"))
        daemon.ended(signal.SIGTERM)


@pytest.mark.spec("config.file.missing-warns")
def test_a_missing_settings_file_is_logged_and_no_failure(home: Home) -> None:
    with running() as daemon:
        assert daemon.ended(signal.SIGTERM) == Exit.OK
    lines = [orjson.loads(line) for line in home.daemon_log.read_bytes().splitlines()]
    assert [it["level"] for it in lines if it["event"] == "no_config_file"] == ["warning"]


def test_a_store_that_this_version_does_not_have_ends_with_seventy_eight_and_the_reason(home: Home) -> None:
    done = subprocess.run(
        [COMMAND, "run"],
        capture_output=True,
        text=True,
        check=False,
        timeout=BOUND,
        env={**os.environ, "GRAPH_MEMORY_STORE": "neo4j"},
    )
    assert done.returncode == Exit.CONFIG
    assert "GRAPH_MEMORY_STORE=sqlite" in done.stderr
    assert not home.path.exists()


def test_what_was_missed_is_made_good_at_the_start(home: Home) -> None:
    with open_services(load_config(os.environ)):
        pass
    long_ago = time.time() - 10 * 86_400
    os.utime(home.store_file, (long_ago, long_ago))
    with running() as daemon:
        wait_for(lambda: "| communities |" in changelogs(home))
        daemon.ended(signal.SIGTERM)
    assert "| export |" in changelogs(home)
    assert len(list(home.backups.glob("*.jsonl"))) == 1


@pytest.mark.spec("jobs.catch-up")
def test_a_daemon_that_wakes_after_a_night_makes_good_what_was_due(home: Home) -> None:
    """Asleep, it is stopped, and the night is made by moving what it noted before a day into the past."""
    with open_services(load_config(os.environ)):
        pass
    long_ago = time.time() - 10 * 86_400
    os.utime(home.store_file, (long_ago, long_ago))
    with running() as daemon:
        wait_for(lambda: "| communities |" in changelogs(home))
        daemon.process.send_signal(signal.SIGSTOP)
        with open_services(load_config(os.environ)) as services:
            before = services.store.write(LOCAL_ADMIN, let_a_day_pass)
        daemon.process.send_signal(signal.SIGCONT)
        wait_for(lambda: all(last_runs()[it] != before[it] for it in ("export", "decay", "communities")))
        assert {it.status for it in last_runs().values()} == {RunStatus.SUCCEEDED}
        daemon.ended(signal.SIGTERM)


def let_a_day_pass(tx: WriteTransaction) -> dict[str, JobRun]:
    """Move the last runs a day and a bit into the past; return them as they are then."""
    span = timedelta(days=1, minutes=1)
    moved = {
        name: replace(it, started_at=it.started_at - span, ended_at=it.ended_at and it.ended_at - span, result={})
        for name, it in tx.upkeep.last_runs(JOBS).items()
    }
    for name, run in moved.items():
        tx.upkeep.delete_runs(name, 0)
        tx.upkeep.put_run(run)
    return moved


def last_runs() -> Mapping[str, JobRun]:
    with open_services(load_config(os.environ)) as services:
        return services.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.last_runs(JOBS))


def changelogs(home: Home) -> str:
    return "".join(it.read_text(encoding="utf-8") for it in home.logs.glob("????-??-??.md"))


def test_the_service_manager_is_told_of_start_life_and_end(home: Home) -> None:
    with (
        TemporaryDirectory(prefix="gm-") as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager,
    ):
        manager.bind(f"{folder}/notify")
        manager.settimeout(BOUND)
        with running(NOTIFY_SOCKET=f"{folder}/notify", WATCHDOG_USEC="1000000") as daemon:
            assert manager.recv(100) == b"READY=1"
            assert manager.recv(100) == b"WATCHDOG=1"
            daemon.process.terminate()
            heard = manager.recv(100)
            while heard == b"WATCHDOG=1":
                heard = manager.recv(100)
            assert heard == b"STOPPING=1"
            assert daemon.ended() == Exit.OK


def test_nobody_listening_does_not_end_it(home: Home) -> None:
    process = subprocess.Popen([COMMAND, "run"], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert process.stderr is not None
    process.stderr.close()
    try:
        wait_for(lambda: pid_of_daemon() == process.pid or process.poll() is not None)
        process.terminate()
        assert process.wait(BOUND) == Exit.OK
    finally:
        process.kill()
        process.wait(BOUND)


def test_a_second_signal_ends_it_at_once() -> None:
    code = """
import os, signal, time
from daemon.signals import told_by_signal
with told_by_signal() as told:
    os.kill(os.getpid(), signal.SIGTERM)
    assert told.ending.wait(10)
    print("finishing", flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=BOUND)
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, "finishing\n")
