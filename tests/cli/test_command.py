"""The command as a whole: help, version, errors, what goes where."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from cli.app import app
from daemon.exits import Exit
from tests.cli.conftest import COMMAND, Run


def test_help_lists_every_command_and_the_exit_statuses(run: Run) -> None:
    done = run("--help")
    assert done.status == 0
    names = {it.name for it in app.registered_commands} | {it.name for it in app.registered_groups}
    for name in ("run", "mcp", "status", "ingest", "search", "job", "export", "import", "config", "doctor", "demo"):
        assert name in names
        assert f"\n  {name} " in done.out
    assert "78" in done.out


def test_version_is_the_packages(run: Run) -> None:
    done = run("--version")
    assert (done.status, done.err) == (0, "")
    assert done.out.count(".") == 2


def test_without_words_it_shows_its_help(run: Run) -> None:
    done = run()
    assert done.status == Exit.USAGE
    assert "Usage: graph-memory" in done.out + done.err


@pytest.mark.parametrize("words", [["serch"], ["search"], ["search", "x", "--limit", "0"], ["job", "run", "dacay"]])
def test_what_is_not_understood_ends_with_two_and_without_a_stack(run: Run, words: list[str]) -> None:
    done = run(*words)
    assert done.status == Exit.USAGE
    assert done.out == ""
    assert "Error: " in done.err
    assert "Traceback" not in done.err


def test_a_mistyped_command_gets_the_nearest(run: Run) -> None:
    assert "'search'" in run("serch").err


def test_a_job_that_does_not_exist_is_answered_with_those_that_do(run: Run) -> None:
    assert "export, decay" in run("job", "run", "dacay").err


def test_another_home_is_named_before_the_command(run: Run, tmp_path: Path, home: Path) -> None:
    done = run("--home", tmp_path / "other", "config", "path")
    assert done.out == f"{tmp_path / 'other' / 'config.json'}\n"
    assert run("config", "path").out == f"{home / 'config.json'}\n"


def test_completion_of_the_shell_is_printed(run: Run) -> None:
    done = run("--show-completion", "bash")
    assert done.status == 0
    assert "graph-memory" in done.out


@pytest.mark.parametrize("words", [["status"], ["search", "anything"], ["export"]])
def test_who_only_reads_makes_no_home(run: Run, home: Path, words: list[str]) -> None:
    done = run(*words)
    assert done.status == Exit.FAILED
    assert "there is no memory in" in done.err
    assert not home.exists()


def test_a_home_that_cannot_be_used_ends_with_seventy_eight_and_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    done = run("--home", tmp_path / "file", "job", "list")
    assert done.status == Exit.CONFIG
    assert done.err.splitlines()[-1] == f"Error: {tmp_path / 'file'} is no folder"


def test_a_damaged_store_is_one_line(run: Run, used_home: Path) -> None:
    (used_home / "memory.db").write_bytes(b"this is no database" * 1_000)
    done = run("search", "postgres")
    assert done.status == Exit.CONFIG
    assert done.err.startswith("Error: the database file is damaged")
    assert len(done.err.splitlines()) == 1


def test_what_nobody_expected_has_an_id_that_stands_in_the_log(run: Run, used_home: Path) -> None:
    broken = used_home.parent / "sitecustomize.py"
    broken.write_text(
        "import graph_memory.services.search as it\n"
        "def broken(*_, **__): raise KeyError('a secret of the store')\n"
        "it.MemorySearch.search = broken\n"
    )
    done = run("search", "postgres", PYTHONPATH=str(broken.parent))
    assert done.status == Exit.FAILED
    assert done.out == ""
    [line] = done.err.splitlines()
    reference = line.rpartition(" ")[2]
    log = (used_home / "logs" / "command.log").read_text(encoding="utf-8")
    assert reference in log
    assert "KeyError" in log
    assert "a secret" not in log + done.err


def test_a_reader_that_goes_away_is_no_error(used_home: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [COMMAND, "config", "show"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    os.close(writing)
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr


def test_wrong_settings_are_told_on_stderr_while_the_answer_stays_clean(run: Run, used_home: Path) -> None:
    (used_home / "config.json").write_text('{"weights": {"inferred": 7}}')
    done = run("search", "postgres", "--json")
    assert done.json["count"] == 1
    assert "1 setting not as written" in done.err


def test_without_a_terminal_there_are_no_colours(run: Run, used_home: Path) -> None:
    for words in (["status"], ["doctor"], ["config", "show"], ["search", "postgres"]):
        done = run(*words)
        assert "\x1b" not in done.out + done.err


def test_everything_a_command_makes_is_its_owners_alone(run: Run, home: Path) -> None:
    assert run("job", "run", "export").status == 0
    made = [home, *home.rglob("*")]
    assert [it for it in made if stat.S_IMODE(it.stat().st_mode) & 0o077] == []
