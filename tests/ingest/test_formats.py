"""Documents that other programs wrote: what is read of them, and what they can't do to whoever reads them."""

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from importlib.util import find_spec
from io import BytesIO, StringIO
from itertools import pairwise
from pathlib import Path
from typing import TypeVar
from zipfile import ZIP_DEFLATED, ZipFile

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_memory.domain.errors import IngestError, Unavailable
from ingest.documents import READABLE, Bounds, converting, read_document
from ingest.documents.converting import CONVERTED, EXTRA, convert, install_command
from tests.ingest.sample_files import docx, eml, epub, package, paragraph, pdf, pdf_of

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
MISSING = [it for it in ("markitdown", "openpyxl", "defusedxml") if find_spec(it) is None]

with_extra = pytest.mark.skipif(bool(MISSING), reason=f"the extra `formats` is not installed: no {MISSING}")


def workbook() -> bytes:
    import openpyxl

    book, file = openpyxl.Workbook(), BytesIO()
    costs = book.active
    assert costs is not None
    costs.title = "Costs"
    for row in (["Item", "Price", "Since"], ["Lens", 1200.0, date(2026, 1, 2)], [None], ["Bulb", 0.5, None]):
        costs.append(row)
    book.create_sheet("Empty")
    book.create_sheet("Notes").append(["the valve sticks"])
    book.save(file)
    return file.getvalue()


def slides() -> bytes:
    import pptx

    show, file = pptx.Presentation(), BytesIO()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "The foghorn"
    slide.placeholders[1].text = "Its valve sticks"
    slide.notes_slide.notes_text_frame.text = "Say it slowly"
    show.save(file)
    return file.getvalue()


# What is read


@with_extra
@pytest.mark.spec("document.format.pdf")
def test_a_pdf_is_read_page_by_page() -> None:
    document = read_document(pdf(["The lamp\n\nA Fresnel lens (spare).", "The second page."]), "Lamp manual.PDF")
    assert document.title == "Lamp manual"
    assert document.text == "The lamp\n\nA Fresnel lens (spare).\n\nThe second page."
    assert document.media_type == "application/pdf"


@with_extra
@pytest.mark.spec("document.format.docx")
def test_a_word_document_keeps_headings_and_words_as_they_are() -> None:
    body = paragraph("The keeper", "Heading1") + paragraph("my_var and foo*bar &amp; 1. so") + paragraph("Höhe")
    document = read_document(docx(body), "x.docx")
    assert document.title == "The keeper"
    assert document.text == "# The keeper\n\nmy_var and foo*bar & 1. so\n\nHöhe"


@with_extra
@pytest.mark.spec("document.format.xlsx")
def test_each_row_of_a_workbook_says_what_it_is() -> None:
    document = read_document(workbook(), "Budget.xlsx")
    assert document.title == "Budget"
    assert document.text == (
        "## Costs\n\nItem; Price; Since\nItem: Lens; Price: 1200; Since: 2026-01-02\nItem: Bulb; Price: 0.5\n\n"
        "## Notes\n\nthe valve sticks"
    )


@with_extra
@pytest.mark.spec("document.format.pptx")
def test_slides_are_read_with_their_notes() -> None:
    document = read_document(slides(), "x.pptx")
    assert document.title == "The foghorn"
    assert document.text == "# The foghorn\nIts valve sticks\n\n### Notes:\nSay it slowly"


@with_extra
@pytest.mark.spec("document.format.epub")
def test_a_book_is_read_in_its_order_and_names_its_author() -> None:
    book = epub("Lights of the coast", "Ada Lovelace", ["<h1>One</h1><p>The rock.</p>", "<p>The sea.</p>"])
    document = read_document(book, "x.epub")
    assert (document.title, document.authors) == ("Lights of the coast", ("Ada Lovelace",))
    assert document.text.index("The rock.") < document.text.index("The sea.")


@pytest.mark.spec("document.format.eml")
def test_an_e_mail_is_its_headers_its_words_and_the_names_of_what_was_attached() -> None:
    document = read_document(eml(), "x.eml")
    assert document.title == "The spare bulb – naïve question"
    assert document.authors == ("Ada Lovelace",)
    assert document.written_at == datetime(2026, 1, 15, 11, 30, tzinfo=UTC)
    assert document.text == (
        "From: Ada Lovelace <ada@example.org>\nTo: keeper@example.org\nDate: Thu, 15 Jan 2026 12:30:00 +0100\n"
        "Subject: The spare bulb – naïve question\n\nIt is in the drawer under the barometer.\n\n"
        "Forwarded message\nFrom: Grace <grace@example.org>\nSubject: The foghorn\n\n"
        "It stutters below five degrees.\n\nAttachments: drawer plan.pdf"
    )


