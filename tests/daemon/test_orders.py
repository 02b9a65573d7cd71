"""What a person says while the daemon runs, and that a daemon obeys it at once, the one that runs and the next."""

import json
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from daemon.exits import Exit
from daemon.instance import find_state
from daemon.orders import PAUSED, VANISHED_SECONDS, Orders
from graph_memory.config import LoadedConfig, load_config
from graph_memory.home import Home
from graph_memory.pauses import Pause, delete_pause, put_pause
from graph_memory.presence import DaemonState
from tests.daemon.conftest import Clock
from tests.daemon.daemons import BOUND, COMMAND, drop, running, say, titles, wait_for


def command(*words: str) -> str:
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=True, timeout=BOUND)
    return done.stdout


def state(home: Home) -> DaemonState:
    found = find_state(home)
    assert found is not None
    return found


@pytest.mark.spec("exclude.live", "exclude.obeyed")
def test_what_is_excluded_while_it_runs_is_learned_no_more(home: Home, projects: Path) -> None:
    projects.mkdir()
    with running() as daemon:
        say(projects, "why does the foghorn stutter?", "Its compressor valve sticks.")
        wait_for(lambda: titles("compressor"))
        assert "1 memory stored from before" in command("exclude", "add", "--project", "lighthouse")
        say(projects, "and the spare bulb?", "In the drawer under the barometer.", number=1)
        say(projects, "and the flag?", "In the same place.", number=2)
        drop(home, "lamp.md", "# The lamp\n\nIts lens is by Fresnel.")
        wait_for(lambda: titles("fresnel"))
        assert titles("barometer") == []
        command("exclude", "remove", "--project", "lighthouse")
        say(projects, "and the ladder?", "Behind the boathouse.", number=3)
        wait_for(lambda: titles("boathouse"))
        assert titles("barometer") == []  # passed over meanwhile, and so it stays
        daemon.ended(signal.SIGTERM)


@pytest.mark.spec("exclude.mark")
def test_a_mark_in_a_folder_is_obeyed_at_once(home: Home, projects: Path, tmp_path: Path) -> None:
    folder = tmp_path / "diary"
    folder.mkdir()
    (folder / ".no-memory").touch()
    projects.mkdir()
    with running() as daemon:
        say(projects, "dear diary", "Nobody may know of the barometer.", cwd=str(folder))
        drop(home, "lamp.md", "# The lamp\n\nIts lens is by Fresnel.")
        wait_for(lambda: titles("fresnel"))
        assert titles("barometer") == []
        (folder / ".no-memory").unlink()
        say(projects, "dear world", "Everybody may know of the boathouse.", number=1, cwd=str(folder))
        wait_for(lambda: titles("boathouse"))
        daemon.ended(signal.SIGTERM)


@pytest.mark.spec("pause.obeyed", "pause.loses-nothing", "pause.asked-for", "pause.shown")
def test_while_it_is_paused_nothing_is_learned_and_afterwards_all_of_it(
    home: Home, projects: Path, tmp_path: Path
) -> None:
    projects.mkdir()
    with running() as daemon:
        wait_for(lambda: state(home).activity == "watching")
        command("pause")
        wait_for(lambda: state(home).activity == PAUSED)
        say(projects, "why does the foghorn stutter?", "Its compressor valve sticks.")
        drop(home, "lamp.md", "# The lamp\n\nIts lens is by Fresnel.")
        (tmp_path / "named.md").write_text("# Named\n\nThe keeper is on the mainland.", encoding="utf-8")
        command("ingest", str(tmp_path / "named.md"))
        assert titles("mainland") == ["Named"]
        seen = json.loads(command("status", "--json"))
        assert seen["daemon"]["state"]["activity"] == PAUSED
        assert any("paused" in it for it in seen["degraded"])
        assert daemon.ended(signal.SIGTERM) == Exit.OK
    assert any("paused" in it for it in json.loads(unchecked("status", "--json"))["degraded"])
    with running() as daemon:  # a later daemon obeys, too
        wait_for(lambda: state(home).activity == PAUSED)
        assert titles("compressor") == titles("fresnel") == []
        command("job", "run", "export")
        command("resume")
        wait_for(lambda: titles("compressor") and titles("fresnel"))
        daemon.ended(signal.SIGTERM)


def unchecked(*words: str) -> str:
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=BOUND)
    return done.stdout


@pytest.mark.spec("pause.ends")
def test_a_pause_is_over_by_itself(home: Home, projects: Path) -> None:
    projects.mkdir()
    with running() as daemon:
        command("pause", "--for", "3s")
        drop(home, "lamp.md", "# The lamp\n\nIts lens is by Fresnel.")
        wait_for(lambda: titles("fresnel"))
        daemon.ended(signal.SIGTERM)
    assert "paused" in home.daemon_log.read_text(encoding="utf-8")


@pytest.mark.spec("pause.skip")
def test_what_a_session_said_in_a_pause_can_be_left_out_for_good(home: Home, projects: Path) -> None:
    projects.mkdir()
    with running() as daemon:
        command("pause")
        wait_for(lambda: state(home).activity == PAUSED)
        say(projects, "a secret", "About the barometer.", at=datetime.now(UTC))
        command("resume", "--skip")
        say(projects, "no secret", "About the boathouse.", number=1, at=datetime.now(UTC) + timedelta(seconds=5))
        wait_for(lambda: titles("boathouse"))
        daemon.ended(signal.SIGTERM)
    assert titles("barometer") == []


