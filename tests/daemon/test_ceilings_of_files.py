"""Logs and the audit stay within their sizes."""

import os
import signal
from pathlib import Path

import pytest

from graph_memory.bootstrap import Services
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from tests.daemon.daemons import running

MEBIBYTE = 1_048_576


def fill(file: Path, size: int) -> None:
    """Make a file of that size without writing it."""
    file.touch()
    os.truncate(file, size)


def numbers(file: Path) -> list[int]:
    """List the numbers of a file's earlier parts."""
    return sorted(int(it.suffix[1:]) for it in file.parent.glob(f"{file.name}.*"))


@pytest.mark.spec("config.ceiling.logs")
def test_the_log_is_rotated_at_ten_megabytes_and_five_files_are_kept(home: Home) -> None:
    home.ensure()
    fill(home.daemon_log, 10 * MEBIBYTE - 10)
    for number in range(1, 5):
        fill(home.logs / f"daemon.log.{number}", number)
    with running() as daemon:
        daemon.ended(signal.SIGTERM)
    assert numbers(home.daemon_log) == [1, 2, 3, 4]
    assert (home.logs / "daemon.log.1").stat().st_size == 10 * MEBIBYTE - 10
    assert home.daemon_log.stat().st_size < MEBIBYTE


@pytest.mark.spec("config.ceiling.audit")
def test_the_audit_is_rotated_at_fifty_megabytes_and_ten_files_are_kept(services: Services) -> None:
    audit = services.home.dream_audit
    fill(audit, 50_000_000 - 10)
    for number in range(1, 11):
        fill(audit.with_name(f"{audit.name}.{number}"), number)
    services.audit.log(LOCAL_ADMIN, "error", {"code": 1})
    assert numbers(audit) == list(range(1, 11))
    assert audit.with_name(f"{audit.name}.1").stat().st_size == 50_000_000 - 10
    assert audit.stat().st_size < 1_000
