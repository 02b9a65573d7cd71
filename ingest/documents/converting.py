"""Reading a document in a process of its own, which may break, hang or swell without harm to this one.

Its readers are large libraries that were written for files people trust. So they are imported there alone, for one
document; what it may cost is bounded, it has no secrets of ours in its environment, and it ends when this process does.
`converter` is the other side.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from graph_memory.domain.errors import IngestError, Unavailable
from ingest.documents.bounds import Bounds
from ingest.documents.model import Document

MAIL = ".eml"
CONVERTED = frozenset({".pdf", ".docx", ".xlsx", ".pptx", ".epub", MAIL})
"""Endings that are read this way; all but e-mail need the extra."""
EXTRA = "graph-memory[formats]"

_LOOK_EVERY = 0.05
_WALL_FACTOR = 3.0
"""How much longer than its time on a processor the process may take: the machine has other things to do, too."""
_MEGABYTE = 1_000_000
_PIECE = 1 << 20
_BYTES_PER_CHARACTER = 4
_CARRIED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "PYTHONPATH", "SYSTEMROOT", "TZ")
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
_MODULE = "ingest.documents.converter"


def convert(raw: bytes, suffix: str, name: str, bounds: Bounds) -> Document:
    """Read a document in another process.

    Raises:
        IngestError: it can't be read, not within the bounds, or not without the extra; the text says why.
        Unavailable: it was cancelled.
    """
    said = _run(raw, suffix, name, bounds)
    if "missing" in said:
        raise IngestError(
            f"reading {suffix} needs the extra `formats` ({said['missing']} is missing): install it by "
            f"{install_command()}, then `graph-memory retry --all`"
        )
    if "reason" in said:
        raise IngestError(str(said["reason"]))
    written_at = said.get("written_at")
    return Document(
        str(said["title"]) or name,
        str(said["text"]),
        str(said["media_type"]),
        authors=tuple(said["authors"]),
        written_at=None if written_at is None else datetime.fromisoformat(written_at),
        warnings=tuple(said["warnings"]),
    )


def install_command() -> str:
    """Return the command that installs the extra into the environment that runs now."""
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").exists():
        return f"`uv tool install '{EXTRA}'`"
    if (prefix / "pipx_metadata.json").exists():
        return f"`pipx install --force '{EXTRA}'`"
    return f"`{sys.executable} -m pip install '{EXTRA}'`"


def _run(raw: bytes, suffix: str, name: str, bounds: Bounds) -> dict[str, Any]:
    words = [suffix, name, f"{bounds.seconds:g}", str(bounds.megabytes), str(bounds.characters)]
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-P", "-B", "-m", _MODULE, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**{it: os.environ[it] for it in _CARRIED if it in os.environ}, **_ONE_THREAD},
        cwd="/",
        start_new_session=True,  # Ctrl-C in a terminal is for us, who then ends it
    )
    talk = _Talk(process, raw, bounds.characters * _BYTES_PER_CHARACTER)
    try:
        _watch(process, talk, bounds)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()
        talk.close()
    if talk.is_too_long:
        raise IngestError(_too_long(bounds))
    if process.returncode == 0:
        with suppress(ValueError, KeyError):
            said = json.loads(talk.said())
            if isinstance(said, dict):
                return said
    raise IngestError(_why(process.returncode, bounds))


class _Talk:
    """Sends the document and gathers the answer, each in a thread, so that neither waits for the other.

    What is sent to stays open until all is over: the process ends when it is closed, which the system does for one that
    was killed.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", raw: bytes, limit: int) -> None:
        self._process, self._raw, self._limit = process, raw, limit
        self._pieces: list[bytes] = []
        self.is_too_long = False
        self._threads = [threading.Thread(target=it, daemon=True) for it in (self._send, self._gather)]
        for thread in self._threads:
            thread.start()

    def said(self) -> bytes:
        """Return the whole answer, once the process has ended."""
        return b"".join(self._pieces)

    def close(self) -> None:
        """Give back the pipes, once the process has ended."""
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _send(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            self._process.stdin.write(len(self._raw).to_bytes(8, "big") + self._raw)
            self._process.stdin.flush()

    def _gather(self) -> None:
        assert self._process.stdout is not None
        count = 0
        while piece := self._process.stdout.read1(_PIECE):  # type: ignore[attr-defined]
            count += len(piece)
            if count > self._limit:
                self.is_too_long = True
                self._process.kill()
                return
            self._pieces.append(piece)


def _watch(process: "subprocess.Popen[bytes]", talk: _Talk, bounds: Bounds) -> None:
    """Wait until the process ends, or has it ended where it goes beyond its bounds.

    Raises:
        IngestError: it did.
        Unavailable: it was cancelled.
    """
    import psutil  # here, since the server, which imports this module, has no need of it

    until = time.monotonic() + bounds.seconds * _WALL_FACTOR
    seen = psutil.Process(process.pid)
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_EVERY)
            return
        if talk.is_too_long:
            return
        if bounds.is_cancelled():
            raise Unavailable("reading a document was given up, since the program ends")
        if time.monotonic() > until:
            raise IngestError(_too_slow(bounds))
        with suppress(psutil.Error):
            if seen.memory_info().rss > bounds.megabytes * _MEGABYTE:
                raise IngestError(_too_large(bounds))


def _why(status: int, bounds: Bounds) -> str:
    if status == -signal.SIGXCPU:
        return _too_slow(bounds)
    if status == -signal.SIGKILL:
        return "reading it was ended by the system, which had no memory left; `graph-memory retry` tries it again"
    if status < 0:
        return f"the file is damaged: reading it crashed ({signal.Signals(-status).name})"
    return "the file is damaged, or not of the kind that its name says: reading it failed"


def _too_slow(bounds: Bounds) -> str:
    return f"reading it takes more than {bounds.seconds:g} s of a processor (ingest.convert_seconds)"


def _too_large(bounds: Bounds) -> str:
    return f"reading it takes more than {bounds.megabytes} MB of memory (ingest.convert_mb)"


def _too_long(bounds: Bounds) -> str:
    return f"the file unpacks to more than {bounds.characters} characters of text (ingest.max_file_bytes)"
