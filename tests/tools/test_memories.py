"""Notes through the tools: their fields, their names, their links, and how soon their words are found."""

from collections.abc import Callable
from typing import Any

import pytest

from graph_memory.domain.entities import Alias
from graph_memory.domain.statements import Batch, EntityStatement
from graph_memory.services.statements import apply_batch
from tests.tools.conftest import Client, Clock, ToolFailure

FIELDS = set(
    (
        "id layer title slug content project_id category lifecycle status confidence boost summary session_id source "
        "created_at updated_at accessed_at access_count importance_score expires_at"
    ).split()
)


def add(client: Client, title: str, content: str = "text", **more: object) -> dict[str, Any]:
    return client.call("memory_add", **{"category": "note", "title": title, "content": content, **more})


def found(client: Client, query: str, **more: object) -> list[str]:
    return [it["title"] for it in client.call("memory_search", query=query, **more)["memories"]]


@pytest.mark.spec("storage.memory.fields")
def test_a_note_has_all_its_fields(client: Client) -> None:
    given = {
        "layer": "semantic",
        "project_id": "loom",
        "summary": "short",
        "lifecycle": "permanent",
        "confidence": 0.5,
        "importance_score": 2.0,
        "session_id": "s-1",
        "source": "derived",
        "expires_at": "2027-01-01T00:00:00Z",
        "category": "decision",
    }
    note = client.call("memory_get", id=add(client, "Wool", "warm", **given, tags=["b", "a"])["id"])
    assert set(note) >= FIELDS
    assert {name: note[name] for name in given} == given
    assert (note["title"], note["slug"], note["content"]) == ("Wool", "wool", "warm")
    assert (note["status"], note["boost"], note["created_at"]) == ("active", 0, "2026-01-01T12:00:00Z")


@pytest.mark.spec("storage.memory.integer-id")
def test_ids_rise_and_are_never_used_again(client: Client) -> None:
    first, second = add(client, "One")["id"], add(client, "Two")["id"]
    assert (type(first), second) == (int, first + 1)
    client.services.store.write(client.caller, lambda tx: tx.memories.delete({second}))
    assert add(client, "Three")["id"] == second + 1


@pytest.mark.spec("storage.memory.category-free")
@pytest.mark.parametrize("category", ["decision", "open_question", "Käsekuchen", "a b/c", "日本", "x" * 200])
def test_a_category_is_any_text(client: Client, category: str) -> None:
    add(client, "T", category=category)
    [note] = client.call("memory_recent", category=category)["memories"]
    assert note["category"] == category
    assert client.call("memory_overview")["by_category"] == {category: 1}


@pytest.mark.spec("storage.memory.layer-values", "storage.memory.lifecycle-values", "storage.memory.source-values")
@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("layer", ["working", "episodic", "procedural", "semantic", "partner"]),
        ("lifecycle", ["permanent", "milestone", "ephemeral"]),
        ("source", ["session", "import", "manual", "derived"]),
    ],
)
def test_each_value_of_a_list_is_taken_and_no_other(client: Client, argument: str, values: list[str]) -> None:
    for value in values:
        assert client.call("memory_get", id=add(client, value, **{argument: value})["id"])[argument] == value
    for wrong in ("", "Episodic", "other"):
        text = client.refusal("memory_add", category="note", title="T", content="c", **{argument: wrong})
        assert all(it in text for it in values)


@pytest.mark.spec("storage.memory.status-values")
def test_a_status_is_one_of_four(client: Client) -> None:
    add(client, "T", "words")
    for status in ("active", "superseded", "archived", "invalid"):
        assert found(client, "words", status=status) == (["T"] if status == "active" else [])
    text = client.refusal("memory_search", query="words", status="dead")
    assert all(it in text for it in ("active", "superseded", "archived", "invalid"))


# Originals: "memory_add titles 日本語のメモ then Заметка; C, C++, C#; 'Postgres choice' / 'postgres Choice'".
@pytest.mark.spec("storage.memory.title-unique", "tools.errors.mendable")
@pytest.mark.parametrize("again", ["Postgres choice", "postgres Choice", " Postgres  choice"])
def test_a_title_is_unique_in_its_project(client: Client, again: str) -> None:
    first = add(client, "Postgres choice")
    text = client.refusal("memory_add", category="note", title=again, content="other")
    assert text.startswith("title: ")
    assert str(first["id"]) in text
    assert add(client, again, project_id="elsewhere")["id"] != first["id"]


