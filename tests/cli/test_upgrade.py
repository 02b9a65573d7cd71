"""A home of the first version, opened by this one's commands."""

from contextlib import closing
from pathlib import Path

import pytest

from graph_memory.adapters.sqlite.migrations import MIGRATIONS
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from tests.cli.conftest import Run
from tests.contract.samples import memory

NOW = MIGRATIONS[-1].version


@pytest.fixture
def first_home(home: Path) -> Path:
    """A home whose database was made by the first version, with a note."""
    Home(home).ensure()
    with closing(SqliteStore(home / "memory.db", migrations=MIGRATIONS[:1])) as store:
        store.write(LOCAL_ADMIN, lambda tx: tx.memories.add([memory("Postgres it is", content="for transactions")]))
        assert store.identity().schema_version == 1
    return home


@pytest.mark.spec("upgrade.copy")
def test_the_first_command_upgrades_a_home_of_the_first_version_with_a_copy_beside(run: Run, first_home: Path) -> None:
    done = run("search", "postgres", "--json")
    assert done.status == 0, done.err
    assert done.json["count"] == 1
    (copy,) = first_home.glob("memory.db.*.backup")
    assert copy.name.startswith("memory.db.v1-")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert f"from version 1 to {NOW}" in done.err
    assert copy.name in done.err
    again = run("search", "postgres", "--json")
    assert again.err == ""
    assert len(list(first_home.glob("memory.db.*.backup"))) == 1


def test_the_copy_goes_back_into_its_place_and_is_upgraded_again(run: Run, first_home: Path) -> None:
    run("search", "postgres")
    (copy,) = first_home.glob("memory.db.*.backup")
    for part in ("-wal", "-shm"):
        (first_home / f"memory.db{part}").unlink(missing_ok=True)
    copy.replace(first_home / "memory.db")
    with closing(SqliteStore(first_home / "memory.db", migrations=MIGRATIONS[:1])) as store:
        assert store.identity().schema_version == 1
    assert run("search", "postgres", "--json").json["count"] == 1
