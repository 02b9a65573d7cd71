"""What happens around a daemon that nobody looks after, and what a person would want of it: docs/reliability.md."""

import ctypes
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, date, timedelta
from pathlib import Path

import apsw
import orjson
import pytest

from daemon.exits import Exit
from daemon.schedule import DueJobs
from graph_memory.bootstrap import Services, open_services
from graph_memory.config import load_config
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from graph_memory.presence import DaemonState, find_state, is_held
from tests.daemon.conftest import Clock
from tests.daemon.daemons import BOUND, COMMAND, drop, running, say, titles, wait_for

pytestmark = pytest.mark.timeout(300)


def state(home: Home) -> DaemonState:
    found = find_state(home)
    assert found is not None
    return found


def suffers_from(home: Home, part: str) -> bool:
    """Tell whether the daemon names something among what is degraded."""
    found = find_state(home)
    return found is not None and any(part in it for it in found.problems)


def run(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=BOUND)


def obeying_permissions() -> None:
    """Have a process obey the rights of files even where root runs the tests."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def can_obey() -> bool:
    return os.geteuid() != 0 or sys.platform == "linux"


needs_rights = pytest.mark.skipif(not can_obey(), reason="root, whom no rights of files hold here")


# The socket


@pytest.mark.spec("watching.socket.lasts")
def test_a_socket_that_is_removed_comes_back_and_learning_never_stopped(home: Home, projects: Path) -> None:
    with running() as daemon:
        home.socket.unlink()
        say(projects, "where is the keeper?", "On the mainland until Thursday.")
        wait_for(lambda: titles("mainland"))
        wait_for(lambda: suffers_from(home, "status socket: its file was removed; it was made again"))
        assert stat.S_IMODE(home.socket.stat().st_mode) == 0o600
        assert daemon.ended(signal.SIGTERM) == Exit.OK
    assert not home.socket.exists()


def test_a_daemon_that_hangs_is_told_from_one_that_is_gone(home: Home) -> None:
    with running() as daemon:
        os.kill(daemon.process.pid, signal.SIGSTOP)
        try:
            shown = run("status", "--once")
        finally:
            os.kill(daemon.process.pid, signal.SIGCONT)
        assert "running; it does not answer" in shown.stdout
        wait_for(lambda: find_state(home))
        daemon.ended(signal.SIGTERM)


# Room on the disk


@contextmanager
def limited(process: int, most: int) -> Iterator[None]:
    """Let a process write no file beyond so many bytes: to it the disk is full."""
    before = resource.prlimit(process, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)


@pytest.mark.spec("trouble.disk")
@pytest.mark.skipif(sys.platform != "linux", reason="the limits of another process are Linux's")
def test_with_a_full_disk_it_waits_and_says_so_and_then_learns_all_of_it(home: Home, projects: Path) -> None:
    with running() as daemon:
        wait_for(lambda: state(home).activity == "watching")
        with limited(daemon.process.pid, 64):
            drop(home, "lamp.md", "# The lamp\n\nThe lamp of the lighthouse is a Fresnel lens.")
            say(projects, "where is the keeper?", "On the mainland until Thursday.")
            wait_for(lambda: state(home).activity == "waiting for the store")
            assert suffers_from(home, "nothing was written")
            assert suffers_from(home, "log: it can't be written")
            assert run("status", "--once").stdout.count("degraded ") == 1
        wait_for(lambda: titles("fresnel"))
        wait_for(lambda: titles("mainland"))
        wait_for(lambda: not suffers_from(home, "written"))
        assert daemon.ended(signal.SIGTERM) == Exit.OK
    assert len(titles("fresnel")) == len(titles("mainland")) == 1
    assert not any("Traceback" in line for line in daemon.said)
    assert is_whole(home)


def is_whole(home: Home) -> bool:
    with closing(apsw.Connection(str(home.database))) as connection:
        return bool(connection.execute("pragma integrity_check").get == "ok")


@pytest.fixture
def small_disk(home: Home) -> Iterator[Path]:
    """A file system of 48 MB with the home on it."""
    home.path.mkdir()
    mount = shutil.which("mount")
    if sys.platform != "linux" or mount is None:
        pytest.skip("no tmpfs here")
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=48m", "tmpfs", home.path], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no tmpfs may be mounted here: {done.stderr.strip()}")
    try:
        yield home.path
    finally:
        subprocess.run(["umount", "-l", home.path], check=True)


@pytest.mark.spec("trouble.disk")
def test_on_a_disk_that_really_fills_up_nothing_is_lost_either(home: Home, projects: Path, small_disk: Path) -> None:
    with running(GRAPH_MEMORY_LIMITS__FREE_DISK_MB="0") as daemon:
        wait_for(lambda: state(home).activity == "watching")
        filler = small_disk / "filler"
        with filler.open("wb") as file:
            try:
                while True:
                    file.write(b"\0" * 65_536)
                    file.flush()
            except OSError:
                pass
        for number in range(20):
            say(projects, f"tell me about beacon{number}", f"The answer is tide{number}. " * 800, number=number)
        wait_for(lambda: suffers_from(home, "the disk is full") or suffers_from(home, "nothing was written"))
        assert daemon.process.poll() is None
        filler.unlink()
        wait_for(lambda: all(titles(f"tide{number}") for number in range(20)))
        assert daemon.ended(signal.SIGTERM) == Exit.OK
    assert [len(titles(f"beacon{number}")) for number in range(20)] == [1] * 20
    assert is_whole(home)


def test_below_the_floor_it_keeps_off_the_disk_before_that_is_full(home: Home, small_disk: Path) -> None:
    with running() as daemon:
        drop(home, "lamp.md", "The lamp of the lighthouse is a Fresnel lens.")
        wait_for(lambda: suffers_from(home, "limits.free_disk_mb"))
        assert titles("fresnel") == []
        assert "so learning waits" in run("doctor").stdout or "are free" in run("doctor").stdout
        daemon.ended(signal.SIGTERM)


# Rights


@needs_rights
def test_a_home_that_cannot_be_written_is_refused_in_a_line(home: Home) -> None:
    with open_services(load_config(os.environ)):
        pass
    home.lock.unlink(missing_ok=True)
    home.path.chmod(0o500)
    try:
        done = subprocess.run(
            [COMMAND, "run"],
            capture_output=True,
            text=True,
            check=False,
            timeout=BOUND,
            preexec_fn=obeying_permissions if os.geteuid() == 0 else None,
        )
    finally:
        home.path.chmod(0o700)
    assert done.returncode == Exit.CONFIG
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1
    assert str(home.path) in done.stderr


@pytest.mark.spec("trouble.rights")
@needs_rights
def test_rights_that_are_lost_and_given_back_cost_nothing(home: Home, projects: Path) -> None:
    projects.mkdir()
    with running(preexec=obeying_permissions if os.geteuid() == 0 else None) as daemon:
        wait_for(lambda: state(home).activity == "watching")
        home.path.chmod(0o000)
        try:
            say(projects, "where is the keeper?", "On the mainland until Thursday.")
            wait_for(lambda: suffers_from(home, "can't be reached: Permission denied"))
        finally:
            home.path.chmod(0o700)
        wait_for(lambda: titles("mainland"))
        wait_for(lambda: activity(home) == "watching")
        wait_for(lambda: not suffers_from(home, "Permission denied"))
        assert daemon.ended(signal.SIGTERM) == Exit.OK
    assert len(titles("mainland")) == 1


def activity(home: Home) -> str:
    found = find_state(home)
    return "" if found is None else found.activity


@needs_rights
def test_a_project_that_may_not_be_read_is_named_and_keeps_no_other_waiting(home: Home, projects: Path) -> None:
    closed = projects / "-closed"
    closed.mkdir(parents=True)
    closed.chmod(0o000)
    try:
        with running(preexec=obeying_permissions if os.geteuid() == 0 else None) as daemon:
            say(projects, "where is the keeper?", "On the mainland until Thursday.")
            wait_for(lambda: titles("mainland"))
            wait_for(lambda: suffers_from(home, f"{closed}: Permission denied"))
            closed.chmod(0o700)
            wait_for(lambda: not suffers_from(home, "Permission denied"))
            daemon.ended(signal.SIGTERM)
    finally:
        closed.chmod(0o700)


# Folders


@pytest.mark.spec("trouble.folders")
def test_a_projects_folder_that_is_moved_away_and_back_is_read_on_where_it_was(home: Home, projects: Path) -> None:
    say(projects, "where is the keeper?", "On the mainland until Thursday.")
    away = projects.with_name("elsewhere")
    with running() as daemon:
        wait_for(lambda: titles("mainland"))
        projects.rename(away)
        say(away, "and the spare bulb?", "In the drawer under the barometer.", number=1)
        drop(home, "lamp.md", "The lamp of the lighthouse is a Fresnel lens.")
        wait_for(lambda: titles("fresnel"))
        assert titles("barometer") == []
        away.rename(projects)
        wait_for(lambda: titles("barometer"))
        say(projects, "and the foghorn?", "Its valve sticks below five degrees.", number=2)
        wait_for(lambda: titles("valve sticks"))
        assert state(home).problems == ()
        assert daemon.ended(signal.SIGTERM) == Exit.OK
    assert [len(titles(it)) for it in ("mainland", "barometer", "valve sticks")] == [1, 1, 1]


@pytest.mark.spec("trouble.watches")
def test_five_thousand_folders_under_a_low_limit_of_watches_are_polled_and_that_is_said(
    home: Home, projects: Path
) -> None:
    lower = 'echo 200 > /proc/sys/user/max_inotify_watches && exec "$0" "$@"'
    through = ("unshare", "--user", "--map-root-user", "sh", "-c", lower)
    probe = shutil.which("unshare") and subprocess.run([*through, "true"], capture_output=True, check=False)
    if not probe or probe.returncode:
        pytest.skip("no user namespace with a limit of its own may be made here")
    for number in range(5_000):
        (projects / f"-project-{number}").mkdir(parents=True)
    with running(through=through, GRAPH_MEMORY_INGEST__RESCAN_SECONDS="300") as daemon:
        wait_for(lambda: suffers_from(home, "file events: "))
        assert suffers_from(home, "polling instead")
        say(projects, "where is the keeper?", "On the mainland until Thursday.")
        wait_for(lambda: titles("mainland"))
        assert daemon.ended(signal.SIGTERM) == Exit.OK


# Damage


def damage(home: Home, table: str) -> int:
    """Overwrite the content of a table's pages, and leave their kinds; count them."""
    with closing(apsw.Connection(str(home.database))) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        size = int(connection.execute("pragma page_size").get)
        pages = [number for (number,) in connection.execute("select pageno from dbstat where name = ?", (table,))]
    with home.database.open("r+b") as file:
        for page in pages:
            file.seek((int(page) - 1) * size + 100)
            file.write(b"\xa5" * (size - 100))
    return len(pages)