@pytest.mark.spec("document.format.eml")
@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"Subject: =?utf-8?q?caf=C3=A9?=\n\nhello", "café"),
        (b"Subject: a\nContent-Type: text/plain; charset=no-such\n\nhello", "hello"),
        (b"Subject: a\nContent-Type: text/html\n\n<p>one</p><script>two</script>", "one"),
        (b"From: <<<>>\nDate: yesterday\nSubject: b\n\nhello", "hello"),
        (b"Subject: a\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nhello", "hello"),
        (b"Subject: a\nContent-Type: text/plain; charset=latin-1\n\nna\xefve", "naïve"),
    ],
)
def test_e_mails_that_are_odd_are_read_all_the_same(raw: bytes, said: str) -> None:
    text = read_document(raw, "x.eml").text
    assert said in text
    assert "two" not in text


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.spec("document.format.csv")
def test_separated_values_are_read_whatever_separates_them(separator: str) -> None:
    rows = [["Item", "Price", "Note"], ["Lens", "1200", '"two\nlines"'], ["Bulb", "", ""], ["Lens", "1100", "spare"]]
    raw = "\r\n".join(separator.join(row) for row in rows).encode("utf-8-sig")
    document = read_document(raw, "Stock.csv")
    assert document.title == "Stock"
    assert document.text.splitlines() == [
        "Item; Price; Note",
        "Item: Lens; Price: 1200; Note: two lines",
        "Item: Bulb",
        "Item: Lens; Price: 1100; Note: spare",
    ]


@pytest.mark.spec("document.format.csv")
def test_rows_without_names_are_their_values() -> None:
    assert read_document(b"2026-01-15,12.5\n2026-01-16,13.0\n", "t.csv").text == "2026-01-15; 12.5\n2026-01-16; 13.0"


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8"), max_size=8), max_size=4), min_size=1, max_size=5))
def test_any_table_is_read_or_refused_by_name(rows: list[list[str]]) -> None:
    file = StringIO()
    csv.writer(file).writerows(rows)
    try:
        text = read_document(file.getvalue().encode(), "t.csv").text
    except IngestError:
        return
    assert text.strip()


# What can't be read


def reason(raw: bytes, path: str, bounds: Bounds | None = None) -> str:
    with pytest.raises(IngestError) as caught:
        read_document(raw, path, bounds)
    return str(caught.value)


@with_extra
@pytest.mark.spec("document.format.damaged")
@pytest.mark.parametrize("suffix", sorted(CONVERTED))
def test_what_is_damaged_or_of_another_kind_is_refused_in_words(suffix: str) -> None:
    for raw in (b"\x00\x01\x02", b"PK\x03\x04 cut off", b"%PDF-1.4 cut off", b"\xff" * 3_000, b"hello there"):
        said = reason(raw, f"x{suffix}")
        assert "damaged" in said or "no e-mail" in said or "no text" in said
        assert "Traceback" not in said
    assert reason(b"", f"x{suffix}") == "the file is empty"


@with_extra
@pytest.mark.spec("document.format.damaged")
def test_what_is_protected_or_scanned_is_said_to_be() -> None:
    protected = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2_000)
    for suffix in (".docx", ".xlsx", ".pptx"):
        assert "password" in reason(protected, f"x{suffix}")
    assert "scanned" in reason(pdf([""]), "x.pdf")
    assert "no text" in reason(docx(paragraph("")), "x.docx")


def test_a_kind_that_nobody_reads_is_refused_with_those_that_are_read() -> None:
    said = reason(b"x", "x.odt")
    assert all(it in said for it in READABLE)


# What a document can't do


@with_extra
@pytest.mark.spec("document.format.bounded")
def test_a_pdf_that_unpacks_without_an_end_takes_no_more_than_its_share() -> None:
    import zlib

    packed = zlib.compress(b"BT (x) Tj ET " * 30_000_000, 9)
    objects = [
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /Page /Parent 3 0 R /MediaBox [0 0 9 9] /Contents 1 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [2 0 R] >>",
        b"<< /Type /Catalog /Pages 3 0 R >>",
    ]
    assert len(packed) < 1_500_000
    assert "memory (ingest.convert_mb)" in reason(pdf_of(objects, 4), "x.pdf", Bounds(megabytes=300))


@with_extra
@pytest.mark.spec("document.format.bounded")
@pytest.mark.parametrize("suffix", [".docx", ".xlsx", ".pptx", ".epub"])
def test_a_package_that_unpacks_to_gigabytes_is_refused_before_it_is_unpacked(suffix: str) -> None:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=9) as zipped, zipped.open("word/document.xml", "w") as part:
        for _ in range(60):
            part.write(bytes(10_000_000))
    assert "unpacks to 600000000 bytes" in reason(file.getvalue(), f"x{suffix}")


