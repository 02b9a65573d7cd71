"""What a dropped file says: its text, and what it says of itself."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.errors import IngestError
from graph_memory.domain.wikilinks import find_wikilinks
from ingest.documents import READABLE, Document, read_document
from ingest.documents.markdown import inline_tags, plain_heading


def read(text: str, path: str = "folder/name.md") -> Document:
    return read_document(text.encode(), path)


# bytes

FRENCH = "Le café était déjà fermé à l'été; où êtes-vous allés, garçon? Noël à la forêt. " * 3
POLISH = "Zażółć gęślą jaźń. Wczoraj wieczorem byliśmy w kinie i oglądaliśmy świetny film o książkach. " * 3
RUSSIAN = "Съешь ещё этих мягких французских булок, да выпей чаю. " * 3
JAPANESE = "日本語のテキストです。これはテストです。" * 5
CHINESE = "这是一个中文文本的例子,用来测试编码检测。" * 5


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((text, it) for text in (FRENCH, JAPANESE, "a") for it in ("utf-8", "utf-8-sig", "utf-16", "utf-32")),
        *((FRENCH, it) for it in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp1252", "latin-1")),
        (POLISH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (CHINESE, "gb18030"),
        ("Café", "cp1252"),
        ("a" * 100_000 + "\nCafé", "cp1252"),
    ],
)
def test_text_is_read_whatever_its_encoding(text: str, encoding: str) -> None:
    document = read_document(text.encode(encoding), "a.md")

    assert document.text == text
    assert bool(document.warnings) == (encoding not in {"utf-8", "utf-8-sig", "utf-16", "utf-32"})


def test_one_spoiled_byte_does_not_spoil_the_rest() -> None:
    document = read_document(JAPANESE.encode() + b"\xff" + b" and on", "a.md")

    assert document.text == f"{JAPANESE}\N{REPLACEMENT CHARACTER} and on"
    assert "1 characters were not UTF-8" in document.warnings[0]


@pytest.mark.spec("document.format.other")
@pytest.mark.parametrize(
    ("raw", "path", "reason"),
    [
        (b"", "a.md", "empty"),
        (b" \n\t\r\n", "a.md", "empty"),
        (b"\x00" * 1_000, "a.md", "empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x02\x03" * 20, "a.md", "binary"),
        (bytes(range(1, 32)) * 10, "a.txt", "binary"),
        (b"\xff\xfe\x00\xd8\x00\xd8\x00\xd8", "a.md", "marked as utf-16"),
        (b"text", "a.xyz", "'.xyz'"),
        (b"text", "README", "'README'"),
        (b"{}", "a.json", "no text"),
        (b"<script>a()</script>", "a.html", "no text"),
    ],
)
def test_what_is_no_text_is_refused_with_the_reason(raw: bytes, path: str, reason: str) -> None:
    with pytest.raises(IngestError, match=reason):
        read_document(raw, path)


@given(st.binary(max_size=300), st.sampled_from(sorted(READABLE)))
def test_any_bytes_are_read_or_refused(raw: bytes, ending: str) -> None:
    try:
        document = read_document(raw, f"a{ending}")
    except IngestError:
        return
    assert document.text.strip()
    assert document.title
    assert "\0" not in document.text


def test_text_and_title_are_normalised() -> None:
    decomposed = unicodedata.normalize("NFD", "Café")

    document = read_document(f"{decomposed} #{decomposed}".encode(), f"{decomposed}.md")

    assert (document.title, document.text, document.tags) == ("Café", "Café #Café", ("Café",))


def test_line_ends_are_made_one() -> None:
    assert read_document(b"a\r\nb\rc\n", "a.md").text == "a\nb\nc\n"


# Markdown


@pytest.mark.spec("document.format.md")
def test_a_note_says_what_its_front_matter_says() -> None:
    document = read(
        "---\n"
        "title: The  Title\n"
        "aliases: [One, Two]\n"
        "tags: [a, '#b/c']\n"
        'author: "[[Ann Lee]]"\n'
        "project: Apollo\n"
        "date: 2026-04-05\n"
        "rating: 4\n"
        "done: true\n"
        "version: 1.10\n"
        "nested: {deep: [1, x]}\n"
        "---\n# Heading\n\nBody with #d.\n"
    )

    assert document == Document(
        title="The Title",
        text="# Heading\n\nBody with #d.\n\n[[Ann Lee]]\n",
        media_type="text/markdown",
        front_matter={
            "title": "The  Title",
            "aliases": ["One", "Two"],
            "tags": ["a", "#b/c"],
            "author": "[[Ann Lee]]",
            "project": "Apollo",
            "date": "2026-04-05",
            "rating": 4,
            "done": True,
            "version": "1.10",
            "nested": {"deep": [1, "x"]},
        },
        tags=("a", "b/c", "d"),
        aliases=("One", "Two"),
        authors=("Ann Lee",),
        project="Apollo",
        written_at=datetime(2026, 4, 5, tzinfo=UTC),
    )


@pytest.mark.parametrize("written", ["Yes", "No", "on", "0123", "1_000", "1e3", "12:30:45", "2026-04-05", "3.10"])
def test_a_title_stays_as_it_was_written(written: str) -> None:
    assert read(f"---\ntitle: {written}\n---\nx").title == written


def test_all_links_of_a_list_in_front_matter_are_links_of_the_note() -> None:
    document = read('---\nrelated: ["[[a]]","[[b]]"]\nup: [[Home]]\n---\nSee [[b]] and [[c]].\n')

    assert [link.target for link in find_wikilinks(document.text)] == ["b", "c", "a", "Home"]


def test_links_of_front_matter_count_where_a_fence_never_ends() -> None:
    document = read('---\nrelated: "[[a]]"\n---\n```\ncode')

    assert [link.target for link in find_wikilinks(document.text)] == ["a"]


@pytest.mark.spec("document.front-matter.broken")
@pytest.mark.parametrize(
    "front",
    [
        "title: a: b",
        "title:\tx\n\ty: z",
        "a: [",
        "a: {{date}}",
        "x: *nowhere",
        "? [a]\n: b",
        "a: " + "[" * 30_000,
    ],
)
def test_broken_front_matter_is_kept_as_text(front: str) -> None:
    text = f"---\n{front}\n---\n# Heading\n\nThe body.\n"

    document = read(text)

    assert document.text == text
    assert document.title == "Heading"
    assert not document.front_matter
    assert "front matter can't be parsed" in document.warnings[0]


def test_a_few_lines_that_stand_for_billions_are_no_front_matter() -> None:
    layers = "".join(
        f"{it}: &{it} [{','.join([f'*{previous}'] * 9)}]\n" for previous, it in zip("abcdefgh", "bcdefghi", strict=True)
    )

    document = read(f"---\na: &a [x,x,x,x,x,x,x,x,x]\n{layers}---\nbody")

    assert "can't be parsed" in document.warnings[0]


def test_a_rule_at_the_head_is_no_front_matter() -> None:
    document = read("---\njust some words\n---\nand more")

    assert document.text == "---\njust some words\n---\nand more"
    assert not document.warnings


def test_a_note_of_front_matter_alone_is_its_front_matter() -> None:
    document = read("---\ntitle: Person card\nphone: 123\n---\n")

    assert document.title == "Person card"
    assert "phone: 123" in document.text


def test_an_unreadable_date_is_told_and_the_next_one_taken() -> None:
    document = read("---\ndate: 2026-02-30\ncreated: 2026-03-01T10:00:00Z\n---\nx")

    assert document.written_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert "date" in document.warnings[0]


@pytest.mark.spec("document.title.front-matter", "document.title.heading", "document.title.file-name")
def test_the_title_is_of_the_front_matter_else_the_first_heading_else_the_file() -> None:
    assert read("---\ntitle: T\n---\n# H").title == "T"
    assert read("---\ntags: x\n---\n\n## H *with* [[Note|a link]]\n\n# I").title == "H with a link"
    assert read("```\n# code\n```\n\nUnder\n=====\n").title == "Under"
    assert read("no heading", "a/b/My note.v2.md").title == "My note.v2"


def test_a_heading_of_a_part_is_no_title() -> None:
    assert read("Some text first.\n\n## Part one\n\nmore", "Whole.md").title == "Whole"
    assert read("Some text first.\n\n## Part one\n\n# The whole\n", "Whole.md").title == "The whole"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("a **b** _c_ `d` ~~e~~", "a b c d e"),
        ("snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"),
        ("[text](https://example.org) ![[Note#x|shown]]", "text shown"),
        (r"\# not \*marks\*", "# not *marks*"),
        ("with <b>tag</b> <!-- and comment --> ^block-id", "with tag"),
        ("C++ & C#", "C++ & C#"),
    ],
)
def test_a_heading_is_read_without_its_marks(written: str, plain: str) -> None:
    assert plain_heading(written) == plain


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#one and #Two-three_4 (#five)", ("one", "Two-three_4", "five")),
        ("#nested/tag/", ("nested/tag",)),
        ("#1984 #y1984 #12/3", ("y1984",)),
        ("#Tag #tag #TAG", ("Tag",)),
        ("#日本語、#हिन्दी #été! #done\N{ROCKET}.", ("日本語", "हिन्दी", "été", "done\N{ROCKET}")),
        ("# Heading\n## Other\n#real", ("real",)),
        ("`#code` a#b C# &#39; https://x.org/#part [x](y#z) [[n#h]] \\#escaped", ()),
        ("```\n#code\n```\n<!-- #comment -->\n    #indented", ()),
        ("owner/repo#12 and ##not", ()),
    ],
)
def test_tags_are_those_that_obsidian_takes(text: str, tags: tuple[str, ...]) -> None:
    assert inline_tags(text) == tags


# other formats


@pytest.mark.spec("document.format.txt")
def test_plain_text_is_kept_as_it_is() -> None:
    document = read("line one\n  # not a title\n* stays *", "notes.txt")

    assert (document.title, document.text) == ("notes", "line one\n  # not a title\n* stays *")
    assert read("# Title\n\ntext", "notes.txt").title == "Title"


PAGE = """<!doctype html><html><head><title>The &amp; page</title><meta name=author content="Ann">
<style>p { color: red }</style><script>var x = "<p>never</p>" < 1;</script><body>
<h1>Head<em>line</em></h1><p>One &lt;two&gt;<br>three   four<p>five
<ul><li>a<li>b<ol><li>c</ol></ul><pre><code>def f():
    return 1
