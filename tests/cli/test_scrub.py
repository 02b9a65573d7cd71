"""`graph-memory scrub`: counted first, done when asked, and gone from every file under the home."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from daemon.learning import build_pipeline
from graph_memory.bootstrap import Services, open_services
from graph_memory.config import load_config
from graph_memory.domain.principal import LOCAL_ADMIN
from ingest.archived_file import About, open_archived, write_beside
from tests.cli.conftest import Run
from tests.daemon.daemons import pid_of_daemon, running, wait_for
from tests.domain.planted_secrets import SHAPED
from tests.services.test_scrub import plant

SECRETS = [SHAPED["AWS access key"], SHAPED["GitHub personal"]]


@contextmanager
def opened() -> Iterator[Services]:
    with open_services(load_config(os.environ)) as services:
        yield services


@pytest.fixture
def spoiled_home(home: Path) -> Path:
    """A home with secrets in its store and its archive, as older rules would have left them."""
    with opened() as services:
        services.store.write(LOCAL_ADMIN, plant)
        services.audit.drain(LOCAL_ADMIN)
    archived = home / "archive" / "s1.0123456789ab.jsonl.zst"
    lines = [f'{{"text": "key {SECRETS[0]}"}}\n'.encode(), b'{"text": "no secret"}\n']
    write_beside(archived, None, lambda: About("s1", 10, "print"), lines, modified_ns=1_000_000_000).replace(archived)
    return home


def files_with_secrets(home: Path) -> list[str]:
    """List the files that hold a secret, in any case, or in the archive's compressed lines."""
    found = []
    for path in (it for it in home.rglob("*") if it.is_file()):
        data = b"".join(open_archived(path)) if path.suffix == ".zst" else path.read_bytes()
        if any(it.lower().encode() in data.lower() for it in SECRETS):
            found.append(path.name)
    return sorted(found)


@pytest.mark.spec("scrub.counted-first")
def test_it_is_counted_first_and_nothing_changes(run: Run, spoiled_home: Path) -> None:
    before = files_with_secrets(spoiled_home)
    assert {"memory.db", "s1.0123456789ab.jsonl.zst"} <= set(before)
    done = run("scrub")
    assert done.status == 0
    assert "scrub --apply" in done.out
    assert "aws-access-key" in done.out
    counted = run("scrub", "--json").json
    assert (counted["applied"], counted["archive"]["files"]) == (False, 1)
    assert counted["rows"]["memories"] == 1
    assert files_with_secrets(spoiled_home) == before


@pytest.mark.spec("scrub.everywhere", "scrub.audited")
def test_done_no_file_under_the_home_holds_a_secret(run: Run, spoiled_home: Path) -> None:
    done = run("scrub", "--apply", "--json")
    assert done.status == 0
    assert done.json["archive"]["secrets"] == 1
    assert files_with_secrets(spoiled_home) == []
    assert run("scrub", "--json").json["secrets"] == 0
    with opened() as services:
        assert services.memory_search.get(LOCAL_ADMIN, 1).memory.content.startswith("The key is [redacted:")
    lines = b"".join(open_archived(spoiled_home / "archive" / "s1.0123456789ab.jsonl.zst"))
    assert lines == b'{"text": "key [redacted:aws-access-key]"}\n{"text": "no secret"}\n'
    assert "run_end" in (spoiled_home / "logs" / "dream-audit.jsonl").read_text()


def test_a_daemon_that_runs_is_no_hindrance(run: Run, spoiled_home: Path) -> None:
    with running() as daemon:
        wait_for(lambda: pid_of_daemon() == daemon.process.pid)
        done = run("scrub", "--apply")
        assert done.status == 0, done.err
        assert [it for it in files_with_secrets(spoiled_home) if not it.endswith(".jsonl")] == []
        daemon.ended(signal.SIGTERM)


def test_backups_of_before_are_named_and_replaced_when_asked(run: Run, spoiled_home: Path) -> None:
    run("export", "--label", "mine")
    run("export")
    assert any(it.endswith(".jsonl") for it in files_with_secrets(spoiled_home))
    assert "2 backups" in run("scrub", "--apply").err
    assert any(it.endswith(".jsonl") for it in files_with_secrets(spoiled_home))
    assert run("scrub", "--apply", "--renew-backups", "--json").json["backups_removed"] == 2
    assert files_with_secrets(spoiled_home) == []
    [backup] = (spoiled_home / "backups").glob("*.jsonl")
    assert run("import", backup, "--mode", "replace", "--yes").status == 0


def test_backups_are_not_renewed_on_a_dry_run(run: Run, spoiled_home: Path) -> None:
    assert spoiled_home.exists()
    assert run("scrub", "--renew-backups").status == 2


def test_what_was_learned_by_todays_rules_needs_none(run: Run, home: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text(f"# A key\n\nIt is {SECRETS[0]} and that is all.\n")
    with opened() as services:
        pipeline = build_pipeline(services)
        assert [it.items for _, it in pipeline.ingest_path(note)] == [1]
        pipeline.close()
    assert home.exists()
    assert "Nothing to take out" in run("scrub").out


def test_without_a_memory_there_is_nothing_to_scrub(run: Run) -> None:
    assert run("scrub").status == 1
