"""The folders of the inbox: what is taken, what stays, and that nothing is overwritten."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.arrivals import Arrivals, Look
from ingest.identity import content_key, document_path, item_id
from ingest.inbox import Claim, FoundKind, Inbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ingest.places import Clock, Place

KEY = content_key(b"text")


@pytest.fixture
def inbox(place: Place) -> Iterator[Inbox]:
    opened = Inbox(place.home)
    yield opened
    opened.close()


def claim(inbox: Inbox, path: str) -> Claim:
    found = next(it for it in inbox.pending() if it.path == path)
    claimed = inbox.claim(found)
    assert claimed is not None
    return claimed


@pytest.mark.spec("inbox.states")
def test_a_document_moves_from_pending_to_processing_to_completed(inbox: Inbox, place: Place) -> None:
    place.drop("a/n.md", "text")
    claimed = claim(inbox, "a/n.md")
    assert place.files(place.home.pending) == []
    assert claimed.file.is_relative_to(place.home.processing)
    assert claimed.file.read_bytes() == b"text"
    inbox.complete(claimed, KEY)
    assert place.files(place.home.processing) == []
    assert place.files(place.home.completed) == ["a/n.md"]


@pytest.mark.spec("inbox.states", "inbox.one-bad-file")
def test_a_failed_document_lies_beside_its_reason(inbox: Inbox, place: Place) -> None:
    place.drop("n.md", "text")
    placed = inbox.fail(claim(inbox, "n.md"), KEY, "is no text")
    assert placed == place.home.failed / "n.md"
    assert (place.home.failed / "n.md.reason.txt").read_text() == "is no text\n"


@pytest.mark.spec("inbox.recursive")
def test_the_path_below_pending_is_part_of_what_a_document_is(inbox: Inbox, place: Place) -> None:
    place.drop("a/n.md", "one")
    place.drop("b/c/n.md", "two")
    place.drop("n.md", "three")
    assert [it.path for it in inbox.pending()] == ["n.md", "a/n.md", "b/c/n.md"]


def test_composed_and_decomposed_spellings_of_a_name_are_one_path() -> None:
    assert document_path(Path("Cafe\u0301/u\u0308.md")) == document_path(Path("Caf\xe9/\xfc.md"))


def test_names_that_are_no_unicode_stay_apart_and_can_be_stored() -> None:
    first, second = (document_path(Path(os.fsdecode(it))) for it in (b"\xff.md", b"\xfe.md"))
    assert first != second
    assert first.encode()


def test_an_id_depends_on_content_and_path_alone() -> None:
    assert item_id(KEY, "a/n.md") == item_id(KEY, "a/n.md")
    assert len({item_id(KEY, "a/n.md"), item_id(KEY, "b/n.md"), item_id(content_key(b"other"), "a/n.md")}) == 3


@pytest.mark.parametrize(
    "name", [".n.md", ".git/n.md", "n.md~", "n.md.tmp", "n.md.part", "n.md.crdownload", ".#n.md", "n.md.swp"]
)
def test_hidden_and_unfinished_files_are_left_alone(inbox: Inbox, place: Place, name: str) -> None:
    file = place.drop(name, "text")
    assert list(inbox.pending()) == []
    assert file.exists()


def test_links_pipes_and_sidecars_are_told_from_documents(inbox: Inbox, place: Place) -> None:
    place.drop("n.md", "text")
    place.drop("n.md.meta.json", "{}")
    (place.home.pending / "out.md").symlink_to("/etc/passwd")
    (place.home.pending / "folder").symlink_to("/etc")
    os.mkfifo(place.home.pending / "pipe.md")
    kinds = {it.path: it.kind for it in inbox.pending()}
    assert kinds == {
        "n.md": FoundKind.DOCUMENT,
        "n.md.meta.json": FoundKind.SIDECAR,
        "out.md": FoundKind.LINK,
        "folder": FoundKind.LINK,
        "pipe.md": FoundKind.SPECIAL,
    }


def test_a_refused_link_is_moved_itself_and_never_followed(inbox: Inbox, place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("secret")
    outside.chmod(0o644)
    (place.home.pending / "out.md").symlink_to(outside)
    inbox.fail(claim(inbox, "out.md"), KEY, "is a link")
    assert (place.home.failed / "out.md").is_symlink()
    assert outside.read_text() == "secret"
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


def test_a_file_that_vanished_is_not_claimed(inbox: Inbox, place: Place) -> None:
    file = place.drop("a/n.md", "text")
    found = next(inbox.pending())
    file.unlink()
    assert inbox.claim(found) is None
    assert place.files(place.home.processing) == []


def test_many_workers_at_once_claim_each_document_once(place: Place) -> None:
    for number in range(60):
        place.drop(f"{number % 7}/{number}.md", f"text {number}")
    found = list(Inbox(place.home).pending())
    taken: list[list[str]] = [[] for _ in range(4)]
    start = threading.Barrier(4)

    def work(mine: list[str]) -> None:
        inbox = Inbox(place.home)
        start.wait()
        for one in found:
            claimed = inbox.claim(one)
            if claimed is not None:
                mine.append(claimed.path)
                inbox.complete(claimed, content_key(claimed.file.read_bytes()))
        inbox.close()

    threads = [threading.Thread(target=work, args=(mine,)) for mine in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(path for mine in taken for path in mine) == sorted(it.path for it in found)
    assert len(place.files(place.home.completed)) == 60
    assert list(place.home.processing.iterdir()) == []


@pytest.mark.spec("document.bytes-untouched")
def test_same_names_in_completed_keep_the_bytes_of_each(inbox: Inbox, place: Place) -> None:
    for text in ("one", "two", "three", "two"):
        place.drop("n.md", text)
        inbox.complete(claim(inbox, "n.md"), content_key(text.encode()))
    kept = sorted((place.home.completed / it).read_text() for it in place.files(place.home.completed))
    assert kept == ["one", "three", "two"]


def test_what_a_dead_worker_left_is_taken_up_with_its_sidecar(place: Place) -> None:
    place.drop("a/n.md", "text")
    place.drop("a/n.md.meta.json", "{}")
    dead = Inbox(place.home)
    claim(dead, "a/n.md")
    other = Inbox(place.home)
    assert list(other.orphans()) == []  # its worker still lives
    assert dead._lock is not None
    os.close(dead._lock)  # what the system does when a process ends
    dead._lock = None
    documents = [it for it in other.orphans() if it.kind is FoundKind.DOCUMENT]
    assert [it.path for it in documents] == ["a/n.md"]
    claimed = other.claim(documents[0])
    assert claimed is not None
    assert claimed.sidecar is not None
    other.complete(claimed, KEY)
    assert list(other.orphans()) == []
    other.close()
    assert list(place.home.processing.iterdir()) == []


@pytest.mark.spec("inbox.crash")
def test_a_file_that_lies_in_processing_is_taken_up(inbox: Inbox, place: Place) -> None:
    left = place.home.processing / "a" / "n.md"
    left.parent.mkdir()
    left.write_text("text")
    (orphan,) = inbox.orphans()
    assert (orphan.path, orphan.is_orphan) == ("a/n.md", True)
    claimed = inbox.claim(orphan)
    assert claimed is not None
    inbox.complete(claimed, KEY)
    assert place.files(place.home.completed) == ["a/n.md"]
    assert not left.parent.exists()


def test_giving_back_puts_a_document_where_it_was(inbox: Inbox, place: Place) -> None:
    place.drop("a/n.md", "text")
    place.drop("a/n.md.meta.json", "{}")
    inbox.give_back(claim(inbox, "a/n.md"))
    assert place.files(place.home.pending) == ["a/n.md", "a/n.md.meta.json"]
    assert place.files(place.home.processing) == []


def test_giving_back_never_overwrites_a_newer_document_of_the_name(inbox: Inbox, place: Place) -> None:
    place.drop("n.md", "old")
    claimed = claim(inbox, "n.md")
    place.drop("n.md", "new")
    inbox.give_back(claimed)
    assert (place.home.pending / "n.md").read_text() == "new"
    (orphan,) = inbox.orphans()
    assert orphan.file.read_text() == "old"


def test_a_worker_that_lives_has_its_documents_to_itself(inbox: Inbox, place: Place) -> None:
    place.drop("n.md", "text")
    claimed = claim(inbox, "n.md")
    assert list(inbox.orphans()) == []
    inbox.complete(claimed, KEY)


def test_folders_and_files_of_ours_are_private(inbox: Inbox, place: Place) -> None:
    before = os.umask(0o022)
    try:
        place.drop("a/b/n.md", "text")
        claimed = claim(inbox, "a/b/n.md")
        assert stat.S_IMODE(claimed.file.stat().st_mode) == 0o600
        placed = inbox.fail(claimed, KEY, "reason")
    finally:
        os.umask(before)
    for folder in (placed.parent, placed.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(placed.with_name("n.md.reason.txt").stat().st_mode) == 0o600


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    name=st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=80).filter(
        lambda name: len(os.fsencode(name.encode("utf-8", "replace"))) <= 251 and not name.startswith(".")
    )
)
def test_any_name_goes_through_all_folders(place: Place, name: str) -> None:
    name = name.encode("utf-8", "replace").decode()
    place.drop(f"d/{name}.md", "text")
    inbox = Inbox(place.home)
    (found,) = inbox.pending()
    claimed = inbox.claim(found)
    assert claimed is not None
    inbox.fail(claimed, KEY, "reason")
    inbox.close()
    assert len(list((place.home.failed / "d").iterdir())) == 2
    for file in (place.home.failed / "d").iterdir():
        file.unlink()


def test_a_file_has_arrived_when_it_looked_the_same_for_the_whole_time(place: Place, clock: Clock) -> None:
    file = place.drop("n.md", "one")
    arrivals = Arrivals(clock.monotonic, 1.0)

    def left() -> float:
        arrivals.look_around({file})
        return arrivals.seconds_left(file, Look.at(file.stat()))

    assert left() == 1.0
    clock.wait(0.9)
    assert left() == pytest.approx(0.1)
    file.write_text("more")
    assert left() == 1.0
    clock.wait(1.0)
    assert left() == 0.0
    file.rename(file.with_name("kept.md"))
    other = place.drop("n.md", "more")  # as large, but another file
    os.utime(other, ns=(0, file.with_name("kept.md").stat().st_mtime_ns))
    assert left() == 1.0


def test_files_that_were_seen_together_arrive_together(place: Place) -> None:
    ticks = iter(range(100))
    arrivals = Arrivals(lambda: next(ticks) * 0.4, 1.0)
    files = {place.drop(f"{number}.md", "text") for number in range(5)}

    def arrived() -> int:
        arrivals.look_around(files)
        return sum(arrivals.seconds_left(it, Look.at(it.stat())) == 0.0 for it in sorted(files))

    assert [arrived() for _ in range(4)] == [0, 0, 0, 5]
