"""Documents of other programs as people drop them: the installed command, the daemon, the extra absent and there."""

import os
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from daemon.ceilings import worker_seconds
from daemon.exits import Exit
from graph_memory.home import Home
from ingest.documents import Bounds, read_document
from tests.cli.conftest import Ran
from tests.daemon.daemons import COMMAND, Daemon, running, titles, wait_for
from tests.ingest.sample_files import docx, eml, paragraph, pdf

ROOT = Path(__file__).resolve().parents[2]
with_extra = pytest.mark.skipif(find_spec("markitdown") is None, reason="the extra `formats` is not installed")


def command(*words: str | Path) -> Ran:
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=60)
    return Ran(done.returncode, done.stdout, done.stderr)


def put(home: Home, name: str, raw: bytes) -> None:
    home.pending.mkdir(parents=True, exist_ok=True)
    (home.pending / name).write_bytes(raw)


def readers(daemon: Daemon) -> list[psutil.Process]:
    return psutil.Process(daemon.process.pid).children()


@with_extra
@pytest.mark.spec("document.format.extra-missing")
def test_what_waited_for_the_extra_is_learned_once_it_is_there(
    home: Home, projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / "defusedxml.py").write_text("raise ModuleNotFoundError('no module', name='defusedxml')\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(hiding), str(ROOT))))
    with running() as daemon:
        put(home, "lamp.pdf", pdf(["A Fresnel lens."]))
        put(home, "bulb.eml", eml())
        reason = home.failed / "lamp.pdf.reason.txt"
        wait_for(lambda: reason.exists() and titles("barometer"))
        assert "pip install 'graph-memory[formats]'" in reason.read_text()
        (hiding / "defusedxml.py").unlink()
        done = command("retry", "--all")
        assert (done.status, "1 document queued" in done.out) == (Exit.OK, True)
        wait_for(lambda: titles("fresnel"))
        assert not reason.exists()
        assert (home.completed / "lamp.pdf").read_bytes() == pdf(["A Fresnel lens."])
        assert daemon.ended(signal.SIGTERM) == Exit.OK


@with_extra
def test_named_by_a_person_they_are_learned_where_they_lie(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "keeper.docx").write_bytes(docx(paragraph("The keeper", "Heading1") + paragraph("On the mainland.")))
    (folder / "tide.csv").write_text("Day,Height\nMonday,3.1\nTuesday,2.9\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4")
    done = command("ingest", "--json", folder)
    assert done.status == Exit.FAILED
    files = {Path(it["file"]).name: it for it in done.json["files"]}
    assert {name: it["learned"] for name, it in files.items()} == {"keeper.docx": 1, "tide.csv": 1, "broken.pdf": 0}
    assert "damaged" in files["broken.pdf"]["reason"]
    assert titles("mainland") == ["The keeper"]
    assert titles("Tuesday") == ["tide"]


@with_extra
@pytest.mark.spec("document.format.bounded")
def test_told_to_end_it_leaves_no_reader_behind_and_the_document_waits(home: Home, projects: Path) -> None:
    long = pdf(["\n".join(f"The keeper wrote line {number} of the log." for number in range(50))] * 400)
    with running() as daemon:
        put(home, "log.pdf", long)
        wait_for(lambda: readers(daemon))
        [reader] = readers(daemon)
        assert daemon.ended(signal.SIGTERM) == Exit.OK
        assert not reader.is_running()
    assert (home.pending / "log.pdf").read_bytes() == long
    assert [it for it in home.failed.rglob("*") if it.is_file()] == []


@with_extra
@pytest.mark.spec("document.format.bounded")
def test_what_would_take_for_ever_fails_and_the_next_one_is_learned(
    home: Home, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPH_MEMORY_INGEST__CONVERT_SECONDS", "3")
    long = pdf(["\n".join(f"The keeper wrote line {number} of the log." for number in range(60))] * 2_000)
    with running() as daemon:
        put(home, "log.pdf", long)
        put(home, "note.md", b"# A note\n\nThe barometer falls.")
        wait_for(lambda: (home.failed / "log.pdf.reason.txt").exists() and titles("barometer"))
        assert "ingest.convert_seconds" in (home.failed / "log.pdf.reason.txt").read_text()
        assert daemon.ended(signal.SIGTERM) == Exit.OK


def test_what_readers_use_of_a_processor_counts() -> None:
    before = worker_seconds()
    read_document(eml(), "x.eml", Bounds())
    assert worker_seconds() - before > 0.03, "an interpreter was started"
