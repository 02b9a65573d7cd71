"""Kill -9 at random moments of a first pass, restarted each time, against a pass that nobody disturbs.

    python -m bench.killed [--megabytes 300] [--documents 1000] [--kills 20] [--seed 1]

Two homes learn the same: sample transcripts multiplied with ids and times of their own (or made ones, where the samples
are not beside the checkout), then documents in `pending/`. What they hold in the end must be equal by content key, but
for the instants at which it was learned and the weights of automatic links. Prints JSON; the exit status is 1 where
the two differ.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from bench.ingest import Talk, note
from bench.transcripts import MEGA
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.backups import BackupRow
from graph_memory.domain.ledger import TranscriptCursor
from graph_memory.domain.memories import ConnectionType, Memory, Synapse
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.services.backup import every_row
from ingest.transcripts.files import list_transcripts

SAMPLES = Path(__file__).resolve().parents[2] / "shared" / "cases" / "transcripts" / "projects"
SETTINGS = {
    "ingest": {"items_per_minute": 100_000},
    "limits": {"cpu_share": 64.0},
    "jobs": {it: {"enabled": False} for it in ("export", "decay", "expire", "memory_decay", "validate", "communities")},
}
LONGEST = 1_800.0
SETTLED_SECONDS = 3.0
LEARNED_AT = frozenset(
    {"ingested_at", "last_confirmed", "decayed_at", "created_at", "updated_at", "last_seen", "at", "queued_at"}
    | {"accessed_at", "replaced_at", "forgotten_at"}
)
LEFT_OUT: Mapping[type, Sequence[str]] = {Memory: ("id", "source_file"), TranscriptCursor: ("state",)}
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MESSAGE = re.compile(r"\b(msg|toolu|req)_(\w+)")
_INSTANT = re.compile(r'"(timestamp)":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')

Picture = Mapping[str, Counter[str]]


def multiply(samples: Path, into: Path, megabytes: float) -> int:
    """Write copies of the samples, each with its own ids and times, until there are so many megabytes; return bytes."""
    sources = sorted(samples.rglob("*.jsonl"))
    written = copy = 0
    while written < megabytes * MEGA:
        for source in sources:
            parts = [_renewed(it, copy) for it in source.relative_to(samples).parts]
            target = into.joinpath(*parts[:-1], f"{copy}-{parts[-1]}" if parts[-1] == source.name else parts[-1])
            target.parent.mkdir(parents=True, exist_ok=True)
            written += target.write_bytes(
                _renewed(source.read_text("utf-8", "surrogateescape"), copy).encode("utf-8", "surrogateescape")
            )
        copy += 1
    return written


def _renewed(text: str, copy: int) -> str:
    if copy == 0:
        return text
    text = _UUID.sub(lambda it: str(uuid5(UUID(it[0]), str(copy))), text)
    text = _MESSAGE.sub(lambda it: f"{it[1]}_{copy}x{it[2]}", text)
    later = timedelta(minutes=copy)
    return _INSTANT.sub(lambda it: f'"{it[1]}":"{datetime.fromisoformat(it[2]) + later:%Y-%m-%dT%H:%M:%S}', text)


def make_sessions(into: Path, megabytes: float) -> int:
    """Write made sessions of about a megabyte each."""
    total = 0
    for number in range(max(1, int(megabytes))):
        path = into / f"-home-dev-app{number % 5}" / f"{UUID(int=number)}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        talk = Talk(number)
        with path.open("wb") as file:
            while file.tell() < MEGA:
                file.writelines(talk.turn())
            total += file.tell()
    return total


def make_documents(pending: Path, count: int, draw: random.Random) -> None:
    """Write notes that link each other into `pending/`."""
    for number in range(count):
        path = pending / f"part-{number % 10}" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note(draw, number, count), encoding="utf-8")


class Pass:
    """A first pass over one home, by daemons that may be killed."""

    def __init__(self, folder: Path, projects: Path) -> None:
        self.folder, self.home = folder, folder / "home"
        self._environ = {
            **os.environ,
            "GRAPH_MEMORY_HOME": str(self.home),
            "CLAUDE_PROJECTS_DIR": str(projects),
        }
        self.projects = projects
        (self.home / "ingest" / "pending").mkdir(parents=True, mode=0o700)
        (self.home / "config.json").write_text(json.dumps(SETTINGS), encoding="utf-8")

    @contextmanager
    def daemon(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Run a daemon that has everything to itself."""
        code = "from cli.app import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", code, "run", "--since", "36500"],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(120)

    def undisturbed(self) -> float:
        """Let one daemon do everything; return the seconds it took."""
        began = time.monotonic()
        with self.daemon() as process:
            self._wait_until_settled(process)
        return time.monotonic() - began - SETTLED_SECONDS

    def killed(self, kills: int, seconds: float, draw: random.Random) -> int:
        """Kill the daemon again and again, then let it finish; return how many kills came before the end.

        The moments are spread over what a pass takes, its start included.
        """
        early = 0
        for _ in range(kills):
            with self.daemon() as process:
                time.sleep(draw.uniform(0.3, 1.2 + 1.6 * seconds / kills))
                process.kill()
                process.wait(60)
            early += not self._is_all_learned()
        self.undisturbed()
        return early

    def _wait_until_settled(self, daemon: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + LONGEST
        since: float | None = None
        while since is None or time.monotonic() - since < SETTLED_SECONDS:
            if time.monotonic() > deadline or daemon.poll() is not None:
                raise SystemExit("the daemon ended or did not come to rest")
            time.sleep(0.25)
            if not self._is_all_learned():
                since = None
            elif since is None:
                since = time.monotonic()

    def _is_all_learned(self) -> bool:
        """Tell whether every file was read to its end, and nothing waits."""
        waiting = (it for name in ("pending", "processing") for it in (self.home / "ingest" / name).rglob("*"))
        if any(it.is_file() and not it.name.startswith(".") for it in waiting):
            return False
        if not (self.home / "memory.db").exists():
            return False
        config = load_config(self._environ)
        with open_services(config) as services:
            cursors = services.store.read(LOCAL_ADMIN, lambda tx: tx.ledger.transcript_cursors())
        files = [it for it in list_transcripts([self.projects]).files if it.size]
        return all(str(it.path) in cursors and cursors[str(it.path)].offset >= it.size for it in files)

    def picture(self) -> Picture:
        """Return all that the store holds, as what must be equal."""
        with open_services(load_config(self._environ)) as services:
            rows = services.store.read(LOCAL_ADMIN, lambda tx: list(every_row(tx)))
        return picture(rows)


def picture(rows: list[BackupRow]) -> Picture:
    """Write rows without ids that depend on the order of things and without instants of learning; count equal ones."""
    keys = {it.id: it.content_key or f"{it.project_id}/{it.title}" for it in rows if isinstance(it, Memory)}
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(type(row).__name__, Counter())[repr(_comparable(row, keys))] += 1
    return found


def _comparable(row: Any, keys: Mapping[int, str]) -> dict[str, object]:  # noqa: ANN401 - a row of any kind
    """Return the fields of a row that must be equal; memories by their content keys."""
    left_out = {*LEARNED_AT, *LEFT_OUT.get(type(row), ())}
    values = {it.name: getattr(row, it.name) for it in fields(row) if it.name not in left_out}
    if isinstance(row, Memory) and row.session_id is not None:
        values["said_at"] = row.created_at  # of a document, that is when it was learned
    if isinstance(row, Synapse) and row.connection_type is ConnectionType.BM25_AUTO:
        del values["weight"]
    return {name: _plain(name, value, keys) for name, value in values.items()}


def _plain(name: str, value: Any, keys: Mapping[int, str]) -> object:  # noqa: ANN401 - a field of any kind
    if isinstance(value, float):
        return round(value, 3)  # what fades by the second
    if name in {"memory_id", "source_id", "target_id"} and isinstance(value, int):
        return keys[value]
    if name == "memory_ids":
        return [keys[it] for it in value]
    if name == "path" and Path(value).is_absolute():
        return Path(value).name
    if isinstance(value, Mapping):
        return {inner: _plain(inner, it, keys) for inner, it in value.items()}
    return _comparable(value, keys) if is_dataclass(value) else value


def differences(one: Picture, other: Picture) -> dict[str, dict[str, object]]:
    """Return what only one of two pictures has, by kind: how many, and a few of them."""
    found: dict[str, dict[str, object]] = {}
    for kind in sorted(one.keys() | other.keys()):
        here, there = one.get(kind, Counter()), other.get(kind, Counter())
        for name, only in (("missing", here - there), ("extra", there - here)):
            if only:
                found.setdefault(kind, {})[name] = only.total()
                found[kind][f"{name}_samples"] = [it[:300] for it in list(only)[:3]]
    return found


def compare(folder: Path, kills: int, draw: random.Random, fill: Callable[[Path, Path], None]) -> dict[str, object]:
    """Fill two homes alike, disturb one, and say how they differ."""
    projects = folder / "projects"
    projects.mkdir(parents=True)
    passes = [Pass(folder / name, projects) for name in ("calm", "killed")]
    fill(projects, passes[0].home / "ingest" / "pending")
    shutil.copytree(passes[0].home / "ingest" / "pending", passes[1].home / "ingest" / "pending", dirs_exist_ok=True)
    seconds = passes[0].undisturbed()
    early = passes[1].killed(kills, seconds, draw)
    calm, disturbed = (it.picture() for it in passes)
    return {
        "undisturbed_s": round(seconds, 1),
        "kills": kills,
        "kills_before_the_end": early,
        "rows": {kind: rows.total() for kind, rows in calm.items()},
        "differences": differences(calm, disturbed),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    draw = random.Random(asked.seed)
    report: dict[str, object] = {"at": datetime.now(UTC).isoformat(), "seed": asked.seed}
    is_equal = True

    def transcripts(projects: Path, _: Path) -> None:
        written = multiply(SAMPLES, projects, asked.megabytes) if SAMPLES.is_dir() else 0
        report["megabytes"] = round((written or make_sessions(projects, asked.megabytes)) / MEGA, 1)

    def documents(_: Path, pending: Path) -> None:
        make_documents(pending, asked.documents, draw)

    for name, amount, fill in (
        ("transcripts", asked.megabytes, transcripts),
        ("documents", asked.documents, documents),
    ):
        if amount:
            with tempfile.TemporaryDirectory() as folder:
                compared = compare(Path(folder), asked.kills, draw, fill)
            report[name] = compared
            is_equal = is_equal and not compared["differences"]
    print(json.dumps(report, indent=2))
    return 0 if is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
