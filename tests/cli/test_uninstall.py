"""`graph-memory uninstall`: what goes, what stays, and what is never touched."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from daemon.exits import Exit
from daemon.instance import hold_home
from graph_memory.home import Home
from tests.cli.conftest import COMMAND, Ran, Run

pytestmark = pytest.mark.usefixtures("acted_systemd")


@pytest.fixture
def acted_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reaches the systemd of whoever runs it."""
    folder, log = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir()
    program = folder / ("launchctl" if sys.platform == "darwin" else "systemctl")
    program.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return log


@pytest.fixture
def settings(used_home: Path) -> list[Path]:
    files = [used_home / "config.json", used_home / "credentials.env"]
    files[0].write_text("{}")
    files[1].write_text("")
    files[1].chmod(0o600)
    return files


def answered(answer: str, *words: str) -> Ran:
    """Run the command as a person at a terminal does, who gives one answer."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, f"{answer}\n".encode())
        done = subprocess.run(
            [COMMAND, *words], stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True, check=False, timeout=60
        )
        os.set_blocking(ours, False)
        said = os.read(ours, 65_536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    return Ran(done.returncode, done.stdout, said)


@pytest.mark.spec("uninstall.keeps")
def test_service_and_settings_go_and_what_was_learned_stays(
    run: Run, used_home: Path, settings: list[Path], own_environment: Path
) -> None:
    unit = own_environment / ".config" / "systemd" / "user" / "graph-memory.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\n")
    done = run("uninstall", "--yes")
    assert done.status == Exit.OK
    assert sys.platform != "linux" or not unit.exists()
    assert [it for it in settings if it.exists()] == []
    assert run("search", "--json", "Postgres").json["memories"]
    assert str(used_home) in done.out
    assert "claude mcp remove graph-memory" in done.out


@pytest.mark.spec("uninstall.asks")
@pytest.mark.parametrize("words", [[], ["--purge"]])
def test_without_anybody_to_ask_nothing_happens(
    run: Run, used_home: Path, settings: list[Path], words: list[str], acted_systemd: Path
) -> None:
    done = run("uninstall", *words)
    assert done.status == Exit.USAGE
    assert "--yes" in done.err
    assert all(it.exists() for it in settings)
    assert not acted_systemd.exists()
    assert run("search", "--json", "Postgres").json["memories"]


@pytest.mark.spec("uninstall.asks")
def test_the_question_says_what_goes_and_no_is_no(used_home: Path, settings: list[Path], acted_systemd: Path) -> None:
    done = answered("n", "uninstall", "--purge")
    assert done.status == Exit.FAILED
    assert str(used_home) in done.err.replace("\r\n", "")
    assert "Nothing was changed" in done.err
    assert all(it.exists() for it in settings)
    assert not acted_systemd.exists()
    assert answered("y", "uninstall", "--purge").status == Exit.OK
    assert not used_home.exists()


@pytest.mark.spec("uninstall.purge")
def test_purged_nothing_is_left(run: Run, used_home: Path, settings: list[Path]) -> None:
    run("export", "--label", "before")
    run("job", "run", "decay")
    run("pause", "1h")
    (used_home / "memory.db-wal").write_bytes(b"")
    (used_home / ".store.json.0123.tmp").write_bytes(b"")
    done = run("uninstall", "--purge", "--yes")
    assert (done.status, "Warning" in done.err) == (Exit.OK, False)
    assert not used_home.exists()
    assert "Deleted" in done.out


@pytest.mark.spec("uninstall.foreign")
def test_what_others_put_there_stays_and_is_named(run: Run, used_home: Path) -> None:
    (used_home / "thesis.tex").write_text("mine")
    done = run("uninstall", "--purge", "--yes")
    assert done.status == Exit.OK
    assert [it.name for it in used_home.iterdir()] == ["thesis.tex"]
    assert str(used_home / "thesis.tex") in done.err


@pytest.mark.spec("uninstall.foreign")
def test_links_are_not_followed(run: Run, used_home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").write_text("mine")
    (used_home / "ingest" / "pending" / "link").symlink_to(elsewhere)
    (used_home / "archive").rmdir()
    (used_home / "archive").symlink_to(elsewhere)
    assert run("uninstall", "--purge", "--yes").status == Exit.OK
    assert not used_home.exists()
    assert (elsewhere / "kept.txt").read_text() == "mine"


def _a_link(home: Path, elsewhere: Path) -> None:
    home.rename(elsewhere)
    home.symlink_to(elsewhere)


def _some_folder(home: Path, elsewhere: Path) -> None:
    home.rename(elsewhere)
    home.mkdir()
    (home / "logs").mkdir()
    (home / "backups").mkdir()
    (home / "memory.db").write_text("not ours")


@pytest.mark.spec("uninstall.foreign")
@pytest.mark.parametrize("make", [_a_link, _some_folder])
def test_a_folder_that_is_no_home_is_refused_before_anything_is_done(
    run: Run, used_home: Path, tmp_path: Path, make: Callable[[Path, Path], None], acted_systemd: Path
) -> None:
    make(used_home, tmp_path / "moved")
    before = sorted(used_home.rglob("*"))
    done = run("uninstall", "--purge", "--yes")
    assert done.status == Exit.CONFIG
    assert sorted(used_home.rglob("*")) == before
    assert not acted_systemd.exists()


@pytest.mark.spec("uninstall.foreign")
def test_a_home_that_is_the_whole_home_folder_is_refused(run: Run, used_home: Path, own_environment: Path) -> None:
    Home(own_environment).ensure()
    done = run("--home", own_environment, "uninstall", "--purge", "--yes")
    assert done.status == Exit.CONFIG
    assert "whole home folder" in done.err
    assert used_home.is_dir()


def test_while_a_daemon_has_it_nothing_is_deleted(run: Run, used_home: Path) -> None:
    with hold_home(Home(used_home)):
        done = run("uninstall", "--purge", "--yes")
    assert done.status == Exit.BUSY
    assert (used_home / "memory.db").exists()


def test_where_there_is_nothing_there_is_nothing_to_do(run: Run, home: Path) -> None:
    assert run("uninstall", "--purge", "--yes").status == Exit.OK
    assert not home.exists()


def test_registrations_are_named_as_they_are_and_left_alone(run: Run, own_environment: Path) -> None:
    ours = {"command": "/opt/bin/graph-memory", "args": ["mcp"]}
    written = orjson.dumps(
        {
            "mcpServers": {"my memory": ours, "other": {"command": "npx"}, "odd": 3},
            "projects": {"/home/dev/x": {"mcpServers": {"gm": ours}}, "/y": None},
        }
    )
    file = own_environment / ".claude.json"
    file.write_bytes(written)
    out = run("uninstall", "--yes").out
    assert "claude mcp remove 'my memory' --scope user" in out
    assert "claude mcp remove gm --scope local   (in /home/dev/x)" in out
    assert "npx" not in out
    assert "other" not in out
    assert file.read_bytes() == written
