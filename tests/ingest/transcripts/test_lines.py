from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.transcripts.lines import iter_lines

UTF16 = [(BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be")]


def test_a_line_ends_at_a_line_feed_and_nowhere_else() -> None:
    body = "a\u2028b\u2029c\u0085d\x0be\r\nnext\n".encode()
    assert [raw for _, _, raw, _ in iter_lines(BytesIO(body))] == [
        "a\u2028b\u2029c\u0085d\x0be\r\n".encode(),
        b"next\n",
    ]


def test_an_unfinished_last_line_is_marked() -> None:
    assert list(iter_lines(BytesIO(b"one\ntwo"))) == [(0, 4, b"one\n", True), (4, 7, b"two", False)]


def test_an_empty_file_has_no_lines() -> None:
    assert list(iter_lines(BytesIO(b""))) == []


def test_an_offset_behind_the_end_has_no_lines() -> None:
    assert list(iter_lines(BytesIO(b"one\n"), 100)) == []


@given(st.lists(st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"") + b"\n"), max_size=20))
def test_reading_from_any_lines_end_gives_the_lines_behind_it(lines: list[bytes]) -> None:
    body = b"".join(lines)
    whole = list(iter_lines(BytesIO(body)))
    if body[:2] not in (BOM_UTF16_LE, BOM_UTF16_BE):
        assert [raw for _, _, raw, _ in whole] == lines
    for number, (_, end, _, _) in enumerate(whole):
        assert list(iter_lines(BytesIO(body), end)) == whole[number + 1 :]


@pytest.mark.parametrize(("mark", "encoding"), UTF16)
@given(lines=st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=10)))
def test_a_file_with_a_utf_16_mark_is_read_as_utf_16(mark: bytes, encoding: str, lines: list[str]) -> None:
    body = mark + "".join(f"{line}\n" for line in lines).encode(encoding)
    read = list(iter_lines(BytesIO(body)))
    assert "".join(raw.decode() for _, _, raw, _ in read) == "\ufeff" + "".join(f"{line}\n" for line in lines)
    assert [end for _, end, _, _ in read][:-1] == [start for start, _, _, _ in read][1:]
    assert not read or read[-1][1] == len(body)


@pytest.mark.parametrize(("mark", "encoding"), UTF16)
def test_utf_16_letters_made_of_line_feed_bytes_do_not_split_a_line(mark: bytes, encoding: str) -> None:
    body = mark + "a\u010ab\u0a0a\u0a00\n\u0a0a\n".encode(encoding)
    lines = [raw.decode().removeprefix("\ufeff") for _, _, raw, _ in iter_lines(BytesIO(body))]
    assert lines == ["a\u010ab\u0a0a\u0a00\n", "\u0a0a\n"]
