"""`graph_forget` and `memory_forget` as clients call them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graph_memory.adapters.sqlite.store import SqliteStore
from tests.traces import words_in

if TYPE_CHECKING:
    from tests.tools.conftest import Client


def noted(client: Client, title: str, content: str = "Text.", **more: object) -> int:
    return int(client.call("memory_add", category="note", title=title, content=content, **more)["id"])


def stored(client: Client) -> int:
    return int(client.call("memory_overview")["total"])


@pytest.mark.spec("graph_forget.preview-first", "graph_forget.sources")
def test_a_preview_is_the_default_and_shows_what_goes(client: Client) -> None:
    noted(client, "Quokka plan", "See [[Other]].", session_id="s-1")
    noted(client, "Other")
    preview = client.call("graph_forget", source_session="s-1")
    assert (preview["mode"], preview["found"], preview["memories"]) == ("preview", True, 1)
    assert preview["examples"] == ["Quokka plan"]
    assert stored(client) == 2
    done = client.call("graph_forget", source_session="s-1", mode="execute", reason="a quokka")
    assert (done["found"], done["memories"], done["complete"]) == (True, 1, True)
    assert "examples" not in done
    assert stored(client) == 1
    assert not words_in(client.services.home.path, ["quokka"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "exactly one"),
        ({"project": "p", "memory_id": 1}, "exactly one"),
        ({"after": "2026-01-01"}, "before: "),
        ({"before": "2026-01-01"}, "after: "),
        ({"after": "2026-01-02", "before": "2026-01-01"}, "before: "),
        ({"after": "soon", "before": "2026-01-01"}, "after: "),
        ({"entity_id": " "}, "entity_id: "),
        ({"source_session": "s", "mode": "at once"}, "mode: "),
    ],
)
def test_what_is_no_reach_is_refused_by_its_argument(client: Client, arguments: dict[str, Any], says: str) -> None:
    assert says in client.refusal("graph_forget", **arguments)


def test_a_naive_instant_is_taken_as_utc_with_a_warning(client: Client) -> None:
    reply = client.call("graph_forget", after="2020-01-01T00:00:00", before="2020-01-02T00:00:00")
    assert any("UTC" in it for it in reply["warnings"])


@pytest.mark.spec("access.admin-only.forget")
def test_graph_forget_is_the_admins_alone(client: Client) -> None:
    noted(client, "Kept")
    guest = client.as_tenant("guest")
    assert "admin" in guest.refusal("graph_forget", project="_global", mode="execute")
    assert stored(client) == 1


@pytest.mark.spec("memory_forget.short-form")
def test_a_note_is_forgotten_at_once_and_for_its_own_tenant(client: Client) -> None:
    mine = noted(client, "Mine")
    guest = client.as_tenant("guest")
    theirs = noted(guest, "Theirs")
    assert mine == theirs
    assert guest.call("memory_forget", id=theirs, reason="asked")["memories"] == 1
    assert (stored(client), stored(guest)) == (1, 0)
    assert client.call("memory_forget", id=mine)["complete"] is True
    again = client.call("memory_forget", id=mine)
    assert (again["found"], again["memories"]) == (False, 0)
    assert "memory_search" in again["warnings"][0]


@pytest.mark.spec("graph_forget.recomputes")
def test_a_fact_that_two_sessions_stated_is_the_one_that_is_left(client: Client) -> None:
    client.relate("Ada", "USES", "Loom", weight=0.9, source_session="s-1", evidence="a quokka")
    client.clock.advance(days=1)
    client.relate("Ada", "USES", "Loom", weight=0.4, source_session="s-2", evidence="plain")
    preview = client.call("graph_forget", source_session="s-1")
    assert (preview["relations"], preview["recomputed"]) == (0, 3)
    client.call("graph_forget", source_session="s-1", mode="execute")
    assert client.edge("Ada", "USES", "Loom")["weight"] == 0.4
    assert [it.text for it in client.contributions("Ada", "USES", "Loom")] == ["plain"]


def test_notes_that_name_a_forgotten_entity_are_counted(client: Client) -> None:
    client.relate("Ada", "USES", "Loom")
    noted(client, "A note", "About [[Ada]].")
    reply = client.call("graph_forget", entity_id="ada", mode="execute")
    assert (reply["entities"], reply["relations"]) == (1, 1)
    assert "1" in reply["warnings"][0]
    assert client.around("Ada")["nodes"] == []


@pytest.mark.spec("graph_forget.everywhere")
def test_backups_are_rewritten_and_still_backups(client: Client) -> None:
    noted(client, "Quokka", session_id="s-1")
    noted(client, "Plain")
    file = client.call("graph_export", label="before")["backup_file"]
    assert client.call("graph_forget", source_session="s-1", mode="execute")["backups"] == 1
    assert not words_in(Path(file).parent, ["quokka"])
    imported = client.call("graph_import", file=file, mode="replace", dry_run=False)
    assert imported["forgotten"] == 0
    assert imported["added"]["memory"] == 1
    assert stored(client) == 1


def test_the_embedded_store_stays_sound(client: Client) -> None:
    for number in range(30):
        noted(client, f"Note {number}", "quokka " * (number + 1), session_id=f"s-{number % 3}")
    client.call("graph_forget", source_session="s-1", mode="execute")
    store = client.services.store
    if isinstance(store, SqliteStore):
        assert not store.integrity_problems()
    assert stored(client) == 20
    assert client.call("memory_search", query="quokka")["count"] == 20
