"""`graph-memory restore`: the drill, and everything that may be in its way."""

import hashlib
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from daemon.exits import Exit
from daemon.jobs import run_job
from daemon.learning import build_pipeline
from graph_memory.bootstrap import Services, open_services
from graph_memory.config import load_config
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.ledger import Tombstone
from graph_memory.domain.memories import MemoryFilter
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.statements import Batch, EntityStatement, RelationStatement
from tests.cli.conftest import Run
from tests.cli.ptys import on_terminal
from tests.daemon.daemons import running
from tests.ingest.transcript_files import Transcript
from tests.server.wire import RawServer

SESSION = "11111111-0000-4000-8000-000000000001"
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {"query": "postgres", "limit": 50}),
    ("memory_search", {"query": "sailing boats"}),
    ("memory_recent", {"limit": 50}),
    ("memory_overview", {}),
    ("graph_entities", {"limit": 100}),
    ("graph_query", {"entities": ["Ada"], "max_hops": 3, "min_weight": 0.0, "current_only": False}),
    ("graph_validate", {}),
    ("graph_communities", {}),
    ("graph_ingest", {"action": "status"}),
    ("graph_read_transcript", {"session_id": SESSION}),
)


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "projects"
    monkeypatch.setenv("CLAUDE_PROJECTS_DIR", str(folder))
    return folder


@pytest.fixture
def transcript(projects: Path) -> Transcript:
    talk = Transcript(projects / "-nowhere-app" / f"{SESSION}.jsonl")
    for number in range(25):
        talk.say(f"what about point {number} of the plan, with [[Postgres it is]]? #plan")
        talk.answer(f"Point {number} is done in `app/part_{number}.py`; see https://example.org/{number}")
    return talk


def learn(services: Services) -> int:
    """Learn all there is; return how much of it was new."""
    pipeline = build_pipeline(services)
    try:
        return sum(pipeline.run(work).items for _ in range(2) for work in pipeline.scan().works)
    finally:
        pipeline.close()


def full_home(home: Path) -> None:
    """Fill a home with everything that a home can have, and decay it."""
    with open_services(load_config(os.environ)) as services:
        services.settings.ingest.projects_dirs[0].mkdir(parents=True, exist_ok=True)
        add = services.memory_write.add
        add(
            LOCAL_ADMIN,
            MemoryDraft(
                title="Postgres it is", content="We chose Postgres. See [[Later]].", category="decision", tags=["db"]
            ),
        )
        add(LOCAL_ADMIN, MemoryDraft(title="Sailing", content="Boats on the lake", category="note", project_id="hobby"))
        people = (
            EntityStatement("Ada", "Person"),
            EntityStatement("Acme", "Organisation"),
            EntityStatement("Initech", "Organisation"),
        )
        first = (RelationStatement("Ada", "WORKS_AT", "Acme"), RelationStatement("Ada", "USES_TECH", "Acme"))
        services.relate.relate(LOCAL_ADMIN, Batch(tuple(people), first))
        services.relate.relate(LOCAL_ADMIN, Batch((), (RelationStatement("Ada", "WORKS_AT", "Initech"),)))
        for text in ("# Notes\n\nThe first text about Postgres.", "# Notes\n\nThe second text, with [[Sailing]]."):
            notes = home.with_name("notes.md")
            notes.write_text(text)
            pipeline = build_pipeline(services)
            assert [done.items for _, done in pipeline.ingest_path(notes)] == [1]
            pipeline.close()
        learn(services)
        tombstones = [Tombstone("f" * 32, "asked", datetime(2026, 1, 1, tzinfo=UTC))]
        services.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_tombstones(tombstones))
        run_job(services, "decay")
        run_job(services, "memory_decay")


def answers(home: Path, projects: Path) -> list[Any]:
    """Ask a server of the home everything."""
    with RawServer(home, environ={"CLAUDE_PROJECTS_DIR": str(projects)}) as server:
        server.initialize()
        found = [server.call(tool, **arguments) for tool, arguments in QUESTIONS]
        ids = [it["id"] for it in server.call("memory_recent", limit=100)["memories"]]
        found += [server.call("memory_get", id=it, include_synapses=True) for it in ids]
    return [without_counters(it) for it in found]


