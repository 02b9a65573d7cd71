"""A transcript's entries, read from any byte offset."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import orjson

from ingest.transcripts.lines import Line, iter_lines
from ingest.transcripts.messages import Entry, Message, Reading
from ingest.transcripts.records import RecordReader
from ingest.transcripts.reports import ReadReport
from ingest.transcripts.values import mend_line

_BUFFER_BYTES = 256 * 1024  # measured: reads lines twice as fast as the default of 8 kB, and no faster beyond


def open_transcript(path: Path) -> BinaryIO:
    """Open a transcript for `read_entries`; errors are the operating system's."""
    return path.open("rb", buffering=_BUFFER_BYTES)


def read_entries(
    stream: BinaryIO, report: ReadReport, *, offset: int = 0, reading: Reading | None = None
) -> Iterator[Entry]:
    """Read messages and links from `offset`; counts go to `report`, whose `end_offset` moves line by line.

    Nothing a file holds is an error. `report.end_offset` moves past a line before its entries come out, so to stop in
    the middle use `Reading.max_bytes`, not a `break`.
    """
    how = reading or Reading()
    records = RecordReader(how, report)
    report.end_offset = offset
    limit = None if how.max_bytes is None else offset + how.max_bytes
    read, loads = records.read, orjson.loads  # looked up once: this loop runs for each of a million lines
    for line in iter_lines(stream, offset):
        if not line[3] and not how.is_whole and not _is_record(line[2]):
            return
        report.end_offset = end = line[1]
        try:
            value = loads(line[2])
        except orjson.JSONDecodeError:
            value = None
            yield from _read_broken(line, records, report)
        else:
            report.lines += 1
            if type(value) is dict:
                entry = read(value, line[0])
                if entry is not None:
                    yield entry
            else:
                report.non_object_lines += 1
        del line, value  # the next line may be as huge: not both at once
        if limit is not None and end >= limit:
            return


def _read_broken(line: Line, records: RecordReader, report: ReadReport) -> Iterator[Entry]:
    """Read what can be read of a line that isn't one JSON value."""
    offset, _, raw, is_finished = line
    mended = mend_line(raw)
    if not mended.values and not mended.unparseable:
        return
    report.lines += 1
    report.unparseable_lines += mended.unparseable
    if mended.unparseable and not is_finished:
        report.unfinished_lines += 1
    if mended.repair is not None:
        report.repaired[mended.repair] += 1
    nth = 0
    for value in mended.values:
        if not isinstance(value, dict):
            report.non_object_lines += 1
            continue
        entry = records.read(value, offset, nth)
        if isinstance(entry, Message):
            nth += 1
        if entry is not None:
            yield entry


def _is_record(raw: bytes) -> bool:
    try:
        return isinstance(orjson.loads(raw), dict)
    except orjson.JSONDecodeError:
        return False
