"""A daemon and servers that were started before the database was upgraded, or the home was put back from a backup."""

import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from daemon.exits import Exit
from graph_memory.adapters.sqlite.migrations import MIGRATIONS, Migration
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.home import Home
from tests.daemon.daemons import COMMAND, drop, running, titles, wait_for
from tests.server.wire import RawServer

NEWER = Migration(MIGRATIONS[-1].version + 1, "of a later program", lambda _: None)


def upgrade(home: Home) -> None:
    """Do to the database what a later program does when it opens it."""
    with closing(SqliteStore(home.database, migrations=(*MIGRATIONS, NEWER))) as store:
        assert store.migrated.before == MIGRATIONS[-1].version


@pytest.mark.spec("upgrade.side-by-side")
def test_a_daemon_of_before_the_upgrade_ends_so_that_it_is_started_anew(home: Home) -> None:
    with running() as daemon:
        drop(home, "first.md", "# The first\n\nLearned before.")
        wait_for(lambda: titles("first"))
        upgrade(home)
        drop(home, "second.md", "# The second\n\nComes after.")
        assert daemon.ended() not in {Exit.OK, Exit.CONFIG}  # a service manager starts it again
    assert "knows" in home.daemon_log.read_text()
    assert "restart" in home.daemon_log.read_text()
    assert (home.pending / "second.md").exists()


@pytest.mark.spec("upgrade.side-by-side")
def test_a_server_of_before_the_upgrade_answers_with_a_clear_word(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with RawServer(home.path) as server:
        server.initialize()
        server.call("memory_add", title="One", content="before", category="note")
        upgrade(home)
        for tool, arguments in (
            ("memory_add", {"title": "Two", "content": "after", "category": "note"}),
            ("memory_search", {"query": "before"}),
        ):
            result = server.ask("tools/call", name=tool, arguments=arguments)
            assert result["isError"]
            text = result["content"][0]["text"]
            assert f"version {NEWER.version} now" in text
            assert f"knows {MIGRATIONS[-1].version}" in text
            assert "restart" in text


@pytest.mark.spec("upgrade.refused-downgrade")
def test_commands_older_than_the_database_refuse_it_with_both_versions(home: Home) -> None:

    home.ensure()
    SqliteStore(home.database).close()
    upgrade(home)
    before = home.database.read_bytes()
    for words in (["status", "--once"], ["search", "x"], ["run"], ["export"]):
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == Exit.CONFIG, (words, done)
        assert f"of version {NEWER.version}, this program knows {MIGRATIONS[-1].version}" in done.stderr
    assert home.database.read_bytes() == before
