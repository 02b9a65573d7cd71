"""Vaults as people have them: links between notes by the names of files, several notes of one name."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.memories import ConnectionType
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.ingest.learners import Learner

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.ports.store import Store
    from tests.ingest.places import Place


def linked_files(learner: Learner) -> set[tuple[str, str]]:
    """List which files' memories, chunks included, link to which."""
    memories = {it.title: it.source_file or "" for it in learner.memories(every=True)}
    assert len(memories) == len(learner.memories(every=True))
    return {(memories[a], memories[b]) for a, b in learner.links(ConnectionType.WIKILINK)}


def open_targets(learner: Learner) -> dict[str, bool]:
    """List the links that nothing answers, and whether that is since several might."""
    ids = [it.id for it in learner.memories()]
    found = learner.store.read(LOCAL_ADMIN, lambda tx: tx.memories.open_links(ids))
    return {it.target: it.is_ambiguous for it in found}


FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def census(text: str) -> Counter[str]:
    """Count the targets of a note's links: a parser of few rules, written apart from the product's."""
    body = []
    fence = ""
    for line in text.split("\n"):
        found = FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if found and "`" not in line[found.end() :]:
            fence = found[1]
            continue
        body.append(line)
    prose = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", " ", "\n".join(body), flags=re.DOTALL)
    prose = re.sub(r"%%.*?%%|<!--.*?-->|\$\$.*?\$\$", " ", prose, flags=re.DOTALL)
    targets = (it.split("|")[0].rstrip("\\").split("#")[0].strip() for it in re.findall(r"\[\[([^\[\]\n]+)\]\]", prose))
    return Counter(unicodedata.normalize("NFC", it).casefold() for it in targets if it)


def test_a_vault_of_173_notes_is_learned_once_each_with_its_links(place: Place, shared_cases: Path) -> None:
    vault = shared_cases / "vault-help"
    if not vault.is_dir():
        pytest.skip("../shared/cases/vault-help is absent")
    notes = sorted(it.relative_to(vault).as_posix() for it in vault.rglob("*.md"))
    assert len(notes) == 173
    store = SqliteStore(place.home.database)  # the reference store reads every text for every question
    learner = Learner(store, place)
    for number in range(2):
        shutil.copytree(vault, place.home.pending, copy_function=shutil.copyfile, dirs_exist_ok=True)
        done = learner.learn()
        assert sum(it.failed for it in done) == 0
        assert sum(it.items for it in done) == (174 if number == 0 else 0)  # and a file of options in JSON
    documents = [it for it in learner.items() if it.path.endswith(".md")]
    assert sorted(it.path for it in documents) == notes
    found = linked_files(learner)
    names: dict[str, list[str]] = {}
    for note in notes:
        names.setdefault(note.rsplit("/", 1)[-1].removesuffix(".md").casefold(), []).append(note)
    wanted = set[tuple[str, str]]()
    unsure = set[tuple[str, str]]()
    for note in notes:
        for target in census((vault / note).read_text(encoding="utf-8")):
            path = target.removesuffix(".md")
            meant = [
                it for it in names.get(path.rsplit("/", 1)[-1], ()) if f"/{it.casefold()[:-3]}".endswith(f"/{path}")
            ]
            if len(meant) == 1 and meant[0] != note:
                wanted.add((note, meant[0]))
            elif len(meant) > 1:
                unsure.update((note, it) for it in meant)
    assert len(wanted) > 800
    missing = wanted - found
    assert missing == set()
    surplus = {pair for pair in found - wanted if pair[0] != pair[1]}
    # A title may be linked to as well as a file name, and nothing else; no guess between two files of one name.
    assert len(surplus) <= 10
    assert not surplus & unsure
    store.close()


def test_links_in_code_are_none(learner: Learner, place: Place) -> None:
    place.drop("a.md", "`[[b]]` and\n\n```\n[[b]]\n```\n\n    [[b]]\n\n<!-- [[b]] -->\n")
    learner.drop("b.md", "target")
    assert learner.links(ConnectionType.WIKILINK) == {}