# Situation 12.
@pytest.mark.spec("storage.memory.title-unique")
def test_a_note_sent_three_times_is_stored_once_and_the_others_learn_its_id(client: Client) -> None:
    first = add(client, "Retry", "the same words")
    for _ in range(2):
        with pytest.raises(ToolFailure, match=f"memory {first['id']} .*already known"):
            add(client, "Retry", "the same words")
    assert client.counts()["memories"] == 1


@pytest.mark.spec(
    "storage.memory.slug-unique",
    "storage.memory.slug-unicode",
    "storage.memory.slug-fallback",
    "storage.memory.slug-suffix-from-hash",
)
def test_slugs_are_of_any_script_and_unique_by_a_suffix_from_the_title(new_client: Callable[..., Client]) -> None:
    titles = ["日本語 2", "Заметка про работу", "C", "C++", "C#", "!!!", "???", "Café au lait"]
    client = new_client()
    slugs = {title: add(client, title)["slug"] for title in titles}
    assert slugs["日本語 2"] == "日本語-2"
    assert slugs["Заметка про работу"] == "заметка-про-работу"
    assert (slugs["C"], slugs["Café au lait"]) == ("c", "café-au-lait")
    assert all(slugs[it].startswith("c-") for it in ("C++", "C#"))
    assert all(slugs[it].startswith("memory-") for it in ("!!!", "???"))
    assert len(set(slugs.values())) == len(titles)
    # The same in another project, in whatever order the rest came.
    again = {it: add(client, it, project_id="p")["slug"] for it in ["C", "!!!", "Other", "C#", "???", "C++"]}
    assert {it: slugs[it] for it in again if it != "Other"} == {it: again[it] for it in again if it != "Other"}


@pytest.mark.spec("storage.fts.in-step")
def test_a_note_is_found_by_its_words_at_once(client: Client) -> None:
    add(client, "Shoes", "She runs every morning", tags=["Fitness"])
    for query in ("runs", "MORNING", "shoes", "fitness", "every morning she"):
        assert found(client, query) == ["Shoes"], query
    assert found(client, "walks") == []


@pytest.mark.spec("storage.fts.stemming")
@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
@pytest.mark.parametrize("query", ["run", "running", "mornings", "shoe", "databases", "database"])
def test_words_are_compared_by_their_stems(client: Client, query: str) -> None:
    add(client, "Shoes", "She runs every morning past the database")
    assert found(client, query) == ["Shoes"]


@pytest.mark.spec("storage.fts.in-step")
def test_a_deleted_note_is_found_no_more(client: Client) -> None:
    note = add(client, "Shoes", "She runs every morning")
    client.services.store.write(client.caller, lambda tx: tx.memories.delete({note["id"]}))
    assert found(client, "morning") == found(client, "shoes") == []


# Situation 24, originals "`memory_search` of …".
@pytest.mark.parametrize(
    "token", ["POL-358", "don't", "--error", "v2.1.39", "multi-agent", "node.js", "C:\\repo\\src", "a@b.org"]
)
def test_the_note_with_that_very_token_comes_first(client: Client, token: str) -> None:
    parts = token.replace("-", " ").replace(".", " ").replace("\\", " ").replace("'", " ").replace("@", " ")
    add(client, "Scattered", f"{' and '.join(reversed(parts.split()))} in other places")
    add(client, "Exact", f"We decided on {token} in the end.")
    assert found(client, token)[0] == "Exact"


@pytest.mark.parametrize("query", ["(", '"', "*", "foo:bar", "AND", "NOT done", "", "sqlite AND", "\0", "x " * 5_000])
def test_any_text_can_be_searched_for(client: Client, query: str) -> None:
    add(client, "Something", "plain words")
    assert client.call("memory_search", query=query)["count"] == 0


