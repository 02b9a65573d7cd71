"""Wikilinks are what Obsidian takes for one, and are shown by title."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graph_memory.domain.markdown_blocks import BlockKind, iter_blocks
from graph_memory.domain.markdown_prose import MASK, mask_code
from graph_memory.domain.wikilinks import Wikilink, find_wikilinks, render_wikilinks
from tests.domain import markdown_oracle


def targets(text: str) -> list[str]:
    return [link.target for link in find_wikilinks(text)]


@pytest.mark.spec("wikilinks.alias", "wikilinks.heading", "wikilinks.block", "wikilinks.embed")
def test_all_parts_of_a_link_are_read() -> None:
    text = "see ![[Some Note#Part One#Sub^b1|as shown]]!"

    assert find_wikilinks(text) == (
        Wikilink("Some Note", "as shown", "Part One#Sub", "b1", is_embed=True, span=(4, len(text) - 1)),
    )


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("[[Note]]", "Note"),
        ("[[ Note ]]", "Note"),
        ("[[Note|alias]]", "Note"),
        ("[[Note#Heading]]", "Note"),
        ("[[Note#^block]]", "Note"),
        ("[[Note^block]]", "Note"),
        ("![[image.png|100x145]]", "image.png"),
        ("[[folder/Note.md]]", "folder/Note.md"),
        ("[[12]]", "12"),
        ("[[C++]]", "C++"),
        ("[[C#]]", "C#"),
        ("[[C#|the language]]", "C#"),
        ("[[日本語のメモ]]", "日本語のメモ"),
        ("[[Cafe\N{COMBINING ACUTE ACCENT}]]", "Café"),
        ("([[Note]])", "Note"),
        ("**[[Note]]**", "Note"),
        ("# Heading with [[Note]]", "Note"),
        ("> quoted\n> [[Note]]", "Note"),
        ("- item [[Note]]", "Note"),
        ("  - nested\n    [[Note]]", "Note"),
        ("| a | b |\n|---|---|\n| [[Note\\|alias]] | x |", "Note"),
        ("\\\\[[Note]]", "Note"),
        ("`unclosed [[Note]]", "Note"),
        ("[x [[Note]] y](https://example.org)", "Note"),
        ("a `code` span, [[Note]], `code`", "Note"),
        ("text\n    not code, as it goes on: [[Note]]", "Note"),
        ("[[Using `code` here]]", "Using `code` here"),
    ],
)
def test_a_link_has_its_target(written: str, target: str) -> None:
    assert targets(written) == [target]


@pytest.mark.spec("wikilinks.code-span", "wikilinks.code-fence")
@pytest.mark.parametrize(
    "text",
    [
        "`[[Note]]`",
        "``a ` [[Note]] ``",
        "`over a line\n[[Note]]`",
        "```\n[[Note]]\n```",
        "```md\n[[Note]]",
        "~~~\n```\n[[Note]]\n~~~",
        "````\n```\n[[Note]]\n```\n````",
        "> ```\n> [[Note]]\n> ```",
        "- item\n  ```\n  [[Note]]\n  ```",
        "    [[Note]]",
        "\t[[Note]]",
        "- item\n\n      [[Note]]",
        "<!-- [[Note]] -->",
        "<!--\n\n[[Note]]\n\n-->",
        "text <!-- over\nlines [[Note]] --> text",
        '<a title="[[Note]]">x</a>',
        "<pre>\n[[Note]]\n</pre>",
        "<script>a = [[Note]]</script>",
        "\\[[Note]]",
        "[\\[Note]]",
        "[[]]",
        "[[ ]]",
        "[[|alias]]",
        "[[#Heading in this note]]",
        "[[#^block]]",
        "[[^block]]",
        "[[##]]",
        "[[over\na line]]",
        "[[1, 2], [3, 4]]",
        "[[1]](https://example.org)",
        "[Note]",
    ],
)
def test_what_is_code_or_escaped_or_in_the_same_note_is_no_link(text: str) -> None:
    assert targets(text) == []


def test_a_fence_that_ends_leaves_the_rest_to_links() -> None:
    assert targets("```\n[[a]]\n```\n[[b]]\n\n> ~~~\n> [[c]]\n\n[[d]]") == ["b", "d"]


def test_the_span_is_where_the_link_stands() -> None:
    text = "`x` ä > ![[a]] and\n> - [[b|c]]"

    assert [text[slice(*link.span)] for link in find_wikilinks(text)] == ["![[a]]", "[[b|c]]"]


PIECES = st.sampled_from(
    [
        *("[[a]]", "| [[b]] | x |", "`", "``", "```", "~~~", "x", "word", "12", "\\", "'", '"', "|", "é"),
        *("> ", ">", "- ", "* ", "+ ", "1. ", "10) ", "  ", "    ", "\t", " ", "\n", "\n\n", "\n- ", "\n  ", "\n>"),
        *("# ", "## ", "#", "---", "===", "*", "|-|-|", "| a | b |\n|-|-|\n", "<https://x/"),
        *(
            "<!--",
            "-->",
            "<div>",
            "</div>",
            "<b>",
            "<b ",
            '<a href="',
            '">',
            "<?",
            "?>",
            "<!A",
            "<pre>",
            "</pre>",
            "<br/>",
        ),
    ]
)
MARKDOWN = st.lists(PIECES, min_size=1, max_size=14).map("".join)


@given(MARKDOWN)
def test_links_are_those_that_markdown_it_sees_outside_of_code(text: str) -> None:
    assume(markdown_oracle.is_comparable(text))

    assert targets(text) == markdown_oracle.wikilink_targets(text)


@given(MARKDOWN)
def test_headings_are_those_of_markdown_it(text: str) -> None:
    assume(markdown_oracle.is_comparable(text))
    headings = [block.level for block in iter_blocks(text) if block.kind is BlockKind.HEADING]

    assert headings == markdown_oracle.heading_levels(text)


def test_the_links_of_a_whole_vault_are_those_of_markdown_it(shared_cases: Path) -> None:
    found = 0
    for path in sorted((shared_cases / "vault-help").rglob("*.md")):
        text = path.read_text("utf-8")
        seen = [_parts(target) for target in markdown_oracle.wikilink_targets(text)]
        assert targets(text) == [target for target in seen if target], path.name
        found += len(seen)

    assert found > 1_500


def _parts(written: str) -> str:
    return (
        written if written.endswith("#") and written.strip("#") else written.partition("#")[0].partition("^")[0].strip()
    )


@given(st.one_of(MARKDOWN, st.text()))
def test_masking_keeps_every_offset_and_line(text: str) -> None:
    masked = mask_code(text)

    assert len(masked) == len(text)
    assert [i for i, c in enumerate(masked) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
    assert all(new in (old, MASK) for new, old in zip(masked, text, strict=True))


@given(st.one_of(MARKDOWN, st.text()))
def test_blocks_stand_one_after_the_other_in_whole_lines(text: str) -> None:
    end = 0
    for block in iter_blocks(text):
        assert block.start >= end
        assert block.start == 0 or text[block.start - 1] == "\n"
        assert block.end > block.start
        assert block.end == len(text) or text[block.end - 1] == "\n"
        assert all(block.start <= first <= last <= block.end for first, last in block.ranges)
        end = block.end


@pytest.mark.parametrize(
    "unit",
    ["[[", "[[a", "`", "` `` ``` ", '<a b="', "<a ", "<!--", "<?", "<!A", "> ", "- ", "- \n", "\\", "|a|b|\n|-|-|\n"],
)
def test_a_text_of_one_sign_alone_is_read_in_linear_steps(unit: str) -> None:
    assert len(mask_code(unit * 20_000)) == len(unit) * 20_000


@pytest.mark.spec("wikilinks.rendered.id", "wikilinks.rendered.slug")
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("see [[12]]", "see [[The Title]]"),
        ("[[some-slug]] and [[12]]", "[[Other]] and [[The Title]]"),
        ("![[12#Part|alias]]", "![[The Title#Part|alias]]"),
        ("[[12#^b1]]", "[[The Title#^b1]]"),
        ("[[12|]]", "[[The Title]]"),
        ("`[[12]]` [[unknown]]", "`[[12]]` [[unknown]]"),
        ("[[odd]]", "[[odd|C# or F#, 1 of 2]]"),
        ("[[odd|alias]]", "[[odd|alias]]"),
        ("[[number]]", "[[number|7]]"),
        ("| [[12\\|alias]] | [[odd]] |", "| [[The Title\\|alias]] | [[odd\\|C# or F#, 1 of 2]] |"),
    ],
)
def test_a_link_is_shown_with_its_targets_title(written: str, shown: str) -> None:
    titles = {"12": "The Title", "some-slug": "Other", "odd": "C# or F#, [1 of 2]", "number": "7"}

    assert render_wikilinks(written, titles) == shown


@given(
    st.lists(st.sampled_from(["[[a]]", "[[b|c]]", "![[a#h]]", "| [[b\\|x]] |", "text ", "\n", "`"])),
    st.text(max_size=12),
)
def test_showing_titles_makes_and_loses_no_link(pieces: list[str], title: str) -> None:
    text = "".join(pieces)
    before = find_wikilinks(text)

    after = find_wikilinks(render_wikilinks(text, {"a": title, "b": "Plain Title"}))

    if "`" not in title and "\\" not in title and "<" not in title:
        assert [(link.heading, link.is_embed) for link in after] == [(link.heading, link.is_embed) for link in before]
