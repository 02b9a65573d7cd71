"""What dropped documents become."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.entities import Provenance, SourceType
from graph_memory.domain.ledger import IngestState
from graph_memory.domain.memories import ConnectionType, Layer, Lifecycle, Source, Status
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.statements import Batch, EntityStatement
from graph_memory.services.statements import apply_batch
from ingest.identity import content_key

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ingest.learners import Learner
    from tests.ingest.places import Place


def know(learner: Learner, name: str, type_name: str = "Concept") -> None:
    """State an entity as a tool would."""
    batch = Batch((EntityStatement(name, type_name),), provenance=Provenance(SourceType.MANUAL))
    learner.store.write(LOCAL_ADMIN, lambda tx: apply_batch(tx, batch, learner.place.clock(), GraphPolicy()))


@pytest.mark.spec("inbox.dropped-by-hand", "document.memory.defaults", "document.project.global")
def test_a_dropped_note_is_a_memory(learner: Learner) -> None:
    (done,) = learner.drop("deep/Some note.md", "# Choices\n\nWe chose Postgres.\n")
    (memory,) = learner.memories()
    assert (memory.title, memory.content) == ("Choices", "# Choices\n\nWe chose Postgres.\n")
    assert (memory.layer, memory.category, memory.lifecycle, memory.source, memory.project_id) == (
        Layer.EPISODIC,
        "context",
        Lifecycle.MILESTONE,
        Source.IMPORT,
        "_global",
    )
    assert memory.source_file == "deep/Some note.md"
    assert done.items == 1
    (item,) = learner.items()
    assert (item.state, item.memory_ids, item.path) == (IngestState.COMPLETED, (memory.id,), "deep/Some note.md")
    assert learner.place.files(learner.place.home.completed) == ["deep/Some note.md"]


@pytest.mark.spec("document.bytes-untouched")
def test_the_file_keeps_its_bytes(learner: Learner) -> None:
    data = b"\xef\xbb\xbf---\r\ntitle: a: b\r\n---\r\n\r\nText\r\n"
    learner.drop("n.md", data)
    assert (learner.place.home.completed / "n.md").read_bytes() == data


@pytest.mark.spec("document.title.front-matter", "document.title.heading", "document.title.file-name")
@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From the front\n---\n# Heading\n", "From the front"),
        ("Text before\n\n# Heading\n\n## Other\n", "Heading"),
        ("## Heading\n\nText", "Heading"),
        ("No heading at all", "file name"),
    ],
)
def test_titles(learner: Learner, text: str, title: str) -> None:
    learner.drop("file name.md", text)
    assert learner.titles() == [title]


@pytest.mark.spec("document.title.taken")
def test_a_taken_title_gets_its_folder_or_a_hash(learner: Learner) -> None:
    learner.drop("n.md", "# Same\n\none")
    learner.drop("a/n.md", "# Same\n\ntwo")
    learner.drop("m.md", "# Same\n\nthree")
    learner.drop("b/a/n.md", "# Same\n\nfour")
    learner.drop("a/m.md", "# Same\n\nfive")
    titles = learner.titles()
    assert [titles[0], titles[1], titles[3]] == ["Same", "Same (a)", "Same (b/a)"]
    assert titles[2].startswith("Same (")
    assert titles[4].startswith("Same (")
    assert len(set(titles)) == 5


@pytest.mark.spec("document.project.sidecar", "document.project.front-matter")
def test_the_project_is_the_sidecars_then_the_front_matters(learner: Learner) -> None:
    text = "---\nproject: alpha\n---\nText"
    learner.place.drop("b.md.meta.json", '{"project_id": "beta"}')
    learner.place.drop("a.md", text)
    learner.drop("b.md", text + " b")
    assert {it.title: it.project_id for it in learner.memories()} == {"a": "alpha", "b": "beta"}
    assert ("Project", "alpha") in learner.entities()


@pytest.mark.spec("inbox.same-bytes-once", "inbox.idempotent-write")
def test_the_same_bytes_add_nothing_under_whatever_name(learner: Learner) -> None:
    text = "# Note\n\nsrc/app/main.py and https://sqlite.org/x and [[Other]]"
    learner.drop("n.md", text)
    learner.drop("Other.md", "other")
    once = learner.everything()
    for path in ("n.md", "copy.md", "deep/copy.md", "n.md"):
        (done,) = learner.drop(path, text)
        assert (done.is_known, done.items, done.failed) == (True, 0, 0)
    assert set(learner.states()) == {"n.md", "Other.md", "copy.md", "deep/copy.md"}
    documents = {path: it for path, it in learner.states().items() if it != "completed"}
    assert documents == {}
    assert learner.everything() == once


@pytest.mark.spec("document.changed-updates", "document.changed-keeps-history")
def test_a_path_with_other_bytes_changes_its_memory(learner: Learner) -> None:
    learner.drop("n.md", "# One\n\nold text [[A]]")
    (before,) = learner.memories()
    learner.drop("A.md", "a")
    learner.drop("B.md", "b")
    assert set(learner.links(ConnectionType.WIKILINK)) == {("One", "A")}
    learner.drop("n.md", "# Two\n\nnew text [[B]]")
    after = learner.memory("Two")
    assert (after.id, after.content) == (before.id, "# Two\n\nnew text [[B]]")
    assert set(learner.links(ConnectionType.WIKILINK)) == {("Two", "B")}
    versions = learner.store.read(LOCAL_ADMIN, lambda tx: tx.memories.versions({after.id}))
    assert [(it.title, it.content) for it in versions] == [("One", "# One\n\nold text [[A]]")]
    learner.drop("n.md", "# One\n\nold text [[A]]")
    assert learner.memory("One").id == before.id
    assert len(learner.memories()) == 3


def test_changing_one_of_two_equal_files_leaves_the_other_its_text(learner: Learner) -> None:
    learner.drop("a/n.md", "# Plan\n\nshared text")
    learner.drop("b/n.md", "# Plan\n\nshared text")
    (shared,) = learner.memories()
    learner.drop("a/n.md", "# Plan\n\nnew text")
    texts = {it.source_file: it.content for it in learner.memories()}
    assert texts == {"a/n.md": "# Plan\n\nnew text", "b/n.md": "# Plan\n\nshared text"}
    assert learner.memory("Plan").id == shared.id
    learner.drop("b/n.md", "# Plan\n\nnewer text")
    texts = {it.source_file: it.content for it in learner.memories()}
    assert texts == {"a/n.md": "# Plan\n\nnew text", "b/n.md": "# Plan\n\nnewer text"}


def test_a_path_whose_content_becomes_another_ones_leaves_no_old_text(learner: Learner) -> None:
    learner.drop("a.md", "first")
    learner.drop("b.md", "second")
    learner.drop("a.md", "second")
    assert [it.content for it in learner.memories()] == ["second"]
    learner.drop("a.md", "first")
    assert sorted(it.content for it in learner.memories()) == ["first", "second"]
    learner.drop("a.md", "third")
    assert sorted(it.content for it in learner.memories()) == ["second", "third"]


LONG = "# Long\n\nIntroduction.\n\n" + "\n\n".join(
    f"## Part {number}\n\n" + " ".join(f"word{number}x{it}" for it in range(150)) for number in range(12)
)


@pytest.mark.spec("document.chunks.up-to-6000")
@pytest.mark.parametrize(("size", "count"), [(6_000, 1), (6_001, 2)])
def test_up_to_6000_characters_are_one_memory(learner: Learner, size: int, count: int) -> None:
    learner.drop("n.txt", ("word " * 2_000)[: size - 1] + "x")
    assert (len(learner.memories()) == 1) is (count == 1)


@pytest.mark.spec(
    "document.chunks.longer", "document.chunks.nothing-lost", "document.chunks.parent_child", "document.chunks.sequence"
)
def test_a_long_document_is_a_parent_with_chunks(learner: Learner) -> None:
    learner.drop("long.md", LONG)
    parent, *chunks = learner.memories()
    assert parent.title == "Long"
    assert "".join(it.content for it in chunks) == LONG
    assert max(len(it.content) for it in chunks) < 3_500
    titles = [it.title for it in chunks]
    assert len(set(titles)) == len(titles) >= 6
    assert set(learner.links(ConnectionType.PARENT_CHILD)) == {("Long", it) for it in titles}
    pairs = set(pairwise(titles))
    assert set(learner.links(ConnectionType.SEQUENCE)) == pairs
    (item,) = learner.items()
    assert item.memory_ids == tuple(it.id for it in (parent, *chunks))


@pytest.mark.spec("document.chunks.changed", "document.changed-updates", "inbox.idempotent-write")
def test_a_changed_long_document_leaves_no_old_chunk(learner: Learner) -> None:
    learner.drop("long.md", LONG)
    parent = learner.memory("Long")
    for text in (
        LONG.replace("word3x", "changed3x"),
        LONG.split("## Part 5")[0],
        "# Long\n\nshort now",
        LONG,
        LONG.replace("## Part", "## Section"),
    ):
        learner.drop("long.md", text)
        found = learner.memories()
        assert found[0].id == parent.id
        texts = {it.id: it.content for it in found}
        (item,) = [it for it in learner.items() if it.content_key == content_key(text.encode())]
        assert set(item.memory_ids) == set(texts)
        assert "".join(texts[it] for it in item.memory_ids[1:] or item.memory_ids) == text
        children = {target for _, target in learner.links(ConnectionType.PARENT_CHILD)}
        assert len(children) == len(item.memory_ids) - 1
        once = learner.everything()
        learner.drop("long.md", text)
        assert learner.everything() == once


@pytest.mark.spec(
    "extraction.document-entity",
    "extraction.relation-mentions",
    "extraction.inferred-weight",
    "extraction.no-co-occurrence",
    "extraction.url",
    "extraction.path",
    "extraction.tag",
    "extraction.repository",
    "extraction.package",
)
def test_what_a_document_names_hangs_on_its_entity(learner: Learner) -> None:
    learner.drop(
        "deep/n.md",
        "---\ntags: [planning]\n---\nSee src/app/main.py, https://sqlite.org/fts5.html, #later,\n"
        "https://github.com/acme/tool and `pip install numpy`.",
    )
    document = learner.entity("document", "deep/n.md")
    assert document.properties["path"] == "deep/n.md"
    assert document.source_file == "deep/n.md"
    named = {"planning", "later", "src/app/main.py", "https://sqlite.org/fts5.html", "acme/tool", "numpy"}
    assert learner.mentioned_by("deep/n.md") == dict.fromkeys(named, pytest.approx(0.3))
    assert {it.source_id for it in learner.relations()} == {document.id}
    assert learner.mentions("n") == named
    (item,) = learner.items()
    assert (item.entity_count, item.relation_count) == (7, 6)


@pytest.mark.spec("extraction.known-entities", "extraction.longest-first")
def test_known_names_count_as_whole_words_and_the_longest_only(learner: Learner) -> None:
    for name in ("Project X", "Project X Beta", "Post", "Ada Lovelace"):
        know(learner, name)
    learner.drop("n.md", "In project x beta we use Postgres, said ADA  LOVELACE.")
    assert learner.mentions("n") == {"Project X Beta", "Ada Lovelace"}
    assert learner.entity("concept", "project x beta").confidence == pytest.approx(0.75)
    assert learner.entity("concept", "project x").confidence == pytest.approx(0.7)


@pytest.mark.spec("extraction.person-only-authors", "sidecar.author", "sidecar.topic_hints", "sidecar.applied")
def test_people_are_authors_alone(learner: Learner) -> None:
    learner.place.drop("n.md.meta.json", json.dumps({"author": "Ada Lovelace", "topic_hints": ["engines", "poetry"]}))
    learner.drop("n.md", "Charles Babbage met Mary Somerville.")
    assert {name for kind, name in learner.entities() if kind == "Person"} == {"Ada Lovelace"}
    assert learner.mentions("n") == {"Ada Lovelace", "engines", "poetry"}


@pytest.mark.spec("sidecar.weight_override")
def test_a_weight_counts_for_one_document_alone(learner: Learner) -> None:
    learner.place.drop("n.md.meta.json", '{"weight_override": 0.85}')
    learner.drop("n.md", "#shared and #own")
    learner.drop("m.md", "#shared too")
    assert learner.mentioned_by("n.md") == dict.fromkeys(("shared", "own"), pytest.approx(0.85))
    assert learner.mentioned_by("m.md") == {"shared": pytest.approx(0.3)}


def test_files_are_learned_where_they_lie(learner: Learner, user: Path) -> None:
    folder = user / "vault"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / "deep").mkdir()
    (folder / "a.md").write_text("# A\n\n[[B]]")
    (folder / "a.md.meta.json").write_text('{"author": "Ada"}')
    (folder / "deep" / "b.md").write_text("# B\n\ntext")
    (folder / ".obsidian" / "x.md").write_text("hidden")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "out.md").symlink_to("/etc/passwd")
    done = dict(learner.pipeline.ingest_path(folder))
    assert {path.name: it.items for path, it in done.items()} == {"a.md": 1, "b.md": 1}
    assert set(learner.links(ConnectionType.WIKILINK)) == {("A", "B")}
    assert {it.source_file for it in learner.memories()} == {str(folder / "a.md"), str(folder / "deep" / "b.md")}
    assert ("Person", "Ada") in learner.entities()
    assert (folder / "a.md").exists()
    once = learner.everything()
    assert [it.is_known for _, it in learner.pipeline.ingest_path(folder)] == [True, True]
    assert learner.everything() == once
    (folder / "deep" / "b.md").write_text("# B\n\nchanged")
    list(learner.pipeline.ingest_path(folder / "deep" / "b.md"))
    assert learner.memory("B").content == "# B\n\nchanged"


def test_a_file_that_cannot_be_learned_in_place_says_why(learner: Learner, user: Path) -> None:
    (user / "picture.png").write_bytes(b"\x89PNG")
    ((_, done),) = learner.pipeline.ingest_path(user / "picture.png")
    assert done.failed == 1
    assert done.reason is not None
    assert "png" in done.reason
    assert (user / "picture.png").exists()
    assert learner.memories() == []


@pytest.mark.parametrize("where", ["own", "marked"])
def test_folders_that_are_kept_out_are_kept_out_in_place_too(
    learner: Learner, place: Place, user: Path, where: str
) -> None:
    folder = place.home.pending if where == "own" else user
    (folder / "n.md").write_text("text")
    if where == "marked":
        (user / ".no-memory").touch()
    ((_, done),) = learner.pipeline.ingest_path(folder / "n.md")
    assert done.reason is not None
    assert ("own folder" if where == "own" else ".no-memory") in done.reason
    assert learner.memories() == []


def test_status_of_superseded_chunks_is_history(learner: Learner) -> None:
    learner.drop("long.md", LONG)
    learner.drop("long.md", "# Long\n\nshort now")
    old = [it for it in learner.memories(every=True) if it.status is Status.SUPERSEDED]
    assert old
    assert any("word11x" in it.content for it in old)


@pytest.mark.spec("inbox.same-bytes-once")
def test_two_documents_that_swap_their_texts_are_both_found(learner: Learner) -> None:
    one, other = "The lamp is a Fresnel lens.", "The horn has a sticking valve."
    learner.drop("a.md", one)
    learner.drop("b.md", other)
    learner.drop("a.md", other)
    assert [it.content for it in learner.memories()] == [other]
    learner.drop("b.md", one)
    assert sorted(it.content for it in learner.memories()) == sorted([one, other])
    learner.drop("a.md", "A third text.")
    assert sorted(it.content for it in learner.memories()) == sorted([one, "A third text."])
    learner.drop("b.md", other)
    assert sorted(it.content for it in learner.memories()) == sorted([other, "A third text."])
