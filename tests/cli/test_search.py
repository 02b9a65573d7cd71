"""`graph-memory search`."""

import os
from pathlib import Path

from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.cli.conftest import Run


def add(title: str, content: str, project: str = "_global") -> None:
    with open_services(load_config(os.environ)) as services:
        draft = MemoryDraft(title=title, content=content, category="note", project_id=project)
        services.memory_write.add(LOCAL_ADMIN, draft)


def test_memories_and_entities_are_found(run: Run, used_home: Path) -> None:
    done = run("search", "postgres")
    assert done.status == 0
    assert "Postgres it is" in done.out
    assert "its transactions" in done.out
    assert "Object" in done.out


def test_as_json_they_look_as_in_the_tools(run: Run, used_home: Path) -> None:
    found = run("search", "transactions", "postgres", "--json").json
    assert found["count"] == 1
    assert found["memories"][0]["title"] == "Postgres it is"
    assert {"id", "rank", "snippet", "project_id"} <= set(found["memories"][0])
    [entity] = run("search", "postgres", "--json").json["entities"]
    assert (entity["name"], entity["type"], entity["edge_count"]) == ("Postgres", "Object", 1)


def test_a_project_keeps_others_out(run: Run, used_home: Path) -> None:
    add("Lanterns here", "lanterns", "harbour")
    add("Lanterns there", "lanterns", "airport")
    titles = [it["title"] for it in run("search", "lanterns", "--project", "harbour", "--json").json["memories"]]
    assert titles == ["Lanterns here"]


def test_limit_bounds_the_answer(run: Run, used_home: Path) -> None:
    for number in range(3):
        add(f"Lantern {number}", "lanterns everywhere")
    assert run("search", "lanterns", "--limit", "2", "--json").json["count"] == 2


def test_nothing_found_says_so_and_is_no_failure(run: Run, used_home: Path) -> None:
    done = run("search", "zeppelin")
    assert (done.status, done.out, done.err) == (0, "", "Nothing found.\n")


def test_any_text_is_only_text(run: Run, used_home: Path) -> None:
    for text in ("C++", "don't", '("*', "AND", "C:\\repo", "--", "[red]x[/red] :smile:"):
        assert run("search", "--json", "--", text).status == 0


def test_stored_text_cannot_drive_the_terminal(run: Run, used_home: Path) -> None:
    add("Title \x1b[31mred", "a bell \x07 and [bold]markup[/bold] and \x1b]0;owned\x07")
    done = run("search", "markup")
    assert not {"\x1b", "\x07"} & set(done.out)
    assert "[bold]markup[/bold]" in done.out