def without_counters(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Leave out what asking itself changes."""
    if isinstance(value, dict):
        return {name: without_counters(it) for name, it in value.items() if "access" not in name}
    return [without_counters(it) for it in value] if isinstance(value, list) else value


def body(file: Path | str) -> bytes:
    """Return all lines of a backup but the header, which has the instant."""
    return Path(file).read_bytes().partition(b"\n")[2]


def exported(run: Run) -> str:
    done = run("export", "--json")
    assert done.status == 0, done.err
    file: str = done.json["file"]
    return file


@pytest.mark.spec("restore.drill")
def test_a_deleted_home_restored_from_its_last_export_answers_as_before(
    run: Run, home: Path, projects: Path, transcript: Transcript, tmp_path: Path
) -> None:
    full_home(home)
    asked = answers(home, projects)
    last = exported(run)
    copied = tmp_path / "elsewhere"
    copied.mkdir()
    shutil.copy(last, copied)
    shutil.rmtree(home)
    done = run("restore", copied / Path(last).name)
    assert done.status == 0, done.err
    assert "memory" in done.out
    before, after = body(copied / Path(last).name), body(exported(run))
    assert before == after
    kinds = {orjson.loads(it).get("kind") for it in before.splitlines()}
    assert {
        "memory", "memory_version", "entity", "entity_evidence", "relation", "relation_evidence", "synapse", "mention",
        "open_link", "ingest_item", "learned", "transcript_cursor", "tombstone",
    } <= kinds  # fmt: skip
    assert answers(home, projects) == asked


@pytest.mark.spec("restore.nothing-twice")
def test_what_a_restored_home_had_read_is_not_learned_again(
    run: Run, home: Path, projects: Path, transcript: Transcript, tmp_path: Path
) -> None:
    full_home(home)
    last = shutil.copy(exported(run), tmp_path / "backup.jsonl")
    shutil.rmtree(home)
    assert run("restore", last).status == 0
    with open_services(load_config(os.environ)) as services:
        assert learn(services) == 0
    assert body(exported(run)) == body(last)
    transcript.say("one thing more")
    transcript.answer("and its answer")
    with open_services(load_config(os.environ)) as services:
        assert learn(services) == 1
        assert learn(services) == 0


@pytest.mark.spec("restore.latest")
def test_latest_is_the_last_backup_of_a_copied_backups_folder(run: Run, used_home: Path) -> None:
    first = exported(run)
    add_note("The second")
    second = exported(run)
    kept = used_home.with_name("kept")
    shutil.move(used_home / "backups", kept)
    shutil.rmtree(used_home)
    shutil.copytree(kept, used_home / "backups")
    done = run("restore", "latest", "--json")
    assert done.status == 0, done.err
    assert done.json["file"] == second
    assert first != second
    assert titles() == {"Postgres it is", "The second"}
    assert (used_home / "backups").stat().st_mode & 0o777 == 0o700 or (used_home.stat().st_mode & 0o077) == 0


@pytest.mark.spec("restore.backup-before")
def test_what_is_there_goes_into_a_backup_first_and_can_be_put_back(run: Run, used_home: Path) -> None:
    exported(run)
    add_note("Written since")
    done = run("restore", "latest", "--yes", "--json")
    assert done.status == 0, done.err
    assert titles() == {"Postgres it is"}
    before = Path(done.json["backup_before"])
    assert before.parent == used_home / "backups"
    assert "before-restore" in before.name
    assert run("restore", "latest", "--yes").status == 0
    assert titles() == {"Postgres it is"}
    assert run("restore", before.name, "--yes").status == 0
    assert titles() == {"Postgres it is", "Written since"}


def test_the_backup_before_never_takes_the_place_of_the_one_that_is_restored(run: Run, used_home: Path) -> None:
    old = exported(run)
    add_note("More")
    exported(run)
    assert run("restore", Path(old).name, "--yes", GRAPH_MEMORY_EXPORT__KEEP="1").status == 0
    assert Path(old).exists()
    assert titles() == {"Postgres it is"}


def test_a_dry_run_tells_and_changes_nothing(run: Run, used_home: Path) -> None:
    exported(run)
    add_note("Written since")
    before = listing(used_home)
    done = run("restore", "latest", "--dry-run", "--json")
    assert done.status == 0
    assert done.json["dry_run"] is True
    assert (done.json["restored"]["memory"], done.json["removed"]["memory"]) == (1, 2)
    assert "1 memory" in run("restore", "latest", "--dry-run").out
    assert listing(used_home) == before
    assert titles() == {"Postgres it is", "Written since"}


def test_a_dry_run_makes_no_home(run: Run, used_home: Path, tmp_path: Path) -> None:
    file = exported(run)
    done = run("--home", tmp_path / "new", "restore", file, "--dry-run")
    assert done.status == 0
    assert "1 memory" in done.out
    assert not (tmp_path / "new").exists()


def test_without_a_terminal_nothing_goes_unasked(run: Run, used_home: Path) -> None:
    exported(run)
    for more in ((), ("--json",)):
        done = run("restore", "latest", *more)
        assert done.status == Exit.FAILED
        assert "--yes" in done.err
    assert len(list((used_home / "backups").iterdir())) == 1


@pytest.mark.parametrize(("answer", "status"), [("n\n", Exit.FAILED), ("y\n", Exit.OK)])
def test_on_a_terminal_it_asks(run: Run, used_home: Path, answer: str, status: int) -> None:
    exported(run)
    add_note("Written since")
    with on_terminal("restore", "latest") as terminal:
        terminal.wait_for("Do it?")
        terminal.press(answer)
        assert terminal.ended() == status
    assert ("Written since" in titles()) == (status != Exit.OK)


@pytest.mark.spec("restore.daemon")
def test_while_the_daemon_runs_nothing_is_restored(run: Run, used_home: Path, projects: Path) -> None:
    exported(run)
    add_note("Written since")
    with running():
        done = run("restore", "latest", "--yes")
        assert done.status == Exit.BUSY
        assert "stop it first" in done.err
    assert "Written since" in titles()
    assert run("restore", "latest", "--yes").status == 0


@pytest.mark.spec("restore.daemon")
def test_a_server_that_is_open_sees_the_restored_memory_at_once(run: Run, used_home: Path) -> None:
    exported(run)
    with RawServer(used_home) as server:
        server.initialize()
        server.call("memory_add", title="Written since", content="by a client", category="note")
        assert run("restore", "latest", "--yes").status == 0
        found = {it["title"] for it in server.call("memory_recent", limit=10)["memories"]}
        assert found == {"Postgres it is"}
        server.call("memory_add", title="And after", content="goes on", category="note")
    assert titles() == {"Postgres it is", "And after"}


@pytest.mark.spec("restore.tombstones")
def test_what_was_forgotten_since_stays_forgotten(run: Run, used_home: Path, tmp_path: Path) -> None:
    key = "a" * 32
    with open_services(load_config(os.environ)) as services:
        draft = MemoryDraft(title="Private", content="the diagnosis", category="note", content_key=key)
        services.memory_write.add(LOCAL_ADMIN, draft)
    last = shutil.copy(exported(run), tmp_path / "outside.jsonl")
    with open_services(load_config(os.environ)) as services:
        stones = [Tombstone(key, "asked", datetime.now(UTC))]
        services.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_tombstones(stones))
    done = run("restore", last, "--yes", "--json")
    assert done.status == 0, done.err
    assert done.json["forgotten"] == 1
    assert titles() == {"Postgres it is"}


@pytest.mark.spec("restore.damaged-database")
@pytest.mark.parametrize("damage", ["header", "page", "empty"])
def test_a_damaged_database_is_set_aside_and_what_it_forgot_stays_forgotten(
    run: Run, used_home: Path, damage: str
) -> None:
    with open_services(load_config(os.environ)) as services:
        for number in range(80):
            draft = MemoryDraft(
                title=f"Note {number}", content=f"text {number} " * 50, category="x", content_key=f"{number:032x}"
            )
            services.memory_write.add(LOCAL_ADMIN, draft)
    exported(run)
    database = used_home / "memory.db"
    with open_services(load_config(os.environ)) as services:
        stones = [Tombstone(f"{0:032x}", "asked", datetime.now(UTC))]
        services.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_tombstones(stones))
    whole = database.read_bytes()
    if damage == "header":
        database.write_bytes(os.urandom(4_096) + whole[4_096:])
    elif damage == "page":
        database.write_bytes(whole[: 4_096 * 20] + os.urandom(len(whole) - 4_096 * 20))
    else:
        database.write_bytes(b"\0" * 100)
    for part in ("-wal", "-shm"):
        database.with_name(database.name + part).unlink(missing_ok=True)
    assert run("restore", "latest").status == Exit.FAILED
    assert database.exists()
    done = run("restore", "latest", "--yes", "--json")
    assert done.status == 0, done.err
    aside = Path(done.json["set_aside"])
    assert aside.exists()
    assert aside.stat().st_mode & 0o077 == 0
    restored = done.json["restored"]["memory"]
    assert restored == 81 - done.json["forgotten"]
    if damage != "page":
        assert "could not be read" in done.err
    assert run("doctor", "--json").json
    assert "Postgres it is" in titles()


def test_a_damaged_backup_is_refused_and_the_one_before_it_is_named(run: Run, used_home: Path) -> None:
    first, second = exported(run), exported(run)
    whole = Path(second).read_bytes()
    Path(second).write_bytes(whole[:-10])
    done = run("restore", "latest", "--yes")
    assert done.status == Exit.USAGE
    assert "damaged" in done.err
    assert Path(first).name in done.err
    assert run("restore", Path(first).name, "--yes").status == 0


def test_what_is_no_backup_or_nowhere_is_refused(run: Run, used_home: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"hello": 1}\n')
    assert run("restore", "notes.jsonl", "--yes").status == Exit.USAGE
    assert run("restore", "missing.jsonl").status == Exit.FAILED
    assert run("restore", "latest").status == Exit.FAILED
    assert titles() == {"Postgres it is"}


def add_note(title: str) -> None:
    with open_services(load_config(os.environ)) as services:
        services.memory_write.add(LOCAL_ADMIN, MemoryDraft(title=title, content=f"{title}, as a note", category="note"))


def titles() -> set[str]:
    with open_services(load_config(os.environ)) as services:
        return {it.title for it in services.memory_search.recent(LOCAL_ADMIN, MemoryFilter(), limit=100).memories}


def listing(folder: Path) -> dict[str, str]:
    """Return every file with a hash of what it holds, but for what SQLite and locks do by themselves."""
    files = (it for it in folder.rglob("*") if it.is_file() and it.suffix not in {".lock", ".db-wal", ".db-shm"})
    return {str(it): hashlib.sha256(it.read_bytes()).hexdigest() for it in files if it.name != "memory.db"}
