from __future__ import annotations

import json
from codecs import BOM_UTF8

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.transcripts.values import Repair, mend_line

RECORD = {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "hello"}}
RAW = json.dumps(RECORD).encode()


@pytest.mark.parametrize(
    ("raw", "repair"),
    [
        (BOM_UTF8 + RAW + b"\n", Repair.MARK),
        (RAW + b"\0\0\0\0", Repair.NULS),
        (b"\0" * 4096 + RAW + b"\n", Repair.NULS),
        (json.dumps(RECORD).encode("utf-16-le") + b"\n", Repair.UTF16),
        (b"\0" + json.dumps(RECORD).encode("utf-16-le") + b"\n", Repair.UTF16),
        (json.dumps(RECORD).encode("utf-16-be") + b"\0\n", Repair.UTF16),
        (json.dumps(RECORD).encode("utf-16") + b"\n", Repair.UTF16),
    ],
)
def test_a_record_in_odd_bytes_is_read(raw: bytes, repair: Repair) -> None:
    mended = mend_line(raw)
    assert (mended.values, mended.unparseable, mended.repair) == ([RECORD], 0, repair)


def test_lone_surrogates_are_read() -> None:
    mended = mend_line(b'{"text": "a \\ud83d b"}')
    assert mended.values == [{"text": "a \ud83d b"}]
    assert mended.unparseable == 0


@pytest.mark.parametrize("gap", [b"", b" ", b"\r", b"\0\0"])
def test_records_on_one_line_are_all_read(gap: bytes) -> None:
    mended = mend_line(RAW + gap + RAW + gap + RAW + b"\n")
    assert (mended.values, mended.unparseable) == ([RECORD] * 3, 0)


def test_a_record_before_garbage_is_kept_and_the_garbage_counted() -> None:
    mended = mend_line(RAW + b" and then the disk was full\n")
    assert (mended.values, mended.unparseable) == ([RECORD], 1)


@pytest.mark.parametrize("cut", [10, 40, len(RAW) - 2])
def test_a_record_behind_the_stump_of_another_is_salvaged(cut: int) -> None:
    mended = mend_line(RAW[:cut] + RAW + b"\n")
    assert (mended.values, mended.unparseable, mended.repair) == ([RECORD], 1, Repair.SALVAGED)


def test_a_record_behind_a_stump_cut_within_a_letter_is_salvaged() -> None:
    stump = '{"type":"user","message":{"content":"caf\u00e9'.encode()[:-1]
    assert mend_line(stump + RAW + b"\n").values == [RECORD]


def test_a_block_inside_a_broken_record_is_not_taken_for_a_record() -> None:
    broken = b'{"type":"user","uuid":"u","message":{"content":[{"type":"text","text":"hi"}'
    mended = mend_line(broken + b"\n")
    assert (mended.values, mended.unparseable) == ([], 1)


@pytest.mark.parametrize("raw", [b"", b"\n", b"  \r\n"])
def test_a_blank_line_is_nothing(raw: bytes) -> None:
    mended = mend_line(raw)
    assert (mended.values, mended.unparseable) == ([], 0)


@pytest.mark.parametrize(
    "raw",
    [
        b"not json",
        b"\0" * 5000,
        b"42 43",
        b'"text" tail',
        b'{"a": "caf\xe9"}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"9" * 10_000 + b",",
        b'{"type":' * 10_000,
    ],
)
def test_what_cannot_be_read_is_counted_once(raw: bytes) -> None:
    mended = mend_line(raw + b"\n")
    assert (mended.values, mended.unparseable) == ([], 1)


@given(st.binary(max_size=200))
def test_no_bytes_are_an_error(raw: bytes) -> None:
    mended = mend_line(raw)
    assert mended.unparseable in (0, 1)
