"""Secrets that are said and dropped: none is stored, logged, archived, backed up or told."""

import os
import random
import re
import string
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.ledger import IngestState
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from ingest.archive import Archive
from tests.daemon.daemons import BOUND, COMMAND, SESSION, drop, running, say, titles, wait_for
from tests.domain.planted_secrets import ASSIGNED, SHAPED
from tests.server.wire import RawServer

_HEX = "0123456789abcdef"
_CLASSES = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_VARIANTS = 4
_SHORTEST = 6


def varied(secret: str, draw: random.Random) -> str:
    """Draw a part near the end of a secret anew, character by character of the same class; labels of blocks stay."""
    lines = secret.split("\n")
    for number, line in enumerate(lines):
        if not line.startswith("-----"):
            start, end = max(0, len(line) - 14), max(0, len(line) - 6)
            known = (_HEX,) if set(line[start:end]) <= set(_HEX) else _CLASSES
            classes = [next((it for it in known if character in it), character) for character in line[start:end]]
            lines[number] = line[:start] + "".join(map(draw.choice, classes)) + line[end:]
    return "\n".join(lines)


def planted() -> Iterator[tuple[str, str]]:
    """Yield texts that hold a secret, with the secret."""
    draw = random.Random(20261201)
    for secret in SHAPED.values():
        yield secret, secret
        for _ in range(_VARIANTS - 1):
            another = varied(secret, draw)
            yield another, another
    yield from ((text, secret) for text, secret in ASSIGNED.values() if len(secret) >= _SHORTEST)


def needle(secret: str) -> re.Pattern[bytes]:
    """Return what must stand nowhere: a secret, or a line of one that has several; `123456` is also part of numbers."""
    lines = [re.escape(it.encode()) for it in secret.split("\n") if it and not it.startswith("-----")]
    return re.compile(rb"(?<!\w)(?:" + b"|".join(lines) + rb")(?!\w)")


def files(home: Home) -> Iterator[tuple[Path, bytes]]:
    """Yield every file of a home with its bytes, but for the user's own, which are kept as they were dropped."""
    for path in sorted(home.path.rglob("*")):
        if path.is_file() and home.completed not in path.parents:
            yield path, path.read_bytes()


@pytest.mark.spec("redaction.ingest", "redaction.read-transcript", "archive.redacted")
def test_no_secret_is_kept_or_told(home: Home, projects: Path) -> None:
    secrets = list(planted())
    assert len(secrets) >= 200
    assert len(SHAPED) >= 20
    with running():
        for number, (text, _) in enumerate(secrets):
            if number % 2:
                drop(home, f"note-{number}.md", f"# Deployment {number}\n\nSet up like this:\n\n{text}\n\nand left.\n")
            else:
                say(projects, f"deployment {number} fails:\n{text}\nwhy?", f"Because of {text}\n", number=number)
        say(projects, "the end of the deployment", "harmless barometer", number=len(secrets))
        wait_for(lambda: titles("harmless barometer"))
        wait_for(lambda: _is_learned(home, len(secrets) // 2))
        for job in ("archive", "export"):
            subprocess.run([COMMAND, "job", "run", job], check=True, capture_output=True, timeout=BOUND)
    told = list(_told(home))
    archive = Archive(home.archive)
    kept = b"".join(archive.read(SESSION))
    assert kept.count(b"deployment") > len(secrets) // 2
    everything = [*files(home), (Path("archive"), kept), *((Path("reply"), it) for it in told)]
    leaks = [
        (text[:40], str(path)) for text, secret in secrets for path, data in everything if needle(secret).search(data)
    ]
    assert leaks == []
    assert any(re.search(rb"\[redacted:", data) for data in told)


def _is_learned(home: Home, documents: int) -> bool:
    with open_services(load_config(os.environ, home.path)) as services:
        found = services.store.read(LOCAL_ADMIN, lambda tx: tx.ledger.page_items(IngestState.COMPLETED, 1_000))
    return len(found) == documents


def _told(home: Home) -> Iterator[bytes]:
    """Ask for all of it as a client would."""
    with RawServer(home.path, environ=dict(os.environ)) as server:
        server.initialize()
        for tool, arguments in (
            ("memory_search", {"query": "deployment", "limit": 100}),
            ("memory_recent", {"limit": 100}),
            ("graph_read_transcript", {"session_id": SESSION, "limit": 500}),
            ("graph_entities", {"limit": 500}),
        ):
            reply = server.call(tool, **arguments)
            yield str(reply).encode()