</code></pre><table><tr><th>k<th>v<tr><td>1<td>2</table>
<div hidden>never</div><p style="display:none">never</p><noscript>never</noscript><!-- never --><img alt="a cat">"""


@pytest.mark.spec("document.format.html")
def test_a_page_is_what_a_person_sees() -> None:
    document = read(PAGE, "page.html")

    assert document.title == "The & page"
    assert document.authors == ("Ann",)
    assert document.text == (
        "# Headline\n\nOne <two>\nthree four\n\nfive\n\n- a\n- b\n  1. c\n\n"
        "```\ndef f():\n    return 1\n```\n\nk | v\n1 | 2\n\na cat"
    )


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<head><title>T</title><p>no end of head", "no end of head"),
        ("a < b and c > d", "a < b and c > d"),
        ("<a title=\"a>b\" href='c>d'>x</a>", "x"),
        ("cut off <a href='x", "cut off"),
        ("<svg><text>drawn</text><p>seen", "seen"),
        ("<div hidden>was never closed", "was never closed"),
        ("<script>if (a</b/) </script >x", "x"),
        ("<p>a<b>b</b>c <i> d</i>", "abc d"),
        ("no tags", "no tags"),
    ],
)
def test_broken_pages_are_read_as_browsers_do(page: str, text: str) -> None:
    assert read(page, "a.html").text == text


@pytest.mark.parametrize(
    "unit", ['<a b="', "<!--", "<a ", "<script>", "&", "<div>", "<ul><li>", "<p hidden>", "<a =", "<?"]
)
def test_a_page_of_one_sign_alone_is_read_in_linear_steps(unit: str) -> None:
    try:
        document = read(unit * 20_000, "a.html")
    except IngestError:
        return
    assert len(document.text) <= 60 * 20_000


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words += data.split()


@given(st.recursive(st.text("ab&<>\"' \n;#x", max_size=8), lambda inner: st.lists(inner, max_size=3), max_leaves=12))
def test_no_word_of_a_sound_page_is_lost(tree: object) -> None:
    page = "<p>w " + _markup(tree)
    seen = _Words()
    seen.feed(page)
    seen.close()

    assert read(page, "a.html").text.split() == seen.words


def _markup(tree: object) -> str:
    if isinstance(tree, list):
        return "".join(f" <div class='x y'> {_markup(it)} </div> " for it in tree)
    return str(tree).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@pytest.mark.spec("document.format.srt")
def test_subrip_is_what_is_spoken() -> None:
    srt = (
        "1\n00:00:01,000 --> 00:00:02,500\nHello <i>there</i>,\n- General.\n\n"
        "2\n00:00:03,000 --> 00:00:04,000\n{\\an8}42\n3\n00:00:05,000 --> 00:00:06,000\n42\n\n"
        "4\n00:00:07,000 --> 00:00:08,000\nBye &amp; thanks\n"
    )

    assert read(srt, "talk.srt").text == "Hello there,\n- General.\n42\nBye & thanks"


@pytest.mark.spec("document.format.vtt")
def test_webvtt_is_what_is_spoken() -> None:
    vtt = (
        "WEBVTT - a title\nKind: captions\n\nNOTE a note\nover lines\n\nSTYLE\n::cue { color: red }\n\n"
        "intro\n00:01.000 --> 00:04.000 align:start position:0%\n<v Ann>Hello <00:02.000><c>there</c></v>\n\n"
        "00:04.000 --> 00:06.000\nHello there\n\n00:06.000 --> 00:08.000\nHello there\nand on\n"
    )

    assert read(vtt, "talk.vtt").text == "Ann: Hello there\nHello there\nand on"


def test_subtitles_without_timings_are_kept_with_a_warning() -> None:
    document = read("just text", "a.srt")

    assert document.text == "just text"
    assert document.warnings


CHATS: dict[str, object] = {
    "messages": {"title": "T", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]},
    "bare list": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "Ho"}]},
    ],
    "chat_messages": [
        {
            "name": "T",
            "uuid": "1",
            "chat_messages": [{"sender": "user", "text": "Hi"}, {"sender": "assistant", "text": "Ho"}],
        }
    ],
    "tree": [
        {
            "title": "T",
            "current_node": "c",
            "mapping": {
                "r": {"parent": None, "message": None},
                "a": {"parent": "r", "message": {"author": {"role": "user"}, "content": {"parts": ["Hi"]}}},
                "b": {"parent": "a", "message": {"author": {"role": "assistant"}, "content": {"parts": ["dropped"]}}},
                "c": {"parent": "a", "message": {"author": {"role": "assistant"}, "content": {"parts": ["Ho"]}}},
            },
        }
    ],
    "sessions": {
        "conversation": {
            "a": "x",
            "session_1": [{"speaker": "user", "text": "Hi"}, {"speaker": "assistant", "text": "Ho"}],
        }
    },
    "channel": [{"user": "user", "text": "Hi", "ts": "1.2"}, {"user": "assistant", "text": "Ho", "ts": "1.3"}],
}


@pytest.mark.spec("document.format.json")
@pytest.mark.parametrize("shape", CHATS)
def test_a_conversation_is_who_said_what(shape: str) -> None:
    document = read_document(orjson.dumps(CHATS[shape]), "chat.json")

    assert document.text == "user: Hi\n\nassistant: Ho"


def test_several_conversations_stand_under_their_titles() -> None:
    chat = {"title": "One", "messages": [{"role": "user", "content": "Hi"}]}

    document = read_document(orjson.dumps([chat, {**chat, "title": "Two"}]), "chats.json")

    assert document.text == "# One\n\nuser: Hi\n\n# Two\n\nuser: Hi"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"a": {"b": ["x", 1, null, true, ""]}, "name": "N"}', "a.b: x\na.b: 1\na.b: true\nname: N"),
        ('"just a text"', "just a text"),
        ('{"a": 1}\n{"a": 2}\n', "a: 1\na: 2"),
        ("{ broken, // but words\n", "{ broken, // but words\n"),
        ("[" * 70 + '"deep"' + "]" * 70, "[" * 10 + '"deep"' + "]" * 10),
    ],
)
def test_other_json_is_read_as_lines(text: str, lines: str) -> None:
    assert read(text, "a.json").text == lines


def test_a_large_text_is_read() -> None:
    line = "Some words of prose that go on, with a [[Link]] and #tag, and `code`.\n"
    raw = line.encode() * (8_000_000 // len(line))

    document = read_document(raw, "large.md")

    assert len(document.text) == len(raw)
    assert document.tags == ("tag",)


def test_every_note_of_a_vault_is_read(shared_cases: Path) -> None:
    notes = sorted((shared_cases / "vault-help").rglob("*.md"))

    documents = [read_document(path.read_bytes(), path.name) for path in notes]

    assert len(documents) > 150
    assert not [it for document in documents for it in document.warnings]
    assert sum(bool(document.front_matter) for document in documents) > 150
