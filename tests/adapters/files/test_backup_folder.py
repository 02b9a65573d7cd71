"""Backups are verified after they are written, and before an older one goes."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

from daemon.jobs import run_job
from graph_memory.adapters.files.backup_folder import BackupFolder
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.errors import InvalidRequest, Unavailable
from graph_memory.domain.ledger import RunStatus, Tombstone
from graph_memory.domain.principal import LOCAL_ADMIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graph_memory.bootstrap import Services

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROWS = [Tombstone(f"{number:032x}", "asked", NOON) for number in range(100)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    environment = {"GRAPH_MEMORY_EXPORT__KEEP": "2"}
    with open_services(load_config(environment, tmp_path / "home")) as services:
        services.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_tombstones(ROWS))
        yield services


def spoil(monkeypatch: pytest.MonkeyPatch, change: Callable[[bytes], bytes]) -> None:
    """Have the disk keep something else than what was written to the next backup."""
    sync = os.fsync

    def spoiled(descriptor: int) -> None:
        written = Path(f"/proc/self/fd/{descriptor}").readlink()
        if written.name.startswith(".export-"):
            written.write_bytes(change(written.read_bytes()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", spoiled)


def as_no_row(body: bytes) -> bytes:
    """Spoil a row in a way that its hash, made anew, does not show."""
    lines = [orjson.loads(it) for it in body.splitlines()]
    del lines[5]["row"]["reason"]
    texts = [orjson.dumps(it) + b"\n" for it in lines[:-1]]
    lines[-1]["sha256"] = hashlib.sha256(b"".join(texts[1:])).hexdigest()
    return b"".join(texts) + orjson.dumps(lines[-1]) + b"\n"


def as_another_whole_backup(body: bytes) -> bytes:
    """Return a backup that is right in itself and has a row less than what was written."""
    lines = body.splitlines(keepends=True)
    rows = lines[1:-2]
    end = {"end": True, "counts": {"tombstone": len(rows)}}
    end["sha256"] = hashlib.sha256(b"".join(rows)).hexdigest()
    return b"".join([lines[0], *rows]) + orjson.dumps(end) + b"\n"


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda body: body[: len(body) // 2],
    "a bit changed": lambda body: body[:500] + bytes([body[500] ^ 1]) + body[501:],
    "without its end": lambda body: b"".join(body.splitlines(keepends=True)[:-1]),
    "empty": lambda _: b"",
    "a row that is none": as_no_row,
    "another one": as_another_whole_backup,
}


@pytest.mark.skipif(sys.platform != "linux", reason="the file of a descriptor is found in /proc")
@pytest.mark.spec("export.verified")
@pytest.mark.parametrize("how", SPOILED)
def test_a_backup_that_does_not_read_back_fails_the_job_and_costs_no_old_one(
    services: Services, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    for _ in range(2):
        assert run_job(services, "export").status is RunStatus.SUCCEEDED
    before = sorted(it.stem for it in services.home.backups.iterdir())
    spoil(monkeypatch, SPOILED[how])
    run = run_job(services, "export")
    assert run.status is RunStatus.FAILED
    assert "does not read back" in (run.error or "")
    assert sorted(it.stem for it in services.home.backups.iterdir()) == before
    monkeypatch.undo()
    assert run_job(services, "export").status is RunStatus.SUCCEEDED
    after = sorted(it.stem for it in services.home.backups.iterdir())
    assert len(after) == 2
    assert after[0] == before[1]


def test_every_row_is_decoded_before_a_backup_counts_as_one(folder: Path) -> None:
    file = Path(BackupFolder(folder).write(ROWS, at=NOON).path)
    file.write_bytes(as_no_row(file.read_bytes()))
    with pytest.raises(InvalidRequest, match="line 6 is no row"):
        BackupFolder(folder).check(str(file))


def test_rows_that_fail_while_they_are_written_leave_nothing(folder: Path) -> None:
    def failing() -> Iterator[Tombstone]:
        yield ROWS[0]
        raise Unavailable("the store went away")

    with pytest.raises(Unavailable, match="went away"):
        BackupFolder(folder).write(failing(), at=NOON)
    assert list(folder.iterdir()) == []


_SLOW = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from graph_memory.adapters.files.backup_folder import BackupFolder
from graph_memory.domain.ledger import Tombstone
def rows():
    print("writing", flush=True)
    sys.stdin.readline()
    yield Tombstone("0" * 32, "asked", datetime(2026, 1, 1, tzinfo=UTC))
BackupFolder(Path(sys.argv[1])).write(rows(), at=datetime(2026, 1, 2, tzinfo=UTC))
"""


@pytest.mark.spec("export.leftovers")
def test_what_a_killed_export_left_goes_and_what_a_living_one_writes_stays(folder: Path) -> None:
    def begin() -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", _SLOW, str(folder)]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        return process

    with begin() as dead, begin() as living:
        dead.send_signal(signal.SIGKILL)
        dead.wait(30)
        assert len(list(folder.glob(".export-*.tmp"))) == 2
        BackupFolder(folder).write(ROWS, at=NOON)
        assert len(list(folder.glob(".export-*.tmp"))) == 1
        living.communicate(b"\n", timeout=30)
        assert living.returncode == 0
    names = sorted(it.name for it in folder.iterdir())
    assert names == ["2026-01-01T12-00-00.jsonl", "2026-01-02T00-00-00.jsonl"]


@pytest.mark.spec("export.retention")
def test_nightly_backups_are_kept_by_number_and_labelled_ones_for_good(folder: Path) -> None:
    backups = BackupFolder(folder)
    labelled = backups.write(ROWS, at=NOON - timedelta(days=400), label="before the move")
    for day in range(20):
        newest = backups.write(ROWS, at=NOON + timedelta(days=day))
        backups.apply_retention(14, newest=newest.path)
    assert len(list(folder.iterdir())) == 15
    assert Path(labelled.path).exists()
    assert min(it.name for it in folder.iterdir() if it != Path(labelled.path)).startswith("2026-01-07")
