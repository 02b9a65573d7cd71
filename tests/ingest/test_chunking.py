"""Long texts are cut where a reader would cut them, and nothing is lost."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.markdown_blocks import BlockKind, iter_blocks
from ingest.chunking import CHUNK, WHOLE, split_text

PROSE = "A sentence of a few words. " * 12


@pytest.mark.spec("document.chunks.up-to-6000")
def test_a_text_of_six_thousand_characters_stays_whole() -> None:
    assert split_text("x" * WHOLE) == ("x" * WHOLE,)
    assert len(split_text("x" * (WHOLE + 1))) > 1
    assert split_text("") == ("",)


@pytest.mark.spec("document.chunks.longer")
def test_pieces_are_about_fifteen_hundred_characters() -> None:
    pieces = split_text("\n\n".join([PROSE] * 100))

    assert all(CHUNK * 0.6 <= len(piece) <= CHUNK * 1.2 for piece in pieces)


@pytest.mark.spec("document.chunks.boundaries")
def test_pieces_begin_at_headings_and_paragraphs() -> None:
    text = "\n".join(f"## Part {number}\n\n{PROSE}\n\n{PROSE}\n\n{PROSE}\n" for number in range(20))

    pieces = split_text(text)

    assert all(piece.startswith("## Part") for piece in pieces)
    assert len(pieces) == 20


def test_no_heading_is_left_at_the_end_of_a_piece() -> None:
    text = "\n".join(f"{PROSE * 4}\n\n# Part {number}\n\n## Below\n" for number in range(20)) + PROSE

    for piece in split_text(text)[:-1]:
        assert [block.kind for block in iter_blocks(piece)][-1] is not BlockKind.HEADING


def test_a_fence_stays_in_one_piece_where_it_can() -> None:
    fence = "```python\n" + "call(argument)\n\n" * 100 + "```\n"
    text = f"{PROSE * 3}\n\n{fence}\n{PROSE * 20}"

    assert len(fence) > CHUNK
    assert sum(fence in piece for piece in split_text(text)) == 1


def test_a_fence_that_is_too_long_is_cut_between_its_lines() -> None:
    lines = [f"line {number} of the code" for number in range(2_000)]

    pieces = split_text("```\n" + "\n".join(lines) + "\n```\n")

    assert all(piece.endswith("\n") for piece in pieces)


def test_a_line_without_end_is_cut_between_sentences_and_words() -> None:
    for piece in split_text(PROSE * 40)[:-1]:
        assert piece.endswith(". ")
    for piece in split_text("word " * 4_000)[:-1]:
        assert piece.endswith(" ")
    assert len(split_text("x" * 20_000)) > 5


def test_a_short_rest_goes_with_the_piece_before() -> None:
    assert all(len(piece) > 200 for piece in split_text("\n\n".join([PROSE] * 40) + "\n\nThe end."))


BLOCKS = st.sampled_from(
    [
        "# H\n",
        "## H\n\n",
        "words and words. " * 9,
        "\n",
        "\n\n",
        "- item\n",
        "```\n",
        "> q\n",
        "| a | b |\n|-|-|\n",
        "    x\n",
        "日本語。" * 30,
    ]
)


@pytest.mark.spec("document.chunks.nothing-lost")
@given(st.lists(st.one_of(BLOCKS, st.text(max_size=40)), max_size=60).map("".join), st.integers(20, 200))
def test_together_the_pieces_are_the_text(text: str, chunk: int) -> None:
    pieces = split_text(text, whole=100, chunk=chunk)

    assert "".join(pieces) == text
    assert all(piece or len(pieces) == 1 for piece in pieces)
    assert all(len(piece) <= max(100, 3 * chunk + chunk // 5) + _headings(piece) for piece in pieces)


def _headings(piece: str) -> int:
    return sum(block.end - block.start for block in iter_blocks(piece) if block.kind is BlockKind.HEADING)


def test_notes_of_a_vault_are_cut_at_blocks(shared_cases: Path) -> None:
    long = 0
    for path in sorted((shared_cases / "vault-help").rglob("*.md")):
        text = path.read_text("utf-8")
        pieces = split_text(text)
        assert "".join(pieces) == text
        long += len(pieces) > 1
        starts = {block.start for block in iter_blocks(text)}
        at = 0
        for piece, following in pairwise(pieces):
            at += len(piece)
            assert at in starts or piece.endswith("\n"), (path.name, following[:40])

    assert long > 20
