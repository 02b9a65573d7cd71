"""`graph-memory ingest` and `retry`."""

from pathlib import Path

import pytest

from daemon.exits import Exit
from tests.cli.conftest import Run


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "lamp.md").write_text("# The lamp\n\nIts lens is a Fresnel lens.")
    (folder / "deep" / "horn.md").write_text("# The horn\n\nIt stutters below five degrees.")
    return folder


def test_a_folder_is_learned_where_it_lies(run: Run, notes: Path) -> None:
    before = {it: it.read_bytes() for it in notes.rglob("*.md")}
    done = run("ingest", notes)
    assert done.status == 0
    assert done.out.splitlines()[-1] == "2 learned, 0 known already, 0 failed."
    assert {it: it.read_bytes() for it in notes.rglob("*.md")} == before
    assert run("search", "fresnel", "--json").json["memories"][0]["title"] == "The lamp"


@pytest.mark.spec("inbox.same-bytes-once")
def test_what_is_known_is_not_learned_again(run: Run, notes: Path) -> None:
    run("ingest", notes)
    done = run("ingest", notes / "lamp.md", notes / "deep" / "horn.md", "--json")
    assert done.status == 0
    assert {key: done.json[key] for key in ("learned", "known", "failed")} == {"learned": 0, "known": 2, "failed": 0}
    assert run("search", "fresnel", "--json").json["count"] == 1


@pytest.mark.spec("inbox.one-bad-file")
def test_a_file_that_cannot_be_learned_stops_no_other_and_ends_with_one(run: Run, notes: Path) -> None:
    (notes / "broken.md").write_text("\n")  # no text at all
    done = run("ingest", notes, "--json")
    assert done.status == Exit.FAILED
    assert done.json["learned"] == 2
    [failed] = [it for it in done.json["files"] if it["reason"]]
    assert failed["file"].endswith("broken.md")
    shown = run("ingest", notes)
    assert "broken.md: " in shown.err


def test_a_path_that_is_not_there_is_named_before_anything_is_learned(run: Run, notes: Path, home: Path) -> None:
    done = run("ingest", notes, "nowhere.md")
    assert done.status == Exit.USAGE
    assert "nowhere.md" in done.err
    assert not home.exists()


def test_what_failed_is_listed_with_its_reason_and_queued_again(run: Run, home: Path) -> None:
    pending = home / "ingest" / "pending"
    assert run("job", "list").status == 0  # makes the home
    (pending / "broken.md").write_text("\n")  # no text at all
    learn_what_waits(home)
    [failed] = run("retry", "--json").json["failed"]
    assert failed["file"] == "broken.md"
    assert failed["reason"]
    assert failed["id"] in run("retry").out
    assert [it["id"] for it in run("retry", failed["id"], "--json").json["queued"]] == [failed["id"]]
    assert (pending / "broken.md").exists()
    learn_what_waits(home)
    assert "1 document queued again" in run("retry", "--all").out
    assert run("retry", "--all").out.startswith("0 documents")


def learn_what_waits(home: Path) -> None:
    """Learn what is in the inbox, as the daemon would."""
    from daemon.learning import build_pipeline
    from graph_memory.bootstrap import open_services
    from graph_memory.config import load_config

    config = load_config({"GRAPH_MEMORY_INGEST__STABLE_SECONDS": "0.1"}, home)
    with open_services(config) as services:
        pipeline = build_pipeline(services)
        scan = pipeline.scan()
        while scan.works or scan.look_again_in is not None:
            for work in scan.works:
                pipeline.run(work)
            scan = pipeline.scan()
        pipeline.close()


def test_an_id_that_did_not_fail_is_refused(run: Run, used_home: Path) -> None:
    done = run("retry", "d-nothing")
    assert done.status == Exit.FAILED
    assert "d-nothing" in done.err
    assert run("retry", "d-nothing", "--all").status == Exit.USAGE


def test_nothing_failed_says_so(run: Run, used_home: Path) -> None:
    done = run("retry")
    assert (done.status, done.out, done.err) == (0, "", "Nothing failed.\n")