@pytest.mark.spec("trouble.damage")
def test_damage_ends_it_with_a_plain_word_and_makes_nothing_worse(home: Home, projects: Path) -> None:
    with open_services(load_config(os.environ)) as services:
        for number in range(200):
            draft = MemoryDraft(title=f"Note {number}", content=f"About lantern {number}. " * 40, category="note")
            services.memory_write.add(LOCAL_ADMIN, draft)
        services.backup.export(LOCAL_ADMIN, keep=5)
    backups = {it.name: it.read_bytes() for it in home.backups.iterdir()}
    assert damage(home, "memories") > 10
    before = home.database.read_bytes()
    say(projects, "where is the keeper?", "On the mainland until Thursday.")

    done = subprocess.run([COMMAND, "run"], capture_output=True, text=True, check=False, timeout=BOUND)
    assert done.returncode == Exit.CONFIG
    assert "Error: the database file is damaged" in done.stderr
    assert "graph-memory restore latest" in done.stderr
    assert "daemon_failed" in home.daemon_log.read_text(encoding="utf-8")
    assert differing_pages(before, home.database.read_bytes()) <= 20  # runs of jobs and the like; no damaged page
    assert {it.name: it.read_bytes() for it in home.backups.iterdir()} == backups
    assert not is_held(home)

    found = orjson.loads(run("doctor", "--json").stdout)["findings"]
    errors = [it for it in found if it["level"] == "error" and it["check"] == "store"]
    assert errors
    assert all("graph-memory restore latest" in it["remedy"] for it in errors)
    assert [it["level"] for it in found if it["check"] == "backups"] == ["ok"]


