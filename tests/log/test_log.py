import io
import json
import logging
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graph_memory.domain.errors import ConfigError, InvalidRequest, Unavailable
from graph_memory.log import configure_logging, error_id, get_logger


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def logging_restored() -> Iterator[None]:
    """Leave the logging of the process as it was."""
    root = logging.getLogger()
    level, others = root.level, list(root.handlers)
    yield
    for handler in root.handlers:
        if handler not in others:
            handler.close()
    root.handlers[:] = others
    root.setLevel(level)
    logging.captureWarnings(capture=False)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def raised(error: Exception) -> Exception:
    def inner() -> None:
        raise error

    try:
        inner()
    except Exception as caught:  # noqa: BLE001 - whatever was passed in
        return caught
    raise AssertionError


def test_an_event_is_one_line_of_json_with_its_fields() -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    get_logger("daemon.jobs").bind(run="r-1").info("job_end", job="decay", seconds=1.5, path=Path("/x"))
    (line,) = lines(out)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "job_end",
        "level": "info",
        "logger": "daemon.jobs",
        "run": "r-1",
        "job": "decay",
        "seconds": 1.5,
        "path": "/x",
    }


def test_a_terminal_gets_colours_and_no_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    configure_logging(stream=out)
    get_logger("x").info("job_end", job="decay")
    assert "\x1b[" in out.getvalue()
    assert "job_end" in out.getvalue()
    assert not out.getvalue().startswith("{")


def test_a_file_gets_json_private_to_its_owner_and_stderr_stays_quiet(tmp_path: Path) -> None:
    out = io.StringIO()
    configure_logging(file=tmp_path / "daemon.log", stream=out)
    get_logger("x").info("started")
    assert json.loads((tmp_path / "daemon.log").read_text())["event"] == "started"
    assert stat.S_IMODE((tmp_path / "daemon.log").stat().st_mode) == 0o600
    assert out.getvalue() == ""


def test_a_daemon_at_a_terminal_writes_both(tmp_path: Path) -> None:
    out = Terminal()
    configure_logging(file=tmp_path / "daemon.log", stream=out)
    get_logger("x").info("started")
    assert "started" in out.getvalue()
    assert "started" in (tmp_path / "daemon.log").read_text()


def test_files_are_rotated_by_size_and_their_number_is_bounded(tmp_path: Path) -> None:
    configure_logging(file=tmp_path / "daemon.log", file_mb=1, files=3, stream=io.StringIO())
    log = get_logger("x")
    for _ in range(25_000):
        log.info("event", filler="x" * 150)
    files = list(tmp_path.iterdir())
    assert len(files) == 3
    assert all(file.stat().st_size <= 1_048_576 for file in files)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_log_that_can_not_be_written_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"can't be written"):
        configure_logging(file=tmp_path / "absent" / "daemon.log")


def test_the_level_holds_for_us_and_at_least_for_libraries() -> None:
    out = io.StringIO()
    configure_logging("warning", stream=out)
    get_logger("x").info("hidden")
    logging.getLogger("apscheduler.scheduler").warning("shown")
    configure_logging("debug", stream=out)
    logging.getLogger("apscheduler.scheduler").info("hidden too")
    get_logger("x").debug("shown too")
    assert [line["event"] for line in lines(out)] == ["shown", "shown too"]


def test_configuring_again_replaces_what_was_before() -> None:
    first, second = io.StringIO(), io.StringIO()
    configure_logging(stream=first)
    configure_logging(stream=second)
    get_logger("x").info("once")
    assert first.getvalue() == ""
    assert len(lines(second)) == 1


def test_lines_of_libraries_and_warnings_have_the_same_form() -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    logging.getLogger("library").warning("%s of %s", 1, 2)
    assert lines(out)[0]["event"] == "1 of 2"
    assert lines(out)[0]["logger"] == "library"


@pytest.mark.parametrize("error", [ValueError("private words"), InvalidRequest("private words")], ids=repr)
def test_an_exception_is_logged_by_type_and_place_but_not_with_words_of_the_content(error: Exception) -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    get_logger("x").error("failed", error=raised(error))
    (line,) = lines(out)
    assert line["error"] == type(error).__name__
    assert line["at"][-1].endswith(" inner")
    assert "private" not in out.getvalue()


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError(2, "No such file", "/x"), ConfigError("no such folder"), Unavailable("refused")],
    ids=repr,
)
def test_operational_errors_keep_their_reason(error: Exception) -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    get_logger("x").error("failed", error=raised(error))
    assert lines(out)[0]["reason"] == str(error)


def test_whoever_asks_for_debug_gets_every_reason() -> None:
    out = io.StringIO()
    configure_logging("debug", stream=out)
    get_logger("x").error("failed", error=raised(ValueError("words")))
    assert lines(out)[0]["reason"] == "words"


def test_a_traceback_of_a_library_is_shortened_as_well() -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    try:
        raised(ValueError("private words"))
        int("private words")
    except ValueError:
        logging.getLogger("library").exception("went wrong")
    assert "private" not in out.getvalue()
    assert lines(out)[0]["error"] == "ValueError"


def test_a_fault_of_our_own_is_found_again_by_its_id() -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    found = get_logger("x").unexpected("tool_failed", raised(KeyError("k")), tool="graph_query")
    (line,) = lines(out)
    assert (line["error_id"], line["tool"], line["error"]) == (found, "graph_query", "KeyError")


def test_error_ids_differ() -> None:
    assert len({error_id() for _ in range(100)}) == 100


def test_long_values_are_cut() -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    get_logger("x").info("event", value="x" * 10_000)
    assert len(out.getvalue()) < 500


@pytest.fixture
def run_python() -> Callable[[str], subprocess.CompletedProcess[str]]:
    def run(code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    return run


def test_nothing_is_ever_written_to_stdout(run_python: Callable[[str], subprocess.CompletedProcess[str]]) -> None:
    done = run_python(
        "from graph_memory.log import *; from graph_memory import log; import warnings; log.configure_logging();"
        "log.get_logger('x').info('one'); warnings.warn('two')"
    )
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 2


def test_structlog_is_imported_by_the_first_line_alone(
    run_python: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = run_python(
        "import sys; from graph_memory import log; log.configure_logging(); log.get_logger('x').debug('hidden');"
        "print('structlog' in sys.modules); log.get_logger('x').info('shown'); print('structlog' in sys.modules)"
    )
    assert done.stdout.split() == ["False", "True"]