@pytest.mark.parametrize("author_first", [False, True])
def test_a_note_is_meant_by_the_name_of_its_file(learner: Learner, *, author_first: bool) -> None:
    texts = {"author.md": "See [[Home]] and [[deep/Home]] and [[Home.md]]", "deep/Home.md": "# Welcome\n\ntext"}
    for path in texts if author_first else reversed(texts):
        learner.drop(path, texts[path])
    assert learner.links(ConnectionType.WIKILINK) == {("author", "Welcome"): pytest.approx(2.0)}
    learner.drop("author.md", "See [[Welcome]]")
    assert set(learner.links(ConnectionType.WIKILINK)) == {("author", "Welcome")}


def test_a_title_comes_before_the_name_of_a_file(learner: Learner) -> None:
    learner.drop("Home.md", "# Welcome\n\none")
    learner.drop("other.md", "# Home\n\ntwo")
    learner.drop("author.md", "See [[Home]]")
    assert linked_files(learner) == {("author.md", "other.md")}


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 0, 1, 2), (0, 3, 1, 2), (0, 1, 3, 2), (2, 1, 0, 3)])
def test_between_notes_of_one_name_nothing_is_guessed(learner: Learner, order: tuple[int, ...]) -> None:
    texts = [
        ("core/file-a.md", "core: [[info/file-b]]"),
        ("core/info/file-b.md", "core b"),
        ("code/info/file-b.md", "code b"),
        ("author.md", "[[file-b]], [[core/info/file-b]], [[file-a]]"),
    ]
    for number in order:
        learner.drop(*texts[number])
    found = linked_files(learner)
    assert found == {("author.md", "core/info/file-b.md"), ("author.md", "core/file-a.md")}
    assert open_targets(learner) == {"file-b": True, "info/file-b": True}


def test_a_third_note_of_the_name_is_no_answer_either(learner: Learner) -> None:
    learner.drop("author.md", "[[n]]")
    learner.drop("a/n.md", "one")
    assert linked_files(learner) == {("author.md", "a/n.md")}
    for folder in ("b", "c", "d", "e", "f"):
        learner.drop(f"{folder}/n.md", folder)
        assert linked_files(learner) == set()
    assert open_targets(learner) == {"n": True}
    learner.drop("later.md", "[[n]] and [[c/n]]")
    assert linked_files(learner) == {("later.md", "c/n.md")}


def test_two_files_of_one_name_with_other_titles_are_no_guess(learner: Learner) -> None:
    learner.drop("a/n.md", "# First\n\none")
    learner.drop("author.md", "[[n]]")
    assert linked_files(learner) == {("author.md", "a/n.md")}
    learner.drop("b/n.md", "# Second\n\ntwo")
    assert linked_files(learner) == set()
    learner.drop("author.md", "[[n]] and [[b/n]] and [[First]]")
    assert linked_files(learner) == {("author.md", "a/n.md"), ("author.md", "b/n.md")}


def test_a_vault_of_same_names_keeps_each_note_apart(place: Place, store: Store, shared_cases: Path) -> None:
    vault = shared_cases / "vault-same-names"
    if not vault.is_dir():
        pytest.skip("../shared/cases/vault-same-names is absent")
    shutil.copytree(vault, place.home.pending, copy_function=shutil.copyfile, dirs_exist_ok=True)
    for note in place.home.pending.rglob("*.md"):  # they are empty there: here each says where it is
        note.write_text(f"This is {note.relative_to(place.home.pending)}. [[file-a]] [[file-b]]")
    learner = Learner(store, place)
    learner.learn()
    notes = [it for it in learner.memories() if (it.source_file or "").endswith(".md")]
    assert len(notes) == 8
    assert linked_files(learner) == set()
    configurations = {it.content_key for it in learner.items() if it.path.endswith("config.json")}
    assert len(configurations) == 3
    assert len(learner.memories()) == 8 + 3