@pytest.mark.spec("storage.project.global")
def test_a_projects_notes_come_with_the_global_ones(client: Client) -> None:
    for project in ("_global", "loom", "wool"):
        add(client, f"Of {project}", "common words", project_id=project)
    assert sorted(found(client, "common", project_id="loom")) == ["Of _global", "Of loom"]
    assert len(client.call("memory_recent", project_id="loom")["memories"]) == 2
    assert found(client, "common", project_id="nowhere") == ["Of _global"]
    assert len(found(client, "common")) == 3


def synapses(client: Client, memory: int) -> list[dict[str, Any]]:
    return list(client.call("memory_get", id=memory, include_synapses=True)["synapses"])


@pytest.mark.spec(
    "storage.synapse.types",
    "storage.synapse.access-count",
    "storage.synapse.no-duplicate",
    "storage.mention.own-rows",
    "memory_add.order",
)
def test_one_call_stores_a_note_with_its_tags_its_links_and_its_mentions(client: Client) -> None:
    client.relate("Postgres", "USES", "WAL")
    first = add(client, "Choice of a store", "We compared databases for throughput and latency at length.")
    text = (
        "[[Choice of a store]] again: databases, throughput, latency, [[Postgres]], [[Nowhere]], [[Choice of a store]]"
    )
    second = add(client, "Store of choice", text, tags=["db", "#db", "DB"])
    assert (second["wikilinks_resolved"], second["broken_wikilinks"], second["mentions"]) == (
        1,
        ["Nowhere"],
        ["postgres"],
    )
    links = synapses(client, second["id"])
    kinds = {(it["connection_type"], it["direction"], it["other_id"]) for it in links}
    assert ("wikilink", "out", first["id"]) in kinds
    assert len(links) == len(kinds) == 1 + second["auto_links_created"]
    assert {it["connection_type"] for it in links} <= {"wikilink", "bm25_auto"}
    assert client.call("memory_get", id=second["id"])["tags"] == ["db"]
    # Mentions are no synapses.
    assert client.call("memory_overview")["total_synapses"] == len(links)


@pytest.mark.spec("storage.mention.own-rows")
@pytest.mark.parametrize("is_note_first", [False, True])
def test_a_note_supports_the_entity_its_link_names_whichever_came_first(
    client: Client, clock: Clock, *, is_note_first: bool
) -> None:
    def state() -> None:
        client.relate("Postgres", "USES", "WAL")

    def write() -> None:
        add(client, "Choice of a store", "[[Postgres]] it is, said twice: [[postgres]]; and [[Nothing known]].")

    first, second = (write, state) if is_note_first else (state, write)
    first()
    clock.advance(days=10)
    second()
    node = client.node("Postgres")
    assert node["properties"]["mention_count"] == 2
    assert node["last_seen"] == "2026-01-11T12:00:00Z"
    decay = 1.0 if is_note_first else 0.999**10
    assert node["confidence"] == pytest.approx(0.7 * decay + 0.05)
    found = client.call("memory_search", query="twice")["memories"]
    assert [it["title"] for it in found] == ["Choice of a store"]
    again = client.call("graph_relate", from_name="Postgres", relation="USES", to_name="WAL", source_type="mention")
    assert again["action"] == "strengthened"
    assert client.node("Postgres")["properties"]["mention_count"] == 3


def test_the_links_to_an_entity_that_is_deleted_wait_for_its_name(client: Client) -> None:
    client.relate("Postgres", "USES", "WAL")
    note = add(client, "Choice of a store", "[[postgres]] it is.")
    assert note["mentions"] == ["postgres"]
    client.call("graph_delete", entity_id="postgres", reason="wrong")
    client.relate("Postgres", "NEEDS", "Disk")
    assert client.node("Postgres")["properties"]["mention_count"] == 2


