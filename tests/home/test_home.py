import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from graph_memory.domain.errors import ConfigError, StoreMismatch
from graph_memory.home import Home, StoreIdentity, use_private_umask, write_new
from graph_memory.mounts import Mount

SQLITE = StoreIdentity(kind="sqlite", database_id="d-1")
NEO4J = StoreIdentity(kind="neo4j", database_id="d-2")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "memory")


@pytest.fixture
def umask_restored() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_naming_a_home_touches_nothing(home: Home) -> None:
    assert home.database.name == "memory.db"
    assert home.changelog(date(2026, 3, 1)).name == "2026-03-01.md"
    assert not home.path.exists()


def test_all_folders_are_made_for_their_owner_alone(home: Home, umask_restored: None) -> None:
    os.umask(0)
    home.ensure()
    folders = [home.path, *(path for path in home.path.rglob("*") if path.is_dir())]
    assert {path.relative_to(home.path).as_posix() for path in folders} == {
        ".",
        "ingest",
        "ingest/pending",
        "ingest/processing",
        "ingest/completed",
        "ingest/failed",
        "logs",
        "backups",
        "archive",
    }
    assert {mode(path) for path in folders} == {0o700}


def test_making_them_again_changes_nothing(home: Home) -> None:
    home.ensure()
    (home.pending / "note.md").write_text("kept")
    home.ensure()
    assert (home.pending / "note.md").read_text() == "kept"


def test_an_open_home_is_closed_and_folders_inside_stay_as_their_owner_set_them(home: Home) -> None:
    home.pending.mkdir(parents=True)
    home.path.chmod(0o755)
    home.pending.chmod(0o775)
    home.ensure()
    assert mode(home.path) == 0o700
    assert mode(home.pending) == 0o775


def test_a_file_in_the_place_of_the_home_is_refused(home: Home) -> None:
    home.path.write_text("mine")
    with pytest.raises(ConfigError, match="no folder"):
        home.ensure()


def test_a_file_in_the_place_of_a_folder_is_refused_by_name(home: Home) -> None:
    home.path.mkdir()
    home.logs.write_text("mine")
    with pytest.raises(ConfigError, match=r"logs can't be made"):
        home.ensure()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_home_of_another_user_is_refused(home: Home) -> None:
    home.path.mkdir()
    os.chown(home.path, 12345, -1)
    with pytest.raises(ConfigError, match="another user"):
        home.ensure()


def test_what_a_process_creates_is_private_to_its_owner(home: Home, umask_restored: None) -> None:
    use_private_umask()
    home.ensure()
    home.database.touch()
    assert mode(home.database) == 0o600


def test_the_socket_lies_in_the_home(tmp_path: Path) -> None:
    assert Home(Path("/home/me/graph-memory")).socket == Path("/home/me/graph-memory/daemon.sock")


def test_a_home_too_deep_for_a_socket_has_a_private_one_elsewhere(tmp_path: Path) -> None:
    deep, other = Home(tmp_path / ("d" * 120)), Home(tmp_path / ("e" * 120))
    assert len(os.fsencode(deep.socket)) < 100
    assert deep.socket == Home(deep.path).socket != other.socket
    deep.ensure()
    assert mode(deep.socket.parent) == 0o700


def test_a_new_home_belongs_to_the_first_store_that_claims_it(home: Home) -> None:
    home.ensure()
    assert home.find_store() is None
    home.check_kind("neo4j")
    home.claim_store(SQLITE)
    home.claim_store(SQLITE)
    assert home.find_store() == SQLITE
    assert mode(home.store_file) == 0o600


def test_another_kind_of_store_is_refused_with_the_ways_out(home: Home) -> None:
    home.ensure()
    home.claim_store(SQLITE)
    with pytest.raises(StoreMismatch):
        home.claim_store(NEO4J)
    with pytest.raises(StoreMismatch) as caught:
        home.check_kind("neo4j")
    assert "GRAPH_MEMORY_STORE=sqlite" in str(caught.value)
    assert "`graph-memory export`" in str(caught.value)
    assert home.find_store() == SQLITE


def test_another_database_of_the_same_kind_is_refused(home: Home) -> None:
    home.ensure()
    home.claim_store(SQLITE)
    with pytest.raises(StoreMismatch, match=r"\(d-1\).*\(d-9\)"):
        home.claim_store(StoreIdentity("sqlite", "d-9"))


def test_whoever_moved_the_content_makes_the_home_follow(home: Home) -> None:
    home.ensure()
    home.claim_store(SQLITE)
    home.replace_store(NEO4J)
    home.claim_store(NEO4J)
    assert sorted(path.name for path in home.path.glob("*store*")) == ["store.json"]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"kind": "sqlite"}', "\udc80"], ids=repr)
def test_a_damaged_store_file_is_never_guessed_over(home: Home, content: str) -> None:
    home.ensure()
    home.store_file.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(StoreMismatch, match="doesn't say"):
        home.claim_store(SQLITE)
    assert home.store_file.read_bytes() == content.encode("utf-8", "surrogateescape")


def test_of_many_claims_at_once_one_wins_and_the_others_are_refused(home: Home) -> None:
    home.ensure()

    def claim(number: int) -> bool:
        try:
            home.claim_store(StoreIdentity("sqlite", f"d-{number}"))
        except StoreMismatch:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(claim, range(32)))
    assert won.count(True) == 1
    assert home.find_store() == StoreIdentity("sqlite", f"d-{won.index(True)}")
    assert [path.name for path in home.path.iterdir() if path.is_file()] == ["store.json"]


def test_a_new_file_is_whole_private_and_never_replaces_one(tmp_path: Path, umask_restored: None) -> None:
    os.umask(0)
    assert write_new(tmp_path / "new", b"first")
    assert not write_new(tmp_path / "new", b"second")
    assert (tmp_path / "new").read_bytes() == b"first"
    assert mode(tmp_path / "new") == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_a_home_on_a_network_file_system_is_refused_with_the_ways_out(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_memory.mounts.read_mounts", lambda: [Mount(home.path.parent, "nfs4")])
    with pytest.raises(ConfigError) as caught:
        home.refuse_network_filesystem()
    assert "nfs4" in str(caught.value)
    assert "GRAPH_MEMORY_HOME" in str(caught.value)


def test_a_home_on_this_machine_is_taken(home: Home) -> None:
    home.refuse_network_filesystem()