@with_extra
@pytest.mark.spec("document.format.bounded")
def test_entities_of_xml_are_neither_multiplied_nor_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the hidden word is kumquat")
    names = "abcdefghij"
    defined = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise(names))
    prologues = [
        f'<!DOCTYPE d [<!ENTITY a "kumquat">{defined}]>',
        f'<!DOCTYPE d [<!ENTITY j SYSTEM "{secret.as_uri()}">]>',
    ]
    for prologue in prologues:
        assert "kumquat" not in reason(docx(paragraph("&j;"), prologue=prologue), "x.docx")
        parts = ZipFile(BytesIO(epub("T", "A", ["<p>x</p>"])))
        told = {it: parts.read(it).decode() for it in parts.namelist()}
        told["OEBPS/content.opf"] = prologue + told["OEBPS/content.opf"].replace(">T<", ">&j;<")
        assert "entities of XML" in reason(package(told), "x.epub")


@pytest.mark.spec("document.format.bounded")
def test_parts_within_parts_end_somewhere() -> None:
    lines = [f"Content-Type: multipart/mixed; boundary=b{number}\n\n--b{number}" for number in range(3_000)]
    said = reason(("Subject: deep\n" + "\n".join(lines) + "\n\nx").encode(), "x.eml")
    assert "parts" in said or "damaged" in said


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the process that reads break in the way that the document's name says."""
    monkeypatch.setattr(converting, "_MODULE", "tests.ingest.breaking_reader")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.spec("document.format.bounded")
@pytest.mark.usefixtures("breaking")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("spin", "takes more than 1 s of a processor (ingest.convert_seconds)"),
        ("hang", "takes more than 1 s of a processor (ingest.convert_seconds)"),
        ("swell", "reading it failed"),
        ("talk", "more than 1000000 characters of text (ingest.max_file_bytes)"),
        ("crash", "reading it crashed (SIGSEGV)"),
        ("be_ended", "had no memory left"),
        ("fail", "reading it failed"),
        ("mumble", "reading it failed"),
    ],
)
def test_a_reader_that_breaks_is_ended_and_said_how(how: str, said: str) -> None:
    with pytest.raises(IngestError) as caught:
        convert(b"x", ".pdf", how, Bounds(seconds=1, megabytes=300, characters=1_000_000))
    assert said in str(caught.value)
    assert psutil.Process().children() == []


@pytest.mark.spec("document.format.bounded")
@pytest.mark.usefixtures("breaking")
@pytest.mark.skipif(sys.platform != "linux", reason="memory that no ceiling counts is made of Linux's parts")
def test_memory_that_the_system_does_not_bound_is_watched() -> None:
    with pytest.raises(IngestError, match="more than 300 MB of memory"):
        convert(b"x", ".pdf", "swell_unbounded", Bounds(seconds=30, megabytes=300))


@pytest.mark.spec("document.format.bounded")
@pytest.mark.usefixtures("breaking")
def test_it_writes_no_file(tmp_path: Path) -> None:
    file = tmp_path / "written"
    with pytest.raises(IngestError):
        convert(os.fsencode(file), ".pdf", "write", Bounds())
    assert not file.exists() or file.stat().st_size == 0


@pytest.mark.usefixtures("breaking")
def test_given_up_it_is_ended_and_the_document_waits() -> None:
    asked = iter([False, False, True])
    with pytest.raises(Unavailable):
        convert(b"x", ".pdf", "hang", Bounds(is_cancelled=lambda: next(asked)))
    assert psutil.Process().children() == []


