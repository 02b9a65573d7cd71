"""`graph-memory forget` as a person uses it: on files, with other processes at work, and for good."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import orjson
import pytest

from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.daemon.daemons import running, titles, wait_for
from tests.ingest.transcript_files import Transcript
from tests.traces import words_in

if TYPE_CHECKING:
    from tests.cli.conftest import Run

SECRET, PLAIN = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"
WORDS = ("quokka", "zygomorph", "xylophon", "tangelo", "uokka", "ygomorph", "ylophon")
"""Words and what a text index keeps of them behind a letter that they share with others."""


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "projects" / "-nowhere-app"
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", str(folder.parent))
    monkeypatch.setenv("GRAPH_MEMORY_INGEST__SINCE_DAYS", "36500")
    monkeypatch.setenv("GRAPH_MEMORY_INGEST__RESCAN_SECONDS", "1")
    return folder


def secret(projects: Path) -> Transcript:
    talk = Transcript(projects / f"{SECRET}.jsonl", SECRET)
    talk.say("The quokka plan uses src/zygomorph.py and #shared, see https://tangelo.example/x")
    talk.answer("Xylophonic notes are taken.")
    talk.say("Zebras and quokkas again")
    return talk


def plain(projects: Path, text: str = "Ordinary talk of #shared") -> Transcript:
    talk = Transcript(projects / f"{PLAIN}.jsonl", PLAIN)
    talk.say(text)
    return talk


def index_terms(home: Path) -> set[str]:
    """Return every term that a text index of the store holds, in whatever state."""
    connection = apsw.Connection(str(home / "memory.db"))
    found: set[str] = set()
    for table in ("memories_fts", "entities_fts", "entities_runs"):
        connection.execute(f"create virtual table temp.terms using fts5vocab(main, {table}, row)")
        found.update(term for (term,) in connection.execute("select term from temp.terms"))
        connection.execute("drop table temp.terms")
    connection.close()
    return found


@pytest.mark.spec("graph_forget.everywhere", "graph_forget.tombstone", "forget.command", "forget.restored")
def test_a_forgotten_session_stays_forgotten_after_rescan_restart_and_restore(
    run: Run, home: Path, projects: Path
) -> None:
    secret(projects)
    plain(projects)
    with running():
        wait_for(lambda: titles("ordinary") and titles("zebras"))
        assert run("export").status == 0  # last night's backup
        assert run("job", "run", "archive").status == 0
        (home / "memory.db.v1-2026-01-01T00-00-00.backup").write_bytes(b"of before an upgrade: quokka")
        assert words_in(home, WORDS)
        done = run("forget", "--session", SECRET, "--yes", "--json")
        assert (done.status, done.json["memories"], done.json["problems"]) == (0, 2, [])
        assert not words_in(home, WORDS)
        assert not [it for it in index_terms(home) if any(word[:5] in it for word in WORDS)]
        plain(projects, "A marker to see that there was a rescan")
        wait_for(lambda: titles("marker"))
    (backup,) = (home / "backups").iterdir()
    with running():
        plain(projects, "Another marker after a restart")
        wait_for(lambda: titles("restart"))
        assert run("import", str(backup), "--yes").status == 0
    assert run("job", "run", "archive").status == 0
    assert run("restore", "latest", "--yes").status == 0
    with running():
        plain(projects, "The last marker after a restore")
        wait_for(lambda: titles("restore"))
        assert run("job", "run", "archive").status == 0
    assert not titles("quokka") + titles("zebras")
    assert titles("ordinary")
    assert not words_in(home, WORDS)
    assert b"quokka" in (projects / f"{SECRET}.jsonl").read_bytes()  # the person's own file


@pytest.mark.spec("graph_forget.preview-first", "forget.command")
def test_without_yes_it_shows_what_would_go_and_changes_nothing(run: Run, home: Path, projects: Path) -> None:
    secret(projects)
    run("ingest", projects)
    database = (home / "memory.db").read_bytes()
    shown = run("forget", "--session", SECRET)
    assert shown.status == 0
    assert "2 notes" in shown.out
    assert "The quokka plan" in shown.out
    assert "Add --yes" in shown.err
    as_json = run("forget", "--session", SECRET, "--json").json
    assert (as_json["executed"], as_json["found"], as_json["memories"]) == (False, True, 2)
    assert (home / "memory.db").read_bytes() == database


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--session", "s", "--project", "p"),
        ("--after", "2026-01-01"),
        ("--after", "2026-01-02", "--before", "2026-01-01"),
        ("--after", "soon", "--before", "2026-01-01"),
        ("--session", " "),
    ],
)
def test_what_is_no_reach_is_not_understood(run: Run, used_home: Path, words: tuple[str, ...]) -> None:
    assert used_home.exists()
    assert run("forget", *words).status == 2


def test_what_is_not_there_is_said_so(run: Run, used_home: Path) -> None:
    assert used_home.exists()
    assert "Nothing of it is stored" in run("forget", "--memory", "999", "--yes").out
    done = run("forget", "--project", "nobodys", "--yes", "--json")
    assert (done.status, done.json["found"]) == (0, False)


def test_without_a_memory_there_is_nothing_to_forget(run: Run, home: Path) -> None:
    done = run("forget", "--memory", "1", "--yes")
    assert done.status == 1
    assert not home.exists()


def test_a_dropped_file_is_forgotten_by_its_name_and_a_learned_one_by_its_path(
    run: Run, home: Path, projects: Path, tmp_path: Path
) -> None:
    projects.mkdir(parents=True)
    note = tmp_path / "plan.md"
    note.write_text("# The quokka\n\nA tangelo.\n")
    assert run("ingest", note, GRAPH_MEMORY_INGEST__ALLOWED_DIRS=str(tmp_path)).status == 0
    assert titles("quokka")
    assert run("forget", "--file", note, "--yes", "--json").json["memories"] == 1
    assert not words_in(home, WORDS)
    again = run("ingest", note)
    assert "forgotten for good" in again.out + again.err


@pytest.mark.spec("graph_forget.everywhere")
def test_a_server_that_reads_meanwhile_hinders_nothing(run: Run, home: Path, projects: Path) -> None:
    secret(projects)
    run("ingest", projects)
    server = subprocess.Popen(
        [sys.executable, "-c", _READER, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    assert server.stdin is not None
    assert server.stdout.readline() == "open\n"
    try:
        assert run("forget", "--session", SECRET, "--yes").status == 0
        server.stdin.write("\n")
        server.stdin.flush()
        assert server.stdout.readline() == "0\n"
        assert not words_in(home, WORDS)
    finally:
        server.communicate("\n")


_READER = """
import sys
from pathlib import Path
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.memories import MemoryFilter
from graph_memory.domain.principal import LOCAL_ADMIN