def differing_pages(before: bytes, after: bytes, size: int = 4_096) -> int:
    return sum(before[at : at + size] != after[at : at + size] for at in range(0, len(before), size))


# Two at once


@pytest.mark.spec("trouble.one-daemon")
def test_of_daemons_started_at_once_one_has_the_home(home: Home) -> None:
    processes = [
        subprocess.Popen([COMMAND, "run"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    try:
        wait_for(lambda: sum(it.poll() is None for it in processes) == 1 and find_state(home) is not None)
        [winner] = [it for it in processes if it.poll() is None]
        assert state(home).pid == winner.pid
        assert sorted(it.returncode for it in processes if it is not winner) == [Exit.BUSY] * 3
        winner.send_signal(signal.SIGTERM)
        assert winner.wait(BOUND) == Exit.OK
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_the_state_it_was_killed_in_is_cleared_by_the_next_one(home: Home) -> None:
    with running() as daemon:
        daemon.ended(signal.SIGKILL)
    assert home.socket.exists()
    assert "ended without a word" in run("doctor").stdout
    with running() as daemon:
        wait_for(lambda: state(home).pid == daemon.process.pid)
        assert not suffers_from(home, "socket")
        daemon.ended(signal.SIGTERM)


@pytest.mark.spec("trouble.clock")
def test_a_clock_set_back_by_a_day_runs_nothing_twice_and_misses_nothing(services: Services, clock: Clock) -> None:
    due = DueJobs(services, clock.at - timedelta(days=10), zone=UTC)
    due.run()
    began = clock.at
    assert days_of_runs(services, "decay") == [began.date()]

    clock.move(days=-1)
    while clock.at < began + timedelta(days=2):
        due.run()
        clock.move(minutes=30)
    for name in ("export", "decay", "expire", "validate"):
        assert days_of_runs(services, name) == [(began + timedelta(days=it)).date() for it in range(3)]


def days_of_runs(services: Services, job: str) -> list[date]:
    runs = services.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.runs(job, 100))
    return sorted(it.started_at.date() for it in runs)
