"""How fast transcripts are read, and how much memory a huge line costs.

    python -m bench.transcripts [--megabytes 300] [--file SESSION.jsonl]

`--file` repeats a real transcript instead of the made one. One core, warm cache.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from uuid import UUID

import orjson

from ingest.transcripts.lines import iter_lines
from ingest.transcripts.messages import Reading
from ingest.transcripts.pages import read_transcript
from ingest.transcripts.reading import open_transcript, read_entries
from ingest.transcripts.reports import ReadReport
from ingest.transcripts.turns import TurnBuilder

MEGA = 1_000_000
BATCH = 8 * MEGA
START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = ["the", "parser", "reads", "every", "line", "and", "keeps", "what", "a", "person", "said", "in", "src/app.py"]


class Session:
    """Makes lines like those of a session that works more than it talks: about 3.4 kB each, half of them progress."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._parent: str | None = None
        self._seconds = count()

    def text(self, size: int) -> str:
        return " ".join(self._random.choices(WORDS, k=max(1, size // 5)))

    def record(self, kind: str, **fields: object) -> bytes:
        uuid = str(UUID(int=self._random.getrandbits(128)))
        common = {
            "parentUuid": self._parent, "isSidechain": False, "userType": "external", "cwd": "/home/u/project",
            "sessionId": "00000000-0000-4000-8000-000000000001", "version": "2.1.39", "gitBranch": "main",
            "type": kind, **fields, "uuid": uuid,
            "timestamp": (START + timedelta(seconds=next(self._seconds))).isoformat().replace("+00:00", "Z"),
        }  # fmt: skip
        self._parent = uuid
        return orjson.dumps(common, option=orjson.OPT_APPEND_NEWLINE)

    def turn(self) -> Iterator[bytes]:
        yield self.record("user", message={"role": "user", "content": self.text(400)})
        for step in range(self._random.randint(10, 40)):
            message_id = f"msg_{self._random.getrandbits(64):x}"
            if step % 3 == 0:
                yield self._assistant(message_id, {"type": "text", "text": self.text(500)})
            call = {"type": "tool_use", "id": f"toolu_{step}", "name": "Read", "input": {"file_path": self.text(60)}}
            yield self._assistant(message_id, call)
            for _ in range(self._random.randint(1, 3)):
                yield self.record("progress", data={"type": "bash_progress", "output": self.text(1_500)})
            result = self.text(self._random.choice([300, 3_000, 12_000]))
            block = {"type": "tool_result", "tool_use_id": f"toolu_{step}", "content": result}
            message = {"role": "user", "content": [block]}
            yield self.record("user", message=message, toolUseResult={"stdout": result, "stderr": ""})

    def _assistant(self, message_id: str, block: Mapping[str, object]) -> bytes:
        usage = {"input_tokens": 10, "cache_read_input_tokens": 20_000, "output_tokens": 300}
        return self.record(
            "assistant",
            message={"id": message_id, "role": "assistant", "model": "m", "content": [block], "usage": usage},
        )


def write_session(path: Path, size: int) -> None:
    session = Session(7)
    with path.open("wb") as stream:
        while stream.tell() < size:
            stream.writelines(session.turn())


def multiply(source: Path, path: Path, size: int) -> None:
    body = source.read_bytes()
    with path.open("wb") as stream:
        while stream.tell() < size:
            stream.write(body)


def lines_only(path: Path) -> None:
    with open_transcript(path) as stream:
        for _ in iter_lines(stream):
            pass


def json_only(path: Path) -> None:
    with open_transcript(path) as stream:
        for line in iter_lines(stream):
            orjson.loads(line[2])


def messages(path: Path) -> None:
    with open_transcript(path) as stream:
        for _ in read_entries(stream, ReadReport()):
            pass


def turns(path: Path) -> None:
    builder = TurnBuilder()
    offset, size = 0, path.stat().st_size
    with open_transcript(path) as stream:
        while offset < size:
            report = ReadReport()
            builder.feed(read_entries(stream, report, offset=offset, reading=Reading(max_bytes=BATCH)))
            builder.state()
            if report.end_offset == offset:
                break
            offset = report.end_offset


def page(path: Path) -> None:
    read_transcript(path, offset=1_000)


def best_seconds(work: Callable[[Path], None], path: Path, rounds: int = 3) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work(path)
        best = min(best, time.process_time() - started)
    return best


def peak_bytes() -> int:
    """The peak of this process: on Linux by /proc, since `ru_maxrss` is inherited from whoever started it."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def huge_line(path: Path) -> None:
    """Read one 40 MB line in this process and print its time and peak memory."""
    started = time.perf_counter()
    turns(path)
    print(f"{time.perf_counter() - started:.2f} s, peak {peak_bytes() / MEGA:.0f} MB")


def write_huge_lines(folder: Path) -> dict[str, Path]:
    image = "iVBORw0KGgoAAAANSUhEUgAA" * (40 * MEGA // 24)
    fillers = {"base64 in a tool result": image, "text with one emoji": image[:-8] + "\N{ROCKET}", "prompt": image}
    paths = {}
    for number, (name, filler) in enumerate(fillers.items()):
        session = Session(number)
        block = {"type": "tool_result", "tool_use_id": "t", "content": filler}
        content: object = filler if name == "prompt" else [block]
        paths[name] = folder / f"huge{number}.jsonl"
        paths[name].write_bytes(session.record("user", message={"role": "user", "content": content}))
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--huge", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.huge:
        huge_line(arguments.huge)
        return
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "session.jsonl"
        if arguments.file:
            multiply(arguments.file, path, arguments.megabytes * MEGA)
        else:
            write_session(path, arguments.megabytes * MEGA)
        with path.open("rb") as stream:
            lines = sum(1 for _ in stream)
        size = path.stat().st_size
        print(f"{size / MEGA:.0f} MB, {lines} lines of {size / lines:.0f} bytes")
        for work in (lines_only, json_only, messages, turns, page):
            seconds = best_seconds(work, path)
            print(f"{work.__name__:<12} {size / seconds / MEGA:7.0f} MB/s  {seconds / lines * 1e6:6.2f} µs a line")
        for what, huge in write_huge_lines(Path(name)).items():
            print(f"one line of {huge.stat().st_size / MEGA:.0f} MB, {what}: ", end="", flush=True)
            subprocess.run([sys.executable, "-m", "bench.transcripts", "--huge", str(huge)], check=True)


if __name__ == "__main__":
    main()