store = SqliteStore(Path(sys.argv[1]) / "memory.db")
count = lambda: store.read(LOCAL_ADMIN, lambda tx: tx.memories.count(MemoryFilter()))
assert count() == 2
print("open", flush=True)
sys.stdin.readline()
print(count(), flush=True)
sys.stdin.readline()
store.close()
"""


@pytest.mark.spec("forget.interrupted")
def test_a_reader_that_stays_is_said_and_made_good_by_the_daemons_job(
    run: Run, home: Path, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret(projects)
    run("ingest", projects)
    reader = apsw.Connection(str(home / "memory.db"))
    reader.execute("begin")
    reader.execute("select count(*) from memories").fetchall()
    with open_services(load_config(os.environ)) as services:
        from graph_memory.domain.forgetting import Reach
        from ingest import forgetting

        monkeypatch.setattr(services.store._connections, "_deadline", 0.2)  # type: ignore[attr-defined]
        services.store._connections.close()  # type: ignore[attr-defined]
        services.store._connections._is_closed = False  # type: ignore[attr-defined]
        done = forgetting.forgetting(services).execute(LOCAL_ADMIN, Reach(source_session=SECRET))
    assert done.problems
    assert (home / "forgetting.mark").exists()
    reader.execute("rollback")
    reader.close()
    assert run("job", "run", "archive").status == 0
    assert not (home / "forgetting.mark").exists()
    assert not words_in(home, WORDS)


@pytest.mark.spec("graph_forget.everywhere")
def test_no_log_changelog_or_audit_ever_held_the_words(run: Run, home: Path, projects: Path) -> None:
    secret(projects)
    with running():
        wait_for(lambda: titles("zebras"))
        for job in ("decay", "validate", "communities", "archive", "export"):
            assert run("job", "run", job).status == 0
    logs = words_in(home / "logs", ("quokka", "xylophon"))
    assert not logs
    run("forget", "--session", SECRET, "--yes")
    assert not words_in(home / "logs", WORDS)
    lines = [orjson.loads(it) for it in (home / "logs" / "dream-audit.jsonl").read_bytes().splitlines()]
    (line,) = [it for it in lines if it["event"] == "forgotten"]
    assert json.dumps(line["data"]).count("source_session") == 1