@pytest.mark.spec("reload.hangup", "bounds.shown")
def test_a_hangup_puts_the_settings_in_force(home: Home) -> None:
    with running() as daemon:
        home.config_file.write_text('{"ingest": {"items_per_minute": 77}, "limits": {"free_disk_mb": 7}}')
        daemon.process.send_signal(signal.SIGHUP)
        wait_for(lambda: state(home).budget["items_per_minute"]["limit"] == 77)
        assert state(home).disk["least_mb"] == 7
        home.config_file.write_text('{"jobs": {"decay": {"at": "05:55"}}, "log": {"level": "debug"}}')
        daemon.process.send_signal(signal.SIGHUP)
        wait_for(lambda: any("05:55" in _local(it) for it in _next_runs()))
        drop(home, "lamp.md", "# The lamp\n\nIts lens is by Fresnel.")
        wait_for(lambda: titles("fresnel"))
        assert daemon.ended(signal.SIGTERM) == Exit.OK


def _next_runs() -> list[str]:
    return [it["next_run"] for it in json.loads(command("status", "--json"))["jobs"] if it["next_run"]]


def _local(instant: str) -> str:
    return f"{datetime.fromisoformat(instant).astimezone():%H:%M}"


@pytest.mark.spec("reload.broken")
def test_broken_settings_keep_those_before_and_say_so(home: Home) -> None:
    home.ensure()
    home.config_file.write_text('{"ingest": {"items_per_minute": 77}}')
    with running() as daemon:
        home.config_file.write_text('{"ingest": {"items_per_minute": 5')
        wait_for(lambda: any("settings: it is not JSON" in it for it in state(home).problems))
        assert state(home).budget["items_per_minute"]["limit"] == 77
        home.config_file.write_text('{"ingest": {"items_per_minute": 5}}')
        wait_for(lambda: state(home).budget["items_per_minute"]["limit"] == 5)
        assert not any("settings" in it for it in state(home).problems)
        daemon.ended(signal.SIGTERM)


class Now:
    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


class Heard:
    """Orders of a home, and the settings they put in force."""

    def __init__(self, home: Home, clock: Clock) -> None:
        self.home, self.now, self.applied = home, Now(), list[LoadedConfig]()
        config = self.load()
        self.orders = Orders(config, self.load, self.applied.append, clock=clock, now=self.now)

    def load(self) -> LoadedConfig:
        return load_config({"HOME": str(self.home.path)}, self.home.path)

    def write(self, text: str) -> None:
        self.home.config_file.write_text(text)


@pytest.fixture
def heard(tmp_path: Path, clock: Clock) -> Heard:
    home = Home(tmp_path / "home")
    home.ensure()
    return Heard(home, clock)


def test_nothing_said_is_nothing_new(heard: Heard) -> None:
    assert not heard.orders.are_new()
    assert heard.orders.heed() is None
    assert heard.applied == []


def test_a_changed_file_is_heeded_once(heard: Heard) -> None:
    heard.write('{"exclude": {"projects": ["a"]}}')
    assert heard.orders.are_new()
    heard.orders.heed()
    assert [it.settings.exclude.projects for it in heard.applied] == [("a",)]
    assert not heard.orders.are_new()


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_file_that_is_gone_or_empty_for_a_moment_changes_nothing(heard: Heard, is_gone: bool) -> None:
    heard.write('{"exclude": {"projects": ["a"]}}')
    heard.orders.heed()
    heard.home.config_file.unlink()
    if not is_gone:
        heard.write("")
    assert not heard.orders.are_new()
    heard.now.seconds += VANISHED_SECONDS / 2
    assert not heard.orders.are_new()
    heard.write('{"exclude": {"projects": ["a", "b"]}}')
    heard.orders.heed()
    assert heard.applied[-1].settings.exclude.projects == ("a", "b")
    heard.home.config_file.unlink()
    assert not heard.orders.are_new()
    heard.now.seconds += VANISHED_SECONDS
    assert heard.orders.are_new()
    heard.orders.heed()
    assert not heard.applied[-1].settings.exclude.projects


def test_another_store_waits_for_a_restart_and_says_so(heard: Heard) -> None:
    heard.write('{"store": {"kind": "neo4j"}}')
    heard.orders.heed()
    assert "restart" in str(heard.orders.problem)
    heard.write("{}")
    heard.orders.heed()
    assert heard.orders.problem is None


def test_a_pause_is_heeded_and_its_end(heard: Heard, clock: Clock) -> None:
    put_pause(heard.home, Pause(clock(), clock() + timedelta(hours=1)))
    assert heard.orders.are_new()
    assert heard.orders.heed() == PAUSED
    assert not heard.orders.are_new()
    clock.move(hours=1)
    assert heard.orders.are_new()
    assert heard.orders.heed() is None
    put_pause(heard.home, Pause(clock()))
    assert heard.orders.heed() == PAUSED
    delete_pause(heard.home)
    assert heard.orders.heed() is None


def test_the_exclusion_of_a_skipped_pause_is_in_force_before_the_pause_is_over(heard: Heard, clock: Clock) -> None:
    put_pause(heard.home, Pause(clock()))
    heard.orders.heed()
    span = "2026-01-15T12:00:00Z/2026-01-15T13:00:00Z"
    heard.write(json.dumps({"exclude": {"times": [span]}}))
    delete_pause(heard.home)
    assert heard.orders.heed() is None
    assert heard.applied[-1].settings.exclude.times == (span,)