@pytest.mark.spec("document.format.bounded")
@pytest.mark.parametrize("how", ["hang", "spin"])
def test_it_ends_with_whoever_had_it_read(how: str) -> None:
    code = (
        "import os\nfrom ingest.documents import Bounds, converting\n"
        "converting._MODULE = 'tests.ingest.breaking_reader'\n"
        f"converting.convert(b'x', '.pdf', '{how}', Bounds(seconds=50))"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = psutil.Popen([sys.executable, "-c", code], env=environ, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        children = _eventually(lambda: [it for it in parent.children() if "breaking_reader" in " ".join(it.cmdline())])
        _eventually(lambda: children[0].num_threads() > 1)
        parent.send_signal(signal.SIGKILL)
        parent.wait(30)
        _eventually(lambda: not children[0].is_running() or children[0].status() == psutil.STATUS_ZOMBIE)
    finally:
        with suppress(psutil.NoSuchProcess):
            parent.kill()
        parent.wait(30)


def _eventually(what: Callable[[], T]) -> T:
    until = time.monotonic() + 30
    while not (found := what()):
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.05)
    return found


FORBIDDEN = {
    "the network": "socket.create_connection(('127.0.0.1', 9))",
    "names of hosts": "socket.getaddrinfo('example.org', 80)",
    "addresses": "urllib.request.urlopen('http://127.0.0.1:9/')",
    "programs": "subprocess.run(['true'])",
    "a shell": "os.system('true')",
    "other files": "open('/etc/hostname')",
    "other files, otherwise": "os.open('/etc/hostname', os.O_RDONLY)",
    "writing": "open(os.path.join(sys.prefix, 'x'), 'w')",
}


@pytest.mark.spec("document.format.offline")
@pytest.mark.parametrize("what", list(FORBIDDEN))
def test_a_reader_reaches_nothing_but_its_document(what: str) -> None:
    code = (
        "import os, socket, subprocess, sys, urllib.request\n"
        "from ingest.documents.converter import forbid\n"
        f"forbid()\nimport json.tool\ntry:\n    {FORBIDDEN[what]}\n"
        "except PermissionError as error:\n    print('refused', error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False, timeout=60, cwd=ROOT
    )
    assert done.stdout.startswith("refused a document may not"), done.stderr


@pytest.mark.spec("document.format.offline")
def test_its_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "correct-horse-battery")
    monkeypatch.setenv("GRAPH_MEMORY_LOG__LEVEL", "debug")
    stub = tmp_path / "ingest_spy.py"
    stub.write_text(
        "import json, os, sys\nfrom ingest.documents.converter import _received\n_received()\n"
        "print(json.dumps({'reason': ' '.join(sorted(os.environ))}), flush=True)\nos._exit(0)\n"
    )
    monkeypatch.setattr(converting, "_MODULE", "ingest_spy")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(ROOT))))
    with pytest.raises(IngestError) as caught:
        convert(b"x", ".pdf", "x", Bounds())
    names = str(caught.value).split()
    assert "PATH" in names
    assert [it for it in names if "NEO4J" in it or "GRAPH_MEMORY" in it] == []


def test_the_process_that_asks_imports_none_of_the_readers() -> None:
    code = (
        "import sys\nfrom ingest.documents import read_document\nfrom tests.ingest.sample_files import pdf\n"
        "try:\n    read_document(pdf(['The lamp']), 'x.pdf')\nexcept Exception as error:\n    print(error)\n"
        "print(*sorted(it for it in sys.modules if '.' not in it))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, timeout=60
    )
    assert {"markitdown", "onnxruntime", "numpy", "lxml", "bs4", "pdfminer", "openpyxl"} & set(
        done.stdout.split()
    ) == set()


# Without the extra


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Hide the extra from processes started now; the folder returned hides it as long as it has the file."""
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    file = hiding / "defusedxml.py"
    file.write_text("raise ModuleNotFoundError('no module', name='defusedxml')\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(hiding), str(ROOT))))
    return file


@pytest.mark.spec("document.format.extra-missing")
@pytest.mark.parametrize("suffix", sorted(CONVERTED - {".eml"}))
def test_without_the_extra_it_says_what_to_install(without_extra: Path, suffix: str) -> None:
    said = reason(b"anything", f"x{suffix}")
    assert f"reading {suffix} needs the extra `formats`" in said
    assert install_command() in said
    assert EXTRA in said
    assert "graph-memory retry" in said


@pytest.mark.spec("document.format.extra-missing")
def test_e_mail_and_tables_need_no_extra(without_extra: Path) -> None:
    assert read_document(eml(), "x.eml").text
    assert read_document(b"a,b\nc,d\n", "x.csv").text


@pytest.mark.parametrize(
    ("file", "command"),
    [("pipx_metadata.json", "pipx install --force"), ("uv-receipt.toml", "uv tool install"), ("x", "-m pip install")],
)
def test_the_command_is_that_of_the_tool_that_installed_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str, command: str
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / file).touch()
    assert f"{command} '{EXTRA}'`" in install_command()


@with_extra
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_damage_is_a_reason_and_no_crash(data: st.DataObject) -> None:
    raw = bytearray(data.draw(st.sampled_from([pdf(["The lamp"]), docx(paragraph("The keeper")), eml()])))
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    suffix = ".pdf" if raw[:2] == b"%P" else ".docx" if raw[:1] == b"P" else ".eml"
    try:
        text = read_document(bytes(raw), f"x{suffix}").text
    except IngestError:
        return
    assert text.strip()
