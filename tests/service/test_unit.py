"""The unit as systemd reads it, without a manager."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.service.installation import Installation
from daemon.service.systemd_unit import NAMESPACE, quoted, sandbox_of, systemd_unit
from daemon.systemd import watchdog_seconds

ANALYZE = shutil.which("systemd-analyze")
CEILINGS = {"filters": 6.0, "sandbox": 1.0}
"""Most exposure, of 10; `docs/adr/0019-…` has what was measured."""

with_systemd = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")


def values(unit: str, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", unit, re.MULTILINE)


def analyzed(folder: Path, unit: str, *words: str) -> "subprocess.CompletedProcess[str]":
    file = folder / "graph-memory.service"
    file.write_text(unit, encoding="utf-8")
    assert ANALYZE
    runtime = folder / "runtime"
    runtime.mkdir(exist_ok=True)
    return subprocess.run(
        [ANALYZE, *words, str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime), "SYSTEMD_PAGER": "", "SYSTEMD_COLORS": "0"},
    )


def variant(installation: Installation, kind: str) -> str:
    return systemd_unit(installation, sandbox_of(installation) if kind == "sandbox" else ())


@with_systemd
@pytest.mark.spec("service.unit.verified")
@pytest.mark.parametrize("kind", list(CEILINGS))
def test_systemd_finds_nothing_to_say_about_it(tmp_path: Path, installation: Installation, kind: str) -> None:
    done = analyzed(tmp_path, variant(installation, kind), "--user", "verify")
    ours = [line for line in done.stderr.splitlines() if "graph-memory" in line]  # it may complain of other units
    assert (done.returncode, done.stdout, ours) == (0, "", [])


@with_systemd
def test_systemd_would_find_what_is_wrong(tmp_path: Path, installation: Installation) -> None:
    broken = systemd_unit(installation, ()).replace("WatchdogSec=60", "WatchdogSec=often")
    assert "graph-memory" in analyzed(tmp_path, broken, "--user", "verify").stderr


@with_systemd
@pytest.mark.spec("service.unit.exposure")
@pytest.mark.parametrize("kind", list(CEILINGS))
def test_its_exposure_stays_below_a_ceiling(tmp_path: Path, kind: str, installation: Installation) -> None:
    elsewhere = replace(installation, writable=(Path("/home/dev/graph-memory"),), readable=())
    done = analyzed(tmp_path, variant(elsewhere, kind), "--user", "security", "--offline=true", "--no-pager")
    found = re.search(r"Overall exposure level for .*: ([0-9.]+)", done.stdout)
    assert found, done.stderr
    assert float(found[1]) <= CEILINGS[kind]


@pytest.mark.spec("service.unit.bounds")
def test_it_is_told_when_it_is_ready_and_alive_and_never_tries_in_vain(installation: Installation) -> None:
    unit = systemd_unit(installation, ())
    assert values(unit, "Type") == ["notify"]
    assert values(unit, "Restart") == ["on-failure"]
    assert values(unit, "RestartPreventExitStatus") == ["78"]
    [burst], [interval], [pause] = (
        values(unit, it) for it in ("StartLimitBurst", "StartLimitIntervalSec", "RestartSec")
    )
    assert int(burst) * int(pause) < int(interval), "it must give up one day"
    [watchdog] = values(unit, "WatchdogSec")
    assert watchdog_seconds({"WATCHDOG_USEC": f"{watchdog}000000"}) == 60
    for name in ("CPUWeight", "IOWeight", "Nice", "MemoryHigh", "MemoryMax", "TasksMax", "TimeoutStopSec"):
        assert values(unit, name), name


def test_its_memory_is_more_than_the_daemon_keeps_itself_to(installation: Installation) -> None:
    unit = systemd_unit(replace(installation, memory_mb=2_000), ())
    [high], [most] = values(unit, "MemoryHigh"), values(unit, "MemoryMax")
    assert 2_000 < int(high[:-1]) < int(most[:-1])


def test_the_network_is_there_only_where_the_settings_need_it(installation: Installation) -> None:
    assert "PrivateNetwork=yes" in sandbox_of(installation)
    assert values(systemd_unit(installation, ()), "RestrictAddressFamilies") == ["AF_UNIX"]
    networked = replace(installation, needs_network=True)
    assert "PrivateNetwork=yes" not in sandbox_of(networked)
    assert "AF_INET" in values(systemd_unit(networked, ()), "RestrictAddressFamilies")[0]


def test_what_lies_in_the_shared_temporary_folder_stays_visible(installation: Installation) -> None:
    elsewhere = replace(installation, writable=(Path("/home/dev/graph-memory"),), readable=(Path("/home/dev/p"),))
    assert "PrivateTmp=yes" in sandbox_of(elsewhere)
    assert "PrivateTmp=yes" not in sandbox_of(replace(elsewhere, writable=(Path("/tmp/graph-memory-1000"),)))
    assert "PrivateTmp=yes" not in sandbox_of(replace(elsewhere, readable=(Path("/var/tmp/projects"),)))


def test_only_the_home_can_be_written(installation: Installation) -> None:
    sandbox = sandbox_of(replace(installation, writable=(Path("/home/dev/graph-memory"),)))
    assert {"ProtectSystem=strict", "ProtectHome=read-only", NAMESPACE} <= set(sandbox)
    assert [it for it in sandbox if it.startswith("ReadWritePaths")] == ['ReadWritePaths="-/home/dev/graph-memory"']


def test_an_engine_that_compiles_may(installation: Installation) -> None:
    assert values(systemd_unit(installation, ()), "MemoryDenyWriteExecute") == ["yes"]
    assert not values(systemd_unit(replace(installation, compiles=True), ()), "MemoryDenyWriteExecute")


@pytest.mark.parametrize(
    ("text", "word"),
    [("/a b", '"/a b"'), ("50%", '"50%%"'), ('say "x"', '"say \\"x\\""'), ("a\\b", '"a\\\\b"'), ("$HOME", '"$HOME"')],
)
def test_words_are_written_so_that_systemd_reads_them_back(text: str, word: str) -> None:
    assert quoted(text) == word
