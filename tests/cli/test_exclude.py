"""`graph-memory exclude`: what is said is written down, obeyed, and counted."""

import os
from pathlib import Path

import orjson
import pytest

from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.cli.conftest import Run


def add_memory(title: str, **more: str) -> None:
    with open_services(load_config(os.environ)) as services:
        draft = MemoryDraft(title=title, content=f"All about {title}.", category="context", **more)  # type: ignore[arg-type]
        services.memory_write.add(LOCAL_ADMIN, draft)


def test_what_is_added_is_in_force_and_listed_and_can_be_taken_back(run: Run, home: Path, tmp_path: Path) -> None:
    words = ("--project", "diary", "--folder", "secret", "--session", "s-1")
    assert run("exclude", "add", *words).status == 0
    exclude = load_config(os.environ).settings.exclude
    assert (exclude.projects, exclude.folders, exclude.sessions) == (("diary",), (tmp_path / "secret",), ("s-1",))
    assert run("exclude", "list", "--json").json["folders"] == [str(tmp_path / "secret")]
    assert run("exclude", "remove", *words).status == 0
    assert load_config(os.environ).settings.exclude.folders == ()
    assert "Nothing is excluded" in run("exclude", "list").err
    assert (home / "config.json").stat().st_mode & 0o777 == 0o600


def test_twice_is_once(run: Run) -> None:
    run("exclude", "add", "--project", "diary")
    done = run("exclude", "add", "--project", "diary", "--project", "diary")
    assert "so already" in done.err
    assert load_config(os.environ).settings.exclude.projects == ("diary",)


@pytest.mark.spec("exclude.tells")
def test_it_says_how_much_is_stored_and_how_to_forget_it(run: Run, used_home: Path) -> None:
    assert used_home.exists()
    add_memory("Dear diary", project_id="diary")
    add_memory("Said once", session_id="s-1")
    done = run("exclude", "add", "--project", "diary", "--session", "s-1", "--json")
    assert done.json["stored"] == {"diary": 1, "s-1": 1}
    done = run("exclude", "add", "--project", "diary")
    assert "diary: 1 memory stored from before" in done.out
    assert "graph_forget" in done.err


def test_a_project_that_is_nearly_called_so_is_named(run: Run, used_home: Path) -> None:
    assert used_home.exists()
    add_memory("Dear diary", project_id="diary")
    assert "did you mean diary?" in run("exclude", "add", "--project", "dairy").err


def test_what_a_person_wrote_stays_as_they_wrote_it(run: Run, home: Path, own_environment: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "config.json").write_text('{"exclude": {"folders": ["~/private", "$HOME/b"], "note": 1}, "log": {}}\n')
    run("exclude", "add", "--folder", own_environment / "c")
    written = orjson.loads((home / "config.json").read_bytes())
    assert written["exclude"]["folders"] == ["~/private", "$HOME/b", str(own_environment / "c")]
    assert written["exclude"]["note"] == 1
    run("exclude", "remove", "--folder", own_environment / "private")
    assert orjson.loads((home / "config.json").read_bytes())["exclude"]["folders"][0] == "$HOME/b"


@pytest.mark.parametrize(
    "words",
    [(), ("--project", " "), ("--session", "a\nb"), ("--time", "yesterday"), ("--time", "2026-01-02/2026-01-01")],
)
def test_what_can_not_be_meant_is_refused(run: Run, home: Path, words: tuple[str, ...]) -> None:
    assert run("exclude", "add", *words).status == 2
    assert not (home / "config.json").exists()


def test_a_broken_file_is_left_alone_and_said(run: Run, home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "config.json").write_text("{ not json")
    done = run("exclude", "add", "--project", "diary")
    assert done.status == 78
    assert "mend it first" in done.err
    assert (home / "config.json").read_text() == "{ not json"


def test_the_environment_that_decides_is_named(run: Run, home: Path) -> None:
    done = run("exclude", "add", "--project", "diary", GRAPH_MEMORY_EXCLUDE__PROJECTS="other")
    assert done.status == 78
    assert "GRAPH_MEMORY_EXCLUDE__PROJECTS" in done.err
    assert not (home / "config.json").exists()