def test_only_links_that_lead_nowhere_now_wait_when_an_entity_is_deleted(client: Client) -> None:
    client.relate("Lamp", "LIGHTS", "Harbour")
    services = client.services
    services.store.write(client.caller, lambda tx: tx.entities.put_aliases([Alias("lamp", "Beacon")]))
    by_alias = add(client, "Rounds", "The [[Beacon]] was lit.")
    add(client, "Harbour", "A note of that name.")
    linked = add(client, "Visits", "[[Harbour]] and [[Lamp]].")
    assert (by_alias["mentions"], linked["mentions"]) == (["lamp"], ["lamp"])
    for entity in ("lamp", "harbour"):
        client.call("graph_delete", entity_id=entity, reason="wrong")
    waiting = services.store.read(client.caller, lambda tx: tx.memories.open_links([by_alias["id"], linked["id"]]))
    assert [(it.memory_id, it.target) for it in waiting] == [(by_alias["id"], "Beacon"), (linked["id"], "Lamp")]


def test_what_a_batch_came_to_has_the_mentions_that_waited_for_it(client: Client, clock: Clock) -> None:
    add(client, "Choice of a store", "[[Postgres]] it is.")
    batch, policy = Batch((EntityStatement("Postgres", "Technology"),)), client.services.graph_policy
    outcome = client.services.store.write(client.caller, lambda tx: apply_batch(tx, batch, clock(), policy))
    assert [it.mention_count for it in outcome.entities.values()] == [2]
    assert [it.entity.mention_count for it in outcome.stated_entities] == [2]


def test_a_number_beyond_all_bounds_is_brought_into_them(client: Client) -> None:
    reply = client.call("graph_entities", limit=10**400)
    assert "a number of that size" in reply["warnings"][0]


@pytest.mark.spec("storage.synapse.weight-range", "storage.synapse.no-duplicate")
def test_a_link_written_again_and_again_weighs_no_more_than_five(client: Client) -> None:
    target = add(client, "Hub")
    source = add(client, "Spoke", "[[Hub]] " * 40)
    [link] = [it for it in synapses(client, source["id"]) if it["connection_type"] == "wikilink"]
    assert (link["other_id"], link["weight"]) == (target["id"], 5.0)
    for number in range(5):
        add(client, f"Spoke {number}", f"[[Hub]] {number}")
    assert all(0 <= it["weight"] <= 5 for it in synapses(client, target["id"]))


@pytest.mark.spec("storage.synapse.access-count")
def test_notes_and_links_each_count_their_accesses(client: Client, clock: Clock) -> None:
    target = add(client, "Hub", "alpha")
    source = add(client, "Spoke", "[[Hub]] beta")
    for _ in range(3):
        client.call("memory_get", id=source["id"])
    clock.advance(days=1)
    note = client.call("memory_get", id=source["id"], include_synapses=True)
    assert (note["access_count"], note["accessed_at"]) == (4, "2026-01-02T12:00:00Z")
    assert client.call("memory_get", id=target["id"])["access_count"] == 1
    [link] = [it for it in synapses(client, target["id"]) if it["connection_type"] == "wikilink"]
    assert link["access_count"] >= 4


@pytest.mark.spec("storage.atomic.failure", "memory_add.order")
@pytest.mark.parametrize("step", ["add_mentions", "put_open_links", "add_audit", "put"])
def test_a_note_that_fails_at_any_step_leaves_no_row_of_any_kind(
    client: Client, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    from graph_memory.services.backup import every_row

    client.relate("Postgres", "USES", "WAL")
    add(client, "Hub")
    before = client.services.store.read(client.caller, lambda tx: list(every_row(tx)))
    write = client.services.store.write

    def failing(principal: Any, work: Callable[[Any], Any]) -> Any:  # noqa: ANN401
        def broken(tx: Any) -> Any:  # noqa: ANN401
            parts = {"put": tx.synapses, "add_audit": tx.upkeep}
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(type(parts.get(step, tx.memories)), step, lambda *_: 1 / 0)
                return work(tx)

        return write(principal, broken)

    monkeypatch.setattr(client.services.store, "write", failing)
    with pytest.raises(ToolFailure, match="failed unexpectedly"):
        add(client, "Spoke", "[[Hub]] [[Postgres]] [[Nowhere]]", tags=["t"])
    monkeypatch.undo()
    assert client.services.store.read(client.caller, lambda tx: list(every_row(tx))) == before
    assert add(client, "Spoke", "[[Hub]] [[Postgres]] [[Nowhere]]", tags=["t"])["wikilinks_resolved"] == 1
